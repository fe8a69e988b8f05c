/* Jobs: submit, transitions, claim. */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "store/rows.h"

/* Waiting jobs that one claim makes queued at most: bounds the transaction. */
#define DUE_MAX 512

int rows_job_not_found(const char *id, struct err *e)
{
    return err_set(e, -ENOENT, "job.not_found", "id",
                   "there is no job %s: `aurabench list` shows the jobs of this host", id);
}

/* ---- history and transitions ---- */

static int add_history(struct store *s, const char *job, const struct job_step *step,
                       const struct store_event *with, struct err *e)
{
    static const char SQL[] =
        "INSERT INTO job_history (job, seq, from_state, event, to_state, wall_ms, text, attempt,"
        " peer_uid)"
        " VALUES (:job, (SELECT coalesce(max(seq), 0) + 1 FROM job_history WHERE job = :job),"
        " :from_state, :event, :to_state, :wall_ms, :text, :attempt, :peer_uid)";
    struct query q;
    query_begin(&q, s, SQL);
    query_text(&q, ":job", job);
    query_text(&q, ":from_state", job_state_name(step->from));
    query_text(&q, ":event", job_event_name(step->event));
    query_text(&q, ":to_state", job_state_name(step->to));
    query_int(&q, ":wall_ms", with->wall_ms);
    query_text(&q, ":text", with->text);
    query_text(&q, ":attempt", with->attempt);
    query_int_opt(&q, ":peer_uid", with->peer_uid ? *with->peer_uid : -1);
    return query_run(&q, e);
}

int rows_read_state(struct store *s, const char *job, enum job_state *state, struct err *e)
{
    static const char SQL[] = "SELECT state FROM jobs WHERE id = :id";
    struct query q;
    int parsed = -1;
    query_begin(&q, s, SQL);
    query_text(&q, ":id", job);
    if (query_row(&q))
        parsed = job_state_parse((const char *)sqlite3_column_text(q.st, 0));
    int rc = query_end(&q, e);
    if (rc != 0)
        return rc;
    if (parsed < 0)
        return rows_job_not_found(job, e);
    *state = (enum job_state)parsed;
    return 0;
}

static int check_step(const char *job, enum job_state from, enum job_event event,
                      const struct store_event *with, struct job_step *step, struct err *e)
{
    if (job_state_step(from, event, step) != 0)
        return err_set(e, -EINVAL, "job.bad_state", "id",
                       "job %s is %s, which does not allow to %s it", job, job_state_name(from),
                       job_event_name(event));
    if (step->to == JOB_WAITING && with->next_try_ms < 0)
        return err_set(e, -EINVAL, "store.next_try_missing", "next_try_ms",
                       "job %s cannot wait without the time of its next try", job);
    return 0;
}

/* The update is conditional on the old state, so that two writers can never both make the step. */
static int update_job(struct store *s, const char *job, const struct job_step *step,
                      const struct store_event *with, struct err *e)
{
    static const char SQL[] =
        "UPDATE jobs SET state = :to_state, changed_ms = iif(:moved, :wall_ms, changed_ms),"
        " next_try_ms = :next_try_ms, held_by = iif(:held, :peer_uid, iif(:moved, NULL, held_by)),"
        " waits_for = :waits_for, night = coalesce(:night, night),"
        " refusals = refusals + :refused, attempt = coalesce(:attempt, attempt),"
        " error_code = iif(:failed, :error_code, error_code),"
        " error_field = iif(:failed, :error_field, error_field),"
        " error_text = iif(:failed, :error_text, error_text)"
        " WHERE id = :id AND state = :from_state";
    struct query q;
    const struct err *error = with->error;
    query_begin(&q, s, SQL);
    query_text(&q, ":id", job);
    query_text(&q, ":from_state", job_state_name(step->from));
    query_text(&q, ":to_state", job_state_name(step->to));
    query_int(&q, ":wall_ms", with->wall_ms);
    query_int(&q, ":moved", step->from != step->to);
    query_int(&q, ":held", step->event == JOB_HOLD);
    query_int_opt(&q, ":peer_uid", with->peer_uid ? *with->peer_uid : -1);
    query_int_opt(&q, ":next_try_ms", step->to == JOB_WAITING ? with->next_try_ms : -1);
    query_text(&q, ":waits_for", step->to == JOB_WAITING ? with->waits_for : NULL);
    query_text(&q, ":night", with->night);
    query_int(&q, ":refused", step->event == JOB_REFUSE);
    query_text(&q, ":attempt", step->event == JOB_CLAIM ? with->attempt : NULL);
    /* A new attempt starts without the error of the one before. */
    query_int(&q, ":failed", error != NULL || step->event == JOB_CLAIM);
    query_text(&q, ":error_code", error ? error->code : NULL);
    query_text(&q, ":error_field", error ? error->field : NULL);
    query_text(&q, ":error_text", error ? error->text : NULL);
    int rc = query_run(&q, e);
    if (rc == 0 && sql_changes(s) != 1)
        rc = err_set(e, -EINVAL, "job.bad_state", "id", "job %s is no longer %s", job,
                     job_state_name(step->from));
    return rc;
}

int rows_apply_event(struct store *s, const char *job, enum job_event event,
                     const struct store_event *with, struct job_step *step, struct err *e)
{
    enum job_state from = JOB_NEW;
    int rc = rows_read_state(s, job, &from, e);
    if (rc == 0)
        rc = check_step(job, from, event, with, step, e);
    if (rc == 0)
        rc = update_job(s, job, step, with, e);
    if (rc == 0)
        rc = add_history(s, job, step, with, e);
    if (rc == 0 && job_state_is_final(step->to))
        rc = rows_job_ended(s, job, e);
    else if (rc == 0 && job_state_is_final(from))
        rc = rows_job_goes_on(s, job, e);
    if (rc == 0 && job_state_is_final(step->to))
        rc = rows_owe_hooks(s, job, step->to, with, e);
    else if (rc == 0 && event == JOB_REQUEUE)
        rc = rows_withdraw_hooks(s, job, e);
    return rc;
}

static int add_what_goes_with_it(struct store *s, const struct store_event *with, struct err *e)
{
    int rc = 0;
    if (with->refusal)
        rc = rows_add_refusal(s, with->refusal, e);
    if (rc == 0 && with->report)
        rc = rows_add_report(s, with->report, e);
    if (rc == 0 && with->outcome)
        rc = rows_end_attempt(s, with->attempt, with->outcome, with->wall_ms, e);
    return rc;
}

int store_job_event(struct store *s, const char *job, enum job_event event,
                    const struct store_event *with, struct job_step *done, struct err *e)
{
    if (event == JOB_SUBMIT || event == JOB_CLAIM || event == JOB_EDIT || event == JOB_RERUN)
        return err_set(e, -EINVAL, "job.bad_event", "event",
                       "%s has a function of its own in the store", job_event_name(event));
    struct job_step step;
    int rc = tx_begin(s, e);
    if (rc != 0)
        return rc;
    if (with->attempt)
        rc = rows_check_attempt(s, with->attempt, job, e);
    if (rc == 0)
        rc = rows_apply_event(s, job, event, with, &step, e);
    if (rc == 0)
        rc = add_what_goes_with_it(s, with, e);
    if (rc == 0 && with->requeue)
        rc = rows_apply_event(s, job, JOB_REQUEUE, with->requeue, &step, e);
    rc = tx_end(s, rc, e);
    if (rc == 0 && done)
        *done = step;
    return rc;
}

/* ---- submit ---- */

static void reverse(const char *id, char out[ULID_LEN + 1])
{
    for (int i = 0; i < ULID_LEN; i++)
        out[i] = id[ULID_LEN - 1 - i];
    out[ULID_LEN] = '\0';
}

static int add_job(struct store *s, const struct store_new_job *job, const struct job_step *step,
                   struct err *e)
{
    static const char SQL[] =
        "INSERT INTO jobs (id, id_reversed, state, priority, label, document, policy,"
        " suite_sha256, peer_uid, submitted_ms, changed_ms, session, timed, deadline_ms, held_by)"
        " VALUES (:id, :id_reversed, :state, :priority, :label, :document, :policy,"
        " :suite_sha256, :peer_uid, :wall_ms, :wall_ms, :session, :timed, :deadline_ms,"
        " iif(:held, :peer_uid, NULL))";
    char reversed[ULID_LEN + 1];
    struct query q;
    reverse(job->id, reversed);
    query_begin(&q, s, SQL);
    query_text(&q, ":id", job->id);
    query_text(&q, ":id_reversed", reversed);
    query_text(&q, ":state", job_state_name(step->to));
    query_int(&q, ":priority", job->priority);
    query_text(&q, ":label", job->label);
    query_text(&q, ":document", job->document);
    query_text(&q, ":policy", job->policy);
    query_text(&q, ":suite_sha256", job->suite_sha256);
    query_int_opt(&q, ":peer_uid", job->peer_uid);
    query_int(&q, ":wall_ms", job->wall_ms);
    query_text(&q, ":session", job->session);
    query_int(&q, ":timed", job->timed);
    query_int(&q, ":held", job->held);
    query_int_opt(&q, ":deadline_ms", job->deadline_ms > 0 ? job->deadline_ms : -1);
    return query_run(&q, e);
}

/* *known: the id is in the store, submitted with the same document. */
static int check_known(struct store *s, const struct store_new_job *job, bool *known, struct err *e)
{
    static const char SQL[] =
        "SELECT coalesce((SELECT document FROM job_submitted WHERE job = :id), document)"
        " = :document FROM jobs WHERE id = :id";
    struct query q;
    int same = -1;
    query_begin(&q, s, SQL);
    query_text(&q, ":id", job->id);
    query_text(&q, ":document", job->document);
    if (query_row(&q))
        same = (int)query_col_int(&q, 0);
    int rc = query_end(&q, e);
    if (rc == 0 && same == 0)
        rc = err_set(e, -EEXIST, "job.exists_differs", "id",
                     "job %s exists with another document: give the new job an id of its own",
                     job->id);
    *known = same == 1;
    return rc;
}

static int check_suite(struct store *s, const char *sha256, struct err *e)
{
    static const char SQL[] = "SELECT 1 FROM suites WHERE sha256 = :sha256";
    struct query q;
    if (!sha256)
        return 0;
    query_begin(&q, s, SQL);
    query_text(&q, ":sha256", sha256);
    bool found = query_row(&q);
    int rc = query_end(&q, e);
    if (rc == 0 && !found)
        rc = err_set(e, -ENOENT, "suite.unknown", "suite.sha256",
                     "the suite %.12s is not in the store: send it before the job", sha256);
    return rc;
}

int rows_submit_job(struct store *s, const struct store_new_job *job, bool *known, struct err *e)
{
    const struct store_event with = {
        .wall_ms = job->wall_ms, .next_try_ms = -1, .peer_uid = &job->peer_uid};
    struct job_step step;
    *known = false;
    if (!ulid_valid(job->id))
        return err_set(e, -EINVAL, "job.bad_id", "id",
                       "the id of a job is a ULID: 26 capital letters and digits");
    int rc = check_known(s, job, known, e);
    if (rc != 0 || *known)
        return rc;
    if (job->session)
        rc = rows_check_session(s, job->session, e);
    if (rc != 0)
        return rc;
    rc = job_state_step(JOB_NEW, job->held ? JOB_HOLD : JOB_SUBMIT, &step);
    if (rc == 0)
        rc = check_suite(s, job->suite_sha256, e);
    if (rc == 0)
        rc = add_job(s, job, &step, e);
    if (rc == 0)
        rc = rows_put_after(s, job->id, job->after, job->n_after, true, e);
    return rc ? rc : add_history(s, job->id, &step, &with, e);
}

int store_job_submit(struct store *s, const struct store_new_job *job, bool *duplicate,
                     struct err *e)
{
    bool known = false;
    int rc = tx_begin(s, e);
    if (rc != 0)
        return rc;
    rc = tx_end(s, rows_submit_job(s, job, &known, e), e);
    if (rc == 0 && duplicate)
        *duplicate = known;
    return rc;
}

/* ---- claim: the indexes are named, because the planner would sort all jobs of the state ---- */

/* One id of the first row; STORE_NONE without a row. */
static int take_id(struct query *q, char id[ULID_LEN + 1], struct err *e)
{
    bool found = query_row(q);
    if (found)
        (void)sqlite3_snprintf(ULID_LEN + 1, id, "%s", sqlite3_column_text(q->st, 0));
    int rc = query_end(q, e);
    return rc ? rc : found ? 0 : STORE_NONE;
}

static int first_due(struct store *s, int64_t now_ms, char id[ULID_LEN + 1], struct err *e)
{
    static const char SQL[] = "SELECT id FROM jobs INDEXED BY jobs_due WHERE state = 'waiting'"
                              " AND next_try_ms <= :now_ms ORDER BY next_try_ms LIMIT 1";
    struct query q;
    query_begin(&q, s, SQL);
    query_int(&q, ":now_ms", now_ms);
    return take_id(&q, id, e);
}

static int first_queued(struct store *s, char id[ULID_LEN + 1], bool *timed, struct err *e)
{
    static const char SQL[] = "SELECT id, timed FROM jobs INDEXED BY jobs_claim"
                              " WHERE state = 'queued' AND blocked = 0"
                              " ORDER BY priority DESC, number LIMIT 1";
    struct query q;
    query_begin(&q, s, SQL);
    bool found = query_row(&q);
    if (found) {
        (void)sqlite3_snprintf(ULID_LEN + 1, id, "%s", sqlite3_column_text(q.st, 0));
        *timed = query_col_int(&q, 1) != 0;
    }
    int rc = query_end(&q, e);
    return rc ? rc : found ? 0 : STORE_NONE;
}

static int queue_due(struct store *s, int64_t now_ms, struct err *e)
{
    const struct store_event with = {.wall_ms = now_ms, .next_try_ms = -1};
    char id[ULID_LEN + 1];
    struct job_step step;
    for (int i = 0; i < DUE_MAX; i++) {
        int rc = first_due(s, now_ms, id, e);
        if (rc == STORE_NONE)
            return 0;
        if (rc == 0)
            rc = rows_apply_event(s, id, JOB_RETRY_DUE, &with, &step, e);
        if (rc != 0)
            return rc;
    }
    return 0;
}

/* The first queued job that may run now; the gate's answers to others are carried out. */
static int first_allowed(struct store *s, int64_t now_ms, const struct store_new_attempt *attempt,
                         char job[ULID_LEN + 1], struct err *e)
{
    for (int i = 0; i < DUE_MAX; i++) {
        struct store_event with = {.wall_ms = now_ms, .next_try_ms = -1};
        enum job_event event = JOB_CLAIM;
        struct job_step step;
        bool timed = false;
        int rc = first_queued(s, job, &timed, e);
        if (rc == 0 && timed && attempt->gate)
            rc = attempt->gate(attempt->gate_ctx, job, &event, &with, e);
        if (rc != 0 || event == JOB_CLAIM)
            return rc;
        rc = rows_apply_event(s, job, event, &with, &step, e);
        if (rc != 0)
            return rc;
    }
    return STORE_AGAIN;
}

static int claim(struct store *s, int64_t now_ms, const struct store_new_attempt *attempt,
                 char job[ULID_LEN + 1], int *kept, struct err *e)
{
    const struct store_event with = {.wall_ms = now_ms, .next_try_ms = -1, .attempt = attempt->id};
    struct job_step step;
    int rc = queue_due(s, now_ms, e);
    if (rc == 0)
        rc = first_allowed(s, now_ms, attempt, job, e);
    /* What was kept back is to be committed although nothing is claimed. */
    *kept = rc == STORE_NONE || rc == STORE_AGAIN ? rc : 0;
    if (rc != 0)
        return *kept ? 0 : rc;
    rc = rows_add_attempt(s, attempt, job, now_ms, e);
    return rc ? rc : rows_apply_event(s, job, JOB_CLAIM, &with, &step, e);
}

int store_job_claim(struct store *s, int64_t now_ms, const struct store_new_attempt *attempt,
                    char job[ULID_LEN + 1], struct err *e)
{
    int kept = 0, rc = tx_begin(s, e);
    if (rc != 0)
        return rc;
    rc = tx_end(s, claim(s, now_ms, attempt, job, &kept, e), e);
    return rc ? rc : kept;
}

int store_next_due_ms(struct store *s, int64_t *due_ms, struct err *e)
{
    static const char SQL[] =
        "SELECT min(due) FROM (SELECT min(next_try_ms) AS due FROM jobs INDEXED BY jobs_due"
        " WHERE state = 'waiting' UNION ALL SELECT min(deadline_ms) FROM jobs INDEXED BY"
        " jobs_deadline WHERE deadline_ms IS NOT NULL"
        " AND state IN ('held', 'queued', 'waiting'))";
    struct query q;
    query_begin(&q, s, SQL);
    *due_ms = query_row(&q) ? query_col_int_opt(&q, 0) : -1;
    return query_end(&q, e);
}

struct overdue {
    const char *id;
};

int store_overdue(struct store *s, int64_t now_ms, struct arena *a, const char *const **ids,
                  size_t *n, struct err *e)
{
    static const struct field fields[] = {F(struct overdue, id)};
    static const char SQL[] =
        "SELECT id FROM jobs INDEXED BY jobs_deadline WHERE deadline_ms IS NOT NULL"
        " AND state IN ('held', 'queued', 'waiting') AND deadline_ms <= :now_ms"
        " ORDER BY deadline_ms LIMIT 512";
    struct query q;
    query_begin(&q, s, SQL);
    query_int(&q, ":now_ms", now_ms);
    const struct overdue *rows =
        query_all(&q, fields, ARRAY_LEN(fields), sizeof(struct overdue), a, n);
    const char **out = arena_array(a, *n + 1, sizeof *out);
    for (size_t i = 0; i < *n; i++)
        out[i] = rows[i].id;
    *ids = out;
    return query_end(&q, e);
}
