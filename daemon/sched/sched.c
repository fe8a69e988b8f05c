#include "sched/sched.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "base/log.h"
#include "base/mem.h"
#include "evidence/evidence.h"
#include "sched/calendar.h"
#include "sched/sched_internal.h"

#define CLAIM_AGAIN_MS 10000    /* after a claim that the store could not make */
#define STORE_AGAIN_MS 5000     /* after an end that it could not take */
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
    return s->blocked[0] ? s->blocked : NULL;
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

static void arm_retry(struct sched *s)
{
    struct err e = {0};
    int64_t due_ms = -1;

    if (store_next_due_ms(s->config.store, &due_ms, &e) < 0)
        log_err("looking for the next try", 0, &e);
    if (due_ms < 0)
        return;
    int64_t wait_ms = due_ms - sched_now_ms(s);
    int64_t most_ms = s->config.poll_max_ms > 0 ? s->config.poll_max_ms : RETRY_POLL_MAX_MS;
    if (wait_ms < 0)
        wait_ms = 0;
    if (wait_ms > most_ms)
        wait_ms = most_ms;
    (void)uv_timer_start(&s->retry_timer, on_retry_timer, (uint64_t)wait_ms, 0);
}

static int identify(struct sched *s, struct host_identity *host, struct boot_identity *boot,
                    struct arena *arena, struct err *e)
{
    int rc = host_probe_identity(s->config.probe, arena, host, e);

    if (rc == 0)
        rc = host_probe_boot(s->config.probe, arena, boot, e);
    if (rc == 0)
        rc = store_boot_put(s->config.store, host, boot, sched_now_ms(s), e);
    return rc;
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
            rc = identify(s, &a->host, &a->boot, &a->arena, &a->e);
    }
    if (rc < 0) {
        /* Without its documents there is nothing to clean up either. */
        (void)attempt_end_as(a, END_FAILED);
        sched_attempt_over(s, a);
        return;
    }
    (void)attempt_log_open(a);
    attempt_say(a, "attempt %s begins", id);
    attempt_begin(a);
}

/* A boot that this scheduler has not seen: jobs may have waited for it. */
static int note_boot(struct sched *s, const char *boot, struct err *e)
{
    if (strcmp(s->boot_id, boot) == 0)
        return 0;
    (void)snprintf(s->boot_id, sizeof s->boot_id, "%s", boot);
    return store_session_wake(s->config.store, boot, sched_now_ms(s), e);
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
    int rc = identify(s, &host, &boot, &arena, e);
    if (rc == 0)
        rc = note_boot(s, boot.id, e);
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

static void on_kick(uv_idle_t *idle)
{
    struct sched *s = idle->data;
    char id[ULID_LEN + 1], job[ULID_LEN + 1];
    struct err e = {0};

    (void)uv_idle_stop(idle);
    if (s->active || s->stopping || s->blocked[0])
        return;
    int rc = claim(s, id, job, &e);
    if (rc < 0) {
        /* A full disk, say: jobs wait until it is mended, not until the next submit. */
        log_err("claiming a job", rc, &e);
        (void)uv_timer_start(&s->retry_timer, on_retry_timer, CLAIM_AGAIN_MS, 0);
    } else if (rc == 0)
        begin_attempt(s, id, job);
    else
        arm_retry(s);
}

void sched_kick(struct sched *s)
{
    (void)uv_timer_stop(&s->retry_timer);
    if (!s->stopping)
        (void)uv_idle_start(&s->kick, on_kick);
}

/* ---- cancelling */

int sched_cancel(struct sched *s, const char *job, enum job_state *state, struct err *e)
{
    bool running = s->active && strcmp(s->active->job_id, job) == 0;
    const struct store_event with = {.wall_ms = sched_now_ms(s),
                                     .next_try_ms = -1,
                                     .text = "cancelled by a person",
                                     .attempt = running ? s->active->id : NULL};
    struct job_step step;

    int rc = store_job_event(s->config.store, job, JOB_CANCEL, &with, &step, e);
    if (rc < 0)
        return rc;
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
static void store_later(struct attempt *a, const struct arena_mark *mark)
{
    arena_rewind(&a->arena, mark);
    a->unstored = true;
    (void)uv_timer_start(&a->timer, on_store_again, STORE_AGAIN_MS, 0);
}

void sched_attempt_over(struct sched *s, struct attempt *a)
{
    const struct arena_mark mark = arena_mark(&a->arena);
    int64_t next_try_ms = -1;
    const char *text = NULL;
    struct err e = {0};
    enum job_state state = a->state;

    (void)uv_timer_stop(&a->timer);
    a->unstored = false;
    int rc = outcome_store(s, a, &state, &text, &next_try_ms, &e);
    if (rc < 0)
        log_err("storing how an attempt ended", rc, &e);
    if (may_pass(rc) && !s->stopping) {
        store_later(a, &mark);
        return;
    }
    s->active = NULL;
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
    *out = s;
    return make_roots(s, e);
}

int sched_start(struct sched *s, struct err *e)
{
    int rc = recovery_run(s, e);

    if (rc == 0)
        rc = file_rmtree(s->work_root, e);
    if (rc == 0)
        rc = file_mkdirs(s->work_root, 0755, e);
    if (rc == 0)
        rc = evidence_sweep(s->evidence_root, e);
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
    else
        done(ctx);
}

static void on_closed(uv_handle_t *handle)
{
    struct sched *s = handle->data;

    if (--s->open_handles > 0)
        return;
    free(s->work_root);
    free(s->evidence_root);
    free(s->log_root);
    free(s->waiting);
    free(s);
}

void sched_free(struct sched *s)
{
    if (!s)
        return;
    while (s->n_parked)
        parked_discard(parked_take(s, s->parked[0]->job_id));
    uv_close((uv_handle_t *)&s->retry_timer, on_closed);
    uv_close((uv_handle_t *)&s->kick, on_closed);
}
