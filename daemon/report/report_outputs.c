/* Files that the steps of measured builds wrote (tallies of profiles are no such files): how large,
 * and whether they were the same bytes in every observation. */
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "core/summary/observations.h"
#include "report/number.h"
#include "report/sections.h"

#define DIGEST_SHOWN "%.12s"

/* Of one step in one lane on one side. */
struct written {
    const struct raw_observation *first;
    bool *differs; /* by output */
};

static void note(struct arena *a, const struct raw_observation *o, struct written *w)
{
    if (!w->first) {
        w->first = o;
        w->differs = arena_array(a, o->n_outputs, sizeof *w->differs);
        return;
    }
    for (size_t i = 0; i < o->n_outputs && i < w->first->n_outputs; i++)
        w->differs[i] =
            w->differs[i] || !text_equal(o->outputs[i].sha256, w->first->outputs[i].sha256);
}

static void add_rows(const struct written *w, struct table *t)
{
    const struct raw_observation *o = w->first;

    for (size_t i = 0; o && i < o->n_outputs; i++) {
        char n[NUMBER_MAX];
        table_put(t, o->workload);
        table_put(t, o->lane);
        table_put(t, o->side);
        table_put(t, o->outputs[i].name);
        table_put(t, number_count(n, o->outputs[i].bytes));
        table_cell(t, STYLE_PLAIN, DIGEST_SHOWN, o->outputs[i].sha256);
        table_cell(t, w->differs[i] ? STYLE_WARN : STYLE_PLAIN, "%s",
                   w->differs[i] ? "other bytes" : "same bytes");
    }
}

static size_t count_series(const struct raw *raw, size_t *base)
{
    size_t n = 0;

    for (size_t w = 0; w < raw->n_workloads; w++) {
        base[w] = n;
        n += raw->workloads[w].n_lanes * raw->n_sides;
    }
    return n;
}

void section_outputs(const struct report *r)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    size_t *base = arena_array(&a, r->raw->n_workloads, sizeof *base);
    size_t n = count_series(r->raw, base);
    struct written *series = arena_array(&a, n, sizeof *series);
    static const char *const titles[] = {"workload", "lane", "side", "output"};
    struct table t = {0};

    for (size_t i = 0; i < r->raw->n_observations; i++) {
        const struct raw_observation *o = &r->raw->observations[i];
        if (o->n_outputs == 0 || observation_profile(r->raw, o) || o->seq < 0 ||
            (size_t)o->seq >= r->raw->plan.n)
            continue;
        const struct plan_step *step = &r->raw->plan.steps[o->seq];
        note(&a, o,
             &series[base[step->workload] + (size_t)step->lane * r->raw->n_sides +
                     (size_t)step->side]);
    }
    for (size_t i = 0; i < ARRAY_LEN(titles); i++)
        table_column(&t, titles[i], ALIGN_LEFT, 0);
    table_column(&t, "bytes", ALIGN_RIGHT, 1);
    table_column(&t, "sha256", ALIGN_LEFT, 1);
    table_column(&t, "each time", ALIGN_LEFT, 1);
    for (size_t i = 0; i < n; i++)
        add_rows(&series[i], &t);
    if (table_rows(&t))
        page_section(r->page, "Outputs", "as the first observation wrote them");
    page_table(r->page, &t);
}
