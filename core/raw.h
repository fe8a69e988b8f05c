/* The raw report: all that was observed in one attempt, and nothing that follows from it.
 *
 * This struct is raw.json without its byte form: what the daemon assembles from the store, what
 * `verify` reads back, and the one input of core/summary/summarise and core/grade/grade. Owned by
 * an arena. Unknown numbers are -1 (null in JSON); missing strings NULL.
 */
#pragma once

#include "core/host.h"
#include "core/job.h"
#include "core/ledger/ledger.h"
#include "core/plan.h"
#include "core/policy.h"
#include "core/quiet/inventory.h"
#include "core/quiet/qualify.h"
#include "core/session.h"
#include "core/suite.h"
#include "core/summary/calibration.h"
#include "core/types.h"

/* What the daemon found out about an authorized correction in the repository itself. */
struct raw_correction {
    const char *base_commit, *corrected; /* full ids */
    const char *diff_sha256;             /* of the allowed diff's text */
    int64_t files, lines_added, lines_removed;
    const char *approved_by, *reason;
    bool proven; /* corrected's one parent is base, and base plus the diff is corrected's tree */
};

struct raw_source {
    const char *side;
    const char *repo, *rev, *commit;
    const char *head;   /* what HEAD of the worktree names */
    bool detached;      /* HEAD is no branch */
    bool clean;         /* `status --ignored` empty before the build */
    int64_t path_bytes; /* length of the worktree's path: equal for all sides */
    int64_t files;
    const char *tree_sha256; /* of the manifest of all tracked files as checked out */
    struct args variant;     /* "CFLAGS=-O3": what was added to the environment of its builds */
    const struct raw_correction *correction; /* NULL: the commit is measured as it is */
};

struct raw_build {
    const char *side; /* a side, or JOB_SIDE_SUITE for the suite's own build */
    int step;
    struct args argv;
    int exit_status;
    int64_t wall_ns;
    const char *log;     /* path inside the evidence folder */
    const char *attempt; /* attempt in which it was built */
};

struct raw_artifact {
    const char *side;
    const char *path; /* relative to the build folder */
    int64_t bytes;
    const char *sha256;
};

struct raw_tool {
    const char *name; /* as the suite or policy names it */
    const char *path; /* resolved */
    const char *version;
    const char *sha256;
};

enum recheck_kind { RECHECK_SOURCE, RECHECK_SUITE, RECHECK_ARTIFACT, RECHECK_TOOL };
const char *recheck_kind_name(enum recheck_kind k); /* "source", "suite", "artifact", "tool" */
int recheck_kind_parse(const char *s);

/* The same thing hashed after the build and again after timing. */
struct raw_recheck {
    enum recheck_kind kind;
    const char *name; /* "before", "suite", "after:fib30", "/usr/bin/python3" */
    const char *sha256;
    const char *again; /* NULL: gone */
};

struct raw_refusal {
    const char *attempt;
    int64_t wall_ms;
    enum phase phase;
    const char *reason;
};

/* Of a job that belongs to a session. */
struct raw_session {
    const char *id, *label;
    enum session_boot boot;
    int64_t opened_ms;
    const char *opened_boot; /* identity of the boot in which it was opened */
    int64_t settle_ms;
    bool post_reboot; /* the attempt began after a boot since the opening, settled */
};

/* A figure that is no time. */
struct raw_value {
    const char *name;
    int64_t value; /* in the unit of the measure */
};

/* What one series of samples was, in the order of its indexes. */
struct raw_samples {
    const char *name;
    int64_t *v; /* in the unit of the series */
    size_t n;
};

/* A file that an observation left. */
struct raw_output {
    const char *name; /* as the suite names it; of a profile: as in the evidence */
    int64_t bytes;
    const char *sha256;
};

struct raw_observation {
    int seq; /* the plan's */
    const char *workload, *lane, *side;
    int repetition, position;
    enum obs_kind kind;
    const char *outcome;        /* "ok", or the cause that makes it invalid ("lane.done_wrong") */
    int64_t start_ns;           /* offset from the attempt's start: spawn */
    int64_t go_ns, done_ns;     /* offsets; -1 for process; cpu: begin and end of the window */
    int64_t exit_ns;            /* offset */
    int64_t elapsed_ns;         /* the figure: GO to DONE, or spawn to exit; -1 when invalid, or
                                   where the figures are values */
    int64_t process_ns;         /* spawn to exit */
    int64_t interval_cpu_ns;    /* CPU time of the lane between GO and DONE (process: whole life;
                                   cpu: its tree in the window) */
    int64_t user_us, system_us; /* whole life, from wait4 */
    int64_t max_rss_bytes;
    int64_t minor_faults, major_faults;
    int64_t voluntary_switches, involuntary_switches;
    int exit_status;          /* -1: killed by exit_signal */
    int exit_signal;          /* 0: none */
    const char *ready, *done; /* records as received; NULL: none */
    int64_t stdout_bytes, stderr_bytes;
    int cpu;                  /* pinned core, -1: not pinned */
    bool fifo;                /* the runner waited at SCHED_FIFO */
    int threads;              /* seen at DONE (process: -1) */
    int leftovers;            /* processes that had to be ended after it */
    int64_t runner_cpu_ns;    /* the runner's own CPU time inside the interval; -1 unknown */
    int64_t runner_delay_ns;  /* the runner's own run delay inside the interval; -1 unknown */
    int64_t runner_switches;  /* of both kinds, its own, around the interval; -1 unknown */
    int64_t daemon_cpu_ns;    /* the daemon's, all threads; -1 unknown */
    int64_t daemon_switches;  /* how often its first thread was put on a CPU; -1 unknown */
    struct ledger ledger;     /* what else the host did; LEDGER_UNKNOWN: not recorded */
    int disturbed;            /* bit 1 << enum disturbance for each reason; -1: not judged */
    int replaces;             /* the disturbed repetition that it takes the place of; -1: none */
    struct raw_value *values; /* as declared, in that order; none where the figure is a time */
    size_t n_values;
    struct raw_samples *samples; /* as declared, in that order; none where none are */
    size_t n_samples;
    struct raw_output *outputs; /* build, kernel: as its lane names them, in that order;
                                   attribution: what its samples were counted from */
    size_t n_outputs;
};
/* Before anything is known of it beyond its place in the plan. */
#define RAW_OBSERVATION_NOT_RUN                                                                    \
    .start_ns = -1, .go_ns = -1, .done_ns = -1, .exit_ns = -1, .elapsed_ns = -1, .process_ns = -1, \
    .interval_cpu_ns = -1, .user_us = -1, .system_us = -1, .max_rss_bytes = -1,                    \
    .minor_faults = -1, .major_faults = -1, .voluntary_switches = -1, .involuntary_switches = -1,  \
    .exit_status = -1, .stdout_bytes = -1, .stderr_bytes = -1, .cpu = -1, .threads = -1,           \
    .leftovers = -1, .runner_cpu_ns = -1, .runner_delay_ns = -1, RAW_OBSERVATION_NO_LEDGER
#define RAW_OBSERVATION_NO_LEDGER                                                                  \
    .ledger = LEDGER_UNKNOWN, .disturbed = -1, .replaces = -1, .runner_switches = -1,              \
    .daemon_cpu_ns = -1, .daemon_switches = -1

struct raw_lane {
    const char *name;
    bool control;
    int cpus;
    const char *startup;
    const char *absent;      /* reason, NULL: present */
    bool excluded;           /* by the job */
    struct args command;     /* as the suite names it, placeholders and all; empty: not recorded */
    struct lane_file *files; /* size: as the suite names them */
    size_t n_files;
    struct scaling scaling; /* as in struct lane */
    struct args outputs;    /* build: as the suite names them */
};

/* What counts instructions: the CPU, by perf_event_open(2); or a program that is the raw report's
 * tool "valgrind". */
#define TOOL_PERF "perf_event"
#define TOOL_CALLGRIND "callgrind"
/* What resident bytes are read from: files of each process in /proc. The second is off by some
 * pages for each CPU. */
#define TOOL_ROLLUP "smaps_rollup"
#define TOOL_STATUS "status"
/* What a share of the CPU is read from: the clock of each process, and a control group, which has
 * those too that came and went. */
#define TOOL_CLOCKS "process_clocks"
#define TOOL_GROUP "process_clocks+cgroup"

struct raw_workload {
    const char *name;
    enum measure measure;
    const char *steps_of; /* as in struct workload */
    bool reproducible;    /* as in struct workload */
    int64_t declared_wait_ns;
    int64_t operations;    /* as in struct workload */
    int64_t resolution_ns; /* as in struct workload */
    struct raw_lane *lanes;
    size_t n_lanes;
    struct args absent_sides; /* on which the suite says that it does not exist */
    struct args counters;     /* counters: their names */
    const char *tool;         /* instructions, memory, cpu: what they are read from, TOOL_... */
    bool ack;                 /* it is told when its DONE was stamped */
    struct sample_series *samples; /* as in struct workload */
    size_t n_samples;
    bool baseline;                     /* memory: it has a BASELINE record */
    int64_t window_ms;                 /* cpu: at least so long is it watched */
    int growth_pct;                    /* size: what a file may grow over its baseline */
    const struct attribution *profile; /* attribution: as the suite declares it */
};

/* Medians of one lane in an earlier pair of the same job: what made it be repeated, and what it
 * would have said. */
struct raw_pair_row {
    const char *workload, *lane;
    const char *before_side, *after_side;
    bool control;
    double before_ns, after_ns; /* NaN: undefined */
};

/* The pair that this one repeats, because a control drifted in it. */
struct raw_pair {
    const char *attempt;
    const char *raw_sha256; /* of its raw report */
    struct raw_pair_row *rows;
    size_t n_rows;
};

struct raw {
    const char *id;       /* attempt ULID */
    const char *version;  /* of the daemon */
    const char *host_key; /* public key that signs the evidence, hex; NULL: it is not signed */
    int64_t started_wall_ms, ended_wall_ms;
    struct host_identity host;
    struct boot_identity boot;
    const char *boot_id_after;                   /* read again after timing */
    int64_t suspend_before_ms, suspend_after_ms; /* -1 unknown */
    struct job job;
    struct policy policy;
    const struct raw_session *session;     /* NULL: none */
    const struct raw_pair *repeats;        /* NULL: it repeats none */
    const struct calibration *calibration; /* in force when it began; NULL: none of its boot */
    const char *suite_sha256;
    struct raw_workload *workloads;
    size_t n_workloads;
    const char **sides;
    size_t n_sides;
    struct raw_source *sources;
    size_t n_sources;
    struct raw_build *builds;
    size_t n_builds;
    struct raw_artifact *artifacts;
    size_t n_artifacts;
    struct raw_tool *tools;
    size_t n_tools;
    struct plan plan; /* indexes into workloads, lanes, sides */
    const char *clock;
    const char *cpu_set;            /* "0-1" */
    struct ledger_sources observer; /* where the ledgers' counters come from */
    struct phase_record phases[PHASE_COUNT];
    struct raw_refusal *refusals;
    size_t n_refusals;
    struct raw_observation *observations; /* by seq */
    size_t n_observations;
    struct raw_recheck *rechecks;
    size_t n_rechecks;
    bool fresh_worktrees;  /* checked out for this attempt or the one it continues */
    const char *cleanup;   /* "verified", or what could not be removed */
    const char *void_code; /* NULL: not void; else the code of what made it so */
    const char *void_text;
};
