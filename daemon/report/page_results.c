/* The results of one report: a table for each family, which are the workloads that are timed in the
 * same way and have the same lanes, side by side. */
#include <math.h>

#include "base/mem.h"
#include "core/summary/observations.h"
#include "report/number.h"
#include "report/page_parts.h"

/* One family side by side. */
struct family {
    const struct member *m;
    const struct raw_workload *first;
    const char *side;
    size_t subjects; /* lanes of its own; where there is one, it stands in the titles */
};

/* ---- which workloads belong together */

static bool same_lane(const struct raw_lane *a, const struct raw_lane *b)
{
    return text_equal(a->name, b->name) && a->control == b->control &&
           text_equal(a->startup, b->startup);
}

static bool same_family(const struct raw_workload *a, const struct raw_workload *b)
{
    if (a->measure != b->measure || a->n_lanes != b->n_lanes)
        return false;
    for (size_t i = 0; i < a->n_lanes; i++)
        if (!same_lane(&a->lanes[i], &b->lanes[i]))
            return false;
    return true;
}

static bool is_first_of_its_family(const struct raw *raw, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (same_family(&raw->workloads[i], &raw->workloads[index]))
            return false;
    return true;
}

static bool is_reference(const struct raw_workload *w, const struct raw_lane *lane)
{
    return lane->control && !lane_is_startup(w, lane);
}

static const struct raw_lane *only_subject(const struct family *f)
{
    for (size_t i = 0; f->subjects == 1 && i < f->first->n_lanes; i++)
        if (lane_is_subject(f->first, &f->first->lanes[i]))
            return &f->first->lanes[i];
    return NULL;
}

/* ---- the table */

static void add_columns(const struct family *f, struct table *t)
{
    const struct raw_lane *only = only_subject(f);
    const char *subject = only ? only->name : "lane";
    const char *unit = times_unit_of(f->first);
    table_column(t, "workload", ALIGN_LEFT, 0);
    if (f->m->r.raw->n_sides > 1)
        table_column(t, "side", ALIGN_LEFT, 0);
    if (!only && f->subjects)
        table_column(t, "lane", ALIGN_LEFT, 0);
    if (f->subjects) {
        CLEANUP(mem_freep) char *title = mem_printf("%s%s", subject, unit);
        table_column(t, title, ALIGN_RIGHT, 1);
    }
    for (size_t i = 0; i < f->first->n_lanes; i++) {
        CLEANUP(mem_freep) char *title = mem_printf("%s%s", f->first->lanes[i].name, unit);
        if (is_reference(f->first, &f->first->lanes[i]))
            table_column(t, title, ALIGN_RIGHT, 1);
    }
    for (size_t i = 0; f->subjects && i < f->first->n_lanes; i++) {
        CLEANUP(mem_freep)
        char *title = mem_printf("%s / %s", subject, f->first->lanes[i].name);
        if (is_reference(f->first, &f->first->lanes[i]))
            table_column(t, title, ALIGN_RIGHT, 1);
    }
}

static void add_median(const struct family *f, const struct raw_workload *w, const char *side,
                       const char *lane, struct table *t)
{
    const struct row *row = lookup_row(&f->m->r, w->name, lane, side);
    char n[NUMBER_MAX];
    double ns = row ? row->wall.median_ns : (double)NAN;
    bool alone = *times_unit_of(w) != '\0';
    table_cell(t, STYLE_PLAIN, "%s%s%s",
               alone ? number_ms(n, ns) : times_text(n, &f->m->r, w->name, ns),
               row && row->per_operation.coarse ? " (coarse)" : "",
               row_is_diagnostic(f->m, row) ? " (diagnostic)" : "");
}

static double ratio_of(const struct family *f, const struct raw_workload *w, const char *side,
                       const char *lane, const char *reference)
{
    const struct row *x = lookup_row(&f->m->r, w->name, lane, side);
    const struct row *y = lookup_row(&f->m->r, w->name, reference, side);
    return x && y ? compare_ratio(x->wall.median_ns, y->wall.median_ns) : (double)NAN;
}

static void add_row(const struct family *f, const struct raw_workload *w, const char *side,
                    const char *subject, struct table *t)
{
    char n[NUMBER_MAX];
    table_put(t, w->name);
    if (f->m->r.raw->n_sides > 1)
        table_put(t, side);
    if (subject && f->subjects > 1)
        table_put(t, subject);
    if (subject)
        add_median(f, w, side, subject, t);
    for (size_t i = 0; i < w->n_lanes; i++)
        if (is_reference(w, &w->lanes[i]))
            add_median(f, w, side, w->lanes[i].name, t);
    for (size_t i = 0; subject && i < w->n_lanes; i++)
        if (is_reference(w, &w->lanes[i]))
            table_put(t, number_ratio(n, ratio_of(f, w, side, subject, w->lanes[i].name)));
}

static void add_side(const struct family *f, const struct raw_workload *w, const char *side,
                     struct table *t)
{
    if (workload_is_absent(w, side))
        return;
    for (size_t i = 0; i < w->n_lanes; i++)
        if (lane_is_subject(w, &w->lanes[i]))
            add_row(f, w, side, w->lanes[i].name, t);
    if (!f->subjects)
        add_row(f, w, side, NULL, t);
}

static size_t count_references(const struct raw_workload *w)
{
    size_t n = 0;
    for (size_t i = 0; i < w->n_lanes; i++)
        n += is_reference(w, &w->lanes[i]);
    return n;
}

static void put_heading(const struct family *f)
{
    bool ratios = f->subjects && count_references(f->first);
    CLEANUP(mem_freep) char *title = mem_printf("Results: %s", measure_title(f->first->measure));
    CLEANUP(mem_freep)
    char *note =
        mem_printf("%s; medians of wall time%s%s; lower is faster", grade_caption(f->m),
                   *times_unit_of(f->first) ? " in ms" : "", ratios ? ", ratios of medians" : "");
    page_subsection(f->m->r.page, title, note);
}

/* The judged side stands first: it is what the page is about. */
static void put_family(const struct member *m, const struct raw_workload *first)
{
    struct family f = {.m = m, .first = first};
    struct table t = {0};
    const struct raw *raw = m->r.raw;
    for (size_t i = 0; i < first->n_lanes; i++)
        f.subjects += lane_is_subject(first, &first->lanes[i]);
    add_columns(&f, &t);
    for (size_t i = 0; i < raw->n_workloads; i++)
        for (size_t s = raw->n_sides; s-- > 0 && same_family(&raw->workloads[i], first);)
            add_side(&f, &raw->workloads[i], raw->sides[s], &t);
    if (table_rows(&t))
        put_heading(&f);
    page_table(m->r.page, &t);
}

void part_results(const struct member *m)
{
    const struct raw *raw = m->r.raw;
    for (size_t i = 0; i < raw->n_workloads; i++) {
        /* Without references, sides stand against each other in the table of changes. */
        const struct raw_workload *w = &raw->workloads[i];
        bool says_more = raw->n_sides == 1 || count_references(w);
        says_more = says_more && !measure_has_values(w->measure);
        if (says_more && is_first_of_its_family(raw, i))
            put_family(m, &raw->workloads[i]);
    }
}
