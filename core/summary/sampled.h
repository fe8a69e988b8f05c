/* Samples that a lane prints after its work (how late each timer was): what follows from them.
 *
 * All samples of the repetitions that count stand together, so that a p99 is one over everything
 * that was seen. Unlike values they are of a workload that is timed, and a disturbed repetition
 * takes its samples with it. Undefined is NaN or -1. Pure; all of it lives in the arena given.
 */
#pragma once

#include "base/arena.h"
#include "core/raw.h"
#include "core/summary/observations.h"

/* One series of one lane on one side. */
struct sample_figures {
    const char *name;
    enum sample_unit unit;
    size_t n;        /* samples, of all repetitions that count */
    double median;   /* NaN when n is 0 */
    int64_t p99;     /* nearest rank; -1 when n is 0 */
    int64_t max;     /* -1 when n is 0 */
    int64_t total;   /* sum: no sample can change without it; -1 when n is 0 or out of range */
    int64_t p99_max; /* the bound; -1: none is declared, or the lane is a control */
};

/* The figures of each series that the workload declares, in that order (w->n_samples of them). */
struct sample_figures *sampled_figures(struct arena *a, const struct observation_index *index,
                                       const struct raw_workload *w, const struct raw_lane *lane,
                                       const char *side);
/* Of that name; NULL: there is none. */
const struct sample_figures *sampled_find(const struct sample_figures *list, size_t n,
                                          const char *name);
/* Whether the p99 keeps its bound; NOT_APPLICABLE without one, UNKNOWN without samples. */
enum tri sampled_within(const struct sample_figures *f);
