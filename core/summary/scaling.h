/* One task against several: whether a lane that does the same work as several tasks is as much
 * faster as its suite asks, where that can be told.
 *
 * The figure is the median of the ratios of pairs, lane / one-task lane of the same repetition. It
 * is MET or MISSED only when it is valid, which is a list of conditions, each with its reason; else
 * it is UNRESOLVED, and the reason says what a host or a run would have to be. Pure; reasons live
 * in the arena given.
 */
#pragma once

#include "base/arena.h"
#include "core/raw.h"
#include "core/stats/compare.h"

enum scaling_status { SCALING_MET, SCALING_MISSED, SCALING_UNRESOLVED };
const char *scaling_status_name(enum scaling_status s); /* "MET", "MISSED", "UNRESOLVED" */
int scaling_status_parse(const char *s);

struct scaling_row {
    const char *workload, *lane, *one, *side; /* one: the lane that is one task */
    int64_t tasks, cpus;                      /* CPUs that the lanes may use; -1: not known */
    double max_ratio;
    double ratio; /* median of the paired ratios; NaN: undefined */
    size_t pairs;
    struct interval interval; /* of the ratio */
    enum scaling_status status;
    const char *why; /* UNRESOLVED: the first condition that does not hold; else NULL */
};

/* How many CPUs a list like "0-3,8" names; -1: it is none. */
int64_t scaling_cpus(const char *list);

/* What is known beside the pairs. */
struct scaling_facts {
    const char *undefined;    /* why one of the two lanes has no figures; NULL: both have */
    bool complete;            /* both lanes have every repetition */
    enum tri undisturbed;     /* disturbed repetitions were replaced in both lanes */
    double one_wall, one_cpu; /* medians of the one-task lane, ns; NaN: unknown */
};
/* What part of its time the one-task lane must have computed, in percent: one that waits does not
 * tell what a second CPU would do. */
#define SCALING_BUSY_PCT 90

/* Fills ratio, pairs, interval, status and why; the rest of row is there. */
void scaling_judge(struct arena *a, const struct estimate *e, const struct scaling_facts *facts,
                   struct scaling_row *row);
