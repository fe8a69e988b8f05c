#include "core/grade.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "core/grade_predicates.h"
#include "core/names.h"
#include "core/observations.h"

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
static int complete_repetitions(const struct raw *raw, const struct observation_index *index,
                                const struct series *of)
{
    size_t n, run;
    const struct raw_observation *const *o = observations_of(index, of, &n);
    int complete = 0;
    for (size_t i = 0; i < n; i += run) {
        for (run = 1; i + run < n && o[i + run]->repetition == o[i]->repetition;)
            run++;
        complete += run == 1 && o[i]->repetition >= 0 && o[i]->repetition < raw->job.repetitions;
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

void grade_row(struct arena *a, const struct raw *raw, const struct observation_index *index,
               const char *workload, const char *lane, const char *side, struct row_grade *out)
{
    const struct grade_input in = {.arena = a, .raw = raw};
    const struct series of = {workload, lane, side};
    int asked = raw->job.repetitions, complete = complete_repetitions(raw, index, &of);
    bool enough = complete > 0 && complete == asked;
    out->predicates[ROW_PAIRS_COMPLETE] =
        is_absent(raw, workload, side)
            ? RESULT(&in, TRI_NOT_APPLICABLE, "absent on %s", side)
            : RESULT(&in, enough ? TRI_PASS : TRI_FAIL, "%d of %d repetitions", complete, asked);
    out->predicates[ROW_DISTURBANCE_REPLACED] =
        RESULT(&in, TRI_UNKNOWN, "no disturbance ledger in this version");
    out->predicates[ROW_ABOVE_RESOLUTION] = RESULT(&in, TRI_UNKNOWN, "not calibrated");
    out->value = GRADE_CONTRACTUAL;
    for (int p = 0; p < ROW_COUNT; p++)
        if (!counts_as_pass(out->predicates[p].status))
            out->value = GRADE_DIAGNOSTIC;
}
