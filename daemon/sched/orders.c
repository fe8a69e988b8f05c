/* What people ask of a job that is here: hold it, let it go, change it, measure it again. And who
 * follows when a job has ended. */
#include <errno.h>
#include <string.h>

#include "proto/doc/doc_edit.h"
#include "proto/doc/documents.h"
#include "sched/sched_internal.h"
#include "sched/stored.h"

static void tell(struct sched *s, const char *job, const struct job_step *step, const char *text)
{
    const struct sched_event event = {
        .job = job, .state = step->to, .text = text, .left_ms = -1, .next_try_ms = -1};

    sched_tell(s, &event);
    sched_kick(s);
}

static int refuse(const struct store_job *row, const char *what, struct err *e)
{
    const char *state = job_state_name(row->state);

    if (job_state_is_running(row->state))
        return err_set(e, -EINVAL, "job.bad_state", "id",
                       "job %s is %s and can no longer be %s; let it end, or cancel it (aurabench "
                       "cancel %s)",
                       row->id, state, what, row->id);
    return err_set(e, -EINVAL, "job.bad_state", "id",
                   "job %s is over (%s) and can no longer be %s; aurabench rerun %s measures it "
                   "again",
                   row->id, state, what, row->id);
}

static bool has_begun(enum job_state state)
{
    return job_state_is_running(state) || job_state_is_final(state);
}

/* ---- hold, release */

static int take_event(struct sched *s, const char *job, enum job_event event, int64_t uid,
                      struct sched_ordered *out, struct err *e)
{
    struct store_event with = STORE_EVENT_INIT;
    struct job_step step;

    with.wall_ms = sched_now_ms(s);
    with.peer_uid = &uid;
    int rc = store_job_event(s->config.store, job, event, &with, &step, e);
    if (rc < 0)
        return rc;
    *out = (struct sched_ordered){.state = step.to, .changed = true};
    tell(s, job, &step, NULL);
    return 0;
}

int sched_hold_job(struct sched *s, const char *job, int64_t uid, struct sched_ordered *out,
                   struct err *e)
{
    struct arena a = {0};
    struct store_job *row;
    int rc = store_job_get(s->config.store, job, &a, &row, e);

    if (rc == 0 && row->state == JOB_HELD)
        *out = (struct sched_ordered){.state = JOB_HELD};
    else if (rc == 0 && has_begun(row->state))
        rc = refuse(row, "held", e);
    else if (rc == 0)
        rc = take_event(s, job, JOB_HOLD, uid, out, e);
    arena_deinit(&a);
    return rc;
}

int sched_release_job(struct sched *s, const char *job, int64_t uid, struct sched_ordered *out,
                      struct err *e)
{
    struct arena a = {0};
    struct store_job *row;
    int rc = store_job_get(s->config.store, job, &a, &row, e);

    if (rc == 0 && row->state == JOB_HELD)
        rc = take_event(s, job, JOB_RELEASE, uid, out, e);
    else if (rc == 0 && has_begun(row->state))
        rc = refuse(row, "released", e);
    else if (rc == 0)
        *out = (struct sched_ordered){.state = row->state};
    arena_deinit(&a);
    return rc;
}

/* ---- changes */

struct change {
    struct arena a;
    struct store_job *row;
    struct job *job;
    struct buf words; /* from what to what */
    unsigned members; /* that really change */
    struct store_edit edit;
};

static void change_deinit(struct change *c)
{
    arena_deinit(&c->a);
    buf_deinit(&c->words);
}

/* The changed job has to be a good one by every rule of documents. */
static int check_document(struct change *c, const char *document, struct err *e)
{
    struct job *again;

    return job_decode_text(&c->a, document, &again, e);
}

/* changes NULL: none. Nothing changes: members is 0. */
static int change_read(struct sched *s, const char *id, const struct job_edit *changes,
                       struct change *c, struct err *e)
{
    int rc = stored_job(s->config.store, &c->a, id, &c->row, &c->job, e);

    if (rc < 0 || !changes)
        return rc;
    c->members = job_edit_apply(changes, c->job, &c->words);
    c->edit = (struct store_edit){.document = stored_document(&c->a, c->job),
                                  .label = c->job->label,
                                  .priority = c->job->priority,
                                  .timed = stored_is_timed(c->job),
                                  .deadline_ms = c->job->deadline_ms,
                                  .after = c->job->after,
                                  .n_after = c->job->n_after,
                                  .ask_again = (c->members & EDIT_WHEN) != 0};
    return check_document(c, c->edit.document, e);
}

static struct store_event event_of(struct sched *s, const struct change *c, const int64_t *uid)
{
    struct store_event with = STORE_EVENT_INIT;

    with.wall_ms = sched_now_ms(s);
    with.peer_uid = uid;
    with.text = c->words.len ? buf_str((struct buf *)&c->words) : NULL;
    return with;
}

/* The builds of an earlier try belong to the job as it was. */
static void changed(struct sched *s, const char *job, const struct job_step *step,
                    const struct store_event *with, struct sched_ordered *out)
{
    *out = (struct sched_ordered){.state = step->to, .changed = true};
    sched_drop_parked(s, job);
    tell(s, job, step, with->text);
}

static int edit(struct sched *s, const char *job, int64_t uid, struct change *c,
                struct sched_ordered *out, struct err *e)
{
    const struct store_event with = event_of(s, c, &uid);
    struct job_step step;
    int rc = 0;

    if (has_begun(c->row->state))
        return refuse(c->row, "edited", e);
    if (c->members & (EDIT_NOT_BEFORE | EDIT_DEADLINE | EDIT_WINDOW))
        rc = sched_check_job(s, c->job, e);
    if (rc == 0)
        rc = store_job_edit(s->config.store, job, &c->edit, &with, &step, e);
    if (rc == 0)
        changed(s, job, &step, &with, out);
    return rc;
}

int sched_edit_job(struct sched *s, const char *job, const struct job_edit *changes, int64_t uid,
                   struct sched_ordered *out, struct err *e)
{
    struct change c = {0};
    int rc = change_read(s, job, changes, &c, e);

    if (rc == 0 && c.members == 0 && !has_begun(c.row->state))
        *out = (struct sched_ordered){.state = c.row->state};
    else if (rc == 0)
        rc = edit(s, job, uid, &c, out, e);
    change_deinit(&c);
    return rc;
}

/* ---- rerun */

static int rerun(struct sched *s, const char *job, bool held, int64_t uid, struct change *c,
                 struct sched_ordered *out, struct err *e)
{
    const struct store_event with = event_of(s, c, &uid);
    struct job_step step;

    if (!job_state_is_final(c->row->state))
        return err_set(e, -EINVAL, "job.bad_state", "id",
                       "job %s is %s: there is nothing to measure again before it is over", job,
                       job_state_name(c->row->state));
    int rc = sched_check_job(s, c->job, e);
    if (rc == 0)
        rc = store_job_rerun(s->config.store, job, c->members ? &c->edit : NULL, held, &with, &step,
                             e);
    if (rc == 0)
        changed(s, job, &step, &with, out);
    return rc;
}

int sched_rerun_job(struct sched *s, const char *job, const struct job_edit *changes, bool held,
                    int64_t uid, struct sched_ordered *out, struct err *e)
{
    struct change c = {0};
    int rc = change_read(s, job, changes, &c, e);

    if (rc == 0)
        rc = rerun(s, job, held, uid, &c, out, e);
    change_deinit(&c);
    return rc;
}

/* ---- jobs that are cancelled together */

static void tell_cancelled(struct sched *s, const char *job, const char *text)
{
    const struct sched_event event = {
        .job = job, .state = JOB_CANCELLED, .text = text, .left_ms = -1, .next_try_ms = -1};

    sched_drop_parked(s, job);
    sched_tell(s, &event);
}

int sched_close_session(struct sched *s, const char *session, const char *const *jobs, size_t n,
                        const char *text, int64_t uid, struct err *e)
{
    struct store_event with = STORE_EVENT_INIT;

    with.wall_ms = sched_now_ms(s);
    with.peer_uid = &uid;
    with.text = text;
    int rc = store_session_close(s->config.store, session, &with, jobs, n, e);
    for (size_t i = 0; rc == 0 && i < n; i++)
        tell_cancelled(s, jobs[i], text);
    if (rc == 0)
        sched_kick(s); /* others may come after them */
    return rc;
}

/* ---- who comes after an ended job */

/* While a job is timed one piece is told, and the rest once it is over. */
static bool goes_on(const struct sched *s, int rc, int freed)
{
    return (rc == STORE_AGAIN || freed > 0) && !sched_is_timing(s);
}

int sched_settle(struct sched *s, struct err *e)
{
    struct store_settled *settled = NULL;
    struct arena a = {0};
    size_t n = 0;
    int freed = 0;
    int rc = store_settle(s->config.store, sched_now_ms(s), &a, &settled, &n, &freed, e);

    for (size_t i = 0; rc >= 0 && i < n; i++)
        tell_cancelled(s, settled[i].job, settled[i].text);
    if (goes_on(s, rc, freed))
        sched_kick(s);
    arena_deinit(&a);
    return rc < 0 ? rc : 0;
}
