#include <math.h>

#include "core/gate/gate_parts.h"
#include "core/stats/compare.h"
#include "core/summary/values.h"

static const struct interval none = {.low = NAN, .high = NAN, .coverage = NAN};

/* ---- times */

static void of_times(struct arena *a, const struct gate_report *r,
                     const struct observation_index *index, const struct target *t,
                     const struct gate_pair *pair, struct interval *out)
{
    enum observed what = t->time == TARGET_CPU ? OBSERVED_CPU_NS : OBSERVED_WALL_NS;
    const struct series x = {t->workload, pair->subject_lane, pair->subject_side};
    const struct series y = {t->workload, pair->reference_lane, pair->reference_side};
    struct samples subject = observations_collect(a, index, &x, what);
    struct samples reference = observations_collect(a, index, &y, what);
    /* The interval does not depend on the rule of the verdict. */
    const struct verdict_rule rule = {.margin = r->raw->policy.margin, .noise_floor = NAN};
    struct estimate e;

    /* Lanes of one side take turns in every order; only the sides can run apart. */
    if (t->kind == TARGET_RATIO || r->raw->job.order == ORDER_INTERLEAVED)
        compare_estimate(a, &subject, &reference, &rule, &e);
    else
        compare_unpaired(a, &subject, &reference, &rule, &e);
    *out = e.interval.defined ? e.interval : none;
}

/* ---- values */

static const struct value_figures *figures_of(const struct gate_report *r, const struct target *t,
                                              const char *lane, const char *side)
{
    const struct value_row *row = values_row(r->s->values, r->s->n_values, t->workload, lane, side);
    return row ? values_find(row, t->value) : NULL;
}

static void of_values(const struct gate_report *r, const struct target *t,
                      const struct gate_pair *pair, struct interval *out)
{
    const struct value_figures *x = figures_of(r, t, pair->subject_lane, pair->subject_side);
    const struct value_figures *y = figures_of(r, t, pair->reference_lane, pair->reference_side);

    *out = none;
    if (!x || !y || x->n == 0 || y->n == 0 || x->min < 0 || y->min <= 0)
        return;
    out->low = (double)x->min / (double)y->max;
    out->high = (double)x->max / (double)y->min;
    out->defined = true;
}

void gate_interval(struct arena *a, const struct gate_report *r, struct observation_index *index,
                   const struct target *t, const struct gate_pair *pair, struct interval *out)
{
    if (t->value) {
        of_values(r, t, pair, out);
        return;
    }
    if (!index->replacements)
        observations_index(a, r->raw, index);
    of_times(a, r, index, t, pair, out);
}
