/* Attempts: the row of each try, from claim to end. */
#include <errno.h>

#include "base/mem.h"
#include "store/rows.h"

/* ---- steps inside a transaction ---- */

static int find_attempt(struct store *s, const char *attempt, const char *job, bool *found,
                        bool *ended, struct err *e)
{
    static const char SQL[] = "SELECT ended_ms IS NOT NULL FROM attempts"
                              " WHERE id = :id AND (:job IS NULL OR job = :job)";
    struct query q;
    query_begin(&q, s, SQL);
    query_text(&q, ":id", attempt);
    query_text(&q, ":job", job);
    *found = query_row(&q);
    *ended = *found && query_col_int(&q, 0) != 0;
    return query_end(&q, e);
}

static int not_found(const char *attempt, struct err *e)
{
    return err_set(e, -ENOENT, "attempt.not_found", "attempt",
                   "there is no such attempt: %s; `aurabench show` lists the attempts of a job",
                   attempt ? attempt : "(none named)");
}

int rows_check_attempt(struct store *s, const char *attempt, const char *job, struct err *e)
{
    bool found, ended;
    int rc = find_attempt(s, attempt, job, &found, &ended, e);
    return rc == 0 && !found ? not_found(attempt, e) : rc;
}

static int check_running(struct store *s, const char *attempt, struct err *e)
{
    bool found, ended;
    int rc = find_attempt(s, attempt, NULL, &found, &ended, e);
    if (rc == 0 && !found)
        return not_found(attempt, e);
    if (rc == 0 && ended)
        return err_set(e, -EINVAL, "attempt.ended", "attempt",
                       "attempt %s has ended and no longer changes", attempt);
    return rc;
}

int rows_add_attempt(struct store *s, const struct store_new_attempt *attempt, const char *job,
                     int64_t wall_ms, struct err *e)
{
    static const char SQL[] =
        "INSERT INTO attempts (id, job, number, boot, host, version, policy, started_ms, work_dir)"
        " SELECT :id, j.id,"
        " (SELECT coalesce(max(number), 0) + 1 FROM attempts WHERE job = j.id),"
        " b.id, b.host, :version, j.policy, :wall_ms, :work_dir"
        " FROM jobs j, boots b WHERE j.id = :job AND b.id = :boot";
    struct query q;
    query_begin(&q, s, SQL);
    query_text(&q, ":id", attempt->id);
    query_text(&q, ":job", job);
    query_text(&q, ":boot", attempt->boot);
    query_text(&q, ":version", attempt->version);
    query_text(&q, ":work_dir", attempt->work_dir);
    query_int(&q, ":wall_ms", wall_ms);
    int rc = query_run(&q, e);
    if (rc == 0 && sql_changes(s) != 1)
        rc = err_set(e, -EINVAL, "store.constraint", "boot",
                     "boot %s is not in the store: it is put there before the first claim",
                     attempt->boot);
    return rc;
}

int rows_end_attempt(struct store *s, const char *attempt, const char *outcome, int64_t wall_ms,
                     struct err *e)
{
    static const char SQL[] =
        "UPDATE attempts SET ended_ms = :wall_ms, outcome = :outcome WHERE id = :id";
    struct query q;
    int rc = check_running(s, attempt, e);
    if (rc != 0)
        return rc;
    query_begin(&q, s, SQL);
    query_text(&q, ":id", attempt);
    query_text(&q, ":outcome", outcome);
    query_int(&q, ":wall_ms", wall_ms);
    return query_run(&q, e);
}

/* ---- writing ---- */

int store_attempt_end(struct store *s, const char *attempt, const char *outcome, int64_t wall_ms,
                      struct err *e)
{
    int rc = tx_begin(s, e);
    return rc ? rc : tx_end(s, rows_end_attempt(s, attempt, outcome, wall_ms, e), e);
}

static int set_reuse(struct store *s, const char *attempt, const char *work_dir,
                     const char *reused_from, struct err *e)
{
    static const char SQL[] = "UPDATE attempts SET work_dir = :work_dir,"
                              " reused_from = :reused_from WHERE id = :id";
    struct query q;
    int rc = check_running(s, attempt, e);
    if (rc != 0)
        return rc;
    query_begin(&q, s, SQL);
    query_text(&q, ":id", attempt);
    query_text(&q, ":work_dir", work_dir);
    query_text(&q, ":reused_from", reused_from);
    return query_run(&q, e);
}

int store_attempt_reuse(struct store *s, const char *attempt, const char *work_dir,
                        const char *reused_from, struct err *e)
{
    int rc = tx_begin(s, e);
    return rc ? rc : tx_end(s, set_reuse(s, attempt, work_dir, reused_from, e), e);
}

#define SCALAR_FIELDS                                                                              \
    F(struct raw, clock), F(struct raw, cpu_set), F(struct raw, boot_id_after),                    \
        F_OPT(struct raw, suspend_before_ms), F_OPT(struct raw, suspend_after_ms),                 \
        F(struct raw, fresh_worktrees), F(struct raw, cleanup), F(struct raw, void_code),          \
        F(struct raw, void_text), F_AS(struct raw, observer.busy, "observer_busy"),                \
        F_OPT_AS(struct raw, observer.busy_resolution_ns, "busy_resolution_ns"),                   \
        F_AS(struct raw, observer.lane, "observer_lane"),                                          \
        F_AS(struct raw, observer.delay, "observer_delay"),                                        \
        F_AS(struct raw, observer.steal, "observer_steal"),                                        \
        F_OPT_AS(struct raw, observer.steal_resolution_ns, "steal_resolution_ns"),                 \
        F_AS(struct raw, observer.pressure, "observer_pressure"),                                  \
        F_AS(struct raw, observer.throttle, "observer_throttle"),                                  \
        F_AS(struct raw, observer.swap, "observer_swap"),                                          \
        F_AS(struct raw, observer.memory, "observer_memory")

static const struct field scalar_fields[] = {SCALAR_FIELDS};

static int set_scalars(struct store *s, const char *attempt, const struct raw *raw, struct err *e)
{
    static const char SQL[] =
        "UPDATE attempts SET clock = :clock, cpu_set = :cpu_set, boot_id_after = :boot_id_after,"
        " suspend_before_ms = :suspend_before_ms, suspend_after_ms = :suspend_after_ms,"
        " fresh_worktrees = :fresh_worktrees, cleanup = :cleanup, void_code = :void_code,"
        " void_text = :void_text, observer_busy = :observer_busy,"
        " busy_resolution_ns = :busy_resolution_ns, observer_lane = :observer_lane,"
        " observer_delay = :observer_delay, observer_steal = :observer_steal,"
        " steal_resolution_ns = :steal_resolution_ns, observer_pressure = :observer_pressure,"
        " observer_throttle = :observer_throttle, observer_swap = :observer_swap,"
        " observer_memory = :observer_memory WHERE id = :id";
    struct query q;
    int rc = check_running(s, attempt, e);
    if (rc != 0)
        return rc;
    query_begin(&q, s, SQL);
    query_text(&q, ":id", attempt);
    query_bind(&q, scalar_fields, ARRAY_LEN(scalar_fields), raw);
    return query_run(&q, e);
}

int store_attempt_put(struct store *s, const char *attempt, const struct raw *raw, struct err *e)
{
    int rc = tx_begin(s, e);
    return rc ? rc : tx_end(s, set_scalars(s, attempt, raw, e), e);
}

/* ---- reading ---- */

static const struct field attempt_fields[] = {
    F(struct store_attempt, id),           F(struct store_attempt, job),
    F(struct store_attempt, number),       F(struct store_attempt, boot),
    F(struct store_attempt, version),      F(struct store_attempt, started_ms),
    F_OPT(struct store_attempt, ended_ms), F(struct store_attempt, outcome),
    F(struct store_attempt, work_dir),     F(struct store_attempt, reused_from),
    F(struct store_attempt, policy),       F(struct store_attempt, raw_sha256),
};

#define ATTEMPT_SELECT                                                                             \
    "SELECT t.id, t.job, t.number, t.boot, t.version, t.started_ms, t.ended_ms, t.outcome,"        \
    " t.work_dir, t.reused_from, t.policy, r.raw_sha256"                                           \
    " FROM attempts t LEFT JOIN reports r ON r.attempt = t.id"

static struct store_attempt *read_attempts(struct query *q, struct arena *a, size_t *n)
{
    return query_all(q, attempt_fields, ARRAY_LEN(attempt_fields), sizeof(struct store_attempt), a,
                     n);
}

int store_attempt_get(struct store *s, const char *id, struct arena *a, struct store_attempt **out,
                      struct err *e)
{
    static const char SQL[] = ATTEMPT_SELECT " WHERE t.id = :id";
    struct query q;
    size_t n;
    query_begin(&q, s, SQL);
    query_text(&q, ":id", id);
    *out = read_attempts(&q, a, &n);
    int rc = query_end(&q, e);
    return rc == 0 && n == 0 ? not_found(id, e) : rc;
}

int store_job_attempts(struct store *s, const char *job, struct arena *a,
                       struct store_attempt **out, size_t *n, struct err *e)
{
    static const char SQL[] =
        ATTEMPT_SELECT " WHERE t.job = :job AND t.number >"
                       " (SELECT max(number) - 1000 FROM attempts WHERE job = :job)"
                       " ORDER BY t.number";
    struct query q;
    query_begin(&q, s, SQL);
    query_text(&q, ":job", job);
    *out = read_attempts(&q, a, n);
    return query_end(&q, e);
}

int store_job_outcomes(struct store *s, const char *job, const char *outcome, int *count,
                       struct err *e)
{
    static const char SQL[] =
        "SELECT count(*) FROM attempts WHERE job = :job AND outcome = :outcome"
        " AND number >= (SELECT run_from FROM jobs WHERE id = :job)";
    struct query q;
    query_begin(&q, s, SQL);
    query_text(&q, ":job", job);
    query_text(&q, ":outcome", outcome);
    *count = query_row(&q) ? (int)query_col_int(&q, 0) : 0;
    return query_end(&q, e);
}

int store_unfinished_attempts(struct store *s, struct arena *a, struct store_attempt **out,
                              size_t *n, struct err *e)
{
    static const char SQL[] =
        ATTEMPT_SELECT " WHERE t.ended_ms IS NULL ORDER BY t.started_ms, t.id";
    struct query q;
    query_begin(&q, s, SQL);
    *out = read_attempts(&q, a, n);
    return query_end(&q, e);
}

static const struct field load_fields[] = {
    F(struct raw, id),
    F(struct raw, version),
    F_AS(struct raw, started_wall_ms, "started_ms"),
    F_OPT_AS(struct raw, ended_wall_ms, "ended_ms"),
    F(struct raw, suite_sha256),
    F_AS(struct raw, boot.id, "boot"),
    F_OPT_AS(struct raw, boot.boot_wall_ms, "boot_wall_ms"),
    SCALAR_FIELDS,
    F_AS(struct raw, host.id, "host_id"),
    F_AS(struct raw, host.name, "name"),
    F_AS(struct raw, host.model, "model"),
    F_AS(struct raw, host.cpu, "cpu"),
    F_AS(struct raw, host.cores, "cores"),
    F_AS(struct raw, host.memory_bytes, "memory_bytes"),
    F_AS(struct raw, host.os, "os"),
    F_AS(struct raw, host.kernel, "kernel"),
    F_AS(struct raw, host.arch, "arch"),
    F_AS(struct raw, host.tick_ns, "tick_ns"),
};

int store_load_attempt(struct store *s, const char *attempt, struct arena *a, struct raw *raw,
                       struct err *e)
{
    static const char SQL[] =
        "SELECT t.id, t.version, t.started_ms, t.ended_ms, j.suite_sha256, t.boot,"
        " b.boot_wall_ms, t.clock, t.cpu_set, t.boot_id_after, t.suspend_before_ms,"
        " t.suspend_after_ms, t.fresh_worktrees, t.cleanup, t.void_code, t.void_text,"
        " t.observer_busy, t.busy_resolution_ns, t.observer_lane, t.observer_delay,"
        " t.observer_steal, t.steal_resolution_ns, t.observer_pressure, t.observer_throttle,"
        " t.observer_swap, t.observer_memory,"
        " h.id AS host_id, h.name, h.model, h.cpu, h.cores, h.memory_bytes, h.os, h.kernel,"
        " h.arch, h.tick_ns"
        " FROM attempts t JOIN jobs j ON j.id = t.job JOIN boots b ON b.id = t.boot"
        " JOIN hosts h ON h.number = t.host WHERE t.id = :id";
    struct query q;
    query_begin(&q, s, SQL);
    query_text(&q, ":id", attempt);
    bool found = query_row(&q);
    if (found)
        query_read(&q, load_fields, ARRAY_LEN(load_fields), a, raw);
    int rc = query_end(&q, e);
    return rc == 0 && !found ? not_found(attempt, e) : rc;
}

int store_load_raw(struct store *s, const char *attempt, struct arena *a, struct raw *raw,
                   struct err *e)
{
    static int (*const load[])(struct store *, const char *, struct arena *, struct raw *,
                               struct err *) = {
        store_load_attempt,  store_load_phases,       store_load_plan,  store_load_sources,
        store_load_builds,   store_load_artifacts,    store_load_tools, store_load_rechecks,
        store_load_refusals, store_load_observations,
    };
    int rc = 0;
    for (size_t i = 0; i < ARRAY_LEN(load) && rc == 0; i++)
        rc = load[i](s, attempt, a, raw, e);
    return rc;
}
