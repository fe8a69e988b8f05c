#include <math.h>

#include "core/gate/gate_parts.h"
#include "core/stats/compare.h"
#include "core/summary/values.h"

static const struct interval none = {.low = NAN, .high = NAN, .coverage = NAN};

static const struct value_figures *figures_of(const struct gate_report *r, const struct target *t,
                                              const char *lane, const char *side)
{
    const struct value_row *row = values_row(r->s->values, r->s->n_values, t->workload, lane, side);
    return row ? values_find(row, t->value) : NULL;
}

/* False: they are not exact, and have to be compared by repetition. */
static bool of_exact_values(const struct gate_report *r, const struct target *t,
                            const struct gate_pair *pair, struct interval *out)
{
    const struct value_figures *x = figures_of(r, t, pair->subject_lane, pair->subject_side);
    const struct value_figures *y = figures_of(r, t, pair->reference_lane, pair->reference_side);

    if (!x || !y || !x->exact || !y->exact)
        return false;
    if (x->min < 0 || y->min <= 0)
        return true;
    out->low = out->high = (double)x->min / (double)y->min;
    out->defined = true;
    return true;
}

static struct samples samples_of(struct arena *a, const struct observation_index *index,
                                 const struct target *t, const char *lane, const char *side)
{
    const struct series of = {t->workload, lane, side};
    size_t n;

    if (!t->value)
        return observations_collect(a, index, &of,
                                    t->time == TARGET_CPU ? OBSERVED_CPU_NS : OBSERVED_WALL_NS);
    const struct raw_observation *const *observations = observations_of(index, &of, &n);
    return values_samples(a, observations, n, t->value);
}

void gate_interval(struct arena *a, const struct gate_report *r, struct observation_index *index,
                   const struct target *t, const struct gate_pair *pair, struct interval *out)
{
    /* The interval does not depend on the rule of the verdict. */
    const struct verdict_rule rule = {.margin = r->raw->policy.margin, .noise_floor = NAN};
    struct estimate e;

    *out = none;
    if (t->value && of_exact_values(r, t, pair, out))
        return;
    if (!index->replacements)
        observations_index(a, r->raw, index);
    struct samples x = samples_of(a, index, t, pair->subject_lane, pair->subject_side);
    struct samples y = samples_of(a, index, t, pair->reference_lane, pair->reference_side);
    compare_samples(a, raw_is_paired(r->raw, t->kind != TARGET_RATIO), &x, &y, &rule, &e);
    if (e.interval.defined)
        *out = e.interval;
}
