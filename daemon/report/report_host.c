#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "report/number.h"
#include "report/sections.h"

#define REFUSALS_SHOWN 3
#define COMPETITORS_SHOWN 20

/* ---- inventories */

static enum text_style style_of_inventory(enum inventory_state s)
{
    return s == INVENTORY_QUIET ? STYLE_GOOD : s == INVENTORY_BUSY ? STYLE_BAD : STYLE_WARN;
}

static void add_phase(struct table *t, enum phase phase, const struct inventory *v)
{
    char n[NUMBER_MAX], a[NUMBER_MAX], b[NUMBER_MAX], when[32];
    table_put(t, phase_title(phase));
    if (!v) {
        table_cell(t, STYLE_WARN, "not taken");
        for (size_t c = 2; c < t->n_columns; c++)
            table_put(t, "");
        return;
    }
    table_cell(t, style_of_inventory(v->state), "%s", inventory_state_name(v->state));
    table_put(t, number_count(n, (int64_t)v->n_competitors));
    table_cell(t, STYLE_PLAIN, "%s, %s", number_share(a, v->aggregate_pct[0]),
               number_share(b, v->aggregate_pct[1]));
    table_put(t, number_count(n, (int64_t)v->n_procs));
    table_put(t, v->wall_ms >= 0 ? clock_iso(v->wall_ms, when) : "");
}

static void add_competitor(struct table *t, enum phase phase, const struct competitor *c)
{
    char a[NUMBER_MAX], b[NUMBER_MAX], reasons[64];
    table_put(t, phase_title(phase));
    if (c->pid)
        table_cell(t, STYLE_PLAIN, "%d", c->pid);
    else
        table_put(t, "");
    table_cell(t, STYLE_PLAIN, "%s, %s", number_share(a, c->share_pct[0]),
               number_share(b, c->share_pct[1]));
    table_put(t, compete_reasons_text(c->reasons, reasons));
    table_cell(t, STYLE_PLAIN, "%.300s", c->args ? c->args : c->command ? c->command : "unknown");
}

static void put_competitors(const struct report *r)
{
    struct table t = {0};
    table_column(&t, "phase", ALIGN_LEFT, 0);
    table_column(&t, "pid", ALIGN_RIGHT, 1);
    table_column(&t, "share of a core", ALIGN_LEFT, 1);
    table_column(&t, "reason", ALIGN_LEFT, 1);
    table_column(&t, "command", ALIGN_WRAP, 1);
    for (int p = 0; p < PHASE_COUNT; p++) {
        const struct inventory *v = r->raw->phases[p].inventory;
        for (size_t i = 0; v && i < v->n_competitors && i < COMPETITORS_SHOWN; i++)
            add_competitor(&t, (enum phase)p, &v->competitors[i]);
    }
    page_table(r->page, &t);
}

static void put_refusals(const struct report *r)
{
    size_t n = r->raw->n_refusals;
    char when[32];
    if (!n)
        return;
    page_say(r->page, "It was refused %zu time%s before it could run%s", n, n == 1 ? "" : "s",
             n > REFUSALS_SHOWN ? "; the last were:" : ":");
    for (size_t i = n > REFUSALS_SHOWN ? n - REFUSALS_SHOWN : 0; i < n; i++) {
        const struct raw_refusal *f = &r->raw->refusals[i];
        page_item(r->page, "%s, %s: %s", f->wall_ms >= 0 ? clock_iso(f->wall_ms, when) : "unknown",
                  phase_title(f->phase), f->reason ? f->reason : "no reason was stored");
    }
}

void section_inventories(const struct report *r)
{
    struct table t = {0};
    page_section(r->page, "Inventories", "who else used the processors, at three phases");
    table_column(&t, "phase", ALIGN_LEFT, 0);
    table_column(&t, "state", ALIGN_LEFT, 1);
    table_column(&t, "competitors", ALIGN_RIGHT, 1);
    table_column(&t, "foreign CPU", ALIGN_LEFT, 1);
    table_column(&t, "procs", ALIGN_RIGHT, 1);
    table_column(&t, "taken at", ALIGN_LEFT, 2);
    for (int p = 0; p < PHASE_COUNT; p++)
        add_phase(&t, (enum phase)p, r->raw->phases[p].inventory);
    page_table(r->page, &t);
    put_competitors(r);
    for (int p = 0; p < PHASE_COUNT; p++) {
        const struct inventory *v = r->raw->phases[p].inventory;
        if (v && v->partial_reason)
            page_item(r->page, "%s it was partial: %s", phase_title((enum phase)p),
                      v->partial_reason);
    }
    put_refusals(r);
}

/* ---- conditions */

static const char *mode_word(enum rule_mode m)
{
    return m == RULE_REQUIRE ? "required" : m == RULE_WAIVE ? "waived" : "recorded";
}

static const char *short_tri(enum tri t)
{
    return t == TRI_NOT_APPLICABLE ? "n/a" : tri_name(t);
}

static int badness(enum tri t)
{
    return t == TRI_FAIL ? 3 : t == TRI_UNKNOWN ? 2 : t == TRI_PASS ? 1 : 0;
}

/* One condition over the phases that were taken. */
struct condition_view {
    const struct condition_result *worst; /* the first phase with the worst status */
    bool alike;
    char statuses[64]; /* "PASS", or one word per phase */
};

static void view_condition(const struct report *r, int condition, struct condition_view *v)
{
    *v = (struct condition_view){.alike = true};
    for (int p = 0; p < PHASE_COUNT; p++) {
        const struct phase_record *phase = &r->raw->phases[p];
        if (!phase->inventory)
            continue;
        const struct condition_result *c = &phase->conditions[condition];
        size_t used = strlen(v->statuses);
        snprintf(v->statuses + used, sizeof v->statuses - used, "%s%s", used ? ", " : "",
                 short_tri(c->status));
        v->alike = v->alike && (!v->worst || v->worst->status == c->status);
        if (!v->worst || badness(c->status) >= badness(v->worst->status))
            v->worst = c;
    }
    if (v->alike && v->worst)
        snprintf(v->statuses, sizeof v->statuses, "%s", short_tri(v->worst->status));
}

static void add_condition(const struct report *r, struct table *t, int condition)
{
    struct condition_view v;
    view_condition(r, condition, &v);
    if (!v.worst)
        return;
    bool matters = v.worst->mode == RULE_REQUIRE;
    table_put(t, condition_title((enum condition)condition));
    table_put(t, mode_word(v.worst->mode));
    table_cell(t, matters ? style_of_tri(v.worst->status) : STYLE_DIM, "%s", v.statuses);
    table_put(t, v.worst->seen ? v.worst->seen : "");
}

static void put_waivers(const struct report *r)
{
    for (int i = 0; i < COND_COUNT; i++) {
        const struct rule *rule = &r->raw->policy.rules[i];
        if (rule->mode != RULE_WAIVE)
            continue;
        page_item(r->page, "%s is waived: %s (%s)", condition_title((enum condition)i),
                  rule->reason ? rule->reason : "no reason given", rule->by ? rule->by : "unnamed");
    }
}

static const char *or_nothing(const char *source)
{
    return source ? source : "nothing";
}

/* Each host has the best counters that there are on it; which ones those are decides what a ledger
 * can see. */
static void put_counters(const struct report *r)
{
    const struct ledger_sources *s = &r->raw->observer;
    char fine[NUMBER_MAX];

    if (!s->busy && !s->lane)
        return;
    page_item(
        r->page,
        "the ledger counts foreign CPU time by %s (to %s ms), that of lanes by %s, waiting by "
        "%s, pressure by %s, throttling by %s; the runner's memory was %slocked",
        or_nothing(s->busy),
        s->busy_resolution_ns < 0 ? "?" : number_ms(fine, (double)s->busy_resolution_ns),
        or_nothing(s->lane), or_nothing(s->delay), or_nothing(s->pressure), or_nothing(s->throttle),
        s->memory ? "" : "not ");
}

void section_conditions(const struct report *r)
{
    struct table t = {0};
    CLEANUP(mem_freep) char *note = mem_printf("of the host, under policy %s", r->raw->policy.name);
    table_column(&t, "condition", ALIGN_LEFT, 0);
    table_column(&t, "policy", ALIGN_LEFT, 1);
    table_column(&t, "status", ALIGN_LEFT, 1);
    table_column(&t, "seen", ALIGN_WRAP, 1);
    for (int i = 0; i < COND_COUNT; i++)
        add_condition(r, &t, i);
    if (table_rows(&t))
        page_section(r->page, "Conditions", note);
    page_table(r->page, &t);
    put_waivers(r);
    put_counters(r);
}
