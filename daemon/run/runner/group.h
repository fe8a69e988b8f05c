/* A control group of the runner's own, in which everything that it starts stays: its CPU time is
 * that of the runner, the lane and all that descends from them, whether it has ended or not. Where
 * the system does not permit one, there is none. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* Makes it and moves this process into it. False: not here, or not permitted. */
bool group_enter(void);
/* The path of a file in it, empty when there is no group. */
const char *group_file(void);
/* Removes the group of the process pid, which has ended and left nothing. */
void group_remove(pid_t pid);
/* Removes the groups of processes that are no more: of runners that were killed with their guard.
 * The system itself keeps a group in which something still runs. */
void group_sweep(void);
