/* What follows from a raw report: figures, comparisons, control drift, grade. One pure function;
 * the daemon and offline verification call the same one. Undefined figures are NaN here, null in
 * JSON, with a reason; never 0 or infinite. */
#pragma once

#include "base/arena.h"
#include "core/grade/grade.h"
#include "core/ledger/replacement.h"
#include "core/raw.h"
#include "core/stats/compare.h"
#include "core/stats/drift.h"
#include "core/summary/sampled.h"
#include "core/summary/scaling.h"
#include "core/summary/values.h"

struct figures {
    size_t n;         /* samples used */
    double median_ns; /* NaN when n is 0 */
    double mad_ns;    /* median absolute deviation, unscaled */
    int64_t p95_ns;   /* nearest rank; -1 when n is 0 */
    int64_t best_ns;  /* minimum; -1 when n is 0 */
    int64_t total_ns; /* sum: no sample can change without it; -1 when n is 0 */
};

/* Of a workload of measure operation: figures of the time from GO to DONE, divided by the
 * operations done in it. Ratios and changes are those of the undivided times. */
struct per_operation {
    int64_t operations; /* 0: of another measure, and nothing else here means anything */
    double median_ns, mad_ns, p95_ns, best_ns; /* NaN: undefined */
    double timer_step_ns; /* the coarser of clock and declared timer; NaN: not known */
    bool coarse;          /* the step is more than 1 % of the median from GO to DONE */
};

struct row {
    const char *workload, *lane, *side;
    bool control;
    struct figures wall;
    struct per_operation per_operation;
    struct figures cpu;         /* interval_cpu_ns */
    double startup_adjusted_ns; /* median of the positive lane - startup differences; NaN: none */
    size_t adjusted_valid, adjusted_n; /* 9 of 11; n 0: the lane has no startup lane */
    double adjusted_all_ns;            /* median of all differences */
    double excess_ns;                  /* median minus the declared wait; NaN: none declared */
    struct sample_figures *samples;    /* of each series that the workload declares */
    size_t n_samples;
    double floor_share;    /* of the median, what measuring itself takes; NaN: unknown */
    const char *undefined; /* reason when there are no figures; NULL otherwise */
    struct row_grade grade;
};

enum comparison_kind {
    COMPARE_SIDES, /* one lane, subject side against reference side */
    COMPARE_LANES  /* one side, subject lane against reference lane */
};
const char *comparison_kind_name(enum comparison_kind k); /* "sides", "lanes" */
int comparison_kind_parse(const char *s);

struct comparison {
    enum comparison_kind kind;
    const char *workload;
    const char *subject_lane, *subject_side;
    const char *reference_lane, *reference_side;
    struct estimate wall, cpu;
    bool has_observed;        /* repetitions were disturbed and replaced */
    struct estimate observed; /* wall time of the planned repetitions, disturbed or not */
    bool has_excess;          /* the workload declares a wait */
    struct estimate excess;   /* of what is over the wait */
    double change_pct;        /* of the medians, (subject - reference) / reference */
    double excess_ratio;      /* the one that the excess's verdict speaks of; NaN: no wait */
    bool verdicts_disagree;   /* wall and CPU time */
    const char *undefined;    /* reason; NULL when defined */
};

struct summary {
    struct row *rows; /* of workloads whose figure is a time */
    size_t n_rows;
    struct comparison *comparisons; /* of times */
    size_t n_comparisons;
    struct value_row *values; /* of workloads whose figures are values */
    size_t n_values;
    struct value_comparison *value_comparisons;
    size_t n_value_comparisons;
    struct scaling_row *scaling; /* of lanes that do another's work as several tasks */
    size_t n_scaling;
    struct control_drift *controls;
    size_t n_controls;
    struct replacement_count *repetitions;   /* by workload of the raw report; NULL: void */
    struct calibration_figures *calibration; /* by measure; NULL: not calibrated in its boot */
    struct grade_result grade;
};

/* The row of a lane on a side; NULL: there is none. */
struct row *summary_row(const struct summary *s, const char *workload, const char *lane,
                        const char *side);

/* Whether the comparison is of a control lane with itself: it tells of the host, not of the change.
 */
bool summary_is_control(const struct summary *s, const struct comparison *c);

/* Both kinds of rows, the times first, as far as they are the same: who it is, and the grade. */
struct graded_row {
    const char *workload, *lane, *side;
    const char *undefined; /* reason when there are no figures; NULL otherwise */
    const struct row_grade *grade;
};
size_t summary_count_graded(const struct summary *s);
struct graded_row summary_graded(const struct summary *s, size_t index);

/* Never fails; a void attempt yields a grade and no rows. Everything lives in a. */
struct summary *summarise(struct arena *a, const struct raw *raw);
