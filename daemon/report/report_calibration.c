/* The calibration that was in force: the noise floor, what measuring itself takes, and which
 * figures are too small for it. */
#include <math.h>

#include "base/clock.h"
#include "base/mem.h"
#include "report/number.h"
#include "report/sections.h"

static void put_us(struct table *t, double ns)
{
    if (isnan(ns))
        table_put(t, NUMBER_UNDEFINED);
    else
        table_cell(t, STYLE_PLAIN, "%.3f", ns / 1e3);
}

static bool is_used(const struct report *r, enum measure measure)
{
    for (size_t w = 0; w < r->raw->n_workloads; w++)
        if (measure_floor(r->raw->workloads[w].measure) == measure)
            return true;
    return false;
}

static void put_noise(const struct report *r)
{
    char n[NUMBER_MAX];

    for (int m = 0; r->s->calibration && m < CALIBRATION_MEASURES; m++)
        if (is_used(r, (enum measure)m))
            page_item(r->page, "noise floor by %s, from the calibration of this boot: %s",
                      measure_name((enum measure)m),
                      number_fraction(n, r->s->calibration[m].noise_floor));
}

static void put_measures(const struct report *r)
{
    struct table t = {0};
    char n[NUMBER_MAX];
    table_column(&t, "measure", ALIGN_LEFT, 0);
    table_column(&t, "noise floor", ALIGN_RIGHT, 1);
    table_column(&t, "of CPU time", ALIGN_RIGHT, 1);
    table_column(&t, "floor us", ALIGN_RIGHT, 1);
    table_column(&t, "MAD us", ALIGN_RIGHT, 1);
    table_column(&t, "resolved from ms", ALIGN_RIGHT, 1);
    for (int m = 0; m < CALIBRATION_MEASURES; m++) {
        const struct calibration_figures *f = &r->s->calibration[m];
        if (!is_used(r, f->measure))
            continue;
        table_put(&t, measure_name(f->measure));
        table_put(&t, number_fraction(n, f->noise_floor));
        table_put(&t, number_fraction(n, f->cpu_noise_floor));
        put_us(&t, f->floor_median_ns);
        put_us(&t, f->floor_mad_ns);
        table_put(&t, number_ms(n, f->resolution_ns));
    }
    page_table(r->page, &t);
}

static void put_below(const struct report *r)
{
    for (size_t i = 0; i < r->s->n_rows; i++) {
        const struct row *row = &r->s->rows[i];
        const struct predicate_result *p = &row->grade.predicates[ROW_ABOVE_RESOLUTION];
        if (p->status == TRI_FAIL)
            page_item(r->page, "below resolution: %s %s, %s: %s", row->workload, row->lane,
                      row->side, p->fact);
    }
}

static void put_shares(const struct report *r)
{
    double least = INFINITY, most = 0;
    size_t judged = 0;
    char a[NUMBER_MAX], b[NUMBER_MAX];

    for (size_t i = 0; i < r->s->n_rows; i++) {
        const struct row *row = &r->s->rows[i];
        if (isnan(row->floor_share))
            continue;
        judged++;
        least = row->floor_share < least ? row->floor_share : least;
        most = row->floor_share > most ? row->floor_share : most;
    }
    if (judged > 0)
        page_item(r->page, "measuring itself takes %s to %s of the medians",
                  number_fraction(a, least), number_fraction(b, most));
}

void report_put_calibration(const struct report *r)
{
    put_noise(r);
    put_shares(r);
    put_below(r);
}

void section_calibration(const struct report *r)
{
    const struct calibration *c = r->raw->calibration;
    char when[32];

    if (!r->s->calibration)
        return;
    page_section(r->page, "Calibration", "one program against itself, before this attempt");
    page_say(r->page,
             "Made in this boot at %s, in the %s form. The noise floor is what equal "
             "programs may differ by here; no difference below it is called one.",
             clock_iso(c->wall_ms, when), calibration_form_name(c->form));
    put_measures(r);
    put_shares(r);
    put_below(r);
}
