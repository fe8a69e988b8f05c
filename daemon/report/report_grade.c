#include "base/mem.h"
#include "report/sections.h"

static bool passed(enum tri t)
{
    return t == TRI_PASS || t == TRI_NOT_APPLICABLE;
}

static void put_predicates(const struct report *r)
{
    struct table t = {0};
    size_t good = 0, proved_absent = 0;
    table_column(&t, "predicate", ALIGN_LEFT, 0);
    table_column(&t, "status", ALIGN_LEFT, 1);
    table_column(&t, "fact", ALIGN_WRAP, 1);
    for (int i = 0; i < PRED_COUNT; i++) {
        const struct predicate_result *p = &r->s->grade.predicates[i];
        good += p->status == TRI_PASS;
        proved_absent += p->status == TRI_NOT_APPLICABLE;
        if (passed(p->status))
            continue;
        table_put(&t, predicate_name((enum predicate)i));
        table_cell(&t, style_of_tri(p->status), "%s", tri_name(p->status));
        table_put(&t, p->fact ? p->fact : "no fact is stored");
    }
    page_table(r->page, &t);
    if (proved_absent)
        page_say(r->page, "%zu of %d predicates passed; %zu %s not apply here.", good, PRED_COUNT,
                 proved_absent, proved_absent == 1 ? "does" : "do");
    else
        page_say(r->page, "%zu of %d predicates passed.", good, PRED_COUNT);
}

/* ---- rows */

static bool same_result(const struct predicate_result *a, const struct predicate_result *b)
{
    return a->status == b->status && text_equal(a->fact, b->fact);
}

static const struct predicate_result *result_of(const struct report *r, size_t index, int p)
{
    return &summary_graded(r->s, index).grade->predicates[p];
}

/* How many rows share the result that row index has for predicate p; 0 when an earlier one does. */
static size_t count_alike(const struct report *r, size_t index, int p)
{
    const struct predicate_result *mine = result_of(r, index, p);
    size_t n = 0;
    for (size_t i = 0; i < summary_count_graded(r->s); i++) {
        if (!same_result(result_of(r, i, p), mine))
            continue;
        if (i < index)
            return 0;
        n++;
    }
    return n;
}

static void add_row_result(const struct report *r, struct table *t, size_t index, int p)
{
    const struct graded_row row = summary_graded(r->s, index);
    const struct predicate_result *result = result_of(r, index, p);
    bool is_told = result->fact && !passed(result->status);
    size_t alike = is_told ? count_alike(r, index, p) : 0;
    if (!alike)
        return;
    table_put(t, row_predicate_name((enum row_predicate)p));
    table_cell(t, style_of_tri(result->status), "%s", tri_name(result->status));
    if (alike == summary_count_graded(r->s))
        table_put(t, "all");
    else if (alike > 1)
        table_cell(t, STYLE_PLAIN, "%zu, first %s %s %s", alike, row.workload, row.lane, row.side);
    else
        table_cell(t, STYLE_PLAIN, "%s %s %s", row.workload, row.lane, row.side);
    table_put(t, result->fact);
}

static void put_rows(const struct report *r)
{
    struct table t = {0};
    size_t contractual = 0, n = summary_count_graded(r->s);
    table_column(&t, "row predicate", ALIGN_LEFT, 0);
    table_column(&t, "status", ALIGN_LEFT, 1);
    table_column(&t, "rows", ALIGN_LEFT, 1);
    table_column(&t, "fact", ALIGN_WRAP, 1);
    for (int p = 0; p < ROW_COUNT; p++)
        for (size_t i = 0; i < n; i++)
            add_row_result(r, &t, i, p);
    for (size_t i = 0; i < n; i++)
        contractual += summary_graded(r->s, i).grade->value == GRADE_CONTRACTUAL;
    page_table(r->page, &t);
    if (n && r->s->grade.value == GRADE_CONTRACTUAL) {
        page_say(r->page,
                 "%zu of %zu rows are contractual; the others are diagnostic rows of a "
                 "contractual report.",
                 contractual, n);
    }
}

void section_grade(const struct report *r)
{
    page_section(r->page, "Grade", "the predicates that did not pass, and the facts they rest on");
    put_predicates(r);
    put_rows(r);
}
