/* The part of summarise that holds lanes of several tasks against those of one. */
#include <math.h>

#include "core/summary/scaling.h"
#include "core/summary/summarise_parts.h"

static bool is_pass(const struct row *row, enum row_predicate p)
{
    return row->grade.predicates[p].status == TRI_PASS;
}

static struct scaling_facts facts_of(struct arena *a, const struct row *several,
                                     const struct row *one)
{
    const struct row *bad = several->undefined ? several : one;

    return (struct scaling_facts){
        .undefined = bad->undefined ? arena_printf(a, "%s: %s", bad->lane, bad->undefined) : NULL,
        .complete = is_pass(several, ROW_PAIRS_COMPLETE) && is_pass(one, ROW_PAIRS_COMPLETE),
        .undisturbed = tri_and(several->grade.predicates[ROW_DISTURBANCE_REPLACED].status,
                               one->grade.predicates[ROW_DISTURBANCE_REPLACED].status),
        .one_wall = one->wall.median_ns,
        .one_cpu = one->cpu.median_ns,
    };
}

static void estimate_of(const struct summarising *in, const struct scaling_row *row,
                        struct estimate *e)
{
    const struct series x = {row->workload, row->lane, row->side};
    const struct series y = {row->workload, row->one, row->side};
    struct samples subject = observations_collect(in->arena, &in->index, &x, OBSERVED_WALL_NS);
    struct samples reference = observations_collect(in->arena, &in->index, &y, OBSERVED_WALL_NS);
    /* The interval does not depend on the rule of a verdict. */
    const struct verdict_rule rule = {.margin = in->raw->policy.margin, .noise_floor = NAN};

    compare_estimate(in->arena, &subject, &reference, &rule, e);
}

static void add(const struct summarising *in, const struct raw_workload *w,
                const struct raw_lane *lane, const char *side, struct summary *s)
{
    struct row *several = summary_row(s, w->name, lane->name, side);
    const struct row *one = summary_row(s, w->name, lane->scaling.of, side);
    struct estimate e;

    if (!several || !one)
        return;
    struct scaling_row *row = &s->scaling[s->n_scaling++];
    *row = (struct scaling_row){.workload = w->name,
                                .lane = lane->name,
                                .one = one->lane,
                                .side = side,
                                .tasks = lane->scaling.tasks,
                                .cpus = scaling_cpus(in->raw->cpu_set),
                                .max_ratio = lane->scaling.max_ratio};
    const struct scaling_facts facts = facts_of(in->arena, several, one);
    estimate_of(in, row, &e);
    scaling_judge(in->arena, &e, &facts, row);
    grade_scaling(in->arena, row, &several->grade);
}

void summarise_scaling(const struct summarising *in, struct summary *s)
{
    const struct raw *raw = in->raw;

    s->scaling = arena_array(in->arena, s->n_rows, sizeof *s->scaling);
    for (size_t w = 0; w < raw->n_workloads; w++)
        for (size_t i = 0; i < raw->workloads[w].n_lanes * raw->n_sides; i++) {
            const struct raw_lane *lane = &raw->workloads[w].lanes[i / raw->n_sides];
            if (lane->scaling.of)
                add(in, &raw->workloads[w], lane, raw->sides[i % raw->n_sides], s);
        }
}
