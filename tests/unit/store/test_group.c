/* Groups: several writing functions, one commit; what fails in one, and what fails all. */
#include "tests/unit/store/unit.h"

#include <errno.h>

#include "store/sql.h"

static int64_t jobs_on_disk(const struct unit *u)
{
    return unit_raw_number(u, "SELECT count(*) FROM jobs");
}

static void a_group_is_one_commit(void **ctx)
{
    struct unit *u = *ctx;
    ok(u, store_group_begin(u->s, &u->e));
    for (int i = 1; i <= 20; i++)
        unit_submit(u, i, 0);
    assert_int_equal(jobs_on_disk(u), 0);
    ok(u, store_group_end(u->s, &u->e));
    assert_int_equal(jobs_on_disk(u), 20);
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM job_history"), 20);
    assert_int_equal(unit_raw_number(u, "SELECT jobs FROM job_counts WHERE state = 'queued'"), 20);
}

static void what_fails_in_a_group_undoes_only_itself(void **ctx)
{
    struct unit *u = *ctx;
    struct store_new_job other = unit_new_job(u, 1);
    struct store_new_job unknown_suite = unit_new_job(u, 2);
    other.document = "{}";
    unknown_suite.suite_sha256 = UNIT_SUITE;
    ok(u, store_group_begin(u->s, &u->e));
    unit_submit(u, 1, 0);
    refused(u, store_job_submit(u->s, &other, NULL, &u->e), -EEXIST, "job.exists_differs");
    refused(u, store_job_submit(u->s, &unknown_suite, NULL, &u->e), -ENOENT, "suite.unknown");
    unit_submit(u, 3, 0);
    ok(u, store_group_end(u->s, &u->e));
    assert_int_equal(jobs_on_disk(u), 2);
}

static void behind_a_group_each_write_is_a_commit_again(void **ctx)
{
    struct unit *u = *ctx;
    ok(u, store_group_begin(u->s, &u->e));
    ok(u, store_group_end(u->s, &u->e));
    unit_submit(u, 1, 0);
    assert_int_equal(jobs_on_disk(u), 1);
}

static int refuse_commit(void *ctx)
{
    return 1;
}

static void a_commit_that_fails_stores_nothing_of_the_group(void **ctx)
{
    struct unit *u = *ctx;
    ok(u, store_group_begin(u->s, &u->e));
    unit_submit(u, 1, 0);
    (void)sqlite3_commit_hook(u->s->db, refuse_commit, NULL);
    refused(u, store_group_end(u->s, &u->e), -EINVAL, "store.constraint");
    (void)sqlite3_commit_hook(u->s->db, NULL, NULL);
    assert_int_equal(jobs_on_disk(u), 0);
    unit_submit(u, 2, 0);
    assert_int_equal(jobs_on_disk(u), 1);
}

/* As SQLite does when a page cannot be written. */
static void a_group_that_was_rolled_back_takes_nothing_more_and_says_so(void **ctx)
{
    struct unit *u = *ctx;
    struct store_new_job job = unit_new_job(u, 2);
    ok(u, store_group_begin(u->s, &u->e));
    unit_submit(u, 1, 0);
    assert_int_equal(sqlite3_exec(u->s->db, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    refused(u, store_job_submit(u->s, &job, NULL, &u->e), -EIO, "store.io");
    refused(u, store_group_end(u->s, &u->e), -EIO, "store.io");
    assert_int_equal(jobs_on_disk(u), 0);
    unit_submit(u, 3, 0);
    assert_int_equal(jobs_on_disk(u), 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, unit_setup, unit_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_group_is_one_commit),
        TEST(what_fails_in_a_group_undoes_only_itself),
        TEST(behind_a_group_each_write_is_a_commit_again),
        TEST(a_commit_that_fails_stores_nothing_of_the_group),
        TEST(a_group_that_was_rolled_back_takes_nothing_more_and_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
