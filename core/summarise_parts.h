/* Inside of summarise: what its parts share, and the comparisons, which fill a file of their own.
 */
#pragma once

#include "core/observations.h"
#include "core/summarise.h"

struct summarising {
    struct arena *arena;
    const struct raw *raw;
    struct observation_index index;
    const struct job_pair *pairs; /* of sides */
    size_t n_pairs;
};

/* Fills comparisons and n_comparisons of s, whose controls are known. */
void summarise_comparisons(const struct summarising *in, struct summary *s);
