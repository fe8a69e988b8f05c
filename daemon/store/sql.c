#include "store/sql.h"

#include <errno.h>

int sql_fail(struct store *s, int code, struct err *e)
{
    const char *why = sqlite3_errmsg(s->db);
    switch (code & 0xff) {
    case SQLITE_OK:
        return 0;
    case SQLITE_FULL:
        return err_set(e, -ENOSPC, "store.full", "",
                       "the disk that holds %s is full: free some space and try again", s->path);
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
        return err_set(e, -EBADMSG, "store.corrupt", "",
                       "%s is damaged (%s): restore it from a backup, or move it away and begin "
                       "with an empty one",
                       s->path, why);
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

int tx_begin(struct store *s, struct err *e)
{
    return sql_exec(s, "BEGIN IMMEDIATE", e);
}

int tx_end(struct store *s, int rc, struct err *e)
{
    if (rc == 0)
        rc = sql_exec(s, "COMMIT", e);
    /* A full disk or an I/O error has rolled back already. */
    if (rc != 0 && !sqlite3_get_autocommit(s->db))
        (void)sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    return rc;
}
