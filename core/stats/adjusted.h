/* The startup-adjusted time of a reference lane over the pairs of another lane.
 *
 * A published row sets a lane beside its reference; both estimates must rest on the same
 * repetitions, or one of them leaves out what the other keeps. A repetition counts here when the
 * lane's and the reference's own difference are both positive. An estimate: no verdict and no
 * target uses it. Pure.
 */
#pragma once

#include "core/stats/compare.h"

/* A lane and its startup lane on one side, each sorted by repetition. */
struct adjusted_lane {
    struct samples lane, startup;
};

/* of is what is adjusted, beside is the lane whose pairs decide. out->n counts the repetitions that
 * all four have; median_all_ns is of all of them. */
void adjusted_beside(struct arena *a, const struct adjusted_lane *of,
                     const struct adjusted_lane *beside, struct startup_adjusted *out);
