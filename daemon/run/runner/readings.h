/* Counters read just outside the timed interval. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/* The runner's own. */
struct own_readings {
    int64_t cpu_ns, delay_ns; /* -1: unknown */
};

/* Opens what is read later. Nothing it cannot open is an error: the reading is then unknown. */
void readings_init(void);
void readings_before(struct own_readings *r);
/* Counts CPU time from here on only: one read of a clock. */
void readings_cpu_from_here(struct own_readings *r);
/* Turns r into the differences since readings_before(). */
void readings_after(struct own_readings *r);

/* CPU time of the whole process pid in ns: all its threads, those that ended too, also when it is a
 * zombie. Its child processes are not in it. -1 unknown. */
int64_t reading_cpu_ns(pid_t pid);
/* Threads it has now, -1 unknown. */
int reading_threads(pid_t pid);
