/* Jobs that change after the submit: edits before they run, further runs once they are over. */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "store/rows.h"

/* ---- edit ---- */

/* The first document stays: a submit that is sent again is compared with it. */
static int keep_submitted(struct store *s, const char *job, struct err *e)
{
    static const char SQL[] = "INSERT OR IGNORE INTO job_submitted (job, document)"
                              " SELECT id, document FROM jobs WHERE id = :id";
    struct query q;
    query_begin(&q, s, SQL);
    query_text(&q, ":id", job);
    return query_run(&q, e);
}

static int set_edited(struct store *s, const char *job, const struct store_edit *edit,
                      struct err *e)
{
    static const char SQL[] =
        "UPDATE jobs SET document = :document, label = :label, priority = :priority,"
        " timed = :timed, deadline_ms = :deadline_ms WHERE id = :id";
    struct query q;
    query_begin(&q, s, SQL);
    query_text(&q, ":id", job);
    query_text(&q, ":document", edit->document);
    query_text(&q, ":label", edit->label);
    query_int(&q, ":priority", edit->priority);
    query_int(&q, ":timed", edit->timed);
    query_int_opt(&q, ":deadline_ms", edit->deadline_ms > 0 ? edit->deadline_ms : -1);
    return query_run(&q, e);
}

static bool same_after(const struct store_edit *edit, const struct store_after *list, size_t n)
{
    bool same = n == edit->n_after;
    for (size_t i = 0; same && i < n; i++)
        same = strcmp(edit->after[i].job, list[i].job) == 0 && edit->after[i].need == list[i].need;
    return same;
}

/* A list that stays as it is is not asked again: what it waited for may have ended long ago. */
static int replace_after(struct store *s, const char *job, const struct store_edit *edit,
                         struct err *e)
{
    struct arena a = {0};
    struct store_after *list;
    size_t n = 0;
    int rc = store_job_after(s, job, &a, &list, &n, e);
    bool same = rc == 0 && same_after(edit, list, n);
    arena_deinit(&a);
    if (rc != 0 || same)
        return rc;
    rc = rows_drop_after(s, job, e);
    return rc ? rc : rows_put_after(s, job, edit->after, edit->n_after, false, e);
}

static int change(struct store *s, const char *job, const struct store_edit *edit, struct err *e)
{
    int rc = keep_submitted(s, job, e);
    if (rc == 0)
        rc = set_edited(s, job, edit, e);
    return rc ? rc : replace_after(s, job, edit, e);
}

static int edit_job(struct store *s, const char *job, const struct store_edit *edit,
                    const struct store_event *with, struct job_step *step, struct err *e)
{
    struct store_event event = *with;
    struct arena a = {0};
    struct store_job *row;
    int rc = store_job_get(s, job, &a, &row, e);
    if (rc == 0) {
        /* Also when it is not waiting: the table of states says what becomes of it. */
        event.next_try_ms = edit->ask_again ? with->wall_ms : row->next_try_ms;
        event.waits_for = edit->ask_again ? NULL : row->waits_for;
        rc = rows_apply_event(s, job, JOB_EDIT, &event, step, e);
    }
    arena_deinit(&a);
    return rc ? rc : change(s, job, edit, e);
}

int store_job_edit(struct store *s, const char *job, const struct store_edit *edit,
                   const struct store_event *with, struct job_step *done, struct err *e)
{
    struct job_step step;
    int rc = tx_begin(s, e);
    if (rc != 0)
        return rc;
    rc = tx_end(s, edit_job(s, job, edit, with, &step, e), e);
    if (rc == 0 && done)
        *done = step;
    return rc;
}

/* ---- rerun ---- */

/* A cancelled job may still have an attempt that is being stopped. */
static int check_idle(struct store *s, const char *job, struct err *e)
{
    static const char SQL[] = "SELECT 1 FROM attempts WHERE job = :job AND ended_ms IS NULL";
    struct query q;
    query_begin(&q, s, SQL);
    query_text(&q, ":job", job);
    bool found = query_row(&q);
    int rc = query_end(&q, e);
    if (rc == 0 && found)
        rc = err_set(e, -EINVAL, "job.bad_state", "id",
                     "an attempt of job %s is still being stopped: ask again in a moment", job);
    return rc;
}

static int check_session(struct store *s, const char *job, struct err *e)
{
    struct arena a = {0};
    struct store_job *row;
    int rc = store_job_get(s, job, &a, &row, e);
    if (rc == 0 && row->session)
        rc = rows_check_session(s, row->session, e);
    arena_deinit(&a);
    return rc;
}

static int begin_run(struct store *s, const char *job, struct err *e)
{
    static const char SQL[] =
        "UPDATE jobs SET refusals = 0, night = NULL, report = NULL, error_code = NULL,"
        " error_field = NULL, error_text = NULL, run_from ="
        " (SELECT coalesce(max(number), 0) + 1 FROM attempts WHERE job = jobs.id) WHERE id = :id";
    struct query q;
    query_begin(&q, s, SQL);
    query_text(&q, ":id", job);
    return query_run(&q, e);
}

static int rerun_job(struct store *s, const char *job, const struct store_edit *edit, bool held,
                     const struct store_event *with, struct job_step *step, struct err *e)
{
    const struct store_event hold = {
        .wall_ms = with->wall_ms, .next_try_ms = -1, .peer_uid = with->peer_uid};
    struct job_step on_hold;
    int rc = rows_apply_event(s, job, JOB_RERUN, with, step, e);
    if (rc == 0)
        rc = check_idle(s, job, e);
    if (rc == 0)
        rc = check_session(s, job, e);
    if (rc == 0)
        rc = begin_run(s, job, e);
    if (rc == 0 && edit)
        rc = change(s, job, edit, e);
    if (rc == 0)
        rc = rows_reopen_after(s, job, e);
    if (rc != 0 || !held)
        return rc;
    rc = rows_apply_event(s, job, JOB_HOLD, &hold, &on_hold, e);
    step->to = on_hold.to;
    return rc;
}

int store_job_rerun(struct store *s, const char *job, const struct store_edit *edit, bool held,
                    const struct store_event *with, struct job_step *done, struct err *e)
{
    struct job_step step;
    int rc = tx_begin(s, e);
    if (rc != 0)
        return rc;
    rc = tx_end(s, rerun_job(s, job, edit, held, with, &step, e), e);
    if (rc == 0 && done)
        *done = step;
    return rc;
}
