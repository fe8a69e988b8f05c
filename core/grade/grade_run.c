#include <string.h>

#include "core/grade/grade_predicates.h"
#include "core/stats/pairs.h"
#include "core/summary/observations.h"
#include "core/summary/values.h"

/* The step that an observation carries out; NULL when its number is none of the plan's. */
static const struct plan_step *step_of(const struct raw *raw, const struct raw_observation *o)
{
    return o->seq >= 0 && (size_t)o->seq < raw->plan.n ? &raw->plan.steps[o->seq] : NULL;
}

static bool step_is_named(const struct raw *raw, const struct plan_step *step)
{
    return step->workload >= 0 && (size_t)step->workload < raw->n_workloads && step->lane >= 0 &&
           (size_t)step->lane < raw->workloads[step->workload].n_lanes && step->side >= 0 &&
           (size_t)step->side < raw->n_sides;
}

static bool step_is(const struct raw *raw, const struct plan_step *step, const char *workload,
                    const char *lane, const char *side)
{
    return step_is_named(raw, step) && strcmp(raw->workloads[step->workload].name, workload) == 0 &&
           strcmp(raw->workloads[step->workload].lanes[step->lane].name, lane) == 0 &&
           strcmp(raw->sides[step->side], side) == 0;
}

static bool observed_as_planned(const struct raw *raw, const struct raw_observation *o)
{
    const struct plan_step *step = step_of(raw, o);
    return step && step_is(raw, step, o->workload, o->lane, o->side) &&
           step->repetition == o->repetition && step->position == o->position &&
           step->kind == o->kind;
}

/* The records of one workload are the same in every observation, so the first one speaks for the
 * others: all of them equal it or the predicate fails. */
static const struct raw_observation *first_of(const struct raw *raw, const char *workload)
{
    for (size_t i = 0; i < raw->n_observations; i++)
        if (strcmp(raw->observations[i].workload, workload) == 0)
            return &raw->observations[i];
    return NULL;
}

/* What is wrong with a protocol observation; NULL: nothing. */
static const char *protocol_fault(const struct raw *raw, const struct raw_observation *o)
{
    const struct raw_observation *first = first_of(raw, o->workload);
    if (!o->ready || !o->done)
        return "has no READY or no DONE line";
    if (!text_agrees(o->ready, first->ready) || !text_agrees(o->done, first->done))
        return "has other records than the rest of its workload";
    if (o->stderr_bytes > 0)
        return "wrote to stderr";
    if (o->go_ns < o->start_ns || o->done_ns < o->go_ns || o->exit_ns < o->done_ns)
        return "has stamps out of order";
    return o->elapsed_ns == o->done_ns - o->go_ns ? NULL : "is not the time from GO to DONE";
}

static const char *process_fault(const struct raw_observation *o)
{
    if (o->exit_ns < o->start_ns)
        return "has stamps out of order";
    return o->elapsed_ns == o->exit_ns - o->start_ns ? NULL : "is not the time from spawn to exit";
}

/* What is wrong with a program that was run for its values; NULL: nothing. */
static const char *values_fault(const struct raw *raw, const struct raw_observation *o)
{
    const struct raw_workload *w = &raw->workloads[step_of(raw, o)->workload];

    if (o->exit_ns < o->start_ns)
        return "has stamps out of order";
    if (o->elapsed_ns >= 0)
        return "has a time for a figure";
    return o->n_values == values_count(w, &w->lanes[step_of(raw, o)->lane])
               ? NULL
               : "has not the values that its workload declares";
}

static const char *observation_fault(const struct raw *raw, const struct raw_observation *o)
{
    if (!text_agrees(o->outcome, "ok"))
        return o->outcome ? o->outcome : "has no outcome";
    if (!observed_as_planned(raw, o))
        return "is not what the plan has under its number";
    enum measure measure = raw->workloads[step_of(raw, o)->workload].measure;
    if (measure_runs(measure) && (o->exit_status != 0 || o->exit_signal != 0))
        return "did not exit with 0";
    if (measure_has_values(measure))
        return values_fault(raw, o);
    return measure_has_records(measure) ? protocol_fault(raw, o) : process_fault(o);
}

/* Every step of the plan once: PASS, or what is missing or double. */
static struct predicate_result judge_completeness(const struct grade_input *in)
{
    const struct raw *raw = in->raw;
    bool *seen = arena_array(in->arena, raw->plan.n, sizeof *seen);
    for (size_t i = 0; i < raw->n_observations; i++) {
        const struct raw_observation *o = &raw->observations[i];
        if (!step_of(raw, o))
            continue; /* a fault of the observation, named as such */
        if (seen[o->seq])
            return RESULT(in, TRI_FAIL, "step %d was observed twice", o->seq);
        seen[o->seq] = true;
    }
    for (size_t i = 0; i < raw->plan.n; i++)
        if (!seen[i])
            return RESULT(in, TRI_FAIL, "step %zu of the plan was not observed", i);
    return RESULT(in, TRI_PASS, "%zu observations, each as planned, with exact records",
                  raw->n_observations);
}

struct predicate_result predicate_protocol_exact(const struct grade_input *in)
{
    const struct raw *raw = in->raw;
    if (raw->n_observations == 0)
        return RESULT(in, TRI_FAIL, "nothing was observed");
    for (size_t i = 0; i < raw->n_observations; i++) {
        const struct raw_observation *o = &raw->observations[i];
        const char *fault = observation_fault(raw, o);
        if (fault)
            return RESULT(in, TRI_FAIL, "observation %d (%s %s %s): %s", o->seq, o->workload,
                          o->lane, o->side, fault);
    }
    return judge_completeness(in);
}

/* How many warmups of a lane on a side the plan has, and how many were observed. */
static void count_warmups(const struct raw *raw, const char *workload, const char *lane,
                          const char *side, int *planned, int *observed)
{
    *planned = *observed = 0;
    for (size_t i = 0; i < raw->plan.n; i++)
        *planned += raw->plan.steps[i].kind == OBS_WARMUP &&
                    step_is(raw, &raw->plan.steps[i], workload, lane, side);
    for (size_t i = 0; i < raw->n_observations; i++) {
        const struct raw_observation *o = &raw->observations[i];
        *observed += o->kind == OBS_WARMUP && strcmp(o->workload, workload) == 0 &&
                     strcmp(o->lane, lane) == 0 && strcmp(o->side, side) == 0;
    }
}

static struct predicate_result judge_warmups(const struct grade_input *in,
                                             const struct raw_workload *w, const char *lane)
{
    const struct raw *raw = in->raw;
    for (size_t s = 0; s < raw->n_sides; s++) {
        int planned, observed;
        if (workload_is_absent(w, raw->sides[s]))
            continue;
        count_warmups(raw, w->name, lane, raw->sides[s], &planned, &observed);
        int asked = plan_warmups(w->measure, raw->job.warmups);
        if (planned != asked || observed != planned)
            return RESULT(in, TRI_FAIL, "%s %s %s: %d warmups asked for, %d planned, %d observed",
                          w->name, lane, raw->sides[s], asked, planned, observed);
    }
    return RESULT(in, TRI_PASS, "%d per lane and side, kept and not counted", raw->job.warmups);
}

struct predicate_result predicate_warmups_excluded(const struct grade_input *in)
{
    const struct raw *raw = in->raw;
    struct predicate_result worst =
        RESULT(in, TRI_PASS, "%d per lane and side, kept and not counted", raw->job.warmups);
    for (size_t i = 0; i < raw->n_observations; i++) {
        const struct raw_observation *o = &raw->observations[i];
        const struct plan_step *step = step_of(raw, o);
        if (!step || step->kind != o->kind)
            predicate_fold(
                &worst,
                RESULT(in, TRI_FAIL, "observation %d is of another kind than planned", o->seq));
    }
    for (size_t w = 0; w < raw->n_workloads; w++)
        for (size_t l = 0; l < raw->workloads[w].n_lanes; l++)
            if (lane_takes_part(&raw->workloads[w].lanes[l]))
                predicate_fold(
                    &worst, judge_warmups(in, &raw->workloads[w], raw->workloads[w].lanes[l].name));
    return worst;
}

struct predicate_result predicate_no_override(const struct grade_input *in)
{
    if (in->raw->job.allow_competing)
        return RESULT(in, TRI_FAIL, "competing processes were allowed by the job");
    return RESULT(in, TRI_PASS, "none asked for");
}

struct predicate_result predicate_no_lane_excluded(const struct grade_input *in)
{
    const struct raw *raw = in->raw;
    for (size_t w = 0; w < raw->n_workloads; w++)
        for (size_t l = 0; l < raw->workloads[w].n_lanes; l++)
            if (raw->workloads[w].lanes[l].excluded)
                return RESULT(in, TRI_FAIL, "the job leaves out %s of %s",
                              raw->workloads[w].lanes[l].name, raw->workloads[w].name);
    if (raw->job.n_exclude > 0)
        return RESULT(in, TRI_FAIL, "the job leaves out %zu lanes", raw->job.n_exclude);
    return RESULT(in, TRI_PASS, "every lane takes part");
}

static bool is_of_pair(const struct control_drift *d, const struct job_pair *pair)
{
    return strcmp(d->before_side, pair->reference) == 0 &&
           strcmp(d->after_side, pair->subject) == 0;
}

/* UNKNOWN where one of the pairs of sides has no control to guard it. */
static struct predicate_result judge_guarded(const struct grade_input *in)
{
    size_t n_pairs, guards;
    const struct job_pair *pairs = pairs_of_sides(in->arena, in->raw, &n_pairs);
    for (size_t p = 0; p < n_pairs; p++) {
        guards = 0;
        for (size_t i = 0; i < in->n_drifts; i++)
            guards += is_of_pair(&in->drifts[i], &pairs[p]);
        if (guards == 0)
            return RESULT(in, TRI_UNKNOWN, "the comparison of %s with %s has no control lane",
                          pairs[p].subject, pairs[p].reference);
    }
    return RESULT(in, TRI_PASS, "%zu controls drift by less than %g %%", in->n_drifts,
                  in->raw->policy.drift_limit_pct);
}

struct predicate_result predicate_controls_within_drift(const struct grade_input *in)
{
    if (in->raw->n_sides < 2)
        return RESULT(in, TRI_NOT_APPLICABLE, "there is one side");
    if (!raw_has_times(in->raw))
        return RESULT(in, TRI_NOT_APPLICABLE, "no figure is a time, which could drift");
    struct predicate_result worst = judge_guarded(in);
    for (size_t i = 0; i < in->n_drifts; i++) {
        const struct control_drift *d = &in->drifts[i];
        if (d->within == TRI_UNKNOWN)
            predicate_fold(&worst, RESULT(in, TRI_UNKNOWN, "%s %s: its drift is undefined",
                                          d->workload, d->lane));
        else
            predicate_fold(&worst, RESULT(in, d->within, "%s %s drifts by %.2f %%, limit %g %%",
                                          d->workload, d->lane, d->drift_pct,
                                          in->raw->policy.drift_limit_pct));
    }
    return worst;
}

struct predicate_result predicate_cleanup_verified(const struct grade_input *in)
{
    const char *cleanup = in->raw->cleanup;
    if (!cleanup)
        return RESULT(in, TRI_UNKNOWN, "nothing recorded");
    if (strcmp(cleanup, "verified") != 0)
        return RESULT(in, TRI_FAIL, "not removed: %s", cleanup);
    return RESULT(in, TRI_PASS, "every process tree was gone after its observation");
}

struct predicate_result predicate_repetitions_enough(const struct grade_input *in)
{
    int asked = in->raw->job.repetitions, needed = in->raw->policy.repetitions_min;
    return RESULT(in, asked >= needed ? TRI_PASS : TRI_FAIL, "%d repetitions, the policy asks %d",
                  asked, needed);
}

struct predicate_result predicate_no_profile(const struct grade_input *in)
{
    const struct raw *raw = in->raw;

    for (size_t w = 0; w < raw->n_workloads; w++)
        if (raw->workloads[w].measure == MEASURE_ATTRIBUTION)
            return RESULT(in, TRI_FAIL,
                          "%s counts a profiler's samples, which are never contractual",
                          raw->workloads[w].name);
    return RESULT(in, TRI_NOT_APPLICABLE, "no figure is of a profiler's samples");
}
