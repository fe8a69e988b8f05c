#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/mem.h"
#include "store/migrate.h"
#include "store/open.h"
#include "store/precheck.h"
#include "store/sql.h"
#include "store/upkeep.h"

#define BUSY_MS 5000

/* ---- opening */

static bool has_log(const char *path)
{
    CLEANUP(mem_freep) char *log = mem_printf("%s-wal", path);
    struct stat st;
    return stat(log, &st) == 0 && st.st_size > 0;
}

/* Without a log the file is all there is, and can be read as it lies there: SQLite then makes no
 * files of its own, so that a backup in a folder that is not to be written can be looked over. */
static int open_db(struct store *s, struct err *e)
{
    int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    int code = has_log(s->path) ? sqlite3_open_v2(s->path, &s->db, flags, NULL)
                                : precheck_open_still(s->path, &s->db);
    int rc = sql_fail(s, code, e);
    if (rc == 0) {
        (void)sqlite3_extended_result_codes(s->db, 1);
        (void)sqlite3_busy_timeout(s->db, BUSY_MS);
    }
    return rc;
}

static int precheck(const char *path, struct err *e)
{
    int rc = precheck_kind(path, e);
    if (rc == 0)
        rc = precheck_head(path, e);
    return rc ? rc : precheck_log(path, e);
}

int store_open_read(const char *path, struct store **out, int *pending, struct err *e)
{
    const struct open_options options = open_defaults();
    int rc = precheck(path, e);
    if (rc != 0)
        return rc;
    struct store *s = mem_alloc(sizeof *s);
    s->path = mem_strdup(path);
    rc = open_db(s, e);
    if (rc == 0)
        rc = migrate_check_owner(s, e);
    if (rc == 0)
        rc = migrate_pending(s, options.migrations, options.n_migrations, pending, e);
    if (rc != 0) {
        store_close(s);
        return rc;
    }
    *out = s;
    return 0;
}

/* ---- faults */

struct telling {
    store_fault_fn fn;
    void *ctx;
    int n;
};

static void tell(struct telling *t, const char *text)
{
    t->n++;
    t->fn(t->ctx, text);
}

/* SQLite says "ok", or a fault a row; the first may have a headline in front. */
static int audit_pages(struct store *s, struct telling *t, struct err *e)
{
    static const char SQL[] = "PRAGMA integrity_check(20)";
    struct query q;
    query_begin(&q, s, SQL);
    while (query_row(&q)) {
        const char *text = (const char *)sqlite3_column_text(q.st, 0);
        if (strcmp(text, "ok") == 0)
            continue;
        CLEANUP(buf_deinit) struct buf line = {0};
        const char *from =
            strncmp(text, "*** ", 4) == 0 && strchr(text, '\n') ? strchr(text, '\n') + 1 : text;
        buf_add(&line, from, strcspn(from, "\n"));
        tell(t, buf_str(&line));
    }
    return query_end(&q, e);
}

static int audit_references(struct store *s, struct telling *t, struct err *e)
{
    static const char SQL[] = "SELECT \"table\", rowid, parent FROM pragma_foreign_key_check"
                              " LIMIT 20";
    struct query q;
    query_begin(&q, s, SQL);
    while (query_row(&q)) {
        CLEANUP(buf_deinit) struct buf line = {0};
        buf_printf(&line, "row %lld of %s names a row of %s that is not there",
                   (long long)query_col_int(&q, 1), (const char *)sqlite3_column_text(q.st, 0),
                   (const char *)sqlite3_column_text(q.st, 2));
        tell(t, buf_str(&line));
    }
    return query_end(&q, e);
}

static int audit_counts(struct store *s, struct telling *t, struct err *e)
{
    static const char SQL[] = "SELECT state, sum(jobs), sum(kept) FROM ("
                              " SELECT state, count(*) AS jobs, 0 AS kept FROM jobs GROUP BY state"
                              " UNION ALL SELECT state, 0, jobs FROM job_counts)"
                              " GROUP BY state HAVING sum(jobs) <> sum(kept)";
    struct query q;
    query_begin(&q, s, SQL);
    while (query_row(&q)) {
        CLEANUP(buf_deinit) struct buf line = {0};
        buf_printf(&line, "%lld jobs are %s, and %lld are counted", (long long)query_col_int(&q, 1),
                   (const char *)sqlite3_column_text(q.st, 0), (long long)query_col_int(&q, 2));
        tell(t, buf_str(&line));
    }
    return query_end(&q, e);
}

int store_audit(struct store *s, store_fault_fn fn, void *ctx, int *n, struct err *e)
{
    struct telling t = {fn, ctx, 0};
    int rc = audit_pages(s, &t, e);
    /* In damaged pages the rest would find nothing but the damage. */
    if (rc == 0 && t.n == 0)
        rc = audit_references(s, &t, e);
    if (rc == 0 && t.n == 0)
        rc = audit_counts(s, &t, e);
    *n = t.n;
    return rc;
}

/* ---- what lies outside of the database */

static const struct field sealed_fields[] = {
    F(struct store_sealed, id),          F(struct store_sealed, evidence),
    F(struct store_sealed, raw_sha256),  F(struct store_sealed, summary_sha256),
    F(struct store_sealed, sums_sha256),
};

static int each_sealed(struct store *s, const char *sql, store_sealed_fn fn, void *ctx,
                       struct err *e)
{
    struct query q;
    int rc = 0;
    query_begin(&q, s, sql);
    while (rc == 0 && query_row(&q)) {
        struct arena a = {0};
        struct store_sealed sealed = {0};
        query_read(&q, sealed_fields, ARRAY_LEN(sealed_fields), &a, &sealed);
        rc = fn(ctx, &sealed);
        arena_deinit(&a);
    }
    int end = query_end(&q, e);
    return rc ? rc : end;
}

static int has_table(struct store *s, const char *name, bool *has, struct err *e)
{
    static const char SQL[] = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = :name";
    struct query q;
    query_begin(&q, s, SQL);
    query_text(&q, ":name", name);
    *has = query_row(&q);
    return query_end(&q, e);
}

int store_each_sealed(struct store *s, store_sealed_fn fn, void *ctx, struct err *e)
{
    static const char REPORTS[] = "SELECT attempt AS id, evidence, raw_sha256, summary_sha256,"
                                  " NULL AS sums_sha256 FROM reports ORDER BY created_ms, attempt";
    static const char SESSIONS[] =
        "SELECT id, evidence, NULL AS raw_sha256, NULL AS summary_sha256, sums_sha256"
        " FROM sessions WHERE evidence IS NOT NULL ORDER BY number";
    bool has_sessions = false;
    int rc = each_sealed(s, REPORTS, fn, ctx, e);
    if (rc == 0)
        rc =
            has_table(s, "sessions", &has_sessions, e); /* not in a database of the first version */
    return rc == 0 && has_sessions ? each_sealed(s, SESSIONS, fn, ctx, e) : rc;
}

int store_each_needed_suite(struct store *s, store_suite_fn fn, void *ctx, struct err *e)
{
    static const char SQL[] =
        "SELECT DISTINCT suite_sha256 FROM jobs WHERE suite_sha256 IS NOT NULL AND state IN"
        " ('held', 'queued', 'waiting', 'preparing', 'measuring', 'verifying')";
    struct query q;
    int rc = 0;
    query_begin(&q, s, SQL);
    while (rc == 0 && query_row(&q))
        rc = fn(ctx, (const char *)sqlite3_column_text(q.st, 0));
    int end = query_end(&q, e);
    return rc ? rc : end;
}
