/* What limits the figures of one report: operations and waits by design, rows without figures, and
 * why the report or some of its rows are diagnostic. */
#include <math.h>

#include "base/mem.h"
#include "report/number.h"
#include "report/page_parts.h"

/* ---- operations */

void part_operations(const struct member *m)
{
    struct table t = {0};
    CLEANUP(mem_freep) char *note = mem_printf("%s; %s", grade_caption(m), OPERATIONS_NOTE);
    if (operations_table(&m->r, &t))
        page_subsection(m->r.page, "Operations", note);
    page_table(m->r.page, &t);
    operations_put_coarse(&m->r);
}

/* ---- declared waits */

static void put_excess(const struct member *m, const struct comparison *c)
{
    char ratio[NUMBER_MAX];
    if (isnan(c->excess_ratio))
        page_item(m->r.page, "%s %s: the excess over the wait has no ratio, %s", c->workload,
                  c->subject_lane, c->excess.note ? c->excess.note : "it is not known");
    else
        page_item(m->r.page, "%s %s, %s against %s: %s in the excess over the wait, ratio %s",
                  c->workload, c->subject_lane, c->subject_side, c->reference_side,
                  verdict_name(c->excess.verdict), number_ratio(ratio, c->excess_ratio));
}

void part_waits(const struct member *m)
{
    struct table t = {0};
    char n[NUMBER_MAX];
    static const char *const titles[] = {"wait ms", "median ms", "excess ms"};
    table_column(&t, "workload", ALIGN_LEFT, 0);
    table_column(&t, "lane", ALIGN_LEFT, 0);
    table_column(&t, "side", ALIGN_LEFT, 0);
    for (size_t i = 0; i < ARRAY_LEN(titles); i++)
        table_column(&t, titles[i], ALIGN_RIGHT, 1);
    for (size_t i = 0; i < m->r.s->n_rows; i++) {
        const struct row *row = &m->r.s->rows[i];
        const struct raw_workload *w = lookup_workload(&m->r, row->workload);
        if (!w || w->declared_wait_ns <= 0 || row->undefined)
            continue;
        table_put(&t, row->workload);
        table_put(&t, row->lane);
        table_put(&t, row->side);
        table_put(&t, number_ms(n, (double)w->declared_wait_ns));
        table_put(&t, number_ms(n, row->wall.median_ns));
        table_put(&t, number_ms(n, row->excess_ns));
    }
    CLEANUP(mem_freep)
    char *note =
        mem_printf("%s; what a workload waits by design, and what is over it", grade_caption(m));
    if (table_rows(&t))
        page_subsection(m->r.page, "Declared waits", note);
    page_table(m->r.page, &t);
    for (size_t i = 0; i < m->r.s->n_comparisons; i++) {
        const struct comparison *c = &m->r.s->comparisons[i];
        if (c->kind == COMPARE_SIDES && c->has_excess && !c->undefined &&
            !lookup_is_control(&m->r, c->workload, c->subject_lane))
            put_excess(m, c);
    }
}

/* ---- limits */

static bool passed(enum tri t)
{
    return t == TRI_PASS || t == TRI_NOT_APPLICABLE;
}

static void add_limit(struct table *t, const char *what, const char *predicate,
                      const struct predicate_result *result)
{
    table_put(t, what);
    table_put(t, predicate);
    table_put(t, tri_name(result->status));
    table_put(t, result->fact ? result->fact : "no fact is stored");
}

static void add_report_limits(const struct member *m, struct table *t)
{
    for (int i = 0; i < PRED_COUNT; i++) {
        const struct predicate_result *p = &m->r.s->grade.predicates[i];
        if (!passed(p->status))
            add_limit(t, "the report", predicate_name((enum predicate)i), p);
    }
}

static bool same_result(const struct predicate_result *a, const struct predicate_result *b)
{
    return a->status == b->status && text_equal(a->fact, b->fact);
}

static const struct predicate_result *result_of(const struct member *m, size_t index, int p)
{
    return &summary_graded(m->r.s, index).grade->predicates[p];
}

/* How many rows share row index's result for a predicate; 0 when an earlier one does. */
static size_t count_alike(const struct member *m, size_t index, int predicate)
{
    size_t n = 0;
    for (size_t i = 0; i < summary_count_graded(m->r.s); i++) {
        if (!same_result(result_of(m, i, predicate), result_of(m, index, predicate)))
            continue;
        if (i < index)
            return 0;
        n++;
    }
    return n;
}

static void add_row_limit(const struct member *m, size_t index, int predicate, struct table *t)
{
    const struct graded_row row = summary_graded(m->r.s, index);
    const struct predicate_result *p = result_of(m, index, predicate);
    size_t alike = !p->fact || passed(p->status) ? 0 : count_alike(m, index, predicate);
    if (!alike)
        return;
    const char *what =
        alike == summary_count_graded(m->r.s) ? "every row"
        : alike > 1 ? arena_printf(m->release->a, "%s %s, %s, and %zu more", row.workload, row.lane,
                                   row.side, alike - 1)
                    : arena_printf(m->release->a, "%s %s, %s", row.workload, row.lane, row.side);
    add_limit(t, what, row_predicate_name((enum row_predicate)predicate), p);
}

static void put_undefined(const struct member *m)
{
    for (size_t i = 0; i < summary_count_graded(m->r.s); i++) {
        const struct graded_row row = summary_graded(m->r.s, i);
        if (row.undefined)
            page_item(m->r.page, "%s %s, %s: no figures, %s", row.workload, row.lane, row.side,
                      row.undefined);
    }
}

static bool has_limits(const struct table *t, const struct member *m)
{
    for (size_t i = 0; i < summary_count_graded(m->r.s); i++)
        if (summary_graded(m->r.s, i).undefined)
            return true;
    return table_rows(t) > 0;
}

void part_grade(const struct member *m)
{
    struct table t = {0};
    table_column(&t, "of", ALIGN_LEFT, 0);
    table_column(&t, "predicate", ALIGN_LEFT, 1);
    table_column(&t, "status", ALIGN_LEFT, 1);
    table_column(&t, "fact", ALIGN_LEFT, 1);
    add_report_limits(m, &t);
    for (int p = 0; p < ROW_COUNT; p++)
        for (size_t i = 0; i < summary_count_graded(m->r.s); i++)
            add_row_limit(m, i, p, &t);
    bool contractual = m->r.s->grade.value == GRADE_CONTRACTUAL;
    if (has_limits(&t, m))
        page_subsection(m->r.page, "Limits",
                        contractual ? "rows without these are diagnostic or have no figure"
                                    : "why the report is diagnostic: what did not pass");
    page_table(m->r.page, &t);
    put_undefined(m);
}
