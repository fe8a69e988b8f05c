/* The disturbance ledger: what else the host did around one observation, and whether that is too
 * much. Cumulative counters are read just before GO and just after DONE, outside the timed
 * interval; what stands here are the differences. Pure: the counters are read by the runner and the
 * daemon.
 *
 * Every member is -1 where this host has no counter for it; a ledger whose span is not known holds
 * nothing.
 */
#pragma once

#include <stdint.h>

struct ledger {
    int64_t span_ns;         /* from the reading before to the reading after */
    int64_t lane_cpu_ns;     /* CPU time of the lane, with its descendants where they can be told */
    int64_t observer_cpu_ns; /* of runner and daemon */
    int64_t near_foreign_ns; /* of others, on the lane's CPUs and their siblings */
    int64_t far_foreign_ns;  /* of others, on all other CPUs */
    int64_t steal_ns;        /* taken by the machine below this one, on all CPUs */
    int64_t lane_delay_ns;   /* the lane was runnable and did not run (one thread only) */
    int64_t lane_preemptions; /* involuntary switches of the lane */
    int64_t pressure_us;      /* time in which some task waited for a CPU */
    int64_t throttles;        /* thermal or power throttling events */
    int64_t swapped_pages;    /* in and out */
};

#define LEDGER_UNKNOWN                                                                             \
    (struct ledger)                                                                                \
    {                                                                                              \
        -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1                                                 \
    }

/* Why an observation counts as disturbed: bits, in the order in which they are named. */
enum disturbance {
    DISTURBED_NEAR,
    DISTURBED_FAR,
    DISTURBED_DELAY,
    DISTURBED_STEAL,
    DISTURBED_THROTTLE,
    DISTURBED_SWAP,
    DISTURBED_OBSERVER, /* by us */
    DISTURBANCE_COUNT
};
/* "near_foreign", "far_foreign", "run_delay", "steal", "throttling", "swap",
 * "observer" */
const char *disturbance_name(enum disturbance d);
int disturbance_parse(const char *s);

#define DISTURBANCES_TEXT 96
/* "near_foreign,steal" into out (at least DISTURBANCES_TEXT bytes); empty: none. */
char *disturbances_text(int bits, char *out);
/* The reverse; -1 for an unknown word. */
int disturbances_parse(const char *s);

/* Where this host's counters come from. A name is NULL where there is no counter, and "absent"
 * where there cannot be anything to count (no swap, no machine below this one). */
struct ledger_sources {
    const char *busy; /* "cpuacct", "schedstat", "stat": near_foreign_ns, far_foreign_ns */
    int64_t busy_resolution_ns; /* -1: unknown */
    const char *lane;           /* "cgroup" (with all descendants), "process" */
    const char *delay;          /* "schedstat" */
    const char *steal;          /* "stat" */
    int64_t steal_resolution_ns;
    const char *pressure; /* "psi" */
    const char *throttle; /* "thermal_throttle" */
    const char *swap;     /* "vmstat" */
    const char *memory;   /* "locked": the runner's own stays where it is while it times */
};
#define LEDGER_NO_SOURCES                                                                          \
    (struct ledger_sources)                                                                        \
    {                                                                                              \
        .busy_resolution_ns = -1, .steal_resolution_ns = -1                                        \
    }
