#include "core/gate.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/compare.h"
#include "core/names.h"

static const char *const target_time_names[] = {[TARGET_WALL] = "wall", [TARGET_CPU] = "cpu"};
NAMES(target_time, target_time);

static const char *const gate_status_names[] = {
    [GATE_MET] = "met",
    [GATE_MISSED] = "missed",
    [GATE_UNDEFINED] = "undefined",
    [GATE_DIAGNOSTIC] = "diagnostic",
};
const char *gate_status_name(enum gate_status s)
{
    return names_get(gate_status_names, NAMES_LEN(gate_status_names), (size_t)s);
}

struct gate {
    struct arena *arena;
    const struct gate_report *reports;
    size_t n_reports;
    struct gate_result *out;
};

static bool same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool fits(const char *wanted, const char *is)
{
    return !wanted || same(wanted, is);
}

/* ---- what a report has of a target */

static const struct row *row_of(const struct gate_report *r, const char *workload, const char *lane,
                                const char *side)
{
    for (size_t i = 0; i < r->s->n_rows; i++) {
        const struct row *row = &r->s->rows[i];
        if (same(row->workload, workload) && same(row->lane, lane) && same(row->side, side))
            return row;
    }
    return NULL;
}

static const char *side_of(const struct gate_report *r, const struct target *t)
{
    return t->side || r->raw->n_sides == 0 ? t->side : r->raw->sides[r->raw->n_sides - 1];
}

static const char *before_of(const struct gate_report *r, const struct target *t)
{
    return t->before || r->raw->n_sides == 0 ? t->before : r->raw->sides[0];
}

static const struct raw_artifact *artifact_of(const struct gate_report *r, const struct target *t)
{
    for (size_t i = 0; i < r->raw->n_artifacts; i++) {
        const struct raw_artifact *file = &r->raw->artifacts[i];
        if (same(file->path, t->file) && same(file->side, side_of(r, t)))
            return file;
    }
    return NULL;
}

static bool has_workload(const struct raw *raw, const char *workload)
{
    for (size_t i = 0; i < raw->n_workloads; i++)
        if (same(raw->workloads[i].name, workload))
            return true;
    return false;
}

/* Does the report have what the target names, so that the target is judged in it? */
static bool concerns(const struct gate_report *r, const struct target *t)
{
    if (!fits(t->suite, r->raw->job.suite_name))
        return false;
    return t->kind == TARGET_SIZE ? artifact_of(r, t) != NULL : has_workload(r->raw, t->workload);
}

/* ---- words */

static const char *what_of(struct arena *a, const struct target *t)
{
    const char *cpu = t->time == TARGET_CPU ? ", CPU time" : "";
    const char *in = t->side ? t->side : "";
    if (t->kind == TARGET_SIZE)
        return arena_printf(a, "%s, size%s%s", t->file, *in ? " on " : "", in);
    if (t->kind == TARGET_RATIO)
        return arena_printf(a, "%s: %s / %s%s%s%s", t->workload, t->lane, t->reference, cpu,
                            *in ? " on " : "", in);
    return arena_printf(a, "%s: change of %s%s", t->workload, t->lane, cpu);
}

static const char *limit_of(struct arena *a, const struct target *t)
{
    if (t->kind == TARGET_RATIO)
        return arena_printf(a, "at most %.6f", t->max);
    if (t->kind == TARGET_CHANGE)
        return arena_printf(a, "at most %+.4f %%", t->max);
    return arena_printf(a, "at most %" PRId64 " + 10 %%", t->bytes);
}

/* ---- rows */

static struct gate_row *add_row(struct gate *g, const struct target *t, const char *host,
                                const char *report)
{
    struct gate_result *out = g->out;
    struct gate_row *row = &out->rows[out->n_rows++];
    *row = (struct gate_row){.target = t,
                             .what = what_of(g->arena, t),
                             .limit = limit_of(g->arena, t),
                             .figure = NAN,
                             .host = host,
                             .report = report,
                             .status = GATE_UNDEFINED};
    return row;
}

static double median_of(const struct row *row, enum target_time time)
{
    return time == TARGET_CPU ? row->cpu.median_ns : row->wall.median_ns;
}

/* Judges a figure that is there. The figures' own grade counts only where the limit is kept. */
static void judge(struct gate_row *row, bool within, bool contractual)
{
    bool good = contractual || row->target->diagnostic;
    row->status = !within ? GATE_MISSED : good ? GATE_MET : GATE_DIAGNOSTIC;
    if (!contractual)
        row->why = row->target->diagnostic ? "diagnostic, which the target allows" : "diagnostic";
}

static bool is_contractual(const struct gate_report *r, const struct row *x, const struct row *y)
{
    return r->s->grade.value == GRADE_CONTRACTUAL && x->grade.value == GRADE_CONTRACTUAL &&
           y->grade.value == GRADE_CONTRACTUAL;
}

/* Why two rows give no figure; NULL: they may. */
static const char *why_none(struct arena *a, const struct target *t, const struct row *subject,
                            const struct row *reference)
{
    const struct row *bad = subject && subject->undefined ? subject : reference;
    if (!subject)
        return arena_printf(a, "the report has no lane %s on that side", t->lane);
    if (!reference)
        return t->kind == TARGET_RATIO
                   ? arena_printf(a, "the report has no lane %s on that side", t->reference)
                   : "the report has no such side to compare with";
    return bad->undefined ? arena_printf(a, "%s on %s: %s", bad->lane, bad->side, bad->undefined)
                          : NULL;
}

static void judge_time(struct gate *g, const struct gate_report *r, struct gate_row *row)
{
    const struct target *t = row->target;
    bool ratio = t->kind == TARGET_RATIO;
    const char *side = side_of(r, t), *other = ratio ? side : before_of(r, t);
    const struct row *subject = row_of(r, t->workload, t->lane, side);
    const struct row *reference = row_of(r, t->workload, ratio ? t->reference : t->lane, other);
    row->why = why_none(g->arena, t, subject, reference);
    if (!row->why && !ratio && same(side, other))
        row->why = "the report has one side only";
    if (row->why)
        return;
    double x = median_of(subject, t->time), y = median_of(reference, t->time);
    row->figure = ratio ? compare_ratio(x, y) : compare_change_pct(y, x);
    if (isnan(row->figure)) {
        row->why = "a median is zero or not known";
        return;
    }
    row->found = arena_printf(g->arena, ratio ? "%.6f" : "%+.4f %%", row->figure);
    judge(row, row->figure <= t->max, is_contractual(r, subject, reference));
}

static void judge_size(struct gate *g, const struct gate_report *r, struct gate_row *row)
{
    const struct raw_artifact *file = artifact_of(r, row->target);
    enum tri within = compare_size_gate(row->target->bytes, file->bytes);
    if (within == TRI_UNKNOWN) {
        row->why = "the size is not known";
        return;
    }
    row->figure = (double)file->bytes;
    row->found = arena_printf(g->arena, "%" PRId64, file->bytes);
    judge(row, within == TRI_PASS, r->s->grade.value == GRADE_CONTRACTUAL);
}

static void judge_report(struct gate *g, const struct target *t, const struct gate_report *r)
{
    struct gate_row *row = add_row(g, t, r->raw->host.name, r->name);
    if (r->raw->void_code)
        row->why = arena_printf(g->arena, "the report is void (%s)", r->raw->void_code);
    else if (t->kind == TARGET_SIZE)
        judge_size(g, r, row);
    else
        judge_time(g, r, row);
}

/* ---- hosts */

static bool same_host(const struct raw *a, const struct raw *b)
{
    return same(a->host.id, b->host.id) && same(a->host.name, b->host.name);
}

static bool is_first_of_its_host(const struct gate *g, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (same_host(g->reports[i].raw, g->reports[index].raw))
            return false;
    return true;
}

static const char *nothing_has(struct arena *a, const struct target *t)
{
    if (t->kind == TARGET_SIZE)
        return arena_printf(a, "no report of this host%s%s has the file %s",
                            t->suite ? " and suite " : "", t->suite ? t->suite : "", t->file);
    return arena_printf(a, "no report of this host%s%s has the workload %s",
                        t->suite ? " and suite " : "", t->suite ? t->suite : "", t->workload);
}

/* The target on the host of the report at index. */
static void judge_host(struct gate *g, const struct target *t, size_t index)
{
    const struct raw *host = g->reports[index].raw;
    size_t before = g->out->n_rows;
    for (size_t i = index; i < g->n_reports; i++)
        if (same_host(g->reports[i].raw, host) && concerns(&g->reports[i], t))
            judge_report(g, t, &g->reports[i]);
    if (g->out->n_rows == before)
        add_row(g, t, host->host.name, NULL)->why = nothing_has(g->arena, t);
}

static bool is_for(const struct target *t, const struct raw *raw)
{
    return fits(t->host, raw->host.name) && fits(t->arch, raw->host.arch);
}

static void judge_target(struct gate *g, const struct target *t)
{
    size_t before = g->out->n_rows;
    for (size_t i = 0; i < g->n_reports; i++)
        if (is_first_of_its_host(g, i) && is_for(t, g->reports[i].raw))
            judge_host(g, t, i);
    if (g->out->n_rows == before)
        add_row(g, t, NULL, NULL)->why = "no report is of a host that the target is for";
}

void gate_judge(struct arena *a, const struct targets *targets, const struct gate_report *reports,
                size_t n_reports, struct gate_result *out)
{
    struct gate g = {.arena = a, .reports = reports, .n_reports = n_reports, .out = out};
    *out = (struct gate_result){0};
    /* At most one row for each report, or one in place of all. */
    out->rows = arena_array(a, targets->n * (n_reports + 1), sizeof *out->rows);
    for (size_t i = 0; i < targets->n; i++)
        judge_target(&g, &targets->v[i]);
    for (size_t i = 0; i < out->n_rows; i++)
        out->count[out->rows[i].status]++;
    out->passed = out->n_rows > 0 && out->count[GATE_MET] == out->n_rows;
}
