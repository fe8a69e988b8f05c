#include <math.h>
#include <string.h>

#include "core/names.h"
#include "core/observations.h"
#include "core/summarise_parts.h"

static const char *const comparison_kind_names[] = {
    [COMPARE_SIDES] = "sides",
    [COMPARE_LANES] = "lanes",
};
NAMES(comparison_kind, comparison_kind);

/* No calibration is stored with an attempt yet, so the noise floor is unknown. */
static struct verdict_rule rule_of(const struct raw *raw)
{
    return (struct verdict_rule){.margin = raw->policy.margin, .noise_floor = NAN};
}

static bool verdicts_disagree(const struct estimate *wall, const struct estimate *cpu)
{
    return wall->interval.defined && cpu->interval.defined && wall->verdict != cpu->verdict;
}

/* Two series of one comparison, and how they go together. */
struct versus {
    struct series subject, reference;
    struct verdict_rule rule;
    bool paired;
};

static void estimate_fill(struct arena *a, const struct raw *raw, const struct versus *v,
                          enum observed what, int64_t declared_wait_ns, struct comparison *c)
{
    struct samples subject = observations_collect(a, raw, &v->subject, what);
    struct samples reference = observations_collect(a, raw, &v->reference, what);
    struct estimate *e = what == OBSERVED_WALL_NS ? &c->wall : &c->cpu;
    if (v->paired)
        compare_estimate(a, &subject, &reference, &v->rule, e);
    else
        compare_unpaired(a, &subject, &reference, e);
    if (what != OBSERVED_WALL_NS)
        return;
    c->change_pct = compare_change_pct(samples_median(a, &reference), samples_median(a, &subject));
    c->excess_ratio = declared_wait_ns > 0 && v->paired
                          ? compare_excess(a, &subject, &reference, declared_wait_ns, &v->rule, e)
                          : NAN;
    c->undefined = isnan(v->paired ? e->paired_median_ratio : e->ratio_of_medians) ? e->note : NULL;
}

static void comparison_fill(struct arena *a, const struct raw *raw, int64_t declared_wait_ns,
                            struct comparison *c)
{
    /* Lanes of one side take turns in every order; only the sides can run apart. */
    const struct versus v = {
        .subject = {c->workload, c->subject_lane, c->subject_side},
        .reference = {c->workload, c->reference_lane, c->reference_side},
        .rule = rule_of(raw),
        .paired = c->kind == COMPARE_LANES || raw->job.order == ORDER_INTERLEAVED,
    };
    estimate_fill(a, raw, &v, OBSERVED_WALL_NS, declared_wait_ns, c);
    estimate_fill(a, raw, &v, OBSERVED_CPU_NS, 0, c);
    c->verdicts_disagree = verdicts_disagree(&c->wall, &c->cpu);
}

/* Is subject measured against reference on each side? In `run` the two commands are; elsewhere
 * every lane is against every control. A startup lane only serves the lane that it belongs to. */
static bool lanes_compare(const struct raw *raw, const struct raw_workload *w,
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
static void append(struct arena *a, const struct raw *raw, const struct raw_workload *w,
                   struct summary *s, struct comparison c)
{
    c.workload = w->name;
    if (s->comparisons) {
        comparison_fill(a, raw, w->declared_wait_ns, &c);
        s->comparisons[s->n_comparisons] = c;
    }
    s->n_comparisons++;
}

/* Every lane of a workload between the first two sides, the controls too. */
static void compare_sides(struct arena *a, const struct raw *raw, const struct raw_workload *w,
                          struct summary *s)
{
    for (size_t l = 0; raw->n_sides >= 2 && l < w->n_lanes; l++)
        if (lane_takes_part(&w->lanes[l]))
            append(a, raw, w, s,
                   (struct comparison){.kind = COMPARE_SIDES,
                                       .subject_lane = w->lanes[l].name,
                                       .subject_side = raw->sides[1],
                                       .reference_lane = w->lanes[l].name,
                                       .reference_side = raw->sides[0]});
}

/* The lanes of a workload against each other on one side. */
static void compare_lanes(struct arena *a, const struct raw *raw, const struct raw_workload *w,
                          const char *side, struct summary *s)
{
    for (size_t i = 0; i < w->n_lanes * w->n_lanes; i++) {
        const struct raw_lane *subject = &w->lanes[i / w->n_lanes];
        const struct raw_lane *reference = &w->lanes[i % w->n_lanes];
        if (lanes_compare(raw, w, subject, reference))
            append(a, raw, w, s,
                   (struct comparison){.kind = COMPARE_LANES,
                                       .subject_lane = subject->name,
                                       .subject_side = side,
                                       .reference_lane = reference->name,
                                       .reference_side = side});
    }
}

static void compare_all(struct arena *a, const struct raw *raw, struct summary *s)
{
    s->n_comparisons = 0;
    for (size_t w = 0; w < raw->n_workloads; w++) {
        compare_sides(a, raw, &raw->workloads[w], s);
        for (size_t side = 0; side < raw->n_sides; side++)
            compare_lanes(a, raw, &raw->workloads[w], raw->sides[side], s);
    }
}

void summarise_comparisons(struct arena *a, const struct raw *raw, struct summary *s)
{
    s->comparisons = NULL;
    compare_all(a, raw, s);
    s->comparisons = arena_array(a, s->n_comparisons, sizeof *s->comparisons);
    if (s->comparisons)
        compare_all(a, raw, s);
}
