/* What runners leave behind when they and their daemon are killed: found by their mark (run/mark.h)
 * and ended.
 *
 * The mark follows from the host's key, the boot and the state folder, so that nothing has to be
 * written down: the next daemon on the same state knows it. Of another boot no process is left, and
 * none is ever looked for. While no runner of this daemon runs, whoever carries the mark is an
 * orphan.
 */
#pragma once

#include "run/run.h"
#include "sched/sched.h"

/* Marks a runner that was just started. One that cannot be marked runs all the same. */
void orphans_mark(struct sched *s, struct run *run, const char *boot_id);
/* Ends what carries the mark of this boot, and says so in the log. What could not be ended goes
 * into left (of left_bytes; "" otherwise). Blocks for up to 5 s; any thread. */
void orphans_end(const struct sched *s, const char *boot_id, char *left, size_t left_bytes);
