/* Fault points: named places at which a test can end a process or make an operation fail.
 *
 * Compiled in by `meson -Dfaults=true` only; in every other build the macros are nothing and no
 * name is in the program. All names stand in base/fault.def. What is to happen is told by
 * environment variables, which the daemon hands on to its runner and to nobody else:
 *
 *   AURABENCH_FAULT        NAME=ACTION[@N[+]], several separated by commas. ACTION is kill (the
 *                          process that passes the point), kill-daemon, kill-runner (nothing where
 *                          none runs: the pass is over, so a point that is passed without one wants
 *                          a +), stop (SIGSTOP of itself), or an error: ENOSPC, EIO, or its number.
 *                          N: at the n-th pass (the first), with + at every one from then on.
 *                          @PATH: the same, read from this file at every pass, so that a test can
 *                          rewrite it under a running daemon. Other words in it begin the counting
 *                          anew; a process that is about to kill removes it, so that it kills once.
 *   AURABENCH_FAULT_TRACE  a file to which every pass appends a line: process, name.
 *   AURABENCH_FAULT_TELL   a file to which the runner appends what it reports, before it does, and
 *                          whoever meets an error that was asked for appends that; each line
 *                          begins with the pid.
 *
 * Uses nothing but libc: the runner has it too. Any thread may pass a point.
 */
#pragma once

#include <sys/types.h>

#ifdef AURABENCH_FAULTS

#define FAULT_POINT(name) fault_point(name)
/* 0, or the negative errno that a test asked for. */
#define FAULT_ERROR(name) fault_error(name)
#define FAULT_RUNNER(pid) fault_runner(pid)
/* A line, as printf makes it, behind the pid. */
#define FAULT_TELL(...) fault_tell(__VA_ARGS__)
/* The runner's environment, NULL-terminated. */
#define FAULT_ENVIRONMENT() fault_environment()

void fault_point(const char *name);
int fault_error(const char *name);
/* Which process kill-runner means; 0: none runs. */
void fault_runner(pid_t pid);
void fault_tell(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char **fault_environment(void);

#else

#define FAULT_POINT(name) ((void)0)
#define FAULT_ERROR(name) 0
#define FAULT_RUNNER(pid) ((void)0)
#define FAULT_TELL(...) ((void)0)
#define FAULT_ENVIRONMENT() ((char *[]){NULL})

#endif
