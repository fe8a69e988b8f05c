/* The queue: order of claims, due times, lookups and pages at a size, several processes, crashes.
 */
#include "tests/unit/store/unit.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

/* ---- claim ---- */

static void claims_go_by_priority_then_age(void **ctx)
{
    struct unit *u = *ctx;
    unit_boot(u);
    unit_submit(u, 5, 0);
    unit_submit(u, 1, 0); /* a later submit with a smaller id is still younger */
    unit_submit(u, 3, 10);
    unit_submit(u, 4, -10);
    const int order[] = {3, 5, 1, 4};
    for (int i = 0; i < 4; i++)
        assert_string_equal(unit_claim(u, 900 + i, 100), unit_id(u, order[i]));
}

static void a_claim_creates_the_attempt_with_boot_and_policy(void **ctx)
{
    struct unit *u = *ctx;
    struct store_attempt *row;
    const char *attempt = unit_attempt(u);
    ok(u, store_attempt_get(u->s, attempt, &u->arena, &row, &u->e));
    assert_string_equal(row->job, unit_id(u, 1));
    assert_int_equal(row->number, 1);
    assert_string_equal(row->boot, UNIT_BOOT);
    assert_string_equal(row->version, "0.1.0");
    assert_string_equal(row->policy, "{\"name\":\"standard\"}");
    assert_int_equal(row->started_ms, 10);
    assert_int_equal(row->ended_ms, -1);
    assert_null(row->outcome);
    assert_int_equal(unit_state(u, unit_id(u, 1)), JOB_PREPARING);
}

static void nothing_queued_is_nothing_to_do(void **ctx)
{
    struct unit *u = *ctx;
    const struct store_new_attempt attempt = {
        .id = unit_id(u, 901), .boot = UNIT_BOOT, .version = "0", .work_dir = NULL};
    char job[ULID_LEN + 1];
    int64_t due = 0;
    unit_attempt(u);
    assert_int_equal(store_job_claim(u->s, 1000, &attempt, job, &u->e), STORE_NONE);
    ok(u, store_next_due_ms(u->s, &due, &u->e));
    assert_int_equal(due, -1);
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM attempts"), 1);
}

static void a_claim_in_an_unknown_boot_is_refused(void **ctx)
{
    struct unit *u = *ctx;
    const struct store_new_attempt attempt = {
        .id = unit_id(u, 901), .boot = "other-boot", .version = "0", .work_dir = NULL};
    char job[ULID_LEN + 1];
    unit_boot(u);
    unit_submit(u, 1, 0);
    refused(u, store_job_claim(u->s, 5, &attempt, job, &u->e), -EINVAL, "store.constraint");
    assert_int_equal(unit_state(u, unit_id(u, 1)), JOB_QUEUED);
}

static void a_waiting_job_is_claimed_when_it_is_due_and_not_before(void **ctx)
{
    struct unit *u = *ctx;
    const struct store_new_attempt attempt = {
        .id = unit_id(u, 901), .boot = UNIT_BOOT, .version = "0", .work_dir = NULL};
    char job[ULID_LEN + 1];
    int64_t due = -1;
    unit_attempt(u);
    unit_event(u, unit_id(u, 1), JOB_REFUSE); /* next try at 100 */
    ok(u, store_next_due_ms(u->s, &due, &u->e));
    assert_int_equal(due, 100);
    assert_int_equal(store_job_claim(u->s, 99, &attempt, job, &u->e), STORE_NONE);
    assert_string_equal(unit_claim(u, 901, 100), unit_id(u, 1));
}

static void a_due_job_takes_its_old_place_in_the_queue(void **ctx)
{
    struct unit *u = *ctx;
    unit_attempt(u);
    unit_submit(u, 2, 0);
    unit_submit(u, 3, 5);
    unit_event(u, unit_id(u, 1), JOB_REFUSE);
    assert_string_equal(unit_claim(u, 901, 100), unit_id(u, 3));
    assert_string_equal(unit_claim(u, 902, 100), unit_id(u, 1));
    assert_string_equal(unit_claim(u, 903, 100), unit_id(u, 2));
}

/* ---- size ---- */

static void fill(struct unit *u, int jobs, const char *state)
{
    unit_raw_exec(
        u,
        arena_printf(&u->arena,
                     "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
                     " WHERE i < %d)"
                     " INSERT INTO jobs (id, id_reversed, state, priority, document, policy,"
                     " submitted_ms, changed_ms, next_try_ms)"
                     " SELECT printf('01HY%%021d%%s', i, substr('%s', 1, 1)), '', '%s', -1, '{}',"
                     " '{}', 1, 1, iif('%s' = 'waiting', 1000 + i, NULL) FROM n",
                     jobs, state, state, state));
}

static int64_t steps_so_far(struct store *s)
{
    int64_t sum = 0;
    for (size_t i = 0; i < s->n_cached; i++)
        sum += sqlite3_stmt_status(s->cache[i].st, SQLITE_STMTSTATUS_VM_STEP, 0);
    return sum;
}

/* Work of SQLite's machine for one claim and one look at the next due time. */
static int64_t claim_steps(struct unit *u, int number)
{
    int64_t due, before = steps_so_far(u->s);
    unit_claim(u, number, 100);
    ok(u, store_next_due_ms(u->s, &due, &u->e));
    return steps_so_far(u->s) - before;
}

static void a_claim_costs_the_same_in_a_long_queue(void **ctx)
{
    struct unit *u = *ctx;
    unit_boot(u);
    unit_submit(u, 1, 0);
    unit_submit(u, 2, 0);
    int64_t alone = claim_steps(u, 901);
    assert_true(alone > 0);
    fill(u, 20000, "queued");
    fill(u, 20000, "waiting");
    fill(u, 20000, "done");
    assert_in_range(claim_steps(u, 902), 1, alone * 2);
}

static int64_t list_steps(struct unit *u, unsigned states)
{
    const struct store_list list = {.states = states, .limit = 10};
    struct store_job *jobs;
    size_t n;
    int64_t before = steps_so_far(u->s);
    ok(u, store_job_list(u->s, &list, &u->arena, &jobs, &n, &u->e));
    assert_int_equal(n, 10);
    return steps_so_far(u->s) - before;
}

static void a_page_of_a_rare_state_costs_the_same_among_many_jobs(void **ctx)
{
    struct unit *u = *ctx;
    for (int i = 0; i < 10; i++)
        unit_submit(u, i, 0);
    int64_t alone = list_steps(u, STORE_STATE(JOB_QUEUED));
    fill(u, 20000, "done");
    assert_in_range(list_steps(u, STORE_STATE(JOB_QUEUED)), 1, alone * 2);
    assert_in_range(list_steps(u, 0), 1, alone * 4);
}

/* ---- lookups ---- */

static void a_job_is_found_by_either_end_of_its_id(void **ctx)
{
    struct unit *u = *ctx;
    const char *const ids[] = {"01J8Q3ZK5T0000000000AAAA11", "01J8Q3ZK5T0000000000BBBB22",
                               "01K0000000000000000000CCCC"};
    char id[ULID_LEN + 1];
    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        struct store_new_job job = unit_new_job(u, 1);
        job.id = ids[i];
        ok(u, store_job_submit(u->s, &job, NULL, &u->e));
    }
    ok(u, store_job_find(u->s, "01K0", id, &u->e));
    assert_string_equal(id, ids[2]);
    ok(u, store_job_find(u->s, "bb22", id, &u->e));
    assert_string_equal(id, ids[1]);
    ok(u, store_job_find(u->s, ids[0], id, &u->e));
    assert_string_equal(id, ids[0]);
    refused(u, store_job_find(u->s, "01J8Q3", id, &u->e), STORE_AMBIGUOUS, "job.ambiguous");
    refused(u, store_job_find(u->s, "ZZZZ", id, &u->e), -ENOENT, "job.not_found");
    refused(u, store_job_find(u->s, "A11", id, &u->e), -EINVAL, "job.bad_id");
    refused(u, store_job_find(u->s, "AAAA%", id, &u->e), -EINVAL, "job.bad_id");
    refused(u, store_job_find(u->s, "0123456789012345678901234567", id, &u->e), -EINVAL,
            "job.bad_id");
}

static void an_end_that_fits_two_jobs_from_two_sides_is_ambiguous(void **ctx)
{
    struct unit *u = *ctx;
    const char *const ids[] = {"01ABC000000000000000000000", "00000000000000000000001ABC"};
    char id[ULID_LEN + 1];
    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        struct store_new_job job = unit_new_job(u, 1);
        job.id = ids[i];
        ok(u, store_job_submit(u->s, &job, NULL, &u->e));
    }
    refused(u, store_job_find(u->s, "01ABC", id, &u->e), STORE_AMBIGUOUS, "job.ambiguous");
    ok(u, store_job_find(u->s, "01ABC0", id, &u->e));
    assert_string_equal(id, ids[0]);
}

/* Ends are indexed in groups of 1,024 jobs: one of each group, and two that look alike. */
static void an_end_is_found_however_many_jobs_came_since(void **ctx)
{
    struct unit *u = *ctx;
    const char *const ids[] = {"01J8Q3ZK5T0000000000AAAA11", "01J8Q3ZK5T0000000000BBBB22",
                               "01J8Q3ZK5T0000000000BBAA11"};
    char id[ULID_LEN + 1];
    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        struct store_new_job job = unit_new_job(u, 1);
        job.id = ids[i];
        ok(u, store_job_submit(u->s, &job, NULL, &u->e));
        fill(u, 2000, i == 0 ? "queued" : i == 1 ? "held" : "done");
    }
    ok(u, store_job_find(u->s, "AAAA11", id, &u->e));
    assert_string_equal(id, ids[0]);
    ok(u, store_job_find(u->s, "bb22", id, &u->e));
    assert_string_equal(id, ids[1]);
    refused(u, store_job_find(u->s, "AA11", id, &u->e), STORE_AMBIGUOUS, "job.ambiguous");
    refused(u, store_job_find(u->s, "ZZZZ", id, &u->e), -ENOENT, "job.not_found");
}

static void pages_go_from_the_newest_and_filter_by_state(void **ctx)
{
    struct unit *u = *ctx;
    struct store_job *jobs;
    size_t n;
    unit_boot(u);
    for (int i = 1; i <= 5; i++)
        unit_submit(u, i, 0);
    unit_claim(u, 901, 1); /* 1 */
    unit_event(u, unit_id(u, 3), JOB_CANCEL);
    struct store_list list = {.limit = 2};
    ok(u, store_job_list(u->s, &list, &u->arena, &jobs, &n, &u->e));
    assert_int_equal(n, 2);
    assert_string_equal(jobs[0].id, unit_id(u, 5));
    assert_null(jobs[0].document);
    list.before = jobs[1].id;
    ok(u, store_job_list(u->s, &list, &u->arena, &jobs, &n, &u->e));
    assert_string_equal(jobs[0].id, unit_id(u, 3));
    assert_int_equal(jobs[0].state, JOB_CANCELLED);
    list = (struct store_list){.limit = 10,
                               .states = STORE_STATE(JOB_QUEUED) | STORE_STATE(JOB_PREPARING)};
    ok(u, store_job_list(u->s, &list, &u->arena, &jobs, &n, &u->e));
    assert_int_equal(n, 4);
    assert_string_equal(jobs[1].id, unit_id(u, 4));
    assert_string_equal(jobs[3].id, unit_id(u, 1));
    assert_int_equal(jobs[3].attempts, 1);
}

static void a_page_is_bounded_and_begins_at_a_known_job(void **ctx)
{
    struct unit *u = *ctx;
    struct store_job *jobs;
    size_t n;
    struct store_list list = {.limit = 0};
    refused(u, store_job_list(u->s, &list, &u->arena, &jobs, &n, &u->e), -EINVAL,
            "store.bad_limit");
    list.limit = 1001;
    refused(u, store_job_list(u->s, &list, &u->arena, &jobs, &n, &u->e), -EINVAL,
            "store.bad_limit");
    list = (struct store_list){.limit = 1, .before = "none"};
    refused(u, store_job_list(u->s, &list, &u->arena, &jobs, &n, &u->e), -ENOENT, "job.not_found");
}

static int expected_one(enum job_state state)
{
    return state == JOB_QUEUED || state == JOB_WAITING || state == JOB_PREPARING;
}

static void counts_follow_every_step(void **ctx)
{
    struct unit *u = *ctx;
    int64_t counts[JOB_STATE_COUNT];
    unit_boot(u);
    fill(u, 4, "done");
    for (int i = 1; i <= 3; i++)
        unit_submit(u, i, 0);
    unit_claim(u, 901, 1);
    unit_event(u, unit_id(u, 1), JOB_REFUSE);
    unit_claim(u, 902, 1);
    ok(u, store_counts(u->s, counts, &u->e));
    for (int i = 0; i < JOB_STATE_COUNT; i++)
        assert_int_equal(counts[i], i == JOB_DONE ? 4 : expected_one((enum job_state)i));
}

/* ---- several processes, crashes ---- */

/* In a child: opens the store, runs fn and dies without closing anything. */
static pid_t run_child(struct unit *u, void (*fn)(struct unit *))
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct unit own = {.path = u->path};
        if (store_open(u->path, &own.s, NULL) == 0)
            fn(&own);
        (void)kill(getpid(), SIGKILL);
    }
    return pid;
}

static void wait_killed(pid_t pid)
{
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void submit_three(struct unit *u)
{
    for (int i = 1; i <= 3; i++) {
        struct store_new_job job = unit_new_job(u, i);
        (void)store_job_submit(u->s, &job, NULL, NULL);
    }
}

static void what_was_accepted_survives_a_kill(void **ctx)
{
    struct unit *u = *ctx;
    wait_killed(run_child(u, submit_three));
    assert_int_equal(unit_state(u, unit_id(u, 3)), JOB_QUEUED);
    unit_reopen(u);
    assert_int_equal(unit_state(u, unit_id(u, 1)), JOB_QUEUED);
}

static void submit_halfway(struct unit *u)
{
    (void)tx_begin(u->s, NULL);
    (void)sqlite3_exec(u->s->db,
                       "INSERT INTO jobs (id, id_reversed, state, priority, document, policy,"
                       " submitted_ms, changed_ms) VALUES ('x', 'x', 'queued', 0, '', '', 1, 1)",
                       NULL, NULL, NULL);
}

static void a_transaction_cut_by_a_kill_leaves_no_trace(void **ctx)
{
    struct unit *u = *ctx;
    wait_killed(run_child(u, submit_halfway));
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM jobs"), 0);
    unit_submit(u, 2, 0);
}

enum { RACE = 60 };

static void submit_race(struct unit *u)
{
    for (int i = 0; i < RACE; i++) {
        struct store_new_job job = unit_new_job(u, 2 * i + 1);
        (void)store_job_submit(u->s, &job, NULL, NULL);
    }
}

static void two_processes_submit_at_once_and_nothing_is_lost(void **ctx)
{
    struct unit *u = *ctx;
    pid_t child = run_child(u, submit_race);
    for (int i = 0; i < RACE; i++)
        unit_submit(u, 2 * i, 0);
    wait_killed(child);
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM jobs"), 2 * RACE);
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM job_history"), 2 * RACE);
}

static void claim_race(struct unit *u)
{
    char job[ULID_LEN + 1];
    for (int i = 0; i < RACE; i++) {
        const struct store_new_attempt attempt = {
            .id = unit_id(u, 2001 + 2 * i), .boot = UNIT_BOOT, .version = "0", .work_dir = NULL};
        (void)store_job_claim(u->s, 100, &attempt, job, NULL);
    }
}

static void two_processes_never_claim_the_same_job(void **ctx)
{
    struct unit *u = *ctx;
    char job[ULID_LEN + 1];
    unit_boot(u);
    for (int i = 0; i < RACE; i++)
        unit_submit(u, i, 0);
    pid_t child = run_child(u, claim_race);
    for (int i = 0; i < RACE; i++) {
        const struct store_new_attempt attempt = {
            .id = unit_id(u, 2000 + 2 * i), .boot = UNIT_BOOT, .version = "0", .work_dir = NULL};
        int rc = store_job_claim(u->s, 100, &attempt, job, &u->e);
        assert_true(rc == 0 || rc == STORE_NONE);
    }
    wait_killed(child);
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM jobs WHERE state = 'preparing'"),
                     RACE);
    assert_int_equal(unit_raw_number(u, "SELECT count(DISTINCT job) FROM attempts"), RACE);
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM attempts"), RACE);
}

static void unfinished_attempts_are_found_after_a_crash(void **ctx)
{
    struct unit *u = *ctx;
    struct store_attempt *rows;
    size_t n;
    const char *attempt = unit_attempt(u);
    unit_submit(u, 2, 0);
    unit_claim(u, 901, 20);
    ok(u, store_attempt_end(u->s, attempt, "lost", 30, &u->e));
    unit_reopen(u);
    ok(u, store_unfinished_attempts(u->s, &u->arena, &rows, &n, &u->e));
    assert_int_equal(n, 1);
    assert_string_equal(rows[0].id, unit_id(u, 901));
    assert_string_equal(rows[0].job, unit_id(u, 2));
}

#define T(name) cmocka_unit_test_setup_teardown(name, unit_setup, unit_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(claims_go_by_priority_then_age),
        T(a_claim_creates_the_attempt_with_boot_and_policy),
        T(nothing_queued_is_nothing_to_do),
        T(a_claim_in_an_unknown_boot_is_refused),
        T(a_waiting_job_is_claimed_when_it_is_due_and_not_before),
        T(a_due_job_takes_its_old_place_in_the_queue),
        T(a_claim_costs_the_same_in_a_long_queue),
        T(a_page_of_a_rare_state_costs_the_same_among_many_jobs),
        T(a_job_is_found_by_either_end_of_its_id),
        T(an_end_that_fits_two_jobs_from_two_sides_is_ambiguous),
        T(an_end_is_found_however_many_jobs_came_since),
        T(pages_go_from_the_newest_and_filter_by_state),
        T(a_page_is_bounded_and_begins_at_a_known_job),
        T(counts_follow_every_step),
        T(what_was_accepted_survives_a_kill),
        T(a_transaction_cut_by_a_kill_leaves_no_trace),
        T(two_processes_submit_at_once_and_nothing_is_lost),
        T(two_processes_never_claim_the_same_job),
        T(unfinished_attempts_are_found_after_a_crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
