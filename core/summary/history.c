#include "core/summary/history.h"

#include <math.h>
#include <string.h>

static const struct interval none = {.low = NAN, .high = NAN, .coverage = NAN};

struct gathering {
    const struct raw *raw;
    const struct summary *s;
    struct history *out;
};

static const char *commit_of(const struct raw *raw, const char *side)
{
    for (size_t i = 0; i < raw->n_sources; i++)
        if (strcmp(raw->sources[i].side, side) == 0)
            return raw->sources[i].commit;
    return NULL;
}

static enum measure measure_of(const struct raw *raw, const char *workload)
{
    size_t w = 0;

    while (w + 1 < raw->n_workloads && strcmp(raw->workloads[w].name, workload) != 0)
        w++;
    return raw->workloads[w].measure;
}

/* A row of a diagnostic report is diagnostic, whatever its own grade. */
static enum grade grade_of(const struct summary *s, const struct row_grade *row)
{
    return s->grade.value == GRADE_CONTRACTUAL ? row->value : s->grade.value;
}

static enum grade grade_of_row(const struct summary *s, const char *workload, const char *lane,
                               const char *side)
{
    for (size_t i = 0; i < summary_count_graded(s); i++) {
        struct graded_row row = summary_graded(s, i);
        if (strcmp(row.workload, workload) == 0 && strcmp(row.lane, lane) == 0 &&
            strcmp(row.side, side) == 0)
            return grade_of(s, row.grade);
    }
    return GRADE_DIAGNOSTIC;
}

/* -1: they are not counted. */
static int64_t operations_of(const struct row *row)
{
    return row->per_operation.operations > 0 ? row->per_operation.operations : -1;
}

/* ---- figures */

static void add_figure(struct gathering *g, const struct history_figure *row)
{
    struct history_figure *f = &g->out->figures[g->out->n_figures++];

    *f = *row;
    f->of = (struct history_origin){.attempt = g->raw->id, .started_ms = g->raw->started_wall_ms};
    f->commit = commit_of(g->raw, f->side);
    f->measure = measure_of(g->raw, f->workload);
}

static void add_time(struct gathering *g, const struct row *row)
{
    if (row->undefined)
        return;
    add_figure(g, &(struct history_figure){
                      .workload = row->workload,
                      .value = "",
                      .lane = row->lane,
                      .side = row->side,
                      .unit = measure_unit(MEASURE_PROTOCOL),
                      .operations = operations_of(row),
                      .control = row->control,
                      .n = (int64_t)row->wall.n,
                      .median = row->wall.median_ns,
                      .mad = row->wall.mad_ns,
                      .low = row->wall.best_ns,
                      .high = row->wall.p95_ns,
                      .cpu_median = row->cpu.median_ns,
                      .grade = grade_of(g->s, &row->grade),
                  });
}

static void add_values(struct gathering *g, const struct value_row *row)
{
    for (size_t i = 0; i < row->n_values && !row->undefined; i++) {
        const struct value_figures *v = &row->values[i];
        if (v->n == 0)
            continue;
        add_figure(g, &(struct history_figure){
                          .workload = row->workload,
                          .value = v->name,
                          .lane = row->lane,
                          .side = row->side,
                          .unit = row->unit,
                          .operations = -1,
                          .control = row->control,
                          .n = (int64_t)v->n,
                          .median = v->median,
                          .mad = NAN,
                          .low = v->min,
                          .high = v->max,
                          .cpu_median = NAN,
                          .grade = grade_of(g->s, &row->grade),
                      });
    }
}

/* ---- ratios */

static void add_ratio(struct gathering *g, const struct history_ratio *row)
{
    struct history_ratio *r = &g->out->ratios[g->out->n_ratios++];
    enum grade subject = grade_of_row(g->s, row->workload, row->subject_lane, row->subject_side);
    enum grade reference =
        grade_of_row(g->s, row->workload, row->reference_lane, row->reference_side);

    *r = *row;
    r->of = (struct history_origin){.attempt = g->raw->id, .started_ms = g->raw->started_wall_ms};
    r->measure = measure_of(g->raw, r->workload);
    r->subject_commit = commit_of(g->raw, r->subject_side);
    r->reference_commit = commit_of(g->raw, r->reference_side);
    r->grade = subject == GRADE_CONTRACTUAL ? reference : subject;
}

static void compare_times(struct gathering *g, const struct comparison *c)
{
    const struct row *subject = summary_row(g->s, c->workload, c->subject_lane, c->subject_side);
    const struct row *reference =
        summary_row(g->s, c->workload, c->reference_lane, c->reference_side);

    if (c->undefined || !subject || subject->undefined || !reference || reference->undefined)
        return;
    add_ratio(g, &(struct history_ratio){
                     .workload = c->workload,
                     .value = "",
                     .subject_lane = c->subject_lane,
                     .reference_lane = c->reference_lane,
                     .subject_side = c->subject_side,
                     .reference_side = c->reference_side,
                     .unit = measure_unit(MEASURE_PROTOCOL),
                     .operations = operations_of(subject),
                     .subject = subject->wall.median_ns,
                     .reference = reference->wall.median_ns,
                     .ratio_of_medians = c->wall.ratio_of_medians,
                     .ratio = estimate_ratio(&c->wall),
                     .low = c->wall.interval.low,
                     .high = c->wall.interval.high,
                     .coverage = c->wall.interval.coverage,
                     .verdict = verdict_name(c->wall.verdict),
                 });
}

/* Exact values have the ratio of medians alone. */
static void compare_values(struct gathering *g, const struct value_comparison *c)
{
    const struct interval *v = c->has_estimate ? &c->estimate.interval : &none;

    if (c->undefined || isnan(c->subject) || isnan(c->reference))
        return;
    add_ratio(g, &(struct history_ratio){
                     .workload = c->workload,
                     .value = c->name,
                     .subject_lane = c->subject_lane,
                     .reference_lane = c->reference_lane,
                     .subject_side = c->subject_side,
                     .reference_side = c->reference_side,
                     .unit = c->unit,
                     .operations = -1,
                     .subject = c->subject,
                     .reference = c->reference,
                     .ratio_of_medians = c->ratio_of_medians,
                     .ratio = c->has_estimate ? estimate_ratio(&c->estimate) : NAN,
                     .low = v->low,
                     .high = v->high,
                     .coverage = v->coverage,
                     .verdict = value_verdict_name(c->verdict),
                 });
}

const struct history *history_of(struct arena *a, const struct raw *raw, const struct summary *s)
{
    struct history *out = arena_alloc(a, sizeof *out);
    struct gathering g = {raw, s, out};
    size_t n = s->n_rows;

    for (size_t i = 0; i < s->n_values; i++)
        n += s->values[i].n_values;
    out->figures = arena_array(a, n, sizeof *out->figures);
    for (size_t i = 0; i < s->n_rows; i++)
        add_time(&g, &s->rows[i]);
    for (size_t i = 0; i < s->n_values; i++)
        add_values(&g, &s->values[i]);
    out->ratios = arena_array(a, s->n_comparisons + s->n_value_comparisons, sizeof *out->ratios);
    for (size_t i = 0; i < s->n_comparisons; i++)
        compare_times(&g, &s->comparisons[i]);
    for (size_t i = 0; i < s->n_value_comparisons; i++)
        compare_values(&g, &s->value_comparisons[i]);
    return out;
}
