/* Jobs: one, by part of an id, pages, history, counts. */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "store/rows.h"

#define LIST_MAX 1000
#define HISTORY_MAX "1000"
#define FIND_MIN 4

WORDS(job_state, job_state);
WORDS(job_event, job_event);

#define JOB_FIELDS                                                                                 \
    F(struct store_job, number), F(struct store_job, id),                                          \
        F_WORD(struct store_job, state, job_state), F(struct store_job, priority),                 \
        F(struct store_job, label), F(struct store_job, suite_sha256),                             \
        F_OPT(struct store_job, peer_uid), F(struct store_job, submitted_ms),                      \
        F(struct store_job, changed_ms), F_OPT(struct store_job, next_try_ms),                     \
        F(struct store_job, refusals), F(struct store_job, attempts),                              \
        F(struct store_job, run_from), F(struct store_job, blocked),                               \
        F_OPT(struct store_job, held_by), F(struct store_job, attempt),                            \
        F(struct store_job, error_code), F(struct store_job, error_field),                         \
        F(struct store_job, error_text), F(struct store_job, report),                              \
        F(struct store_job, session), F(struct store_job, waits_for), F(struct store_job, night)

#define JOB_COLUMNS                                                                                \
    "number, id, state, priority, label, suite_sha256, peer_uid, submitted_ms, changed_ms,"        \
    " next_try_ms, refusals,"                                                                      \
    " (SELECT coalesce(max(a.number), 0) FROM attempts a WHERE a.job = jobs.id) AS attempts,"      \
    " run_from, blocked, held_by, attempt, error_code, error_field, error_text, report, session, waits_for, night"

static const struct field list_fields[] = {JOB_FIELDS};
static const struct field job_fields[] = {JOB_FIELDS, F(struct store_job, document),
                                          F(struct store_job, policy)};

int store_job_get(struct store *s, const char *id, struct arena *a, struct store_job **out,
                  struct err *e)
{
    static const char SQL[] = "SELECT " JOB_COLUMNS ", document, policy FROM jobs WHERE id = :id";
    struct query q;
    size_t n;
    query_begin(&q, s, SQL);
    query_text(&q, ":id", id);
    *out = query_all(&q, job_fields, ARRAY_LEN(job_fields), sizeof **out, a, &n);
    int rc = query_end(&q, e);
    return rc == 0 && n == 0 ? rows_job_not_found(id, e) : rc;
}

/* ---- find ---- */

bool rows_id_needle(const char *text, struct id_needle *out)
{
    size_t n = strlen(text);
    bool good = n >= FIND_MIN && n <= ULID_LEN;
    *out = (struct id_needle){0};
    for (size_t i = 0; good && i < n; i++) {
        char c = (char)toupper((unsigned char)text[i]);
        good = strchr("0123456789ABCDEFGHJKMNPQRSTVWXYZ", c) != NULL;
        out->start[i] = out->start_end[i] = c;
        out->tail[n - 1 - i] = out->tail_end[n - 1 - i] = c;
    }
    if (good)
        out->start_end[n] = out->tail_end[n] = '~'; /* behind every character of an id */
    return good;
}

static int make_needle(const char *text, struct id_needle *out, struct err *e)
{
    if (rows_id_needle(text, out))
        return 0;
    return err_set(e, -EINVAL, "job.bad_id", "id",
                   "`%.32s` is not part of a job's id: give 4 to 26 of its letters and digits "
                   "from either end",
                   text);
}

/* The limit of each arm keeps a start that fits every job as cheap as any other. Ends are looked
 * for in each group of 1,024 jobs (jobs_tail), the latest first: 3 us a group. */
static const char FIND_SQL[] =
    "WITH RECURSIVE groups (n) AS (SELECT max(number) >> 10 FROM jobs"
    " UNION ALL SELECT n - 1 FROM groups WHERE n > 0)"
    " SELECT id FROM (SELECT id FROM jobs WHERE id >= :start AND id < :start_end LIMIT 2)"
    " UNION SELECT id FROM (SELECT id FROM groups CROSS JOIN jobs INDEXED BY jobs_tail"
    " WHERE number >> 10 = n AND id_reversed >= :tail AND id_reversed < :tail_end LIMIT 2)";

int store_job_find(struct store *s, const char *text, char id[ULID_LEN + 1], struct err *e)
{
    struct id_needle needle;
    struct query q;
    char found[2][ULID_LEN + 1];
    int n = 0;
    int rc = make_needle(text, &needle, e);
    if (rc != 0)
        return rc;
    query_begin(&q, s, FIND_SQL);
    query_text(&q, ":start", needle.start);
    query_text(&q, ":start_end", needle.start_end);
    query_text(&q, ":tail", needle.tail);
    query_text(&q, ":tail_end", needle.tail_end);
    for (; n < 2 && query_row(&q); n++)
        (void)sqlite3_snprintf(ULID_LEN + 1, found[n], "%s", sqlite3_column_text(q.st, 0));
    rc = query_end(&q, e);
    if (rc != 0)
        return rc;
    if (n == 0)
        return rows_job_not_found(text, e);
    if (n > 1)
        return err_set(e, STORE_AMBIGUOUS, "job.ambiguous", "id",
                       "`%s` fits several jobs, %s and %s among them: give more of the id", text,
                       found[0], found[1]);
    memcpy(id, found[0], ULID_LEN + 1);
    return 0;
}

/* ---- list ---- */

/* One arm per state, each in order by its index and merged by SQLite: a page costs the same however
 * many jobs are in other states. */
static const char LIST_SQL[] =
    "SELECT " JOB_COLUMNS " FROM jobs WHERE number IN (SELECT number FROM ("
    "SELECT number FROM jobs WHERE 0"
#define JOB_STATE(state, spelling)                                                                 \
    " UNION ALL SELECT number FROM jobs WHERE state = '" spelling                                  \
    "' AND instr(:states, '," spelling ",') AND number < :before"
#include "core/job_state.def"
    " ORDER BY number DESC LIMIT :limit)) ORDER BY number DESC";

/* Few or many: their own index has them in order. */
static const char BLOCKED_SQL[] =
    "SELECT " JOB_COLUMNS " FROM jobs INDEXED BY jobs_blocked WHERE blocked > 0"
    " AND instr(:states, ',' || state || ',') AND number < :before"
    " ORDER BY number DESC LIMIT :limit";

/* ",queued,waiting," of a set of states; all of them for 0. */
static char *states_text(struct arena *a, unsigned states)
{
    char *text = arena_strdup(a, ",");
    for (int i = 0; i < JOB_STATE_COUNT; i++)
        if (states == 0 || states & STORE_STATE(i))
            text = arena_printf(a, "%s%s,", text, job_state_name((enum job_state)i));
    return text;
}

int rows_number_of(struct store *s, const char *sql, const char *id,
                   int (*not_found)(const char *id, struct err *e), int64_t *number, struct err *e)
{
    struct query q;
    query_begin(&q, s, sql);
    query_text(&q, ":id", id);
    bool found = query_row(&q);
    if (found)
        *number = query_col_int(&q, 0);
    int rc = query_end(&q, e);
    return rc == 0 && !found ? not_found(id, e) : rc;
}

static int number_of(struct store *s, const char *id, int64_t *number, struct err *e)
{
    static const char SQL[] = "SELECT number FROM jobs WHERE id = :id";
    return rows_number_of(s, SQL, id, rows_job_not_found, number, e);
}

int store_job_list(struct store *s, const struct store_list *list, struct arena *a,
                   struct store_job **out, size_t *n, struct err *e)
{
    int64_t before = INT64_MAX;
    struct query q;
    if (list->limit < 1 || list->limit > LIST_MAX)
        return err_set(e, -EINVAL, "store.bad_limit", "limit", "a page holds 1 to %d jobs",
                       LIST_MAX);
    int rc = list->before ? number_of(s, list->before, &before, e) : 0;
    if (rc != 0)
        return rc;
    query_begin(&q, s, list->blocked ? BLOCKED_SQL : LIST_SQL);
    query_text(&q, ":states", states_text(a, list->states));
    query_int(&q, ":before", before);
    query_int(&q, ":limit", list->limit);
    *out = query_all(&q, list_fields, ARRAY_LEN(list_fields), sizeof **out, a, n);
    return query_end(&q, e);
}

int store_session_jobs(struct store *s, const char *id, struct arena *a, struct store_job **out,
                       size_t *n, struct err *e)
{
    static const char SQL[] = "SELECT " JOB_COLUMNS " FROM jobs INDEXED BY jobs_session"
                              " WHERE session = :session ORDER BY number";
    struct query q;
    query_begin(&q, s, SQL);
    query_text(&q, ":session", id);
    *out = query_all(&q, list_fields, ARRAY_LEN(list_fields), sizeof **out, a, n);
    return query_end(&q, e);
}

/* ---- history, counts ---- */

static const struct field history_fields[] = {
    F(struct store_history, seq),
    F_WORD_AS(struct store_history, from, "from_state", job_state),
    F_WORD(struct store_history, event, job_event),
    F_WORD_AS(struct store_history, to, "to_state", job_state),
    F(struct store_history, wall_ms),
    F(struct store_history, text),
    F(struct store_history, attempt),
    F_OPT(struct store_history, peer_uid),
};

int store_job_history(struct store *s, const char *job, int after, struct arena *a,
                      struct store_history **out, size_t *n, struct err *e)
{
    static const char SQL[] =
        "SELECT seq, from_state, event, to_state, wall_ms, text, attempt, peer_uid FROM job_history"
        " WHERE job = :job AND seq > CASE WHEN :after >= 0 THEN :after ELSE"
        " (SELECT max(seq) FROM job_history WHERE job = :job) + :after END"
        " ORDER BY seq LIMIT " HISTORY_MAX;
    int64_t number;
    struct query q;
    int rc = number_of(s, job, &number, e);
    if (rc != 0)
        return rc;
    query_begin(&q, s, SQL);
    query_text(&q, ":job", job);
    query_int(&q, ":after", after);
    *out = query_all(&q, history_fields, ARRAY_LEN(history_fields), sizeof **out, a, n);
    return query_end(&q, e);
}

struct count {
    enum job_state state;
    int64_t jobs;
};

static const struct field count_fields[] = {
    F_WORD(struct count, state, job_state),
    F(struct count, jobs),
};

int store_counts(struct store *s, int64_t counts[JOB_STATE_COUNT], struct err *e)
{
    static const char SQL[] = "SELECT state, jobs FROM job_counts";
    struct query q;
    struct count one = {0};
    memset(counts, 0, sizeof(int64_t) * JOB_STATE_COUNT);
    query_begin(&q, s, SQL);
    while (query_row(&q)) {
        query_read(&q, count_fields, ARRAY_LEN(count_fields), NULL, &one);
        counts[one.state] = one.jobs;
    }
    return query_end(&q, e);
}
