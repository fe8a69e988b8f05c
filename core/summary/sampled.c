#include "core/summary/sampled.h"

#include <string.h>

#include "core/stats/quantile.h"

static const struct raw_samples *find_series(const struct raw_observation *o, const char *name)
{
    for (size_t i = 0; i < o->n_samples; i++)
        if (strcmp(o->samples[i].name, name) == 0)
            return &o->samples[i];
    return NULL;
}

/* All samples of one series, in a; *n of them. */
static int64_t *collect(struct arena *a, const struct raw_observation *const *observations,
                        size_t n_observations, const char *name, size_t *n)
{
    size_t room = 0;

    for (size_t i = 0; i < n_observations; i++) {
        const struct raw_samples *s = find_series(observations[i], name);
        room += s ? s->n : 0;
    }
    int64_t *all = arena_array(a, room, sizeof *all);
    *n = 0;
    for (size_t i = 0; i < n_observations; i++) {
        const struct raw_samples *s = find_series(observations[i], name);
        if (s && s->n > 0)
            memcpy(all + *n, s->v, s->n * sizeof *all);
        *n += s ? s->n : 0;
    }
    return all;
}

struct sample_figures *sampled_figures(struct arena *a, const struct observation_index *index,
                                       const struct raw_workload *w, const struct raw_lane *lane,
                                       const char *side)
{
    const struct series of = {w->name, lane->name, side};
    struct sample_figures *out = arena_array(a, w->n_samples, sizeof *out);
    size_t n_observations, n;
    const struct raw_observation *const *o = observations_of(index, &of, &n_observations);

    for (size_t i = 0; i < w->n_samples; i++) {
        int64_t *all = collect(a, o, n_observations, w->samples[i].name, &n);
        quantile_sort_ints(all, n);
        out[i] = (struct sample_figures){
            .name = w->samples[i].name,
            .unit = w->samples[i].unit,
            .n = n,
            .median = quantile_median_ints(all, n),
            .p99 = quantile_p99(all, n),
            .max = n > 0 ? all[n - 1] : -1,
            .total = quantile_total(all, n),
            .p99_max = lane->control ? -1 : w->samples[i].p99_max,
        };
    }
    return out;
}

const struct sample_figures *sampled_find(const struct sample_figures *list, size_t n,
                                          const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i].name, name) == 0)
            return &list[i];
    return NULL;
}

enum tri sampled_within(const struct sample_figures *f)
{
    if (f->p99_max < 0)
        return TRI_NOT_APPLICABLE;
    if (f->n == 0)
        return TRI_UNKNOWN;
    return f->p99 <= f->p99_max ? TRI_PASS : TRI_FAIL;
}
