#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "report/number.h"
#include "report/sections.h"

#define FIRST_GROUP 1
#define SECOND_GROUP 2
#define PAIRED_RULE "%s / %s over the repetitions"
#define UNPAIRED_RULE                                                                              \
    "%s / %s over every two repetitions, one of each side, as the sides ran one after the other"

static bool same_ends(const struct comparison *a, const struct comparison *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind == COMPARE_SIDES)
        return text_equal(a->subject_side, b->subject_side) &&
               text_equal(a->reference_side, b->reference_side);
    return text_equal(a->subject_lane, b->subject_lane) &&
           text_equal(a->reference_lane, b->reference_lane);
}

/* One table of comparisons: those with the same two ends as first. */
struct verdict_table {
    const struct report *r;
    const struct comparison *first;
    bool one_coverage; /* all intervals have it: it stands in the title */
    bool one_count;    /* all have as many pairs */
    bool one_margin;   /* all are judged by it */
    double coverage;
    size_t pairs;
};

static bool belongs(const struct verdict_table *v, const struct comparison *c)
{
    return lookup_has_verdict(v->r, c) && same_ends(v->first, c);
}

static void find_common(struct verdict_table *v)
{
    bool seen = false;
    v->one_coverage = v->one_count = v->one_margin = true;
    v->coverage = (double)NAN;
    v->pairs = v->first->wall.pairs;
    for (size_t i = 0; i < v->r->s->n_comparisons; i++) {
        const struct comparison *c = &v->r->s->comparisons[i];
        if (!belongs(v, c) || c->undefined)
            continue;
        v->one_count = v->one_count && (!seen || c->wall.pairs == v->pairs);
        v->pairs = seen ? v->pairs : c->wall.pairs;
        v->one_margin = v->one_margin && c->wall.margin == v->first->wall.margin;
        if (c->wall.interval.defined && isnan(v->coverage))
            v->coverage = c->wall.interval.coverage;
        v->one_coverage =
            v->one_coverage && c->wall.interval.defined && c->wall.interval.coverage == v->coverage;
        seen = true;
    }
    v->one_coverage = v->one_coverage && seen;
}

static const char *subject_name(const struct comparison *c)
{
    return c->kind == COMPARE_SIDES ? c->subject_side : c->subject_lane;
}

static const char *reference_name(const struct comparison *c)
{
    return c->kind == COMPARE_SIDES ? c->reference_side : c->reference_lane;
}

static void add_columns(const struct verdict_table *v, struct table *t)
{
    char coverage[NUMBER_MAX];
    const char *unit = times_unit(v->r);
    CLEANUP(mem_freep) char *reference = mem_printf("%s%s", reference_name(v->first), unit);
    CLEANUP(mem_freep) char *subject = mem_printf("%s%s", subject_name(v->first), unit);
    CLEANUP(mem_freep)
    char *interval = mem_printf("interval%s%s", v->one_coverage ? ", " : "",
                                v->one_coverage ? number_fraction(coverage, v->coverage) : "");
    table_column(t, "workload", ALIGN_LEFT, 0);
    table_column(t, v->first->kind == COMPARE_SIDES ? "lane" : "side", ALIGN_LEFT, 0);
    table_column(t, reference, ALIGN_RIGHT, FIRST_GROUP);
    table_column(t, subject, ALIGN_RIGHT, FIRST_GROUP);
    table_column(t, "change", ALIGN_RIGHT, FIRST_GROUP);
    table_column(t, "verdict", ALIGN_LEFT, FIRST_GROUP);
    table_column(t, "ratio", ALIGN_RIGHT, SECOND_GROUP);
    table_column(t, interval, ALIGN_LEFT, SECOND_GROUP);
    if (!v->one_coverage)
        table_column(t, "coverage", ALIGN_RIGHT, SECOND_GROUP);
    if (!v->one_count)
        table_column(t, "pairs", ALIGN_RIGHT, SECOND_GROUP);
    table_column(t, "resolves", ALIGN_RIGHT, SECOND_GROUP);
}

static double median_of(const struct report *r, const char *workload, const char *lane,
                        const char *side)
{
    const struct row *row = lookup_row(r, workload, lane, side);
    return row ? row->wall.median_ns : (double)NAN;
}

void report_add_interval(struct table *t, const struct interval *v)
{
    char low[NUMBER_MAX], high[NUMBER_MAX];
    if (v->defined)
        table_cell(t, STYLE_PLAIN, "%s to %s", number_ratio(low, v->low),
                   number_ratio(high, v->high));
    else
        table_cell(t, STYLE_DIM, "none");
}

/* A contractual report may hold rows that are not: they must not look like the others. */
static bool row_is_diagnostic(const struct report *r, const char *workload, const char *lane,
                              const char *side)
{
    const struct row *row = lookup_row(r, workload, lane, side);
    return r->s->grade.value == GRADE_CONTRACTUAL && row && row->grade.value != GRADE_CONTRACTUAL;
}

static void add_verdict(const struct report *r, const struct comparison *c, struct table *t)
{
    bool diagnostic = row_is_diagnostic(r, c->workload, c->subject_lane, c->subject_side) ||
                      row_is_diagnostic(r, c->workload, c->reference_lane, c->reference_side);
    if (c->undefined)
        table_cell(t, STYLE_WARN, "undefined");
    else
        table_cell(t, style_of_verdict(c->wall.verdict), "%s%s", verdict_name(c->wall.verdict),
                   diagnostic ? " (diagnostic)" : "");
}

static void add_row(const struct verdict_table *v, const struct comparison *c, struct table *t)
{
    const struct estimate *w = &c->wall;
    char n[NUMBER_MAX];
    table_put(t, c->workload);
    table_put(t, c->kind == COMPARE_SIDES ? c->subject_lane : c->subject_side);
    table_put(t, times_text(n, v->r, c->workload,
                            median_of(v->r, c->workload, c->reference_lane, c->reference_side)));
    table_put(t, times_text(n, v->r, c->workload,
                            median_of(v->r, c->workload, c->subject_lane, c->subject_side)));
    table_put(t, number_pct(n, c->undefined ? (double)NAN : c->change_pct));
    add_verdict(v->r, c, t);
    table_put(t, number_ratio(n, c->undefined ? (double)NAN : estimate_ratio(w)));
    report_add_interval(t, &w->interval);
    if (!v->one_coverage)
        table_put(t, w->interval.defined ? number_fraction(n, w->interval.coverage) : "");
    if (!v->one_count)
        table_put(t, number_count(n, (int64_t)w->pairs));
    table_put(t, number_fraction(n, w->resolvable));
}

char *report_margin(const struct report *r, double in_force)
{
    char margin[NUMBER_MAX], policy[NUMBER_MAX];
    double own = r->raw->policy.margin;
    number_fraction(policy, own);
    if (in_force <= own)
        return mem_strdup(policy);
    return mem_printf("%s, as far as a control may have drifted (the policy's own is %s)",
                      number_fraction(margin, in_force), policy);
}

static void put_note(const struct verdict_table *v)
{
    const struct report *r = v->r;
    const struct comparison *c = v->first;
    char pairs[32] = "pairs";
    bool sides = c->kind == COMPARE_SIDES;
    CLEANUP(mem_freep)
    char *from = sides ? lookup_side(r, c->reference_side) : mem_strdup(c->reference_lane);
    CLEANUP(mem_freep)
    char *to = sides ? lookup_side(r, c->subject_side) : mem_strdup(c->subject_lane);
    if (c->wall.unpaired)
        snprintf(pairs, sizeof pairs, "unpaired");
    else if (v->one_count)
        snprintf(pairs, sizeof pairs, "%zu pairs", v->pairs);
    CLEANUP(mem_freep) char *note = mem_printf("%s against %s, %s", to, from, pairs);
    page_section(r->page, "Verdicts", note);
    CLEANUP(mem_freep)
    char *rule = mem_printf(c->wall.unpaired ? UNPAIRED_RULE : PAIRED_RULE, subject_name(c),
                            reference_name(c));
    CLEANUP(mem_freep)
    char *margin = report_margin(r, v->one_margin ? c->wall.margin : r->raw->policy.margin);
    page_say(r->page,
             "Medians%s. ratio: the median of %s; below 1 is faster. resolves: the smallest "
             "change that this run could have seen. Margin: %s.",
             *times_unit(r) ? " in ms" : "", rule, margin);
}

static void put_verdict_table(const struct report *r, const struct comparison *first)
{
    struct verdict_table v = {.r = r, .first = first};
    struct table t = {0};
    find_common(&v);
    put_note(&v);
    add_columns(&v, &t);
    for (size_t i = 0; i < r->s->n_comparisons; i++)
        if (belongs(&v, &r->s->comparisons[i]))
            add_row(&v, &r->s->comparisons[i], &t);
    page_table(r->page, &t);
}

static bool is_first_of_its_ends(const struct report *r, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (lookup_has_verdict(r, &r->s->comparisons[i]) &&
            same_ends(&r->s->comparisons[i], &r->s->comparisons[index]))
            return false;
    return true;
}

void section_verdicts(const struct report *r)
{
    for (size_t i = 0; i < r->s->n_comparisons; i++)
        if (lookup_has_verdict(r, &r->s->comparisons[i]) && is_first_of_its_ends(r, i))
            put_verdict_table(r, &r->s->comparisons[i]);
}

/* ---- CPU time */

static void put_disagreement(const struct report *r, const struct comparison *c)
{
    CLEANUP(mem_freep) char *subject = lookup_subject(c);
    char ratio[NUMBER_MAX], low[NUMBER_MAX], high[NUMBER_MAX];
    const struct interval *v = &c->cpu.interval;
    number_ratio(ratio, estimate_ratio(&c->cpu));
    if (v->defined)
        page_item(r->page, "%s: wall time says %s, CPU time says %s (CPU ratio %s, %s to %s)",
                  subject, verdict_name(c->wall.verdict), verdict_name(c->cpu.verdict), ratio,
                  number_ratio(low, v->low), number_ratio(high, v->high));
    else
        page_item(r->page, "%s: wall time says %s, CPU time says %s (CPU ratio %s)", subject,
                  verdict_name(c->wall.verdict), verdict_name(c->cpu.verdict), ratio);
}

static bool has_cpu_verdict(const struct report *r, const struct comparison *c)
{
    return !c->undefined && lookup_has_verdict(r, c) && !isnan(estimate_ratio(&c->cpu));
}

static void add_cpu_row(const struct report *r, const struct comparison *c, struct table *t)
{
    char n[NUMBER_MAX];
    const struct row *subject = lookup_row(r, c->workload, c->subject_lane, c->subject_side),
                     *reference = lookup_row(r, c->workload, c->reference_lane, c->reference_side);
    table_put(t, c->workload);
    table_put(t, c->kind == COMPARE_SIDES ? c->subject_lane : c->subject_side);
    table_put(t, times_text(n, r, c->workload, reference ? reference->cpu.median_ns : (double)NAN));
    table_put(t, times_text(n, r, c->workload, subject ? subject->cpu.median_ns : (double)NAN));
    table_cell(t, style_of_verdict(c->cpu.verdict), "%s", verdict_name(c->cpu.verdict));
    table_put(t, number_ratio(n, estimate_ratio(&c->cpu)));
    report_add_interval(t, &c->cpu.interval);
    table_put(t, c->cpu.interval.defined ? number_fraction(n, c->cpu.interval.coverage) : "");
}

/* The comparisons with the same two ends as first, by CPU time. */
static void put_cpu_table(const struct report *r, const struct comparison *first)
{
    struct table t = {0};
    CLEANUP(mem_freep)
    char *reference = mem_printf("%s%s", reference_name(first), times_unit(r));
    CLEANUP(mem_freep) char *subject = mem_printf("%s%s", subject_name(first), times_unit(r));
    table_column(&t, "workload", ALIGN_LEFT, 0);
    table_column(&t, first->kind == COMPARE_SIDES ? "lane" : "side", ALIGN_LEFT, 0);
    table_column(&t, reference, ALIGN_RIGHT, FIRST_GROUP);
    table_column(&t, subject, ALIGN_RIGHT, FIRST_GROUP);
    table_column(&t, "verdict", ALIGN_LEFT, FIRST_GROUP);
    table_column(&t, "ratio", ALIGN_RIGHT, SECOND_GROUP);
    table_column(&t, "interval", ALIGN_LEFT, SECOND_GROUP);
    table_column(&t, "coverage", ALIGN_RIGHT, SECOND_GROUP);
    for (size_t i = 0; i < r->s->n_comparisons; i++)
        if (has_cpu_verdict(r, &r->s->comparisons[i]) && same_ends(first, &r->s->comparisons[i]))
            add_cpu_row(r, &r->s->comparisons[i], &t);
    page_table(r->page, &t);
}

/* How many verdicts there are by CPU time, and how many disagree with that of wall time. */
static size_t count_cpu_verdicts(const struct report *r, size_t *disagree)
{
    size_t judged = 0;
    *disagree = 0;
    for (size_t i = 0; i < r->s->n_comparisons; i++) {
        const struct comparison *c = &r->s->comparisons[i];
        if (!has_cpu_verdict(r, c))
            continue;
        judged++;
        *disagree += c->verdicts_disagree;
    }
    return judged;
}

static void put_disagreements(const struct report *r, size_t judged, size_t disagree)
{
    page_say(r->page,
             "CPU time sees through neighbours and waits. It disagrees with wall time in "
             "%zu of %zu comparisons:",
             disagree, judged);
    for (size_t i = 0; i < r->s->n_comparisons; i++)
        if (has_cpu_verdict(r, &r->s->comparisons[i]) && r->s->comparisons[i].verdicts_disagree)
            put_disagreement(r, &r->s->comparisons[i]);
}

void section_cpu_time(const struct report *r)
{
    size_t disagree, judged = count_cpu_verdicts(r, &disagree);
    if (!judged)
        return;
    page_section(r->page, "CPU time", NULL);
    if (disagree)
        put_disagreements(r, judged, disagree);
    else
        page_say(r->page, "CPU time gives the same verdict as wall time in %s.",
                 judged == 1 ? "the one comparison" : "every comparison");
    for (size_t i = 0; i < r->s->n_comparisons; i++)
        if (lookup_has_verdict(r, &r->s->comparisons[i]) && is_first_of_its_ends(r, i))
            put_cpu_table(r, &r->s->comparisons[i]);
}

/* ---- controls */

/* A control with a verdict of its own: the host moved, whatever the drift limit says. */
static void put_moving_controls(const struct report *r)
{
    char ratio[NUMBER_MAX];
    for (size_t i = 0; i < r->s->n_comparisons; i++) {
        const struct comparison *c = &r->s->comparisons[i];
        bool moved = c->wall.verdict == VERDICT_FASTER || c->wall.verdict == VERDICT_SLOWER;
        if (c->kind == COMPARE_SIDES && !c->undefined && moved &&
            lookup_is_control(r, c->workload, c->subject_lane))
            page_item(
                r->page,
                "%s %s did not change, yet measures %s (ratio %s): the host itself was not the same on "
                "both sides",
                c->workload, c->subject_lane, verdict_name(c->wall.verdict),
                number_ratio(ratio, estimate_ratio(&c->wall)));
    }
}

static bool same_pair(const struct control_drift *a, const struct control_drift *b)
{
    return text_equal(a->before_side, b->before_side) && text_equal(a->after_side, b->after_side);
}

/* The controls of one pair of sides, from the first of them on. */
static void put_controls(const struct report *r, const struct control_drift *first)
{
    struct table t = {0};
    char n[NUMBER_MAX];
    CLEANUP(mem_freep) char *before = mem_printf("%s%s", first->before_side, times_unit(r));
    CLEANUP(mem_freep) char *after = mem_printf("%s%s", first->after_side, times_unit(r));
    table_column(&t, "workload", ALIGN_LEFT, 0);
    table_column(&t, "control", ALIGN_LEFT, 0);
    table_column(&t, before, ALIGN_RIGHT, FIRST_GROUP);
    table_column(&t, after, ALIGN_RIGHT, FIRST_GROUP);
    table_column(&t, "drift", ALIGN_RIGHT, FIRST_GROUP);
    table_column(&t, "within", ALIGN_LEFT, FIRST_GROUP);
    for (const struct control_drift *c = first; c < r->s->controls + r->s->n_controls; c++) {
        if (!same_pair(c, first))
            continue;
        table_put(&t, c->workload);
        table_put(&t, c->lane);
        table_put(&t, times_text(n, r, c->workload, c->before_ns));
        table_put(&t, times_text(n, r, c->workload, c->after_ns));
        table_put(&t, number_pct(n, c->drift_pct));
        table_cell(&t, style_of_tri(c->within), "%s", tri_name(c->within));
    }
    page_table(r->page, &t);
}

void section_controls(const struct report *r)
{
    char n[NUMBER_MAX];
    if (!r->s->n_controls)
        return;
    CLEANUP(mem_freep)
    char *note = mem_printf("lanes that do not differ between the sides; drift must stay below %s",
                            number_share(n, r->raw->policy.drift_limit_pct));
    page_section(r->page, "Controls", note);
    /* Those of one pair stand together. */
    for (size_t i = 0; i < r->s->n_controls; i++)
        if (i == 0 || !same_pair(&r->s->controls[i - 1], &r->s->controls[i]))
            put_controls(r, &r->s->controls[i]);
    put_moving_controls(r);
    report_repeats(r);
}

/* ---- references */

static const struct comparison *find_reference(const struct report *r,
                                               const struct comparison *like, const char *side)
{
    for (size_t i = 0; i < r->s->n_comparisons; i++) {
        const struct comparison *c = &r->s->comparisons[i];
        if (c->kind == COMPARE_LANES && same_ends(c, like) &&
            text_equal(c->workload, like->workload) && text_equal(c->subject_side, side))
            return c;
    }
    return NULL;
}

static bool is_first_side(const struct report *r, const struct comparison *c)
{
    for (size_t i = 0; i < r->raw->n_sides; i++)
        if (find_reference(r, c, r->raw->sides[i]))
            return find_reference(r, c, r->raw->sides[i]) == c;
    return false;
}

static void add_reference_row(const struct report *r, const struct comparison *c, struct table *t)
{
    char n[NUMBER_MAX];
    table_put(t, c->workload);
    table_cell(t, STYLE_PLAIN, "%s / %s", c->subject_lane, c->reference_lane);
    for (size_t i = 0; i < r->raw->n_sides; i++) {
        const struct comparison *side = find_reference(r, c, r->raw->sides[i]);
        bool defined = side && !side->undefined;
        table_put(t, number_ratio(n, defined ? side->wall.ratio_of_medians : (double)NAN));
    }
}

void section_references(const struct report *r)
{
    struct table t = {0};
    if (r->raw->n_sides < 2)
        return;
    table_column(&t, "workload", ALIGN_LEFT, 0);
    table_column(&t, "lanes", ALIGN_LEFT, 0);
    for (size_t i = 0; i < r->raw->n_sides; i++)
        table_column(&t, r->raw->sides[i], ALIGN_RIGHT, FIRST_GROUP);
    for (size_t i = 0; i < r->s->n_comparisons; i++)
        if (r->s->comparisons[i].kind == COMPARE_LANES && is_first_side(r, &r->s->comparisons[i]))
            add_reference_row(r, &r->s->comparisons[i], &t);
    if (table_rows(&t))
        page_section(r->page, "Against references",
                     "ratio of medians, subject / reference, in each side");
    page_table(r->page, &t);
}
