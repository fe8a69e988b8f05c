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

static void put_floor_share(struct table *t, const struct row *row)
{
    char n[NUMBER_MAX];
    bool below = row->grade.predicates[ROW_ABOVE_RESOLUTION].status == TRI_FAIL;
    table_cell(t, below ? STYLE_WARN : STYLE_PLAIN, "%s%s", number_fraction(n, row->floor_share),
               below ? " (below resolution)" : "");
}

static void add_dispersion_columns(const struct report *r, struct table *t)
{
    static const char *const titles[] = {"median", "MAD", "p95", "best"};
    table_column(t, "n", ALIGN_RIGHT, 1);
    for (size_t i = 0; i < ARRAY_LEN(titles); i++) {
        CLEANUP(mem_freep) char *title = mem_printf("%s%s", titles[i], times_unit(r));
        table_column(t, title, ALIGN_RIGHT, i < 2 ? 1 : 2);
    }
    if (r->s->calibration)
        table_column(t, "floor", ALIGN_RIGHT, 2);
}

static double known_ns(int64_t ns)
{
    return ns < 0 ? (double)NAN : (double)ns;
}

void section_dispersion(const struct report *r)
{
    struct table t = {0};
    char n[NUMBER_MAX];
    add_key_columns(&t);
    add_dispersion_columns(r, &t);
    for (size_t i = 0; i < r->s->n_rows; i++) {
        const struct row *row = &r->s->rows[i];
        const struct figures *f = &row->wall;
        if (row->undefined)
            continue;
        add_row_keys(&t, row);
        table_put(&t, number_count(n, (int64_t)f->n));
        table_put(&t, times_text(n, r, row->workload, f->median_ns));
        table_put(&t, times_text(n, r, row->workload, f->mad_ns));
        table_put(&t, times_text(n, r, row->workload, known_ns(f->p95_ns)));
        table_put(&t, times_text(n, r, row->workload, known_ns(f->best_ns)));
        if (r->s->calibration)
            put_floor_share(&t, row);
    }
    if (table_rows(&t))
        page_section(r->page, "Dispersion",
                     r->s->calibration ? "wall time of every lane; p95 by nearest rank; floor: the "
                                         "part of the median that measuring itself takes"
                                       : "wall time of every lane; p95 by nearest rank");
    page_table(r->page, &t);
}
