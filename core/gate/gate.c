#include "core/gate/gate_parts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/names.h"
#include "core/stats/compare.h"

static const char *const target_time_names[] = {[TARGET_WALL] = "wall", [TARGET_CPU] = "cpu"};
NAMES(target_time, target_time);

static const char *const gate_status_names[] = {
    [GATE_MET] = "met",
    [GATE_MISSED] = "missed",
    [GATE_UNDEFINED] = "undefined",
    [GATE_DIAGNOSTIC] = "diagnostic",
    [GATE_UNCLEAR] = "unclear",
};
const char *gate_status_name(enum gate_status s)
{
    return names_get(gate_status_names, NAMES_LEN(gate_status_names), (size_t)s);
}

struct gate {
    struct arena *arena;
    const struct gate_report *reports;
    struct observation_index *indexes; /* by report; each made when it is first needed */
    size_t n_reports;
    struct gate_result *out;
};

static bool fits(const char *wanted, const char *is)
{
    return !wanted || text_equal(wanted, is);
}

/* ---- what a report has of a target */

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
        if (text_equal(file->path, t->file) && text_equal(file->side, side_of(r, t)))
            return file;
    }
    return NULL;
}

static bool has_workload(const struct raw *raw, const char *workload)
{
    for (size_t i = 0; i < raw->n_workloads; i++)
        if (text_equal(raw->workloads[i].name, workload))
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

/* ---- rows */

static struct gate_row *add_row(struct gate *g, const struct target *t, const char *host,
                                const char *report)
{
    struct gate_result *out = g->out;
    struct gate_row *row = &out->rows[out->n_rows++];
    *row = (struct gate_row){.target = t,
                             .what = gate_what(g->arena, t),
                             .limit = gate_limit(g->arena, t),
                             .figure = NAN,
                             .to_go = NAN,
                             .interval = {.low = NAN, .high = NAN, .coverage = NAN},
                             .host = host,
                             .report = report,
                             .status = GATE_UNDEFINED};
    return row;
}

/* A figure that a target speaks of, with the row that it is in. */
struct subject {
    const char *lane, *side;
    const char *undefined; /* why it has none; NULL: it has one */
    double median;
    bool contractual;
};

static double time_of(const struct row *row, enum target_time time)
{
    return time == TARGET_CPU ? row->cpu.median_ns : row->wall.median_ns;
}

static bool find_value(struct arena *a, const struct gate_report *r, const struct target *t,
                       struct subject *out)
{
    const struct value_row *row =
        values_row(r->s->values, r->s->n_values, t->workload, out->lane, out->side);
    const struct value_figures *v = row ? values_find(row, t->value) : NULL;
    if (!row)
        return false;
    out->undefined =
        row->undefined || v ? row->undefined : arena_printf(a, "it has no value %s", t->value);
    out->median = v ? v->median : NAN;
    out->contractual = row->grade.value == GRADE_CONTRACTUAL;
    return true;
}

/* False: the report has no such row of the kind that the target speaks of. */
static bool find_subject(struct arena *a, const struct gate_report *r, const struct target *t,
                         struct subject *out)
{
    if (t->value)
        return find_value(a, r, t, out);
    const struct row *row = summary_row(r->s, t->workload, out->lane, out->side);
    if (!row)
        return false;
    out->undefined = row->undefined;
    out->median = time_of(row, t->time);
    out->contractual = row->grade.value == GRADE_CONTRACTUAL;
    return true;
}

/* Judges a figure that is there. The figures' own grade counts only where the limit is kept. */
static void judge(struct gate_row *row, bool within, bool contractual)
{
    bool good = contractual || row->target->diagnostic;
    row->status = !within ? GATE_MISSED : good ? GATE_MET : GATE_DIAGNOSTIC;
    if (!contractual)
        row->why = row->target->diagnostic ? "diagnostic, which the target allows" : "diagnostic";
}

/* Whether it can be told on which side of the limit a figure is. Without an interval a contract has
 * nothing to say; a diagnostic figure says no more than it is. */
static bool can_tell(struct arena *a, struct gate_row *row, bool within, bool contractual)
{
    const struct interval *v = &row->interval;
    if (!v->defined && !contractual)
        return true;
    if (v->defined && (v->low <= row->target->max) == (v->high <= row->target->max) &&
        (v->low <= row->target->max) == within)
        return true;
    row->status = GATE_UNCLEAR;
    row->why =
        v->defined ? arena_printf(a, "figure and interval (%s) are not on one side of the limit",
                                  row->range)
        : row->target->value ? "it has no interval: there are too few repetitions, or a value of 0"
                             : "it has no interval: there are too few repetitions";
    return false;
}

/* Both figures; or why there are none. */
static const char *find_both(struct arena *a, const struct gate_report *r, const struct target *t,
                             struct subject *subject, struct subject *reference)
{
    if (!find_subject(a, r, t, subject))
        return gate_no_lane(a, t, t->lane, r->raw);
    if (!find_subject(a, r, t, reference))
        return t->kind == TARGET_RATIO ? gate_no_lane(a, t, t->reference, r->raw)
                                       : "the report has no such side to compare with";
    const struct subject *bad = subject->undefined ? subject : reference;
    return bad->undefined ? arena_printf(a, "%s on %s: %s", bad->lane, bad->side, bad->undefined)
                          : NULL;
}

/* A ratio as a change in percent; of the ends of an interval too. */
static void as_change(struct interval *v)
{
    v->low = (v->low - 1) * 100;
    v->high = (v->high - 1) * 100;
}

/* How many times over its limit: 1 or less is within. */
static double to_go_of(const struct target *t, double figure)
{
    if (t->kind == TARGET_RATIO)
        return figure / t->max;
    return t->max > -100 ? (100 + figure) / (100 + t->max) : NAN;
}

static void judge_figure(struct gate *g, const struct gate_report *r, struct gate_row *row,
                         const struct gate_pair *pair, bool contractual)
{
    const struct target *t = row->target;
    bool ratio = t->kind == TARGET_RATIO, within = row->figure <= t->max;
    gate_interval(g->arena, r, &g->indexes[r - g->reports], t, pair, &row->interval);
    if (row->interval.defined && !ratio)
        as_change(&row->interval);
    if (row->interval.defined)
        row->range = gate_range(g->arena, t, &row->interval);
    row->to_go = to_go_of(t, row->figure);
    row->found = gate_figure(g->arena, t, row->figure);
    if (can_tell(g->arena, row, within, contractual))
        judge(row, within, contractual);
}

static void judge_medians(struct gate *g, const struct gate_report *r, struct gate_row *row)
{
    const struct target *t = row->target;
    bool ratio = t->kind == TARGET_RATIO;
    const char *side = side_of(r, t), *other = ratio ? side : before_of(r, t);
    struct subject x = {.lane = t->lane, .side = side};
    struct subject y = {.lane = ratio ? t->reference : t->lane, .side = other};
    row->why = find_both(g->arena, r, t, &x, &y);
    if (!row->why && !ratio && text_equal(side, other))
        row->why = "the report has one side only";
    if (row->why)
        return;
    row->figure =
        ratio ? compare_ratio(x.median, y.median) : compare_change_pct(y.median, x.median);
    if (isnan(row->figure)) {
        row->why = "a median is zero or not known";
        return;
    }
    const struct gate_pair pair = {x.lane, x.side, y.lane, y.side};
    judge_figure(g, r, row, &pair,
                 r->s->grade.value == GRADE_CONTRACTUAL && x.contractual && y.contractual);
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
    row->to_go = row->figure / ((double)row->target->bytes * 1.1);
    row->found = arena_printf(g->arena, "%" PRId64, file->bytes);
    judge(row, within == TRI_PASS, r->s->grade.value == GRADE_CONTRACTUAL);
}

static void judge_sample(struct gate *g, const struct gate_report *r, struct gate_row *row)
{
    const struct target *t = row->target;
    const struct row *of = summary_row(r->s, t->workload, t->lane, side_of(r, t));
    if (!of) {
        row->why = gate_no_lane(g->arena, t, t->lane, r->raw);
        return;
    }
    const struct sample_figures *f = sampled_find(of->samples, of->n_samples, t->sample);
    if (of->undefined || !f || f->n == 0) {
        row->why = of->undefined ? of->undefined
                                 : arena_printf(g->arena, "it has no samples %s", t->sample);
        return;
    }
    row->figure = (double)f->p99;
    row->to_go = t->max_p99 > 0 ? row->figure / (double)t->max_p99 : NAN;
    row->found = arena_printf(g->arena, "%" PRId64 " %s", f->p99, sample_unit_name(f->unit));
    judge(row, f->p99 <= t->max_p99,
          r->s->grade.value == GRADE_CONTRACTUAL && of->grade.value == GRADE_CONTRACTUAL);
}

static void judge_report(struct gate *g, const struct target *t, const struct gate_report *r)
{
    struct gate_row *row = add_row(g, t, r->raw->host.name, r->name);
    if (r->raw->void_code)
        row->why = arena_printf(g->arena, "the report is void (%s)", r->raw->void_code);
    else if (t->kind == TARGET_SIZE)
        judge_size(g, r, row);
    else if (t->kind == TARGET_SAMPLE)
        judge_sample(g, r, row);
    else
        judge_medians(g, r, row);
}

/* ---- hosts */

static bool is_first_of_its_host(const struct gate *g, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (gate_same_host(g->reports[i].raw, g->reports[index].raw))
            return false;
    return true;
}

/* The target on the host of the report at index. */
static void judge_host(struct gate *g, const struct target *t, size_t index)
{
    const struct raw *host = g->reports[index].raw;
    size_t before = g->out->n_rows;
    for (size_t i = index; i < g->n_reports; i++)
        if (gate_same_host(g->reports[i].raw, host) && concerns(&g->reports[i], t))
            judge_report(g, t, &g->reports[i]);
    if (g->out->n_rows == before)
        add_row(g, t, host->host.name, NULL)->why =
            gate_nothing_has(g->arena, t, g->reports, g->n_reports, host);
}

/* The system is the first word of the kernel: "Linux 6.1.0-18-amd64". */
static bool is_system(const char *wanted, const char *kernel)
{
    size_t n = wanted ? strlen(wanted) : 0;
    return !wanted ||
           (kernel && strncmp(kernel, wanted, n) == 0 && (kernel[n] == ' ' || kernel[n] == '\0'));
}

static bool is_for(const struct target *t, const struct raw *raw)
{
    return fits(t->host, raw->host.name) && fits(t->arch, raw->host.arch) &&
           is_system(t->system, raw->host.kernel);
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
    struct gate g = {.arena = a,
                     .reports = reports,
                     .indexes = arena_array(a, n_reports, sizeof *g.indexes),
                     .n_reports = n_reports,
                     .out = out};
    *out = (struct gate_result){0};
    /* At most one row for each report, or one in place of all. */
    out->rows = arena_array(a, targets->n * (n_reports + 1), sizeof *out->rows);
    for (size_t i = 0; i < targets->n; i++)
        judge_target(&g, &targets->v[i]);
    for (size_t i = 0; i < out->n_rows; i++)
        out->count[out->rows[i].status]++;
    gate_gaps(a, targets, reports, n_reports, out);
    out->passed = out->n_rows > 0 && out->count[GATE_MET] == out->n_rows;
}
