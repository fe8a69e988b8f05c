/* How an attempt ended, as one transaction on its job: done, once more, waiting, failed, lost. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "sched/calendar.h"
#include "sched/pairs.h"
#include "sched/sched_internal.h"

#define OUTCOME_LOST "lost"
/* When an attempt is begun anew that had no space on the disk. */
#define FULL_AGAIN_MS 60000
/* How often a competitor after timing gives the job one more attempt. */
#define OUTCOME_DISTURBED "disturbed"

/* In this run of the job: a rerun begins anew. */
static int count_outcomes(struct sched *s, const char *job, const char *outcome, int *count)
{
    return store_job_outcomes(s->config.store, job, outcome, count, NULL);
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

/* Begun anew when there may be space: nothing was timed, and what was built is thrown away. */
static int starved(struct attempt *a, struct store_event *with, enum job_event *event,
                   struct err *e)
{
    int64_t every_ms = retry_every_ms(a);

    a->refusal = a->e.text;
    int rc = deferred(a, with, event, e);
    return rc ? rc
              : calendar_next_try(
                    a, with->wall_ms + (every_ms < FULL_AGAIN_MS ? every_ms : FULL_AGAIN_MS), with,
                    e);
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
    struct store_report *known;
    int rc = a->is_sealed ? store_report_get(s->config.store, a->id, &a->arena, &known, e) : 0;

    if (rc == STORE_NONE)
        rc = store_report_put(s->config.store, &a->sealed, e);
    if (rc < 0)
        return rc;
    return store_attempt_end(s->config.store, a->id, "cancelled", wall_ms, e);
}

/* Lost work is tried once more by itself, if no duration had been taken yet. Both steps are one
 * transaction: a daemon that goes down between them would have lost the job. */
int outcome_lose(struct sched *s, const struct attempt_lost *lost, enum job_state *state,
                 struct err *e)
{
    const struct store_event again = {.wall_ms = sched_now_ms(s),
                                      .next_try_ms = -1,
                                      .text = "tried once more: no duration had been taken"};
    struct err error = {0};
    struct store_event with = STORE_EVENT_INIT;
    struct job_step step;
    int before = 0;

    (void)err_set(&error, -EIO, lost->code, "attempt", "%s; submit the job again%s", lost->why,
                  lost->had_begun_timing ? " (timing had begun, so it is not tried again by itself)"
                                         : "");
    int rc = count_outcomes(s, lost->job, OUTCOME_LOST, &before);
    with.wall_ms = again.wall_ms;
    with.text = lost->why;
    with.attempt = lost->attempt;
    with.outcome = OUTCOME_LOST;
    with.error = &error;
    if (!lost->had_begun_timing && before == 0)
        with.requeue = &again;
    if (rc == 0)
        rc = store_job_event(s->config.store, lost->job, JOB_LOSE, &with, &step, e);
    if (rc == 0)
        *state = step.to;
    return rc;
}

static int lost(struct sched *s, struct attempt *a, enum job_state *state, const char **text,
                struct err *e)
{
    const bool stopped = a->stop_asked;
    const struct attempt_lost lost = {.job = a->job_id,
                                      .attempt = a->id,
                                      .had_begun_timing = a->state != JOB_PREPARING,
                                      .code = stopped ? "daemon.lost" : a->e.code,
                                      .why = stopped ? "the daemon was stopped" : a->e.text};

    *text = lost.why;
    return outcome_lose(s, &lost, state, e);
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
    case END_FULL:
        rc = starved(a, &with, &event, e);
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
        return lost(s, a, state, text, e);
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

int outcome_fail(struct sched *s, struct attempt *a, const struct err *refused,
                 enum job_state *state, const char **text, struct err *e)
{
    struct err *error = arena_alloc(&a->arena, sizeof *error);
    const struct store_event with = {.wall_ms = sched_now_ms(s),
                                     .next_try_ms = -1,
                                     .attempt = a->id,
                                     .outcome = "failed",
                                     .error = error,
                                     .text = error->text};
    struct store_job *row;
    struct job_step step;
    int rc = store_job_get(s->config.store, a->job_id, &a->arena, &row, e);

    if (rc < 0)
        return rc;
    if (!job_state_is_running(row->state))
        return store_attempt_end(s->config.store, a->id, "failed", with.wall_ms, e);
    (void)err_set(error, -EIO, refused->code, refused->field,
                  "how the attempt ended could not be stored: %s%s%s", refused->text,
                  a->is_sealed ? "; its evidence is kept in " : "",
                  a->is_sealed ? a->sealed.evidence : "");
    rc = store_job_event(s->config.store, a->job_id, JOB_FAIL, &with, &step, e);
    if (rc < 0)
        return rc;
    *state = step.to;
    *text = error->text;
    return 0;
}
