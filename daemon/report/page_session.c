#include "report/page_session.h"

#include <string.h>

#include "base/mem.h"
#include "core/summary/observations.h"
#include "report/page_parts.h"

#define ID_TAIL 6 /* of an attempt's id, where two reports have the same name */

/* ---- what the parts share */

const char *measure_title(enum measure m)
{
    static const char *const titles[] = {[MEASURE_PROTOCOL] = "GO to DONE",
                                         [MEASURE_PROCESS] = "whole process",
                                         [MEASURE_OPERATION] = "one operation",
                                         [MEASURE_BUILD] = "one build step"};
    if (measure_has_values(m))
        return measure_name(m);
    return titles[m];
}

bool row_is_diagnostic(const struct member *m, const struct row *row)
{
    return m->r.s->grade.value == GRADE_CONTRACTUAL && row && row->grade.value != GRADE_CONTRACTUAL;
}

const char *grade_caption(const struct member *m)
{
    const struct summary *s = m->r.s;
    for (size_t i = 0; s->grade.value == GRADE_CONTRACTUAL && i < summary_count_graded(s); i++)
        if (summary_graded(s, i).grade->value != GRADE_CONTRACTUAL)
            return "contractual, but for the rows marked diagnostic";
    return grade_name(s->grade.value);
}

bool lane_is_subject(const struct raw_workload *w, const struct raw_lane *lane)
{
    return !lane->control && !lane_is_startup(w, lane);
}

bool comparison_is_change(const struct member *m, const struct comparison *c)
{
    const struct raw_workload *w = lookup_workload(&m->r, c->workload);
    const struct raw_lane *lane = lookup_lane(&m->r, c->workload, c->subject_lane);
    return c->kind == COMPARE_SIDES && w && lane && lane_is_subject(w, lane);
}

bool comparison_has_verdict(const struct member *m, const struct comparison *c)
{
    return comparison_is_change(m, c) || (c->kind == COMPARE_LANES && m->r.raw->n_sides == 1);
}

const char *judged_side(const struct raw *raw)
{
    return raw->n_sides ? raw->sides[raw->n_sides - 1] : NULL;
}

const struct page_report *repeated_by(const struct release *p, const struct page_report *report)
{
    for (size_t i = 0; i < p->in->n_reports; i++) {
        const struct page_report *other = &p->in->reports[i];
        if (other->repeats && text_equal(other->repeats, report->raw->id))
            return other;
    }
    return NULL;
}

/* ---- names */

static const char *own_name(const struct page_report *r)
{
    const char *label = r->raw->job.label;
    return r->name ? r->name : label && *label ? label : r->raw->id;
}

static bool name_is_shared(const struct page_input *in, size_t index)
{
    size_t n = 0;
    for (size_t i = 0; i < in->n_reports; i++)
        n += text_equal(own_name(&in->reports[i]), own_name(&in->reports[index]));
    return n > 1;
}

static const char *name_of(struct arena *a, const struct page_input *in, size_t index)
{
    const struct page_report *r = &in->reports[index];
    size_t len = strlen(r->raw->id);
    const char *tail = r->raw->id + (len > ID_TAIL ? len - ID_TAIL : 0);
    return name_is_shared(in, index) ? arena_printf(a, "%s (%s)", own_name(r), tail) : own_name(r);
}

void member_init(struct member *m, const struct release *release, size_t index)
{
    const struct page_report *report = &release->in->reports[index];
    *m = (struct member){.release = release,
                         .report = report,
                         .name = release->names[index],
                         .r = {.page = release->page, .raw = report->raw, .s = report->s}};
}

/* ---- one report */

static void put_void(const struct member *m)
{
    page_say(m->r.page, "Void: %s (%s). There are no figures.",
             m->r.raw->void_text ? m->r.raw->void_text : "no cause was stored",
             m->r.raw->void_code);
}

static void put_heading(const struct member *m)
{
    const struct raw *raw = m->r.raw;
    CLEANUP(mem_freep)
    char *note =
        mem_printf("%s, suite %s, %d repetition%s and %d warmup%s per lane and side, %s",
                   grade_caption(m), raw->job.suite_name ? raw->job.suite_name : "unnamed",
                   raw->job.repetitions, raw->job.repetitions == 1 ? "" : "s", raw->job.warmups,
                   raw->job.warmups == 1 ? "" : "s", order_name(raw->job.order));
    page_named_section(m->r.page, m->name, note);
}

static void put_report(const struct release *p, size_t index)
{
    struct member m;
    member_init(&m, p, index);
    put_heading(&m);
    if (m.r.raw->void_code) {
        put_void(&m);
        return;
    }
    part_results(&m);
    part_adjusted(&m);
    part_lanes(&m);
    part_changes(&m);
    part_controls(&m);
    part_operations(&m);
    part_values(&m);
    part_samples(&m);
    part_attribution(&m);
    part_waits(&m);
    report_put_calibration(&m.r);
    part_grade(&m);
}

/* ---- the page */

typedef void (*part_fn)(const struct release *p);

static const part_fn before[] = {part_title, part_reports, part_hosts, part_sources};
static const part_fn after[] = {part_gaps, part_targets, part_evidence, part_reproduce, part_notes};

static void judge_targets(struct release *p)
{
    const struct page_input *in = p->in;
    struct gate_report *reports = arena_array(p->a, in->n_reports, sizeof *reports);
    for (size_t i = 0; i < in->n_reports; i++)
        reports[i] = (struct gate_report){p->names[i], in->reports[i].raw, in->reports[i].s};
    gate_judge(p->a, in->targets, reports, in->n_reports, &p->gate);
}

void report_page(struct buf *out, const struct page_input *in)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct page page = {.out = out, .form = PAGE_MARKDOWN};
    struct release p = {.page = &page, .in = in, .a = &a};
    p.names = arena_array(&a, in->n_reports, sizeof *p.names);
    for (size_t i = 0; i < in->n_reports; i++)
        p.names[i] = name_of(&a, in, i);
    if (in->targets)
        judge_targets(&p);
    for (size_t i = 0; i < ARRAY_LEN(before); i++)
        before[i](&p);
    for (size_t i = 0; i < in->n_reports; i++)
        put_report(&p, i);
    for (size_t i = 0; i < ARRAY_LEN(after); i++)
        after[i](&p);
}
