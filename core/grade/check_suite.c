/* The part of check.h that holds a report against its suite. */
#include <string.h>

#include "core/grade/check.h"

/* ---- workloads and lanes */

static bool is_excluded(const struct job *job, const char *workload, const char *lane)
{
    for (size_t i = 0; i < job->n_exclude; i++) {
        const struct lane_ref *x = &job->exclude[i];
        if ((!x->workload || strcmp(x->workload, workload) == 0) && strcmp(x->lane, lane) == 0)
            return true;
    }
    return false;
}

static bool same_files(const struct lane *lane, const struct raw_lane *r)
{
    if (lane->n_files != r->n_files)
        return false;
    for (size_t i = 0; i < r->n_files; i++)
        if (!text_equal(lane->files[i].name, r->files[i].name) ||
            !text_equal(lane->files[i].path, r->files[i].path) ||
            lane->files[i].baseline_bytes != r->files[i].baseline_bytes)
            return false;
    return true;
}

static bool same_scaling(const struct scaling *s, const struct scaling *r)
{
    return text_equal(s->of, r->of) && s->tasks == r->tasks && !(s->max_ratio < r->max_ratio) &&
           !(s->max_ratio > r->max_ratio);
}

static bool same_series(const struct workload *w, const struct raw_workload *r)
{
    if (w->n_samples != r->n_samples || (w->ack != NULL) != r->ack)
        return false;
    for (size_t i = 0; i < w->n_samples; i++) {
        const struct sample_series *a = &w->samples[i], *b = &r->samples[i];
        if (!text_equal(a->name, b->name) || a->unit != b->unit || a->min != b->min ||
            a->max != b->max || a->p99_max != b->p99_max)
            return false;
    }
    return true;
}

static bool same_lane(const struct raw *raw, const struct workload *w, const struct lane *lane,
                      const struct raw_lane *r)
{
    return text_equal(lane->name, r->name) && lane->control == r->control &&
           lane->cpus == r->cpus && text_equal(lane->startup, r->startup) &&
           args_equal(&lane->command, &r->command) && same_files(lane, r) &&
           same_scaling(&lane->scaling, &r->scaling) && args_equal(&lane->outputs, &r->outputs) &&
           r->excluded == is_excluded(&raw->job, workload_written_name(w), lane->name) &&
           (!r->absent || lane->optional);
}

static const char *check_workload(struct arena *a, const struct raw *raw, const struct workload *w,
                                  const struct raw_workload *r)
{
    if (!text_equal(w->name, r->name) || w->measure != r->measure ||
        w->declared_wait_ns != r->declared_wait_ns || w->operations != r->operations ||
        w->resolution_ns != r->resolution_ns || w->n_lanes != r->n_lanes ||
        !args_equal(&w->absent, &r->absent_sides) || !args_equal(&w->counters, &r->counters) ||
        w->growth_pct != r->growth_pct || w->window_ms != r->window_ms ||
        (w->baseline != NULL) != r->baseline || !same_series(w, r) ||
        !text_equal(w->steps_of, r->steps_of) || w->reproducible != r->reproducible ||
        !attribution_equal(w->profile, r->profile))
        return arena_printf(a, "workload %s is not that of the suite", r->name);
    for (size_t l = 0; l < w->n_lanes; l++)
        if (!same_lane(raw, w, &w->lanes[l], &r->lanes[l]))
            return arena_printf(a, "lane %s of %s is not that of the suite", r->lanes[l].name,
                                r->name);
    return NULL;
}

/* ---- records */

static const struct workload *find_workload(const struct suite *suite, const char *name)
{
    for (size_t w = 0; w < suite->n_workloads; w++)
        if (strcmp(suite->workloads[w].name, name) == 0)
            return &suite->workloads[w];
    return NULL;
}

static const char *expected_stdout(const struct workload *w, const char *lane)
{
    for (size_t l = 0; l < w->n_lanes; l++)
        if (strcmp(w->lanes[l].name, lane) == 0 && w->lanes[l].stdout_text)
            return w->lanes[l].stdout_text;
    return w->stdout_text;
}

static int64_t digits(int64_t value)
{
    int64_t n = 1;

    for (; value >= 10; value /= 10)
        n++;
    return n;
}

/* "COUNTER name value" and a newline for each. */
static bool counters_fit(const struct raw_observation *o)
{
    int64_t bytes = 0;

    for (size_t i = 0; i < o->n_values; i++)
        bytes += (int64_t)strlen("COUNTER  \n") + (int64_t)strlen(o->values[i].name) +
                 digits(o->values[i].value);
    return o->stdout_bytes == bytes;
}

/* "SAMPLE name index value" and a newline for each. */
static int64_t sample_bytes(const struct raw_observation *o)
{
    int64_t bytes = 0;

    for (size_t i = 0; i < o->n_samples; i++)
        for (size_t k = 0; k < o->samples[i].n; k++)
            bytes += (int64_t)strlen("SAMPLE   \n") + (int64_t)strlen(o->samples[i].name) +
                     digits((int64_t)k) + digits(o->samples[i].v[k]);
    return bytes;
}

static bool records_fit(const struct workload *w, const struct raw_observation *o)
{
    size_t before = w->baseline ? strlen(w->baseline) + 1 : 0;
    if (measure_has_records(w->measure))
        return text_equal(o->ready, w->ready) && text_equal(o->done, w->done) &&
               o->stdout_bytes ==
                   (int64_t)(before + strlen(w->ready) + strlen(w->done) + 2) + sample_bytes(o);
    if (w->measure == MEASURE_SIZE)
        return !o->ready && !o->done && o->stdout_bytes < 0 && o->stderr_bytes < 0;
    if (w->measure == MEASURE_COUNTERS)
        return !o->ready && !o->done && counters_fit(o);
    const char *text = expected_stdout(w, o->lane);
    return !o->ready && !o->done && (!text || o->stdout_bytes == (int64_t)strlen(text));
}

static const char *check_records(struct arena *a, const struct raw *raw, const struct suite *suite)
{
    for (size_t i = 0; i < raw->n_observations; i++) {
        const struct raw_observation *o = &raw->observations[i];
        const struct workload *w = find_workload(suite, o->workload);
        if (strcmp(o->outcome, "ok") == 0 && (!w || !records_fit(w, o)))
            return arena_printf(a, "observation %zu (%s %s %s) did not print what the suite asks",
                                i, o->workload, o->lane, o->side);
    }
    return NULL;
}

/* ---- builds */

/* The literal pieces between placeholders stand in text, in their order. */
static bool fits_template(const char *text, const char *template)
{
    const char *open = strchr(template, '{');
    if (!open)
        return strcmp(text, template) == 0;
    size_t literal = (size_t)(open - template);
    const char *rest = strchr(open, '}');
    if (!rest || strncmp(text, template, literal) != 0)
        return false;
    for (text += literal; *text; text++)
        if (fits_template(text, rest + 1))
            return true;
    return fits_template(text, rest + 1);
}

static bool is_step(const struct raw_build *b, const struct args *command)
{
    if (b->argv.n != command->n)
        return false;
    for (size_t i = 0; i < command->n; i++)
        if (!fits_template(b->argv.v[i], command->v[i]))
            return false;
    return true;
}

static const char *check_step(struct arena *a, const struct raw *raw, size_t at, const char *side,
                              const struct args *command)
{
    if (at < raw->n_builds && strcmp(raw->builds[at].side, side) == 0 &&
        is_step(&raw->builds[at], command))
        return NULL;
    return arena_printf(a, "build step %zu is not the one that the suite asks for (%s, %s)", at,
                        side, command->v[0]);
}

static const char *check_builds(struct arena *a, const struct raw *raw, const struct suite *suite)
{
    const char *fault = NULL;
    size_t at = 0;
    for (size_t i = 0; !fault && i < suite->n_suite_build; i++)
        fault = check_step(a, raw, at++, JOB_SIDE_SUITE, &suite->suite_build[i]);
    for (size_t s = 0; s < raw->n_sides; s++)
        for (size_t i = 0; !fault && i < suite->n_build; i++)
            fault = check_step(a, raw, at++, raw->sides[s], &suite->build[i]);
    if (!fault && at != raw->n_builds)
        fault = arena_printf(a, "the report has %zu build steps, the suite asks for %zu",
                             raw->n_builds, at);
    return fault;
}

const char *check_suite(struct arena *a, const struct raw *raw, const struct suite *suite)
{
    const char *fault = NULL;
    if (!text_equal(suite->name, raw->job.suite_name))
        return arena_printf(a, "the suite is called %s, the job's %s", suite->name,
                            raw->job.suite_name);
    if (suite->n_workloads != raw->n_workloads)
        return arena_printf(a, "the suite has %zu workloads, the report %zu", suite->n_workloads,
                            raw->n_workloads);
    for (size_t w = 0; !fault && w < suite->n_workloads; w++)
        fault = check_workload(a, raw, &suite->workloads[w], &raw->workloads[w]);
    if (!fault)
        fault = check_builds(a, raw, suite);
    return fault ? fault : check_records(a, raw, suite);
}
