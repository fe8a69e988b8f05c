#include "store/migrate.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/digest.h"

static int ask_number(struct store *s, const char *sql, int64_t *out, struct err *e)
{
    struct query q;
    query_begin(&q, s, sql);
    if (query_row(&q))
        *out = query_col_int(&q, 0);
    return query_end(&q, e);
}

/* One statement, so that both are of one moment while another process creates the store. */
static int read_owner(struct store *s, int64_t *application, int64_t *objects, struct err *e)
{
    static const char SQL[] = "SELECT application_id, (SELECT count(*) FROM sqlite_schema)"
                              " FROM pragma_application_id";
    struct query q;
    query_begin(&q, s, SQL);
    if (query_row(&q)) {
        *application = query_col_int(&q, 0);
        *objects = query_col_int(&q, 1);
    }
    return query_end(&q, e);
}

int migrate_foreign(const char *path, struct err *e)
{
    return err_set(e, -EINVAL, "store.foreign", "",
                   "%s is a database of another program: name another state folder; nothing was "
                   "changed",
                   path);
}

int migrate_check_owner(struct store *s, struct err *e)
{
    int64_t application = 0, objects = 0;
    int rc = read_owner(s, &application, &objects, e);
    if (rc != 0 || application == STORE_APPLICATION_ID || (application == 0 && objects == 0))
        return rc;
    return migrate_foreign(s->path, e);
}

static int create_list(struct store *s, struct err *e)
{
    static const char SQL[] =
        "CREATE TABLE schema_migrations ("
        " version INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL,"
        " applied_ms INTEGER NOT NULL) STRICT";
    char set_id[64];
    (void)sqlite3_snprintf(sizeof set_id, set_id, "PRAGMA application_id = %d",
                           STORE_APPLICATION_ID);
    int rc = sql_exec(s, set_id, e);
    return rc ? rc : sql_exec(s, SQL, e);
}

/* How many are applied; "store.newer" when that is more than this program knows. */
static int check_newer(struct store *s, int known, int *applied, struct err *e)
{
    static const char SQL[] = "SELECT coalesce(max(version), 0) FROM schema_migrations";
    int64_t last = 0;
    int rc = ask_number(s, SQL, &last, e);
    if (rc != 0)
        return rc;
    if (last > known)
        return err_set(e, -EINVAL, "store.newer", "",
                       "%s was made by a newer version of aurabench (migration %lld, this one "
                       "knows %d): install that version or name another state folder",
                       s->path, (long long)last, known);
    *applied = (int)last;
    return 0;
}

static int check_applied(struct query *q, const struct migration *m, struct err *e)
{
    char sha256[DIGEST_HEX];
    digest_bytes(m->sql, m->len, sha256);
    if (query_col_int(q, 0) != m->version)
        return err_set(e, -EINVAL, "store.migration_gap", "",
                       "%s lacks migration %d although later ones were applied: restore it from "
                       "a backup",
                       q->s->path, m->version);
    const char *name = (const char *)sqlite3_column_text(q->st, 1);
    const char *was = (const char *)sqlite3_column_text(q->st, 2);
    if (strcmp(name, m->name) == 0 && strcmp(was, sha256) == 0)
        return 0;
    return err_set(e, -EINVAL, "store.migration_changed", "",
                   "migration %d of %s is not the one this program has (%s %.12s, here %s "
                   "%.12s): install the version that made it or name another state folder",
                   m->version, q->s->path, name, was, m->name, sha256);
}

static int check_history(struct store *s, const struct migration *list, int applied, struct err *e)
{
    static const char SQL[] = "SELECT version, name, sha256 FROM schema_migrations"
                              " ORDER BY version";
    struct query q;
    int rc = 0;
    query_begin(&q, s, SQL);
    for (int i = 0; i < applied && rc == 0 && query_row(&q); i++)
        rc = check_applied(&q, &list[i], e);
    int end = query_end(&q, e);
    return rc ? rc : end;
}

int migrate_pending(struct store *s, const struct migration *list, int n, int *pending,
                    struct err *e)
{
    int64_t application = 0, objects = 0;
    int applied = 0;
    int rc = read_owner(s, &application, &objects, e);
    if (rc == 0 && application != 0)
        rc = check_newer(s, n, &applied, e);
    if (rc == 0 && application != 0)
        rc = check_history(s, list, applied, e);
    *pending = n - applied;
    return rc;
}

static int apply(struct store *s, const struct migration *m, struct err *e)
{
    static const char SQL[] = "INSERT INTO schema_migrations (version, name, sha256, applied_ms)"
                              " VALUES (:version, :name, :sha256, :applied_ms)";
    char sha256[DIGEST_HEX];
    struct query q;
    int rc = sql_exec(s, m->sql, e);
    if (rc != 0)
        return rc;
    digest_bytes(m->sql, m->len, sha256);
    query_begin(&q, s, SQL);
    query_int(&q, ":version", m->version);
    query_text(&q, ":name", m->name);
    query_text(&q, ":sha256", sha256);
    query_int(&q, ":applied_ms", clock_wall_ms());
    return query_run(&q, e);
}

/* One migration, or none when all are applied. All is read again inside the transaction: another
 * process may open the same file. */
static int migrate_one(struct store *s, const struct migration *list, int n, bool *more,
                       struct err *e)
{
    int64_t application = 0, objects = 0;
    int applied = 0;
    int rc = migrate_check_owner(s, e);
    if (rc == 0)
        rc = read_owner(s, &application, &objects, e);
    if (rc == 0 && application == 0)
        rc = create_list(s, e);
    if (rc == 0)
        rc = check_newer(s, n, &applied, e);
    if (rc == 0)
        rc = check_history(s, list, applied, e);
    *more = rc == 0 && applied < n;
    return *more ? apply(s, &list[applied], e) : rc;
}

int migrate(struct store *s, const struct migration *list, int n, struct err *e)
{
    bool more = true;
    while (more) {
        int rc = tx_begin(s, e);
        if (rc == 0)
            rc = tx_end(s, migrate_one(s, list, n, &more, e), e);
        if (rc != 0)
            return rc;
    }
    return 0;
}
