/* The part of summarise that is of values: rows and comparisons of workloads whose figures are no
 * times. */
#include <math.h>
#include <string.h>

#include "core/summary/summarise_parts.h"

static void row_fill(const struct summarising *in, const struct raw_workload *w,
                     const struct raw_lane *lane, const char *side, struct value_row *row)
{
    const struct series of = {w->name, lane->name, side};
    size_t n;
    const struct raw_observation *const *observations = observations_of(&in->index, &of, &n);

    *row = (struct value_row){
        .workload = w->name,
        .lane = lane->name,
        .side = side,
        .unit = measure_unit(w->measure),
        .control = lane->control,
        .values = arena_array(in->arena, values_count(w, lane), sizeof *row->values),
        .n_values = values_count(w, lane),
        .undefined = why_undefined(in->arena, w, lane, side, n),
    };
    values_figures(in->arena, w, lane, observations, n, row->values);
    grade_value_row(in->arena, in->raw, &in->index, w, row);
}

static void fill_rows(const struct summarising *in, struct summary *s)
{
    const struct raw *raw = in->raw;
    size_t n = 0;

    for (size_t w = 0; w < raw->n_workloads; w++)
        n += measure_has_values(raw->workloads[w].measure) ? raw->workloads[w].n_lanes : 0;
    s->values = arena_array(in->arena, n * raw->n_sides, sizeof *s->values);
    for (size_t w = 0; w < raw->n_workloads; w++) {
        const struct raw_workload *workload = &raw->workloads[w];
        bool has_values = measure_has_values(workload->measure);
        for (size_t i = 0; has_values && i < workload->n_lanes * raw->n_sides; i++)
            row_fill(in, workload, &workload->lanes[i / raw->n_sides], raw->sides[i % raw->n_sides],
                     &s->values[s->n_values++]);
    }
}

static struct samples samples_of(const struct summarising *in, const struct value_comparison *c,
                                 const char *lane, const char *side)
{
    const struct series of = {c->workload, lane, side};
    size_t n;
    const struct raw_observation *const *observations = observations_of(&in->index, &of, &n);
    return values_samples(in->arena, observations, n, c->name);
}

/* What differs a little in each repetition is compared as times are. */
static void estimate_fill(const struct summarising *in, const struct summary *s,
                          struct value_comparison *c)
{
    bool paired = raw_is_paired(in->raw, c->of_sides);
    const struct verdict_rule rule = {.margin = in->raw->policy.margin,
                                      .noise_floor = (double)NAN,
                                      .drift = paired ? 0 : largest_drift(s)};
    struct samples subject = samples_of(in, c, c->subject_lane, c->subject_side);
    struct samples reference = samples_of(in, c, c->reference_lane, c->reference_side);
    struct estimate e;

    compare_samples(in->arena, paired, &subject, &reference, &rule, &e);
    values_judge(&e, c);
}

/* Every value that both rows have; only counts them while s has no room. */
static void append(const struct summarising *in, struct summary *s, bool of_sides,
                   const struct value_row *subject, const struct value_row *reference)
{
    for (size_t i = 0; subject && reference && i < subject->n_values; i++) {
        const struct value_figures *v = &subject->values[i];
        const struct value_figures *other = values_find(reference, v->name);
        if (!other)
            continue;
        if (s->value_comparisons) {
            struct value_comparison *c = &s->value_comparisons[s->n_value_comparisons];
            *c = (struct value_comparison){.of_sides = of_sides,
                                           .workload = subject->workload,
                                           .name = v->name,
                                           .unit = subject->unit,
                                           .subject_lane = subject->lane,
                                           .subject_side = subject->side,
                                           .reference_lane = reference->lane,
                                           .reference_side = reference->side};
            values_compare(v, other, c);
            if (!c->exact && !c->undefined)
                estimate_fill(in, s, c);
        }
        s->n_value_comparisons++;
    }
}

static const struct value_row *find(const struct summary *s, const struct raw_workload *w,
                                    const struct raw_lane *lane, const char *side)
{
    if (!lane_takes_part(lane) || workload_is_absent(w, side))
        return NULL;
    return values_row(s->values, s->n_values, w->name, lane->name, side);
}

static void compare_workload(const struct summarising *in, const struct raw_workload *w,
                             struct summary *s)
{
    const struct raw *raw = in->raw;

    for (size_t i = 0; i < in->n_pairs * w->n_lanes; i++) {
        const struct job_pair *pair = &in->pairs[i / w->n_lanes];
        const struct raw_lane *lane = &w->lanes[i % w->n_lanes];
        append(in, s, true, find(s, w, lane, pair->subject), find(s, w, lane, pair->reference));
    }
    for (size_t i = 0; i < w->n_lanes * w->n_lanes; i++) {
        const struct raw_lane *subject = &w->lanes[i / w->n_lanes];
        const struct raw_lane *reference = &w->lanes[i % w->n_lanes];
        for (size_t k = 0; k < raw->n_sides && lanes_compare(raw, w, subject, reference); k++)
            append(in, s, false, find(s, w, subject, raw->sides[k]),
                   find(s, w, reference, raw->sides[k]));
    }
}

static void compare_all(const struct summarising *in, struct summary *s)
{
    s->n_value_comparisons = 0;
    for (size_t w = 0; w < in->raw->n_workloads; w++)
        if (measure_has_values(in->raw->workloads[w].measure))
            compare_workload(in, &in->raw->workloads[w], s);
}

void summarise_values(const struct summarising *in, struct summary *s)
{
    fill_rows(in, s);
    compare_all(in, s);
    s->value_comparisons =
        arena_array(in->arena, s->n_value_comparisons, sizeof *s->value_comparisons);
    if (s->value_comparisons)
        compare_all(in, s);
}
