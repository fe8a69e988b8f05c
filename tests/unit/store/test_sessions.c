/* Sessions and the gate of a claim: what is kept back, what expires, what opens all or not at all.
 */
#include "tests/unit/store/unit.h"

#include <errno.h>

static struct store_session new_session(struct unit *u, int number, const char *label)
{
    return (struct store_session){.id = unit_id(u, number),
                                  .label = label,
                                  .document = arena_printf(&u->arena, "{\"s\":%d}", number),
                                  .peer_uid = 1000,
                                  .opened_ms = number,
                                  .opened_boot = UNIT_BOOT};
}

static struct store_new_job timed_job(struct unit *u, int number, const char *session)
{
    struct store_new_job job = unit_new_job(u, number);
    job.timed = true;
    job.session = session;
    return job;
}

static void open_with(struct unit *u, int number, const char *label, int first, int n)
{
    const struct store_session session = new_session(u, number, label);
    struct store_new_job jobs[8];
    for (int i = 0; i < n; i++)
        jobs[i] = timed_job(u, first + i, session.id);
    ok(u, store_session_open(u->s, &session, jobs, (size_t)n, NULL, &u->e));
}

/* ---- opening */

static void a_session_opens_with_all_its_jobs_in_their_order(void **ctx)
{
    struct unit *u = *ctx;
    struct store_session *row;
    struct store_job *jobs;
    size_t n;
    unit_boot(u);
    open_with(u, 100, "night", 1, 3);
    ok(u, store_session_get(u->s, unit_id(u, 100), &u->arena, &row, &u->e));
    assert_string_equal(row->label, "night");
    assert_int_equal(row->opened_ms, 100);
    assert_string_equal(row->opened_boot, UNIT_BOOT);
    assert_int_equal(row->closed_ms, -1);
    assert_null(row->evidence);
    ok(u, store_session_jobs(u->s, row->id, &u->arena, &jobs, &n, &u->e));
    assert_int_equal(n, 3);
    for (int i = 0; i < 3; i++) {
        assert_string_equal(jobs[i].id, unit_id(u, 1 + i));
        assert_string_equal(jobs[i].session, row->id);
    }
}

static void a_session_with_one_wrong_job_opens_nothing(void **ctx)
{
    struct unit *u = *ctx;
    unit_boot(u);
    const struct store_session session = new_session(u, 100, "night");
    struct store_new_job jobs[2] = {timed_job(u, 1, session.id), timed_job(u, 2, session.id)};
    jobs[1].suite_sha256 = "0000000000000000000000000000000000000000000000000000000000000000";
    refused(u, store_session_open(u->s, &session, jobs, 2, NULL, &u->e), -ENOENT, "suite.unknown");
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM jobs"), 0);
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM sessions"), 0);
}

static void the_same_session_again_is_one_and_another_of_its_label_is_refused(void **ctx)
{
    struct unit *u = *ctx;
    bool duplicate = false;
    unit_boot(u);
    open_with(u, 100, "night", 1, 1);
    struct store_session session = new_session(u, 100, "night");
    ok(u, store_session_open(u->s, &session, NULL, 0, &duplicate, &u->e));
    assert_true(duplicate);
    session.document = "{}";
    refused(u, store_session_open(u->s, &session, NULL, 0, NULL, &u->e), -EEXIST, "session.exists");
    session = new_session(u, 101, "night");
    refused(u, store_session_open(u->s, &session, NULL, 0, NULL, &u->e), -EEXIST, "session.exists");
    ok(u, store_session_close(u->s, unit_id(u, 100), &(struct store_event){.wall_ms = 5}, NULL, 0,
                              &u->e));
    ok(u, store_session_open(u->s, &session, NULL, 0, NULL, &u->e));
}

static void closing_cancels_all_that_is_left_or_nothing(void **ctx)
{
    struct unit *u = *ctx;
    const struct store_event with = {
        .wall_ms = 7, .next_try_ms = -1, .text = "cancelled by who closed its session"};
    unit_boot(u);
    open_with(u, 100, "night", 1, 3);
    const char *jobs[] = {unit_id(u, 1), unit_id(u, 2), unit_id(u, 3)};
    ok(u, store_job_event(u->s, jobs[2], JOB_CANCEL, &with, NULL, &u->e));
    refused(u, store_session_close(u->s, unit_id(u, 100), &with, jobs, 3, &u->e), -EINVAL,
            "job.bad_state");
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM jobs WHERE state = 'queued'"), 2);
    assert_int_equal(
        unit_raw_number(u, "SELECT count(*) FROM sessions WHERE closed_ms IS NOT NULL"), 0);
    ok(u, store_session_close(u->s, unit_id(u, 100), &with, jobs, 2, &u->e));
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM jobs WHERE state = 'cancelled'"), 3);
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM sessions WHERE closed_ms = 7"), 1);
}

static void a_closed_session_takes_no_job_and_stays_as_it_was_closed(void **ctx)
{
    struct unit *u = *ctx;
    struct store_session *row;
    unit_boot(u);
    open_with(u, 100, "night", 1, 1);
    ok(u, store_session_close(u->s, unit_id(u, 100), &(struct store_event){.wall_ms = 5}, NULL, 0,
                              &u->e));
    ok(u, store_session_close(u->s, unit_id(u, 100), &(struct store_event){.wall_ms = 9}, NULL, 0,
                              &u->e));
    ok(u, store_session_sealed(u->s, unit_id(u, 100), "/e", "abc", &u->e));
    ok(u, store_session_sealed(u->s, unit_id(u, 100), "/f", "def", &u->e));
    ok(u, store_session_get(u->s, unit_id(u, 100), &u->arena, &row, &u->e));
    assert_int_equal(row->closed_ms, 5);
    assert_string_equal(row->evidence, "/e");
    assert_string_equal(row->sums_sha256, "abc");
    const struct store_new_job job = timed_job(u, 2, row->id),
                               lost = timed_job(u, 3, unit_id(u, 9));
    refused(u, store_job_submit(u->s, &job, NULL, &u->e), -EINVAL, "session.closed");
    refused(u, store_job_submit(u->s, &lost, NULL, &u->e), -ENOENT, "session.not_found");
    /* What it had already is still the same job. */
    const struct store_new_job known = timed_job(u, 1, row->id);
    bool duplicate = false;
    ok(u, store_job_submit(u->s, &known, &duplicate, &u->e));
    assert_true(duplicate);
}

static void a_session_is_found_by_label_id_and_parts_of_it(void **ctx)
{
    struct unit *u = *ctx;
    char id[ULID_LEN + 1];
    unit_boot(u);
    open_with(u, 1001, "night", 1, 1);
    ok(u, store_session_close(u->s, unit_id(u, 1001), &(struct store_event){.wall_ms = 5}, NULL, 0,
                              &u->e));
    open_with(u, 1002, "night", 2, 1);
    ok(u, store_session_find(u->s, "night", id, &u->e));
    assert_string_equal(id, unit_id(u, 1002));
    ok(u, store_session_find(u->s, "1001", id, &u->e));
    assert_string_equal(id, unit_id(u, 1001));
    ok(u, store_session_find(u->s, unit_id(u, 1002), id, &u->e));
    assert_int_equal(store_session_find(u->s, "01HZ", id, &u->e), STORE_AMBIGUOUS);
    err_clear(&u->e);
    refused(u, store_session_find(u->s, "x", id, &u->e), -ENOENT, "session.not_found");
    refused(u, store_session_find(u->s, "%%%%", id, &u->e), -ENOENT, "session.not_found");
}

/* ---- the gate */

struct gate {
    int asked;
    enum job_event answer; /* for every job but `allow` */
    const char *allow;
};

static int gate(void *ctx, const char *job, enum job_event *event, struct store_event *with,
                struct err *e)
{
    struct gate *g = ctx;
    (void)e;
    g->asked++;
    if (g->allow && strcmp(job, g->allow) == 0)
        return 0;
    *event = g->answer;
    with->next_try_ms = g->answer == JOB_DEFER ? 5000 : -1;
    with->text = with->waits_for = "later";
    return 0;
}

static int claim_by(struct unit *u, struct gate *g, int number, char job[ULID_LEN + 1])
{
    const struct store_new_attempt attempt = {.id = unit_id(u, number),
                                              .boot = UNIT_BOOT,
                                              .version = "0.1.0",
                                              .gate = gate,
                                              .gate_ctx = g};
    return store_job_claim(u->s, 1000, &attempt, job, &u->e);
}

static void what_the_gate_keeps_back_waits_and_the_next_is_claimed(void **ctx)
{
    struct unit *u = *ctx;
    struct gate g = {.answer = JOB_DEFER};
    struct store_job *row;
    char job[ULID_LEN + 1];
    unit_boot(u);
    open_with(u, 100, "night", 1, 2);
    unit_submit(u, 3, 0);
    assert_int_equal(claim_by(u, &g, 900, job), 0);
    assert_string_equal(job, unit_id(u, 3));
    assert_int_equal(g.asked, 2); /* the plain job is not asked about */
    ok(u, store_job_get(u->s, unit_id(u, 1), &u->arena, &row, &u->e));
    assert_int_equal(row->state, JOB_WAITING);
    assert_int_equal(row->next_try_ms, 5000);
    assert_string_equal(row->waits_for, "later");
    assert_int_equal(row->refusals, 0);
}

static void what_is_kept_back_is_committed_although_nothing_is_claimed(void **ctx)
{
    struct unit *u = *ctx;
    struct gate g = {.answer = JOB_EXPIRE};
    char job[ULID_LEN + 1];
    unit_boot(u);
    open_with(u, 100, "night", 1, 2);
    assert_int_equal(claim_by(u, &g, 900, job), STORE_NONE);
    unit_reopen(u);
    assert_int_equal(unit_state(u, unit_id(u, 1)), JOB_EXPIRED);
    assert_int_equal(unit_state(u, unit_id(u, 2)), JOB_EXPIRED);
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM attempts"), 0);
}

static void what_it_waits_for_goes_when_it_runs_and_its_night_stays(void **ctx)
{
    struct unit *u = *ctx;
    struct gate g = {.answer = JOB_DEFER};
    const struct store_event begins = {.wall_ms = 6000, .next_try_ms = -1, .night = "2026-12-01"};
    struct store_job *row;
    char job[ULID_LEN + 1];
    unit_boot(u);
    open_with(u, 100, "night", 1, 1);
    assert_int_equal(claim_by(u, &g, 900, job), STORE_NONE);
    ok(u, store_session_wake(u->s, UNIT_BOOT, 1000, &u->e)); /* the boot of its opening: nothing */
    g.allow = unit_id(u, 1);
    assert_int_equal(claim_by(u, &g, 901, job), STORE_NONE);
    ok(u, store_session_wake(u->s, "another boot", 1000, &u->e));
    assert_int_equal(claim_by(u, &g, 902, job), 0);
    ok(u, store_job_event(u->s, job, JOB_TIMING_BEGINS, &begins, NULL, &u->e));
    ok(u, store_job_get(u->s, job, &u->arena, &row, &u->e));
    assert_null(row->waits_for);
    assert_string_equal(row->night, "2026-12-01");
    unit_event(u, job, JOB_TIMING_ENDS);
    ok(u, store_job_get(u->s, job, &u->arena, &row, &u->e));
    assert_string_equal(row->night, "2026-12-01");
}

static void one_claim_keeps_back_a_bounded_number(void **ctx)
{
    struct unit *u = *ctx;
    struct gate g = {.answer = JOB_DEFER};
    char job[ULID_LEN + 1];
    unit_boot(u);
    unit_raw_exec(u,
                  "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600)"
                  " INSERT INTO jobs (id, id_reversed, state, priority, document, policy,"
                  " submitted_ms, changed_ms, timed) SELECT printf('01HY%022d', i), '', 'queued',"
                  " 0, '{}', '{}', 1, 1, 1 FROM n");
    assert_int_equal(claim_by(u, &g, 900, job), STORE_AGAIN);
    assert_int_equal(g.asked, 512);
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM jobs WHERE state = 'waiting'"), 512);
    assert_int_equal(claim_by(u, &g, 901, job), STORE_NONE);
    assert_int_equal(g.asked, 600);
}

/* ---- deadlines */

static void jobs_that_have_not_begun_are_overdue_from_their_deadline_on(void **ctx)
{
    struct unit *u = *ctx;
    const char *const *ids;
    int64_t due = 0;
    size_t n;
    unit_boot(u);
    for (int i = 1; i <= 3; i++) {
        struct store_new_job job = unit_new_job(u, i);
        job.timed = true;
        job.deadline_ms = i * 100;
        job.priority = -i;
        ok(u, store_job_submit(u->s, &job, NULL, &u->e));
    }
    ok(u, store_next_due_ms(u->s, &due, &u->e));
    assert_int_equal(due, 100);
    ok(u, store_overdue(u->s, 99, &u->arena, &ids, &n, &u->e));
    assert_int_equal(n, 0);
    unit_claim(u, 900, 10); /* job 1 runs: it is not overdue, however late it is */
    ok(u, store_overdue(u->s, 200, &u->arena, &ids, &n, &u->e));
    assert_int_equal(n, 1);
    assert_string_equal(ids[0], unit_id(u, 2));
    ok(u, store_next_due_ms(u->s, &due, &u->e));
    assert_int_equal(due, 200);
}

/* ---- reports */

static void counts_of_a_report_are_kept_with_it(void **ctx)
{
    struct unit *u = *ctx;
    const char *attempt = unit_attempt(u);
    const struct store_report_count counts = {1, 2, 3, 4, 5, 6};
    struct store_report_count back = {0};
    const struct store_report report = {.attempt = attempt,
                                        .grade = GRADE_DIAGNOSTIC,
                                        .grade_line = "diagnostic",
                                        .evidence = "/e",
                                        .raw_sha256 = "ab",
                                        .created_ms = 1,
                                        .counts = &counts};
    assert_int_equal(store_report_counts(u->s, attempt, &back, &u->e), STORE_NONE);
    ok(u, store_report_put(u->s, &report, &u->e));
    ok(u, store_report_counts(u->s, attempt, &back, &u->e));
    assert_memory_equal(&back, &counts, sizeof back);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, unit_setup, unit_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_session_opens_with_all_its_jobs_in_their_order),
        TEST(a_session_with_one_wrong_job_opens_nothing),
        TEST(the_same_session_again_is_one_and_another_of_its_label_is_refused),
        TEST(closing_cancels_all_that_is_left_or_nothing),
        TEST(a_closed_session_takes_no_job_and_stays_as_it_was_closed),
        TEST(a_session_is_found_by_label_id_and_parts_of_it),
        TEST(what_the_gate_keeps_back_waits_and_the_next_is_claimed),
        TEST(what_is_kept_back_is_committed_although_nothing_is_claimed),
        TEST(what_it_waits_for_goes_when_it_runs_and_its_night_stays),
        TEST(one_claim_keeps_back_a_bounded_number),
        TEST(jobs_that_have_not_begun_are_overdue_from_their_deadline_on),
        TEST(counts_of_a_report_are_kept_with_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
