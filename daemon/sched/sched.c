#include "sched/sched.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/disk.h"
#include "base/fault.h"
#include "base/files.h"
#include "base/log.h"
#include "base/mem.h"
#include "evidence/evidence.h"
#include "sched/calendar.h"
#include "sched/calibrating.h"
#include "sched/hooks.h"
#include "sched/sched_internal.h"
#include "store/hooks.h"

#define RETRY_POLL_MAX_MS 60000 /* wall time may step: look again at least so often */

/* ---- telling */

void sched_listen(struct sched *s, sched_listener fn, void *ctx)
{
    s->listener = fn;
    s->listener_ctx = ctx;
}

void sched_tell(struct sched *s, const struct sched_event *event)
{
    if (s->listener)
        s->listener(s->listener_ctx, event);
}

bool sched_active(const struct sched *s, struct sched_event *out)
{
    if (!s->active)
        return false;
    attempt_event(s->active, NULL, out);
    return true;
}

bool sched_is_timing(const struct sched *s)
{
    return s->active && s->active->state == JOB_MEASURING;
}

const char *sched_blocked(const struct sched *s)
{
    return s->blocked[0] ? s->blocked : s->stuck[0] ? s->stuck : NULL;
}

void sched_block(struct sched *s, const char *who)
{
    (void)snprintf(s->blocked, sizeof s->blocked,
                   "%s could not be ended; end it by hand and restart aurabenchd", who);
}

const char *sched_beside_runner(const struct sched *s, struct arena *a, const char *name)
{
    const char *runner = s->config.runner_path, *slash = strrchr(runner, '/');

    return arena_printf(a, "%.*s/%s", slash ? (int)(slash - runner) : 1, slash ? runner : ".",
                        name);
}

/* ---- claiming */

int64_t sched_now_ms(const struct sched *s)
{
    return host_probe_wall_ms(s->config.probe);
}

static void on_retry_timer(uv_timer_t *timer)
{
    sched_kick(timer->data);
}

static int64_t sooner(int64_t a_ms, int64_t b_ms)
{
    return a_ms < 0 || (b_ms >= 0 && b_ms < a_ms) ? b_ms : a_ms;
}

/* due_ms: what the queue waits for, wall clock; -1: nothing. */
static void arm_retry(struct sched *s, int64_t due_ms)
{
    int64_t most_ms = s->config.poll_max_ms > 0 ? s->config.poll_max_ms : RETRY_POLL_MAX_MS;
    int64_t wait_ms = due_ms < 0 ? -1 : due_ms - sched_now_ms(s);

    if (due_ms >= 0 && wait_ms < 0)
        wait_ms = 0;
    wait_ms = sooner(wait_ms, hooks_wait_ms(s));
    if (!sched_blocked(s) && s->drained_ms < 0)
        wait_ms = sooner(wait_ms, calibrating_wait_ms(s));
    if (wait_ms < 0)
        return;
    if (wait_ms > most_ms)
        wait_ms = most_ms;
    (void)uv_timer_start(&s->retry_timer, on_retry_timer, (uint64_t)wait_ms, 0);
}

static int64_t next_due_ms(struct sched *s)
{
    struct err e = {0};
    int64_t due_ms = -1;

    if (store_next_due_ms(s->config.store, &due_ms, &e) < 0)
        log_err("looking for the next try", 0, &e);
    return due_ms;
}

/* A boot that this scheduler has not seen: jobs may have waited for it. */
static int note_boot(struct sched *s, const char *boot, struct err *e)
{
    if (strcmp(s->boot_id, boot) == 0)
        return 0;
    (void)snprintf(s->boot_id, sizeof s->boot_id, "%s", boot);
    calibrating_note_boot(s, boot);
    return store_session_wake(s->config.store, boot, sched_now_ms(s), e);
}

int sched_identify(struct sched *s, struct host_identity *host, struct boot_identity *boot,
                   struct arena *arena, struct err *e)
{
    int rc = host_probe_identity(s->config.probe, arena, host, e);

    if (rc == 0)
        rc = host_probe_boot(s->config.probe, arena, boot, e);
    if (rc == 0)
        rc = store_boot_put(s->config.store, host, boot, sched_now_ms(s), e);
    return rc < 0 ? rc : note_boot(s, boot->id, e);
}

static void begin_attempt(struct sched *s, const char *id, const char *job)
{
    struct attempt *parked = parked_take_this_boot(s, job);
    struct attempt *a = attempt_new(s, id, job, parked);
    int rc = 0;

    s->active = a;
    a->state = JOB_PREPARING;
    if (!parked) {
        rc = attempt_load(s, a);
        if (rc == 0)
            rc = sched_identify(s, &a->host, &a->boot, &a->arena, &a->e);
    }
    if (rc < 0) {
        /* Without its documents there is nothing to clean up either. */
        (void)attempt_end_as(a, disk_is_full(rc) ? END_FULL : END_FAILED);
        sched_attempt_over(s, a);
        return;
    }
    (void)attempt_log_open(a);
    attempt_say(a, "attempt %s begins", id);
    attempt_begin(a);
}

static int claim(struct sched *s, char id[ULID_LEN + 1], char job[ULID_LEN + 1], struct err *e)
{
    struct arena arena = {0};
    struct host_identity host;
    struct boot_identity boot;
    struct calendar calendar = {.sched = s, .boot = &boot, .now_ms = sched_now_ms(s)};
    struct store_new_attempt attempt = {
        .id = id, .version = AURABENCH_VERSION, .gate = calendar_gate, .gate_ctx = &calendar};

    ulid_new(id);
    FAULT_POINT("claim.begin");
    int rc = sched_identify(s, &host, &boot, &arena, e);
    if (rc == 0)
        rc = calendar_expire(s, e);
    if (rc == 0) {
        attempt.boot = boot.id;
        rc = store_job_claim(s->config.store, calendar.now_ms, &attempt, job, e);
    }
    if (rc >= 0)
        calendar_tell(&calendar);
    calendar_deinit(&calendar);
    arena_deinit(&arena);
    return rc;
}

/* A full disk, say: jobs wait until it is mended, not until the next submit. Said once. */
static void claim_later(struct sched *s, const char *what, int rc, const struct err *e)
{
    if (!s->claim_failed)
        log_err(what, rc, e);
    s->claim_failed = true;
    (void)snprintf(s->stuck, sizeof s->stuck, "%.400s; jobs wait for it", e->text);
    (void)uv_timer_start(&s->retry_timer, on_retry_timer, sched_again_ms(s), 0);
}

static void claim_worked(struct sched *s)
{
    if (s->claim_failed)
        s->stuck[0] = '\0';
    s->claim_failed = false;
}

/* Nothing goes before the hooks that are due. */
static void rest(struct sched *s, int64_t due_ms)
{
    hooks_pause_ends(s);
    if (!hooks_begin(s))
        arm_retry(s, due_ms);
}

static void claim_next(struct sched *s)
{
    char id[ULID_LEN + 1], job[ULID_LEN + 1];
    struct err e = {0};
    int rc = claim(s, id, job, &e);

    if (rc >= 0)
        claim_worked(s);
    if (rc < 0) {
        claim_later(s, "claiming a job", rc, &e);
    } else if (rc == 0) {
        FAULT_POINT("attempt.claimed");
        hooks_pause_ends(s);
        begin_attempt(s, id, job);
    } else if (rc == STORE_AGAIN) {
        sched_kick(s);
    } else {
        rest(s, next_due_ms(s));
    }
}

static void take_next(struct sched *s)
{
    if (hooks_begin(s))
        return;
    if (!s->blocked[0] && s->drained_ms < 0) {
        if (!calibrating_begin(s))
            claim_next(s);
        return;
    }
    claim_worked(s); /* none is tried */
    rest(s, s->blocked[0] ? -1 : drain_turn(s));
}

static bool is_busy(const struct sched *s)
{
    return s->active || hooks_running(s) || calibrating_running(s);
}

static void on_kick(uv_idle_t *idle)
{
    struct sched *s = idle->data;
    struct err e = {0};

    (void)uv_idle_stop(idle);
    if (s->stopping)
        return;
    /* Before the claim: whom an end has freed may go first. After it: deadlines that it found
     * passed are ends too, and may have to be told. */
    int rc = clock_back_follow(s, &e);
    if (rc == 0)
        rc = sched_settle(s, &e);
    if (rc == 0 && !is_busy(s)) {
        take_next(s);
        rc = sched_settle(s, &e);
        if (!is_busy(s))
            (void)hooks_begin(s);
    } else if (rc == 0) {
        claim_worked(s);
    }
    if (rc < 0)
        claim_later(s, "looking at the clock and at the jobs that come after an ended one", rc, &e);
    sched_tell_state(s);
}

void sched_calibration_over(struct sched *s)
{
    sched_hook_over(s);
}

void sched_hook_over(struct sched *s)
{
    if (s->stopping)
        s->stopped(s->stopped_ctx);
    else
        sched_kick(s);
}

void sched_kick(struct sched *s)
{
    (void)uv_timer_stop(&s->retry_timer);
    if (!s->stopping)
        (void)uv_idle_start(&s->kick, on_kick);
}

/* ---- cancelling */

int sched_cancel(struct sched *s, const char *job, const char *text, int64_t uid,
                 enum job_state *state, struct err *e)
{
    bool running = s->active && strcmp(s->active->job_id, job) == 0;
    const struct store_event with = {.wall_ms = sched_now_ms(s),
                                     .next_try_ms = -1,
                                     .peer_uid = &uid,
                                     .text = text,
                                     .attempt = running ? s->active->id : NULL};
    struct job_step step;

    int rc = store_job_event(s->config.store, job, JOB_CANCEL, &with, &step, e);
    if (rc < 0)
        return rc;
    FAULT_POINT("cancel.stored");
    *state = step.to;
    if (running) {
        s->active->state = step.to;
        attempt_stop(s->active, END_CANCELLED);
        return 0;
    }
    sched_drop_parked(s, job);
    const struct sched_event event = {
        .job = job, .state = step.to, .left_ms = -1, .next_try_ms = -1};
    sched_tell(s, &event);
    sched_kick(s); /* others may come after it */
    return 0;
}

/* ---- the end of an attempt */

static void tell_over(struct sched *s, const struct attempt *a, enum job_state state,
                      const char *text, int64_t next_try_ms)
{
    const struct sched_event event = {
        .job = a->job_id, .state = state, .text = text, .left_ms = -1, .next_try_ms = next_try_ms};
    sched_tell(s, &event);
}

/* A full or failing disk, say: it may be mended. What the store refuses for good it refuses again.
 */
static bool may_pass(int rc)
{
    return rc < 0 && rc != -EINVAL && rc != -ENOENT && rc != -EBADMSG;
}

static void on_store_again(uv_timer_t *timer)
{
    struct attempt *a = timer->data;

    sched_attempt_over(a->sched, a);
}

/* Nothing else is begun meanwhile: the job would stay as it is, neither running nor over. */
static void store_later(struct attempt *a, const struct arena_mark *mark, const struct err *e)
{
    (void)snprintf(a->sched->stuck, sizeof a->sched->stuck,
                   "%.400s; how attempt %s ended waits for it", e->text, a->id);
    arena_rewind(&a->arena, mark);
    a->unstored = true;
    (void)uv_timer_start(&a->timer, on_store_again, sched_again_ms(a->sched), 0);
}

/* What the store refused for good would be refused again: the job fails with just that. Where it
 * does not take even this, nothing goes on, in plain sight. */
static int store_plainly(struct sched *s, struct attempt *a, const struct err *refused,
                         enum job_state *state, const char **text)
{
    struct err e = {0};
    int rc = outcome_fail(s, a, refused, state, text, &e);

    if (rc < 0)
        log_err("storing that an attempt failed", rc, &e);
    if (rc < 0 && !may_pass(rc))
        (void)snprintf(s->blocked, sizeof s->blocked,
                       "the store refuses to take how attempt %s ended (%s); look at the daemon's "
                       "log and restart aurabenchd",
                       a->id, e.code);
    return rc;
}

void sched_attempt_over(struct sched *s, struct attempt *a)
{
    const struct arena_mark mark = arena_mark(&a->arena);
    int64_t next_try_ms = -1;
    const char *text = NULL;
    struct err e = {0};
    enum job_state state = a->state;
    bool first = !a->unstored;

    (void)uv_timer_stop(&a->timer);
    a->unstored = false;
    FAULT_POINT("attempt.over");
    int rc = outcome_store(s, a, &state, &text, &next_try_ms, &e);
    if (rc < 0 && first)
        log_err("storing how an attempt ended", rc, &e);
    if (rc < 0 && !may_pass(rc))
        rc = store_plainly(s, a, &e, &state, &text);
    if (may_pass(rc) && !s->stopping) {
        store_later(a, &mark, &e);
        return;
    }
    FAULT_POINT("attempt.stored");
    s->active = NULL;
    s->stuck[0] = '\0';
    tell_over(s, a, state, text, next_try_ms);
    if (attempt_keeps_builds(a) && state == JOB_WAITING && !s->stopping) {
        attempt_log_close(a);
        parked_put(s, a);
    } else if (attempt_keeps_builds(a)) {
        parked_discard(a); /* no try will follow */
    } else {
        attempt_free(a);
    }
    if (s->stopping)
        s->stopped(s->stopped_ctx);
    else
        sched_kick(s);
}

/* ---- sessions */

int sched_seal_session(const struct sched *s, struct evidence_session *in,
                       char sums_sha256[DIGEST_HEX], struct err *e)
{
    CLEANUP(mem_freep) char *folder = file_join(s->evidence_root, in->id);

    in->root = s->evidence_root;
    in->key = s->config.key;
    /* Left by a daemon that went down before the store had it: nobody was told of it. */
    int rc = file_rmtree(folder, e);
    return rc < 0 ? rc : evidence_seal_session(in, sums_sha256, e);
}

/* ---- life */

static int make_roots(struct sched *s, struct err *e)
{
    const char *state = s->config.state_dir;
    int rc;

    s->work_root = file_join(state, "work");
    s->evidence_root = file_join(state, "evidence");
    s->log_root = file_join(state, "logs");
    s->trash_root = file_join(state, "trash");
    rc = file_mkdirs(s->evidence_root, 0755, e);
    if (rc == 0)
        rc = file_mkdirs(s->log_root, 0700, e);
    return rc;
}

int sched_new(uv_loop_t *loop, const struct sched_config *config, struct sched **out, struct err *e)
{
    struct sched *s = mem_alloc(sizeof *s);

    s->loop = loop;
    s->config = *config;
    (void)uv_timer_init(loop, &s->retry_timer);
    (void)uv_idle_init(loop, &s->kick);
    s->retry_timer.data = s->kick.data = s;
    s->open_handles = 2;
    s->hooks = hooks_new(s);
    s->calibrating = calibrating_new(s);
    s->drained_ms = s->drained_by = -1;
    *out = s;
    return make_roots(s, e);
}

int sched_start(struct sched *s, struct err *e)
{
    int rc = recovery_run(s, e);

    trash_put(s, s->work_root);
    trash_empty(s);
    if (rc == 0)
        rc = file_mkdirs(s->work_root, 0755, e);
    if (rc == 0)
        rc = evidence_sweep(s->evidence_root, e);
    if (rc == 0)
        rc = store_hooks_recover(s->config.store, sched_now_ms(s), e);
    if (rc == 0)
        rc = drain_load(s, e);
    if (rc == 0)
        sched_kick(s);
    return rc;
}

void sched_stop(struct sched *s, void (*done)(void *ctx), void *ctx)
{
    s->stopping = true;
    s->stopped = done;
    s->stopped_ctx = ctx;
    (void)uv_timer_stop(&s->retry_timer);
    (void)uv_idle_stop(&s->kick);
    if (s->active)
        attempt_stop(s->active, END_LOST);
    else if (hooks_running(s))
        hooks_stop(s);
    else if (calibrating_running(s))
        calibrating_stop(s);
    else
        done(ctx);
}

void sched_release(struct sched *s)
{
    if (--s->open_handles > 0)
        return;
    free(s->work_root);
    free(s->evidence_root);
    free(s->log_root);
    free(s->trash_root);
    free(s->waiting);
    free(s);
}

static void on_closed(uv_handle_t *handle)
{
    sched_release(handle->data);
}

void sched_free(struct sched *s)
{
    if (!s)
        return;
    s->freed = true;
    while (s->n_parked)
        parked_discard(parked_take(s, s->parked[0]->job_id));
    hooks_close(s);
    calibrating_close(s);
    uv_close((uv_handle_t *)&s->retry_timer, on_closed);
    uv_close((uv_handle_t *)&s->kick, on_closed);
}
