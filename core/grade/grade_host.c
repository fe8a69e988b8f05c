#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "core/grade/grade_predicates.h"

static struct predicate_result judge_inventory(const struct grade_input *in, enum phase phase)
{
    const struct inventory *inv = in->raw->phases[phase].inventory;
    const char *when = phase_title(phase);
    if (!inv)
        return RESULT(in, TRI_UNKNOWN, "no inventory was taken %s", when);
    switch (inv->state) {
    case INVENTORY_QUIET:
        return RESULT(in, TRI_PASS, "empty %s", when);
    case INVENTORY_BUSY:
        return RESULT(in, TRI_FAIL, "%zu competitors %s, the first %s (%.1f %% of a core)",
                      inv->n_competitors, when,
                      inv->n_competitors > 0 ? inv->competitors[0].command : "unknown",
                      inv->n_competitors > 0 ? inv->competitors[0].share_pct[0] : 0);
    case INVENTORY_PARTIAL:
        break;
    }
    return RESULT(in, TRI_UNKNOWN, "the inventory %s is partial: %s", when,
                  inv->partial_reason ? inv->partial_reason : "no reason recorded");
}

struct predicate_result predicate_inventory_before_build(const struct grade_input *in)
{
    return judge_inventory(in, PHASE_BEFORE_BUILD);
}

struct predicate_result predicate_inventory_before_timing(const struct grade_input *in)
{
    return judge_inventory(in, PHASE_BEFORE_TIMING);
}

struct predicate_result predicate_inventory_after_timing(const struct grade_input *in)
{
    return judge_inventory(in, PHASE_AFTER_TIMING);
}

struct predicate_result predicate_inventories_complete(const struct grade_input *in)
{
    struct predicate_result worst = RESULT(in, TRI_PASS, "all three inventories are complete");
    for (int p = 0; p < PHASE_COUNT; p++) {
        const struct inventory *inv = in->raw->phases[p].inventory;
        const char *when = phase_title((enum phase)p);
        if (!inv)
            predicate_fold(&worst, RESULT(in, TRI_UNKNOWN, "none was taken %s", when));
        else if (inv->state == INVENTORY_PARTIAL)
            predicate_fold(&worst, RESULT(in, TRI_FAIL, "partial %s", when));
    }
    return worst;
}

/* The conditions of a phase, or NULL where they were not judged: a record that was never filled in
 * reads as PASS throughout, so the numbering of its entries is what shows that it was. */
static const struct condition_result *conditions_of(const struct raw *raw, enum phase phase)
{
    const struct phase_record *record = &raw->phases[phase];
    for (int c = 0; record->inventory && c < COND_COUNT; c++)
        if ((int)record->conditions[c].condition != c)
            return NULL;
    return record->inventory ? record->conditions : NULL;
}

/* "mains, governor": the required conditions with this status. */
static const char *required_with(struct arena *a, const struct condition_result *results,
                                 enum tri status)
{
    CLEANUP(buf_deinit) struct buf b = {0};
    for (int c = 0; c < COND_COUNT; c++)
        if (results[c].mode == RULE_REQUIRE && results[c].status == status)
            buf_printf(&b, "%s%s", b.len > 0 ? ", " : "", condition_name(results[c].condition));
    return arena_strdup(a, buf_str(&b));
}

static struct predicate_result judge_conditions(const struct grade_input *in, enum phase phase)
{
    const struct condition_result *results = conditions_of(in->raw, phase);
    const char *when = phase_title(phase);
    if (!results)
        return RESULT(in, TRI_UNKNOWN, "%s: not judged", when);
    enum tri status = qualify_conditions_met(results);
    if (status == TRI_FAIL)
        return RESULT(in, status, "%s: %s", when, required_with(in->arena, results, status));
    if (status == TRI_UNKNOWN)
        return RESULT(in, status, "%s: %s not known", when,
                      required_with(in->arena, results, status));
    return RESULT(in, TRI_PASS, "%s: met", when);
}

/* Judged at the time by what the daemon knew; that it is in the report can be seen here. */
static bool lacks_calibration(const struct raw *raw)
{
    const struct calibration *c = raw->calibration;
    return raw->policy.rules[COND_CALIBRATION].mode == RULE_REQUIRE &&
           (!c || strcmp(c->boot, raw->boot.id) != 0);
}

struct predicate_result predicate_conditions_met(const struct grade_input *in)
{
    struct predicate_result worst =
        RESULT(in, TRI_PASS, "every condition that the policy requires is met in all phases");
    for (int p = 0; p < PHASE_COUNT; p++)
        predicate_fold(&worst, judge_conditions(in, (enum phase)p));
    if (lacks_calibration(in->raw))
        predicate_fold(&worst,
                       RESULT(in, TRI_UNKNOWN, "the report holds no calibration of its boot"));
    return worst;
}

static struct predicate_result judge_contract(const struct grade_input *in, enum phase phase)
{
    const struct condition_result *results = conditions_of(in->raw, phase);
    if (!results)
        return RESULT(in, TRI_UNKNOWN, "%s: not judged", phase_title(phase));
    const struct condition_result *r = &results[COND_HOST_CONTRACT];
    if (r->mode == RULE_WAIVE)
        return RESULT(in, TRI_PASS, "waived by the policy");
    if (r->mode == RULE_RECORD)
        return RESULT(in, TRI_NOT_APPLICABLE, "the policy does not ask for one");
    return RESULT(in, r->status, "%s", r->seen ? r->seen : "nothing recorded");
}

struct predicate_result predicate_host_contract(const struct grade_input *in)
{
    struct predicate_result worst = judge_contract(in, PHASE_BEFORE_BUILD);
    for (int p = PHASE_BEFORE_BUILD + 1; p < PHASE_COUNT; p++)
        predicate_fold(&worst, judge_contract(in, (enum phase)p));
    return worst;
}

struct predicate_result predicate_boot_unchanged(const struct grade_input *in)
{
    const char *before = in->raw->boot.id, *after = in->raw->boot_id_after;
    if (!before || !after)
        return RESULT(in, TRI_UNKNOWN, "the boot identity was not read %s timing",
                      before ? "after" : "before");
    if (strcmp(before, after) != 0)
        return RESULT(in, TRI_FAIL, "boot %s before, %s after", before, after);
    return RESULT(in, TRI_PASS, "boot %s", before);
}

struct predicate_result predicate_no_suspend(const struct grade_input *in)
{
    int64_t before = in->raw->suspend_before_ms, after = in->raw->suspend_after_ms;
    if (before < 0 || after < 0)
        return RESULT(in, TRI_UNKNOWN, "the time spent suspended is not known");
    if (after - before < -SUSPEND_TOLERANCE_MS)
        return RESULT(in, TRI_UNKNOWN, "the time spent suspended went back by %lld ms",
                      (long long)(before - after));
    if (after - before > SUSPEND_TOLERANCE_MS)
        return RESULT(in, TRI_FAIL, "suspended for %lld ms", (long long)(after - before));
    return RESULT(in, TRI_PASS,
                  "not suspended since the attempt began (%lld ms in this boot, then %lld ms)",
                  (long long)before, (long long)after);
}
