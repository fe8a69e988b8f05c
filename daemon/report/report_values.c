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

void report_count_value_intervals(const struct report *r, struct interval_count *count)
{
    for (size_t i = 0; i < r->s->n_value_comparisons; i++) {
        const struct value_comparison *c = &r->s->value_comparisons[i];
        if (!is_shown(r, c) || !c->has_estimate || !c->estimate.interval.defined)
            continue;
        count->n++;
        count->misses += 1 - c->estimate.interval.coverage;
    }
}

void report_put_value_intervals(struct page *page, const struct interval_count *count)
{
    if (count->n)
        page_item(page,
                  "%zu comparison%s of values rest%s on an interval; by chance %.2f of them are "
                  "expected to miss",
                  count->n, count->n == 1 ? "" : "s", count->n == 1 ? "s" : "", count->misses);
}

static bool same_ends(const struct value_comparison *a, const struct value_comparison *b)
{
    if (a->of_sides != b->of_sides)
        return false;
    if (a->of_sides)
        return text_equal(a->subject_side, b->subject_side) &&
               text_equal(a->reference_side, b->reference_side);
    return text_equal(a->subject_lane, b->subject_lane) &&
           text_equal(a->reference_lane, b->reference_lane);
}

static enum text_style style_of(const struct value_comparison *c)
{
    return c->verdict == VALUE_LESS    ? STYLE_GOOD
           : c->verdict == VALUE_MORE  ? STYLE_BAD
           : c->verdict == VALUE_EQUAL ? STYLE_PLAIN
                                       : STYLE_WARN;
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

/* As with times: a contractual report may hold rows that are not. Exact ones say so elsewhere. */
static bool is_diagnostic(const struct report *r, const struct value_comparison *c)
{
    const struct summary *s = r->s;
    const struct value_row *rows[] = {
        values_row(s->values, s->n_values, c->workload, c->subject_lane, c->subject_side),
        values_row(s->values, s->n_values, c->workload, c->reference_lane, c->reference_side)};
    bool diagnostic = false;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        diagnostic = diagnostic || (rows[i] && rows[i]->grade.value != GRADE_CONTRACTUAL);
    return c->has_estimate && s->grade.value == GRADE_CONTRACTUAL && diagnostic;
}

/* The ratio that the verdict rests on; of exact values that of any two of them. */
static void add_estimate(const struct value_comparison *c, struct table *t)
{
    const struct estimate *e = &c->estimate;
    char n[NUMBER_MAX];
    table_put(t, number_ratio(n, c->has_estimate ? estimate_ratio(e) : c->ratio_of_medians));
    if (!c->has_estimate) {
        table_put(t, c->exact ? "exact" : "none");
        for (int i = 0; i < 3; i++)
            table_put(t, "");
        return;
    }
    report_add_interval(t, &e->interval);
    table_put(t, e->interval.defined ? number_fraction(n, e->interval.coverage) : "");
    table_put(t, e->unpaired ? "none" : number_count(n, (int64_t)e->pairs));
    table_put(t, number_fraction(n, e->resolvable));
}

static void add_comparison(const struct report *r, const struct value_comparison *c, bool estimates,
                           struct table *t)
{
    char n[NUMBER_MAX];
    enum measure m = measure_of(r, c->workload);
    table_put(t, c->workload);
    table_put(t, c->of_sides ? c->subject_lane : c->subject_side);
    table_put(t, c->name);
    table_put(t, values_text(n, m, c->reference));
    table_put(t, values_text(n, m, c->subject));
    if (c->exact)
        add_difference(m, c->difference, t);
    else
        table_put(t, "not exact");
    table_put(t, number_pct(n, c->change_pct));
    if (!estimates)
        table_put(t, number_ratio(n, c->ratio_of_medians));
    table_cell(t, style_of(c), "%s%s", c->undefined ? "undefined" : value_verdict_name(c->verdict),
               is_diagnostic(r, c) ? " (diagnostic)" : "");
    if (estimates)
        add_estimate(c, t);
}

static const char *subject_name(const struct value_comparison *c)
{
    return c->of_sides ? c->subject_side : c->subject_lane;
}

static const char *reference_name(const struct value_comparison *c)
{
    return c->of_sides ? c->reference_side : c->reference_lane;
}

static void add_columns(const struct value_comparison *first, bool estimates, struct table *t)
{
    table_column(t, "workload", ALIGN_LEFT, 0);
    table_column(t, first->of_sides ? "lane" : "side", ALIGN_LEFT, 0);
    table_column(t, "value", ALIGN_LEFT, 0);
    table_column(t, reference_name(first), ALIGN_RIGHT, 1);
    table_column(t, subject_name(first), ALIGN_RIGHT, 1);
    table_column(t, "difference", ALIGN_RIGHT, 1);
    table_column(t, "change", ALIGN_RIGHT, 1);
    if (!estimates)
        table_column(t, "ratio", ALIGN_RIGHT, 1);
    table_column(t, "verdict", ALIGN_LEFT, 1);
    if (!estimates)
        return;
    table_column(t, "ratio", ALIGN_RIGHT, 2);
    table_column(t, "interval", ALIGN_LEFT, 2);
    table_column(t, "coverage", ALIGN_RIGHT, 2);
    table_column(t, "pairs", ALIGN_RIGHT, 2);
    table_column(t, "resolves", ALIGN_RIGHT, 2);
}

/* The first comparison of the table of first that has an estimate; NULL: all of them are exact. */
static const struct value_comparison *estimate_in(const struct report *r,
                                                  const struct value_comparison *first)
{
    for (size_t i = 0; i < r->s->n_value_comparisons; i++) {
        const struct value_comparison *c = &r->s->value_comparisons[i];
        if (is_shown(r, c) && same_ends(c, first) && c->has_estimate)
            return c;
    }
    return NULL;
}

static void put_rule(const struct report *r, const struct value_comparison *c)
{
    CLEANUP(mem_freep) char *margin = report_margin(r, c->estimate.margin);
    page_say(r->page,
             "Where a side is not exact, ratio is the median of %s / %s over %s, and its interval "
             "decides: MORE and LESS lie beyond the margin of %s, UNRESOLVED does not. No noise "
             "floor is known of values, so that none of these is called equal.",
             subject_name(c), reference_name(c),
             c->estimate.unpaired
                 ? "every two repetitions, one of each side, as the sides ran one after the other"
                 : "the repetitions",
             margin);
}

static void put_comparisons(const struct report *r, const struct value_comparison *first)
{
    const struct value_comparison *estimate = estimate_in(r, first);
    struct table t = {0};
    if (estimate)
        put_rule(r, estimate);
    add_columns(first, estimate, &t);
    for (size_t i = 0; i < r->s->n_value_comparisons; i++) {
        const struct value_comparison *c = &r->s->value_comparisons[i];
        if (is_shown(r, c) && same_ends(c, first))
            add_comparison(r, c, estimate, &t);
    }
    page_table(r->page, &t);
}

/* Why comparisons have no verdict although both sides have values, each reason once. */
static const char *why_inexact(const struct report *r, size_t index)
{
    const struct value_comparison *c = &r->s->value_comparisons[index];
    bool is_one = is_shown(r, c) && c->has_estimate && c->verdict == VALUE_INEXACT;
    return is_one ? c->estimate.note : NULL;
}

static void put_inexact(const struct report *r, size_t index)
{
    const char *why = why_inexact(r, index);
    size_t n = 0;
    for (size_t i = 0; i < index; i++)
        if (text_equal(why_inexact(r, i), why))
            return;
    for (size_t i = index; i < r->s->n_value_comparisons; i++)
        n += text_equal(why_inexact(r, i), why);
    page_item(r->page, "%zu comparison%s %s no interval: %s", n, n == 1 ? "" : "s",
              n == 1 ? "has" : "have", why);
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
    for (size_t i = 0; i < r->s->n_value_comparisons; i++)
        if (why_inexact(r, i))
            put_inexact(r, i);
}

/* ---- sections */

#define NOTE                                                                                       \
    "figures that are no times; exact: the same in every repetition; differences are exact, "      \
    "changes and ratios of medians"
#define NOTE_ESTIMATES                                                                             \
    "figures that are no times; exact: the same in every repetition; differences are exact, "      \
    "changes of medians"

static const char *note_of(const struct report *r)
{
    for (size_t i = 0; i < r->s->n_value_comparisons; i++) {
        const struct value_comparison *c = &r->s->value_comparisons[i];
        if (is_shown(r, c) && c->has_estimate)
            return NOTE_ESTIMATES;
    }
    return NOTE;
}

void section_values(const struct report *r)
{
    struct table t = {0};
    fill_values(r, &t);
    if (table_rows(&t))
        page_section(r->page, "Values", note_of(r));
    put_all(r, &t);
}

void part_values(const struct member *m)
{
    struct table t = {0};
    CLEANUP(mem_freep) char *note = mem_printf("%s; %s", grade_caption(m), note_of(&m->r));
    fill_values(&m->r, &t);
    if (table_rows(&t))
        page_subsection(m->r.page, "Values", note);
    put_all(&m->r, &t);
}
