#include "core/summarise.h"

#include <math.h>
#include <string.h>

#include "core/observations.h"
#include "core/pairs.h"
#include "core/quantile.h"
#include "core/shift.h"
#include "core/summarise_parts.h"

/* Beyond it a document holds no exact number. */
#define TOTAL_MAX_NS ((INT64_C(1) << 53) - 1)

/* -1 when there are none, or when the sum is out of range. */
static int64_t total_of(const int64_t *values, size_t n)
{
    int64_t total = 0;
    for (size_t i = 0; i < n; i++)
        if (__builtin_add_overflow(total, values[i], &total) || total > TOTAL_MAX_NS)
            return -1;
    return n > 0 ? total : -1;
}

static struct figures figures_of(struct arena *a, const struct samples *s)
{
    const int64_t *values = samples_values(a, s);
    return (struct figures){
        .n = s->n,
        .median_ns = quantile_median_ints(values, s->n),
        .mad_ns = quantile_mad(values, s->n),
        .p95_ns = quantile_p95(values, s->n),
        .best_ns = quantile_best(values, s->n),
        .total_ns = total_of(values, s->n),
    };
}

/* Why a row has no figures; NULL: it has. */
static const char *why_undefined(struct arena *a, const struct raw_workload *w,
                                 const struct raw_lane *lane, const char *side, size_t n)
{
    if (workload_is_absent(w, side))
        return arena_printf(a, "absent on %s", side);
    if (lane->absent)
        return arena_printf(a, "absent: %s", lane->absent);
    if (lane->excluded)
        return "left out by the job";
    return n == 0 ? "no valid observation" : NULL;
}

static void row_adjust_startup(struct arena *a, const struct observation_index *index,
                               const struct samples *wall, const char *startup, struct row *row)
{
    struct startup_adjusted adjusted = {.median_ns = NAN, .median_all_ns = NAN};
    if (startup) {
        const struct series of = {row->workload, startup, row->side};
        struct samples s = observations_collect(a, index, &of, OBSERVED_WALL_NS);
        compare_startup(a, wall, &s, &adjusted);
    }
    row->startup_adjusted_ns = adjusted.median_ns;
    row->adjusted_all_ns = adjusted.median_all_ns;
    row->adjusted_valid = adjusted.valid;
    row->adjusted_n = adjusted.n;
}

static void row_fill(const struct summarising *in, const struct raw_workload *w,
                     const struct raw_lane *lane, const char *side, struct row *row)
{
    const struct series of = {w->name, lane->name, side};
    struct arena *a = in->arena;
    struct samples wall = observations_collect(a, &in->index, &of, OBSERVED_WALL_NS);
    struct samples cpu = observations_collect(a, &in->index, &of, OBSERVED_CPU_NS);
    *row = (struct row){
        .workload = w->name,
        .lane = lane->name,
        .side = side,
        .control = lane->control,
        .wall = figures_of(a, &wall),
        .cpu = figures_of(a, &cpu),
        .undefined = why_undefined(a, w, lane, side, wall.n),
    };
    row->excess_ns =
        w->declared_wait_ns > 0 ? row->wall.median_ns - (double)w->declared_wait_ns : NAN;
    row_adjust_startup(a, &in->index, &wall, lane->startup, row);
    grade_row(a, in->raw, &in->index, row->workload, row->lane, row->side, &row->grade);
}

static size_t count_lanes(const struct raw *raw)
{
    size_t n = 0;
    for (size_t w = 0; w < raw->n_workloads; w++)
        n += raw->workloads[w].n_lanes;
    return n;
}

static void summarise_rows(const struct summarising *in, struct summary *s)
{
    const struct raw *raw = in->raw;
    s->rows = arena_array(in->arena, count_lanes(raw) * raw->n_sides, sizeof *s->rows);
    for (size_t w = 0; w < raw->n_workloads; w++) {
        const struct raw_workload *workload = &raw->workloads[w];
        for (size_t i = 0; i < workload->n_lanes * raw->n_sides; i++)
            row_fill(in, workload, &workload->lanes[i / raw->n_sides], raw->sides[i % raw->n_sides],
                     &s->rows[s->n_rows++]);
    }
}

static struct samples control_samples(const struct summarising *in, const struct control_drift *d,
                                      const char *side)
{
    const struct series of = {d->workload, d->lane, side};
    return observations_collect(in->arena, &in->index, &of, OBSERVED_WALL_NS);
}

static void judge_control(const struct summarising *in, struct control_drift *d)
{
    struct samples before = control_samples(in, d, d->before_side);
    struct samples after = control_samples(in, d, d->after_side);
    d->before_ns = samples_median(in->arena, &before);
    d->after_ns = samples_median(in->arena, &after);
    d->bound_pct = NAN;
    drift_judge(d, in->raw->policy.drift_limit_pct);
    if (in->raw->job.order != ORDER_SEQUENTIAL)
        return;
    struct shift shift;
    shift_of(samples_values(in->arena, &after), after.n, samples_values(in->arena, &before),
             before.n, &shift);
    drift_bound(d, &shift.interval);
}

/* The drift of every control that takes part in this pair of sides. */
static void add_controls(const struct summarising *in, const struct job_pair *pair,
                         const struct raw_workload *w, struct summary *s)
{
    if (workload_is_absent(w, pair->subject) || workload_is_absent(w, pair->reference))
        return;
    for (size_t l = 0; l < w->n_lanes; l++) {
        const struct raw_lane *lane = &w->lanes[l];
        if (!lane->control || !lane_takes_part(lane))
            continue;
        struct control_drift *d = &s->controls[s->n_controls++];
        *d = (struct control_drift){
            .workload = w->name,
            .lane = lane->name,
            .before_side = pair->reference,
            .after_side = pair->subject,
        };
        judge_control(in, d);
    }
}

static void summarise_controls(const struct summarising *in, struct summary *s)
{
    s->controls = arena_array(in->arena, in->n_pairs * count_lanes(in->raw), sizeof *s->controls);
    for (size_t p = 0; p < in->n_pairs; p++)
        for (size_t w = 0; w < in->raw->n_workloads; w++)
            add_controls(in, &in->pairs[p], &in->raw->workloads[w], s);
}

struct summary *summarise(struct arena *a, const struct raw *raw)
{
    struct summary *s = arena_alloc(a, sizeof *s);
    if (!raw->void_code) {
        struct summarising in = {.arena = a, .raw = raw};
        observations_index(a, raw, &in.index);
        in.pairs = pairs_of_sides(a, raw, &in.n_pairs);
        summarise_rows(&in, s);
        summarise_controls(&in, s); /* before the comparisons: their margin may rest on it */
        summarise_comparisons(&in, s);
    }
    grade_report(a, raw, s->controls, s->n_controls, &s->grade);
    return s;
}

bool summary_is_control(const struct summary *s, const struct comparison *c)
{
    for (size_t i = 0; i < s->n_controls; i++)
        if (strcmp(s->controls[i].workload, c->workload) == 0 &&
            strcmp(s->controls[i].lane, c->subject_lane) == 0)
            return true;
    return false;
}
