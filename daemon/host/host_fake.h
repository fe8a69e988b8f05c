/* The scripted host's folder: four text files, each optional, read again on every call, so that a
 * test can change the host under a running daemon (write a new file and rename it into place). A
 * line is words between blanks; empty lines and lines that begin with '#' say nothing. What is not
 * said is a good host on bare metal: two cores, no battery, nobody else running.
 *
 * identity   KEY VALUE: name, id, model, cpu, cores, memory_bytes, os, kernel, arch, tick_ns,
 *            boot_id, boot_wall_ms, wall_offset_ms (how far its clock is ahead of the machine's),
 *            suspend_ms (how long it has slept in this boot)
 * facts      FACT STATE VALUE [TEXT]: a name of core/host.h, known|unknown|absent, a number or "-",
 *            the rest of the line; or "steal_pct PCT" of all CPU time
 * processes  PID PPID UID START PCT COMMAND CWD [ARGS]: START in ticks (tick_ns, 1 ms unless the
 *            identity says otherwise) of the timing clock; PCT of one core since then, "?"
 * unreadable; CWD a path, "-" none, "?" unreadable. Or, for the whole system: "busy_pct PCT" of one
 *            core that no process explains, "cpu_busy_pct CPU PCT", "forks_per_second N", "hidden",
 *            "partial REASON"
 *
 * ledger     MEMBER VALUE: a member of the ledger, or runner_cpu_ns, runner_switches,
 * daemon_cpu_ns, daemon_switches, "?" unknown; "at SEQ MEMBER VALUE" for one observation of the
 * plan. What is not said is 0. Without the file nothing is counted around observations
 *
 * Counters follow from the clock (PCT times the time since START), so they grow steadily; a line
 * that appears while an inventory is being taken is charged from its START, as a real process is.
 */
#pragma once

#include "host/host.h"
