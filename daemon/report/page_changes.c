/* What changed between the sides of one report, and whether its controls say that the host did. */
#include <math.h>

#include "base/mem.h"
#include "report/number.h"
#include "report/page_parts.h"

static bool same_sides(const struct comparison *a, const struct comparison *b)
{
    return text_equal(a->subject_side, b->subject_side) &&
           text_equal(a->reference_side, b->reference_side);
}

static const char *timed_of(const struct member *m, const char *workload)
{
    const struct raw_workload *w = lookup_workload(&m->r, workload);
    return w ? measure_title(w->measure) : "unknown";
}

/* ---- before and after */

static void add_interval(const struct interval *v, struct table *t)
{
    char low[NUMBER_MAX], high[NUMBER_MAX], coverage[NUMBER_MAX];
    if (v->defined)
        table_cell(t, STYLE_PLAIN, "%s to %s (%s)", number_ratio(low, v->low),
                   number_ratio(high, v->high), number_fraction(coverage, v->coverage));
    else
        table_put(t, "none");
}

static void add_change(const struct member *m, const struct comparison *c, struct table *t)
{
    const struct row *before = lookup_row(&m->r, c->workload, c->reference_lane, c->reference_side);
    const struct row *after = lookup_row(&m->r, c->workload, c->subject_lane, c->subject_side);
    bool diagnostic = row_is_diagnostic(m, before) || row_is_diagnostic(m, after);
    double nothing = (double)NAN;
    char n[NUMBER_MAX];
    table_put(t, c->workload);
    table_put(t, c->subject_lane);
    table_put(t, timed_of(m, c->workload));
    table_put(t, times_text(n, &m->r, c->workload, before ? before->wall.median_ns : nothing));
    table_put(t, times_text(n, &m->r, c->workload, after ? after->wall.median_ns : nothing));
    table_put(t, number_pct(n, c->undefined ? nothing : c->change_pct));
    table_cell(t, STYLE_PLAIN, "%s%s", c->undefined ? "undefined" : verdict_name(c->wall.verdict),
               diagnostic ? " (diagnostic)" : "");
    table_put(t, number_ratio(n, c->undefined ? nothing : estimate_ratio(&c->wall)));
    add_interval(&c->wall.interval, t);
    table_put(t, number_fraction(n, c->undefined ? nothing : c->wall.resolvable));
}

static void add_change_columns(const struct member *m, const struct comparison *first,
                               struct table *t)
{
    const char *unit = times_unit(&m->r);
    CLEANUP(mem_freep) char *before = mem_printf("%s%s", first->reference_side, unit);
    CLEANUP(mem_freep) char *after = mem_printf("%s%s", first->subject_side, unit);
    table_column(t, "workload", ALIGN_LEFT, 0);
    table_column(t, "lane", ALIGN_LEFT, 0);
    table_column(t, "timed", ALIGN_LEFT, 1);
    table_column(t, before, ALIGN_RIGHT, 1);
    table_column(t, after, ALIGN_RIGHT, 1);
    table_column(t, "change", ALIGN_RIGHT, 1);
    table_column(t, "verdict", ALIGN_LEFT, 1);
    table_column(t, "ratio", ALIGN_RIGHT, 1);
    table_column(t, "interval (coverage)", ALIGN_LEFT, 1);
    table_column(t, "resolves", ALIGN_RIGHT, 1);
}

static void put_disagreements(const struct member *m, const struct comparison *first)
{
    for (size_t i = 0; i < m->r.s->n_comparisons; i++) {
        const struct comparison *c = &m->r.s->comparisons[i];
        if (comparison_is_change(m, c) && same_sides(c, first) && !c->undefined &&
            c->verdicts_disagree)
            page_item(m->r.page, "%s %s: wall time says %s, CPU time says %s", c->workload,
                      c->subject_lane, verdict_name(c->wall.verdict), verdict_name(c->cpu.verdict));
    }
}

static void put_change_heading(const struct member *m, const struct comparison *first)
{
    char margin[NUMBER_MAX];
    CLEANUP(mem_freep) char *before = lookup_side(&m->r, first->reference_side);
    CLEANUP(mem_freep) char *after = lookup_side(&m->r, first->subject_side);
    CLEANUP(mem_freep)
    char *title = mem_printf("Change, %s to %s", first->reference_side, first->subject_side);
    CLEANUP(mem_freep)
    char *note = mem_printf("%s; %s against %s; a positive change is slower", grade_caption(m),
                            after, before);
    page_subsection(m->r.page, title, note);
    page_say(m->r.page,
             first->wall.unpaired
                 ? "Change is of the medians. The sides ran one after the other, so the ratio is "
                   "over every two repetitions, one of each side; the verdict is that of its "
                   "interval against a margin of %s or more."
                 : "Change is of the medians. The ratio is the median over the repetitions' "
                   "pairs; the verdict is that of its interval against a margin of %s.",
             number_fraction(margin, first->wall.margin));
}

static void put_changes(const struct member *m, const struct comparison *first)
{
    struct table t = {0};
    put_change_heading(m, first);
    add_change_columns(m, first, &t);
    for (size_t i = 0; i < m->r.s->n_comparisons; i++) {
        const struct comparison *c = &m->r.s->comparisons[i];
        if (comparison_is_change(m, c) && same_sides(c, first))
            add_change(m, c, &t);
    }
    page_table(m->r.page, &t);
    put_disagreements(m, first);
}

static bool is_first_of_its_sides(const struct member *m, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (comparison_is_change(m, &m->r.s->comparisons[i]) &&
            same_sides(&m->r.s->comparisons[i], &m->r.s->comparisons[index]))
            return false;
    return true;
}

void part_changes(const struct member *m)
{
    for (size_t i = 0; i < m->r.s->n_comparisons; i++)
        if (comparison_is_change(m, &m->r.s->comparisons[i]) && is_first_of_its_sides(m, i))
            put_changes(m, &m->r.s->comparisons[i]);
}

/* ---- lanes of a report with one side */

static void add_lanes(const struct member *m, const struct comparison *c, struct table *t)
{
    const struct row *x = lookup_row(&m->r, c->workload, c->subject_lane, c->subject_side);
    const struct row *y = lookup_row(&m->r, c->workload, c->reference_lane, c->reference_side);
    bool diagnostic = row_is_diagnostic(m, x) || row_is_diagnostic(m, y);
    double nothing = (double)NAN;
    char n[NUMBER_MAX];
    table_put(t, c->workload);
    table_cell(t, STYLE_PLAIN, "%s / %s", c->subject_lane, c->reference_lane);
    table_put(t, timed_of(m, c->workload));
    table_put(t, number_ratio(n, c->undefined ? nothing : c->wall.ratio_of_medians));
    table_put(t, number_ratio(n, c->undefined ? nothing : c->wall.paired_median_ratio));
    add_interval(&c->wall.interval, t);
    table_cell(t, STYLE_PLAIN, "%s%s", c->undefined ? "undefined" : verdict_name(c->wall.verdict),
               diagnostic ? " (diagnostic)" : "");
}

void part_lanes(const struct member *m)
{
    static const char *const titles[] = {"workload",
                                         "lanes",
                                         "timed",
                                         "ratio of medians",
                                         "paired median ratio",
                                         "interval (coverage)",
                                         "verdict"};
    struct table t = {0};
    if (m->r.raw->n_sides != 1)
        return;
    for (size_t i = 0; i < ARRAY_LEN(titles); i++)
        table_column(&t, titles[i], i == 3 || i == 4 ? ALIGN_RIGHT : ALIGN_LEFT, i > 1);
    for (size_t i = 0; i < m->r.s->n_comparisons; i++)
        if (m->r.s->comparisons[i].kind == COMPARE_LANES)
            add_lanes(m, &m->r.s->comparisons[i], &t);
    CLEANUP(mem_freep)
    char *note = mem_printf("%s; below 1 the first lane is faster; the interval and the verdict "
                            "are of the paired median ratio",
                            grade_caption(m));
    if (table_rows(&t))
        page_subsection(m->r.page, "Lane against lane", note);
    page_table(m->r.page, &t);
}

/* ---- controls */

static bool same_pair(const struct control_drift *a, const struct control_drift *b)
{
    return text_equal(a->before_side, b->before_side) && text_equal(a->after_side, b->after_side);
}

static void put_pair(const struct member *m, const struct control_drift *first)
{
    struct table t = {0};
    char n[NUMBER_MAX];
    const char *unit = times_unit(&m->r);
    CLEANUP(mem_freep) char *before = mem_printf("%s%s", first->before_side, unit);
    CLEANUP(mem_freep) char *after = mem_printf("%s%s", first->after_side, unit);
    table_column(&t, "workload", ALIGN_LEFT, 0);
    table_column(&t, "control", ALIGN_LEFT, 0);
    table_column(&t, "timed", ALIGN_LEFT, 1);
    table_column(&t, before, ALIGN_RIGHT, 1);
    table_column(&t, after, ALIGN_RIGHT, 1);
    table_column(&t, "drift", ALIGN_RIGHT, 1);
    table_column(&t, "within", ALIGN_LEFT, 1);
    for (const struct control_drift *c = first; c < m->r.s->controls + m->r.s->n_controls; c++) {
        if (!same_pair(c, first))
            continue;
        table_put(&t, c->workload);
        table_put(&t, c->lane);
        table_put(&t, timed_of(m, c->workload));
        table_put(&t, times_text(n, &m->r, c->workload, c->before_ns));
        table_put(&t, times_text(n, &m->r, c->workload, c->after_ns));
        table_put(&t, number_pct(n, c->drift_pct));
        table_put(&t, tri_name(c->within));
    }
    page_table(m->r.page, &t);
}

static size_t count_within(const struct member *m, enum tri within)
{
    size_t n = 0;
    for (size_t i = 0; i < m->r.s->n_controls; i++)
        n += m->r.s->controls[i].within == within;
    return n;
}

static const char *name_of(const struct member *m, const struct page_report *report)
{
    const struct release *p = m->release;
    return p->names[report - p->in->reports];
}

static const struct page_report *repeated_from(const struct member *m)
{
    const struct page_input *in = m->release->in;
    for (size_t i = 0; m->report->repeats && i < in->n_reports; i++)
        if (text_equal(in->reports[i].raw->id, m->report->repeats))
            return &in->reports[i];
    return NULL;
}

/* Whether the pair of sides had to be measured again. */
static void put_repeated(const struct member *m)
{
    const struct page_report *again = repeated_by(m->release, m->report);
    const struct page_report *first = repeated_from(m);
    size_t drifted = count_within(m, TRI_FAIL), unknown = count_within(m, TRI_UNKNOWN);
    char limit[NUMBER_MAX];
    number_share(limit, m->r.raw->policy.drift_limit_pct);
    bool repeats = m->report->repeats != NULL;
    if (first)
        page_say(m->r.page, "This pair repeats that of %s and is the result.", name_of(m, first));
    else if (repeats)
        page_say(m->r.page,
                 "This pair repeats that of attempt %s, in which a control drifted, and is the "
                 "result.",
                 m->report->repeats);
    if (again)
        page_say(m->r.page, "The pair was repeated; the result is that of %s.", name_of(m, again));
    if (drifted)
        page_say(m->r.page, "%zu of %zu controls drifted by %s or more.%s", drifted,
                 m->r.s->n_controls, limit, again || repeats ? "" : " The pair was not repeated.");
    if (unknown)
        page_say(m->r.page, "The drift of %zu of %zu controls is not known.", unknown,
                 m->r.s->n_controls);
    if (!drifted && !unknown)
        page_say(m->r.page, "Every control drifts by less than %s.%s", limit,
                 again || repeats ? "" : " No repeated pair was needed.");
}

void part_controls(const struct member *m)
{
    const struct summary *s = m->r.s;
    if (m->r.raw->n_sides < 2)
        return;
    CLEANUP(mem_freep)
    char *note = mem_printf("%s; lanes that do not differ between the sides", grade_caption(m));
    page_subsection(m->r.page, "Controls", note);
    if (!s->n_controls) {
        page_say(m->r.page, "No lane is a control: nothing shows whether the host itself changed "
                            "between the sides.");
        return;
    }
    for (size_t i = 0; i < s->n_controls; i++)
        if (i == 0 || !same_pair(&s->controls[i - 1], &s->controls[i]))
            put_pair(m, &s->controls[i]);
    put_repeated(m);
}
