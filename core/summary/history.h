/* One figure through many reports: what each sealed report said of it. Plain structs, which the
 * store keeps and the report module shows; the report holds where they could differ. Pure. */
#pragma once

#include "core/summary/summarise.h"

/* Which report a row is of. When storing, job and what follows it are not looked at. */
struct history_origin {
    const char *attempt;
    int64_t started_ms;      /* of the attempt */
    const char *job, *label; /* label: NULL, none */
    const char *boot, *host;
    const char *suite, *suite_sha256; /* NULL: two commands */
};

/* One lane on one side. */
struct history_figure {
    struct history_origin of;
    const char *workload, *value; /* value: "" is the workload's time */
    const char *lane, *side;
    const char *commit; /* NULL: what stood there */
    enum measure measure;
    const char *unit;
    int64_t operations; /* -1: not counted */
    bool control;
    int64_t n;
    double median, mad; /* of whole intervals; mad: NaN, of values */
    int64_t low, high;  /* best and p95 of times; least and greatest of values */
    double cpu_median;  /* NaN: not known, or of values */
    enum grade grade;   /* of this row in its report */
};

/* Two of them against each other, as the report compares them. */
struct history_ratio {
    struct history_origin of;
    const char *workload, *value;
    const char *subject_lane, *reference_lane;
    const char *subject_side, *reference_side;
    const char *subject_commit, *reference_commit;
    enum measure measure;
    const char *unit;
    int64_t operations;
    double subject, reference; /* medians */
    double ratio_of_medians;   /* NaN: undefined, as below */
    double ratio;              /* the one that the verdict speaks of; of exact values none */
    double low, high, coverage;
    const char *verdict;
    enum grade grade; /* contractual where both rows are */
};

/* What a workload's time is called where values have names. */
#define HISTORY_TIME "time"

/* A series that there is: one value of one lane. */
struct history_name {
    const char *workload, *value, *lane;
    enum measure measure; /* of its latest row, as the next two */
    const char *unit;
    bool control;
    int64_t first_ms, latest_ms;
    const char **against; /* lanes that it is compared with; itself where sides are */
    size_t n_against;
    bool more_against; /* and others */
};

/* What a report adds, or what was found. */
struct history {
    struct history_name *names;
    size_t n_names;
    struct history_figure *figures;
    size_t n_figures;
    struct history_ratio *ratios;
    size_t n_ratios;
};

/* What a report adds: its defined figures and comparisons. The list lives in a, its texts in raw
 * and s. */
const struct history *history_of(struct arena *a, const struct raw *raw, const struct summary *s);
