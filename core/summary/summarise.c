#include "core/summary/summarise.h"

#include <math.h>
#include <string.h>

#include "core/stats/pairs.h"
#include "core/stats/quantile.h"
#include "core/stats/shift.h"
#include "core/summary/observations.h"
#include "core/summary/summarise_parts.h"

static struct figures figures_of(struct arena *a, const struct samples *s)
{
    const int64_t *values = samples_values(a, s);
    return (struct figures){
        .n = s->n,
        .median_ns = quantile_median_ints(values, s->n),
        .mad_ns = quantile_mad(values, s->n),
        .p95_ns = quantile_p95(values, s->n),
        .best_ns = quantile_best(values, s->n),
        .total_ns = quantile_total(values, s->n),
    };
}

const char *why_undefined(struct arena *a, const struct raw_workload *w,
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

/* The clock's step is what the calibration saw of it, whatever boot that was made in. */
static double timer_step_ns(const struct raw *raw, const struct raw_workload *w)
{
    double step = raw->calibration ? (double)raw->calibration->clock_step_ns : NAN;

    return w->resolution_ns > 0 && !((double)w->resolution_ns < step) ? (double)w->resolution_ns
                                                                      : step;
}

static double divided(int64_t ns, int64_t operations)
{
    return ns < 0 ? NAN : (double)ns / (double)operations;
}

static void row_per_operation(const struct raw *raw, const struct raw_workload *w, struct row *row)
{
    const struct figures *f = &row->wall;
    struct per_operation *out = &row->per_operation;

    *out = (struct per_operation){0};
    if (w->measure != MEASURE_OPERATION || w->operations <= 0)
        return;
    out->operations = w->operations;
    out->median_ns = f->median_ns / (double)w->operations;
    out->mad_ns = f->mad_ns / (double)w->operations;
    out->p95_ns = divided(f->p95_ns, w->operations);
    out->best_ns = divided(f->best_ns, w->operations);
    out->timer_step_ns = timer_step_ns(raw, w);
    out->coarse = out->timer_step_ns * 100 > f->median_ns;
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
        .floor_share = NAN,
        .undefined = why_undefined(a, w, lane, side, wall.n),
    };
    row->excess_ns =
        w->declared_wait_ns > 0 ? row->wall.median_ns - (double)w->declared_wait_ns : NAN;
    row_adjust_startup(a, &in->index, &wall, lane->startup, row);
    if (in->calibration)
        row->floor_share =
            calibration_share(&in->calibration[measure_floor(w->measure)], row->wall.median_ns);
    row_per_operation(in->raw, w, row);
    grade_row(a, in->raw, &in->index, in->calibration, row->workload, row->lane, row->side,
              &row->grade);
    row->n_samples = w->n_samples;
    row->samples = sampled_figures(a, &in->index, w, lane, side);
    if (w->n_samples > 0)
        grade_samples(a, row, &row->grade);
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
        bool is_time = !measure_has_values(workload->measure);
        for (size_t i = 0; is_time && i < workload->n_lanes * raw->n_sides; i++)
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
        if (!lane->control || !lane_takes_part(lane) || measure_has_values(w->measure))
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

static void summarise_repetitions(const struct summarising *in, struct summary *s)
{
    s->repetitions = arena_array(in->arena, in->raw->n_workloads, sizeof *s->repetitions);
    for (size_t w = 0; w < in->raw->n_workloads; w++)
        replacement_count(&in->index.replacements[w], &s->repetitions[w]);
}

/* What follows from the calibration in force, by measure; NULL without one of this boot: a host is
 * another after a start. */
static struct calibration_figures *calibration_in_force(struct arena *a, const struct raw *raw)
{
    const struct calibration *c = raw->calibration;

    if (!c || strcmp(c->boot, raw->boot.id) != 0)
        return NULL;
    struct calibration_figures *out = arena_array(a, CALIBRATION_MEASURES, sizeof *out);
    for (int m = 0; m < CALIBRATION_MEASURES; m++)
        calibration_figures(a, c, (enum measure)m, &out[m]);
    return out;
}

struct summary *summarise(struct arena *a, const struct raw *raw)
{
    struct summary *s = arena_alloc(a, sizeof *s);
    s->calibration = calibration_in_force(a, raw);
    if (!raw->void_code) {
        struct summarising in = {.arena = a, .raw = raw, .calibration = s->calibration};
        observations_index(a, raw, &in.index);
        observations_index_planned(a, raw, &in.planned);
        summarise_repetitions(&in, s);
        in.pairs = pairs_of_sides(a, raw, &in.n_pairs);
        summarise_rows(&in, s);
        summarise_scaling(&in, s);
        summarise_controls(&in, s); /* before the comparisons: their margin may rest on it */
        summarise_comparisons(&in, s);
        summarise_values(&in, s);
    }
    grade_report(a, raw, s->controls, s->n_controls, &s->grade);
    return s;
}

struct row *summary_row(const struct summary *s, const char *workload, const char *lane,
                        const char *side)
{
    for (size_t i = 0; i < s->n_rows; i++) {
        struct row *row = &s->rows[i];
        if (text_equal(row->workload, workload) && text_equal(row->lane, lane) &&
            text_equal(row->side, side))
            return row;
    }
    return NULL;
}

size_t summary_count_graded(const struct summary *s)
{
    return s->n_rows + s->n_values;
}

struct graded_row summary_graded(const struct summary *s, size_t index)
{
    if (index < s->n_rows) {
        const struct row *r = &s->rows[index];
        return (struct graded_row){r->workload, r->lane, r->side, r->undefined, &r->grade};
    }
    const struct value_row *v = &s->values[index - s->n_rows];
    return (struct graded_row){v->workload, v->lane, v->side, v->undefined, &v->grade};
}

bool summary_is_control(const struct summary *s, const struct comparison *c)
{
    for (size_t i = 0; i < s->n_controls; i++)
        if (strcmp(s->controls[i].workload, c->workload) == 0 &&
            strcmp(s->controls[i].lane, c->subject_lane) == 0)
            return true;
    return false;
}
