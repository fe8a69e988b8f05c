#include "core/summary/observations.h"

#include <stdlib.h>
#include <string.h>

static bool counts(const struct raw_observation *o)
{
    return o->kind == OBS_TIMED && o->outcome && strcmp(o->outcome, "ok") == 0;
}

static int order_series(const struct raw_observation *o, const struct series *of)
{
    int order = strcmp(o->workload, of->workload);
    if (order == 0)
        order = strcmp(o->lane, of->lane);
    return order ? order : strcmp(o->side, of->side);
}

static int order_observations(const void *a, const void *b)
{
    const struct raw_observation *x = *(const struct raw_observation *const *)a,
                                 *y = *(const struct raw_observation *const *)b;
    const struct series of = {y->workload, y->lane, y->side};
    int order = order_series(x, &of);
    return order ? order : (x->repetition > y->repetition) - (x->repetition < y->repetition);
}

/* Whether each repetition of each workload counts, so that it is not asked for every observation.
 */
static bool **chosen_repetitions(struct arena *a, const struct raw *raw,
                                 const struct replacement *replacements)
{
    bool **chosen = arena_array(a, raw->n_workloads, sizeof *chosen);
    for (size_t w = 0; w < raw->n_workloads; w++) {
        const struct replacement *r = &replacements[w];
        chosen[w] = arena_array(a, (size_t)(r->asked + r->room), sizeof **chosen);
        replacement_choose(r, chosen[w]);
    }
    return chosen;
}

/* What is out of the range of repetitions stays: others say that it has no place there. */
static bool is_chosen(const struct raw *raw, bool *const *chosen,
                      const struct replacement *replacements, const struct raw_observation *o)
{
    for (size_t w = 0; w < raw->n_workloads; w++)
        if (strcmp(raw->workloads[w].name, o->workload) == 0) {
            int n = replacements[w].asked + replacements[w].room;
            return o->repetition < 0 || o->repetition >= n || chosen[w][o->repetition];
        }
    return true;
}

static void sort_index(struct observation_index *index)
{
    if (index->n > 1)
        qsort(index->v, index->n, sizeof *index->v, order_observations);
}

void observations_index(struct arena *a, const struct raw *raw, struct observation_index *out)
{
    *out = (struct observation_index){.v = arena_array(a, raw->n_observations, sizeof *out->v),
                                      .replacements = replacements_of(a, raw)};
    bool **chosen = chosen_repetitions(a, raw, out->replacements);
    for (size_t i = 0; i < raw->n_observations; i++) {
        const struct raw_observation *o = &raw->observations[i];
        if (counts(o) && is_chosen(raw, chosen, out->replacements, o))
            out->v[out->n++] = o;
    }
    sort_index(out);
}

void observations_index_planned(struct arena *a, const struct raw *raw,
                                struct observation_index *out)
{
    *out = (struct observation_index){.v = arena_array(a, raw->n_observations, sizeof *out->v),
                                      .replacements = replacements_of(a, raw)};
    for (size_t i = 0; i < raw->n_observations; i++)
        if (counts(&raw->observations[i]) && raw->observations[i].replaces < 0)
            out->v[out->n++] = &raw->observations[i];
    sort_index(out);
}

/* The first place whose series is not before this one (past: not up to it). */
static size_t place_of(const struct observation_index *index, const struct series *of, bool past)
{
    size_t low = 0, high = index->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (order_series(index->v[middle], of) < (past ? 1 : 0))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct raw_observation *const *observations_of(const struct observation_index *index,
                                                     const struct series *of, size_t *n)
{
    size_t first = place_of(index, of, false);
    *n = place_of(index, of, true) - first;
    return index->v ? index->v + first : NULL;
}

static int64_t value_of(const struct raw_observation *o, enum observed what)
{
    return what == OBSERVED_WALL_NS ? o->elapsed_ns : o->interval_cpu_ns;
}

struct samples observations_collect(struct arena *a, const struct observation_index *index,
                                    const struct series *of, enum observed what)
{
    size_t n;
    const struct raw_observation *const *observations = observations_of(index, of, &n);
    struct samples s = {.v = arena_array(a, n, sizeof *s.v)};
    for (size_t i = 0; i < n; i++)
        if (value_of(observations[i], what) >= 0)
            s.v[s.n++] =
                (struct sample){observations[i]->repetition, value_of(observations[i], what)};
    samples_sort(&s);
    return s;
}

bool raw_is_paired(const struct raw *raw, bool of_sides)
{
    return !of_sides || raw->job.order == ORDER_INTERLEAVED;
}

static const struct raw_workload *workload_of(const struct raw *raw,
                                              const struct raw_observation *o)
{
    for (size_t w = 0; w < raw->n_workloads; w++)
        if (strcmp(raw->workloads[w].name, o->workload) == 0)
            return &raw->workloads[w];
    return NULL;
}

bool observation_is_time(const struct raw *raw, const struct raw_observation *o)
{
    const struct raw_workload *w = workload_of(raw, o);

    return !w || !measure_has_values(w->measure);
}

const struct attribution *observation_profile(const struct raw *raw,
                                              const struct raw_observation *o)
{
    const struct raw_workload *w = workload_of(raw, o);

    return w && w->measure == MEASURE_ATTRIBUTION ? w->profile : NULL;
}

bool raw_has_times(const struct raw *raw)
{
    for (size_t w = 0; w < raw->n_workloads; w++)
        if (measure_has_times(raw->workloads[w].measure))
            return true;
    return false;
}

bool lane_takes_part(const struct raw_lane *lane)
{
    return !lane->absent && !lane->excluded;
}

bool lane_is_startup(const struct raw_workload *workload, const struct raw_lane *lane)
{
    for (size_t i = 0; i < workload->n_lanes; i++) {
        const char *startup = workload->lanes[i].startup;
        if (startup && strcmp(startup, lane->name) == 0)
            return true;
    }
    return false;
}

bool workload_is_absent(const struct raw_workload *workload, const char *side)
{
    for (size_t i = 0; i < workload->absent_sides.n; i++)
        if (strcmp(workload->absent_sides.v[i], side) == 0)
            return true;
    return false;
}
