#include <math.h>

#include "core/gate/gate_parts.h"
#include "core/stats/compare.h"

static double median_of(const struct gate_report *r, const char *workload, const char *lane)
{
    const char *side = r->raw->n_sides ? r->raw->sides[r->raw->n_sides - 1] : NULL;
    const struct row *row = side ? summary_row(r->s, workload, lane, side) : NULL;
    return row && !row->undefined ? row->wall.median_ns : NAN;
}

static double ratio_in(const struct gate_report *r, const struct recorded_gap *gap)
{
    if (gap->suite && !text_equal(gap->suite, r->raw->job.suite_name))
        return NAN;
    return compare_ratio(median_of(r, gap->workload, gap->lane),
                         median_of(r, gap->workload, gap->reference));
}

static void add(struct gate_result *out, const struct recorded_gap *gap,
                const struct gate_report *reports, size_t n)
{
    size_t before = out->n_gaps;
    for (size_t i = 0; i < n; i++) {
        double now = ratio_in(&reports[i], gap);
        if (!isnan(now))
            out->gaps[out->n_gaps++] =
                (struct gap_row){gap, now, reports[i].raw->host.name, reports[i].name};
    }
    if (out->n_gaps == before)
        out->gaps[out->n_gaps++] = (struct gap_row){.gap = gap, .now = NAN};
}

void gate_gaps(struct arena *a, const struct targets *targets, const struct gate_report *reports,
               size_t n_reports, struct gate_result *out)
{
    /* At most one row for each report, or one in place of all. */
    out->gaps = arena_array(a, targets->n_gaps * (n_reports + 1), sizeof *out->gaps);
    out->n_gaps = 0;
    for (size_t i = 0; i < targets->n_gaps; i++)
        add(out, &targets->gaps[i], reports, n_reports);
}
