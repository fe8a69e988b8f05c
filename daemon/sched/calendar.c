#include "sched/calendar.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "base/zonefile.h"
#include "proto/form/instant.h"
#include "sched/sched_internal.h"
#include "sched/stored.h"

/* What cannot be foreseen is asked again so often; a boot wakes what waits for it by itself. */
#define ASK_AGAIN_MS ((int64_t)24 * 3600 * 1000)

struct calendar_kept {
    const char *job, *text;
    enum job_state state;
    int64_t next_try_ms;
    struct calendar_kept *next;
};

/* What is asked of a job, with its parts. */
struct question {
    const struct job *job;
    const struct session *session; /* NULL: none */
    const char *opened_boot;       /* of the session */
    const char *last_night;
    const struct boot_identity *boot;
};

/* ---- the answer, and what it is in words */

static int zone_of(struct arena *a, const struct window *w, struct zone *out, struct err *e)
{
    struct buf bytes = {0};
    int rc = zonefile_read("", "window.zone", w->zone, &bytes, e);

    if (rc == 0)
        rc = zone_parse(a, "window.zone", w->zone, bytes.data, bytes.len, out, e);
    buf_deinit(&bytes);
    return rc;
}

static int64_t settled_ms(const struct question *q)
{
    if (!q->session || q->session->boot != SESSION_BOOT_FRESH)
        return -1;
    int64_t at_ms = session_settled_ms(q->opened_boot, q->boot, q->session->settle_ms);
    return at_ms < 0 ? SCHEDULE_BOOT_UNKNOWN : at_ms;
}

static int ask(struct arena *a, const struct question *q, int64_t t_ms, struct schedule_result *out,
               struct err *e)
{
    struct zone zone;
    struct schedule s = {.window = q->job->window,
                         .zone = &zone,
                         .last_night = q->last_night,
                         .not_before_ms = q->job->not_before_ms,
                         .deadline_ms = q->job->deadline_ms,
                         .settled_ms = settled_ms(q)};
    int rc = s.window ? zone_of(a, s.window, &zone, e) : 0;

    if (rc == 0)
        schedule_ask(&s, t_ms, out);
    return rc;
}

static const char *opening(struct arena *a, const struct window *w, int64_t at_ms)
{
    char when[INSTANT_TEXT];

    if (at_ms == WINDOW_NEVER)
        return arena_printf(a, "does not open within three months (%s)", w->zone);
    return arena_printf(a, "opens %s (%s)", instant_short(at_ms, when), w->zone);
}

/* What the job waits for; NULL when nothing holds it. */
static const char *words(struct arena *a, const struct job *job, const struct schedule_result *r)
{
    char when[INSTANT_TEXT];

    switch (r->answer) {
    case SCHEDULE_RUN:
        return NULL;
    case SCHEDULE_NOT_BEFORE:
        return arena_printf(a, "waiting: it may not run before %s", instant_short(r->at_ms, when));
    case SCHEDULE_BOOT:
        return "waiting for a reboot: its session begins in a boot after its opening";
    case SCHEDULE_SETTLE:
        return arena_printf(a, "waiting until the host has settled after its boot: %s",
                            instant_short(r->at_ms, when));
    case SCHEDULE_WINDOW:
        return arena_printf(a, "waiting for its window: %s", opening(a, job->window, r->at_ms));
    case SCHEDULE_NIGHT:
        return arena_printf(a, "waiting for the next night of its window: %s",
                            opening(a, job->window, r->at_ms));
    case SCHEDULE_EXPIRED:
        return "its deadline has passed";
    }
    return NULL;
}

/* Until when the job waits: a deadline that comes first ends the waiting. */
static int64_t until(const struct job *job, const struct schedule_result *r, int64_t now_ms)
{
    int64_t at_ms = r->at_ms == WINDOW_NEVER ? now_ms + ASK_AGAIN_MS : r->at_ms;

    return job->deadline_ms > 0 && job->deadline_ms < at_ms ? job->deadline_ms : at_ms;
}

static struct err *expired(struct arena *a, const struct job *job)
{
    struct err *e = arena_alloc(a, sizeof *e);
    char when[INSTANT_TEXT];

    (void)err_set(
        e, -ETIMEDOUT, "job.expired", "deadline",
        "the deadline %s passed before timing began; submit the job again with a later one",
        job->deadline_ms > 0 ? instant_text(job->deadline_ms, when) : "of the job");
    return e;
}

static int read_session(struct sched *s, struct arena *a, const char *id, struct question *q,
                        struct err *e)
{
    struct store_session *row;
    struct session *session;
    int rc = stored_session(s->config.store, a, id, &row, &session, e);

    if (rc < 0)
        return rc;
    q->session = session;
    q->opened_boot = row->opened_boot;
    return 0;
}

/* ---- the gate of a claim */

static void keep(struct calendar *c, const char *job, enum job_state state,
                 const struct store_event *with)
{
    struct calendar_kept *kept = arena_alloc(&c->arena, sizeof *kept);

    *kept = (struct calendar_kept){.job = arena_strdup(&c->arena, job),
                                   .text = with->text,
                                   .state = state,
                                   .next_try_ms = with->next_try_ms,
                                   .next = c->kept};
    c->kept = kept;
}

static void expire(struct arena *a, const struct job *job, enum job_event *event,
                   struct store_event *with)
{
    *event = JOB_EXPIRE;
    with->error = expired(a, job);
    with->text = with->error->text;
}

static void decide(struct calendar *c, const char *id, const struct job *job,
                   const struct schedule_result *r, enum job_event *event, struct store_event *with)
{
    if (r->answer == SCHEDULE_EXPIRED) {
        expire(&c->arena, job, event, with);
        keep(c, id, JOB_EXPIRED, with);
    } else if (r->answer != SCHEDULE_RUN) {
        *event = JOB_DEFER;
        with->text = with->waits_for = words(&c->arena, job, r);
        with->next_try_ms = until(job, r, c->now_ms);
        keep(c, id, JOB_WAITING, with);
    }
}

int calendar_gate(void *ctx, const char *id, enum job_event *event, struct store_event *with,
                  struct err *e)
{
    struct calendar *c = ctx;
    struct question q = {.boot = c->boot};
    const struct schedule_result unknown = {.at_ms = WINDOW_NEVER};
    struct schedule_result result = {0};
    struct store_job *row;
    struct job *job;
    struct err why = {0};
    int rc = stored_job(c->sched->config.store, &c->arena, id, &row, &job, e);

    if (rc == 0 && row->session)
        rc = read_session(c->sched, &c->arena, row->session, &q, e);
    if (rc == -EINVAL) {
        /* A document that cannot be read: the attempt fails and says so, the queue goes on. */
        err_clear(e);
        return 0;
    }
    if (rc < 0)
        return rc;
    q.job = job;
    q.last_night = row->night;
    if (ask(&c->arena, &q, c->now_ms, &result, &why) == 0) {
        decide(c, id, job, &result, event, with);
        return 0;
    }
    /* One job whose zone is gone must not hold up the others. */
    log_err("asking when a job may run", 0, &why);
    *event = JOB_DEFER;
    with->text = with->waits_for = arena_strdup(&c->arena, why.text);
    with->next_try_ms = until(job, &unknown, c->now_ms);
    keep(c, id, JOB_WAITING, with);
    return 0;
}

void calendar_tell(const struct calendar *c)
{
    for (const struct calendar_kept *k = c->kept; k; k = k->next) {
        const struct sched_event event = {.job = k->job,
                                          .state = k->state,
                                          .text = k->text,
                                          .left_ms = -1,
                                          .next_try_ms = k->next_try_ms};
        sched_tell(c->sched, &event);
    }
}

void calendar_deinit(struct calendar *c)
{
    arena_deinit(&c->arena);
}

/* ---- deadlines */

static int expire_one(struct sched *s, struct arena *a, const char *id, struct err *e)
{
    struct store_event with = STORE_EVENT_INIT;
    enum job_event event;
    struct store_job *row;
    struct job_step step;
    struct job *job;
    const struct job unreadable = {0};
    int rc = stored_job(s->config.store, a, id, &row, &job, e);

    if (rc < 0 && rc != -EINVAL)
        return rc;
    expire(a, rc == 0 ? job : &unreadable, &event, &with);
    err_clear(e);
    with.wall_ms = sched_now_ms(s);
    rc = store_job_event(s->config.store, id, event, &with, &step, e);
    if (rc < 0)
        return rc;
    const struct sched_event told = {
        .job = id, .state = step.to, .text = with.text, .left_ms = -1, .next_try_ms = -1};
    sched_drop_parked(s, id);
    sched_tell(s, &told);
    return 0;
}

int calendar_expire(struct sched *s, struct err *e)
{
    struct arena a = {0};
    const char *const *ids;
    size_t n = 0;
    int rc = store_overdue(s->config.store, sched_now_ms(s), &a, &ids, &n, e);

    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = expire_one(s, &a, ids[i], e);
    arena_deinit(&a);
    return rc;
}

/* ---- attempts */

static int question_of(struct attempt *a, struct question *q, struct err *e)
{
    struct store_job *row;
    int rc = store_job_get(a->sched->config.store, a->job_id, &a->arena, &row, e);

    if (rc < 0)
        return rc;
    *q = (struct question){.job = a->job,
                           .session = a->session,
                           .opened_boot = a->in_session ? a->in_session->opened_boot : NULL,
                           .last_night = row->night,
                           .boot = &a->boot};
    return 0;
}

int calendar_next_try(struct attempt *a, int64_t wanted_ms, struct store_event *with, struct err *e)
{
    struct schedule_result r = {0};
    struct err why = {0};
    struct question q;
    int rc = question_of(a, &q, e);

    if (rc < 0)
        return rc;
    if (with->night)
        q.last_night = with->night;
    rc = ask(&a->arena, &q, wanted_ms, &r, &why);
    if (rc < 0) {
        /* Its zone is gone. The job must not stay as it is; the next claim asks again. */
        log_err("asking when a job may run again", rc, &why);
        r = (struct schedule_result){.at_ms = wanted_ms};
    }
    with->next_try_ms = until(a->job, &r, wanted_ms);
    with->waits_for = rc < 0 ? arena_strdup(&a->arena, why.text) : words(&a->arena, a->job, &r);
    return 0;
}

int calendar_before_timing(struct attempt *a)
{
    struct question q;
    int rc = question_of(a, &q, &a->e);

    if (rc == 0)
        rc = ask(&a->arena, &q, sched_now_ms(a->sched), &a->schedule, &a->e);
    if (rc < 0 || a->schedule.answer == SCHEDULE_RUN)
        return rc;
    a->refusal = words(&a->arena, a->job, &a->schedule);
    if (a->schedule.answer != SCHEDULE_EXPIRED)
        return attempt_end_as(a, END_DEFERRED);
    a->e = *expired(&a->arena, a->job);
    return attempt_end_as(a, END_EXPIRED);
}

/* ---- submitting */

/* The rule about boots is not asked: the boot may come at any time. */
int sched_check_job(struct sched *s, const struct job *job, struct err *e)
{
    const struct question q = {.job = job};
    struct schedule_result r = {0};
    struct arena a = {0};
    char deadline[INSTANT_TEXT], opens[INSTANT_TEXT];
    int rc = ask(&a, &q, sched_now_ms(s), &r, e);

    arena_deinit(&a);
    if (rc < 0)
        return rc;
    if (r.answer == SCHEDULE_EXPIRED)
        return err_set(e, -EINVAL, "job.bad", "deadline",
                       "the deadline %s has passed already; give a later one",
                       instant_text(job->deadline_ms, deadline));
    if (r.at_ms == WINDOW_NEVER)
        return err_set(e, -EINVAL, "job.bad", "window",
                       "the window does not open within three months; choose other times");
    if (job->deadline_ms > 0 && r.at_ms >= job->deadline_ms)
        return err_set(e, -EINVAL, "job.bad", "deadline",
                       "the window opens %s, which is not before the deadline %s; the job could "
                       "never run",
                       instant_short(r.at_ms, opens), instant_text(job->deadline_ms, deadline));
    return 0;
}
