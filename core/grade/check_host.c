/* The half of check.h about the host: inventories and conditions. */

#include "core/grade/check.h"

/* ---- inventories */

static bool over_in_all_windows(const double v[INVENTORY_WINDOWS], double limit)
{
    for (int i = 0; i < INVENTORY_WINDOWS; i++)
        if (!(v[i] >= limit))
            return false;
    return true;
}

/* What the policy's limits make of the figures, whatever the state says. */
static const char *why_not_quiet(const struct raw *raw, const struct inventory *inv)
{
    const struct policy *p = &raw->policy;
    double all = p->aggregate_all_pct * raw->host.cores;
    double aggregate = all > p->aggregate_pct ? all : p->aggregate_pct;
    if (inv->n_competitors > 0)
        return "lists competitors";
    if (inv->partial_reason)
        return "is not complete";
    if (over_in_all_windows(inv->aggregate_pct, aggregate))
        return "has more foreign CPU time than the policy allows";
    if (inv->forks_per_second > p->forks_per_second)
        return "has more new processes than the policy allows";
    for (size_t i = 0; i < inv->n_hints; i++)
        if (over_in_all_windows(inv->hints[i].share_pct, p->sustained_pct))
            return "has a hint that is a competitor by the policy";
    return NULL;
}

static const char *check_inventory(struct arena *a, const struct raw *raw, enum phase phase)
{
    const struct inventory *inv = raw->phases[phase].inventory;
    if (!inv)
        return NULL;
    const char *why = why_not_quiet(raw, inv), *when = phase_title(phase);
    if (inv->wall_ms != raw->phases[phase].facts.wall_ms)
        return arena_printf(a, "the inventory and the facts %s are of different times", when);
    if (inv->state == INVENTORY_QUIET && why)
        return arena_printf(a, "the inventory %s is called quiet and %s", when, why);
    if (inv->state == INVENTORY_BUSY && inv->n_competitors == 0)
        return arena_printf(a, "the inventory %s is called busy and lists no competitor", when);
    if ((inv->state == INVENTORY_PARTIAL) != (inv->partial_reason != NULL))
        return arena_printf(a, "the inventory %s does not say why it is partial", when);
    for (size_t i = 0; i < inv->n_competitors; i++)
        if (inv->competitors[i].reasons == 0)
            return arena_printf(a, "a competitor %s has no reason", when);
    return NULL;
}

const char *check_inventories(struct arena *a, const struct raw *raw)
{
    const char *fault = NULL;
    for (int p = 0; !fault && p < PHASE_COUNT; p++)
        fault = check_inventory(a, raw, (enum phase)p);
    return fault;
}

/* ---- conditions */

static bool control_everywhere(const struct raw *raw)
{
    for (size_t w = 0; w < raw->n_workloads; w++) {
        bool found = !measure_has_times(raw->workloads[w].measure); /* no host drifts in it */
        for (size_t l = 0; l < raw->workloads[w].n_lanes; l++)
            found = found || raw->workloads[w].lanes[l].control;
        if (!found)
            return false;
    }
    return true;
}

/* Judged against facts at the start of the phase, which the first phase does not keep. */
static bool is_of_two_times(enum condition c)
{
    return c == COND_GOVERNOR || c == COND_BOOST || c == COND_ENERGY || c == COND_THERMAL ||
           c == COND_STEAL || c == COND_SWAP || c == COND_SUSPEND;
}

static bool same_condition(const struct condition_result *a, const struct condition_result *b,
                           bool whole)
{
    return a->condition == b->condition && a->mode == b->mode && text_equal(a->needed, b->needed) &&
           (!whole || (a->status == b->status && text_equal(a->seen, b->seen)));
}

/* A pass and a proved absence count alike, so the grade does not tell them apart. */
static bool same_absence(const struct condition_result *a, const struct condition_result *b)
{
    return a->status == b->status ||
           (a->status != TRI_NOT_APPLICABLE && b->status != TRI_NOT_APPLICABLE) ||
           b->status == TRI_FAIL || b->status == TRI_UNKNOWN;
}

static const char *check_phase(struct arena *a, const struct raw *raw, enum phase phase)
{
    const struct phase_record *first = &raw->phases[PHASE_BEFORE_BUILD];
    const struct phase_record *now = &raw->phases[phase];
    struct condition_result again[COND_COUNT];
    const struct qualify_job job = {.is_comparison = raw->n_sides > 1 || raw->job.is_run,
                                    .control_everywhere = control_everywhere(raw)};
    if (!now->inventory)
        return NULL;
    qualify_conditions(a, &raw->policy, &raw->host, &first->facts, &now->facts, &job, again);
    for (int c = 0; c < COND_COUNT; c++) {
        bool whole = phase != PHASE_BEFORE_BUILD || !is_of_two_times((enum condition)c);
        if (!same_condition(&again[c], &now->conditions[c], whole) ||
            !same_absence(&again[c], &now->conditions[c]))
            return arena_printf(a, "%s, %s: the report says %s (%s), its facts %s (%s)",
                                phase_title(phase), condition_title((enum condition)c),
                                tri_name(now->conditions[c].status),
                                now->conditions[c].seen ? now->conditions[c].seen : "nothing",
                                tri_name(again[c].status), again[c].seen);
    }
    return NULL;
}

const char *check_conditions(struct arena *a, const struct raw *raw)
{
    const char *fault = NULL;
    for (int p = 0; !fault && p < PHASE_COUNT; p++)
        fault = check_phase(a, raw, (enum phase)p);
    return fault;
}
