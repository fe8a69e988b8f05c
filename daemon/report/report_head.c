#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "report/number.h"
#include "report/sections.h"

static void put_title(const struct report *r)
{
    const char *label = r->raw->job.label;
    CLEANUP(mem_freep)
    char *title =
        mem_printf("%s%s%s", label && *label ? label : "", label && *label ? "  " : "", r->raw->id);
    page_title(r->page, title);
}

/* "; 1 MORE, 2 EQUAL of values" */
static void add_values(const struct report *r, struct buf *text)
{
    const char *before = text->len ? "; " : "";
    size_t all = 0;
    for (int v = VALUE_EQUAL; v <= VALUE_INEXACT; v++) {
        size_t n = report_count_values(r, (enum value_verdict)v);
        if (!n)
            continue;
        buf_printf(text, "%s%zu %s", before, n, value_verdict_name((enum value_verdict)v));
        before = ", ";
        all += n;
    }
    if (all)
        buf_printf(text, ", in %zu comparison%s of values", all, all == 1 ? "" : "s");
}

static void put_result(const struct report *r)
{
    size_t counts[VERDICT_UNRESOLVED + 1] = {0}, undefined = 0, all = 0;
    CLEANUP(buf_deinit) struct buf text = {0};
    for (size_t i = 0; i < r->s->n_comparisons; i++) {
        const struct comparison *c = &r->s->comparisons[i];
        if (!lookup_has_verdict(r, c))
            continue;
        all++;
        if (c->undefined)
            undefined++;
        else
            counts[c->wall.verdict]++;
    }
    for (int v = VERDICT_FASTER; v <= VERDICT_UNRESOLVED; v++)
        if (counts[v])
            buf_printf(&text, "%s%zu %s", text.len ? ", " : "", counts[v],
                       verdict_name((enum verdict)v));
    if (undefined)
        buf_printf(&text, "%s%zu without a figure", text.len ? ", " : "", undefined);
    if (all)
        buf_printf(&text, ", in %zu comparison%s", all, all == 1 ? "" : "s");
    add_values(r, &text);
    if (text.len)
        page_lead(r->page, "RESULT", STYLE_PLAIN, "", buf_str(&text));
}

static void put_attempt(const struct report *r)
{
    CLEANUP(buf_deinit) struct buf text = {0};
    const struct raw *raw = r->raw;
    char when[32], span[NUMBER_MAX];
    buf_printf(&text, "on %s", raw->host.name ? raw->host.name : "an unnamed host");
    if (raw->started_wall_ms >= 0)
        buf_printf(&text, ", %s", clock_iso(raw->started_wall_ms, when));
    if (raw->started_wall_ms >= 0 && raw->ended_wall_ms >= raw->started_wall_ms)
        buf_printf(&text, ", %s", number_span(span, raw->ended_wall_ms - raw->started_wall_ms));
    if (raw->n_refusals)
        buf_printf(&text, ", after %zu refusal%s", raw->n_refusals,
                   raw->n_refusals == 1 ? "" : "s");
    page_lead(r->page, "MADE", STYLE_PLAIN, "", buf_str(&text));
}

/* The grade's line begins with its word, which stands out. */
static void put_grade(const struct report *r)
{
    const struct grade_result *g = &r->s->grade;
    const char *word = grade_name(g->value), *line = g->line ? g->line : word;
    bool begins = strncmp(line, word, strlen(word)) == 0;
    page_lead(r->page, "GRADE", style_of_grade(g->value), begins ? word : "",
              begins ? line + strlen(word) : line);
}

static void put_cause(const struct report *r)
{
    CLEANUP(mem_freep)
    char *text =
        mem_printf("%s (%s)", r->raw->void_text ? r->raw->void_text : "No cause was stored.",
                   r->raw->void_code);
    page_lead(r->page, "VOID", STYLE_PLAIN, "", text);
}

void section_head(const struct report *r)
{
    put_title(r);
    put_grade(r);
    if (r->raw->void_code)
        put_cause(r);
    else
        put_result(r);
    put_attempt(r);
}

/* ---- void */

static bool is_invalid(const struct raw_observation *o)
{
    return !text_equal(o->outcome, "ok");
}

static void put_invalid(const struct report *r, const struct raw_observation *o)
{
    page_item(r->page, "%s %s, %s, %s %d: %s", o->workload, o->lane, o->side,
              o->kind == OBS_WARMUP ? "warmup" : "repetition", o->repetition, o->outcome);
    if (o->exit_signal)
        page_item(r->page, "it was ended by signal %d", o->exit_signal);
    else if (o->exit_status > 0)
        page_item(r->page, "it exited with status %d", o->exit_status);
    if (o->ready)
        page_item(r->page, "READY as received: %s", o->ready);
    if (o->done)
        page_item(r->page, "DONE as received: %s", o->done);
}

void section_void(const struct report *r)
{
    page_section(r->page, "What happened",
                 "nothing was measured that may be used; there are no figures");
    for (size_t i = 0; i < r->raw->n_observations; i++)
        if (is_invalid(&r->raw->observations[i]))
            put_invalid(r, &r->raw->observations[i]);
    if (r->raw->cleanup && !text_equal(r->raw->cleanup, "verified"))
        page_item(r->page, "cleanup: %s", r->raw->cleanup);
    page_item(r->page, "%zu of %zu planned observations were taken; they stay in raw.json",
              r->raw->n_observations, r->raw->plan.n);
}

/* ---- run */

void section_commands(const struct report *r)
{
    struct table t = {0};
    page_section(r->page, "Commands",
                 "each whole process, from just before it is created to its exit");
    table_column(&t, "name", ALIGN_LEFT, 0);
    table_column(&t, "command", ALIGN_WRAP, 1);
    for (size_t i = 0; i < r->raw->n_workloads; i++)
        for (size_t j = 0; j < r->raw->workloads[i].n_lanes; j++) {
            const struct raw_lane *l = &r->raw->workloads[i].lanes[j];
            CLEANUP(buf_deinit) struct buf command = {0};
            put_args(&command, &l->command);
            table_put(&t, l->name);
            table_put(&t, l->command.n ? buf_str(&command) : NULL);
        }
    page_table(r->page, &t);
    page_say(r->page, "A run of two commands pins no sources and builds nothing, so it is always "
                      "diagnostic.");
}
