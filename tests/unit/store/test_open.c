/* Opening: what is created, what is migrated, what is refused and left as it was. */
#include "tests/unit/store/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>

#include "base/digest.h"

static const struct migration two[] = {
    {1, "one", "CREATE TABLE one (a INTEGER) STRICT;", 36},
    {2, "two", "CREATE TABLE two (a INTEGER) STRICT;", 36},
};

static int open_with(struct unit *u, const struct migration *list, int n)
{
    struct open_options options = open_defaults();
    options.migrations = list;
    options.n_migrations = n;
    return open_store(u->path, &options, &u->s, &u->e);
}

static void close_store(struct unit *u)
{
    store_close(u->s);
    u->s = NULL;
}

static void file_sha256(const struct unit *u, char hex[DIGEST_HEX])
{
    assert_int_equal(digest_file(u->path, hex, NULL, NULL), 0);
}

/* ---- what is created ---- */

static void a_new_store_is_private_and_migrated(void **ctx)
{
    struct unit *u = *ctx;
    struct stat st;
    mode_t old = umask(0);
    ok(u, store_open(u->path, &u->s, &u->e));
    umask(old);
    assert_int_equal(stat(u->path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM schema_migrations"),
                     migrations_count);
    assert_int_equal(unit_raw_number(u, "PRAGMA application_id"), STORE_APPLICATION_ID);
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM pragma_journal_mode"
                                        " WHERE journal_mode = 'wal'"),
                     1);
}

static int64_t pragma(struct store *s, const char *sql)
{
    sqlite3_stmt *st = NULL;
    assert_int_equal(sqlite3_prepare_v2(s->db, sql, -1, &st, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(st), SQLITE_ROW);
    int64_t v = sqlite3_column_int64(st, 0);
    (void)sqlite3_finalize(st);
    return v;
}

static void the_connection_is_durable_and_keeps_references(void **ctx)
{
    struct unit *u = *ctx;
    ok(u, store_open(u->path, &u->s, &u->e));
    assert_int_equal(pragma(u->s, "PRAGMA synchronous"), 2);
    assert_int_equal(pragma(u->s, "PRAGMA foreign_keys"), 1);
    assert_int_equal(pragma(u->s, "PRAGMA mmap_size"), 0);
    assert_int_equal(pragma(u->s, "PRAGMA trusted_schema"), 0);
    assert_int_equal(pragma(u->s, "PRAGMA busy_timeout"), 5000);
}

static void opening_again_changes_nothing(void **ctx)
{
    struct unit *u = *ctx;
    char before[DIGEST_HEX], after[DIGEST_HEX];
    unit_reopen(u);
    close_store(u);
    file_sha256(u, before);
    unit_reopen(u);
    close_store(u);
    file_sha256(u, after);
    assert_string_equal(before, after);
}

static void an_empty_file_left_by_a_crash_becomes_a_store(void **ctx)
{
    struct unit *u = *ctx;
    ok(u, file_write(u->path, "", 0, 0600, &u->e));
    ok(u, store_open(u->path, &u->s, &u->e));
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM jobs"), 0);
}

static void two_processes_may_create_it_at_once(void **ctx)
{
    struct unit *u = *ctx;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct store *s = NULL;
        int rc = store_open(u->path, &s, &u->e);
        if (rc != 0)
            (void)fprintf(stderr, "%s: %s\n", u->e.code, u->e.text);
        _exit(rc == 0 ? 0 : 1);
    }
    ok(u, store_open(u->path, &u->s, &u->e));
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM schema_migrations"),
                     migrations_count);
}

/* ---- what is refused ---- */

/* Refuses to open a file with this content and leaves every byte of it. */
static void refuse_content(struct unit *u, const void *data, size_t len, int rc, const char *code)
{
    char before[DIGEST_HEX], after[DIGEST_HEX];
    ok(u, file_write(u->path, data, len, 0600, &u->e));
    file_sha256(u, before);
    refused(u, store_open(u->path, &u->s, &u->e), rc, code);
    file_sha256(u, after);
    assert_string_equal(before, after);
}

static void what_is_no_database_is_refused_untouched(void **ctx)
{
    struct unit *u = *ctx;
    char big[8192];
    memset(big, 'x', sizeof big);
    refuse_content(u, "notes\n", 6, -EBADMSG, "store.not_database");
    refuse_content(u, big, sizeof big, -EBADMSG, "store.not_database");
    memset(big, 0, sizeof big);
    refuse_content(u, big, sizeof big, -EBADMSG, "store.not_database");
}

static void a_damaged_database_is_refused_untouched(void **ctx)
{
    struct unit *u = *ctx;
    CLEANUP(buf_deinit) struct buf b = {0};
    unit_reopen(u);
    close_store(u);
    ok(u, file_read(u->path, 1 << 24, &b, &u->e));
    memset(b.data + 100, 0xff, 400); /* the first page behind its header: the list of tables */
    refuse_content(u, b.data, b.len, -EBADMSG, "store.corrupt");
}

static void a_folder_is_refused(void **ctx)
{
    struct unit *u = *ctx;
    ok(u, file_mkdirs(u->path, 0700, &u->e));
    refused(u, store_open(u->path, &u->s, &u->e), -EINVAL, "store.not_database");
}

static void a_missing_folder_is_refused(void **ctx)
{
    struct unit *u = *ctx;
    CLEANUP(mem_freep) char *path = file_join(u->folder, "none/aurabench.db");
    refused(u, store_open(path, &u->s, &u->e), -ENOENT, "system.statfs");
}

static void another_programs_database_is_refused_untouched(void **ctx)
{
    struct unit *u = *ctx;
    const char *const makes[] = {"CREATE TABLE mail (a); PRAGMA user_version = 3",
                                 "PRAGMA application_id = 77; CREATE TABLE mail (a)"};
    for (size_t i = 0; i < ARRAY_LEN(makes); i++) {
        CLEANUP(buf_deinit) struct buf b = {0};
        ok(u, file_write(u->path, "", 0, 0600, &u->e));
        unit_raw_exec(u, makes[i]);
        ok(u, file_read(u->path, 1 << 20, &b, &u->e));
        refuse_content(u, b.data, b.len, -EINVAL, "store.foreign");
    }
}

static void a_file_that_others_may_write_is_refused(void **ctx)
{
    struct unit *u = *ctx;
    unit_reopen(u);
    close_store(u);
    assert_int_equal(chmod(u->path, 0620), 0);
    refused(u, store_open(u->path, &u->s, &u->e), -EINVAL, "store.unsafe_mode");
    assert_int_equal(chmod(u->path, 0640), 0);
    ok(u, store_open(u->path, &u->s, &u->e));
}

static int on_nfs(const char *folder, const char **network)
{
    (void)folder;
    *network = "NFS";
    return 0;
}

static void a_network_file_system_is_refused_before_anything_is_made(void **ctx)
{
    struct unit *u = *ctx;
    struct open_options options = open_defaults();
    options.filesystem = on_nfs;
    refused(u, open_store(u->path, &options, &u->s, &u->e), -EINVAL, "store.network");
    assert_non_null(strstr(u->e.text, "NFS"));
    assert_false(file_exists(u->path));
}

#ifdef __linux__
static void network_file_systems_are_known_by_number(void **ctx)
{
    (void)ctx;
    assert_string_equal(filesystem_network_name(0x6969), "NFS");
    assert_string_equal(filesystem_network_name(0xff534d42), "CIFS");
    assert_string_equal(filesystem_network_name(0x01021997), "9P");
    assert_null(filesystem_network_name(0xef53));     /* ext4 */
    assert_null(filesystem_network_name(0x9123683e)); /* btrfs */
    assert_null(filesystem_network_name(0x01021994)); /* tmpfs */
}
#endif

/* ---- migrations ---- */

static void later_migrations_are_added_to_an_older_store(void **ctx)
{
    struct unit *u = *ctx;
    ok(u, open_with(u, two, 1));
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM sqlite_schema WHERE name = 'two'"),
                     0);
    close_store(u);
    ok(u, open_with(u, two, 2));
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM two"), 0);
    assert_int_equal(unit_raw_number(u, "SELECT max(version) FROM schema_migrations"), 2);
}

static void a_store_from_a_newer_version_is_refused(void **ctx)
{
    struct unit *u = *ctx;
    ok(u, open_with(u, two, 2));
    close_store(u);
    refused(u, open_with(u, two, 1), -EINVAL, "store.newer");
    assert_non_null(strstr(u->e.text, "newer version"));
}

static void a_migration_that_changed_after_it_was_applied_is_refused(void **ctx)
{
    struct unit *u = *ctx;
    const struct migration other[] = {{1, "one", "CREATE TABLE one (b INTEGER) STRICT;", 36},
                                      two[1]};
    const struct migration renamed[] = {{1, "uno", two[0].sql, two[0].len}};
    ok(u, open_with(u, two, 1));
    close_store(u);
    refused(u, open_with(u, other, 2), -EINVAL, "store.migration_changed");
    refused(u, open_with(u, renamed, 1), -EINVAL, "store.migration_changed");
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM schema_migrations"), 1);
}

static void a_gap_in_the_applied_migrations_is_refused(void **ctx)
{
    struct unit *u = *ctx;
    ok(u, open_with(u, two, 2));
    close_store(u);
    unit_raw_exec(u, "DELETE FROM schema_migrations WHERE version = 1");
    refused(u, open_with(u, two, 2), -EINVAL, "store.migration_gap");
}

static void a_migration_that_fails_leaves_no_trace(void **ctx)
{
    struct unit *u = *ctx;
    static const char BAD[] =
        "CREATE TABLE three (a INTEGER) STRICT; INSERT INTO nowhere VALUES (1);";
    const struct migration list[] = {two[0], {2, "bad", BAD, sizeof BAD - 1}};
    refused(u, open_with(u, list, 2), -EIO, "store.internal");
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM sqlite_schema"
                                        " WHERE name = 'three'"),
                     0);
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM schema_migrations"), 1);
}

/* The committed list says what was released; a line of it never changes. */
static void the_embedded_migrations_are_those_of_the_committed_list(void **ctx)
{
    struct unit *u = *ctx;
    CLEANUP(buf_deinit) struct buf list = {0}, want = {0};
    ok(u, file_read(MIGRATIONS_DIR "/SHA256SUMS", 1 << 16, &list, &u->e));
    for (int i = 0; i < migrations_count; i++) {
        char hex[DIGEST_HEX];
        digest_bytes(migrations[i].sql, migrations[i].len, hex);
        assert_int_equal(migrations[i].version, i + 1);
        buf_printf(&want, "%s  %04d_%s.sql\n", hex, migrations[i].version, migrations[i].name);
    }
    assert_string_equal(buf_str(&list), buf_str(&want));
}

#define T(name) cmocka_unit_test_setup_teardown(name, unit_setup_closed, unit_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_new_store_is_private_and_migrated),
        T(the_connection_is_durable_and_keeps_references),
        T(opening_again_changes_nothing),
        T(an_empty_file_left_by_a_crash_becomes_a_store),
        T(two_processes_may_create_it_at_once),
        T(what_is_no_database_is_refused_untouched),
        T(a_damaged_database_is_refused_untouched),
        T(a_folder_is_refused),
        T(a_missing_folder_is_refused),
        T(another_programs_database_is_refused_untouched),
        T(a_file_that_others_may_write_is_refused),
        T(a_network_file_system_is_refused_before_anything_is_made),
#ifdef __linux__
        T(network_file_systems_are_known_by_number),
#endif
        T(later_migrations_are_added_to_an_older_store),
        T(a_store_from_a_newer_version_is_refused),
        T(a_migration_that_changed_after_it_was_applied_is_refused),
        T(a_gap_in_the_applied_migrations_is_refused),
        T(a_migration_that_fails_leaves_no_trace),
        T(the_embedded_migrations_are_those_of_the_committed_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
