/* Sessions: opening with all jobs at once, look-ups, closing, who disturbed them. */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "core/session.h"
#include "store/rows.h"

#define LIST_MAX 1000

static const struct field fields[] = {
    F(struct store_session, number),       F(struct store_session, id),
    F(struct store_session, label),        F(struct store_session, document),
    F_OPT(struct store_session, peer_uid), F(struct store_session, opened_ms),
    F(struct store_session, opened_boot),  F_OPT(struct store_session, closed_ms),
    F(struct store_session, evidence),     F(struct store_session, sums_sha256),
};

#define SESSION_SELECT                                                                             \
    "SELECT number, id, label, document, peer_uid, opened_ms, opened_boot, closed_ms, evidence,"   \
    " sums_sha256 FROM sessions"

static int not_found(const char *text, struct err *e)
{
    return err_set(e, -ENOENT, "session.not_found", "id",
                   "there is no session %.100s: `aurabench session list` shows those of this host",
                   text);
}

int store_session_get(struct store *s, const char *id, struct arena *a, struct store_session **out,
                      struct err *e)
{
    static const char SQL[] = SESSION_SELECT " WHERE id = :id";
    struct query q;
    size_t n;
    query_begin(&q, s, SQL);
    query_text(&q, ":id", id);
    *out = query_all(&q, fields, ARRAY_LEN(fields), sizeof **out, a, &n);
    int rc = query_end(&q, e);
    if (rc == 0 && n > 0)
        (*out)->evidence = rows_evidence(s, (*out)->evidence, a);
    return rc == 0 && n == 0 ? not_found(id, e) : rc;
}

static int number_of(struct store *s, const char *id, int64_t *number, struct err *e)
{
    static const char SQL[] = "SELECT number FROM sessions WHERE id = :id";
    return rows_number_of(s, SQL, id, not_found, number, e);
}

int store_session_list(struct store *s, int limit, const char *before, struct arena *a,
                       struct store_session **out, size_t *n, struct err *e)
{
    static const char SQL[] =
        SESSION_SELECT " WHERE number < :before ORDER BY number DESC LIMIT :limit";
    int64_t number = INT64_MAX;
    struct query q;
    if (limit < 1 || limit > LIST_MAX)
        return err_set(e, -EINVAL, "store.bad_limit", "limit", "a page holds 1 to %d sessions",
                       LIST_MAX);
    int rc = before ? number_of(s, before, &number, e) : 0;
    if (rc != 0)
        return rc;
    query_begin(&q, s, SQL);
    query_int(&q, ":before", number);
    query_int(&q, ":limit", limit);
    *out = query_all(&q, fields, ARRAY_LEN(fields), sizeof **out, a, n);
    for (size_t i = 0; i < *n; i++)
        (*out)[i].evidence = rows_evidence(s, (*out)[i].evidence, a);
    return query_end(&q, e);
}

int store_session_counts(struct store *s, const char *id, int64_t *jobs, int64_t *over,
                         struct err *e)
{
    static const char SQL[] = "SELECT state, count(*) FROM jobs INDEXED BY jobs_session"
                              " WHERE session = :session GROUP BY state";
    struct query q;
    *jobs = *over = 0;
    query_begin(&q, s, SQL);
    query_text(&q, ":session", id);
    while (query_row(&q)) {
        int state = job_state_parse((const char *)sqlite3_column_text(q.st, 0));
        *jobs += query_col_int(&q, 1);
        if (state >= 0 && job_state_is_final((enum job_state)state))
            *over += query_col_int(&q, 1);
    }
    return query_end(&q, e);
}

/* ---- find ---- */

static int by_label(struct store *s, const char *label, char id[ULID_LEN + 1], struct err *e)
{
    static const char SQL[] =
        "SELECT id FROM sessions WHERE label = :label ORDER BY number DESC LIMIT 1";
    struct query q;
    query_begin(&q, s, SQL);
    query_text(&q, ":label", label);
    bool found = query_row(&q);
    if (found)
        (void)sqlite3_snprintf(ULID_LEN + 1, id, "%s", sqlite3_column_text(q.st, 0));
    int rc = query_end(&q, e);
    return rc ? rc : found ? 0 : STORE_NONE;
}

int store_session_find(struct store *s, const char *text, char id[ULID_LEN + 1], struct err *e)
{
    /* There are few sessions: their ids' ends need no index. */
    static const char SQL[] = "SELECT id FROM sessions WHERE id >= :start AND id < :start_end"
                              " OR id LIKE '%' || :text LIMIT 2";
    struct id_needle needle;
    struct query q;
    int n = 0, rc = by_label(s, text, id, e);
    if (rc != STORE_NONE)
        return rc;
    if (!rows_id_needle(text, &needle))
        return not_found(text, e);
    query_begin(&q, s, SQL);
    query_text(&q, ":start", needle.start);
    query_text(&q, ":start_end", needle.start_end);
    query_text(&q, ":text", needle.start);
    for (; n < 2 && query_row(&q); n++)
        (void)sqlite3_snprintf(ULID_LEN + 1, id, "%s", sqlite3_column_text(q.st, 0));
    rc = query_end(&q, e);
    if (rc == 0 && n > 1)
        return err_set(e, STORE_AMBIGUOUS, "session.ambiguous", "id",
                       "`%.32s` fits several sessions: give more of the id, or the label", text);
    return rc == 0 && n == 0 ? not_found(text, e) : rc;
}

/* ---- open ---- */

int rows_check_session(struct store *s, const char *id, struct err *e)
{
    static const char SQL[] = "SELECT closed_ms IS NOT NULL,"
                              " (SELECT count(*) FROM jobs INDEXED BY jobs_session"
                              " WHERE session = :id) FROM sessions WHERE id = :id";
    struct query q;
    bool closed = false;
    int64_t jobs = 0;
    query_begin(&q, s, SQL);
    query_text(&q, ":id", id);
    bool found = query_row(&q);
    if (found) {
        closed = query_col_int(&q, 0) != 0;
        jobs = query_col_int(&q, 1);
    }
    int rc = query_end(&q, e);
    if (rc == 0 && !found)
        return not_found(id, e);
    if (rc == 0 && closed)
        return err_set(e, -EINVAL, "session.closed", "session",
                       "session %s is closed and takes no more jobs; open another", id);
    if (rc == 0 && jobs >= SESSION_JOBS_MAX)
        return err_set(e, -EINVAL, "session.full", "session",
                       "session %s has %d jobs and takes no more; open another", id,
                       SESSION_JOBS_MAX);
    return rc;
}

/* *known: this very session is there. */
static int check_id(struct store *s, const struct store_session *session, bool *known,
                    struct err *e)
{
    static const char SQL[] = "SELECT document = :document FROM sessions WHERE id = :id";
    struct query q;
    int same = -1;
    query_begin(&q, s, SQL);
    query_text(&q, ":id", session->id);
    query_text(&q, ":document", session->document);
    if (query_row(&q))
        same = (int)query_col_int(&q, 0);
    int rc = query_end(&q, e);
    *known = same == 1;
    if (rc == 0 && same == 0)
        rc = err_set(e, -EEXIST, "session.exists", "id",
                     "session %s exists with another document: give the new one an id of its own",
                     session->id);
    return rc;
}

static int check_label(struct store *s, const char *label, struct err *e)
{
    static const char SQL[] = "SELECT 1 FROM sessions WHERE label = :label AND closed_ms IS NULL";
    struct query q;
    query_begin(&q, s, SQL);
    query_text(&q, ":label", label);
    bool found = query_row(&q);
    int rc = query_end(&q, e);
    if (rc == 0 && found)
        rc = err_set(e, -EEXIST, "session.exists", "label",
                     "a session %s is open already; close it first or take another label", label);
    return rc;
}

static int add_session(struct store *s, const struct store_session *session, struct err *e)
{
    static const char SQL[] =
        "INSERT INTO sessions (id, label, document, peer_uid, opened_ms, opened_boot)"
        " VALUES (:id, :label, :document, :peer_uid, :opened_ms, :opened_boot)";
    struct query q;
    query_begin(&q, s, SQL);
    query_text(&q, ":id", session->id);
    query_text(&q, ":label", session->label);
    query_text(&q, ":document", session->document);
    query_int_opt(&q, ":peer_uid", session->peer_uid);
    query_int(&q, ":opened_ms", session->opened_ms);
    query_text(&q, ":opened_boot", session->opened_boot);
    return query_run(&q, e);
}

static int open_with_jobs(struct store *s, const struct store_session *session,
                          const struct store_new_job *jobs, size_t n, bool *known, struct err *e)
{
    bool job_known;
    int rc = check_id(s, session, known, e);
    if (rc != 0 || *known)
        return rc;
    rc = check_label(s, session->label, e);
    if (rc == 0)
        rc = add_session(s, session, e);
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = rows_submit_job(s, &jobs[i], &job_known, e);
    return rc;
}

int store_session_open(struct store *s, const struct store_session *session,
                       const struct store_new_job *jobs, size_t n, bool *duplicate, struct err *e)
{
    bool known = false;
    int rc = tx_begin(s, e);
    if (rc != 0)
        return rc;
    rc = tx_end(s, open_with_jobs(s, session, jobs, n, &known, e), e);
    if (rc == 0 && duplicate)
        *duplicate = known;
    return rc;
}

/* ---- close, wake ---- */

static int run_in_tx(struct store *s, struct query *q, struct err *e)
{
    return tx_end(s, query_run(q, e), e);
}

int store_session_close(struct store *s, const char *id, const struct store_event *with,
                        const char *const *jobs, size_t n, struct err *e)
{
    static const char SQL[] =
        "UPDATE sessions SET closed_ms = :wall_ms WHERE id = :id AND closed_ms IS NULL";
    struct job_step step;
    struct query q;
    int rc = tx_begin(s, e);
    if (rc != 0)
        return rc;
    query_begin(&q, s, SQL);
    query_text(&q, ":id", id);
    query_int(&q, ":wall_ms", with->wall_ms);
    rc = query_run(&q, e);
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = rows_apply_event(s, jobs[i], JOB_CANCEL, with, &step, e);
    return tx_end(s, rc, e);
}

int store_session_sealed(struct store *s, const char *id, const char *evidence,
                         const char *sums_sha256, struct err *e)
{
    static const char SQL[] = "UPDATE sessions SET evidence = :evidence,"
                              " sums_sha256 = :sums_sha256 WHERE id = :id AND evidence IS NULL";
    struct query q;
    int rc = tx_begin(s, e);
    if (rc != 0)
        return rc;
    query_begin(&q, s, SQL);
    query_text(&q, ":id", id);
    query_text(&q, ":evidence", evidence);
    query_text(&q, ":sums_sha256", sums_sha256);
    return run_in_tx(s, &q, e);
}

int store_session_wake(struct store *s, const char *boot, int64_t now_ms, struct err *e)
{
    static const char SQL[] =
        "UPDATE jobs SET next_try_ms = :now_ms WHERE state = 'waiting' AND next_try_ms > :now_ms"
        " AND session IN (SELECT id FROM sessions WHERE closed_ms IS NULL"
        " AND opened_boot <> :boot)";
    struct query q;
    int rc = tx_begin(s, e);
    if (rc != 0)
        return rc;
    query_begin(&q, s, SQL);
    query_text(&q, ":boot", boot);
    query_int(&q, ":now_ms", now_ms);
    return run_in_tx(s, &q, e);
}

/* ---- who disturbed it ---- */

static const struct field noise_fields[] = {
    F(struct store_noise, command),
    F(struct store_noise, refusals),
};

int store_session_noise(struct store *s, const char *id, struct arena *a, struct store_noise **out,
                        size_t *n, struct err *e)
{
    static const char SQL[] =
        "SELECT c.command, count(DISTINCT t.id) AS refusals"
        " FROM jobs j INDEXED BY jobs_session JOIN attempts t ON t.job = j.id"
        " JOIN refusals r ON r.attempt = t.id"
        " JOIN competitors c ON c.attempt = t.id AND c.phase = r.phase AND c.kind = 'competitor'"
        " WHERE j.session = :session GROUP BY c.command ORDER BY refusals DESC, c.command LIMIT 5";
    struct query q;
    query_begin(&q, s, SQL);
    query_text(&q, ":session", id);
    *out = query_all(&q, noise_fields, ARRAY_LEN(noise_fields), sizeof **out, a, n);
    return query_end(&q, e);
}
