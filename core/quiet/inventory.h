/* The competing processes at one phase, from cumulative counters, differenced.
 *
 * Three snapshots give two windows. What is judged here is only what the snapshots say: no I/O, no
 * clock. One snapshot alone is unknown, never quiet. Rules: the contract's section on inventories.
 */
#pragma once

#include "base/arena.h"
#include "core/policy.h"
#include "core/types.h"

#define INVENTORY_SNAPSHOTS 3
#define INVENTORY_WINDOWS 2

struct proc_sample {
    int pid, ppid;
    int64_t uid;         /* -1 unknown */
    int64_t start_ticks; /* raw, since boot: with boot id and pid the identity of the process */
    int64_t cpu_ticks;   /* user + system; -1 unreadable: the inventory is then partial */
    const char *command; /* short name */
    const char *args;    /* NULL: unreadable or none (kernel thread) */
    const char *cwd;     /* NULL: unreadable or none */
    bool cwd_unreadable;
    bool kernel_thread;
};

struct proc_snapshot {
    int64_t mono_ns;
    int64_t tick_ns;
    struct proc_sample *procs; /* sorted by pid */
    size_t n_procs;
    int64_t busy_ticks;      /* all CPUs: everything but idle, iowait; -1 unknown */
    int64_t *cpu_busy_ticks; /* per CPU */
    size_t n_cpus;
    int64_t forks;              /* cumulative; -1 unknown */
    bool complete;              /* every pid could be read */
    bool hidden;                /* the system hides other users' processes */
    const char *partial_reason; /* NULL when complete */
};

enum inventory_state { INVENTORY_QUIET, INVENTORY_BUSY, INVENTORY_PARTIAL };
const char *inventory_state_name(enum inventory_state s); /* "quiet", "busy", "partial" */
int inventory_state_parse(const char *s);

enum compete_reason {
    COMPETE_SUSTAINED = 1, /* at least sustained_pct in both windows */
    COMPETE_AGGREGATE = 2, /* the unattributed aggregate */
    COMPETE_FORKS = 4,     /* fork storm */
    COMPETE_FORBIDDEN = 8, /* forbidden program in a measured repository */
    COMPETE_LANE_CPUS = 16 /* foreign time on the CPUs that the lanes will use */
};
/* "sustained,forbidden" into out (at least 64 bytes). */
char *compete_reasons_text(unsigned reasons, char *out);
/* The reverse; -1 for an unknown word. */
int compete_reasons_parse(const char *s);

struct competitor {
    int pid, ppid; /* 0 for the unattributed aggregate and for fork storms */
    int64_t uid;
    int64_t start_ticks;
    const char *command; /* "(unattributed)" for the aggregate, "(forks)" for a fork storm */
    const char *args;
    const char *cwd;
    double share_pct[INVENTORY_WINDOWS]; /* of one core */
    unsigned reasons;
};

struct inventory {
    enum phase phase;
    int64_t wall_ms;
    int64_t window_ns[INVENTORY_WINDOWS];
    double aggregate_pct[INVENTORY_WINDOWS]; /* foreign busy time, of one core */
    double *cpu_busy_pct; /* per CPU, over all snapshots, whoever used it; -1 unknown. For people:
                             it is not judged and not in evidence */
    size_t n_cpus;
    double forks_per_second;
    size_t n_procs;
    enum inventory_state state;
    const char *partial_reason; /* NULL unless partial */
    struct competitor *competitors;
    size_t n_competitors;
    struct competitor *hints; /* the closest under the limits, at most 5, reasons 0 */
    size_t n_hints;
};

struct inventory_scope {
    int self_pid;                /* the daemon: it and its descendants are excluded */
    const char *const *measured; /* paths of the measured repositories and work folders */
    size_t n_measured;
    const struct args *more_forbidden; /* the suite's, beside the policy's; may be NULL */
    const int *lane_cpus;              /* CPUs that the lanes will use; NULL: do not judge them */
    size_t n_lane_cpus;
};

/* Classifies n snapshots (3 are needed for anything but "partial") in the order they were taken.
 * The result and its strings live in a. Percentages are clamped at 0. */
struct inventory *inventory_classify(struct arena *a, const struct proc_snapshot *snaps, size_t n,
                                     const struct policy *policy,
                                     const struct inventory_scope *scope, enum phase phase);
