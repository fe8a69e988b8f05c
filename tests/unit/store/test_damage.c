/* Opening what is damaged, or somebody else's, in every way that a disk, a copy or a person makes
 * it: refused with a sentence, and every byte of it left as it was. */
#include "tests/unit/store/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534

/* A database with a log beside it, as a killed daemon leaves it, and what both hold. */
struct left {
    struct buf db, log;
};

static void left_deinit(struct left *l)
{
    buf_deinit(&l->db);
    buf_deinit(&l->log);
}

static char *log_path(const struct unit *u)
{
    return mem_printf("%s-wal", u->path);
}

/* Long documents, so that there are overflow pages. */
static void fill(struct unit *u)
{
    char *document = arena_alloc(&u->arena, 9001);
    memset(document, 'd', 9000);
    unit_boot(u);
    for (int i = 1; i <= 20; i++) {
        struct store_new_job job = unit_new_job(u, i);
        job.document = document;
        ok(u, store_job_submit(u->s, &job, NULL, &u->e));
    }
}

static void make_left(struct unit *u, bool checkpointed, struct left *l)
{
    CLEANUP(mem_freep) char *log = log_path(u);
    unit_reopen(u);
    fill(u);
    if (checkpointed)
        unit_raw_exec(u, "PRAGMA wal_checkpoint(FULL)");
    ok(u, file_read(u->path, 1 << 24, &l->db, &u->e));
    ok(u, file_read(log, 1 << 24, &l->log, &u->e));
    store_close(u->s);
    u->s = NULL;
}

/* Without waiting for the disk. */
static void put(const char *path, const struct buf *b)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(file_write_all(fd, b->data, b->len), 0);
    assert_int_equal(close(fd), 0);
}

/* Lays both down; NULL: none. */
static void lay(struct unit *u, const struct buf *db, const struct buf *log)
{
    CLEANUP(mem_freep) char *log_name = log_path(u);
    CLEANUP(mem_freep) char *shm = mem_printf("%s-shm", u->path);
    (void)unlink(shm);
    (void)unlink(log_name);
    (void)unlink(u->path);
    put(u->path, db);
    if (log)
        put(log_name, log);
}

static void same_bytes(struct unit *u, const char *path, const struct buf *want)
{
    CLEANUP(buf_deinit) struct buf now = {0};
    ok(u, file_read(path, 1 << 25, &now, &u->e));
    assert_int_equal(now.len, want->len);
    assert_memory_equal(buf_str(&now), want->data, want->len);
}

static void is_damage(const struct unit *u, const char *what, size_t n)
{
    if (strcmp(u->e.code, "store.corrupt") != 0 && strcmp(u->e.code, "store.not_database") != 0)
        fail_msg("%s %zu: %s: %s", what, n, u->e.code, u->e.text);
    assert_true(strlen(u->e.text) > 20);
    assert_null(strchr(u->e.text, '\n'));
}

/* Lays both down and expects that they are refused and left alone. */
static void refuse_left(struct unit *u, const struct buf *db, const struct buf *log,
                        const char *what, size_t n)
{
    CLEANUP(mem_freep) char *log_name = log_path(u);
    lay(u, db, log);
    err_clear(&u->e);
    if (store_open(u->path, &u->s, &u->e) == 0)
        fail_msg("%s %zu was opened", what, n);
    is_damage(u, what, n);
    same_bytes(u, u->path, db);
    if (log)
        same_bytes(u, log_name, log);
}

static void what_a_killed_daemon_leaves_is_opened(void **ctx)
{
    struct unit *u = *ctx;
    CLEANUP(left_deinit) struct left l = {0};
    make_left(u, false, &l);
    lay(u, &l.db, &l.log);
    ok(u, store_open(u->path, &u->s, &u->e));
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM jobs"), 20);
}

static void a_truncated_database_is_refused_at_every_length(void **ctx)
{
    struct unit *u = *ctx;
    CLEANUP(left_deinit) struct left l = {0};
    make_left(u, true, &l);
    struct buf cut = l.db;
    size_t n = 0;
    for (size_t len = 1; len < l.db.len; len += 2048, n++) {
        cut.len = len;
        refuse_left(u, &cut, NULL, "length", len);
    }
    print_message("%zu lengths refused\n", n);
}

static void a_damaged_page_is_refused_wherever_it_lies(void **ctx)
{
    struct unit *u = *ctx;
    CLEANUP(left_deinit) struct left l = {0};
    make_left(u, true, &l);
    size_t pages = l.db.len / 4096;
    assert_true(pages > 50);
    for (size_t page = 0; page < pages; page++) {
        for (size_t i = 0; i < 4096; i++)
            l.db.data[page * 4096 + i] = (char)~l.db.data[page * 4096 + i];
        refuse_left(u, &l.db, NULL, "page", page + 1);
        for (size_t i = 0; i < 4096; i++)
            l.db.data[page * 4096 + i] = (char)~l.db.data[page * 4096 + i];
    }
    print_message("%zu pages refused\n", pages);
}

static void an_overwritten_header_is_refused(void **ctx)
{
    struct unit *u = *ctx;
    CLEANUP(left_deinit) struct left l = {0};
    make_left(u, true, &l);
    memset(l.db.data, 'x', 16);
    refuse_left(u, &l.db, NULL, "magic", 0);
    memset(l.db.data, 'x', 100);
    refuse_left(u, &l.db, NULL, "header", 0);
    memset(l.db.data, 0, l.db.len);
    refuse_left(u, &l.db, NULL, "zeros", 0);
}

static void a_damaged_database_keeps_the_log_that_lies_beside_it(void **ctx)
{
    struct unit *u = *ctx;
    CLEANUP(left_deinit) struct left l = {0};
    make_left(u, true, &l);
    memset(l.db.data + 5 * 4096, 0xff, 4096);
    l.log.len = 32; /* nothing in it that would mend the page */
    refuse_left(u, &l.db, &l.log, "beside its log", 0);
}

static void garbage_in_the_place_of_the_log_is_refused(void **ctx)
{
    struct unit *u = *ctx;
    CLEANUP(left_deinit) struct left l = {0};
    make_left(u, false, &l);
    for (size_t i = 0; i < 32; i++) {
        l.log.data[i] = (char)(l.log.data[i] ^ 0x10);
        refuse_left(u, &l.db, &l.log, "byte of the log's header", i);
        l.log.data[i] = (char)(l.log.data[i] ^ 0x10);
    }
    memset(l.log.data, 'x', l.log.len);
    refuse_left(u, &l.db, &l.log, "a log of x", 0);
}

/* Nothing was committed by what the power cut off. */
static void a_log_that_was_only_begun_is_none(void **ctx)
{
    struct unit *u = *ctx;
    CLEANUP(left_deinit) struct left l = {0};
    make_left(u, true, &l);
    memset(l.log.data, 0, l.log.len);
    const size_t lengths[] = {0, 10, 32, l.log.len};
    for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
        l.log.len = lengths[i];
        lay(u, &l.db, &l.log);
        unit_reopen(u);
        assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM jobs"), 20);
        store_close(u->s);
        u->s = NULL;
    }
}

static void a_link_is_refused_and_what_it_names_untouched(void **ctx)
{
    struct unit *u = *ctx;
    CLEANUP(left_deinit) struct left l = {0};
    CLEANUP(mem_freep) char *real = file_join(u->folder, "real.db");
    make_left(u, true, &l);
    ok(u, file_write(real, l.db.data, l.db.len, 0600, &u->e));
    assert_int_equal(unlink(u->path), 0);
    assert_int_equal(symlink(real, u->path), 0);
    refused(u, store_open(u->path, &u->s, &u->e), -EINVAL, "store.not_database");
    assert_non_null(strstr(u->e.text, "link"));
    same_bytes(u, real, &l.db);
}

static void a_pipe_is_refused_without_waiting_for_it(void **ctx)
{
    struct unit *u = *ctx;
    assert_int_equal(mkfifo(u->path, 0600), 0);
    refused(u, store_open(u->path, &u->s, &u->e), -EINVAL, "store.not_database");
}

/* Another program was killed within a transaction: its journal is for that program to roll back. */
static void another_programs_journal_is_not_rolled_back(void **ctx)
{
    struct unit *u = *ctx;
    CLEANUP(buf_deinit) struct buf db = {0}, journal = {0};
    CLEANUP(mem_freep) char *journal_name = mem_printf("%s-journal", u->path);
    ok(u, file_write(u->path, "", 0, 0600, &u->e));
    sqlite3 *other = unit_raw_open(u);
    const char *const steps[] = {
        "CREATE TABLE mail (a)", "INSERT INTO mail VALUES (zeroblob(100000))",
        "PRAGMA cache_size = 1", "BEGIN", "UPDATE mail SET a = randomblob(100000)"};
    for (size_t i = 0; i < ARRAY_LEN(steps); i++)
        assert_int_equal(sqlite3_exec(other, steps[i], NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_db_cacheflush(other), SQLITE_OK);
    ok(u, file_read(u->path, 1 << 24, &db, &u->e));
    ok(u, file_read(journal_name, 1 << 24, &journal, &u->e));
    assert_true(journal.len > 1000);
    (void)sqlite3_close(other);
    ok(u, file_write(u->path, db.data, db.len, 0600, &u->e));
    ok(u, file_write(journal_name, journal.data, journal.len, 0600, &u->e));
    refused(u, store_open(u->path, &u->s, &u->e), -EINVAL, "store.foreign");
    same_bytes(u, u->path, &db);
    same_bytes(u, journal_name, &journal);
}

static void another_users_file_is_refused(void **ctx)
{
    struct unit *u = *ctx;
    if (geteuid() != 0)
        skip(); /* only root can give a file away */
    unit_reopen(u);
    store_close(u->s);
    u->s = NULL;
    assert_int_equal(chown(u->path, NOBODY, NOBODY), 0);
    refused(u, store_open(u->path, &u->s, &u->e), -EPERM, "store.unsafe_mode");
    assert_non_null(strstr(u->e.text, "65534"));
}

/* ---- where nothing may be written: asked of a child without root's rights */

/* The code with which a child that is nobody in particular is refused, into code. */
static void child_opens(struct unit *u, char code[64])
{
    int ends[2], status = -1;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (geteuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0))
            _exit(1);
        int rc = store_open(u->path, &u->s, &u->e);
        const char *said = rc == 0 ? "opened" : u->e.code;
        _exit(write(ends[1], said, strlen(said) + 1) > 0 ? 0 : 1);
    }
    (void)close(ends[1]);
    memset(code, 0, 64);
    assert_true(read(ends[0], code, 63) > 0);
    (void)close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void give_to_nobody(struct unit *u, mode_t file, mode_t folder)
{
    unit_reopen(u);
    fill(u);
    store_close(u->s);
    u->s = NULL;
    assert_int_equal(chmod(u->path, file), 0);
    if (geteuid() == 0)
        assert_int_equal(chown(u->path, NOBODY, NOBODY) | chown(u->folder, NOBODY, NOBODY), 0);
    assert_int_equal(chmod(u->folder, folder), 0);
}

static void a_read_only_file_is_refused(void **ctx)
{
    struct unit *u = *ctx;
    char code[64];
    give_to_nobody(u, 0400, 0700);
    child_opens(u, code);
    assert_string_equal(code, "store.denied");
    assert_int_equal(chmod(u->path, 0600), 0);
    child_opens(u, code);
    assert_string_equal(code, "opened");
}

static void a_read_only_folder_is_refused(void **ctx)
{
    struct unit *u = *ctx;
    char code[64];
    give_to_nobody(u, 0600, 0500);
    child_opens(u, code);
    assert_string_equal(code, "store.denied");
    assert_int_equal(chmod(u->folder, 0700), 0);
}

#define T(name) cmocka_unit_test_setup_teardown(name, unit_setup_closed, unit_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(what_a_killed_daemon_leaves_is_opened),
        T(a_truncated_database_is_refused_at_every_length),
        T(a_damaged_page_is_refused_wherever_it_lies),
        T(an_overwritten_header_is_refused),
        T(a_damaged_database_keeps_the_log_that_lies_beside_it),
        T(garbage_in_the_place_of_the_log_is_refused),
        T(a_log_that_was_only_begun_is_none),
        T(a_link_is_refused_and_what_it_names_untouched),
        T(a_pipe_is_refused_without_waiting_for_it),
        T(another_programs_journal_is_not_rolled_back),
        T(another_users_file_is_refused),
        T(a_read_only_file_is_refused),
        T(a_read_only_folder_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
