#include "store/sql.h"

#include <errno.h>
#include <string.h>

#include "base/disk.h"
#include "base/fault.h"

/* A commit that could not be synced leaves its cause with the log's file alone. */
static int log_errno(struct store *s)
{
    sqlite3_file *log = NULL;
    int cause = 0;
    int code = sqlite3_file_control(s->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
    if (code == SQLITE_OK && log && log->pMethods)
        (void)log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &cause);
    return cause;
}

/* What the disk said, where that tells more than SQLite's code: a file that could not be made and a
 * log that could not grow fail in their own ways. 0: nothing. */
static int disk_said(struct store *s, int code)
{
    int primary = code & 0xff;
    if (primary == SQLITE_FULL)
        return -ENOSPC;
    if (primary != SQLITE_IOERR && primary != SQLITE_CANTOPEN)
        return 0;
    int cause = -sqlite3_system_errno(s->db);
    return primary == SQLITE_IOERR && !disk_is_full(cause) && disk_is_full(-log_errno(s)) ? -ENOSPC
                                                                                          : cause;
}

/* SQLite's findings have a first line that says nothing: "*** in database main ***". */
int sql_corrupt(struct store *s, const char *why, struct err *e)
{
    const char *line = strchr(why, '\n');
    if (line && strncmp(why, "*** ", 4) == 0)
        why = line + 1;
    return err_set(e, -EBADMSG, "store.corrupt", "",
                   "%s is damaged (%.*s): restore it from a backup, or move it away and begin with "
                   "an empty one",
                   s->path, (int)strcspn(why, "\n"), why);
}

int sql_fail(struct store *s, int code, struct err *e)
{
    const char *why = sqlite3_errmsg(s->db);
    int said = disk_said(s, code);
    if (disk_is_full(said))
        return disk_full(e, s->path);
    switch (said == -EIO ? SQLITE_IOERR : code & 0xff) {
    case SQLITE_OK:
        return 0;
    case SQLITE_IOERR:
        return err_set(e, -EIO, "store.io", "",
                       "%s could not be read or written (%s, code %d): check its disk", s->path,
                       why, sqlite3_extended_errcode(s->db));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return err_set(e, -EBUSY, "store.busy", "",
                       "another process keeps %s locked: end it, or try again", s->path);
    case SQLITE_NOTADB:
        return err_set(e, -EBADMSG, "store.not_database", "",
                       "%s is not a database of aurabench: move it away or name another state "
                       "folder; nothing was changed",
                       s->path);
    case SQLITE_CORRUPT:
        return sql_corrupt(s, why, e);
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY:
        return err_set(e, -EACCES, "store.denied", "",
                       "%s cannot be opened for writing (%s): check the rights of the file and "
                       "its folder",
                       s->path, why);
    case SQLITE_CONSTRAINT:
        return err_set(e, -EINVAL, "store.constraint", "", "the store refuses this record: %s",
                       why);
    }
    return err_set(e, -EIO, "store.internal", "",
                   "a statement of the store failed (%s): this is a fault of aurabench, please "
                   "report it",
                   why);
}

int sql_exec(struct store *s, const char *sql, struct err *e)
{
    return sql_fail(s, sqlite3_exec(s->db, sql, NULL, NULL, NULL), e);
}

/* Prepared once: these come with every write. */
static int run(struct store *s, const char *sql, struct err *e)
{
    struct query q;
    query_begin(&q, s, sql);
    return query_run(&q, e);
}

static const char BEGIN_SQL[] = "BEGIN IMMEDIATE";
static const char COMMIT_SQL[] = "COMMIT";
static const char STEP_SQL[] = "SAVEPOINT step";
static const char KEEP_STEP_SQL[] = "RELEASE step";

/* SQLite itself rolls back all of a transaction for a disk that fails it; nobody may go on as if
 * nothing had happened. */
static int note_lost(struct store *s, int rc, const struct err *why)
{
    if (why && err_is_set(why))
        s->lost = *why;
    return err_set(&s->lost, rc, "store.io", "", "the disk failed while %s was written", s->path);
}

int tx_lost(struct store *s, struct err *e)
{
    if (!err_is_set(&s->lost) && sqlite3_get_autocommit(s->db))
        (void)note_lost(s, -EIO, NULL);
    return err_is_set(&s->lost) ? err_set(e, -EIO, s->lost.code, s->lost.field, "%s", s->lost.text)
                                : 0;
}

int tx_begin(struct store *s, struct err *e)
{
    FAULT_POINT("store.begin");
    if (!s->grouped)
        return run(s, BEGIN_SQL, e);
    int rc = tx_lost(s, e);
    return rc ? rc : run(s, STEP_SQL, e);
}

static int end_step(struct store *s, int rc, struct err *e)
{
    if (rc == 0)
        return run(s, KEEP_STEP_SQL, e);
    if (sqlite3_get_autocommit(s->db))
        return note_lost(s, rc, e);
    (void)sqlite3_exec(s->db, "ROLLBACK TO step; RELEASE step", NULL, NULL, NULL);
    return rc;
}

int tx_end(struct store *s, int rc, struct err *e)
{
    if (s->grouped)
        return end_step(s, rc, e);
    if (rc == 0) {
        FAULT_POINT("store.commit");
        rc = run(s, COMMIT_SQL, e);
        FAULT_POINT("store.committed");
    }
    /* A full disk or an I/O error has rolled back already. */
    if (rc != 0 && !sqlite3_get_autocommit(s->db))
        (void)sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    return rc;
}
