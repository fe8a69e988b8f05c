/* What all processes of a lane have together, read while they wait: resident bytes, and CPU time
 * over a window. Costs some ms, so never inside an interval that is timed. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Are resident bytes exact here? Else each process is off by some pages for each CPU. */
bool tree_reads_rollups(void);

/* The sum over the processes; what two of them share is counted in each. -1: one of them cannot be
 * read, or there is none. */
int64_t tree_resident_bytes(void);
/* The same of the most that each has had so far. */
int64_t tree_peak_bytes(void);

/* Begins a window, and the CPU time since. -1: a process of the beginning has ended and there is no
 * group that would know what it used, or there are more than 1024. One window at a time. */
void tree_window_begin(void);
int64_t tree_window_cpu_ns(void);
