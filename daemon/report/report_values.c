/* Figures that are no times: each value of each lane, and one side against another. The same for a
 * report and for a page, which has headings of its own. */
#include <inttypes.h>
#include <math.h>

#include "base/mem.h"
#include "report/number.h"
#include "report/page_parts.h"

/* ---- each value */

char *values_text(char *out, enum measure m, double v)
{
    return m == MEASURE_MEMORY ? number_mib(out, v)
           : m == MEASURE_CPU  ? number_core(out, v)
                               : number_value(out, v);
}

static enum measure measure_of(const struct report *r, const char *workload)
{
    const struct raw_workload *w = lookup_workload(r, workload);
    return w ? w->measure : MEASURE_COUNTERS;
}

/* Samples are told of as shares, in a section of their own (report_attribution.c). */
static bool is_attribution(const struct report *r, const char *workload)
{
    return measure_of(r, workload) == MEASURE_ATTRIBUTION;
}

static void add_value(const struct report *r, const struct value_row *row,
                      const struct value_figures *v, struct table *t)
{
    char n[NUMBER_MAX];
    enum measure m = measure_of(r, row->workload);
    table_put(t, row->workload);
    table_put(t, row->lane);
    table_put(t, row->side);
    table_put(t, v->name);
    table_put(t, m == MEASURE_CPU ? "of a core" : row->unit);
    table_put(t, number_count(n, (int64_t)v->n));
    table_put(t, values_text(n, m, v->median));
    table_put(t, v->min < 0 ? number_count(n, v->min) : values_text(n, m, (double)v->min));
    table_put(t, v->max < 0 ? number_count(n, v->max) : values_text(n, m, (double)v->max));
    table_cell(t, v->exact ? STYLE_PLAIN : STYLE_WARN, "%s", v->exact ? "yes" : "no");
}

static void fill_values(const struct report *r, struct table *t)
{
    static const char *const keys[] = {"workload", "lane", "side", "value"};
    static const char *const figures[] = {"n", "median", "min", "max"};
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        table_column(t, keys[i], ALIGN_LEFT, 0);
    table_column(t, "unit", ALIGN_LEFT, 1);
    for (size_t i = 0; i < ARRAY_LEN(figures); i++)
        table_column(t, figures[i], ALIGN_RIGHT, 1);
    table_column(t, "exact", ALIGN_LEFT, 1);
    for (size_t i = 0; i < r->s->n_values; i++) {
        const struct value_row *row = &r->s->values[i];
        bool is_here = !row->undefined && !is_attribution(r, row->workload);
        for (size_t k = 0; k < row->n_values && is_here; k++)
            add_value(r, row, &row->values[k], t);
    }
}

/* What should not change and does is said by name. */
static void put_changing(const struct report *r)
{
    for (size_t i = 0; i < r->s->n_values; i++) {
        const struct value_row *row = &r->s->values[i];
        const struct predicate_result *p = &row->grade.predicates[ROW_VALUES_EXACT];
        if (p->fact && p->status == TRI_FAIL && !row->undefined)
            page_item(r->page, "%s %s, %s: %s", row->workload, row->lane, row->side, p->fact);
    }
}

/* Figures of two tools are not to be held against each other: which it was is said. */
static void put_tools(const struct report *r)
{
    for (size_t w = 0; w < r->raw->n_workloads; w++) {
        const struct raw_workload *workload = &r->raw->workloads[w];
        const char *tool = workload->tool ? workload->tool : "an unknown tool";
        if (workload->measure == MEASURE_INSTRUCTIONS)
            page_item(r->page, "%s: instructions are counted by %s", workload->name, tool);
        if (workload->measure == MEASURE_MEMORY)
            page_item(r->page, "%s: resident bytes are read from %s", workload->name, tool);
        if (workload->measure == MEASURE_CPU)
            page_item(r->page, "%s: CPU time is read from %s, over at least %" PRId64 " ms",
                      workload->name, tool, workload->window_ms);
    }
}

/* ---- comparisons */

static bool is_shown(const struct report *r, const struct value_comparison *c)
{
    if (is_attribution(r, c->workload))
        return false;
    return c->of_sides ? !lookup_is_control(r, c->workload, c->subject_lane) : r->raw->n_sides == 1;
}

size_t report_count_values(const struct report *r, enum value_verdict verdict)
{
    size_t n = 0;
    for (size_t i = 0; i < r->s->n_value_comparisons; i++) {
        const struct value_comparison *c = &r->s->value_comparisons[i];
        n += is_shown(r, c) && !c->undefined && c->verdict == verdict;
    }
    return n;
}

static bool same_ends(const struct value_comparison *a, const struct value_comparison *b)
{
    if (a->of_sides != b->of_sides)
        return false;
    if (a->of_sides)
        return lookup_same(a->subject_side, b->subject_side) &&
               lookup_same(a->reference_side, b->reference_side);
    return lookup_same(a->subject_lane, b->subject_lane) &&
           lookup_same(a->reference_lane, b->reference_lane);
}

static enum text_style style_of(const struct value_comparison *c)
{
    return c->verdict == VALUE_LESS      ? STYLE_GOOD
           : c->verdict == VALUE_MORE    ? STYLE_BAD
           : c->verdict == VALUE_INEXACT ? STYLE_WARN
                                         : STYLE_PLAIN;
}

static void add_difference(enum measure m, int64_t difference, struct table *t)
{
    char n[NUMBER_MAX];
    if (m == MEASURE_MEMORY || m == MEASURE_CPU)
        table_cell(t, STYLE_PLAIN, "%s%s", difference > 0 ? "+" : "",
                   values_text(n, m, (double)difference));
    else
        table_cell(t, STYLE_PLAIN, "%s%s",
                   difference > 0   ? "+"
                   : difference < 0 ? "-"
                                    : "",
                   number_count(n, difference < 0 ? -difference : difference));
}

static void add_comparison(const struct report *r, const struct value_comparison *c,
                           struct table *t)
{
    char n[NUMBER_MAX];
    enum measure m = measure_of(r, c->workload);
    table_put(t, c->workload);
    table_put(t, c->of_sides ? c->subject_lane : c->subject_side);
    table_put(t, c->name);
    table_put(t, values_text(n, m, c->reference));
    table_put(t, values_text(n, m, c->subject));
    if (c->verdict == VALUE_INEXACT)
        table_put(t, "not exact");
    else
        add_difference(m, c->difference, t);
    table_put(t, number_pct(n, c->change_pct));
    table_put(t, number_ratio(n, c->ratio_of_medians));
    table_cell(t, style_of(c), "%s", c->undefined ? "undefined" : value_verdict_name(c->verdict));
}

static void put_comparisons(const struct report *r, const struct value_comparison *first)
{
    static const char *const rest[] = {"difference", "change", "ratio"};
    struct table t = {0};
    table_column(&t, "workload", ALIGN_LEFT, 0);
    table_column(&t, first->of_sides ? "lane" : "side", ALIGN_LEFT, 0);
    table_column(&t, "value", ALIGN_LEFT, 0);
    table_column(&t, first->of_sides ? first->reference_side : first->reference_lane, ALIGN_RIGHT,
                 1);
    table_column(&t, first->of_sides ? first->subject_side : first->subject_lane, ALIGN_RIGHT, 1);
    for (size_t i = 0; i < ARRAY_LEN(rest); i++)
        table_column(&t, rest[i], ALIGN_RIGHT, 1);
    table_column(&t, "verdict", ALIGN_LEFT, 1);
    for (size_t i = 0; i < r->s->n_value_comparisons; i++) {
        const struct value_comparison *c = &r->s->value_comparisons[i];
        if (is_shown(r, c) && same_ends(c, first))
            add_comparison(r, c, &t);
    }
    page_table(r->page, &t);
}

static bool is_first_of_its_ends(const struct report *r, size_t index)
{
    const struct value_comparison *c = r->s->value_comparisons;
    for (size_t i = 0; i < index; i++)
        if (is_shown(r, &c[i]) && same_ends(&c[i], &c[index]))
            return false;
    return is_shown(r, &c[index]);
}

static void put_all(const struct report *r, struct table *t)
{
    page_table(r->page, t);
    put_changing(r);
    put_tools(r);
    for (size_t i = 0; i < r->s->n_value_comparisons; i++)
        if (is_first_of_its_ends(r, i))
            put_comparisons(r, &r->s->value_comparisons[i]);
}

/* ---- sections */

#define NOTE                                                                                       \
    "figures that are no times; exact: the same in every repetition; differences are exact, "      \
    "changes and ratios of medians"

void section_values(const struct report *r)
{
    struct table t = {0};
    fill_values(r, &t);
    if (table_rows(&t))
        page_section(r->page, "Values", NOTE);
    put_all(r, &t);
}

void part_values(const struct member *m)
{
    struct table t = {0};
    CLEANUP(mem_freep) char *note = mem_printf("%s; %s", grade_caption(m), NOTE);
    fill_values(&m->r, &t);
    if (table_rows(&t))
        page_subsection(m->r.page, "Values", note);
    put_all(&m->r, &t);
}
