/* Times as tables show them: in ms, or per operation where a workload counts operations; and which
 * of these are too coarse for the timer that they go by. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/number.h"
#include "report/sections.h"

static bool counts_operations(const struct raw_workload *w)
{
    return w && w->measure == MEASURE_OPERATION && w->operations > 0;
}

static bool has_operations(const struct report *r)
{
    for (size_t w = 0; w < r->raw->n_workloads; w++)
        if (counts_operations(&r->raw->workloads[w]))
            return true;
    return false;
}

const char *times_unit(const struct report *r)
{
    return has_operations(r) ? "" : " ms";
}

const char *times_unit_of(const struct raw_workload *w)
{
    return counts_operations(w) ? "" : " ms";
}

/* One workload has one unit, so that its lanes and sides can be read against each other. */
static double smallest_of(const struct report *r, const struct raw_workload *w)
{
    double least = NAN;
    for (size_t i = 0; i < r->s->n_rows; i++) {
        const struct row *row = &r->s->rows[i];
        if (text_equal(row->workload, w->name) && !(row->per_operation.median_ns >= least))
            least = row->per_operation.median_ns;
    }
    return least;
}

char *times_text(char *out, const struct report *r, const char *workload, double ns)
{
    const struct raw_workload *w = lookup_workload(r, workload);
    if (counts_operations(w))
        return number_per_operation(out, ns / (double)w->operations, smallest_of(r, w));
    number_ms(out, ns);
    if (isfinite(ns) && has_operations(r))
        strncat(out, " ms", NUMBER_MAX - strlen(out) - 1);
    return out;
}

/* ---- the figures of operations */

static void add_row(const struct report *r, const struct row *row, struct table *t)
{
    const struct per_operation *p = &row->per_operation;
    char n[NUMBER_MAX];
    table_put(t, row->workload);
    table_put(t, row->lane);
    table_put(t, row->side);
    table_put(t, number_count(n, p->operations));
    table_put(t, number_ms(n, row->wall.median_ns));
    table_put(t, times_text(n, r, row->workload, row->wall.median_ns));
    table_cell(t, p->coarse ? STYLE_WARN : STYLE_PLAIN, "%s",
               isnan(p->timer_step_ns) ? "unknown"
               : p->coarse             ? "coarse"
                                       : "fine");
}

size_t operations_table(const struct report *r, struct table *t)
{
    table_column(t, "workload", ALIGN_LEFT, 0);
    table_column(t, "lane", ALIGN_LEFT, 0);
    table_column(t, "side", ALIGN_LEFT, 0);
    table_column(t, "operations", ALIGN_RIGHT, 1);
    table_column(t, "GO to DONE ms", ALIGN_RIGHT, 1);
    table_column(t, "one operation", ALIGN_RIGHT, 1);
    table_column(t, "timer", ALIGN_LEFT, 1);
    for (size_t i = 0; i < r->s->n_rows; i++) {
        const struct row *row = &r->s->rows[i];
        if (row->per_operation.operations > 0 && !row->undefined)
            add_row(r, row, t);
    }
    return table_rows(t);
}

void operations_put_coarse(const struct report *r)
{
    char step[NUMBER_MAX], median[NUMBER_MAX];
    for (size_t i = 0; i < r->s->n_rows; i++) {
        const struct row *row = &r->s->rows[i];
        if (row->per_operation.coarse && !row->undefined)
            page_item(r->page,
                      "%s %s, %s: coarse; a step of the timer, %s ms, is more than 1 %% of the %s "
                      "ms from GO to DONE",
                      row->workload, row->lane, row->side,
                      number_ms(step, row->per_operation.timer_step_ns),
                      number_ms(median, row->wall.median_ns));
    }
}

void section_operations(const struct report *r)
{
    struct table t = {0};
    if (operations_table(r, &t))
        page_section(r->page, "Operations", OPERATIONS_NOTE);
    page_table(r->page, &t);
    operations_put_coarse(r);
}
