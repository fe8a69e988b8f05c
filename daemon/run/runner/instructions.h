/* Instructions of a lane with all that it starts, in user space, by the CPU's own counter: opened
 * before the lane is started, it begins at the lane's exec, and everything that the lane forks has
 * it too. One at a time. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Does this host have such a counter, and may it be used? */
bool instructions_countable(void);
/* For the next process that this thread starts and that execs. False: it cannot be opened. */
bool instructions_open(void);
/* Ends it. What was counted by then, when all of the lane is gone; -1: not known, or the counter
 * was shared with others and is an estimate. */
int64_t instructions_close(void);

/* The same by another event of perf_event_open(2), for tests on hosts without the counter. */
bool instructions_open_as(uint32_t type, uint64_t config);
