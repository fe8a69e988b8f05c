#include <math.h>
#include <string.h>

#include "core/names.h"
#include "core/summary/summarise_parts.h"

static const char *const comparison_kind_names[] = {
    [COMPARE_SIDES] = "sides",
    [COMPARE_LANES] = "lanes",
};
NAMES(comparison_kind, comparison_kind);

double largest_drift(const struct summary *s)
{
    double largest = s->n_controls > 0 ? 0 : NAN;
    for (size_t i = 0; i < s->n_controls; i++) {
        double drift = s->controls[i].bound_pct / 100;
        if (isnan(drift))
            return NAN;
        largest = drift > largest ? drift : largest;
    }
    return largest;
}

/* Two series of one comparison, and how they go together. */
struct versus {
    struct series subject, reference;
    struct verdict_rule rule, cpu_rule;
    bool paired;
    int64_t declared_wait_ns;
};

static struct verdict_rule rule_of(const struct summarising *in, const struct summary *s,
                                   const struct raw_workload *w, bool paired, enum observed what)
{
    const struct calibration_figures *f =
        in->calibration ? &in->calibration[measure_floor(w->measure)] : NULL;

    return (struct verdict_rule){.margin = in->raw->policy.margin,
                                 .noise_floor = !f                        ? (double)NAN
                                                : what == OBSERVED_CPU_NS ? f->cpu_noise_floor
                                                                          : f->noise_floor,
                                 .drift = paired ? 0 : largest_drift(s)};
}

static void fill_cpu(const struct summarising *in, const struct versus *v, struct comparison *c)
{
    struct samples subject =
        observations_collect(in->arena, &in->index, &v->subject, OBSERVED_CPU_NS);
    struct samples reference =
        observations_collect(in->arena, &in->index, &v->reference, OBSERVED_CPU_NS);
    compare_samples(in->arena, v->paired, &subject, &reference, &v->cpu_rule, &c->cpu);
}

static void fill_wall(const struct summarising *in, const struct versus *v, struct comparison *c)
{
    struct arena *a = in->arena;
    struct samples subject = observations_collect(a, &in->index, &v->subject, OBSERVED_WALL_NS);
    struct samples reference = observations_collect(a, &in->index, &v->reference, OBSERVED_WALL_NS);
    compare_samples(a, v->paired, &subject, &reference, &v->rule, &c->wall);
    c->change_pct = compare_change_pct(samples_median(a, &reference), samples_median(a, &subject));
    c->undefined = isnan(estimate_ratio(&c->wall)) ? c->wall.note : NULL;
    c->has_excess = v->declared_wait_ns > 0;
    c->excess_ratio = NAN;
    if (!c->has_excess)
        return;
    compare_excess(a, &subject, &reference, v->declared_wait_ns, &v->rule, &c->wall, &c->excess);
    c->excess_ratio = estimate_ratio(&c->excess);
}

static bool opposite(enum verdict a, enum verdict b)
{
    return (a == VERDICT_FASTER && b == VERDICT_SLOWER) ||
           (a == VERDICT_SLOWER && b == VERDICT_FASTER);
}

static bool was_replaced(const struct summarising *in, const struct summary *s, const char *name)
{
    for (size_t w = 0; w < in->raw->n_workloads; w++)
        if (strcmp(in->raw->workloads[w].name, name) == 0)
            return s->repetitions[w].disturbed > 0 && !s->repetitions[w].as_observed;
    return false;
}

/* What the planned repetitions say, disturbed or not: it may not say the opposite. */
static void fill_observed(const struct summarising *in, const struct summary *s,
                          const struct versus *v, struct comparison *c)
{
    struct arena *a = in->arena;
    c->has_observed = was_replaced(in, s, c->workload);
    if (!c->has_observed)
        return;
    struct samples subject = observations_collect(a, &in->planned, &v->subject, OBSERVED_WALL_NS);
    struct samples reference =
        observations_collect(a, &in->planned, &v->reference, OBSERVED_WALL_NS);
    compare_samples(a, v->paired, &subject, &reference, &v->rule, &c->observed);
    if (!opposite(c->wall.verdict, c->observed.verdict))
        return;
    c->wall.verdict = VERDICT_UNRESOLVED;
    c->wall.note = "with the disturbed repetitions the verdict is the opposite";
}

static bool verdicts_disagree(const struct estimate *wall, const struct estimate *cpu)
{
    return wall->interval.defined && cpu->interval.defined && wall->verdict != cpu->verdict;
}

static void comparison_fill(const struct summarising *in, const struct summary *s,
                            const struct raw_workload *w, struct comparison *c)
{
    bool paired = raw_is_paired(in->raw, c->kind == COMPARE_SIDES);
    const struct versus v = {
        .subject = {c->workload, c->subject_lane, c->subject_side},
        .reference = {c->workload, c->reference_lane, c->reference_side},
        .rule = rule_of(in, s, w, paired, OBSERVED_WALL_NS),
        .cpu_rule = rule_of(in, s, w, paired, OBSERVED_CPU_NS),
        .paired = paired,
        .declared_wait_ns = w->declared_wait_ns,
    };
    fill_wall(in, &v, c);
    fill_observed(in, s, &v, c);
    fill_cpu(in, &v, c);
    c->verdicts_disagree = verdicts_disagree(&c->wall, &c->cpu);
}

bool lanes_compare(const struct raw *raw, const struct raw_workload *w,
                   const struct raw_lane *subject, const struct raw_lane *reference)
{
    if (!lane_takes_part(subject) || !lane_takes_part(reference) || lane_is_startup(w, subject) ||
        lane_is_startup(w, reference))
        return false;
    if (raw->job.is_run)
        return strcmp(subject->name, "b") == 0 && strcmp(reference->name, "a") == 0;
    return !subject->control && reference->control;
}

/* Appends c, filled; only counts it while s has no room (comparisons NULL). */
static void append(const struct summarising *in, const struct raw_workload *w, struct summary *s,
                   struct comparison c)
{
    c.workload = w->name;
    if (s->comparisons) {
        comparison_fill(in, s, w, &c);
        s->comparisons[s->n_comparisons] = c;
    }
    s->n_comparisons++;
}

/* Every lane of a workload between the sides of a pair, the controls too; nothing where the
 * workload is absent on one of them. */
static void compare_sides(const struct summarising *in, const struct raw_workload *w,
                          const struct job_pair *pair, struct summary *s)
{
    if (workload_is_absent(w, pair->subject) || workload_is_absent(w, pair->reference))
        return;
    for (size_t l = 0; l < w->n_lanes; l++)
        if (lane_takes_part(&w->lanes[l]))
            append(in, w, s,
                   (struct comparison){.kind = COMPARE_SIDES,
                                       .subject_lane = w->lanes[l].name,
                                       .subject_side = pair->subject,
                                       .reference_lane = w->lanes[l].name,
                                       .reference_side = pair->reference});
}

/* The lanes of a workload against each other on one side. */
static void compare_lanes(const struct summarising *in, const struct raw_workload *w,
                          const char *side, struct summary *s)
{
    if (workload_is_absent(w, side))
        return;
    for (size_t i = 0; i < w->n_lanes * w->n_lanes; i++) {
        const struct raw_lane *subject = &w->lanes[i / w->n_lanes];
        const struct raw_lane *reference = &w->lanes[i % w->n_lanes];
        if (lanes_compare(in->raw, w, subject, reference))
            append(in, w, s,
                   (struct comparison){.kind = COMPARE_LANES,
                                       .subject_lane = subject->name,
                                       .subject_side = side,
                                       .reference_lane = reference->name,
                                       .reference_side = side});
    }
}

static void compare_all(const struct summarising *in, struct summary *s)
{
    s->n_comparisons = 0;
    for (size_t w = 0; w < in->raw->n_workloads; w++) {
        if (measure_has_values(in->raw->workloads[w].measure))
            continue;
        for (size_t p = 0; p < in->n_pairs; p++)
            compare_sides(in, &in->raw->workloads[w], &in->pairs[p], s);
        for (size_t side = 0; side < in->raw->n_sides; side++)
            compare_lanes(in, &in->raw->workloads[w], in->raw->sides[side], s);
    }
}

void summarise_comparisons(const struct summarising *in, struct summary *s)
{
    s->comparisons = NULL;
    compare_all(in, s);
    s->comparisons = arena_array(in->arena, s->n_comparisons, sizeof *s->comparisons);
    if (s->comparisons)
        compare_all(in, s);
}
