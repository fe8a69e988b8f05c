/* The gate: targets held against reports. A ratio to a reference lane, a slowdown between two
 * sides, the size of a built file; each met, missed, undefined, within its limit on diagnostic
 * figures, or unclear: the interval of a ratio holds the limit, or there is none.
 *
 * Pure: targets and reports in, rows out. Only figures of one report are ever divided by each
 * other. What is not known does not pass: a target without a figure is undefined, and undefined is
 * a miss. Everything lives in the arena that is passed, or belongs to the targets and reports.
 */
#pragma once

#include "base/arena.h"
#include "core/raw.h"
#include "core/summary/summarise.h"

enum target_kind {
    TARGET_RATIO,  /* median of the lane / median of the reference, at most max */
    TARGET_CHANGE, /* change of the lane's median from one side to another, at most max percent */
    TARGET_SIZE,   /* bytes of a file, at most recorded * 1.10 */
    TARGET_SAMPLE  /* p99 of a series of samples of the lane, at most max_p99 in its unit */
};

enum target_time { TARGET_WALL, TARGET_CPU };
const char *target_time_name(enum target_time t); /* "wall", "cpu" */
int target_time_parse(const char *s);

struct target {
    enum target_kind kind;
    const char *suite;           /* only reports of this suite; NULL: of any */
    const char *workload, *lane; /* ratio, change and sample */
    const char *reference;       /* ratio: the lane it is divided by */
    const char *before;          /* change: from this side; NULL: from the first */
    const char *side;            /* the side that is judged; NULL: the last */
    enum target_time time;
    const char *value;  /* of a workload whose figures are values: its name; NULL: the time */
    double max;         /* ratio, or percent */
    const char *file;   /* size: path as the report names it */
    int64_t bytes;      /* size: as recorded */
    const char *sample; /* sample: the series */
    int64_t max_p99;    /* sample: in its unit */
    const char *host;   /* only on the host of this name; NULL: on every */
    const char *arch;   /* only on hosts of this architecture; NULL: on every */
    const char *system; /* only on hosts of this system, "Linux" or "Darwin"; NULL: on every */
    bool diagnostic;    /* diagnostic figures are good enough */
};

/* A ratio as somebody recorded it: shown beside what reports have, never judged. */
struct recorded_gap {
    const char *suite; /* only reports of this suite; NULL: of any */
    const char *workload, *lane, *reference;
    double ratio;
    const char *on; /* where it was recorded, for people; NULL: not said */
};

struct targets {
    const char *name;
    struct target *v;
    size_t n;
    struct recorded_gap *gaps;
    size_t n_gaps;
};

struct gate_report {
    const char *name; /* for people */
    const struct raw *raw;
    const struct summary *s;
};

enum gate_status {
    GATE_MET,
    GATE_MISSED,
    GATE_UNDEFINED,  /* there is no figure to hold against it */
    GATE_DIAGNOSTIC, /* within the limit, but on figures that no contract stands for */
    GATE_UNCLEAR,    /* the interval does not tell, or there is none */
    GATE_STATUS_COUNT
};
/* "met", "missed", "undefined", "diagnostic", "unclear" */
const char *gate_status_name(enum gate_status s);

/* One target in one report; or on one host, none of whose reports has what it names. */
struct gate_row {
    const struct target *target;
    const char *what;  /* "fib30: c / rust" */
    const char *limit; /* "at most 8.000000" */
    const char *found; /* "7.912345"; NULL: undefined */
    double figure;     /* ratio, percent, bytes or p99; NaN: undefined */
    double to_go;      /* figure / limit: the factor that is still to go where it is more than 1;
                          of changes that of the medians; NaN: undefined */
    struct interval
        interval;       /* of the figure, in its unit; of exact values that figure (coverage NaN) */
    const char *range;  /* the interval: "7.1 to 8.9"; NULL: none */
    const char *host;   /* name; NULL: no report is of a host that it is for */
    const char *report; /* name; NULL: no report of the host has it */
    enum gate_status status;
    const char *why; /* one phrase; NULL: nothing to add to the figure */
};

/* One recorded gap in one report; or in none. */
struct gap_row {
    const struct recorded_gap *gap;
    double now;                /* on the last side, of the wall time; NaN: not measured */
    const char *host, *report; /* NULL: no report has both lanes */
};

struct gate_result {
    struct gate_row *rows;
    size_t n_rows;
    struct gap_row *gaps;
    size_t n_gaps;
    size_t count[GATE_STATUS_COUNT]; /* rows of each status */
    bool passed;                     /* there are rows, and each is met */
};

/* Each target on each host, in each of the host's reports that has what it names. */
void gate_judge(struct arena *a, const struct targets *targets, const struct gate_report *reports,
                size_t n_reports, struct gate_result *out);
