#include "store/hooks.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "proto/doc/doc_notify.h"
#include "proto/doc/documents.h"
#include "store/rows.h"

WORDS(notify_event, notify_event);

void store_set_host_hooks(struct store *s, const struct store_host_hooks *hooks)
{
    s->host_hooks = hooks;
}

/* ---- an end, and whom it is told ---- */

/* The job as the transaction leaves it. */
struct ended {
    int64_t number;
    const char *label, *session;
    int64_t submitted_ms;
    int64_t attempts;
    const char *error_code, *error_field, *error_text;
    const char *report;
    const char *document; /* NULL when it wants nobody told */
};

static const struct field ended_fields[] = {
    F(struct ended, number),       F(struct ended, label),      F(struct ended, session),
    F(struct ended, submitted_ms), F(struct ended, attempts),   F(struct ended, error_code),
    F(struct ended, error_field),  F(struct ended, error_text), F(struct ended, report),
    F(struct ended, document),
};

static int read_ended(struct store *s, const char *job, struct arena *a, struct ended *out,
                      struct err *e)
{
    static const char SQL[] =
        "SELECT number, label, session, submitted_ms,"
        " (SELECT coalesce(max(number), 0) FROM attempts WHERE job = :job) AS attempts,"
        " error_code, error_field, error_text, report,"
        " iif(instr(document, '\"notify\"'), document, NULL) AS document"
        " FROM jobs WHERE id = :job";
    struct query q;
    query_begin(&q, s, SQL);
    query_text(&q, ":job", job);
    if (query_row(&q))
        query_read(&q, ended_fields, ARRAY_LEN(ended_fields), a, out);
    return query_end(&q, e);
}

/* The end in hand, as every hook of it is told. */
struct telling {
    struct store *s;
    struct arena a;
    struct notification what;
    struct notification_report report;
};

static int add_hook(struct telling *t, const char *owner, const struct notify *who, struct err *e)
{
    static const char SQL[] =
        "INSERT INTO hooks (id, event, owner, job, argv, timeout_ms, document, owed_ms, next_ms)"
        " VALUES (:id, :event, :owner, :job, :argv, :timeout_ms, :document, :at_ms, :at_ms)";
    CLEANUP(buf_deinit) struct buf document = {0}, argv = {0};
    char id[ULID_LEN + 1];
    struct json_out o;
    struct query q;
    ulid_new(id);
    t->what.id = id;
    notification_encode(&document, &t->what);
    json_out_init(&o, &argv);
    json_put_args(&o, NULL, &who->command);
    query_begin(&q, t->s, SQL);
    query_text(&q, ":id", id);
    query_text(&q, ":event", notify_event_name(t->what.event));
    query_text(&q, ":owner", owner);
    query_text(&q, ":job", t->what.job.id);
    query_text(&q, ":argv", buf_str(&argv));
    query_int(&q, ":timeout_ms", who->timeout_ms);
    query_text(&q, ":document", buf_str(&document));
    query_int(&q, ":at_ms", t->what.at_ms);
    return query_run(&q, e);
}

static bool wants(const struct notify *who, enum job_state state)
{
    return who->on == 0 || (who->on & 1u << state);
}

/* A document that this version cannot read has no wish that it could follow. */
static int tell_of_job(struct telling *t, const char *document, struct err *e)
{
    struct err why = {0};
    struct job *job;
    int rc = 0;
    if (!document || job_decode_text(&t->a, document, &job, &why) != 0)
        return 0;
    for (size_t i = 0; rc == 0 && i < job->n_notify; i++)
        if (wants(&job->notify[i], t->what.job.state))
            rc = add_hook(t, "job", &job->notify[i], e);
    return rc;
}

/* Jobs on hold do not count: they wait for a person. */
static int is_empty(struct store *s, bool *empty, struct err *e)
{
    int64_t counts[JOB_STATE_COUNT], left = 0;
    int rc = store_counts(s, counts, e);
    for (int state = JOB_QUEUED; state <= JOB_VERIFYING; state++)
        left += counts[state];
    *empty = rc == 0 && left == 0;
    return rc;
}

static int tell_of_host(struct telling *t, struct err *e)
{
    const struct store_host_hooks *host = t->s->host_hooks;
    bool empty = false;
    int rc = 0;
    if (host && host->job_ended)
        rc = add_hook(t, "host", host->job_ended, e);
    if (rc == 0 && host && host->queue_empty)
        rc = is_empty(t->s, &empty, e);
    if (rc != 0 || !empty)
        return rc;
    t->what.event = NOTIFY_QUEUE_EMPTY;
    return add_hook(t, "host", host->queue_empty, e);
}

static void put_report(struct telling *t, const struct store_report *r)
{
    t->report = (struct notification_report){.attempt = r->attempt,
                                             .grade = grade_name(r->grade),
                                             .line = r->grade_line,
                                             .evidence = r->evidence,
                                             .raw_sha256 = r->raw_sha256,
                                             .summary_sha256 = r->summary_sha256};
    t->what.job.report = &t->report;
}

/* The report that comes with the end is not in the store yet. */
static int find_report(struct telling *t, const struct store_report *with, const char *earlier,
                       struct err *e)
{
    struct store_report *known = NULL;
    int rc = with || !earlier ? 0 : store_report_get(t->s, earlier, &t->a, &known, e);
    if (with || known)
        put_report(t, with ? with : known);
    return rc > 0 ? 0 : rc;
}

static int tell(struct telling *t, const struct ended *job, const struct store_event *with,
                struct err *e)
{
    const struct store_host_hooks *host = t->s->host_hooks;
    t->what.event = NOTIFY_JOB_ENDED;
    t->what.host = host ? host->host : "";
    t->what.at_ms = with->wall_ms;
    t->what.job.number = job->number;
    t->what.job.label = job->label;
    t->what.job.session = job->session;
    t->what.job.submitted_ms = job->submitted_ms;
    t->what.job.attempts = job->attempts;
    t->what.job.error_code = job->error_code;
    t->what.job.error_field = job->error_field;
    t->what.job.error_text = job->error_text;
    int rc = find_report(t, with->report, job->report, e);
    if (rc == 0)
        rc = tell_of_job(t, job->document, e);
    return rc ? rc : tell_of_host(t, e);
}

int rows_owe_hooks(struct store *s, const char *job, enum job_state state,
                   const struct store_event *with, struct err *e)
{
    struct telling t = {.s = s, .what.job = {.id = job, .state = state}};
    const struct store_host_hooks *host = s->host_hooks;
    struct ended ended = {0};
    int rc = read_ended(s, job, &t.a, &ended, e);
    if (rc == 0 && (ended.document || (host && (host->job_ended || host->queue_empty))))
        rc = tell(&t, &ended, with, e);
    arena_deinit(&t.a);
    return rc;
}

int rows_withdraw_hooks(struct store *s, const char *job, struct err *e)
{
    static const char SQL[] = "DELETE FROM hooks WHERE job = :job AND state = 'owed' AND tries = 0";
    struct query q;
    query_begin(&q, s, SQL);
    query_text(&q, ":job", job);
    return query_run(&q, e);
}

/* ---- what is owed ---- */

#define HOOK_FIELDS                                                                                \
    F(struct store_hook, number), F(struct store_hook, id),                                        \
        F_WORD(struct store_hook, event, notify_event), F(struct store_hook, owner),               \
        F(struct store_hook, job), F(struct store_hook, argv), F(struct store_hook, timeout_ms),   \
        F(struct store_hook, owed_ms), F(struct store_hook, state), F(struct store_hook, tries),   \
        F_OPT(struct store_hook, next_ms)

#define HOOK_COLUMNS                                                                               \
    "number, id, event, owner, job, argv, timeout_ms, owed_ms, state, tries, next_ms"

static const struct field list_fields[] = {HOOK_FIELDS};
static const struct field hook_fields[] = {HOOK_FIELDS, F(struct store_hook, document)};

int store_hook_due(struct store *s, int64_t now_ms, struct arena *a, struct store_hook **out,
                   struct err *e)
{
    static const char SQL[] =
        "SELECT " HOOK_COLUMNS ", document FROM hooks INDEXED BY hooks_due"
        " WHERE state = 'owed' AND next_ms <= :now_ms ORDER BY next_ms, number LIMIT 1";
    struct query q;
    size_t n;
    query_begin(&q, s, SQL);
    query_int(&q, ":now_ms", now_ms);
    *out = query_all(&q, hook_fields, ARRAY_LEN(hook_fields), sizeof **out, a, &n);
    int rc = query_end(&q, e);
    return rc == 0 && n == 0 ? STORE_NONE : rc;
}

int store_hooks_owed(struct store *s, int64_t *count, int64_t *next_ms, struct err *e)
{
    static const char SQL[] = "SELECT count(*), min(next_ms) FROM hooks INDEXED BY hooks_due"
                              " WHERE state = 'owed'";
    struct query q;
    *count = 0;
    *next_ms = -1;
    query_begin(&q, s, SQL);
    if (query_row(&q)) {
        *count = query_col_int(&q, 0);
        *next_ms = query_col_int_opt(&q, 1);
    }
    return query_end(&q, e);
}

int store_job_hooks(struct store *s, const char *job, int limit, struct arena *a,
                    struct store_hook **out, size_t *n, struct err *e)
{
    static const char SQL[] = "SELECT " HOOK_COLUMNS " FROM hooks WHERE job = :job"
                              " ORDER BY number DESC LIMIT :limit";
    struct query q;
    if (limit < 1 || limit > 1000)
        return err_set(e, -EINVAL, "store.bad_limit", "limit", "a list has 1 to 1000 rows, not %d",
                       limit);
    query_begin(&q, s, SQL);
    query_text(&q, ":job", job);
    query_int(&q, ":limit", limit);
    *out = query_all(&q, list_fields, ARRAY_LEN(list_fields), sizeof **out, a, n);
    return query_end(&q, e);
}

/* ---- tries ---- */

static const struct field try_fields[] = {
    F(struct store_hook_try, seq),
    F(struct store_hook_try, started_ms),
    F_OPT(struct store_hook_try, ended_ms),
    F(struct store_hook_try, outcome),
    F_OPT(struct store_hook_try, exit_status),
    F_OPT(struct store_hook_try, exit_signal),
    F(struct store_hook_try, output),
};

int store_hook_last_try(struct store *s, int64_t hook, struct arena *a, struct store_hook_try **out,
                        struct err *e)
{
    static const char SQL[] = "SELECT seq, started_ms, ended_ms, outcome, exit_status, exit_signal,"
                              " output FROM hook_tries WHERE hook = :hook ORDER BY seq DESC"
                              " LIMIT 1";
    struct query q;
    size_t n;
    query_begin(&q, s, SQL);
    query_int(&q, ":hook", hook);
    *out = query_all(&q, try_fields, ARRAY_LEN(try_fields), sizeof **out, a, &n);
    int rc = query_end(&q, e);
    return rc == 0 && n == 0 ? STORE_NONE : rc;
}

static int not_owed(struct err *e)
{
    return err_set(e, -EINVAL, "store.constraint", "hook",
                   "the hook is not owed, or its try is over: this is a fault of aurabench, please "
                   "report it");
}

static int count_try(struct store *s, int64_t hook, int64_t next_ms, struct err *e)
{
    static const char SQL[] = "UPDATE hooks SET tries = tries + 1, next_ms = :next_ms"
                              " WHERE number = :hook AND state = 'owed'";
    struct query q;
    query_begin(&q, s, SQL);
    query_int(&q, ":hook", hook);
    query_int(&q, ":next_ms", next_ms);
    int rc = query_run(&q, e);
    return rc == 0 && sql_changes(s) != 1 ? not_owed(e) : rc;
}

static int add_try(struct store *s, int64_t hook, int64_t now_ms, int *try_seq, struct err *e)
{
    static const char SQL[] = "INSERT INTO hook_tries (hook, seq, started_ms)"
                              " SELECT number, tries, :now_ms FROM hooks WHERE number = :hook"
                              " RETURNING seq";
    struct query q;
    query_begin(&q, s, SQL);
    query_int(&q, ":hook", hook);
    query_int(&q, ":now_ms", now_ms);
    while (query_row(&q))
        *try_seq = (int)query_col_int(&q, 0);
    return query_end(&q, e);
}

int store_hook_begin(struct store *s, int64_t hook, int64_t now_ms, int64_t next_ms, int *try_seq,
                     struct err *e)
{
    int rc = tx_begin(s, e);
    if (rc != 0)
        return rc;
    rc = count_try(s, hook, next_ms, e);
    if (rc == 0)
        rc = add_try(s, hook, now_ms, try_seq, e);
    return tx_end(s, rc, e);
}

static int end_try(struct store *s, int64_t hook, const struct store_hook_try *ended, struct err *e)
{
    static const char SQL[] =
        "UPDATE hook_tries SET ended_ms = :ended_ms, outcome = :outcome,"
        " exit_status = :exit_status, exit_signal = :exit_signal, output = :output"
        " WHERE hook = :hook AND seq = :seq AND ended_ms IS NULL";
    struct query q;
    query_begin(&q, s, SQL);
    query_int(&q, ":hook", hook);
    query_int(&q, ":seq", ended->seq);
    query_int(&q, ":ended_ms", ended->ended_ms);
    query_text(&q, ":outcome", ended->outcome);
    query_int_opt(&q, ":exit_status", ended->exit_status);
    query_int_opt(&q, ":exit_signal", ended->exit_signal);
    query_text(&q, ":output", ended->output);
    int rc = query_run(&q, e);
    return rc == 0 && sql_changes(s) != 1 ? not_owed(e) : rc;
}

static int set_state(struct store *s, int64_t hook, const char *state, int64_t next_ms,
                     struct err *e)
{
    static const char SQL[] = "UPDATE hooks SET state = :state, next_ms = :next_ms"
                              " WHERE number = :hook";
    struct query q;
    query_begin(&q, s, SQL);
    query_int(&q, ":hook", hook);
    query_text(&q, ":state", state);
    query_int_opt(&q, ":next_ms", strcmp(state, "owed") == 0 ? next_ms : -1);
    return query_run(&q, e);
}

int store_hook_end(struct store *s, int64_t hook, const struct store_hook_try *ended,
                   const char *state, int64_t next_ms, struct err *e)
{
    int rc = tx_begin(s, e);
    if (rc != 0)
        return rc;
    rc = end_try(s, hook, ended, e);
    if (rc == 0)
        rc = set_state(s, hook, state, next_ms, e);
    return tx_end(s, rc, e);
}

/* ---- after a crash ---- */

static int make_due(struct store *s, int64_t now_ms, struct err *e)
{
    static const char SQL[] =
        "UPDATE hooks SET next_ms = :now_ms WHERE state = 'owed' AND number IN"
        " (SELECT hook FROM hook_tries INDEXED BY hook_tries_open"
        " WHERE ended_ms IS NULL)";
    struct query q;
    query_begin(&q, s, SQL);
    query_int(&q, ":now_ms", now_ms);
    return query_run(&q, e);
}

static int interrupt_tries(struct store *s, int64_t now_ms, struct err *e)
{
    static const char SQL[] =
        "UPDATE hook_tries SET ended_ms = :now_ms, outcome = 'interrupted' WHERE ended_ms IS NULL";
    struct query q;
    query_begin(&q, s, SQL);
    query_int(&q, ":now_ms", now_ms);
    return query_run(&q, e);
}

/* A hook that ends the daemon each time, by a reboot say, is not made for ever. */
static int give_up(struct store *s, struct err *e)
{
    static const char SQL[] = "UPDATE hooks SET state = 'given_up', next_ms = NULL"
                              " WHERE state = 'owed' AND tries >= :most";
    struct query q;
    query_begin(&q, s, SQL);
    query_int(&q, ":most", 2 * STORE_HOOK_TRIES);
    return query_run(&q, e);
}

int store_hooks_recover(struct store *s, int64_t now_ms, struct err *e)
{
    int rc = tx_begin(s, e);
    if (rc != 0)
        return rc;
    rc = make_due(s, now_ms, e);
    if (rc == 0)
        rc = interrupt_tries(s, now_ms, e);
    if (rc == 0)
        rc = give_up(s, e);
    return tx_end(s, rc, e);
}
