/* A suite: what suite.json says, decoded and checked. Owned by the arena it was decoded into. */
#pragma once

#include "core/kernel/kernel.h"
#include "core/summary/attribution.h"
#include "core/types.h"

/* A file whose bytes are a figure. */
struct lane_file {
    const char *name;
    const char *path;       /* below "{build}/" or "{suite}/" */
    int64_t baseline_bytes; /* as recorded once, for the gate of growth; -1: none */
};

/* A lane does the work of another one on more CPUs. */
struct scaling {
    const char *of; /* the lane that does the same work as one task; NULL: it is not such a lane */
    int64_t tasks;  /* in how many tasks it does it */
    double max_ratio; /* what its time may be of that lane's, by the median of the pairs */
};
#define SCALING_TASKS_MAX 1024
#define SCALING_RATIO_MAX 1000

/* A series of figures that each lane prints when its work is done, one line for each sample. */
struct sample_series {
    const char *name;
    enum sample_unit unit;
    int64_t min, max; /* how many there are in one observation */
    int64_t p99_max;  /* what the p99 of a lane that is no control may be; -1: there is no bound */
};
#define SAMPLES_MAX 8192 /* of one observation, in all its series */
#define SAMPLE_SERIES_MAX 16

struct lane {
    const char *name;
    struct args command;     /* with placeholders {source} {suite} {build} not yet replaced */
    bool control;            /* does not change between the sides */
    bool optional;           /* absent, by name, where its tool or what it needs is not there */
    struct args needs;       /* optional: programs of the host, or files that the build makes */
    int cpus;                /* 1: pinned to one core; 0: the policy's CPU set */
    const char *startup;     /* lane whose observation is subtracted; NULL: none */
    const char *stdout_text; /* process: expected stdout; NULL: the workload's */
    const char *cwd;         /* absolute; NULL: the attempt's empty home */
    struct env_var *env;
    size_t n_env;
    struct lane_file *files; /* size: instead of a command */
    size_t n_files;
    struct args must_link, must_not_link; /* size: libraries or symbols, of each file */
    struct scaling scaling;
    struct args *prepare; /* build: commands before the first step, not timed */
    size_t n_prepare;
    struct args outputs; /* build: files that the step writes, below the folder that it runs in;
                            kernel: "artifact", "terminal" */
};

#define GROWTH_PCT_MAX 10000
#define GROWTH_PCT                                                                                 \
    10 /* what a file may grow over its baseline, unless the suite says otherwise                  \
        */

#define SUITE_STDOUT_MAX 65536 /* bytes of an expected stdout */

#define WINDOW_MS 30000 /* unless the suite says otherwise */
#define WINDOW_MIN_MS 100
#define WINDOW_MAX_MS 600000

/* What every driver of a workload is asked for (docs/kernels.md). */
struct kernel_work {
    const char *program, *input; /* below "{suite}/" */
    const char *entry;
    enum kernel_entry kind;
    int64_t compiles, dispatches; /* behind the first */
    int64_t workers;
};

/* A workload of measure build is one for each of its steps, adjacent and in their order, with the
 * same lanes: "hello.check", "hello.build". */
struct workload {
    const char *name;
    enum measure measure;
    const char *steps_of;      /* build: the name that its steps share ("hello"); NULL: no step */
    struct kernel_work kernel; /* kernel: what it asks for; a lane's command is the driver */
    bool reproducible; /* build: outputs have the same bytes in every observation of a lane */
    const char *ready, *go, *done; /* where measure_has_records: exact lines without newline */
    const char *baseline, *load;   /* memory: a record before READY, and its answer; NULL: none */
    const char *ack;               /* written after DONE was stamped; NULL: none */
    struct sample_series *samples; /* protocol, operation: printed after ack was read */
    size_t n_samples;
    int64_t window_ms;        /* cpu: how long it is watched after READY */
    const char *stdout_text;  /* process: exact expected stdout; NULL: not checked */
    int64_t operations;       /* operation: done between GO and DONE; 0: another measure */
    int64_t resolution_ns;    /* operation: step of the timer that it goes by; 0: the clock */
    int64_t declared_wait_ns; /* 0: none */
    struct args counters;     /* counters: the names that a lane prints, in this order */
    int growth_pct;           /* size: what a file may grow over its baseline */
    struct args absent;       /* sides on which it does not exist */
    const struct attribution *profile; /* attribution: what is made of it; NULL: another measure */
    struct lane *lanes;
    size_t n_lanes;
};

/* As the suite's document calls it: a step goes by the name of all of them. */
static inline const char *workload_written_name(const struct workload *w)
{
    return w->steps_of ? w->steps_of : w->name;
}

struct suite {
    const char *name;
    const char *description;
    struct args *build; /* once per side; cwd is {source} */
    size_t n_build;
    struct args *suite_build; /* once per attempt; cwd is {suite} */
    size_t n_suite_build;
    struct env_var *env;
    size_t n_env;
    struct args forbidden; /* programs that may not run beside it */
    struct workload *workloads;
    size_t n_workloads;
};
