/* How an attempt ended, as one transaction on its job: done, once more, waiting, failed, lost. And
 * the same for what a daemon that is gone left unfinished. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "sched/calendar.h"
#include "sched/pairs.h"
#include "sched/sched_internal.h"

#define OUTCOME_LOST "lost"
/* How often a competitor after timing gives the job one more attempt. */
#define OUTCOME_DISTURBED "disturbed"

static int count_outcomes(struct sched *s, const char *job, const char *outcome, int *count)
{
    struct arena arena = {0};
    struct store_attempt *attempts;
    size_t n = 0;

    *count = 0;
    int rc = store_job_attempts(s->config.store, job, &arena, &attempts, &n, NULL);
    for (size_t i = 0; rc == 0 && i < n; i++)
        if (attempts[i].outcome && strcmp(attempts[i].outcome, outcome) == 0)
            (*count)++;
    arena_deinit(&arena);
    return rc;
}

static int64_t retry_every_ms(const struct attempt *a)
{
    return a->job->retry_every_ms >= 0 ? a->job->retry_every_ms : a->policy->retry_every_ms;
}

static int retry_limit(const struct attempt *a)
{
    return a->job->retry_limit >= 0 ? a->job->retry_limit : a->policy->retry_limit;
}

static int refused(struct sched *s, struct attempt *a, struct store_event *with,
                   enum job_event *event, struct err *e)
{
    struct store_job *row;
    struct raw_refusal *refusal = arena_alloc(&a->arena, sizeof *refusal);

    int rc = store_job_get(s->config.store, a->job_id, &a->arena, &row, e);
    if (rc < 0)
        return rc;
    *refusal = (struct raw_refusal){.attempt = arena_strdup(&a->arena, a->id),
                                    .wall_ms = with->wall_ms,
                                    .phase = a->refused_in,
                                    .reason = a->refusal};
    with->refusal = refusal;
    with->text = a->refusal;
    with->outcome = "refused";
    int limit = retry_limit(a);
    if (limit > 0 && row->refusals + 1 >= limit) {
        *event = JOB_UNQUALIFY;
        (void)err_set(&a->e, -EAGAIN, "host.not_qualified", phase_name(a->refused_in),
                      "the host did not qualify in %d tries, the last time because %s; quiet it or "
                      "allow more tries with retry.limit",
                      row->refusals + 1, a->refusal);
        with->error = &a->e;
    } else {
        *event = JOB_REFUSE;
        rc = calendar_next_try(a, with->wall_ms + retry_every_ms(a), with, e);
    }
    return rc;
}

/* Neither the host's fault nor the job's: no refusal is counted, but the try whose builds go on
 * being used stands on record. */
static int deferred(struct attempt *a, struct store_event *with, enum job_event *event,
                    struct err *e)
{
    struct raw_refusal *record = arena_alloc(&a->arena, sizeof *record);

    *record = (struct raw_refusal){.attempt = arena_strdup(&a->arena, a->id),
                                   .wall_ms = with->wall_ms,
                                   .phase = PHASE_BEFORE_TIMING,
                                   .reason = a->refusal};
    with->refusal = record;
    with->text = a->refusal;
    with->outcome = "deferred";
    *event = JOB_DEFER;
    return calendar_next_try(a, with->wall_ms, with, e);
}

static void expired(struct attempt *a, struct store_event *with, enum job_event *event)
{
    with->error = &a->e;
    with->text = a->e.text;
    with->outcome = "expired";
    *event = JOB_EXPIRE;
}

/* A control drifted: the pair is measured once more, at once, and the second is the result. Not for
 * a job that asked to go on whatever the host does. */
static int repeat_pair(struct sched *s, struct attempt *a, struct store_event *with,
                       enum job_event *event, struct err *e)
{
    int drifted = 0;

    if (a->job->allow_competing)
        return 0;
    int rc = count_outcomes(s, a->job_id, OUTCOME_DRIFTED, &drifted);
    if (rc < 0 || drifted > 0)
        return rc;
    with->outcome = OUTCOME_DRIFTED;
    with->text = "a control drifted by the limit or more; the pair is measured once more";
    with->night = ""; /* the second pair belongs to the same run, and so to the same night */
    *event = JOB_REQUEUE;
    return calendar_next_try(a, with->wall_ms, with, e);
}

static int finished(struct sched *s, struct attempt *a, struct store_event *with,
                    enum job_event *event, struct err *e)
{
    int disturbed = 0;

    with->report = &a->sealed;
    with->text = a->sealed.grade_line;
    with->outcome = "done";
    *event = JOB_FINISH;
    if (a->drifted && !a->requeue)
        return repeat_pair(s, a, with, event, e);
    if (!a->requeue)
        return 0;
    int rc = count_outcomes(s, a->job_id, OUTCOME_DISTURBED, &disturbed);
    if (rc < 0 || disturbed > 0)
        return rc;
    with->outcome = OUTCOME_DISTURBED;
    with->text = "others competed after timing; the report is diagnostic, one more attempt follows";
    *event = JOB_REQUEUE;
    return calendar_next_try(a, with->wall_ms + retry_every_ms(a), with, e);
}

static void failed(struct attempt *a, struct store_event *with, enum job_event *event)
{
    with->error = &a->e;
    with->text = a->e.text;
    with->outcome = a->end == END_VOID ? "void" : "failed";
    if (a->is_sealed)
        with->report = &a->sealed;
    *event = JOB_FAIL;
}

/* Evidence that was sealed before the cancel came is not hidden. */
static int cancelled(struct sched *s, struct attempt *a, int64_t wall_ms, struct err *e)
{
    int rc = a->is_sealed ? store_report_put(s->config.store, &a->sealed, e) : 0;

    if (rc < 0)
        return rc;
    a->is_sealed = false; /* stored: not again, should the rest have to be */
    return store_attempt_end(s->config.store, a->id, "cancelled", wall_ms, e);
}

/* Lost work is tried once more by itself, if no duration had been taken yet. */
static int lose(struct sched *s, const char *job, const char *attempt, bool had_begun_timing,
                const char *why, enum job_state *state, struct err *e)
{
    struct err error = {0};
    struct store_event with = STORE_EVENT_INIT;
    struct job_step step;
    int lost = 0;

    (void)err_set(&error, -EIO, "daemon.lost", "attempt", "%s; submit the job again%s", why,
                  had_begun_timing ? " (timing had begun, so it is not tried again by itself)"
                                   : "");
    int rc = count_outcomes(s, job, OUTCOME_LOST, &lost);
    with.wall_ms = sched_now_ms(s);
    with.text = why;
    with.attempt = attempt;
    with.outcome = OUTCOME_LOST;
    with.error = &error;
    if (rc == 0)
        rc = store_job_event(s->config.store, job, JOB_LOSE, &with, &step, e);
    if (rc < 0)
        return rc;
    *state = step.to;
    if (had_begun_timing || lost > 0)
        return 0;
    with = (struct store_event)STORE_EVENT_INIT;
    with.wall_ms = sched_now_ms(s);
    with.text = "tried once more: no duration had been taken";
    rc = store_job_event(s->config.store, job, JOB_REQUEUE, &with, &step, e);
    if (rc == 0)
        *state = step.to;
    return rc;
}

int outcome_store(struct sched *s, struct attempt *a, enum job_state *state, const char **text,
                  int64_t *next_try_ms, struct err *e)
{
    struct store_event with = STORE_EVENT_INIT;
    enum job_event event = JOB_FAIL;
    struct job_step step;
    int rc = 0;

    with.wall_ms = sched_now_ms(s);
    with.attempt = a->id;
    if (a->stop_asked && a->stop_as == END_CANCELLED)
        a->end = END_CANCELLED; /* whatever came first: the job is over already */
    switch (a->end) {
    case END_NONE:
        rc = finished(s, a, &with, &event, e);
        break;
    case END_REFUSED:
        rc = refused(s, a, &with, &event, e);
        break;
    case END_DEFERRED:
        rc = deferred(a, &with, &event, e);
        break;
    case END_EXPIRED:
        expired(a, &with, &event);
        break;
    case END_FAILED:
    case END_VOID:
        failed(a, &with, &event);
        break;
    case END_CANCELLED:
        *text = "cancelled";
        return cancelled(s, a, with.wall_ms, e);
    case END_LOST:
        *text = "the daemon was stopped";
        return lose(s, a->job_id, a->id, a->state != JOB_PREPARING, "the daemon was stopped", state,
                    e);
    }
    if (rc == 0)
        rc = store_job_event(s->config.store, a->job_id, event, &with, &step, e);
    if (rc < 0)
        return rc;
    *state = step.to;
    *text = with.text;
    *next_try_ms = with.next_try_ms;
    return 0;
}

int recovery_run(struct sched *s, struct err *e)
{
    struct arena arena = {0};
    struct store_attempt *attempts;
    size_t n = 0;

    int rc = store_unfinished_attempts(s->config.store, &arena, &attempts, &n, e);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        struct store_job *row;
        enum job_state state;
        rc = store_job_get(s->config.store, attempts[i].job, &arena, &row, e);
        if (rc < 0)
            break;
        if (!job_state_is_running(row->state)) {
            rc = store_attempt_end(s->config.store, attempts[i].id, OUTCOME_LOST, sched_now_ms(s),
                                   e);
            continue;
        }
        state = row->state;
        rc = lose(s, attempts[i].job, attempts[i].id, row->state != JOB_PREPARING,
                  "the daemon went down during the attempt", &state, e);
        log_warn("attempt %s of job %s was lost; the job is now %s", attempts[i].id,
                 attempts[i].job, job_state_name(state));
    }
    arena_deinit(&arena);
    return rc;
}
