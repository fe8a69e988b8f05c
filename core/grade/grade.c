#include "core/grade/grade.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "core/grade/grade_predicates.h"
#include "core/names.h"
#include "core/summary/observations.h"
#include "core/summary/summarise.h"

static const struct {
    const char *name;
    predicate_fn judge;
} predicates[PRED_COUNT] = {
    [PRED_SOURCES_CLEAN_DETACHED] = {"sources_clean_detached", predicate_sources_clean_detached},
    [PRED_COMMITS_PINNED] = {"commits_pinned", predicate_commits_pinned},
    [PRED_CORRECTIONS_PROVEN] = {"corrections_proven", predicate_corrections_proven},
    [PRED_SOURCES_FROZEN] = {"sources_frozen", predicate_sources_frozen},
    [PRED_INPUTS_UNCHANGED] = {"inputs_unchanged", predicate_inputs_unchanged},
    [PRED_BINARIES_UNCHANGED] = {"binaries_unchanged", predicate_binaries_unchanged},
    [PRED_FRESH_BUILD] = {"fresh_build", predicate_fresh_build},
    [PRED_PROTOCOL_EXACT] = {"protocol_exact", predicate_protocol_exact},
    [PRED_WARMUPS_EXCLUDED] = {"warmups_excluded", predicate_warmups_excluded},
    [PRED_INVENTORY_BEFORE_BUILD] = {"inventory_before_build", predicate_inventory_before_build},
    [PRED_INVENTORY_BEFORE_TIMING] = {"inventory_before_timing", predicate_inventory_before_timing},
    [PRED_INVENTORY_AFTER_TIMING] = {"inventory_after_timing", predicate_inventory_after_timing},
    [PRED_INVENTORIES_COMPLETE] = {"inventories_complete", predicate_inventories_complete},
    [PRED_CONDITIONS_MET] = {"conditions_met", predicate_conditions_met},
    [PRED_HOST_CONTRACT] = {"host_contract", predicate_host_contract},
    [PRED_BOOT_UNCHANGED] = {"boot_unchanged", predicate_boot_unchanged},
    [PRED_NO_SUSPEND] = {"no_suspend", predicate_no_suspend},
    [PRED_NO_OVERRIDE] = {"no_override", predicate_no_override},
    [PRED_NO_LANE_EXCLUDED] = {"no_lane_excluded", predicate_no_lane_excluded},
    [PRED_CONTROLS_WITHIN_DRIFT] = {"controls_within_drift", predicate_controls_within_drift},
    [PRED_CLEANUP_VERIFIED] = {"cleanup_verified", predicate_cleanup_verified},
    [PRED_OBSERVER_SILENT] = {"observer_silent", predicate_observer_silent},
    [PRED_REPETITIONS_ENOUGH] = {"repetitions_enough", predicate_repetitions_enough},
    [PRED_NO_PROFILE] = {"no_profile", predicate_no_profile},
};

const char *predicate_name(enum predicate p)
{
    return (size_t)p < PRED_COUNT ? predicates[p].name : "?";
}

int predicate_parse(const char *s)
{
    for (int p = 0; s && p < PRED_COUNT; p++)
        if (strcmp(predicates[p].name, s) == 0)
            return p;
    return -1;
}

static const char *const row_predicate_names[] = {
    [ROW_PAIRS_COMPLETE] = "pairs_complete",
    [ROW_DISTURBANCE_REPLACED] = "disturbance_replaced",
    [ROW_ABOVE_RESOLUTION] = "above_resolution",
    [ROW_VALUES_EXACT] = "values_exact",
    [ROW_GROWTH_WITHIN] = "growth_within",
    [ROW_SAMPLES_WITHIN] = "samples_within",
    [ROW_SCALING_WITHIN] = "scaling_within",
};
NAMES(row_predicate, row_predicate);

void predicate_fold(struct predicate_result *worst, struct predicate_result r)
{
    static const int badness[] = {
        [TRI_NOT_APPLICABLE] = 0, [TRI_PASS] = 1, [TRI_UNKNOWN] = 2, [TRI_FAIL] = 3};
    if (badness[r.status] > badness[worst->status])
        *worst = r;
}

/* "; failed: a, b" for the predicates with this status; nothing where there are none. */
static void list_predicates(struct buf *line, const struct grade_result *g, enum tri status,
                            const char *word)
{
    const char *before = word;
    for (int p = 0; p < PRED_COUNT; p++) {
        if (g->predicates[p].status != status)
            continue;
        buf_printf(line, "%s%s", before, predicate_name((enum predicate)p));
        before = ", ";
    }
}

static void list_waivers(struct buf *line, const struct policy *policy)
{
    const char *before = ", waived: ";
    for (int c = 0; c < COND_COUNT; c++) {
        if (policy->rules[c].mode != RULE_WAIVE)
            continue;
        buf_printf(line, "%s%s", before, condition_name((enum condition)c));
        before = ", ";
    }
}

static const char *grade_line(struct arena *a, const struct raw *raw, const struct grade_result *g)
{
    CLEANUP(buf_deinit) struct buf line = {0};
    buf_puts(&line, grade_name(g->value));
    if (g->value == GRADE_VOID)
        buf_printf(&line, " (%s)", raw->void_code);
    buf_printf(&line, ", policy %s", raw->policy.name);
    list_waivers(&line, &raw->policy);
    list_predicates(&line, g, TRI_FAIL, "; failed: ");
    list_predicates(&line, g, TRI_UNKNOWN, "; unknown: ");
    return arena_strdup(a, buf_str(&line));
}

static bool counts_as_pass(enum tri status)
{
    return status == TRI_PASS || status == TRI_NOT_APPLICABLE;
}

void grade_report(struct arena *a, const struct raw *raw, const struct control_drift *drifts,
                  size_t n_drifts, struct grade_result *out)
{
    const struct grade_input in = {.arena = a, .raw = raw, .drifts = drifts, .n_drifts = n_drifts};
    out->value = GRADE_CONTRACTUAL;
    for (int p = 0; p < PRED_COUNT; p++) {
        out->predicates[p] = predicates[p].judge(&in);
        if (!counts_as_pass(out->predicates[p].status))
            out->value = GRADE_DIAGNOSTIC;
    }
    if (raw->void_code)
        out->value = GRADE_VOID;
    out->line = grade_line(a, raw, out);
}

/* How many of the repetitions asked for have exactly one valid observation. */
static int complete_repetitions(const struct observation_index *index, const struct series *of)
{
    size_t n, run;
    const struct raw_observation *const *o = observations_of(index, of, &n);
    int complete = 0;
    for (size_t i = 0; i < n; i += run) {
        for (run = 1; i + run < n && o[i + run]->repetition == o[i]->repetition;)
            run++;
        complete += run == 1 && o[i]->repetition >= 0;
    }
    return complete;
}

static bool is_absent(const struct raw *raw, const char *workload, const char *side)
{
    for (size_t w = 0; w < raw->n_workloads; w++)
        if (strcmp(raw->workloads[w].name, workload) == 0)
            return workload_is_absent(&raw->workloads[w], side);
    return false;
}

static struct predicate_result disturbance_replaced(const struct grade_input *in,
                                                    const struct observation_index *index,
                                                    const char *workload, const char *side)
{
    const struct raw *raw = in->raw;
    struct replacement_count count = {0};
    if (is_absent(raw, workload, side))
        return RESULT(in, TRI_NOT_APPLICABLE, "absent on %s", side);
    for (size_t w = 0; w < raw->n_workloads; w++)
        if (strcmp(raw->workloads[w].name, workload) == 0)
            replacement_count(&index->replacements[w], &count);
    if (count.as_observed)
        return RESULT(in, TRI_FAIL,
                      "only %d of %d repetitions were not disturbed; the figures are "
                      "of those that were planned",
                      count.clean + count.unjudged, raw->job.repetitions);
    if (count.unjudged + count.clean == 0)
        return RESULT(in, TRI_UNKNOWN, "no repetition was observed");
    if (count.unjudged > 0)
        return RESULT(in, TRI_UNKNOWN, "%d repetition%s could not be judged", count.unjudged,
                      count.unjudged == 1 ? "" : "s");
    if (count.disturbed == 0)
        return RESULT(in, TRI_PASS, "none of %d repetitions was disturbed", count.clean);
    return RESULT(in, TRI_PASS, "%d repetition%s disturbed and replaced", count.disturbed,
                  count.disturbed == 1 ? " was" : "s were");
}

static const struct calibration_figures *
floor_of(const struct raw *raw, const struct calibration_figures *calibration, const char *workload)
{
    for (size_t w = 0; calibration && w < raw->n_workloads; w++)
        if (strcmp(raw->workloads[w].name, workload) == 0)
            return &calibration[measure_floor(raw->workloads[w].measure)];
    return NULL;
}

static struct predicate_result above_resolution(const struct grade_input *in,
                                                const struct observation_index *index,
                                                const struct calibration_figures *floor,
                                                const struct series *of)
{
    struct samples wall = observations_collect(in->arena, index, of, OBSERVED_WALL_NS);
    double median_ns = samples_median(in->arena, &wall);

    if (is_absent(in->raw, of->workload, of->side))
        return RESULT(in, TRI_NOT_APPLICABLE, "absent on %s", of->side);
    if (!floor)
        return RESULT(in, TRI_UNKNOWN,
                      in->raw->calibration ? "calibrated in another boot" : "not calibrated");
    if (isnan(floor->resolution_ns) || isnan(median_ns))
        return RESULT(in, TRI_UNKNOWN, "there is no %s",
                      isnan(median_ns) ? "figure" : "floor of this measure");
    return RESULT(in, median_ns >= floor->resolution_ns ? TRI_PASS : TRI_FAIL,
                  "%.6f ms; resolved are %.6f ms, %d x the MAD of the %s floor", median_ns / 1e6,
                  floor->resolution_ns / 1e6, CALIBRATION_RESOLUTION, measure_name(floor->measure));
}

static int asked_of(const struct raw *raw, const char *workload)
{
    for (size_t w = 0; w < raw->n_workloads; w++)
        if (strcmp(raw->workloads[w].name, workload) == 0)
            return plan_repetitions(raw->workloads[w].measure, raw->job.repetitions);
    return raw->job.repetitions;
}

static struct predicate_result pairs_complete(const struct grade_input *in,
                                              const struct observation_index *index,
                                              const struct series *of)
{
    int asked = asked_of(in->raw, of->workload), complete = complete_repetitions(index, of);
    bool enough = complete > 0 && complete == asked;

    if (is_absent(in->raw, of->workload, of->side))
        return RESULT(in, TRI_NOT_APPLICABLE, "absent on %s", of->side);
    return RESULT(in, enough ? TRI_PASS : TRI_FAIL, "%d of %d repetitions", complete, asked);
}

static void row_value(struct row_grade *out)
{
    out->value = GRADE_CONTRACTUAL;
    for (int p = 0; p < ROW_COUNT; p++)
        if (out->predicates[p].fact && !counts_as_pass(out->predicates[p].status))
            out->value = GRADE_DIAGNOSTIC;
}

void grade_row(struct arena *a, const struct raw *raw, const struct observation_index *index,
               const struct calibration_figures *calibration, const char *workload,
               const char *lane, const char *side, struct row_grade *out)
{
    const struct grade_input in = {.arena = a, .raw = raw};
    const struct series of = {workload, lane, side};

    *out = (struct row_grade){0};
    out->predicates[ROW_PAIRS_COMPLETE] = pairs_complete(&in, index, &of);
    out->predicates[ROW_DISTURBANCE_REPLACED] = disturbance_replaced(&in, index, workload, side);
    out->predicates[ROW_ABOVE_RESOLUTION] =
        above_resolution(&in, index, floor_of(raw, calibration, workload), &of);
    row_value(out);
}

/* The series that have a bound, each p99 against it; the worst is named. */
void grade_samples(struct arena *a, const struct row *row, struct row_grade *out)
{
    const struct grade_input in = {.arena = a};
    struct predicate_result worst = RESULT(
        &in, TRI_NOT_APPLICABLE, "%s", row->undefined ? row->undefined : "no bound is declared");

    for (size_t i = 0; i < row->n_samples && !row->undefined; i++) {
        const struct sample_figures *f = &row->samples[i];
        if (f->p99_max >= 0 && f->n == 0)
            predicate_fold(&worst, RESULT(&in, TRI_UNKNOWN, "there are no samples of %s", f->name));
        else if (f->p99_max >= 0)
            predicate_fold(&worst,
                           RESULT(&in, sampled_within(f),
                                  "the p99 of %s is %" PRId64 " %s, its bound %" PRId64 " %s",
                                  f->name, f->p99, sample_unit_name(f->unit), f->p99_max,
                                  sample_unit_name(f->unit)));
    }
    out->predicates[ROW_SAMPLES_WITHIN] = worst;
    row_value(out);
}

void grade_scaling(struct arena *a, const struct scaling_row *row, struct row_grade *out)
{
    const struct grade_input in = {.arena = a};
    struct predicate_result *p = &out->predicates[ROW_SCALING_WITHIN];

    if (row->status == SCALING_UNRESOLVED)
        *p = RESULT(&in, TRI_UNKNOWN, "%s", row->why);
    else
        *p = RESULT(&in, row->status == SCALING_MET ? TRI_PASS : TRI_FAIL,
                    "%" PRId64 " tasks take %.6f of the time of one, at most %.6f is asked for",
                    row->tasks, row->ratio, row->max_ratio);
    row_value(out);
}

/* Values that a program counts must be the same in every repetition; the first that is not is
 * named. */
static struct predicate_result values_exact(const struct grade_input *in,
                                            const struct value_row *row)
{
    const struct value_figures *first = NULL;
    size_t changing = 0;

    for (size_t i = 0; i < row->n_values; i++) {
        const struct value_figures *v = &row->values[i];
        if (v->n == 0)
            return RESULT(in, TRI_UNKNOWN, "there is no value of %s", v->name);
        if (v->exact)
            continue;
        first = first ? first : v;
        changing++;
    }
    if (!first)
        return RESULT(in, TRI_PASS, "%zu value%s, each the same in every repetition", row->n_values,
                      row->n_values == 1 ? "" : "s");
    return RESULT(in, TRI_FAIL,
                  "%s changes between repetitions, %" PRId64 " to %" PRId64
                  "; %zu of %zu values do",
                  first->name, first->min, first->max, changing, row->n_values);
}

/* The files that have a baseline, against what they may grow over it; the worst is named. */
static struct predicate_result growth_within(const struct grade_input *in,
                                             const struct raw_workload *w,
                                             const struct value_row *row)
{
    struct predicate_result worst = RESULT(in, TRI_NOT_APPLICABLE, "no baseline is recorded");

    for (size_t i = 0; i < row->n_values; i++) {
        const struct value_figures *v = &row->values[i];
        if (v->baseline < 0)
            continue;
        predicate_fold(&worst, RESULT(in, compare_growth(v->baseline, v->max, w->growth_pct),
                                      "%s has %" PRId64 " bytes, recorded are %" PRId64
                                      ", which may grow by %d %%",
                                      v->name, v->max, v->baseline, w->growth_pct));
    }
    return worst;
}

void grade_value_row(struct arena *a, const struct raw *raw, const struct observation_index *index,
                     const struct raw_workload *w, struct value_row *row)
{
    const struct grade_input in = {.arena = a, .raw = raw};
    const struct series of = {row->workload, row->lane, row->side};
    struct predicate_result *p = row->grade.predicates;

    p[ROW_PAIRS_COMPLETE] = pairs_complete(&in, index, &of);
    if (w->measure == MEASURE_COUNTERS)
        p[ROW_VALUES_EXACT] = is_absent(raw, row->workload, row->side)
                                  ? RESULT(&in, TRI_NOT_APPLICABLE, "absent on %s", row->side)
                                  : values_exact(&in, row);
    if (w->measure == MEASURE_SIZE)
        p[ROW_GROWTH_WITHIN] = is_absent(raw, row->workload, row->side)
                                   ? RESULT(&in, TRI_NOT_APPLICABLE, "absent on %s", row->side)
                                   : growth_within(&in, w, row);
    if (w->measure == MEASURE_KERNEL)
        p[ROW_DISTURBANCE_REPLACED] =
            is_absent(raw, row->workload, row->side)
                ? RESULT(&in, TRI_NOT_APPLICABLE, "absent on %s", row->side)
                : RESULT(&in, TRI_UNKNOWN, "no ledger judges times that a program takes itself");
    row_value(&row->grade);
}
