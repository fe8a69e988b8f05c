#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/clock.h"
#include "base/disk.h"
#include "base/mem.h"
#include "store/open.h"
#include "store/precheck.h"
#include "store/vfs.h"

#define BUSY_MS 5000
#define WAL_RETRY_MS 5
/* Pages in the log after which a commit is followed by a checkpoint; SQLite's own default. */
#define CHECKPOINT_PAGES 1000

static int check_folder(const char *path, filesystem_fn ask, struct err *e)
{
    CLEANUP(mem_freep) char *folder = mem_strdup(path);
    const char *network = NULL;
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = '\0';
    int rc = ask(slash ? folder : ".", &network);
    if (rc != 0)
        return err_sys(e, rc, "statfs", slash ? folder : ".");
    if (!network)
        return 0;
    return err_set(e, -EINVAL, "store.network", "",
                   "%s lies on a network file system (%s), where the database would be damaged: "
                   "name a state folder on a local disk",
                   path, network);
}

/* Creates the file so that it never has a wider mode, or checks the one that is there. It is not
 * opened when it exists: closing it again would drop the locks of this process's connections. */
static int check_file(const char *path, struct err *e)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0)
        return close(fd) == 0 ? 0 : err_sys(e, -errno, "close", path);
    if (errno != EEXIST)
        return disk_err(e, -errno, "create", path);
    int rc = precheck_file(path, e);
    if (rc == 0)
        rc = precheck_head(path, e);
    return rc ? rc : precheck_log(path, e);
}

static int checkpoint_when_due(void *ctx, sqlite3 *db, const char *name, int pages)
{
    const struct store *s = ctx;
    if (!s->quiet && pages >= CHECKPOINT_PAGES)
        (void)sqlite3_wal_checkpoint_v2(db, name, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    return SQLITE_OK;
}

/* The answer names the mode in force: some file systems refuse without an error. */
static int ask_wal(struct store *s, bool *wal, struct err *e)
{
    static const char SQL[] = "PRAGMA journal_mode = WAL";
    struct query q;
    query_begin(&q, s, SQL);
    *wal = query_row(&q) && strcmp((const char *)sqlite3_column_text(q.st, 0), "wal") == 0;
    return query_end(&q, e);
}

/* Of two processes that create the file at once one is refused at once, whatever the busy timeout:
 * SQLite does not wait for the lock that this change needs. */
static int set_wal(struct store *s, int busy_ms, struct err *e)
{
    bool wal = false;
    struct err busy = {0};
    int rc = ask_wal(s, &wal, &busy);
    for (int ms = 0; rc == -EBUSY && ms < busy_ms; ms += WAL_RETRY_MS) {
        clock_sleep_ns(WAL_RETRY_MS * INT64_C(1000000));
        err_clear(&busy);
        rc = ask_wal(s, &wal, &busy);
    }
    if (rc != 0)
        return err_set(e, rc, busy.code, busy.field, "%s", busy.text);
    if (wal)
        return 0;
    return err_set(e, -EINVAL, "store.network", "",
                   "%s lies on a file system that cannot share memory between processes: name a "
                   "state folder on a local disk",
                   s->path);
}

/* Whether its pages fit together, before anything is written into it. A large database is not read
 * whole at each start: its damage is found where it is met, or by `aurabenchd --check`. */
static int check_pages(struct store *s, struct err *e)
{
    static const char SQL[] = "SELECT CASE WHEN page_count * page_size > 67108864 THEN 'ok' ELSE"
                              " (SELECT quick_check FROM pragma_quick_check(1)) END"
                              " FROM pragma_page_count, pragma_page_size";
    struct arena a = {0};
    const char *found = NULL;
    struct query q;
    query_begin(&q, s, SQL);
    if (query_row(&q))
        found = query_col_text(&q, 0, &a);
    int rc = query_end(&q, e);
    if (rc == 0 && found && strcmp(found, "ok") != 0)
        rc = sql_corrupt(s, found, e);
    arena_deinit(&a);
    return rc;
}

static int configure(struct store *s, int busy_ms, struct err *e)
{
    (void)sqlite3_extended_result_codes(s->db, 1);
    (void)sqlite3_busy_timeout(s->db, busy_ms);
    (void)sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    /* What is refused stays as it is: closing it would move its log into it. */
    (void)sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    /* Before anything that writes: the file may be another program's, or damaged. */
    int rc = migrate_check_owner(s, e);
    if (rc == 0)
        rc = check_pages(s, e);
    if (rc == 0)
        rc = set_wal(s, busy_ms, e);
    if (rc != 0)
        return rc;
    (void)sqlite3_wal_hook(s->db, checkpoint_when_due, s);
    return sql_exec(s,
                    "PRAGMA synchronous = FULL;"
                    "PRAGMA foreign_keys = ON;"
                    "PRAGMA mmap_size = 0;"
                    "PRAGMA trusted_schema = OFF;"
                    "PRAGMA cell_size_check = ON",
                    e);
}

static int open_connection(struct store *s, const struct open_options *options, struct err *e)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    int rc = sql_fail(s, sqlite3_open_v2(s->path, &s->db, flags, VFS_NAME), e);
    if (rc == 0)
        rc = configure(s, options->busy_ms, e);
    if (rc == 0)
        rc = migrate(s, options->migrations, options->n_migrations, e);
    if (rc == 0)
        (void)sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
    /* Behind migrations, which may sort much: what a group's steps would undo (group.c) is little.
     */
    return rc ? rc : sql_exec(s, "PRAGMA temp_store = MEMORY", e);
}

struct open_options open_defaults(void)
{
    return (struct open_options){filesystem_ask, migrations, migrations_count, BUSY_MS};
}

int open_store(const char *path, const struct open_options *options, struct store **out,
               struct err *e)
{
    int rc = check_folder(path, options->filesystem, e);
    if (rc == 0)
        rc = check_file(path, e);
    if (rc != 0)
        return rc;
    struct store *s = mem_alloc(sizeof *s);
    s->path = mem_strdup(path);
    rc = open_connection(s, options, e);
    if (rc != 0) {
        store_close(s);
        return rc;
    }
    *out = s;
    return 0;
}

/* SQLite counts each allocation, under a lock, for questions that nobody asks here. Refused,
 * without harm, once something has been opened. */
static void count_no_memory(void)
{
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

int store_open(const char *path, struct store **out, struct err *e)
{
    const struct open_options options = open_defaults();
    count_no_memory();
    return open_store(path, &options, out, e);
}

void store_close(struct store *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n_cached; i++) {
        (void)sqlite3_finalize(s->cache[i].st);
        free(s->cache[i].at);
    }
    (void)sqlite3_close(s->db);
    free(s->path);
    free(s);
}

void store_set_quiet(struct store *s, bool quiet)
{
    s->quiet = quiet;
}
