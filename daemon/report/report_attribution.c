/* Shares of a profiler's samples: each category of each lane, one side beside the other, and below
 * them what was recovered and what was excluded. The same for a report and for a page. */
#include <inttypes.h>
#include <math.h>

#include "base/mem.h"
#include "report/number.h"
#include "report/page_parts.h"

#define NOTE                                                                                        \
    "shares of the samples that were recovered, in all repetitions together; a profiler's samples " \
    "are diagnostic always"

static const struct value_row *row_of(const struct report *r, const struct raw_workload *w,
                                      const struct raw_lane *lane, const char *side)
{
    const struct value_row *row =
        values_row(r->s->values, r->s->n_values, w->name, lane->name, side);
    return row && !row->undefined ? row : NULL;
}

/* ---- the table */

static void fill_columns(const struct report *r, struct table *t)
{
    table_column(t, "workload", ALIGN_LEFT, 0);
    table_column(t, "lane", ALIGN_LEFT, 0);
    table_column(t, "category", ALIGN_LEFT, 0);
    for (size_t k = 0; k < r->raw->n_sides; k++) {
        CLEANUP(mem_freep) char *samples = mem_printf("%s samples", r->raw->sides[k]);
        CLEANUP(mem_freep) char *share = mem_printf("%s share", r->raw->sides[k]);
        table_column(t, samples, ALIGN_RIGHT, 1);
        table_column(t, share, ALIGN_RIGHT, 1);
    }
    if (r->raw->n_sides == 2)
        table_column(t, "points", ALIGN_RIGHT, 1);
}

static void add_side(const struct value_figures *v, struct table *t)
{
    char n[NUMBER_MAX];
    table_put(t, v ? number_count(n, v->total) : "absent");
    table_put(t, v ? number_fraction(n, v->share_pct / 100) : "absent");
}

/* How many percentage points the share has changed by. */
static void add_points(const struct value_figures *before, const struct value_figures *after,
                       struct table *t)
{
    if (before && after && isfinite(before->share_pct) && isfinite(after->share_pct))
        table_cell(t, STYLE_PLAIN, "%+.2f", after->share_pct - before->share_pct);
    else
        table_put(t, NUMBER_UNDEFINED);
}

static void add_category(const struct report *r, const struct raw_workload *w,
                         const struct raw_lane *lane, const char *name, struct table *t)
{
    const struct value_figures *of[JOB_SIDES_MAX] = {0};

    table_put(t, w->name);
    table_put(t, lane->name);
    table_put(t, name);
    for (size_t k = 0; k < r->raw->n_sides && k < JOB_SIDES_MAX; k++) {
        of[k] = values_find(row_of(r, w, lane, r->raw->sides[k]), name);
        add_side(of[k], t);
    }
    if (r->raw->n_sides == 2)
        add_points(of[0], of[1], t);
}

static bool has_row(const struct report *r, const struct raw_workload *w,
                    const struct raw_lane *lane)
{
    for (size_t k = 0; k < r->raw->n_sides; k++)
        if (row_of(r, w, lane, r->raw->sides[k]))
            return true;
    return false;
}

/* A category that nothing matched stands there with 0. */
static void fill(const struct report *r, struct table *t)
{
    fill_columns(r, t);
    for (size_t i = 0; i < r->raw->n_workloads; i++) {
        const struct raw_workload *w = &r->raw->workloads[i];
        for (size_t l = 0; w->profile && l < w->n_lanes; l++)
            for (size_t c = 0;
                 has_row(r, w, &w->lanes[l]) && c <= w->profile->n_categories + ATTRIBUTION_OTHER;
                 c++)
                add_category(r, w, &w->lanes[l], attribution_name(w->profile, c), t);
    }
}

/* ---- what stands below it */

static int64_t total_of(const struct value_row *row, enum attribution_value v)
{
    const struct value_figures *f = values_find(row, attribution_value_name(v));
    return f ? f->total : -1;
}

static int64_t excluded(const struct value_row *row, struct buf *words)
{
    const char *before = "";
    int64_t sum = 0;

    for (int v = 0; v < ATTRIBUTION_VALUES; v++) {
        const char *reason = attribution_reason((enum attribution_value)v);
        int64_t n = reason ? total_of(row, (enum attribution_value)v) : 0;
        char number[NUMBER_MAX];
        if (n <= 0)
            continue;
        buf_printf(words, "%s%s %s", before, number_count(number, n), reason);
        before = ", ";
        sum += n;
    }
    return sum;
}

static void put_row(const struct report *r, const struct value_row *row)
{
    CLEANUP(buf_deinit) struct buf words = {0};
    char recovered[NUMBER_MAX], all[NUMBER_MAX];
    int64_t samples = total_of(row, ATTRIBUTION_SAMPLES), out = excluded(row, &words);

    page_item(r->page, "%s %s, %s: %s of %s samples were recovered; excluded: %s", row->workload,
              row->lane, row->side, number_count(recovered, samples - out),
              number_count(all, samples), out ? buf_str(&words) : "none");
}

static void put_workload(const struct report *r, const struct raw_workload *w)
{
    page_item(r->page, "%s: profiles of format %s%s", w->name,
              profile_format_name(w->profile->format),
              w->profile->format == PROFILE_CALLGRIND ? ", whose samples are instructions" : "");
    for (size_t i = 0; i < r->s->n_values; i++)
        if (text_equal(r->s->values[i].workload, w->name) && !r->s->values[i].undefined)
            put_row(r, &r->s->values[i]);
}

static void put(const struct report *r, struct table *t)
{
    page_table(r->page, t);
    for (size_t i = 0; i < r->raw->n_workloads; i++)
        if (r->raw->workloads[i].profile)
            put_workload(r, &r->raw->workloads[i]);
}

/* ---- sections */

void section_attribution(const struct report *r)
{
    struct table t = {0};
    fill(r, &t);
    if (table_rows(&t))
        page_section(r->page, "Attribution", NOTE);
    put(r, &t);
}

void part_attribution(const struct member *m)
{
    struct table t = {0};
    CLEANUP(mem_freep) char *note = mem_printf("%s; %s", grade_caption(m), NOTE);
    fill(&m->r, &t);
    if (table_rows(&t))
        page_subsection(m->r.page, "Attribution", note);
    put(&m->r, &t);
}
