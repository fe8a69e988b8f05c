/* Whether the pair of sides had to be measured again, and what the one before said. */
#include <math.h>

#include "core/stats/compare.h"
#include "report/number.h"
#include "report/sections.h"

static const struct row *find_row(const struct report *r, const struct raw_pair_row *like,
                                  const char *side)
{
    return lookup_row(r, like->workload, like->lane, side);
}

static void add_row(const struct report *r, const struct raw_pair_row *row, struct table *t)
{
    const struct row *before = find_row(r, row, row->before_side);
    const struct row *after = find_row(r, row, row->after_side);
    char n[NUMBER_MAX];

    table_put(t, row->workload);
    table_cell(t, STYLE_PLAIN, "%s%s", row->lane, row->control ? " (control)" : "");
    table_put(t, number_pct(n, compare_change_pct(row->before_ns, row->after_ns)));
    table_put(t, number_pct(n, before && after ? compare_change_pct(before->wall.median_ns,
                                                                    after->wall.median_ns)
                                               : (double)NAN));
}

static void put_both(const struct report *r, const struct raw_pair *pair)
{
    struct table t = {0};

    page_say(r->page,
             "This pair repeats that of attempt %s, in which a control drifted by %.4g %% or more, "
             "and is the result. Changes in both:",
             pair->attempt, r->raw->policy.drift_limit_pct);
    table_column(&t, "workload", ALIGN_LEFT, 0);
    table_column(&t, "lane", ALIGN_LEFT, 0);
    table_column(&t, "first pair", ALIGN_RIGHT, 0);
    table_column(&t, "this pair", ALIGN_RIGHT, 0);
    for (size_t i = 0; i < pair->n_rows; i++)
        add_row(r, &pair->rows[i], &t);
    page_table(r->page, &t);
}

void report_repeats(const struct report *r)
{
    enum tri within = r->s->grade.predicates[PRED_CONTROLS_WITHIN_DRIFT].status;

    if (r->raw->repeats)
        put_both(r, r->raw->repeats);
    else if (within == TRI_PASS)
        page_say(r->page, "No repeated pair was needed.");
}
