#include <math.h>

#include "base/mem.h"
#include "report/number.h"
#include "report/sections.h"

static void add_row_keys(struct table *t, const struct row *row)
{
    table_put(t, row->workload);
    table_put(t, row->lane);
    table_put(t, row->side);
}

static void add_key_columns(struct table *t)
{
    table_column(t, "workload", ALIGN_LEFT, 0);
    table_column(t, "lane", ALIGN_LEFT, 0);
    table_column(t, "side", ALIGN_LEFT, 0);
}

/* ---- startup-adjusted */

void section_startup(const struct report *r)
{
    struct table t = {0};
    char n[NUMBER_MAX];
    add_key_columns(&t);
    table_column(&t, "median ms", ALIGN_RIGHT, 1);
    table_column(&t, "adjusted ms", ALIGN_RIGHT, 1);
    table_column(&t, "valid", ALIGN_RIGHT, 1);
    table_column(&t, "of all ms", ALIGN_RIGHT, 1);
    for (size_t i = 0; i < r->s->n_rows; i++) {
        const struct row *row = &r->s->rows[i];
        if (!row->adjusted_n)
            continue;
        add_row_keys(&t, row);
        table_put(&t, number_ms(n, row->wall.median_ns));
        table_put(&t, number_ms(n, row->startup_adjusted_ns));
        table_cell(&t, row->adjusted_valid < row->adjusted_n ? STYLE_WARN : STYLE_PLAIN, "%zu/%zu",
                   row->adjusted_valid, row->adjusted_n);
        table_put(&t, number_ms(n, row->adjusted_all_ns));
    }
    if (table_rows(&t)) {
        page_section(r->page, "Startup-adjusted", "an estimate; no verdict uses it");
        page_say(
            r->page,
            "Median of lane minus startup lane of the same repetition. Differences of zero or "
            "less are left out of \"adjusted\" and counted in \"valid\"; \"of all\" keeps them.");
    }
    page_table(r->page, &t);
}

/* ---- declared waits */

static void put_excess(const struct report *r, const struct comparison *c)
{
    const struct interval *v = &c->excess.interval;
    char ratio[NUMBER_MAX], low[NUMBER_MAX], high[NUMBER_MAX], coverage[NUMBER_MAX];
    CLEANUP(mem_freep) char *subject = lookup_subject(c);
    if (isnan(c->excess_ratio))
        page_item(r->page, "%s: the excess has no ratio, %s", subject, c->excess.note);
    else if (v->defined)
        page_item(r->page, "%s: %s in the excess over the wait, ratio %s, %s to %s (%s)", subject,
                  verdict_name(c->excess.verdict), number_ratio(ratio, c->excess_ratio),
                  number_ratio(low, v->low), number_ratio(high, v->high),
                  number_fraction(coverage, v->coverage));
    else
        page_item(r->page, "%s: %s in the excess over the wait, ratio %s, without an interval",
                  subject, verdict_name(c->excess.verdict), number_ratio(ratio, c->excess_ratio));
}

static void put_excesses(const struct report *r)
{
    for (size_t i = 0; i < r->s->n_comparisons; i++) {
        const struct comparison *c = &r->s->comparisons[i];
        if (c->has_excess && !c->undefined && lookup_has_verdict(r, c))
            put_excess(r, c);
    }
}

void section_waits(const struct report *r)
{
    struct table t = {0};
    char n[NUMBER_MAX];
    add_key_columns(&t);
    table_column(&t, "wait ms", ALIGN_RIGHT, 1);
    table_column(&t, "median ms", ALIGN_RIGHT, 1);
    table_column(&t, "excess ms", ALIGN_RIGHT, 1);
    for (size_t i = 0; i < r->s->n_rows; i++) {
        const struct row *row = &r->s->rows[i];
        const struct raw_workload *w = lookup_workload(r, row->workload);
        if (!w || w->declared_wait_ns <= 0 || row->undefined)
            continue;
        add_row_keys(&t, row);
        table_put(&t, number_ms(n, (double)w->declared_wait_ns));
        table_put(&t, number_ms(n, row->wall.median_ns));
        table_put(&t, number_ms(n, row->excess_ns));
    }
    if (!table_rows(&t)) {
        table_deinit(&t);
        return;
    }
    page_section(r->page, "Declared waits",
                 "what the workload waits by design, and what is over it");
    page_table(r->page, &t);
    put_excesses(r);
}

/* ---- dispersion */

void section_dispersion(const struct report *r)
{
    struct table t = {0};
    char n[NUMBER_MAX];
    add_key_columns(&t);
    table_column(&t, "n", ALIGN_RIGHT, 1);
    table_column(&t, "median ms", ALIGN_RIGHT, 1);
    table_column(&t, "MAD ms", ALIGN_RIGHT, 1);
    table_column(&t, "p95 ms", ALIGN_RIGHT, 2);
    table_column(&t, "best ms", ALIGN_RIGHT, 2);
    for (size_t i = 0; i < r->s->n_rows; i++) {
        const struct row *row = &r->s->rows[i];
        const struct figures *f = &row->wall;
        if (row->undefined)
            continue;
        add_row_keys(&t, row);
        table_put(&t, number_count(n, (int64_t)f->n));
        table_put(&t, number_ms(n, f->median_ns));
        table_put(&t, number_ms(n, f->mad_ns));
        table_put(&t, number_ms(n, f->p95_ns < 0 ? (double)NAN : (double)f->p95_ns));
        table_put(&t, number_ms(n, f->best_ns < 0 ? (double)NAN : (double)f->best_ns));
    }
    if (table_rows(&t))
        page_section(r->page, "Dispersion", "wall time of every lane; p95 by nearest rank");
    page_table(r->page, &t);
}
