#include "core/stats/adjusted.h"

#include <math.h>

#include "core/stats/quantile.h"

/* Lane minus startup, per repetition: samples whose values may be negative. */
static struct samples differences_of(struct arena *a, const struct adjusted_lane *l)
{
    size_t room = l->lane.n < l->startup.n ? l->lane.n : l->startup.n;
    struct pair *pairs = arena_array(a, room, sizeof *pairs);
    struct samples out = {.v = arena_array(a, room, sizeof *out.v)};
    out.n = room ? compare_pairs(&l->lane, &l->startup, pairs) : 0;
    for (size_t i = 0; i < out.n; i++)
        out.v[i] = (struct sample){pairs[i].repetition, pairs[i].subject - pairs[i].reference};
    return out;
}

void adjusted_beside(struct arena *a, const struct adjusted_lane *of,
                     const struct adjusted_lane *beside, struct startup_adjusted *out)
{
    struct samples mine = differences_of(a, of), theirs = differences_of(a, beside);
    size_t room = mine.n < theirs.n ? mine.n : theirs.n;
    struct pair *pairs = arena_array(a, room, sizeof *pairs);
    int64_t *valid = arena_array(a, room, sizeof *valid);
    int64_t *all = arena_array(a, room, sizeof *all);
    *out = (struct startup_adjusted){.median_ns = NAN, .median_all_ns = NAN};
    out->n = room ? compare_pairs(&mine, &theirs, pairs) : 0;
    for (size_t i = 0; i < out->n; i++) {
        all[i] = pairs[i].subject;
        if (pairs[i].subject > 0 && pairs[i].reference > 0)
            valid[out->valid++] = pairs[i].subject;
    }
    quantile_sort_ints(all, out->n);
    quantile_sort_ints(valid, out->valid);
    out->median_all_ns = quantile_median_ints(all, out->n);
    out->median_ns = quantile_median_ints(valid, out->valid);
}
