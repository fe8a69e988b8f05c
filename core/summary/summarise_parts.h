/* Inside of summarise: what its parts share, and the comparisons, which fill a file of their own.
 */
#pragma once

#include "core/summary/observations.h"
#include "core/summary/summarise.h"

struct summarising {
    struct arena *arena;
    const struct raw *raw;
    struct observation_index index;
    struct observation_index planned; /* as observed */
    const struct job_pair *pairs;     /* of sides */
    size_t n_pairs;
    const struct calibration_figures *calibration; /* by measure; NULL: none of this boot */
};

/* Why a lane has no figures on a side, n of its observations count; NULL: it has. */
const char *why_undefined(struct arena *a, const struct raw_workload *w,
                          const struct raw_lane *lane, const char *side, size_t n);
/* Is subject measured against reference on each side? In `run` the two commands are; elsewhere
 * every lane is against every control. A startup lane only serves the lane that it belongs to. */
bool lanes_compare(const struct raw *raw, const struct raw_workload *w,
                   const struct raw_lane *subject, const struct raw_lane *reference);

/* Fills the rows and comparisons of values of s, whose controls are known (summarise_values.c). */
void summarise_values(const struct summarising *in, struct summary *s);

/* Fills scaling and n_scaling, and the predicate of the rows (summarise_scaling.c). */
void summarise_scaling(const struct summarising *in, struct summary *s);

/* How far any control of s may have drifted, as a fraction; NaN where there is none or one is not
 * known. */
double largest_drift(const struct summary *s);

/* Fills comparisons and n_comparisons of s, whose controls are known. */
void summarise_comparisons(const struct summarising *in, struct summary *s);
