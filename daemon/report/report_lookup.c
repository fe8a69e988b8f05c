#include <string.h>

#include "base/mem.h"
#include "report/sections.h"

const struct row *lookup_row(const struct report *r, const char *workload, const char *lane,
                             const char *side)
{
    return summary_row(r->s, workload, lane, side);
}

const struct raw_workload *lookup_workload(const struct report *r, const char *workload)
{
    for (size_t i = 0; i < r->raw->n_workloads; i++)
        if (text_equal(r->raw->workloads[i].name, workload))
            return &r->raw->workloads[i];
    return NULL;
}

const struct raw_lane *lookup_lane(const struct report *r, const char *workload, const char *lane)
{
    const struct raw_workload *w = lookup_workload(r, workload);
    for (size_t i = 0; w && i < w->n_lanes; i++)
        if (text_equal(w->lanes[i].name, lane))
            return &w->lanes[i];
    return NULL;
}

bool lookup_is_control(const struct report *r, const char *workload, const char *lane)
{
    const struct raw_lane *l = lookup_lane(r, workload, lane);
    return l && l->control;
}

bool lookup_has_verdict(const struct report *r, const struct comparison *c)
{
    if (c->kind == COMPARE_SIDES)
        return !lookup_is_control(r, c->workload, c->subject_lane);
    return r->raw->n_sides == 1;
}

char *lookup_subject(const struct comparison *c)
{
    if (c->kind == COMPARE_SIDES)
        return mem_printf("%s %s", c->workload, c->subject_lane);
    return mem_printf("%s %s / %s", c->workload, c->subject_lane, c->reference_lane);
}

char *lookup_side(const struct report *r, const char *side)
{
    for (size_t i = 0; i < r->raw->n_sources; i++) {
        const struct raw_source *s = &r->raw->sources[i];
        if (text_equal(s->side, side) && s->commit)
            return mem_printf("%s (%s%s%.10s)", side, s->rev ? s->rev : "", s->rev ? ", " : "",
                              s->commit);
    }
    return mem_strdup(side);
}

enum text_style style_of_verdict(enum verdict v)
{
    switch (v) {
    case VERDICT_FASTER:
        return STYLE_GOOD;
    case VERDICT_SLOWER:
        return STYLE_BAD;
    case VERDICT_SAME:
        return STYLE_DIM;
    case VERDICT_UNRESOLVED:
        return STYLE_WARN;
    }
    return STYLE_PLAIN;
}

enum text_style style_of_tri(enum tri t)
{
    switch (t) {
    case TRI_FAIL:
        return STYLE_BAD;
    case TRI_UNKNOWN:
        return STYLE_WARN;
    case TRI_PASS:
        return STYLE_PLAIN;
    case TRI_NOT_APPLICABLE:
        return STYLE_DIM;
    }
    return STYLE_PLAIN;
}

enum text_style style_of_grade(enum grade g)
{
    switch (g) {
    case GRADE_CONTRACTUAL:
        return STYLE_GOOD;
    case GRADE_DIAGNOSTIC:
        return STYLE_WARN;
    case GRADE_VOID:
        return STYLE_BAD;
    }
    return STYLE_PLAIN;
}

void put_args(struct buf *out, const struct args *args)
{
    for (size_t i = 0; i < args->n; i++) {
        const char *arg = args->v[i];
        bool plain = *arg && !strpbrk(arg, " \t\n'\"");
        buf_puts(out, i ? " " : "");
        if (plain)
            buf_puts(out, arg);
        else
            buf_printf(out, strchr(arg, '\'') ? "\"%s\"" : "'%s'", arg);
    }
}
