/* What the session says as a whole: the gaps to each reference, and targets met and missed. */
#include <math.h>

#include "base/mem.h"
#include "report/number.h"
#include "report/page_parts.h"

/* ---- gaps */

#define NEAR 0.05 /* near parity: neither is more than 5 % slower than the other */

static const char *says_of(struct arena *a, const struct comparison *c)
{
    double ratio = c->wall.ratio_of_medians;
    if (ratio > 1 + NEAR)
        return arena_printf(a, "slower than %s", c->reference_lane);
    if (ratio * (1 + NEAR) < 1)
        return arena_printf(a, "favours %s", c->subject_lane);
    return "near parity";
}

static bool is_gap(const struct member *m, const struct comparison *c)
{
    return c->kind == COMPARE_LANES && !c->undefined &&
           text_equal(c->subject_side, judged_side(m->r.raw));
}

static const char *grade_of(const struct member *m, const struct comparison *c)
{
    const struct row *x = lookup_row(&m->r, c->workload, c->subject_lane, c->subject_side);
    const struct row *y = lookup_row(&m->r, c->workload, c->reference_lane, c->reference_side);
    if (row_is_diagnostic(m, x) || row_is_diagnostic(m, y))
        return "diagnostic row";
    return grade_name(m->r.s->grade.value);
}

static void add_gap(const struct member *m, const struct comparison *c, struct table *t)
{
    char n[NUMBER_MAX];
    table_put(t, c->workload);
    table_cell(t, STYLE_PLAIN, "%s / %s", c->subject_lane, c->reference_lane);
    table_put(t, number_ratio(n, c->wall.ratio_of_medians));
    table_put(t, says_of(m->release->a, c));
    table_put(t, m->r.raw->host.name);
    table_put(t, m->name);
    table_put(t, grade_of(m, c));
}

void part_gaps(const struct release *p)
{
    struct table t = {0};
    table_column(&t, "workload", ALIGN_LEFT, 0);
    table_column(&t, "lanes", ALIGN_LEFT, 0);
    table_column(&t, "ratio of medians", ALIGN_RIGHT, 1);
    table_column(&t, "reads", ALIGN_LEFT, 1);
    table_column(&t, "host", ALIGN_LEFT, 1);
    table_column(&t, "report", ALIGN_LEFT, 1);
    table_column(&t, "grade", ALIGN_LEFT, 1);
    for (size_t i = 0; i < p->in->n_reports; i++) {
        struct member m;
        member_init(&m, p, i);
        for (size_t j = 0; !repeated_by(p, m.report) && j < m.r.s->n_comparisons; j++)
            if (is_gap(&m, &m.r.s->comparisons[j]))
                add_gap(&m, &m.r.s->comparisons[j], &t);
    }
    if (table_rows(&t)) {
        page_section(p->page, "Current gaps",
                     "grade as in the last column; of the last side of each report");
        page_say(p->page, "Each workload against its references. Near parity: neither takes more "
                          "than 5%% longer than the other. A gap speaks of its workload alone.");
    }
    page_table(p->page, &t);
}

/* ---- targets */

static const char *status_text(struct arena *a, const struct gate_row *row)
{
    const char *name = gate_status_name(row->status);
    if (row->status == GATE_DIAGNOSTIC)
        return "not met: within the limit, but diagnostic";
    return row->why ? arena_printf(a, "%s: %s", name, row->why) : name;
}

static void put_interval(const struct gate_row *row, struct table *t)
{
    char coverage[NUMBER_MAX];
    if (!row->range)
        table_put(t, "none");
    else if (isnan(row->interval.coverage))
        table_cell(t, STYLE_PLAIN, "%s (all)", row->range);
    else
        table_cell(t, STYLE_PLAIN, "%s (%s)", row->range,
                   number_fraction(coverage, row->interval.coverage));
}

/* The factor by which the figure still has to fall. */
static void put_to_go(struct table *t, double to_go)
{
    if (isnan(to_go))
        table_put(t, "unknown");
    else if (to_go > 1)
        table_cell(t, STYLE_PLAIN, "%.3f x", to_go);
    else
        table_put(t, "none");
}

static void add_target(const struct release *p, const struct gate_row *row, struct table *t)
{
    table_put(t, row->what);
    table_put(t, row->limit);
    table_put(t, row->host ? row->host : "none");
    table_put(t, row->report ? row->report : "none");
    table_put(t, row->found ? row->found : "undefined");
    put_interval(row, t);
    put_to_go(t, row->to_go);
    table_cell(t, row->status == GATE_MET ? STYLE_PLAIN : STYLE_STRONG, "%s",
               status_text(p->a, row));
}

static bool host_seen_before(const struct gate_result *g, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (text_equal(g->rows[i].host, g->rows[index].host))
            return true;
    return false;
}

static void put_host_counts(const struct release *p, const char *host)
{
    const struct gate_result *g = &p->gate;
    size_t count[GATE_STATUS_COUNT] = {0};
    for (size_t i = 0; i < g->n_rows; i++)
        if (text_equal(g->rows[i].host, host))
            count[g->rows[i].status]++;
    page_item(p->page,
              "%s: %zu met, %zu missed, %zu undefined, %zu within the limit on "
              "diagnostic figures only, %zu unclear",
              host ? host : "no host", count[GATE_MET], count[GATE_MISSED], count[GATE_UNDEFINED],
              count[GATE_DIAGNOSTIC], count[GATE_UNCLEAR]);
}

/* Told, not judged. */
static void put_recorded(const struct release *p)
{
    static const char *const titles[] = {"workload", "lanes", "recorded", "recorded on",
                                         "now",      "host",  "report"};
    struct table t = {0};
    char n[NUMBER_MAX];
    for (size_t i = 0; i < ARRAY_LEN(titles); i++)
        table_column(&t, titles[i], i == 2 || i == 4 ? ALIGN_RIGHT : ALIGN_LEFT, i > 1);
    for (size_t i = 0; i < p->gate.n_gaps; i++) {
        const struct gap_row *row = &p->gate.gaps[i];
        table_put(&t, row->gap->workload);
        table_cell(&t, STYLE_PLAIN, "%s / %s", row->gap->lane, row->gap->reference);
        table_put(&t, number_ratio(n, row->gap->ratio));
        table_put(&t, row->gap->on ? row->gap->on : "not said");
        table_put(&t, isnan(row->now) ? "not measured" : number_ratio(n, row->now));
        table_put(&t, row->host ? row->host : "none");
        table_put(&t, row->report ? row->report : "none");
    }
    if (table_rows(&t))
        page_subsection(p->page, "Recorded gaps", "told, not judged");
    page_table(p->page, &t);
}

void part_targets(const struct release *p)
{
    static const char *const titles[] = {
        "target", "limit", "host", "report", "figure", "interval (coverage)", "to go", "result"};
    struct table t = {0};
    if (!p->in->targets)
        return;
    page_section(p->page, "Targets",
                 "undefined is a miss, and so is what the interval leaves open; diagnostic "
                 "figures meet a target only where it says so");
    page_say(p->page, "%s: %s.", p->in->targets->name ? p->in->targets->name : "Targets",
             p->gate.passed ? "every target is met" : "not every target is met");
    for (size_t i = 0; i < ARRAY_LEN(titles); i++)
        table_column(&t, titles[i], i == 4 || i == 6 ? ALIGN_RIGHT : ALIGN_LEFT, i > 0);
    for (size_t i = 0; i < p->gate.n_rows; i++)
        add_target(p, &p->gate.rows[i], &t);
    page_table(p->page, &t);
    for (size_t i = 0; i < p->gate.n_rows; i++)
        if (!host_seen_before(&p->gate, i))
            put_host_counts(p, p->gate.rows[i].host);
    put_recorded(p);
}
