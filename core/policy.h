/* A policy: what a host must fulfil, and every number that a job may be measured under. The value
 * in force is stored with the attempt, whole. Owned by the arena it was decoded into. */
#pragma once

#include "core/types.h"

enum condition {
    COND_MAINS,         /* on mains power */
    COND_LOW_POWER,     /* low-power mode off */
    COND_GOVERNOR,      /* unchanged between phases; text: must be this one */
    COND_BOOST,         /* unchanged between phases; text "off": must be off */
    COND_ENERGY,        /* energy preference unchanged between phases */
    COND_THERMAL,       /* throttle counters unchanged, state nominal */
    COND_STEAL,         /* limit: percent of all CPU time in the phase */
    COND_SWAP,          /* nothing swapped in between phases */
    COND_MEMORY,        /* limit: percent of memory that must be available */
    COND_UPTIME,        /* limit: seconds since boot */
    COND_SUSPEND,       /* none since the attempt began */
    COND_PID_NAMESPACE, /* the initial one */
    COND_HOST_CONTRACT, /* model, cores, OS as the policy names them */
    COND_BARE_METAL,    /* no virtual machine (strict) */
    COND_CALIBRATION,   /* a calibration of this boot (virtual) */
    COND_CONTROL,       /* a control in every comparison (virtual) */
    COND_COUNT
};
const char *condition_name(enum condition c);  /* "mains", "low_power", "pid_namespace", ... */
const char *condition_title(enum condition c); /* "mains power", ... for people */
int condition_parse(const char *s);

enum rule_mode { RULE_REQUIRE, RULE_WAIVE, RULE_RECORD /* neither asked for nor waived */ };
const char *rule_mode_name(enum rule_mode m); /* "require", "waive", "record" */
int rule_mode_parse(const char *s);

struct rule {
    enum rule_mode mode;
    double limit;       /* see enum condition; 0 where it has none */
    const char *text;   /* see enum condition; NULL where it has none */
    const char *reason; /* waive: why */
    const char *by;     /* waive: who says so */
};

/* What the host must be; NULL or 0: not named. */
struct host_contract {
    const char *model, *os;
    int cores;
};

struct policy {
    const char *name;
    struct rule rules[COND_COUNT];
    struct host_contract contract;
    int repetitions_min;      /* contractual needs at least so many (11) */
    double margin;            /* verdict margin m (0.01) */
    double drift_limit_pct;   /* control drift (5) */
    int64_t settle_ms;        /* after the build (10000) */
    int64_t snapshot_gap_ms;  /* between process snapshots (250) */
    int64_t retry_every_ms;   /* after a refusal (600000) */
    int retry_limit;          /* refusals before the job ends unqualified; 0: no limit (144) */
    int64_t ready_timeout_ms; /* 120000 */
    int64_t done_timeout_ms;  /* 120000 */
    int64_t build_timeout_ms; /* per build step (3600000) */
    double sustained_pct;     /* of one core in both windows (50) */
    double aggregate_pct;     /* of one core (25) */
    double aggregate_all_pct; /* of all cores (1) */
    double lane_cpu_pct;      /* of one core, over 2 s, on the lanes' CPUs, before timing (2) */
    double forks_per_second;  /* 20 */
    struct args forbidden;    /* compilers and build tools */
    const char *path;         /* PATH of lanes and builds */
    struct args cpu_set;      /* CPU numbers as text for lanes; empty: all */
};
