/* What the last look at the process table found of each process, so that the next one reads only
 * the files of those that used CPU time since.
 *
 * The CPU clock of a process counts nanoseconds of all its threads, those that ended included, and
 * costs a tenth of reading its stat file; like that file it counts what runs right now only from
 * tick to tick. Whoever used none cannot have run another program, taken another name or ended;
 * what may have changed about it is its parent, when that one ended. Rows are dropped before so
 * many processes were created that a number could have come again, and only the processes that this
 * system's clocks mean are known: never those of another root or another PID namespace's /proc.
 *
 * One look at a time: known_begin() waits for the one that is under way. Owned by its probe.
 */
#pragma once

#include "host/proc_parse.h"

struct proc_known;

struct proc_known *known_new(int proc_fd);
void known_free(struct proc_known *k); /* NULL is fine */

/* A look begins: forks as /proc/stat has it before the table is listed; -1 unknown. */
void known_begin(struct proc_known *k, int64_t forks);
/* What was added is what the next look knows; without keep it knows nothing. */
void known_end(struct proc_known *k, bool keep);

/* Nothing was created since the table was last listed: these are all that can be there. False: it
 * has to be listed anew. The list lives until known_end(). */
bool known_pids(const struct proc_known *k, const int **pids, size_t *n);

/* Nanoseconds of CPU time of a process; -1: not to be had. To be read before its stat file. */
int64_t known_cpu_ns(const struct proc_known *k, int pid);
/* Its stat file as the last look read it, if it used no CPU time since; else NULL. */
const struct proc_stat *known_unchanged(const struct proc_known *k, int pid, int64_t cpu_ns);
/* This look's finding. */
void known_add(struct proc_known *k, const struct proc_stat *stat, int64_t cpu_ns);

/* When all are added: calls reread for each unchanged process whose parent is no longer what it
 * was; it fills *stat, or returns false when the process has gone. */
void known_reread_orphans(struct proc_known *k, bool (*reread)(void *ctx, struct proc_stat *stat),
                          void *ctx);
