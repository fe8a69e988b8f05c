/* Jobs that come after others: what is blocked, who is told, what can never run. */
#include "tests/unit/store/unit_after.h"

/* ---- blocked and free ---- */

static void a_job_is_claimed_only_once_those_before_it_are_over(void **ctx)
{
    struct unit *u = *ctx;
    unit_boot(u);
    const char *first = unit_submit(u, 1, 0), *second = unit_submit(u, 2, 0);
    const struct job_after after[] = {{first, NEED_OK}, {second, NEED_ANY}};
    struct store_new_job new = unit_new_job(u, 3);
    new.priority = 100;
    new.after = after;
    new.n_after = 2;
    ok(u, store_job_submit(u->s, &new, NULL, &u->e));
    assert_int_equal(unit_job(u, new.id)->blocked, 2);
    unit_run(u, 901, first, JOB_FINISH);
    assert_int_equal(unit_settle(u), 0);
    assert_int_equal(unit_job(u, new.id)->blocked, 1);
    unit_run(u, 902, second, JOB_FAIL);
    assert_false(unit_claims(u, 903, NULL)); /* not before it is told */
    assert_int_equal(unit_settle(u), 0);
    assert_int_equal(unit_job(u, new.id)->blocked, 0);
    assert_true(unit_claims(u, 904, new.id));
}

static void what_is_over_already_is_not_waited_for(void **ctx)
{
    struct unit *u = *ctx;
    unit_boot(u);
    const char *done = unit_submit(u, 1, 0), *failed = unit_submit(u, 2, 0);
    unit_run(u, 901, done, JOB_FINISH);
    unit_run(u, 902, failed, JOB_FAIL);
    const struct job_after after[] = {{done, NEED_OK}, {failed, NEED_ANY}};
    const char *job = unit_submit_after(u, 3, after, 2);
    assert_int_equal(unit_job(u, job)->blocked, 0);
    assert_true(unit_claims(u, 903, job));
}

static void the_other_jobs_are_told_of_in_their_order(void **ctx)
{
    struct unit *u = *ctx;
    struct store_after *rows;
    size_t n;
    unit_boot(u);
    const char *one = unit_submit(u, 1, 0), *two = unit_submit(u, 2, 0);
    const struct job_after after[] = {{two, NEED_ANY}, {one, NEED_OK}};
    const char *job = unit_submit_after(u, 3, after, 2);
    ok(u, store_job_after(u->s, job, &u->arena, &rows, &n, &u->e));
    assert_int_equal(n, 2);
    assert_string_equal(rows[0].job, two);
    assert_int_equal(rows[0].need, NEED_ANY);
    assert_true(rows[0].open);
    assert_int_equal(rows[1].state, JOB_QUEUED);
    unit_event(u, two, JOB_CANCEL);
    assert_int_equal(unit_settle(u), 0);
    ok(u, store_job_blocker(u->s, job, &u->arena, &rows, &u->e));
    assert_string_equal(rows->job, one);
    ok(u, store_job_followers(u->s, one, 10, &u->arena, &rows, &n, &u->e));
    assert_int_equal(n, 1);
    assert_string_equal(rows[0].job, job);
    assert_int_equal(store_job_blocker(u->s, one, &u->arena, &rows, &u->e), STORE_NONE);
    refused(u, store_job_followers(u->s, one, 0, &u->arena, &rows, &n, &u->e), -EINVAL,
            "store.bad_limit");
}

/* ---- what can never run ---- */

static void a_job_that_can_never_run_is_cancelled_and_those_after_it_too(void **ctx)
{
    struct unit *u = *ctx;
    struct store_settled *settled;
    size_t n;
    int freed;
    unit_boot(u);
    const char *first = unit_submit(u, 1, 0);
    const char *second = unit_after_one(u, 2, first, NEED_OK);
    const char *third = unit_after_one(u, 3, second, NEED_OK);
    const char *whatever = unit_after_one(u, 4, third, NEED_ANY);
    unit_run(u, 901, first, JOB_FAIL);
    ok(u, store_settle(u->s, 60, &u->arena, &settled, &n, &freed, &u->e));
    assert_int_equal(n, 2);
    assert_int_equal(freed, 1);
    assert_string_equal(settled[0].job, second);
    assert_string_equal(settled[1].job, third);
    assert_int_equal(unit_state(u, second), JOB_CANCELLED);
    const struct store_job *row = unit_job(u, third);
    assert_int_equal(row->state, JOB_CANCELLED);
    assert_string_equal(row->error_code, "job.after_failed");
    assert_string_equal(row->error_field, "after");
    assert_non_null(strstr(row->error_text, second));
    assert_non_null(strstr(row->error_text, "cancelled"));
    assert_true(unit_claims(u, 902, whatever));
}

static void every_end_but_done_is_no_good_end(void **ctx)
{
    struct unit *u = *ctx;
    const enum job_event ends[] = {JOB_FAIL, JOB_CANCEL, JOB_EXPIRE, JOB_UNQUALIFY, JOB_LOSE};
    unit_boot(u);
    for (int i = 0; i < (int)ARRAY_LEN(ends); i++) {
        const char *job = unit_submit(u, 10 + 3 * i, 0);
        const char *ok_only = unit_after_one(u, 11 + 3 * i, job, NEED_OK);
        const char *any = unit_after_one(u, 12 + 3 * i, job, NEED_ANY);
        unit_run(u, 900 + 2 * i, job, ends[i]);
        assert_int_equal(unit_settle(u), 1);
        assert_int_equal(unit_state(u, ok_only), JOB_CANCELLED);
        unit_run(u, 901 + 2 * i, any, JOB_FINISH);
    }
}

static void a_held_or_waiting_job_is_cancelled_as_well(void **ctx)
{
    struct unit *u = *ctx;
    unit_boot(u);
    const char *first = unit_submit(u, 1, 0);
    const char *held = unit_after_one(u, 2, first, NEED_OK);
    unit_event(u, held, JOB_HOLD);
    unit_event(u, first, JOB_CANCEL);
    assert_int_equal(unit_settle(u), 1);
    assert_int_equal(unit_state(u, held), JOB_CANCELLED);
}

static void a_lost_job_that_is_queued_again_is_waited_for_on(void **ctx)
{
    struct unit *u = *ctx;
    unit_boot(u);
    const char *first = unit_submit(u, 1, 0);
    const char *second = unit_after_one(u, 2, first, NEED_OK);
    unit_run(u, 901, first, JOB_LOSE);
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM job_ends"), 1);
    unit_event(u, first, JOB_REQUEUE);
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM job_ends"), 0);
    assert_int_equal(unit_settle(u), 0);
    assert_int_equal(unit_job(u, second)->blocked, 1);
    unit_run(u, 902, first, JOB_FINISH);
    assert_int_equal(unit_settle(u), 0);
    assert_true(unit_claims(u, 903, second));
}

static void what_a_crash_left_untold_is_told_later(void **ctx)
{
    struct unit *u = *ctx;
    unit_boot(u);
    const char *first = unit_submit(u, 1, 0);
    const char *second = unit_after_one(u, 2, first, NEED_OK);
    unit_event(u, first, JOB_CANCEL);
    unit_reopen(u);
    assert_int_equal(unit_settle(u), 1);
    assert_int_equal(unit_state(u, second), JOB_CANCELLED);
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM job_ends"), 0);
}

static void a_cancelled_follower_waits_for_nothing_any_more(void **ctx)
{
    struct unit *u = *ctx;
    unit_boot(u);
    const char *first = unit_submit(u, 1, 0);
    const char *second = unit_after_one(u, 2, first, NEED_OK);
    unit_event(u, second, JOB_CANCEL);
    assert_int_equal(unit_job(u, second)->blocked, 0);
    unit_event(u, first, JOB_CANCEL);
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM job_ends"), 0);
    assert_int_equal(unit_settle(u), 0);
    assert_null(unit_job(u, second)->error_code);
}

/* ---- size ---- */

static void many_followers_are_told_in_bounded_pieces(void **ctx)
{
    struct unit *u = *ctx;
    struct store_settled *settled;
    size_t n;
    int freed;
    enum { FOLLOWERS = 1300 };
    unit_boot(u);
    const char *first = unit_submit(u, 1, 0);
    unit_raw_exec(u, arena_printf(&u->arena,
                                  "BEGIN; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1"
                                  " FROM n WHERE i < %d) INSERT INTO jobs (id, id_reversed, state,"
                                  " priority, document, policy, submitted_ms, changed_ms)"
                                  " SELECT printf('01HY%%022d', i), '', 'queued', 0, '{}', '{}', 1,"
                                  " 1 FROM n;"
                                  "INSERT INTO job_after SELECT id, 0, '%s', 'ok', 1 FROM jobs"
                                  " WHERE id LIKE '01HY%%'; COMMIT",
                                  FOLLOWERS, first));
    unit_event(u, first, JOB_CANCEL);
    assert_int_equal(store_settle(u->s, 60, &u->arena, &settled, &n, &freed, &u->e), STORE_AGAIN);
    assert_int_equal(n, 512);
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM jobs WHERE blocked > 0"),
                     FOLLOWERS - 512);
    assert_int_equal(unit_settle(u), FOLLOWERS - 512);
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM jobs WHERE state = 'cancelled'"),
                     FOLLOWERS + 1);
    assert_int_equal(unit_raw_number(u, "SELECT jobs FROM job_counts WHERE state = 'cancelled'"),
                     FOLLOWERS + 1);
}

static int64_t claim_steps(struct unit *u, int number, const char *job)
{
    int64_t sum = 0;
    for (size_t i = 0; i < u->s->n_cached; i++)
        sum -= sqlite3_stmt_status(u->s->cache[i].st, SQLITE_STMTSTATUS_VM_STEP, 0);
    assert_true(unit_claims(u, number, job));
    for (size_t i = 0; i < u->s->n_cached; i++)
        sum += sqlite3_stmt_status(u->s->cache[i].st, SQLITE_STMTSTATUS_VM_STEP, 0);
    return sum;
}

static void a_claim_costs_the_same_beside_many_blocked_jobs(void **ctx)
{
    struct unit *u = *ctx;
    unit_boot(u);
    const char *a = unit_submit(u, 1, 0), *b = unit_submit(u, 2, 0), *c = unit_submit(u, 3, 0);
    (void)claim_steps(u, 901, a);
    int64_t alone = claim_steps(u, 902, b);
    unit_raw_exec(u, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
                     " WHERE i < 20000) INSERT INTO jobs (id, id_reversed, state, priority,"
                     " document, policy, submitted_ms, changed_ms, blocked)"
                     " SELECT printf('01HY%022d', i), '', 'queued', 50, '{}', '{}', 1, 1, 1"
                     " FROM n");
    assert_in_range(claim_steps(u, 903, c), 1, alone + alone / 5);
}

/* ---- refusals ---- */

static void a_job_cannot_be_submitted_after_what_is_not_there_or_can_never_be(void **ctx)
{
    struct unit *u = *ctx;
    unit_boot(u);
    const char *failed = unit_submit(u, 1, 0);
    unit_run(u, 901, failed, JOB_FAIL);
    struct store_new_job new = unit_new_job(u, 2);
    struct job_after after[] = {{failed, NEED_ANY}, {unit_id(u, 77), NEED_ANY}};
    new.after = after;
    new.n_after = 2;
    refused(u, store_job_submit(u->s, &new, NULL, &u->e), -ENOENT, "job.not_found");
    assert_string_equal(u->e.field, "after[1].job");
    after[1].job = new.id;
    refused(u, store_job_submit(u->s, &new, NULL, &u->e), -EINVAL, "job.after_circle");
    assert_string_equal(u->e.field, "after[1].job");
    after[0].need = NEED_OK;
    refused(u, store_job_submit(u->s, &new, NULL, &u->e), -EINVAL, "job.after_failed");
    assert_string_equal(u->e.field, "after[0].job");
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM jobs"), 1);
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM job_after"), 0);
}

static void the_same_submit_again_is_one_job_also_when_it_could_no_longer_come(void **ctx)
{
    struct unit *u = *ctx;
    bool duplicate = false;
    unit_boot(u);
    const char *first = unit_submit(u, 1, 0);
    const struct job_after after = {first, NEED_OK};
    struct store_new_job new = unit_new_job(u, 2);
    new.after = &after;
    new.n_after = 1;
    new.held = true;
    ok(u, store_job_submit(u->s, &new, &duplicate, &u->e));
    ok(u, store_job_submit(u->s, &new, &duplicate, &u->e));
    assert_true(duplicate);
    unit_event(u, new.id, JOB_RELEASE);
    unit_run(u, 901, first, JOB_FAIL);
    assert_int_equal(unit_settle(u), 1);
    ok(u, store_job_submit(u->s, &new, &duplicate, &u->e));
    assert_true(duplicate);
    assert_int_equal(unit_state(u, new.id), JOB_CANCELLED);
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM jobs"), 2);
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM job_after"), 1);
}

#define T(name) cmocka_unit_test_setup_teardown(name, unit_setup, unit_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_job_is_claimed_only_once_those_before_it_are_over),
        T(what_is_over_already_is_not_waited_for),
        T(the_other_jobs_are_told_of_in_their_order),
        T(a_job_that_can_never_run_is_cancelled_and_those_after_it_too),
        T(every_end_but_done_is_no_good_end),
        T(a_held_or_waiting_job_is_cancelled_as_well),
        T(a_lost_job_that_is_queued_again_is_waited_for_on),
        T(what_a_crash_left_untold_is_told_later),
        T(a_cancelled_follower_waits_for_nothing_any_more),
        T(many_followers_are_told_in_bounded_pieces),
        T(a_claim_costs_the_same_beside_many_blocked_jobs),
        T(a_job_cannot_be_submitted_after_what_is_not_there_or_can_never_be),
        T(the_same_submit_again_is_one_job_also_when_it_could_no_longer_come),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
