#include "sched/attempt.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/disk.h"
#include "base/fault.h"
#include "base/files.h"
#include "base/log.h"
#include "base/mem.h"
#include "sched/sched_internal.h"

static const struct attempt_step STEPS[] = {
    {"setup", "setting up", false, false, false, step_setup},
    {"inventory_before_build", "taking the inventory before build", true, false, false,
     step_inventory_before_build},
    {"checkout", "checking out the sources", true, false, false, step_checkout},
    {"build", "building", false, false, false, step_build},
    {"hash", "hashing sources, tools and products", false, false, false, step_hash},
    {"settle", "letting the host settle", false, false, false, step_settle},
    {"inventory_before_timing", "taking the inventory before timing", true, false, false,
     step_inventory_before_timing},
    {"plan", "storing the plan", false, false, false, step_plan},
    {"measure", "measuring", true, false, false, step_measure},
    {"inventory_after_timing", "taking the inventory after timing", true, false, true,
     step_inventory_after_timing},
    {"rehash", "hashing again", true, false, true, step_rehash},
    {"seal", "sealing the evidence", true, true, true, step_seal},
    {"cleanup", "cleaning up", true, true, false, step_cleanup},
};
#define STEP_COUNT ARRAY_LEN(STEPS)
#define STEP_CLEANUP (STEP_COUNT - 1)
/* A retry in the same boot goes on here, behind what it takes over. */
#define STEP_RESUMED 6
#define EVENT_TEXT_BYTES 1000

static void step_begin(struct attempt *a);
static void begin_again(struct attempt *a);

struct attempt *attempt_new(struct sched *s, const char *id, const char *job_id,
                            struct attempt *parked)
{
    struct attempt *a = parked ? parked : mem_alloc(sizeof *a);

    if (!parked) {
        a->sched = s;
        a->log_fd = -1;
        a->pin_cpu = -1;
        (void)snprintf(a->job_id, sizeof a->job_id, "%s", job_id);
        (void)uv_timer_init(s->loop, &a->timer);
        a->timer.data = a;
    } else {
        arena_rewind(&a->arena, &a->built);
        a->reused_from = a->built_in;
    }
    (void)snprintf(a->id, sizeof a->id, "%s", id);
    if (!parked)
        a->built_in = arena_strdup(&a->arena, id);
    a->step = 0;
    a->end = END_NONE;
    a->refusal = NULL;
    a->stop_asked = false;
    a->after_stored = false;
    err_clear(&a->e);
    return a;
}

void attempt_begin(struct attempt *a)
{
    a->start_ns = clock_mono_ns();
    step_begin(a);
}

static void on_timer_closed(uv_handle_t *handle)
{
    struct attempt *a = handle->data;

    arena_deinit(&a->arena);
    free(a->batch);
    attempt_tallies_deinit(a);
    free(a);
}

void attempt_free(struct attempt *a)
{
    if (!a)
        return;
    /* No runner is left, which could keep the loop waiting: whatever happens the last step, which
     * ends it on another thread, is taken. */
    attempt_log_close(a);
    uv_close((uv_handle_t *)&a->timer, on_timer_closed);
}

int attempt_end_as(struct attempt *a, enum attempt_end how)
{
    if (a->end == END_NONE)
        a->end = how;
    return -ECANCELED;
}

/* What is skipped: after a void attempt all but the steps that seal and clean; after any other
 * early end all but the cleaning. */
static bool step_is_due(const struct attempt *a)
{
    if (a->step == STEP_CLEANUP || a->end == END_NONE)
        return !(a->reused_from && a->step > 0 && a->step < STEP_RESUMED);
    return a->end == END_VOID && STEPS[a->step].after_void;
}

static void next_step(struct attempt *a)
{
    do
        a->step++;
    while (a->step < STEP_COUNT && !step_is_due(a));
    if (a->step == STEP_RESUMED && !a->reused_from)
        a->built = arena_mark(&a->arena);
    if (a->step == STEP_COUNT)
        sched_attempt_over(a->sched, a);
    else
        step_begin(a);
}

/* Sealed, and only the folders are still to be removed: a daemon that stops need not throw away
 * what it has measured. */
static bool is_past_losing(const struct attempt *a)
{
    return a->is_sealed && a->stop_as == END_LOST;
}

static void step_begin(struct attempt *a)
{
    const struct attempt_step *step = &STEPS[a->step];

    if (a->stop_asked && a->end == END_NONE && !is_past_losing(a)) {
        a->end = a->stop_as;
        if (!step_is_due(a)) {
            next_step(a);
            return;
        }
    }
    if (step->alone && a->sched->holds > 0) {
        a->paused = step_begin;
        return;
    }
    sched_set_quiet(a->sched, step->alone);
    attempt_progress(a, step->title);
    a->begun = arena_mark(&a->arena);
    int rc = step->begin(a);
    if (rc < 0 && !(step->holds && attempt_hold(a, rc, begin_again)))
        attempt_step_done(a, rc);
}

/* What the step has put into the arena so far is of no use: a disk may be full for days. */
static void begin_again(struct attempt *a)
{
    arena_rewind(&a->arena, &a->begun);
    step_begin(a);
}

/* A runner that went down is no fault of the job. */
static enum attempt_end end_of_failure(const struct attempt *a, int rc)
{
    if (a->stop_asked)
        return a->stop_as;
    if (rc == -EPIPE && strcmp(a->e.code, "runner.lost") == 0)
        return END_LOST;
    return disk_is_full(rc) && a->state == JOB_PREPARING ? END_FULL : END_FAILED;
}

void attempt_step_done(struct attempt *a, int rc)
{
    if (rc < 0)
        attempt_end_as(a, end_of_failure(a, rc));
    if (rc < 0 && !err_is_set(&a->e) && a->end == END_FAILED)
        (void)err_set(&a->e, rc, "attempt.failed", STEPS[a->step].name, "%s failed: %s",
                      STEPS[a->step].title, strerror(-rc));
    attempt_held_over(a, rc >= 0);
    sched_set_quiet(a->sched, false);
    next_step(a);
}

void attempt_pause_point(struct attempt *a, void (*go_on)(struct attempt *a))
{
    sched_set_quiet(a->sched, false);
    if (a->sched->holds > 0) {
        a->paused = go_on;
        return;
    }
    sched_set_quiet(a->sched, STEPS[a->step].alone);
    go_on(a);
}

void attempt_resume(struct attempt *a)
{
    void (*go_on)(struct attempt *) = a->paused;

    a->paused = NULL;
    if (!go_on)
        return;
    sched_set_quiet(a->sched, STEPS[a->step].alone);
    go_on(a);
}

void attempt_stop(struct attempt *a, enum attempt_end how)
{
    if (a->stop_asked && how == END_CANCELLED)
        a->stop_as = how; /* its job is over already, whatever the daemon does */
    if (a->unstored) {
        sched_attempt_over(a->sched, a);
        return;
    }
    if (a->stop_asked)
        return;
    a->stop_asked = true;
    a->stop_as = how;
    attempt_held_wake(a);
    if (a->building || a->observing || a->preparing.req)
        (void)run_cancel(a->run);
    if (a->settling) {
        (void)uv_timer_stop(&a->timer);
        a->settling = false;
        attempt_step_done(a, 0);
    }
}

/* ---- the worker thread */

static void on_work(uv_work_t *work)
{
    struct attempt *a = work->data;

    a->work_rc = a->work_fn(a);
    FAULT_POINT("work.done");
}

/* What was done on the thread is stored, which may have to wait. Sealing itself stores: it is done
 * again as a whole. */
static void finish_work(struct attempt *a)
{
    bool sealing = STEPS[a->step].after_void;
    int rc = a->work_rc;

    /* A cancelled job has no further events: what the step would store comes too late. */
    if (rc == 0 && a->stop_asked && !sealing)
        rc = attempt_end_as(a, a->stop_as);
    if (rc == 0 && a->work_done)
        rc = a->work_done(a);
    bool waits = STEPS[a->step].holds && (a->work_rc == 0 || sealing);
    if (rc < 0 && waits && attempt_hold(a, rc, a->work_rc < 0 ? begin_again : finish_work))
        return;
    attempt_step_done(a, rc);
}

static void on_work_done(uv_work_t *work, int status)
{
    struct attempt *a = work->data;

    if (status < 0)
        a->work_rc = status;
    finish_work(a);
}

int attempt_on_worker(struct attempt *a, int (*work)(struct attempt *),
                      int (*done)(struct attempt *))
{
    a->work.data = a;
    a->work_fn = work;
    a->work_done = done;
    return uv_queue_work(a->sched->loop, &a->work, on_work, on_work_done);
}

/* ---- what a person sees */

const char *attempt_step_name(const struct attempt *a)
{
    return a->step < STEP_COUNT ? STEPS[a->step].name : NULL;
}

void attempt_event(const struct attempt *a, const char *text, struct sched_event *out)
{
    *out = (struct sched_event){.job = a->job_id,
                                .state = a->state,
                                .step = attempt_step_name(a),
                                .text = text,
                                .done = (int)a->plan_next,
                                .total = a->plan ? (int)a->plan->n : 0,
                                .left_ms = attempt_left_ms(a),
                                .next_try_ms = -1,
                                .log_bytes = a->log_fd >= 0 ? a->log_bytes : 0};
}

/* Names out of a suite may be very long; what watchers are told is one line. */
static const char *clip(const char *text, char out[EVENT_TEXT_BYTES + 1])
{
    size_t len = strlen(text);

    if (len <= EVENT_TEXT_BYTES)
        return text;
    for (len = EVENT_TEXT_BYTES; len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80;)
        len--; /* not inside a character */
    memcpy(out, text, len);
    out[len] = '\0';
    return out;
}

void attempt_progress(struct attempt *a, const char *text)
{
    char clipped[EVENT_TEXT_BYTES + 1];
    struct sched_event event;

    attempt_event(a, clip(text, clipped), &event);
    sched_tell(a->sched, &event);
}
