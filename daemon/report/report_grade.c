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
    return a->status == b->status && lookup_same(a->fact, b->fact);
}

/* How many rows share the result that row index has for predicate p; 0 when an earlier one does. */
static size_t count_alike(const struct report *r, size_t index, int p)
{
    const struct predicate_result *mine = &r->s->rows[index].grade.predicates[p];
    size_t n = 0;
    for (size_t i = 0; i < r->s->n_rows; i++) {
        if (!same_result(&r->s->rows[i].grade.predicates[p], mine))
            continue;
        if (i < index)
            return 0;
        n++;
    }
    return n;
}

static void add_row_result(const struct report *r, struct table *t, size_t index, int p)
{
    const struct row *row = &r->s->rows[index];
    const struct predicate_result *result = &row->grade.predicates[p];
    size_t alike = passed(result->status) ? 0 : count_alike(r, index, p);
    if (!alike)
        return;
    table_put(t, row_predicate_name((enum row_predicate)p));
    table_cell(t, style_of_tri(result->status), "%s", tri_name(result->status));
    if (alike == r->s->n_rows)
        table_put(t, "all");
    else if (alike > 1)
        table_cell(t, STYLE_PLAIN, "%zu, first %s %s %s", alike, row->workload, row->lane,
                   row->side);
    else
        table_cell(t, STYLE_PLAIN, "%s %s %s", row->workload, row->lane, row->side);
    table_put(t, result->fact ? result->fact : "no fact is stored");
}

static void put_rows(const struct report *r)
{
    struct table t = {0};
    size_t contractual = 0;
    table_column(&t, "row predicate", ALIGN_LEFT, 0);
    table_column(&t, "status", ALIGN_LEFT, 1);
    table_column(&t, "rows", ALIGN_LEFT, 1);
    table_column(&t, "fact", ALIGN_WRAP, 1);
    for (int p = 0; p < ROW_COUNT; p++)
        for (size_t i = 0; i < r->s->n_rows; i++)
            add_row_result(r, &t, i, p);
    for (size_t i = 0; i < r->s->n_rows; i++)
        contractual += r->s->rows[i].grade.value == GRADE_CONTRACTUAL;
    page_table(r->page, &t);
    if (r->s->n_rows && r->s->grade.value == GRADE_CONTRACTUAL) {
        page_say(r->page,
                 "%zu of %zu rows are contractual; the others are diagnostic rows of a "
                 "contractual report.",
                 contractual, r->s->n_rows);
    }
}

void section_grade(const struct report *r)
{
    page_section(r->page, "Grade", "the predicates that did not pass, and the facts they rest on");
    put_predicates(r);
    put_rows(r);
}
