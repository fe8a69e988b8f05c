/* Counters read just outside the timed interval. */
#pragma once

#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* The runner's own. */
struct own_readings {
    int64_t cpu_ns, delay_ns; /* -1: unknown */
};

/* Opens what is read later. Nothing it cannot open is an error: the reading is then unknown. */
void readings_init(void);
/* The four calls go around an interval in this order; the two of CPU time read one clock each and
 * stand next to it. After the last two, r holds the differences. */
void readings_delay_from(struct own_readings *r);
void readings_cpu_from(struct own_readings *r);
void readings_cpu_to(struct own_readings *r);
void readings_delay_to(struct own_readings *r);

/* A clock in ns; -1: there is none such. */
int64_t reading_clock_ns(clockid_t id);

/* CPU time of the whole process pid in ns: all its threads, those that ended too, also when it is a
 * zombie. Its child processes are not in it. -1 unknown. */
int64_t reading_cpu_ns(pid_t pid);
/* Threads it has now, -1 unknown. */
int reading_threads(pid_t pid);
