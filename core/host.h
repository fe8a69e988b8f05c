/* Who a host is (identity) and how it is right now (facts). Filled by the probe, judged by
 * core/quiet/qualify. Strings are owned by the arena that the probe was given. */
#pragma once

#include "core/types.h"

struct host_identity {
    const char *name;  /* host name, for people */
    const char *id;    /* stable machine id, hashed: 64 hex digits */
    const char *model; /* "" when the machine does not say */
    const char *cpu;   /* brand string */
    int cores;         /* online logical CPUs */
    int64_t memory_bytes;
    const char *os;     /* "Debian GNU/Linux 12 (bookworm)" */
    const char *kernel; /* "Linux 6.1.0-18-amd64" */
    const char *arch;   /* "x86_64" */
    int64_t tick_ns;    /* resolution of per-process CPU counters */
};

struct boot_identity {
    const char *id;       /* the kernel's own boot identity */
    int64_t boot_wall_ms; /* boot time, for people (moves with clock steps) */
};

/* Two readings of the suspend counter, each good to about 1 ms and cut to whole milliseconds, can
 * differ by 3 on a machine that never slept; no machine suspends and resumes in as little as 5. */
#define SUSPEND_TOLERANCE_MS 5

enum fact_state {
    FACT_UNKNOWN, /* could not be known; text says why */
    FACT_KNOWN,
    FACT_ABSENT /* proved absent; text says by what */
};
const char *fact_state_name(enum fact_state s); /* "unknown", "known", "absent" */
int fact_state_parse(const char *s);

enum fact_id {
    FACT_MAINS,            /* value 1: on mains; absent: no battery */
    FACT_LOW_POWER,        /* value 1: on */
    FACT_GOVERNOR,         /* text: the governor of every CPU, or "a,b" sorted */
    FACT_BOOST,            /* value 1: on */
    FACT_ENERGY,           /* text */
    FACT_THROTTLES,        /* value: sum of throttle counters */
    FACT_THERMAL_STATE,    /* value 0: nominal */
    FACT_STEAL_TICKS,      /* value, cumulative */
    FACT_CPU_TICKS,        /* value, cumulative, all CPUs, all states */
    FACT_SWAP_IN,          /* value: pages swapped in since boot */
    FACT_MEMORY_AVAILABLE, /* value: bytes */
    FACT_MEMORY_TOTAL,     /* value: bytes */
    FACT_UPTIME,           /* value: ms since boot */
    FACT_SUSPEND,          /* value: ms suspended since boot */
    FACT_PID_NAMESPACE,    /* value 1: the initial one */
    FACT_VIRTUAL,          /* value 1: a virtual machine, text names it; 0: bare metal */
    FACT_CALIBRATION,      /* value 1: calibrated in this boot */
    FACT_COUNT
};
const char *fact_name(enum fact_id f); /* "mains", "low_power", ... */
int fact_parse(const char *s);

struct fact {
    enum fact_state state;
    int64_t value;
    const char *text;   /* see enum fact_id; why, when unknown or absent; may be NULL */
    const char *source; /* where it was read: "/sys/class/power_supply"; may be NULL */
};

struct host_facts {
    int64_t wall_ms;
    struct fact facts[FACT_COUNT];
};
