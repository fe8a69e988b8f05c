/* Startup-adjusted estimates: each lane, and its references over the same pairs. */
#include <math.h>

#include "base/mem.h"
#include "core/stats/adjusted.h"
#include "core/summary/observations.h"
#include "report/number.h"
#include "report/page_parts.h"

struct adjusting {
    const struct member *m;
    const struct observation_index *index;
    const struct raw_workload *w;
    const char *side;
};

static struct samples samples_of(const struct adjusting *x, const char *lane)
{
    const struct series of = {x->w->name, lane, x->side};
    return observations_collect(x->m->release->a, x->index, &of, OBSERVED_WALL_NS);
}

static double median_of(const struct adjusting *x, const char *lane)
{
    const struct row *row = lookup_row(&x->m->r, x->w->name, lane, x->side);
    return row ? row->wall.median_ns : (double)NAN;
}

/* paired_with NULL: the lane by itself. */
static void add_row(const struct adjusting *x, const struct raw_lane *lane,
                    const struct raw_lane *paired_with, const struct startup_adjusted *adjusted,
                    struct table *t)
{
    char n[NUMBER_MAX];
    table_put(t, x->w->name);
    if (x->m->r.raw->n_sides > 1)
        table_put(t, x->side);
    table_put(t, lane->name);
    table_put(t, paired_with ? paired_with->name : "");
    table_put(t, number_ms(n, median_of(x, lane->name)));
    table_put(t, number_ms(n, median_of(x, lane->startup)));
    table_put(t, number_ms(n, adjusted->median_ns));
    table_cell(t, STYLE_PLAIN, "%zu/%zu", adjusted->valid, adjusted->n);
    table_put(t, number_ms(n, adjusted->median_all_ns));
}

static void add_subject(const struct adjusting *x, const struct raw_lane *lane, struct table *t)
{
    const struct row *row = lookup_row(&x->m->r, x->w->name, lane->name, x->side);
    if (!row || !row->adjusted_n)
        return;
    const struct startup_adjusted own = {row->adjusted_valid, row->adjusted_n,
                                         row->startup_adjusted_ns, row->adjusted_all_ns};
    add_row(x, lane, NULL, &own, t);
    const struct adjusted_lane subject = {samples_of(x, lane->name), samples_of(x, lane->startup)};
    for (size_t i = 0; i < x->w->n_lanes; i++) {
        const struct raw_lane *other = &x->w->lanes[i];
        if (!other->control || !other->startup)
            continue;
        const struct adjusted_lane reference = {samples_of(x, other->name),
                                                samples_of(x, other->startup)};
        struct startup_adjusted beside;
        adjusted_beside(x->m->release->a, &reference, &subject, &beside);
        add_row(x, other, lane, &beside, t);
    }
}

static void add_columns(const struct raw *raw, struct table *t)
{
    static const char *const titles[] = {"whole ms", "startup ms", "adjusted ms", "valid pairs",
                                         "all pairs ms"};
    table_column(t, "workload", ALIGN_LEFT, 0);
    if (raw->n_sides > 1)
        table_column(t, "side", ALIGN_LEFT, 0);
    table_column(t, "lane", ALIGN_LEFT, 0);
    table_column(t, "pairs of", ALIGN_LEFT, 0);
    for (size_t i = 0; i < ARRAY_LEN(titles); i++)
        table_column(t, titles[i], ALIGN_RIGHT, 1);
}

static void add_side(const struct adjusting *x, struct table *t)
{
    for (size_t i = 0; i < x->w->n_lanes; i++)
        if (lane_is_subject(x->w, &x->w->lanes[i]) && x->w->lanes[i].startup)
            add_subject(x, &x->w->lanes[i], t);
}

void part_adjusted(const struct member *m)
{
    struct table t = {0};
    struct observation_index index;
    const struct raw *raw = m->r.raw;
    observations_index(m->release->a, raw, &index);
    add_columns(raw, &t);
    for (size_t i = 0; i < raw->n_workloads; i++)
        for (size_t s = raw->n_sides; s-- > 0;) {
            const struct adjusting x = {m, &index, &raw->workloads[i], raw->sides[s]};
            add_side(&x, &t);
        }
    CLEANUP(mem_freep)
    char *note = mem_printf("%s; an estimate: no verdict and no target uses it", grade_caption(m));
    if (table_rows(&t)) {
        page_subsection(m->r.page, "Startup-adjusted", note);
        page_say(m->r.page,
                 "Whole process minus startup lane of the same repetition. Differences that are "
                 "not positive are counted under valid pairs and left out of this estimate only; "
                 "a reference is taken over the pairs of the lane that it stands below.");
    }
    page_table(m->r.page, &t);
}
