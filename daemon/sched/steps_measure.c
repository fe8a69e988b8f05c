/* Timing: the plan is stored, then observation follows observation.
 *
 * From GO to DONE this thread, the only one there is, sits in one read of the runner's pipe; the
 * loop stands still. It turns between observations. A repetition is committed as one batch before
 * the next begins, watchers are told then, and a short rest lets them redraw before the next timed
 * interval. A lane whose warmup lasted long lets the loop turn every five seconds (observer.c).
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "base/mem.h"
#include "core/summary/observations.h"
#include "run/run_text.h"
#include "run/run_values.h"
#include "sched/calendar.h"
#include "sched/sched_internal.h"

#define REST_MS 10
/* A timer of 0 ms would be due again within the same turn: no client would ever be heard. */
#define TURN_MS 1
/* Long enough for a client to connect, ask and be answered; the lane goes on, timed by the runner.
 */
#define LISTEN_MS 50

/* ---- the plan */

const bool *const *attempt_present_lanes(struct attempt *a)
{
    const bool **present = arena_array(&a->arena, a->raw.n_workloads, sizeof *present);

    for (size_t w = 0; w < a->raw.n_workloads; w++) {
        const struct raw_workload *workload = &a->raw.workloads[w];
        size_t n = workload->n_lanes * a->n_sides;
        bool *lanes = arena_array(&a->arena, n, sizeof *lanes);
        for (size_t i = 0; i < n; i++)
            lanes[i] = lane_takes_part(&workload->lanes[i / a->n_sides]) &&
                       !workload_is_absent(workload, a->sides[i % a->n_sides].name);
        present[w] = lanes;
    }
    return present;
}

static void index_lanes(struct attempt *a)
{
    size_t total = 0;

    a->lane_base = arena_array(&a->arena, a->suite->n_workloads, sizeof *a->lane_base);
    for (size_t w = 0; w < a->suite->n_workloads; w++) {
        a->lane_base[w] = total;
        total += a->suite->workloads[w].n_lanes;
    }
    a->lane_last_ns = arena_array(&a->arena, total, sizeof *a->lane_last_ns);
    a->first_outputs = arena_array(&a->arena, total * a->n_sides, sizeof *a->first_outputs);
}

static int timing_begins(struct attempt *a)
{
    const char *night = a->schedule.night[0] ? a->schedule.night : NULL;
    const struct store_event with = {
        .wall_ms = sched_now_ms(a->sched), .next_try_ms = -1, .attempt = a->id, .night = night};
    struct job_step step;
    int rc =
        store_job_event(a->sched->config.store, a->job_id, JOB_TIMING_BEGINS, &with, &step, &a->e);

    if (rc == 0)
        a->state = step.to;
    return rc;
}

static int store_plan(struct attempt *a)
{
    if (a->plan_stored == a->plan->n)
        return 0;
    int rc = store_put_plan(a->sched->config.store, a->id, a->plan, a->plan_stored, a->suite,
                            a->raw.sides, a->n_sides, &a->e);
    if (rc == 0)
        a->plan_stored = a->plan->n;
    return rc;
}

int step_plan(struct attempt *a)
{
    int rc = calendar_before_timing(a);

    FAULT_POINT("step.plan");
    if (rc < 0)
        return rc;
    a->plan = plan_make(&a->arena, a->suite, a->n_sides, a->job->repetitions, a->job->warmups,
                        a->job->order, attempt_present_lanes(a));
    if (a->plan->n == 0)
        return err_set(&a->e, -EINVAL, "job.nothing_to_measure", "exclude",
                       "every lane is excluded or absent; exclude fewer lanes");
    index_lanes(a);
    replacements_begin(a);
    a->plan_next = 0;
    a->n_batch = 0;
    a->plan_stored = 0;
    rc = store_plan(a);
    FAULT_POINT("plan.stored");
    if (rc == 0)
        rc = timing_begins(a);
    FAULT_POINT("timing.begun");
    if (rc < 0)
        return rc;
    attempt_say(a, "timing begins: %zu observations, %d repetitions", a->plan->n,
                a->job->repetitions);
    attempt_step_done(a, 0);
    return 0;
}

int64_t attempt_left_ms(const struct attempt *a)
{
    int64_t left_ns = 0;

    if (!a->plan)
        return -1;
    for (size_t i = a->plan_next; i < a->plan->n; i++) {
        const struct plan_step *step = &a->plan->steps[i];
        int64_t last_ns = a->lane_last_ns[a->lane_base[step->workload] + (size_t)step->lane];
        if (!measure_runs(a->suite->workloads[step->workload].measure))
            continue;
        if (last_ns == 0)
            return -1;
        left_ns += last_ns;
    }
    return left_ns / 1000000;
}

/* ---- observations */

static void on_turn(uv_timer_t *timer);
static void turn(struct attempt *a);

static void turn_loop(struct attempt *a, uint64_t ms)
{
    (void)uv_timer_start(&a->timer, on_turn, ms, 0);
}

static int64_t offset(const struct attempt *a, int64_t stamp_ns)
{
    return stamp_ns < 0 ? -1 : stamp_ns - a->start_ns;
}

/* Puts the runner's observation into its place in the plan, with stamps as offsets. */
static void place(struct attempt *a, const struct plan_step *step, struct raw_observation *o)
{
    o->seq = step->seq;
    o->workload = a->suite->workloads[step->workload].name;
    o->lane = a->suite->workloads[step->workload].lanes[step->lane].name;
    o->side = a->sides[step->side].name;
    o->repetition = step->repetition;
    o->position = step->position;
    o->kind = step->kind;
    o->replaces = step->replaces;
    o->start_ns = offset(a, o->start_ns);
    o->go_ns = offset(a, o->go_ns);
    o->done_ns = offset(a, o->done_ns);
    o->exit_ns = offset(a, o->exit_ns);
}

/* The steps of a build are of one repetition. */
static bool ends_repetition(const struct suite *suite, const struct plan *plan, size_t i)
{
    const struct plan_step *x = &plan->steps[i], *y = x + 1;

    return i + 1 == plan->n || x->repetition != y->repetition || x->kind != y->kind ||
           (x->workload != y->workload &&
            !plan_is_one_build(suite->workloads[x->workload].steps_of,
                               suite->workloads[y->workload].steps_of));
}

static int commit_batch(struct attempt *a)
{
    FAULT_POINT("repetition.complete");
    int rc = attempt_write_tallies(a);

    if (rc == 0)
        rc = store_put_observations(a->sched->config.store, a->id, a->batch, a->n_batch, &a->e);

    FAULT_POINT("repetition.committed");
    if (rc == 0)
        a->n_batch = 0;
    return rc;
}

static void log_last_output(struct attempt *a, const struct run_observation *o)
{
    if (o->stdout_tail[0])
        attempt_log_text(a, "the child's last output", o->stdout_tail);
    if (o->stderr_tail[0])
        attempt_log_text(a, "the child's last error output", o->stderr_tail);
}

/* The observations of a repetition, and what of the plan comes behind them. 1; or negative: over,
 * or not stored, and then it may be called again. */
static int store_repetition(struct attempt *a)
{
    int rc = a->n_batch ? commit_batch(a) : 0;

    if (rc == 0 && a->end != END_NONE)
        rc = -ECANCELED;
    if (rc == 0 && a->plan_next == a->plan->n)
        replacements_plan(a);
    if (rc == 0)
        rc = store_plan(a);
    a->unsaved = rc < 0;
    return rc < 0 ? rc : 1;
}

/* A wrong answer is never a fast answer: the whole attempt is void. */
static int make_void(struct attempt *a, const struct plan_step *step, const struct run_observe *req,
                     const struct run_observation *o)
{
    const struct workload *w = &a->suite->workloads[step->workload];
    const struct run_text_who who = {w->name, w->lanes[step->lane].name, a->sides[step->side].name};

    (void)run_observe_text(&who, req, o, &a->e);
    log_last_output(a, o);
    if (o->unremoved)
        sched_block(a->sched, o->unremoved);
    a->raw.cleanup = o->unremoved ? o->unremoved : "verified";
    (void)attempt_end_as(a, END_VOID);
    return store_repetition(a);
}

/* Takes in one observation. 1: the repetition is complete too; 0: go on; negative: over. */
static int keep(struct attempt *a, const struct run_observe *req, struct run_observation *o)
{
    const struct plan_step *step = &a->plan->steps[a->plan_next];

    place(a, step, &o->raw);
    if (measure_runs(req->measure))
        host_probe_observed(a->sched->config.probe, &o->raw);
    a->lane_last_ns[a->lane_base[step->workload] + (size_t)step->lane] = o->raw.process_ns;
    bool good = strcmp(o->raw.outcome, "ok") == 0;
    if (good)
        replacements_note(a, step, &o->raw);
    MEM_GROW(a->batch, a->n_batch, a->batch_cap);
    a->batch[a->n_batch++] = o->raw;
    if (!good)
        return make_void(a, step, req, o);
    bool end = ends_repetition(a->suite, a->plan, a->plan_next);
    a->plan_next++;
    return end ? store_repetition(a) : 0;
}

/* The runner has answered. As keep(). */
static int observed(struct attempt *a)
{
    struct run_observation o;

    FAULT_POINT("observation.reported");
    a->unsaved = false;
    int rc = run_observe_finish(a->run, &a->arena, &o, &a->e);
    if (rc < 0)
        return rc;
    observer_ends(a);
    run_values_take(&a->arena, a->observing, &o);
    attempt_take_outputs(a, &a->plan->steps[a->plan_next], &o);
    attempt_take_tally(a, &a->plan->steps[a->plan_next], &o);
    return keep(a, a->observing, &o);
}

static enum measure next_measure(const struct attempt *a)
{
    return a->suite->workloads[a->plan->steps[a->plan_next].workload].measure;
}

/* What nothing has to be run for. As keep(). */
static int look(struct attempt *a)
{
    const struct run_observe req = {.measure = next_measure(a)};
    struct run_observation o;

    a->unsaved = false;
    if (a->stop_asked)
        return attempt_end_as(a, a->stop_as);
    attempt_weigh(a, &a->plan->steps[a->plan_next], &o);
    return keep(a, &req, &o);
}

static int begin_observation(struct attempt *a)
{
    struct run_observe *req = arena_alloc(&a->arena, sizeof *req);

    if (a->stop_asked)
        return attempt_end_as(a, a->stop_as);
    int rc = attempt_lane_request(a, &a->plan->steps[a->plan_next], req);

    if (rc == 0)
        rc = run_observe_begin(a->run, req, &a->e);
    if (rc < 0)
        return rc;
    a->observing = req;
    FAULT_POINT("observation.begun");
    observer_begins(a);
    return 0;
}

/* LANE_READY: the next observation is under way. LANE_PREPARING: not yet. LANE_SPOILT: it cannot
 * begin, and *out is what it is then. Negative: over. */
static int begin_next(struct attempt *a, struct run_observation *out)
{
    int rc = attempt_prepare_lane(a, &a->plan->steps[a->plan_next], out);

    return rc == LANE_READY ? begin_observation(a) : rc;
}

/* The next observation never began. As keep(). */
static int spoil(struct attempt *a, struct run_observation *o)
{
    const struct run_observe req = {.measure = next_measure(a)};

    a->unsaved = false;
    return keep(a, &req, o);
}

static int await(struct attempt *a)
{
    const struct plan_step *step = &a->plan->steps[a->plan_next];
    int64_t last_ns = a->lane_last_ns[a->lane_base[step->workload] + (size_t)step->lane];

    struct run_observation none;
    int rc = run_wait(a->run, observer_deaf_ms(a, last_ns));
    return rc == -EPIPE ? run_observe_finish(a->run, &a->arena, &none, &a->e) : rc;
}

static void over(struct attempt *a, int rc)
{
    if (a->n_batch && rc < 0)
        (void)commit_batch(a);
    FAULT_POINT("measure.over");
    store_set_quiet(a->sched->config.store, false);
    observer_say(a);
    attempt_step_done(a, rc);
}

static void next_repetition(struct attempt *a)
{
    turn_loop(a, REST_MS);
}

static void store_again(struct attempt *a);

/* After an observation: 1 when a repetition was stored, 0 inside of one, negative: it is over. */
static void go_on(struct attempt *a, int rc)
{
    if (rc < 0 && a->unsaved && attempt_hold(a, rc, store_again))
        return;
    if (rc == 1)
        attempt_held_over(a, true);
    if (rc < 0) {
        if (a->stop_asked)
            a->end = a->stop_as;
        over(a, rc);
    } else if (a->plan_next == a->plan->n) {
        over(a, 0);
    } else if (rc == 1) {
        attempt_progress(a, "measuring");
        attempt_pause_point(a, next_repetition);
    } else {
        turn_loop(a, TURN_MS);
    }
}

static void store_again(struct attempt *a)
{
    go_on(a, store_repetition(a));
}

static void wait_for_lane(struct attempt *a)
{
    int rc = await(a);

    if (rc == -EAGAIN) {
        observer_turns(a);
        turn_loop(a, LISTEN_MS);
        return;
    }
    if (rc == 0)
        rc = observed(a);
    a->observing = NULL;
    go_on(a, rc);
}

/* What the disk was in the way of is done again from its beginning: nothing is lost by it. */
static void not_begun(struct attempt *a, int rc)
{
    if (!attempt_hold(a, rc, turn))
        go_on(a, rc);
}

static void begin(struct attempt *a)
{
    struct run_observation spoilt;
    int rc = begin_next(a, &spoilt);

    if (rc == LANE_SPOILT) {
        go_on(a, spoil(a, &spoilt));
    } else if (rc == LANE_PREPARING) {
        rc = untimed_await(a, turn);
        if (rc < 0)
            go_on(a, rc);
    } else if (rc == LANE_READY) {
        attempt_held_over(a, true);
        wait_for_lane(a);
    } else {
        not_begun(a, rc);
    }
}

static void turn(struct attempt *a)
{
    if (!measure_runs(next_measure(a)))
        go_on(a, look(a));
    else if (a->observing)
        wait_for_lane(a);
    else
        begin(a);
}

static void on_turn(uv_timer_t *timer)
{
    turn(timer->data);
}

int step_measure(struct attempt *a)
{
    FAULT_POINT("step.measure");
    a->observing = NULL;
    a->preparing = (struct preparing){0};
    a->observer = (struct observer){0};
    store_set_quiet(a->sched->config.store, true);
    turn_loop(a, REST_MS);
    return 0;
}

/* ---- after timing */

static int judge_after_timing(struct attempt *a)
{
    const struct store_event with = {
        .wall_ms = sched_now_ms(a->sched), .next_try_ms = -1, .attempt = a->id};
    struct job_step step;
    int rc = a->after_stored ? 0 : attempt_judge_phase(a, PHASE_AFTER_TIMING);

    a->after_stored = rc == 0;
    if (rc == 0)
        rc = store_job_event(a->sched->config.store, a->job_id, JOB_TIMING_ENDS, &with, &step,
                             &a->e);
    if (rc < 0)
        return rc;
    FAULT_POINT("timing.ended");
    a->state = step.to;
    a->requeue = a->phases[PHASE_AFTER_TIMING].inventory->state != INVENTORY_QUIET &&
                 !a->job->allow_competing;
    return 0;
}

int step_inventory_after_timing(struct attempt *a)
{
    FAULT_POINT("step.inventory_after_timing");
    return attempt_take_phase(a, PHASE_AFTER_TIMING, judge_after_timing);
}
