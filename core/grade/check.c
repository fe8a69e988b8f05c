#include "core/grade/check.h"

#include <string.h>

#include "core/ledger/replacement.h"
#include "core/summary/observations.h"
#include "core/summary/values.h"

/* ---- what is said twice */

const char *check_names(struct arena *a, const struct raw *raw)
{
    if (!text_equal(raw->job.policy, raw->policy.name))
        return arena_printf(a, "the job asks for policy %s, the report has %s", raw->job.policy,
                            raw->policy.name);
    if (!text_equal(raw->job.suite_sha256, raw->suite_sha256))
        return "the job names another suite than the report";
    if (!raw->void_code != !raw->void_text)
        return "void_code and void_text do not belong together";
    if (raw->void_code)
        return NULL;
    for (int p = 0; p < PHASE_COUNT; p++)
        if (!raw->phases[p].inventory)
            return arena_printf(a, "there is no inventory %s", phase_title((enum phase)p));
    return NULL;
}

/* ---- the plan */

/* The suite as far as the plan depends on it. */
static struct suite *suite_of(struct arena *a, const struct raw *raw)
{
    struct suite *s = arena_alloc(a, sizeof *s);
    s->n_workloads = raw->n_workloads;
    s->workloads = arena_array(a, raw->n_workloads, sizeof *s->workloads);
    for (size_t w = 0; w < raw->n_workloads; w++) {
        s->workloads[w].name = raw->workloads[w].name;
        s->workloads[w].measure = raw->workloads[w].measure;
        s->workloads[w].steps_of = raw->workloads[w].steps_of;
        s->workloads[w].n_lanes = raw->workloads[w].n_lanes;
        s->workloads[w].lanes =
            arena_array(a, raw->workloads[w].n_lanes, sizeof *s->workloads[w].lanes);
    }
    return s;
}

/* As plan_make asks for it: lanes by sides. */
static const bool *const *lanes_present(struct arena *a, const struct raw *raw)
{
    const bool **present = arena_array(a, raw->n_workloads, sizeof *present);
    for (size_t w = 0; w < raw->n_workloads; w++) {
        const struct raw_workload *workload = &raw->workloads[w];
        size_t n = workload->n_lanes * raw->n_sides;
        bool *lanes = arena_array(a, n, sizeof *lanes);
        for (size_t i = 0; i < n; i++)
            lanes[i] = lane_takes_part(&workload->lanes[i / raw->n_sides]) &&
                       !workload_is_absent(workload, raw->sides[i % raw->n_sides]);
        present[w] = lanes;
    }
    return present;
}

static bool same_step(const struct plan_step *a, const struct plan_step *b)
{
    return a->seq == b->seq && a->workload == b->workload && a->lane == b->lane &&
           a->side == b->side && a->repetition == b->repetition && a->position == b->position &&
           a->kind == b->kind && a->replaces == b->replaces;
}

/* Takes in the observations of the plan's steps from `from` on; false: not all were observed. */
static bool note_round(const struct raw *raw, const struct plan *plan, size_t from,
                       struct replacement *list)
{
    for (size_t i = from; i < plan->n; i++) {
        if (i >= raw->n_observations)
            return false;
        if (plan->steps[i].kind == OBS_TIMED)
            replacement_note_with(raw, list, (size_t)plan->steps[i].workload,
                                  plan->steps[i].repetition, raw->observations[i].disturbed);
    }
    return true;
}

/* Appends the rounds of replacements that follow from what was observed. */
static void plan_rounds(struct arena *a, const struct raw *raw, const struct suite *suite,
                        const bool *const *present, struct plan *plan)
{
    struct replacement *list = arena_array(a, raw->n_workloads, sizeof *list);
    size_t from = 0;
    int *replaces = arena_array(a, raw->n_workloads, sizeof *replaces), number;
    for (size_t w = 0; w < raw->n_workloads; w++)
        replacement_init(a, raw->job.repetitions, &list[w]);
    while (note_round(raw, plan, from, list) &&
           replacement_round(list, raw->n_workloads, replaces, &number)) {
        from = plan->n;
        plan_replace(a, plan, suite, raw->n_sides, number, replaces, present);
    }
}

/* Without replacements. */
static size_t count_steps(const struct raw *raw, const bool *const *present)
{
    size_t n = 0;
    for (size_t w = 0; w < raw->n_workloads; w++) {
        enum measure m = raw->workloads[w].measure;
        size_t times =
            (size_t)(plan_repetitions(m, raw->job.repetitions) + plan_warmups(m, raw->job.warmups));
        for (size_t i = 0; i < raw->workloads[w].n_lanes * raw->n_sides; i++)
            n += present[w][i] ? times : 0;
    }
    return n;
}

static const char *wrong_length(struct arena *a, const struct raw *raw, size_t n)
{
    return arena_printf(a, "the plan has %zu steps, the job makes %zu", raw->plan.n, n);
}

const char *check_plan(struct arena *a, const struct raw *raw)
{
    const struct suite *suite = suite_of(a, raw);
    const bool *const *present = lanes_present(a, raw);
    /* Counted first: a small report can ask for a plan that no memory holds. */
    size_t steps = count_steps(raw, present);
    if (steps > raw->plan.n)
        return wrong_length(a, raw, steps);
    struct plan *plan = plan_make(a, suite, raw->n_sides, raw->job.repetitions, raw->job.warmups,
                                  raw->job.order, present);
    plan_rounds(a, raw, suite, present, plan);
    if (plan->n != raw->plan.n)
        return wrong_length(a, raw, plan->n);
    for (size_t i = 0; i < plan->n; i++)
        if (!same_step(&plan->steps[i], &raw->plan.steps[i]))
            return arena_printf(a, "step %zu of the plan is not the one that the job makes", i);
    return NULL;
}

/* ---- observations */

static bool is_ok(const struct raw_observation *o)
{
    return text_equal(o->outcome, "ok");
}

static const char *check_stamps(const struct raw_observation *o, enum measure measure)
{
    bool process = !measure_has_records(measure);
    int64_t figure_ns = measure_has_values(measure) ? -1 : o->process_ns;
    bool ran = o->exit_ns >= 0 || o->process_ns >= 0 || o->elapsed_ns >= 0;
    if (!measure_runs(measure))
        return ran || o->start_ns >= 0 || o->go_ns >= 0 || o->done_ns >= 0
                   ? "has stamps although nothing was run"
                   : NULL;
    if (!ran && !is_ok(o))
        return NULL; /* its program could not be started */
    if (o->start_ns < 0 || o->exit_ns < o->start_ns)
        return "ends before it begins";
    if (o->process_ns != o->exit_ns - o->start_ns)
        return "has a process_ns that is not the time from its start to its exit";
    if (!is_ok(o))
        return NULL;
    if (process && (o->go_ns >= 0 || o->done_ns >= 0))
        return "has stamps that its measure does not take";
    if (process && o->elapsed_ns != figure_ns)
        return figure_ns < 0 ? "has an elapsed_ns although its figures are values"
                             : "has an elapsed_ns that is not the time from its start to its exit";
    if (!process && (o->go_ns < o->start_ns || o->done_ns < o->go_ns || o->exit_ns < o->done_ns))
        return "has stamps out of order";
    if (!process && measure_has_values(measure))
        return o->elapsed_ns >= 0 ? "has an elapsed_ns although its figures are values" : NULL;
    if (!process && o->elapsed_ns != o->done_ns - o->go_ns)
        return "has an elapsed_ns that is not the time from GO to DONE";
    return NULL;
}

static const char *check_end(const struct raw_observation *o, enum measure measure)
{
    if (!measure_runs(measure))
        return o->exit_status >= 0 || o->exit_signal != 0 ? "ended although nothing was run" : NULL;
    if (!is_ok(o))
        return NULL;
    if (o->exit_status != 0 || o->exit_signal != 0)
        return "is called ok and did not exit with 0";
    return o->leftovers > 0 ? "is called ok and left processes behind" : NULL;
}

/* pin is the core that pinned lanes ran on, -2 before the first of them. */
static const char *check_pin(const struct raw_observation *o, const struct raw_lane *lane, int *pin)
{
    if (lane->cpus != 1)
        return o->cpu >= 0 ? "is pinned although its lane is not" : NULL;
    if (*pin == -2)
        *pin = o->cpu;
    return o->cpu == *pin ? NULL : "is pinned to another core than the rest";
}

static const char *check_step(const struct raw *raw, const struct raw_observation *o,
                              const struct plan_step *step)
{
    const struct raw_workload *w = &raw->workloads[step->workload];
    bool same = o->seq == step->seq && text_equal(o->workload, w->name) &&
                text_equal(o->lane, w->lanes[step->lane].name) &&
                text_equal(o->side, raw->sides[step->side]) && o->repetition == step->repetition &&
                o->position == step->position && o->kind == step->kind &&
                o->replaces == step->replaces;
    return same ? NULL : "is not its step of the plan";
}

/* The values that its lane has, one of each name, in their order; none of a time. */
static const char *check_values(const struct raw_observation *o, const struct raw_workload *w,
                                const struct raw_lane *lane)
{
    if (o->n_values != (is_ok(o) ? values_count(w, lane) : 0))
        return "has not the values that its workload declares";
    for (size_t i = 0; i < o->n_values; i++)
        if (!text_equal(o->values[i].name, values_name(w, lane, i)) || o->values[i].value < 0)
            return "has not the values that its workload declares";
    return is_ok(o) ? values_follow(w, o) : NULL;
}

/* The samples of each series that its workload declares, in their order; none of what failed. */
static const char *check_samples(const struct raw_observation *o, const struct raw_workload *w)
{
    if (o->n_samples != (is_ok(o) ? w->n_samples : 0))
        return "has not the samples that its workload declares";
    for (size_t i = 0; i < o->n_samples; i++) {
        const struct raw_samples *s = &o->samples[i];
        if (!text_equal(s->name, w->samples[i].name) || (int64_t)s->n < w->samples[i].min ||
            (int64_t)s->n > w->samples[i].max)
            return "has not the samples that its workload declares";
    }
    return NULL;
}

/* A file of {build} is a product, whose bytes were taken when it was hashed. */
static const char *check_sizes(const struct raw *raw, const struct raw_observation *o,
                               const struct raw_workload *w, const struct raw_lane *lane)
{
    const char *side = lane->control && raw->n_sources > 0 ? JOB_SIDE_SUITE : o->side;

    for (size_t i = 0; w->measure == MEASURE_SIZE && i < o->n_values; i++)
        for (size_t k = 0; k < raw->n_artifacts; k++) {
            const struct raw_artifact *f = &raw->artifacts[k];
            bool is_it = strncmp(lane->files[i].path, "{build}/", 8) == 0 &&
                         text_equal(f->path, lane->files[i].path + 8) && text_equal(f->side, side);
            if (is_it && f->bytes != o->values[i].value)
                return "has another size than the product that was hashed";
        }
    return NULL;
}

static const char *check_tally(const struct raw_observation *o)
{
    char name[ATTRIBUTION_TALLY_MAX];

    attribution_tally_name(o->seq, name);
    if (o->n_outputs != (is_ok(o) ? 1 : 0) ||
        (o->n_outputs > 0 && !text_equal(o->outputs[0].name, name)))
        return "has not the tally of its profile as its one output";
    return NULL;
}

/* A good build step wrote what its lane names; nothing else writes anything but tallies. */
static const char *check_outputs(const struct raw_observation *o, const struct raw_workload *w,
                                 const struct raw_lane *lane)
{
    if (w->measure == MEASURE_ATTRIBUTION)
        return check_tally(o);
    if (o->n_outputs != (is_ok(o) ? lane->outputs.n : 0))
        return "has not the outputs that its lane names";
    for (size_t i = 0; i < o->n_outputs; i++)
        if (!text_equal(o->outputs[i].name, lane->outputs.v[i]))
            return "has not the outputs that its lane names";
    return NULL;
}

static const char *check_one(const struct raw *raw, size_t i, int *pin)
{
    const struct raw_observation *o = &raw->observations[i];
    const struct plan_step *step = &raw->plan.steps[i];
    const struct raw_workload *w = &raw->workloads[step->workload];
    const char *fault = check_step(raw, o, step);
    if (!fault)
        fault = check_stamps(o, w->measure);
    if (!fault)
        fault = check_end(o, w->measure);
    if (!fault)
        fault = check_values(o, w, &w->lanes[step->lane]);
    if (!fault)
        fault = check_samples(o, w);
    if (!fault)
        fault = check_sizes(raw, o, w, &w->lanes[step->lane]);
    if (!fault)
        fault = check_outputs(o, w, &w->lanes[step->lane]);
    if (!fault)
        fault = check_pin(o, &w->lanes[step->lane], pin);
    if (!fault && i > 0 && is_ok(o) && measure_runs(w->measure) &&
        o->start_ns < raw->observations[i - 1].exit_ns)
        fault = "begins before the one before it has ended";
    return fault;
}

/* Only the last one of a void report may have failed, and then that is why it is void. */
static const char *check_outcomes(struct arena *a, const struct raw *raw)
{
    for (size_t i = 0; i < raw->n_observations; i++) {
        const struct raw_observation *o = &raw->observations[i];
        bool last = i + 1 == raw->n_observations;
        if (!is_ok(o) && !(raw->void_code && last))
            return arena_printf(a, "observation %zu is %s, and the report went on", i, o->outcome);
        if (!is_ok(o) && !text_equal(o->outcome, raw->void_code))
            return arena_printf(a, "the report is void for %s, its last observation for %s",
                                raw->void_code, o->outcome);
    }
    return NULL;
}

/* What a figure was read from is one of the two that its measure can be read from. */
static bool is_one_of(const char *tool, const char *first, const char *second)
{
    return text_equal(tool, first) || text_equal(tool, second);
}

static bool tool_fits(const struct raw_workload *w)
{
    return w->measure == MEASURE_MEMORY ? is_one_of(w->tool, TOOL_ROLLUP, TOOL_STATUS)
           : w->measure == MEASURE_CPU  ? is_one_of(w->tool, TOOL_CLOCKS, TOOL_GROUP)
                                        : true;
}

/* What counted instructions is one of two, and one that is a program is among the tools. */
static const char *check_tools(struct arena *a, const struct raw *raw)
{
    for (size_t w = 0; w < raw->n_workloads; w++) {
        const struct raw_workload *workload = &raw->workloads[w];
        bool is_program = text_equal(workload->tool, TOOL_CALLGRIND), found = false;
        if (!tool_fits(workload))
            return arena_printf(a, "the values of %s are read from nothing that is known",
                                workload->name);
        if (workload->measure != MEASURE_INSTRUCTIONS)
            continue;
        for (size_t i = 0; i < raw->n_tools; i++)
            found = found || text_equal(raw->tools[i].name, "valgrind");
        if (is_program ? !found : !text_equal(workload->tool, TOOL_PERF))
            return arena_printf(a, "what counts the instructions of %s is not among the tools",
                                workload->name);
    }
    return NULL;
}

/* Has an earlier observation of the same lane, side and step other bytes? */
static bool differs_from(const struct raw_observation *o, const struct raw_observation *first)
{
    for (size_t i = 0; i < o->n_outputs && i < first->n_outputs; i++)
        if (!text_equal(o->outputs[i].sha256, first->outputs[i].sha256) ||
            o->outputs[i].bytes != first->outputs[i].bytes)
            return true;
    return false;
}

/* Where the suite asks for it each lane on each side wrote the same bytes each time. */
static const char *check_reproducible(struct arena *a, const struct raw *raw)
{
    const struct raw_observation ***first = arena_array(a, raw->n_workloads, sizeof(void *));
    for (size_t w = 0; w < raw->n_workloads; w++)
        first[w] = arena_array(a, raw->workloads[w].n_lanes * raw->n_sides, sizeof(void *));
    for (size_t i = 0; i < raw->n_observations; i++) {
        const struct raw_observation *o = &raw->observations[i];
        const struct plan_step *step = &raw->plan.steps[i];
        const struct raw_observation **of =
            &first[step->workload][(size_t)step->lane * raw->n_sides + (size_t)step->side];
        const struct raw_workload *w = &raw->workloads[step->workload];
        if (!is_ok(o) || (!w->reproducible && w->measure != MEASURE_KERNEL))
            continue;
        if (*of && differs_from(o, *of))
            return arena_printf(a,
                                "observation %zu (%s %s %s) wrote other bytes than an earlier one, "
                                "and its workload is reproducible",
                                i, o->workload, o->lane, o->side);
        *of = *of ? *of : o;
    }
    return NULL;
}

const char *check_observations(struct arena *a, const struct raw *raw)
{
    int pin = -2;
    if (raw->n_observations > raw->plan.n || (raw->n_observations < raw->plan.n && !raw->void_code))
        return arena_printf(a, "the plan has %zu steps, %zu were observed", raw->plan.n,
                            raw->n_observations);
    for (size_t i = 0; i < raw->n_observations; i++) {
        const char *fault = check_one(raw, i, &pin);
        if (fault)
            return arena_printf(a, "observation %zu (%s %s %s) %s", i,
                                raw->observations[i].workload, raw->observations[i].lane,
                                raw->observations[i].side, fault);
    }
    const char *fault = check_tools(a, raw);
    if (!fault)
        fault = check_reproducible(a, raw);
    return fault ? fault : check_outcomes(a, raw);
}

/* ---- sources, builds, rechecks */

static bool same_correction(const struct job_source *asked, const struct raw_source *s)
{
    const struct job_correction *c = asked->correction;
    const struct raw_correction *r = s->correction;
    if (!c || !r)
        return !c && !r;
    return text_equal(c->base_commit, r->base_commit) && text_equal(s->commit, r->corrected) &&
           text_equal(c->diff_sha256, r->diff_sha256) &&
           text_equal(c->approved_by, r->approved_by) && text_equal(c->reason, r->reason);
}

static bool same_variant(struct arena *a, const struct job_source *asked,
                         const struct raw_source *s)
{
    if (s->variant.n != asked->n_variant)
        return false;
    for (size_t i = 0; i < asked->n_variant; i++)
        if (!text_equal(s->variant.v[i],
                        arena_printf(a, "%s=%s", asked->variant[i].name, asked->variant[i].value)))
            return false;
    return true;
}

static const char *check_source(struct arena *a, const struct raw *raw, size_t i)
{
    const struct job_source *asked = &raw->job.sources[i];
    const struct raw_source *s = &raw->sources[i];
    if (!text_equal(asked->side, s->side) || !text_equal(raw->sides[i], s->side))
        return arena_printf(a, "source %zu is of another side than the job's", i);
    if (!text_equal(asked->repo, s->repo) || !text_equal(asked->rev, s->rev) ||
        !text_equal(asked->commit, s->commit))
        return arena_printf(a, "the source of %s is not the one that the job names", s->side);
    if (!same_variant(a, asked, s))
        return arena_printf(a, "the build variant of %s is not the one that the job names",
                            s->side);
    if (!same_correction(asked, s))
        return arena_printf(a, "the correction of %s is not the one that the job allows", s->side);
    return NULL;
}

static bool is_attempt(const struct raw *raw, const char *id)
{
    for (size_t i = 0; i < raw->n_refusals; i++)
        if (text_equal(raw->refusals[i].attempt, id))
            return true;
    return text_equal(raw->id, id);
}

static const char *check_build(struct arena *a, const struct raw *raw, size_t i)
{
    const struct raw_build *b = &raw->builds[i];
    bool continues = i > 0 && strcmp(raw->builds[i - 1].side, b->side) == 0;
    if (b->step != (continues ? raw->builds[i - 1].step + 1 : 0))
        return arena_printf(a, "the build steps of %s are not numbered in order", b->side);
    if (b->exit_status != 0)
        return arena_printf(a, "build step %d of %s failed, and the report went on", b->step,
                            b->side);
    if (!text_equal(b->log, arena_printf(a, "logs/build-%s-%d.txt", b->side, b->step)))
        return arena_printf(a, "the log of build step %d of %s has another name", b->step, b->side);
    if (!is_attempt(raw, b->attempt))
        return arena_printf(a, "build step %d of %s is of an attempt that is not on record",
                            b->step, b->side);
    return NULL;
}

struct rechecks {
    struct arena *a;
    const struct raw *raw;
    bool *seen;
    size_t next; /* where the next one probably stands */
    const char *fault;
};

/* Was this, whose hash is on record, hashed again? */
static void expect_recheck(struct rechecks *r, enum recheck_kind kind, const char *name,
                           const char *sha256)
{
    size_t n = r->raw->n_rechecks;
    for (size_t tries = 0; !r->fault && tries < n; tries++) {
        size_t i = (r->next + tries) % n;
        const struct raw_recheck *x = &r->raw->rechecks[i];
        if (x->kind != kind || !text_equal(x->name, name))
            continue;
        if (!text_equal(x->sha256, sha256))
            r->fault = arena_printf(r->a, "the second hash of %s begins with another one", name);
        r->seen[i] = true;
        r->next = i + 1;
        return;
    }
    if (!r->fault)
        r->fault = arena_printf(r->a, "%s %s was not hashed again", recheck_kind_name(kind), name);
}

static const char *check_rechecks(struct arena *a, const struct raw *raw)
{
    struct rechecks r = {
        .a = a, .raw = raw, .seen = arena_array(a, raw->n_rechecks, sizeof *r.seen)};
    if (raw->void_code && raw->n_rechecks == 0)
        return NULL;
    for (size_t i = 0; i < raw->n_sources; i++)
        expect_recheck(&r, RECHECK_SOURCE, raw->sources[i].side, raw->sources[i].tree_sha256);
    expect_recheck(&r, RECHECK_SUITE, JOB_SIDE_SUITE, raw->suite_sha256);
    for (size_t i = 0; i < raw->n_artifacts; i++) {
        const struct raw_artifact *f = &raw->artifacts[i];
        expect_recheck(&r, RECHECK_ARTIFACT, arena_printf(a, "%s:%s", f->side, f->path), f->sha256);
    }
    for (size_t i = 0; i < raw->n_tools; i++)
        expect_recheck(&r, RECHECK_TOOL, raw->tools[i].path, raw->tools[i].sha256);
    for (size_t i = 0; !r.fault && i < raw->n_rechecks; i++)
        if (!r.seen[i])
            r.fault = arena_printf(a, "%s was hashed again without need", raw->rechecks[i].name);
    return r.fault;
}

const char *check_sources(struct arena *a, const struct raw *raw)
{
    const char *fault = NULL;
    if (raw->n_sources != raw->job.n_sources)
        return "the job has another number of sources than the report";
    if (raw->n_sides != (raw->job.n_sources ? raw->job.n_sources : 1))
        return "the report has another number of sides than the job";
    for (size_t i = 0; !fault && i < raw->n_sources; i++)
        fault = check_source(a, raw, i);
    for (size_t i = 0; !fault && i < raw->n_builds; i++)
        fault = check_build(a, raw, i);
    return fault ? fault : check_rechecks(a, raw);
}
