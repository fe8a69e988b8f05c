/* Jobs that come after others: who waits for whom, who is told when one has ended. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "store/rows.h"

#define SETTLE_MAX 512        /* rows told in one transaction: bounds it */
#define CIRCLE_JOBS_MAX 10000 /* looked at for a circle; what waits for more is refused */
#define FOLLOWERS_MAX 1000

WORDS(job_state, job_state);
WORDS(job_need, job_need);

/* ---- the list of a job ---- */

static int failed(const char *field, const char *other, enum job_state state, struct err *e)
{
    return err_set(e, -EINVAL, "job.after_failed", field,
                   "job %s, which had to end well before this one, ended as %s: measure that again "
                   "first (aurabench rerun), or leave it out",
                   other, job_state_name(state));
}

static void at_item(struct err *e, size_t i)
{
    if (e)
        (void)snprintf(e->field, sizeof e->field, "after[%zu].job", i);
}

/* *open: its end is still to come. */
static int check_other(struct store *s, const struct job_after *after, size_t i, bool *open,
                       struct err *e)
{
    enum job_state state = JOB_NEW;
    char field[32];
    int rc = rows_read_state(s, after->job, &state, e);
    if (rc == -ENOENT)
        at_item(e, i);
    if (rc != 0)
        return rc;
    *open = !job_state_is_final(state);
    if (*open || after->need == NEED_ANY || state == JOB_DONE)
        return 0;
    (void)snprintf(field, sizeof field, "after[%zu].job", i);
    return failed(field, after->job, state, e);
}

static int add_row(struct store *s, const char *job, const struct job_after *after, size_t i,
                   bool open, struct err *e)
{
    static const char SQL[] = "INSERT INTO job_after (job, seq, other, need, open)"
                              " VALUES (:job, :seq, :other, :need, :open)";
    struct query q;
    query_begin(&q, s, SQL);
    query_text(&q, ":job", job);
    query_int(&q, ":seq", (int64_t)i);
    query_text(&q, ":other", after->job);
    query_text(&q, ":need", job_need_name(after->need));
    query_int(&q, ":open", open);
    return query_run(&q, e);
}

/* Along all rows, not only the open ones: another run opens them again. */
static int check_circle(struct store *s, const char *job, struct err *e)
{
    static const char SQL[] =
        "WITH RECURSIVE above(id) AS (SELECT other FROM job_after WHERE job = :job"
        " UNION SELECT a.other FROM above JOIN job_after a ON a.job = above.id LIMIT :most)"
        " SELECT count(*), coalesce(max(id = :job), 0) FROM above";
    struct query q;
    int64_t seen = 0, circle = 0;
    query_begin(&q, s, SQL);
    query_text(&q, ":job", job);
    query_int(&q, ":most", CIRCLE_JOBS_MAX + 1);
    if (query_row(&q)) {
        seen = query_col_int(&q, 0);
        circle = query_col_int(&q, 1);
    }
    int rc = query_end(&q, e);
    if (rc == 0 && circle)
        return err_set(e, -EINVAL, "job.after_circle", "after",
                       "job %s would come after itself, by way of the jobs that it is to come "
                       "after: name others",
                       job);
    if (rc == 0 && seen > CIRCLE_JOBS_MAX)
        return err_set(e, -EINVAL, "job.after_circle", "after",
                       "job %s would come after more than %d jobs, one after another: too many to "
                       "be sure that none of them waits for it; name others",
                       job, CIRCLE_JOBS_MAX);
    return rc;
}

int rows_put_after(struct store *s, const char *job, const struct job_after *after, size_t n,
                   bool is_new, struct err *e)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < n; i++) {
        bool open = false;
        if (strcmp(after[i].job, job) == 0) {
            rc = err_set(e, -EINVAL, "job.after_circle", "",
                         "job %s cannot come after itself: name another", job);
            at_item(e, i);
            return rc;
        }
        rc = check_other(s, &after[i], i, &open, e);
        if (rc == 0)
            rc = add_row(s, job, &after[i], i, open, e);
    }
    /* Nobody can wait for a job that was not there. */
    return rc || is_new || n == 0 ? rc : check_circle(s, job, e);
}

int rows_drop_after(struct store *s, const char *job, struct err *e)
{
    static const char SQL[] = "DELETE FROM job_after WHERE job = :job";
    struct query q;
    query_begin(&q, s, SQL);
    query_text(&q, ":job", job);
    return query_run(&q, e);
}

/* ---- reading ---- */

static const struct field after_fields[] = {
    F(struct store_after, job),   F_WORD(struct store_after, need, job_need),
    F(struct store_after, open),  F_WORD(struct store_after, state, job_state),
    F(struct store_after, label),
};

#define AFTER_SELECT                                                                               \
    "SELECT a.other AS job, a.need, a.open, j.state, j.label FROM job_after a"                     \
    " JOIN jobs j ON j.id = a.other WHERE a.job = :job"

static struct store_after *read_all(struct query *q, struct arena *a, size_t *n)
{
    return query_all(q, after_fields, ARRAY_LEN(after_fields), sizeof(struct store_after), a, n);
}

int store_job_after(struct store *s, const char *job, struct arena *a, struct store_after **out,
                    size_t *n, struct err *e)
{
    static const char SQL[] = AFTER_SELECT " ORDER BY a.seq";
    struct query q;
    query_begin(&q, s, SQL);
    query_text(&q, ":job", job);
    *out = read_all(&q, a, n);
    return query_end(&q, e);
}

int store_job_blocker(struct store *s, const char *job, struct arena *a, struct store_after **out,
                      struct err *e)
{
    static const char SQL[] = AFTER_SELECT " AND a.open = 1 ORDER BY a.seq LIMIT 1";
    struct query q;
    size_t n;
    query_begin(&q, s, SQL);
    query_text(&q, ":job", job);
    *out = read_all(&q, a, &n);
    int rc = query_end(&q, e);
    return rc == 0 && n == 0 ? STORE_NONE : rc;
}

int store_job_followers(struct store *s, const char *job, int limit, struct arena *a,
                        struct store_after **out, size_t *n, struct err *e)
{
    static const char SQL[] =
        "SELECT a.job, a.need, a.open, j.state, j.label FROM job_after a INDEXED BY job_after_other"
        " JOIN jobs j ON j.id = a.job WHERE a.other = :job ORDER BY a.open DESC, a.job LIMIT :limit";
    struct query q;
    if (limit < 1 || limit > FOLLOWERS_MAX)
        return err_set(e, -EINVAL, "store.bad_limit", "limit", "a page holds 1 to %d jobs",
                       FOLLOWERS_MAX);
    query_begin(&q, s, SQL);
    query_text(&q, ":job", job);
    query_int(&q, ":limit", limit);
    *out = read_all(&q, a, n);
    return query_end(&q, e);
}

int rows_reopen_after(struct store *s, const char *job, struct err *e)
{
    static const char SQL[] = "UPDATE job_after SET open = :open WHERE job = :job AND seq = :seq";
    struct arena a = {0};
    struct store_after *list;
    size_t n = 0;
    int rc = store_job_after(s, job, &a, &list, &n, e);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        const struct job_after after = {list[i].job, list[i].need};
        struct query q;
        bool open = false;
        rc = check_other(s, &after, i, &open, e);
        if (rc != 0)
            break;
        query_begin(&q, s, SQL);
        query_int(&q, ":open", open);
        query_text(&q, ":job", job);
        query_int(&q, ":seq", (int64_t)i);
        rc = query_run(&q, e);
    }
    arena_deinit(&a);
    return rc;
}

/* ---- ends ---- */

static int close_rows(struct store *s, const char *job, struct err *e)
{
    static const char SQL[] = "UPDATE job_after SET open = 0 WHERE job = :job AND open = 1";
    struct query q;
    query_begin(&q, s, SQL);
    query_text(&q, ":job", job);
    return query_run(&q, e);
}

int rows_job_ended(struct store *s, const char *job, struct err *e)
{
    static const char SQL[] =
        "INSERT OR IGNORE INTO job_ends (job) SELECT :job WHERE EXISTS"
        " (SELECT 1 FROM job_after INDEXED BY job_after_other WHERE other = :job AND open = 1)";
    struct query q;
    int rc = close_rows(s, job, e);
    if (rc != 0)
        return rc;
    query_begin(&q, s, SQL);
    query_text(&q, ":job", job);
    return query_run(&q, e);
}

int rows_job_goes_on(struct store *s, const char *job, struct err *e)
{
    static const char SQL[] = "DELETE FROM job_ends WHERE job = :job";
    struct query q;
    query_begin(&q, s, SQL);
    query_text(&q, ":job", job);
    return query_run(&q, e);
}

/* ---- settling ---- */

struct told {
    char job[ULID_LEN + 1];
    enum job_need need;
};

static int first_end(struct store *s, char job[ULID_LEN + 1], struct err *e)
{
    static const char SQL[] = "SELECT job FROM job_ends ORDER BY number LIMIT 1";
    struct query q;
    query_begin(&q, s, SQL);
    bool found = query_row(&q);
    if (found)
        (void)sqlite3_snprintf(ULID_LEN + 1, job, "%s", sqlite3_column_text(q.st, 0));
    int rc = query_end(&q, e);
    return rc ? rc : found ? 0 : STORE_NONE;
}

static int first_untold(struct store *s, const char *ended, struct told *out, struct err *e)
{
    static const char SQL[] = "SELECT job, need FROM job_after INDEXED BY job_after_other"
                              " WHERE other = :ended AND open = 1 ORDER BY job LIMIT 1";
    struct query q;
    query_begin(&q, s, SQL);
    query_text(&q, ":ended", ended);
    bool found = query_row(&q);
    if (found) {
        (void)sqlite3_snprintf(ULID_LEN + 1, out->job, "%s", sqlite3_column_text(q.st, 0));
        int need = job_need_parse((const char *)sqlite3_column_text(q.st, 1));
        if (need < 0)
            query_unreadable(&q, "a word that this version does not know");
        out->need = (enum job_need)need;
    }
    int rc = query_end(&q, e);
    return rc ? rc : found ? 0 : STORE_NONE;
}

static int close_row(struct store *s, const char *job, const char *other, struct err *e)
{
    static const char SQL[] = "UPDATE job_after SET open = 0 WHERE job = :job AND other = :other";
    struct query q;
    query_begin(&q, s, SQL);
    query_text(&q, ":job", job);
    query_text(&q, ":other", other);
    return query_run(&q, e);
}

static int is_free(struct store *s, const char *job, int *freed, struct err *e)
{
    static const char SQL[] = "SELECT blocked FROM jobs WHERE id = :id";
    struct query q;
    query_begin(&q, s, SQL);
    query_text(&q, ":id", job);
    if (query_row(&q))
        *freed += query_col_int(&q, 0) == 0;
    return query_end(&q, e);
}

static int cancel(struct store *s, const char *job, const char *ended, enum job_state state,
                  int64_t now_ms, struct arena *a, struct store_settled *out, struct err *e)
{
    struct err why = {0};
    struct job_step step;
    (void)err_set(&why, -EINVAL, "job.after_failed", "after",
                  "job %s, after which it was to run, ended as %s", ended, job_state_name(state));
    const struct store_event with = {
        .wall_ms = now_ms, .next_try_ms = -1, .text = why.text, .error = &why};
    *out = (struct store_settled){arena_strdup(a, job), arena_strdup(a, why.text)};
    return rows_apply_event(s, job, JOB_CANCEL, &with, &step, e);
}

struct settling {
    struct store_settled *settled;
    size_t n;
    int freed;
};

static int tell(struct store *s, const struct told *to, const char *ended, enum job_state state,
                int64_t now_ms, struct arena *a, struct settling *out, struct err *e)
{
    int rc = close_row(s, to->job, ended, e);
    if (rc != 0)
        return rc;
    if (to->need == NEED_ANY || state == JOB_DONE)
        return is_free(s, to->job, &out->freed, e);
    return cancel(s, to->job, ended, state, now_ms, a, &out->settled[out->n++], e);
}

/* One row of the oldest end; an end without rows is forgotten. STORE_NONE: all are told. */
static int settle_one(struct store *s, int64_t now_ms, struct arena *a, struct settling *out,
                      struct err *e)
{
    char ended[ULID_LEN + 1];
    enum job_state state = JOB_NEW;
    struct told to;
    int rc = first_end(s, ended, e);
    if (rc == 0)
        rc = rows_read_state(s, ended, &state, e);
    if (rc != 0)
        return rc;
    rc = first_untold(s, ended, &to, e);
    if (rc == 0)
        return tell(s, &to, ended, state, now_ms, a, out, e);
    return rc == STORE_NONE ? rows_job_goes_on(s, ended, e) : rc;
}

static int settle(struct store *s, int64_t now_ms, struct arena *a, struct settling *out,
                  bool *more, struct err *e)
{
    for (int i = 0; i < SETTLE_MAX; i++) {
        int rc = settle_one(s, now_ms, a, out, e);
        if (rc != 0)
            return rc == STORE_NONE ? 0 : rc;
    }
    *more = true;
    return 0;
}

int store_settle(struct store *s, int64_t now_ms, struct arena *a, struct store_settled **settled,
                 size_t *n, int *freed, struct err *e)
{
    struct settling out = {0};
    char ended[ULID_LEN + 1];
    bool more = false;
    *n = 0;
    *freed = 0;
    /* Mostly there is nothing, which needs no transaction. */
    int rc = first_end(s, ended, e);
    if (rc != 0)
        return rc == STORE_NONE ? 0 : rc;
    out.settled = arena_array(a, SETTLE_MAX, sizeof *out.settled);
    rc = tx_begin(s, e);
    if (rc == 0)
        rc = tx_end(s, settle(s, now_ms, a, &out, &more, e), e);
    if (rc != 0)
        return rc;
    *settled = out.settled;
    *n = out.n;
    *freed = out.freed;
    return more ? STORE_AGAIN : 0;
}
