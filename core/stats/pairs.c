#include "core/stats/pairs.h"

const struct job_pair *pairs_of_sides(struct arena *a, const struct raw *raw, size_t *n)
{
    *n = raw->job.n_pairs;
    if (*n > 0)
        return raw->job.pairs;
    *n = raw->n_sides > 1 ? raw->n_sides - 1 : 0;
    struct job_pair *pairs = arena_array(a, *n, sizeof *pairs);
    for (size_t i = 0; i < *n; i++)
        pairs[i] = (struct job_pair){.subject = raw->sides[i + 1], .reference = raw->sides[0]};
    return pairs;
}
