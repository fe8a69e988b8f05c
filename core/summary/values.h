/* Figures that are no times: what the values of a lane are called, and what follows from them.
 *
 * Values are exact integers of named things (counters, bytes of files). Unlike times they do not
 * depend on what else the host does, so that no ledger judges them, no floor is under them, and
 * where they are the same in every repetition they are simply that number. Where they are not, two
 * of them are compared as times are, by pairs and interval. Undefined is NaN or -1 with a reason.
 * Pure; all of it lives in the arena that is passed.
 */
#pragma once

#include "base/arena.h"
#include "core/grade/grade.h"
#include "core/raw.h"
#include "core/stats/compare.h"

/* The names of measure memory, in this order; the first and the third only with a baseline. */
enum memory_value { MEMORY_BASELINE, MEMORY_READY, MEMORY_INCREMENTAL, MEMORY_PEAK, MEMORY_VALUES };

/* The values of a lane in the order declared; none where its figure is a time. */
size_t values_count(const struct raw_workload *w, const struct raw_lane *lane);
const char *values_name(const struct raw_workload *w, const struct raw_lane *lane, size_t index);

/* What was resident at each point, in bytes (-1: not known, or no baseline), as values; *n of them,
 * 0 when one that is needed is not known. incremental_rss is what READY has over BASELINE, 0 where
 * it has not more. peak_rss is at least what was seen at either point. */
void values_of_memory(bool with_baseline, int64_t baseline, int64_t ready, int64_t peak,
                      struct raw_value out[MEMORY_VALUES], size_t *n);
/* The values of measure kernel: the statistics of a receipt, each by itself, rounded to ns. */
#define KERNEL_VALUES 15
void values_of_kernel(const struct kernel_receipt *r, struct raw_value out[KERNEL_VALUES]);
/* CPU time as a share of one core, in millionths, cut off; -1: undefined. */
int64_t values_share_ppm(int64_t cpu_ns, int64_t window_ns);

/* What is wrong with values of which one follows from the others, or from the stamps; NULL:
 * nothing. It has all values that its workload declares. */
const char *values_follow(const struct raw_workload *w, const struct raw_observation *o);

/* One value over the repetitions that count. */
struct value_figures {
    const char *name;
    size_t n;         /* values used */
    double median;    /* NaN when n is 0 */
    int64_t min, max; /* -1 when n is 0 */
    int64_t total;    /* sum: no value can change without it; -1 when n is 0 or out of range */
    bool exact;       /* the same in every repetition */
    int64_t baseline; /* size: the recorded one; -1: none */
    double share_pct; /* attribution: of what was recovered in all repetitions; NaN: no category */
};

/* One lane on one side. */
struct value_row {
    const char *workload, *lane, *side;
    const char *unit;
    bool control;
    struct value_figures *values;
    size_t n_values;
    const char *undefined; /* reason when there are no figures; NULL otherwise */
    struct row_grade grade;
};

enum value_verdict {
    VALUE_EQUAL,
    VALUE_MORE,
    VALUE_LESS,
    VALUE_UNRESOLVED, /* not exact, and the interval does not lie beyond the margin */
    VALUE_INEXACT     /* not exact, and there is no interval; or a side has no value */
};
/* "EQUAL", "MORE", "LESS", "UNRESOLVED", "INEXACT" */
const char *value_verdict_name(enum value_verdict v);
int value_verdict_parse(const char *s);

/* Two figures of one name against each other. */
struct value_comparison {
    bool of_sides; /* one lane on two sides; else two lanes on one side */
    const char *workload, *name, *unit;
    const char *subject_lane, *subject_side;
    const char *reference_lane, *reference_side;
    double subject, reference; /* medians */
    double ratio_of_medians;   /* NaN unless both are positive */
    double change_pct;         /* of the medians; NaN unless the reference is positive */
    bool exact;                /* both are the same in every repetition */
    enum value_verdict verdict;
    int64_t difference;       /* subject - reference; 0 unless exact */
    bool has_estimate;        /* not exact, and both have values */
    struct estimate estimate; /* its verdict in the words of times: LESS is FASTER */
    const char *undefined;    /* reason; NULL when defined */
};

/* The value of this name, by repetition, from observations that count (n of them, of one series).
 */
struct samples values_samples(struct arena *a, const struct raw_observation *const *observations,
                              size_t n, const char *name);

/* The figures of each value, from observations that count (n of them, of one series). A value that
 * an observation lacks is left out. */
void values_figures(struct arena *a, const struct raw_workload *w, const struct raw_lane *lane,
                    const struct raw_observation *const *observations, size_t n,
                    struct value_figures *out);

/* Fills the medians and what follows from them; all that there is of exact values. */
void values_compare(const struct value_figures *subject, const struct value_figures *reference,
                    struct value_comparison *out);
/* Of values that are not exact: keeps the estimate, and its verdict. No noise floor was measured
 * for values, so that its rule has none, and nothing that is not exact can be called equal. */
void values_judge(const struct estimate *estimate, struct value_comparison *out);

/* The row of this lane on this side that a summary has; NULL: none. */
const struct value_row *values_row(const struct value_row *rows, size_t n, const char *workload,
                                   const char *lane, const char *side);
/* Of a row, by name; NULL: it has none. */
const struct value_figures *values_find(const struct value_row *row, const char *name);
