/* Starts one program the cheapest way the system has: the address space is borrowed until the exec,
 * and the parent sleeps until then. Everything that may allocate or search is done before. */
#pragma once

#include <sched.h>
#include <stdbool.h>
#include <sys/types.h>

#include "proto/wire/runner_wire.h"

struct spawn {
    const struct wire_program *program;
    int in, out, err;      /* become descriptors 0, 1 and 2; all above 2 */
    const cpu_set_t *cpus; /* NULL: inherited */
    char path[4096];       /* filled by spawn_lookup() */
};

struct child {
    pid_t pid; /* -1: not started */
    int pidfd;
};

/* Why a program was not started. */
struct spawn_failure {
    int errnum;       /* 0: it was */
    const char *step; /* "lookup", "spawn", "setsid", "affinity", "stdio", "chdir", "execve" */
};

/* Finds argv[0] in the absolute folders of the environment's PATH unless it has a slash. */
void spawn_lookup(struct spawn *s, struct spawn_failure *f);

/* Starts it; a program that is still open for writing (ETXTBSY) is tried again for 200 ms. The
 * child is in a new session, with default signals, an empty mask, the normal scheduling class, no
 * raised priority, umask 022, no core dumps, and only descriptors 0 to 2; it is killed when the
 * runner dies.
 * *start_ns is the timing clock just before the try that is reported. */
void spawn_start(struct spawn *s, struct child *c, int64_t *start_ns, struct spawn_failure *f);

/* True when the program has ended (and was not reaped yet). */
bool spawn_ended(const struct child *c);
