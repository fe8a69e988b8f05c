#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/mem.h"
#include "store/sql.h"
#include "store/upkeep.h"
#include "store/vfs.h"

#define BUSY_MS 5000

static void store_closep(struct store **s)
{
    store_close(*s);
}

/* A connection that only reads, without looking at the schema. */
static int open_plainly(const char *path, struct store **out, struct err *e)
{
    struct store *s = mem_alloc(sizeof *s);
    int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;

    s->path = mem_strdup(path);
    *out = s;
    int rc = sql_fail(s, sqlite3_open_v2(path, &s->db, flags, VFS_NAME), e);
    if (rc == 0) {
        (void)sqlite3_extended_result_codes(s->db, 1);
        (void)sqlite3_busy_timeout(s->db, BUSY_MS);
    }
    return rc;
}

/* The file is there already, empty and with the right mode: SQLite would make it for all to read.
 */
static int make_empty(const char *path, struct err *e)
{
    CLEANUP(mem_closep) int fd = disk_create(path, O_EXCL, 0600);

    return fd < 0 ? disk_err(e, fd, "create", path) : 0;
}

/* The disk that is full is that of the copy. */
static int copy_failed(struct store *s, int code, const char *to, struct err *e)
{
    struct err inner = {0};
    int rc = sql_fail(s, code, &inner);

    if (disk_is_full(rc))
        return disk_full(e, to);
    return rc ? err_set(e, rc, inner.code, inner.field, "%s", inner.text) : 0;
}

static int copy(struct store *s, const char *to, struct err *e)
{
    sqlite3_stmt *st = NULL;
    int code = sqlite3_prepare_v2(s->db, "VACUUM INTO :to", -1, &st, NULL);

    if (code == SQLITE_OK)
        code = sqlite3_bind_text(st, 1, to, -1, SQLITE_STATIC);
    if (code == SQLITE_OK && (code = sqlite3_step(st)) == SQLITE_DONE)
        code = SQLITE_OK;
    int rc = copy_failed(s, code, to, e);
    (void)sqlite3_finalize(st);
    return rc;
}

static void note_first(void *ctx, const char *text)
{
    struct err *e = ctx;

    (void)err_set(e, -EBADMSG, "store.backup_bad", "",
                  "the copy of the database does not hold together (%s); stop the daemon and look "
                  "the database over with aurabenchd --check",
                  text);
}

static int look_over(const char *to, struct err *e)
{
    CLEANUP(store_closep) struct store *s = NULL;
    int rc = open_plainly(to, &s, e);
    int n = 0;

    if (rc == 0)
        rc = store_audit(s, note_first, e, &n, e);
    return rc == 0 && n > 0 ? -EBADMSG : rc;
}

/* With what SQLite makes beside a file that it fills. */
static void remove_copy(const char *to)
{
    CLEANUP(mem_freep) char *journal = mem_printf("%s-journal", to);

    (void)unlink(to);
    (void)unlink(journal);
}

int store_backup(const char *path, const char *to, struct err *e)
{
    CLEANUP(store_closep) struct store *s = NULL;
    int rc = make_empty(to, e);

    if (rc < 0)
        return rc;
    rc = open_plainly(path, &s, e);
    if (rc == 0)
        rc = copy(s, to, e);
    if (rc == 0)
        rc = look_over(to, e);
    if (rc < 0)
        remove_copy(to);
    return rc;
}
