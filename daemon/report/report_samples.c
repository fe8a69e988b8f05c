/* Samples that lanes printed, and how lanes of several tasks scale. The same for a report and for a
 * page, which has headings of its own. */
#include <inttypes.h>
#include <math.h>

#include "base/mem.h"
#include "report/number.h"
#include "report/page_parts.h"

/* ---- samples */

static char *sample_text(char *out, enum sample_unit unit, double v)
{
    return unit == SAMPLE_NS ? number_ms(out, v) : number_value(out, v);
}

static char *whole_text(char *out, enum sample_unit unit, int64_t v)
{
    return sample_text(out, unit, v < 0 ? (double)NAN : (double)v);
}

static void add_series(const struct row *row, const struct sample_figures *f, struct table *t)
{
    char n[NUMBER_MAX];
    enum tri within = sampled_within(f);
    table_put(t, row->workload);
    table_put(t, row->lane);
    table_put(t, row->side);
    table_put(t, f->name);
    table_put(t, f->unit == SAMPLE_NS ? "ms" : sample_unit_name(f->unit));
    table_put(t, number_count(n, (int64_t)f->n));
    table_put(t, sample_text(n, f->unit, f->median));
    table_put(t, whole_text(n, f->unit, f->p99));
    table_put(t, whole_text(n, f->unit, f->max));
    table_put(t, f->p99_max < 0 ? "none" : whole_text(n, f->unit, f->p99_max));
    table_cell(t, style_of_tri(within), "%s",
               within == TRI_NOT_APPLICABLE ? "-" : tri_name(within));
}

static void fill_samples(const struct report *r, struct table *t)
{
    static const char *const keys[] = {"workload", "lane", "side", "sample"};
    static const char *const figures[] = {"n", "median", "p99", "max", "bound"};
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        table_column(t, keys[i], ALIGN_LEFT, 0);
    table_column(t, "unit", ALIGN_LEFT, 1);
    for (size_t i = 0; i < ARRAY_LEN(figures); i++)
        table_column(t, figures[i], ALIGN_RIGHT, 1);
    table_column(t, "within", ALIGN_LEFT, 1);
    for (size_t i = 0; i < r->s->n_rows; i++) {
        const struct row *row = &r->s->rows[i];
        for (size_t k = 0; k < row->n_samples && !row->undefined; k++)
            add_series(row, &row->samples[k], t);
    }
}

/* ---- scaling */

static enum text_style style_of_scaling(enum scaling_status s)
{
    return s == SCALING_MET ? STYLE_GOOD : s == SCALING_MISSED ? STYLE_BAD : STYLE_WARN;
}

static void add_scaling(const struct scaling_row *row, struct table *t)
{
    char n[NUMBER_MAX], high[NUMBER_MAX];
    table_put(t, row->workload);
    table_cell(t, STYLE_PLAIN, "%s / %s", row->lane, row->one);
    table_put(t, row->side);
    table_put(t, number_count(n, row->tasks));
    table_put(t, number_count(n, row->cpus));
    table_put(t, number_ratio(n, row->ratio));
    if (row->interval.defined)
        table_cell(t, STYLE_PLAIN, "%s to %s", number_ratio(n, row->interval.low),
                   number_ratio(high, row->interval.high));
    else
        table_put(t, "none");
    table_put(t, number_ratio(n, row->max_ratio));
    table_cell(t, style_of_scaling(row->status), "%s", scaling_status_name(row->status));
}

static void fill_scaling(const struct report *r, struct table *t)
{
    static const char *const keys[] = {"workload", "lanes", "side"};
    static const char *const figures[] = {"tasks", "CPUs", "ratio", "interval", "at most"};
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        table_column(t, keys[i], ALIGN_LEFT, 0);
    for (size_t i = 0; i < ARRAY_LEN(figures); i++)
        table_column(t, figures[i], ALIGN_RIGHT, 1);
    table_column(t, "status", ALIGN_LEFT, 1);
    for (size_t i = 0; i < r->s->n_scaling; i++)
        add_scaling(&r->s->scaling[i], t);
}

static void put_reasons(const struct report *r)
{
    for (size_t i = 0; i < r->s->n_scaling; i++) {
        const struct scaling_row *row = &r->s->scaling[i];
        if (row->why)
            page_item(r->page, "%s %s, %s: not valid, %s", row->workload, row->lane, row->side,
                      row->why);
    }
}

/* ---- sections */

#define SAMPLES_NOTE "what lanes print after their work; all samples of the repetitions that count"
#define SCALING_NOTE                                                                               \
    "the same work as several tasks and as one; ratio: the median of several / one over the "      \
    "repetitions"

void section_samples(const struct report *r)
{
    struct table samples = {0}, scaling = {0};
    fill_samples(r, &samples);
    if (table_rows(&samples))
        page_section(r->page, "Samples", SAMPLES_NOTE);
    page_table(r->page, &samples);
    fill_scaling(r, &scaling);
    if (table_rows(&scaling))
        page_section(r->page, "Scaling", SCALING_NOTE);
    page_table(r->page, &scaling);
    put_reasons(r);
}

void part_samples(const struct member *m)
{
    struct table samples = {0}, scaling = {0};
    CLEANUP(mem_freep) char *note = mem_printf("%s; %s", grade_caption(m), SAMPLES_NOTE);
    CLEANUP(mem_freep) char *scales = mem_printf("%s; %s", grade_caption(m), SCALING_NOTE);
    fill_samples(&m->r, &samples);
    if (table_rows(&samples))
        page_subsection(m->r.page, "Samples", note);
    page_table(m->r.page, &samples);
    fill_scaling(&m->r, &scaling);
    if (table_rows(&scaling))
        page_subsection(m->r.page, "Scaling", scales);
    page_table(m->r.page, &scaling);
    put_reasons(&m->r);
}
