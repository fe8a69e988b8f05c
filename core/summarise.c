#include "core/summarise.h"

#include <math.h>

#include "core/observations.h"
#include "core/quantile.h"
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
static const char *why_undefined(struct arena *a, const struct raw_lane *lane, size_t n)
{
    if (lane->absent)
        return arena_printf(a, "absent: %s", lane->absent);
    if (lane->excluded)
        return "left out by the job";
    return n == 0 ? "no valid observation" : NULL;
}

static void row_adjust_startup(struct arena *a, const struct raw *raw, const struct samples *wall,
                               const char *startup, struct row *row)
{
    struct startup_adjusted adjusted = {.median_ns = NAN, .median_all_ns = NAN};
    if (startup) {
        const struct series of = {row->workload, startup, row->side};
        struct samples s = observations_collect(a, raw, &of, OBSERVED_WALL_NS);
        compare_startup(a, wall, &s, &adjusted);
    }
    row->startup_adjusted_ns = adjusted.median_ns;
    row->adjusted_all_ns = adjusted.median_all_ns;
    row->adjusted_valid = adjusted.valid;
    row->adjusted_n = adjusted.n;
}

static void row_fill(struct arena *a, const struct raw *raw, const struct raw_workload *w,
                     const struct raw_lane *lane, const char *side, struct row *row)
{
    const struct series of = {w->name, lane->name, side};
    struct samples wall = observations_collect(a, raw, &of, OBSERVED_WALL_NS);
    struct samples cpu = observations_collect(a, raw, &of, OBSERVED_CPU_NS);
    *row = (struct row){
        .workload = w->name,
        .lane = lane->name,
        .side = side,
        .control = lane->control,
        .wall = figures_of(a, &wall),
        .cpu = figures_of(a, &cpu),
        .undefined = why_undefined(a, lane, wall.n),
    };
    row->excess_ns =
        w->declared_wait_ns > 0 ? row->wall.median_ns - (double)w->declared_wait_ns : NAN;
    row_adjust_startup(a, raw, &wall, lane->startup, row);
    grade_row(a, raw, row->workload, row->lane, row->side, &row->grade);
}

static size_t count_lanes(const struct raw *raw)
{
    size_t n = 0;
    for (size_t w = 0; w < raw->n_workloads; w++)
        n += raw->workloads[w].n_lanes;
    return n;
}

static void summarise_rows(struct arena *a, const struct raw *raw, struct summary *s)
{
    s->rows = arena_array(a, count_lanes(raw) * raw->n_sides, sizeof *s->rows);
    for (size_t w = 0; w < raw->n_workloads; w++) {
        const struct raw_workload *workload = &raw->workloads[w];
        for (size_t i = 0; i < workload->n_lanes * raw->n_sides; i++)
            row_fill(a, raw, workload, &workload->lanes[i / raw->n_sides],
                     raw->sides[i % raw->n_sides], &s->rows[s->n_rows++]);
    }
}

static double median_of(struct arena *a, const struct raw *raw, const char *workload,
                        const char *lane, const char *side)
{
    const struct series of = {workload, lane, side};
    struct samples s = observations_collect(a, raw, &of, OBSERVED_WALL_NS);
    return samples_median(a, &s);
}

/* The drift of every control that takes part, between the first two sides. */
static void summarise_controls(struct arena *a, const struct raw *raw, struct summary *s)
{
    if (raw->n_sides < 2)
        return;
    s->controls = arena_array(a, count_lanes(raw), sizeof *s->controls);
    for (size_t w = 0; w < raw->n_workloads; w++) {
        for (size_t l = 0; l < raw->workloads[w].n_lanes; l++) {
            const struct raw_lane *lane = &raw->workloads[w].lanes[l];
            const char *workload = raw->workloads[w].name;
            if (!lane->control || !lane_takes_part(lane))
                continue;
            struct control_drift *d = &s->controls[s->n_controls++];
            *d = (struct control_drift){
                .workload = workload,
                .lane = lane->name,
                .before_ns = median_of(a, raw, workload, lane->name, raw->sides[0]),
                .after_ns = median_of(a, raw, workload, lane->name, raw->sides[1]),
            };
            drift_judge(d, raw->policy.drift_limit_pct);
        }
    }
}

struct summary *summarise(struct arena *a, const struct raw *raw)
{
    struct summary *s = arena_alloc(a, sizeof *s);
    if (!raw->void_code) {
        summarise_rows(a, raw, s);
        summarise_comparisons(a, raw, s);
        summarise_controls(a, raw, s);
    }
    grade_report(a, raw, s->controls, s->n_controls, &s->grade);
    return s;
}
