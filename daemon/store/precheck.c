/* What is looked at before SQLite may touch the file: whose it is, who may write it, whether the
 * log beside it is one. SQLite would roll back another program's journal, and would take a log that
 * it cannot read for an empty one and begin it anew. */
#include "store/precheck.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/files.h"
#include "base/mem.h"
#include "store/migrate.h"

/* ---- the file itself */

static int denied(const char *path, int rc, struct err *e)
{
    return err_set(e, -EACCES, "store.denied", "",
                   "%s cannot be opened for writing (%s): check the rights of the file and its "
                   "folder, and that the disk is not mounted read-only",
                   path, strerror(-rc));
}

/* Asked before SQLite makes its files beside it, which would have the rights of this one. */
static int check_rights(const char *path, struct err *e)
{
    CLEANUP(mem_freep) char *folder = mem_strdup(path);
    char *slash = strrchr(folder, '/');
    if (faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) != 0)
        return denied(path, -errno, e);
    if (slash)
        slash[slash == folder] = '\0';
    if (faccessat(AT_FDCWD, slash ? folder : ".", W_OK | X_OK, AT_EACCESS) != 0)
        return denied(path, -errno, e);
    return 0;
}

static int not_a_file(const char *path, const char *what, struct err *e)
{
    return err_set(e, -EINVAL, "store.not_database", "",
                   "%s is %s and not a file: name another state folder; nothing was changed", path,
                   what);
}

static int check_kind(const char *path, struct stat *st, struct err *e)
{
    if (lstat(path, st) != 0)
        return err_sys(e, -errno, "stat", path);
    if (S_ISLNK(st->st_mode))
        return not_a_file(path, "a link", e);
    if (!S_ISREG(st->st_mode))
        return not_a_file(path, S_ISDIR(st->st_mode) ? "a folder" : "something else", e);
    /* SQLite would take a single byte for nothing at all, and write over it. */
    if (st->st_size == 1)
        return err_set(e, -EBADMSG, "store.not_database", "",
                       "%s is cut off after its first byte: restore it from a backup, or move it "
                       "away; nothing was changed",
                       path);
    return 0;
}

int precheck_kind(const char *path, struct err *e)
{
    struct stat st;
    return check_kind(path, &st, e);
}

int precheck_file(const char *path, struct err *e)
{
    struct stat st;
    int rc = check_kind(path, &st, e);
    if (rc != 0)
        return rc;
    if (st.st_uid != geteuid())
        return err_set(e, -EPERM, "store.unsafe_mode", "",
                       "%s belongs to user %lu and not to the one that aurabenchd runs as: make it "
                       "yours with chown after making sure that nobody changed it",
                       path, (unsigned long)st.st_uid);
    if (st.st_mode & (S_IWGRP | S_IWOTH))
        return err_set(e, -EINVAL, "store.unsafe_mode", "",
                       "%s may be written by others than its owner: say `chmod go-w` after "
                       "making sure that nobody did",
                       path);
    return check_rights(path, e);
}

/* ---- what it says of itself */

/* Percent-encodes what has a meaning in a URI. */
static void put_uri(struct buf *out, const char *path, const char *parameters)
{
    static const char PLAIN[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-";
    buf_puts(out, "file:");
    for (const char *p = path; *p; p++) {
        if (strchr(PLAIN, *p))
            buf_putc(out, *p);
        else
            buf_printf(out, "%%%02X", (unsigned char)*p);
    }
    buf_puts(out, parameters);
}

int precheck_open_still(const char *path, sqlite3 **db)
{
    CLEANUP(buf_deinit) struct buf uri = {0};
    int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;
    put_uri(&uri, path, "?immutable=1");
    return sqlite3_open_v2(buf_str(&uri), db, flags, NULL);
}

/* What the file alone says, without its log: what cannot be read there is left to the opening
 * proper, which reads both. */
struct head {
    int64_t application, objects, page_bytes;
};

static bool read_head(sqlite3 *db, struct head *out)
{
    static const char SQL[] = "SELECT application_id, (SELECT count(*) FROM sqlite_schema),"
                              " page_size FROM pragma_application_id, pragma_page_size";
    sqlite3_stmt *st = NULL;
    bool read =
        sqlite3_prepare_v2(db, SQL, -1, &st, NULL) == SQLITE_OK && sqlite3_step(st) == SQLITE_ROW;
    if (read)
        *out = (struct head){sqlite3_column_int64(st, 0), sqlite3_column_int64(st, 1),
                             sqlite3_column_int64(st, 2)};
    (void)sqlite3_finalize(st);
    return read;
}

static bool has_beside(const char *path, const char *ending)
{
    CLEANUP(mem_freep) char *name = mem_printf("%s%s", path, ending);
    struct stat st;
    return stat(name, &st) == 0 && st.st_size > 0;
}

/* The length is judged only where no log could mend it. While a store is being made there is a
 * journal instead: with the disk full its first page may stand half in the file, until it is rolled
 * back. */
static int judge_head(const char *path, const struct head *h, struct err *e)
{
    struct stat st;
    if (h->application != STORE_APPLICATION_ID && (h->application != 0 || h->objects != 0))
        return migrate_foreign(path, e);
    if (stat(path, &st) != 0 || has_beside(path, "-wal") || has_beside(path, "-journal") ||
        h->page_bytes <= 0 || st.st_size % h->page_bytes == 0)
        return 0;
    return err_set(e, -EBADMSG, "store.corrupt", "",
                   "%s is cut off in the middle of a page: restore it from a backup, or move it "
                   "away and begin with an empty one",
                   path);
}

int precheck_head(const char *path, struct err *e)
{
    struct head head = {0};
    sqlite3 *db = NULL;
    bool read = precheck_open_still(path, &db) == SQLITE_OK && read_head(db, &head);
    (void)sqlite3_close(db);
    return read ? judge_head(path, &head, e) : 0;
}

/* ---- the log beside it */

#define WAL_HEADER_BYTES 32

static uint32_t big_endian(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint32_t little_endian(const unsigned char *p)
{
    return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

/* The checksum over the first 24 bytes, by the file format's definition: the magic number's last
 * bit says in which byte order words are summed. */
static bool sum_holds(const unsigned char *h)
{
    uint32_t s1 = 0, s2 = 0;
    for (int i = 0; i < 24; i += 8) {
        bool big = h[3] & 1;
        s1 += (big ? big_endian(h + i) : little_endian(h + i)) + s2;
        s2 += (big ? big_endian(h + i + 4) : little_endian(h + i + 4)) + s1;
    }
    return s1 == big_endian(h + 24) && s2 == big_endian(h + 28);
}

static bool is_log(const unsigned char *h)
{
    static const unsigned char none[WAL_HEADER_BYTES];
    /* A log that was begun when the power went may be nothing but zeros: nothing was committed. */
    return memcmp(h, none, sizeof none) == 0 || ((big_endian(h) & ~UINT32_C(1)) == 0x377f0682 &&
                                                 big_endian(h + 4) == 3007000 && sum_holds(h));
}

int precheck_log(const char *path, struct err *e)
{
    CLEANUP(mem_freep) char *log = mem_printf("%s-wal", path);
    CLEANUP(mem_closep) int fd = open(log, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    unsigned char header[WAL_HEADER_BYTES];
    if (fd < 0 && errno == ENOENT)
        return 0;
    if (fd < 0 && errno != ELOOP)
        return err_sys(e, -errno, "open", log);
    ssize_t n = fd < 0 ? (ssize_t)sizeof header : pread(fd, header, sizeof header, 0);
    if (n < 0)
        return err_sys(e, -errno, "read", log);
    if (fd >= 0 && (n < (ssize_t)sizeof header || is_log(header)))
        return 0;
    return err_set(e, -EBADMSG, "store.corrupt", "",
                   "%s is not the log of a database, or is damaged, and the latest records may be "
                   "in it: restore both from a backup, or move it away to go on without these; "
                   "nothing was changed",
                   log);
}
