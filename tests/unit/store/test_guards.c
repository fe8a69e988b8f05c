/* Guards: append-only tables refuse changes, and trouble with the file has its own errors. */
#include "tests/unit/store/unit.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

/* One row in each table, by plain SQL so that the list below is all there is to keep. */
static void fill_every_table(struct unit *u)
{
    const char *attempt = unit_attempt(u), *other = unit_submit(u, 2, 0);
    unit_raw_exec(
        u,
        arena_printf(
            &u->arena,
            "BEGIN;"
            "INSERT INTO plan_steps VALUES ('%1$s', 0, 'w', 'l', 's', 0, 0, 'timed', 0, 0, 0, NULL);"
            "INSERT INTO inventories (attempt, phase, facts_ms)"
            " VALUES ('%1$s', 'before_build', 1);"
            "INSERT INTO competitors (attempt, phase, kind, seq, pid, ppid)"
            " VALUES ('%1$s', 'before_build', 'hint', 0, 1, 1);"
            "INSERT INTO conditions (attempt, phase, condition, status, mode)"
            " VALUES ('%1$s', 'before_build', 'mains', 'PASS', 'require');"
            "INSERT INTO facts (attempt, phase, fact, state, value)"
            " VALUES ('%1$s', 'before_build', 'mains', 'known', 1);"
            "INSERT INTO sources (attempt, seq, side, detached, clean)"
            " VALUES ('%1$s', 0, 's', 1, 1);"
            "INSERT INTO corrections VALUES ('%1$s', 's', 'b', 'c', 'd', 1, 1, 1, 'A', 'r', 1);"
            "INSERT INTO builds (attempt, seq, side, step, argv) VALUES ('%1$s', 0, 's', 0,"
            " '[]');"
            "INSERT INTO variants VALUES ('%1$s', 's', 0, 'A=b');"
            "INSERT INTO artifacts (attempt, seq, side, path) VALUES ('%1$s', 0, 's', 'p');"
            "INSERT INTO tools (attempt, seq, name) VALUES ('%1$s', 0, 'cc');"
            "INSERT INTO rechecks (attempt, seq, kind, name) VALUES ('%1$s', 0, 'tool', 'cc');"
            "INSERT INTO observations (attempt, seq, workload, lane, side, repetition, position,"
            " kind, outcome, fifo) VALUES ('%1$s', 0, 'w', 'l', 's', 0, 0, 'timed', 'ok', 0);"
            "INSERT INTO observation_values VALUES ('%1$s', 0, 0, 'allocations', 7);"
            "INSERT INTO observation_samples VALUES ('%1$s', 0, 0, 'overshoot', '7 8');"
            "INSERT INTO observation_outputs VALUES ('%1$s', 0, 0, 'hello', 7, 'd');"
            "INSERT INTO lane_points VALUES ('w', 'l', '%1$s', 0, 's', 'timed', 'ok', 1, 1);"
            "INSERT INTO refusals (attempt, wall_ms, phase, reason)"
            " VALUES ('%1$s', 1, 'before_build', 'busy');"
            "INSERT INTO reports VALUES ('%1$s', 'void', 'void', 'e', 'a', NULL, 1);"
            "INSERT INTO job_after SELECT job, 0, '%2$s', 'ok', 0 FROM attempts;"
            "INSERT INTO job_submitted SELECT job, '{}' FROM attempts;"
            "INSERT INTO hooks (id, event, owner, job, argv, timeout_ms, document, owed_ms, state,"
            " tries) SELECT 'h', 'job_ended', 'job', job, '[]', 1, '{}', 1, 'delivered', 1"
            " FROM attempts;"
            "INSERT INTO hook_tries VALUES (1, 1, 1, 2, 'ok', 0, NULL, '');"
            "INSERT INTO report_counts VALUES ('%1$s', 1, 2, 3, 4, 5, 6);"
            "INSERT INTO sessions (id, label, document, opened_ms, opened_boot, closed_ms)"
            " SELECT 's', 'l', '{}', 1, id, 2 FROM boots LIMIT 1;"
            "INSERT INTO calibrations (id, boot, form, wall_ms, clock_step_ns, document)"
            " SELECT 'c', id, 'quick', 1, 1, '{}' FROM boots LIMIT 1;"
            "INSERT INTO calibration_figures VALUES ('c', 'process', 0.1, 0.1, 1.0, 1.0);"
            "INSERT INTO attempt_calibrations VALUES ('%1$s', 'c');"
            "INSERT INTO kernel_receipts VALUES (1, 'k', 'x', 1, NULL, NULL, 's', 'native',"
            " 'release', 's', 'e', 1, 1, '{}');"
            "INSERT INTO figures VALUES (1, '%1$s', 1, 'w', '', 'l', 's', NULL, 'protocol', 'ns', NULL,"
            " 0, 1, 1.0, 0.0, 1, 1, NULL, 'diagnostic');"
            "INSERT INTO figure_ratios VALUES (1, '%1$s', 1, 'w', '', 'l', 'l', 's', 's', NULL, NULL,"
            " 'protocol', 'ns', NULL, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.9, 'SAME', 'diagnostic');"
            "COMMIT",
            attempt, other));
}

static const struct {
    const char *table;
    const char *column;
} guarded[] = {
    {"schema_migrations", "name"},
    {"hosts", "name"},
    {"boots", "boot_wall_ms"},
    {"suites", "path"},
    {"jobs", "document"},
    {"job_history", "text"},
    {"job_after", "need"},
    {"job_submitted", "document"},
    {"attempts", "started_ms"},
    {"plan_steps", "lane"},
    {"inventories", "state"},
    {"competitors", "command"},
    {"conditions", "status"},
    {"facts", "value"},
    {"sources", "commit_id"},
    {"corrections", "proven"},
    {"variants", "variable"},
    {"builds", "exit_status"},
    {"artifacts", "sha256"},
    {"tools", "sha256"},
    {"rechecks", "again"},
    {"observations", "elapsed_ns"},
    {"observation_values", "value"},
    {"observation_samples", "samples"},
    {"observation_outputs", "sha256"},
    {"refusals", "reason"},
    {"reports", "grade"},
    {"hooks", "document"},
    {"hook_tries", "output"},
    {"report_counts", "slower"},
    {"sessions", "closed_ms"},
    {"calibrations", "document"},
    {"calibration_figures", "noise_floor"},
    {"attempt_calibrations", "calibration"},
    {"lane_points", "elapsed_ns"},
    {"kernel_receipts", "document"},
    {"figures", "median"},
    {"figure_ratios", "verdict"},
};

static void refuse_statement(sqlite3 *db, const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_CONSTRAINT)
        fail_msg("%s was not refused: %s", sql, sqlite3_errmsg(db));
    const char *why = sqlite3_errmsg(db);
    assert_true(strstr(why, "append-only") || strstr(why, "never"));
}

static void every_table_refuses_to_change_and_to_forget(void **ctx)
{
    struct unit *u = *ctx;
    fill_every_table(u);
    sqlite3 *db = unit_raw_open(u);
    for (size_t i = 0; i < ARRAY_LEN(guarded); i++) {
        const char *table = guarded[i].table, *column = guarded[i].column;
        refuse_statement(db, arena_printf(&u->arena, "DELETE FROM %s", table));
        refuse_statement(db,
                         arena_printf(&u->arena, "UPDATE %s SET %s = %s", table, column, column));
    }
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void no_table_is_forgotten_by_the_guards(void **ctx)
{
    struct unit *u = *ctx;
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM sqlite_schema"
                                        " WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
                                        /* these follow from jobs */
                                        " AND name NOT IN ('job_counts', 'job_ends')"
                                        /* a switch */
                                        " AND name <> 'drained'"),
                     ARRAY_LEN(guarded));
}

static void an_ended_attempt_is_closed_by_the_database_itself(void **ctx)
{
    struct unit *u = *ctx;
    const char *attempt = unit_attempt(u);
    unit_raw_exec(u, "UPDATE attempts SET clock = 'c'");
    ok(u, store_attempt_end(u->s, attempt, "done", 20, &u->e));
    sqlite3 *db = unit_raw_open(u);
    refuse_statement(db, "UPDATE attempts SET clock = 'd'");
    refuse_statement(db, "UPDATE attempts SET ended_ms = NULL, outcome = NULL");
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void the_store_says_why_it_refuses_a_record(void **ctx)
{
    struct unit *u = *ctx;
    unit_boot(u);
    refused(u, sql_exec(u->s, "DELETE FROM suites", &u->e), -EINVAL, "store.constraint");
    assert_non_null(strstr(u->e.text, "suites is append-only"));
}

/* ---- trouble with the file ---- */

static void a_full_disk_is_named_and_nothing_is_half_written(void **ctx)
{
    struct unit *u = *ctx;
    struct store_new_job job = unit_new_job(u, 1);
    char *big = arena_alloc(&u->arena, 100001);
    memset(big, 'x', 100000);
    ok(u, sql_exec(u->s, "PRAGMA max_page_count = 1", &u->e)); /* no page more than there is */
    job.document = big;
    refused(u, store_job_submit(u->s, &job, NULL, &u->e), -ENOSPC, "store.full");
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM jobs"), 0);
    ok(u, sql_exec(u->s, "PRAGMA max_page_count = 1000000", &u->e));
    ok(u, store_job_submit(u->s, &job, NULL, &u->e));
}

static void a_write_that_fails_is_an_io_error_and_the_store_goes_on(void **ctx)
{
    struct unit *u = *ctx;
    struct store_new_job job = unit_new_job(u, 1);
    struct rlimit old, none = {0};
    char *big = arena_alloc(&u->arena, 100001);
    memset(big, 'x', 100000);
    job.document = big;
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    none.rlim_max = old.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    err_clear(&u->e);
    int rc = store_job_submit(u->s, &job, NULL, &u->e);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(rc, -EIO);
    assert_string_equal(u->e.code, "store.io");
    ok(u, store_job_submit(u->s, &job, NULL, &u->e));
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM jobs"), 1);
}

static void a_lock_held_for_too_long_is_busy(void **ctx)
{
    struct unit *u = *ctx;
    struct store_new_job job = unit_new_job(u, 1);
    sqlite3 *db = unit_raw_open(u);
    assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    (void)sqlite3_busy_timeout(u->s->db, 10);
    refused(u, store_job_submit(u->s, &job, NULL, &u->e), -EBUSY, "store.busy");
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    ok(u, store_job_submit(u->s, &job, NULL, &u->e));
}

static void a_page_damaged_under_the_store_is_corrupt(void **ctx)
{
    struct unit *u = *ctx;
    struct store_list list = {.limit = 10};
    struct store_job *jobs;
    size_t n;
    unit_submit(u, 1, 0);
    int64_t page = unit_raw_number(u, "SELECT rootpage FROM sqlite_schema WHERE name = 'jobs'");
    unit_reopen(u); /* the last connection folds the log into the file */
    FILE *f = fopen(u->path, "r+b");
    char junk[64];
    memset(junk, 0xff, sizeof junk);
    assert_non_null(f);
    assert_int_equal(fseek(f, (long)((page - 1) * 4096), SEEK_SET), 0);
    assert_int_equal(fwrite(junk, 1, sizeof junk, f), sizeof junk);
    assert_int_equal(fclose(f), 0);
    ok(u, sql_exec(u->s, "PRAGMA shrink_memory", &u->e)); /* what it has read is forgotten */
    refused(u, store_job_list(u->s, &list, &u->arena, &jobs, &n, &u->e), -EBADMSG, "store.corrupt");
}

static void a_word_from_elsewhere_is_no_state(void **ctx)
{
    struct unit *u = *ctx;
    struct store_history *rows;
    size_t n;
    const char *job = unit_submit(u, 1, 0);
    unit_raw_exec(u, arena_printf(&u->arena,
                                  "INSERT INTO job_history VALUES ('%s', 2, 'queued', 'explode',"
                                  " 'done', 1, NULL, NULL, NULL)",
                                  job));
    refused(u, store_job_history(u->s, job, 0, &u->arena, &rows, &n, &u->e), -EBADMSG,
            "store.corrupt");
}

/* ---- queries ---- */

static void a_bind_that_a_statement_lacks_is_a_fault_not_a_silence(void **ctx)
{
    struct unit *u = *ctx;
    static const char SQL[] = "SELECT :a";
    struct query q;
    query_begin(&q, u->s, SQL);
    query_int(&q, ":b", 1);
    query_int(&q, ":a", 1);
    assert_false(query_row(&q));
    refused(u, query_end(&q, &u->e), -EIO, "store.internal");
}

static void a_statement_inside_itself_is_a_fault(void **ctx)
{
    struct unit *u = *ctx;
    static const char SQL[] = "SELECT 1 UNION SELECT 2";
    struct query outer, inner;
    query_begin(&outer, u->s, SQL);
    assert_true(query_row(&outer));
    query_begin(&inner, u->s, SQL);
    refused(u, query_end(&inner, &u->e), -EIO, "store.internal");
    assert_true(query_row(&outer));
    assert_int_equal(query_col_int(&outer, 0), 2);
    ok(u, query_end(&outer, &u->e));
}

static void columns_in_another_order_are_a_fault(void **ctx)
{
    struct unit *u = *ctx;
    static const char SQL[] = "SELECT 1 AS added_ms, 'x' AS sha256";
    static const struct field fields[] = {F(struct store_suite, sha256),
                                          F(struct store_suite, added_ms)};
    struct store_suite out = {0};
    struct query q;
    query_begin(&q, u->s, SQL);
    assert_true(query_row(&q));
    query_read(&q, fields, 2, &u->arena, &out);
    refused(u, query_end(&q, &u->e), -EIO, "store.internal");
}

/* ---- the log ---- */

static int64_t database_bytes(const struct unit *u)
{
    struct stat st;
    assert_int_equal(stat(u->path, &st), 0);
    return st.st_size;
}

static void submit_big(struct unit *u, int from, int n)
{
    char *big = arena_alloc(&u->arena, 300001);
    memset(big, 'x', 300000);
    for (int i = from; i < from + n; i++) {
        struct store_new_job job = unit_new_job(u, i);
        job.document = big;
        ok(u, store_job_submit(u->s, &job, NULL, &u->e));
    }
}

static void no_checkpoint_runs_while_quiet_and_one_after_it(void **ctx)
{
    struct unit *u = *ctx;
    int64_t before = database_bytes(u);
    store_set_quiet(u->s, true);
    submit_big(u, 0, 30); /* 9 MB: twice what starts a checkpoint */
    assert_int_equal(database_bytes(u), before);
    store_set_quiet(u->s, false);
    unit_submit(u, 100, 0);
    assert_true(database_bytes(u) > before + 30 * 300000);
}

#define T(name) cmocka_unit_test_setup_teardown(name, unit_setup, unit_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(every_table_refuses_to_change_and_to_forget),
        T(no_table_is_forgotten_by_the_guards),
        T(an_ended_attempt_is_closed_by_the_database_itself),
        T(the_store_says_why_it_refuses_a_record),
        T(a_full_disk_is_named_and_nothing_is_half_written),
        T(a_write_that_fails_is_an_io_error_and_the_store_goes_on),
        T(a_lock_held_for_too_long_is_busy),
        T(a_page_damaged_under_the_store_is_corrupt),
        T(a_word_from_elsewhere_is_no_state),
        T(a_bind_that_a_statement_lacks_is_a_fault_not_a_silence),
        T(a_statement_inside_itself_is_a_fault),
        T(columns_in_another_order_are_a_fault),
        T(no_checkpoint_runs_while_quiet_and_one_after_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
