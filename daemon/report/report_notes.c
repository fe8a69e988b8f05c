#include <math.h>

#include "base/mem.h"
#include "core/summary/observations.h"
#include "report/number.h"
#include "report/sections.h"

#define NAMED 4 /* comparisons that a note names before it counts the rest */

/* ---- how many comparisons, and what that means */

static void put_count(const struct report *r)
{
    size_t n = 0, covered = 0;
    double misses = 0;
    for (size_t i = 0; i < r->s->n_comparisons; i++) {
        const struct comparison *c = &r->s->comparisons[i];
        if (!lookup_has_verdict(r, c))
            continue;
        n++;
        if (!c->undefined && c->wall.interval.coverage > 0) {
            covered++;
            misses += 1 - c->wall.interval.coverage;
        }
    }
    if (!n)
        return;
    if (!covered)
        page_item(r->page, "this page makes %zu comparison%s; none has an interval", n,
                  n == 1 ? "" : "s");
    else
        page_item(r->page,
                  "this page makes %zu comparison%s; coverage is that of each interval alone: by "
                  "chance %.2f of them are expected to miss",
                  n, n == 1 ? "" : "s", misses);
}

/* ---- notes that several comparisons share */

static const char *note_of(const struct report *r, size_t i)
{
    const struct comparison *c = &r->s->comparisons[i];
    if (!lookup_has_verdict(r, c))
        return NULL;
    return c->undefined ? c->undefined : c->wall.note;
}

static bool said_before(const struct report *r, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (note_of(r, i) && text_equal(note_of(r, i), note_of(r, index)))
            return true;
    return false;
}

static size_t count_comparisons(const struct report *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->s->n_comparisons; i++)
        n += lookup_has_verdict(r, &r->s->comparisons[i]);
    return n;
}

static void put_note(const struct report *r, size_t index)
{
    CLEANUP(buf_deinit) struct buf names = {0};
    size_t n = 0;
    for (size_t i = index; i < r->s->n_comparisons; i++) {
        if (!text_equal(note_of(r, i), note_of(r, index)))
            continue;
        CLEANUP(mem_freep) char *subject = lookup_subject(&r->s->comparisons[i]);
        if (n++ < NAMED)
            buf_printf(&names, "%s%s", names.len ? ", " : "", subject);
    }
    if (n > 1 && n == count_comparisons(r))
        page_item(r->page, "every comparison: %s", note_of(r, index));
    else if (n > NAMED)
        page_item(r->page, "%s and %zu more: %s", buf_str(&names), n - NAMED, note_of(r, index));
    else
        page_item(r->page, "%s: %s", buf_str(&names), note_of(r, index));
}

static void put_outside(const struct report *r, const struct comparison *c)
{
    char ratio[NUMBER_MAX];
    if (c->undefined || !c->wall.medians_outside || !lookup_has_verdict(r, c))
        return;
    CLEANUP(mem_freep) char *subject = lookup_subject(c);
    page_item(r->page, "%s: the ratio of the medians, %s, lies outside the interval of the ratio",
              subject, number_ratio(ratio, c->wall.ratio_of_medians));
}

/* ---- lanes and observations */

/* What the suite says of whole workloads; their rows say it too, but once is enough. */
static void put_absent(const struct report *r)
{
    for (size_t w = 0; w < r->raw->n_workloads; w++)
        for (size_t s = 0; s < r->raw->n_sides; s++)
            if (workload_is_absent(&r->raw->workloads[w], r->raw->sides[s]))
                page_item(r->page,
                          "%s: absent on %s, as the suite declares; nothing is compared with it",
                          r->raw->workloads[w].name, r->raw->sides[s]);
}

static bool is_absent(const struct report *r, const char *workload, const char *side)
{
    const struct raw_workload *w = lookup_workload(r, workload);
    return w && workload_is_absent(w, side);
}

static void put_rows(const struct report *r)
{
    for (size_t i = 0; i < summary_count_graded(r->s); i++) {
        const struct graded_row row = summary_graded(r->s, i);
        const struct row *time = i < r->s->n_rows ? &r->s->rows[i] : NULL;
        if (is_absent(r, row.workload, row.side))
            continue;
        if (row.undefined)
            page_item(r->page, "%s %s, %s: no figures, %s", row.workload, row.lane, row.side,
                      row.undefined);
        else if (time && time->adjusted_n && !time->adjusted_valid)
            page_item(r->page,
                      "%s %s, %s: the startup-adjusted time is undefined, as no difference is "
                      "positive",
                      row.workload, row.lane, row.side);
    }
}

static void put_placement(const struct report *r)
{
    size_t timed = 0, unpinned = 0, no_fifo = 0, leftovers = 0;
    for (size_t i = 0; i < r->raw->n_observations; i++) {
        const struct raw_observation *o = &r->raw->observations[i];
        leftovers += o->leftovers > 0;
        if (o->kind != OBS_TIMED || !observation_is_time(r->raw, o))
            continue;
        timed++;
        unpinned += o->cpu < 0;
        no_fifo += !o->fifo;
    }
    if (no_fifo)
        page_item(r->page,
                  "the runner waited without real-time priority in %zu of %zu timed "
                  "observations: a lane that computes on after DONE can be stamped late",
                  no_fifo, timed);
    if (unpinned)
        page_item(r->page, "%zu of %zu timed observations ran without a core of their own",
                  unpinned, timed);
    if (leftovers)
        page_item(r->page, "%zu observation%s left processes behind, which were ended", leftovers,
                  leftovers == 1 ? "" : "s");
}

void section_notes(const struct report *r)
{
    struct interval_count values = {0};
    page_section(r->page, "Notes", NULL);
    put_count(r);
    report_count_value_intervals(r, &values);
    report_put_value_intervals(r->page, &values);
    for (size_t i = 0; i < r->s->n_comparisons; i++)
        if (note_of(r, i) && !said_before(r, i))
            put_note(r, i);
    for (size_t i = 0; i < r->s->n_comparisons; i++)
        put_outside(r, &r->s->comparisons[i]);
    put_absent(r);
    put_rows(r);
    put_placement(r);
    page_item(r->page, "every figure follows from raw.json by the rules that summary.json names");
}
