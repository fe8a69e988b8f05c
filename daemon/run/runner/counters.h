/* Cumulative counters of the host, read just outside the timed interval (core/ledger/account.h
 * makes the ledger of two readings). Each host uses the finest it has. Nothing that cannot be read
 * is an error: the counter is then unknown. State is global to the program: descriptors stay open
 * from one reading to the next, because opening costs more than reading. */
#pragma once

#include <sys/types.h>

#include "core/ledger/account.h"
#include "proto/wire/runner_wire.h"

/* Chooses the sources and opens them. root stands before /proc and /sys ("" for the real ones);
 * daemon is the process whose silence is audited; grouped: group_enter() has succeeded. */
void counters_init(const char *root, pid_t daemon, bool grouped);
const struct ledger_sources *counters_sources(void);
/* What counters_init() opened; for tests, which choose again. */
void counters_close(void);

/* Opens what is read of a lane; 0: there is none. */
void counters_lane(pid_t lane);

/* CPU time so far of everything in the runner's group but the runner; -1: there is no group. The
 * runner's own is off by what it ran since it last slept. */
int64_t counters_group_ns(void);

/* Waits until the daemon sleeps, 20 ms at most: it has asked, and is on its way to where it waits.
 */
void counters_await_daemon(void);

/* The readings before and after an interval, in opposite orders, the costly files outside. near:
 * the lane's CPUs and their siblings, as in wire_observe. */
void counters_from(const struct wire_bytes *near, struct counters *out);
void counters_to(const struct wire_bytes *near, struct counters *out);

/* By how much a difference of near_ticks_ns may be wrong. */
int64_t counters_ticks_off_ns(void);
