/* Jobs: submit, every transition, claim in order, lookups, pages, several processes, crashes. */
#include "tests/unit/store/unit.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

/* ---- submit ---- */

static void a_submitted_job_reads_back_whole(void **ctx)
{
    struct unit *u = *ctx;
    struct store_job *job;
    unit_boot(u);
    struct store_new_job new = unit_new_job(u, 7);
    new.label = "foundations";
    new.suite_sha256 = UNIT_SUITE;
    new.priority = -1;
    ok(u, store_job_submit(u->s, &new, NULL, &u->e));
    ok(u, store_job_get(u->s, new.id, &u->arena, &job, &u->e));
    assert_string_equal(job->id, new.id);
    assert_int_equal(job->state, JOB_QUEUED);
    assert_int_equal(job->priority, -1);
    assert_string_equal(job->label, "foundations");
    assert_string_equal(job->suite_sha256, UNIT_SUITE);
    assert_string_equal(job->document, new.document);
    assert_string_equal(job->policy, new.policy);
    assert_int_equal(job->peer_uid, 1000);
    assert_int_equal(job->submitted_ms, 7);
    assert_int_equal(job->changed_ms, 7);
    assert_int_equal(job->next_try_ms, -1);
    assert_int_equal(job->attempts, 0);
    assert_null(job->attempt);
    assert_null(job->error_code);
    assert_null(job->report);
}

static void the_same_id_and_document_twice_is_one_job(void **ctx)
{
    struct unit *u = *ctx;
    bool duplicate = true;
    struct store_new_job new = unit_new_job(u, 1);
    ok(u, store_job_submit(u->s, &new, &duplicate, &u->e));
    assert_false(duplicate);
    new.wall_ms = 99;
    ok(u, store_job_submit(u->s, &new, &duplicate, &u->e));
    assert_true(duplicate);
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM jobs"), 1);
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM job_history"), 1);
    assert_int_equal(unit_raw_number(u, "SELECT submitted_ms FROM jobs"), 1);
}

static void the_same_id_with_another_document_is_refused(void **ctx)
{
    struct unit *u = *ctx;
    unit_submit(u, 1, 0);
    struct store_new_job new = unit_new_job(u, 1);
    new.document = "{}";
    refused(u, store_job_submit(u->s, &new, NULL, &u->e), -EEXIST, "job.exists_differs");
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM jobs"), 1);
}

static void bad_ids_and_unknown_suites_are_refused(void **ctx)
{
    struct unit *u = *ctx;
    struct store_new_job new = unit_new_job(u, 1);
    new.suite_sha256 = UNIT_SUITE;
    refused(u, store_job_submit(u->s, &new, NULL, &u->e), -ENOENT, "suite.unknown");
    new.id = "job-1";
    refused(u, store_job_submit(u->s, &new, NULL, &u->e), -EINVAL, "job.bad_id");
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM jobs"), 0);
}

static void a_job_submitted_on_hold_waits_for_its_release(void **ctx)
{
    struct unit *u = *ctx;
    struct store_new_job new = unit_new_job(u, 1);
    const struct store_new_attempt attempt = {
        .id = unit_id(u, 9), .boot = UNIT_BOOT, .version = "0", .work_dir = NULL};
    char job[ULID_LEN + 1];
    unit_boot(u);
    new.held = true;
    ok(u, store_job_submit(u->s, &new, NULL, &u->e));
    assert_int_equal(unit_state(u, new.id), JOB_HELD);
    assert_int_equal(store_job_claim(u->s, 5, &attempt, job, &u->e), STORE_NONE);
    unit_event(u, new.id, JOB_RELEASE);
    assert_string_equal(unit_claim(u, 9, 5), new.id);
}

/* ---- transitions ---- */

/* Puts a job straight into a state, as no call of the store would. */
static void force_state(struct unit *u, const char *job, enum job_state state)
{
    unit_raw_exec(u, arena_printf(&u->arena,
                                  "UPDATE jobs SET state = '%s', next_try_ms = %s WHERE id = '%s'",
                                  job_state_name(state), state == JOB_WAITING ? "5" : "NULL", job));
}

static int64_t history_rows(struct unit *u)
{
    return unit_raw_number(u, "SELECT count(*) FROM job_history");
}

static void check_transition(struct unit *u, const char *job, enum job_state state,
                             enum job_event event)
{
    const struct store_event with = {.wall_ms = 77, .text = "why", .next_try_ms = 500};
    struct job_step want, done;
    struct store_job *row;
    int64_t before = history_rows(u);
    force_state(u, job, state);
    if (job_state_step(state, event, &want) != 0) {
        refused(u, store_job_event(u->s, job, event, &with, &done, &u->e), -EINVAL,
                "job.bad_state");
        assert_int_equal(unit_state(u, job), state);
        assert_int_equal(history_rows(u), before);
        return;
    }
    ok(u, store_job_event(u->s, job, event, &with, &done, &u->e));
    assert_memory_equal(&done, &want, sizeof done);
    ok(u, store_job_get(u->s, job, &u->arena, &row, &u->e));
    assert_int_equal(row->state, want.to);
    assert_int_equal(row->changed_ms, 77);
    assert_int_equal(row->next_try_ms, want.to == JOB_WAITING ? 500 : -1);
    assert_int_equal(history_rows(u), before + 1);
}

static void every_event_in_every_state_does_what_the_table_says(void **ctx)
{
    struct unit *u = *ctx;
    const char *job = unit_submit(u, 1, 0);
    for (int s = JOB_NEW + 1; s < JOB_STATE_COUNT; s++)
        for (int e = 0; e < JOB_EVENT_COUNT; e++)
            if (e != JOB_SUBMIT && e != JOB_CLAIM && e != JOB_EDIT && e != JOB_RERUN)
                check_transition(u, job, (enum job_state)s, (enum job_event)e);
}

static void submit_claim_edit_and_rerun_are_no_plain_events(void **ctx)
{
    struct unit *u = *ctx;
    const struct store_event with = STORE_EVENT_INIT;
    const char *job = unit_submit(u, 1, 0);
    const enum job_event events[] = {JOB_SUBMIT, JOB_CLAIM, JOB_EDIT, JOB_RERUN};
    for (size_t i = 0; i < ARRAY_LEN(events); i++)
        refused(u, store_job_event(u->s, job, events[i], &with, NULL, &u->e), -EINVAL,
                "job.bad_event");
    assert_int_equal(unit_state(u, job), JOB_QUEUED);
}

static void an_event_on_no_job_is_refused(void **ctx)
{
    struct unit *u = *ctx;
    const struct store_event with = STORE_EVENT_INIT;
    struct store_job *job;
    refused(u, store_job_event(u->s, "nobody", JOB_CANCEL, &with, NULL, &u->e), -ENOENT,
            "job.not_found");
    refused(u, store_job_get(u->s, "nobody", &u->arena, &job, &u->e), -ENOENT, "job.not_found");
}

static void waiting_needs_the_time_of_the_next_try(void **ctx)
{
    struct unit *u = *ctx;
    const struct store_event with = STORE_EVENT_INIT;
    unit_attempt(u);
    const char *job = unit_id(u, 1);
    refused(u, store_job_event(u->s, job, JOB_REFUSE, &with, NULL, &u->e), -EINVAL,
            "store.next_try_missing");
    assert_int_equal(unit_state(u, job), JOB_PREPARING);
}

static void a_failure_keeps_its_error_and_a_new_attempt_begins_without_it(void **ctx)
{
    struct unit *u = *ctx;
    struct err why = {"lane.done_wrong", "fib30.c", "The lane printed another DONE line."};
    struct store_event with = {.wall_ms = 20, .next_try_ms = -1, .error = &why};
    struct store_job *job;
    unit_attempt(u);
    const char *id = unit_id(u, 1);
    ok(u, store_job_event(u->s, id, JOB_LOSE, &with, NULL, &u->e));
    ok(u, store_job_get(u->s, id, &u->arena, &job, &u->e));
    assert_string_equal(job->error_code, "lane.done_wrong");
    assert_string_equal(job->error_field, "fib30.c");
    assert_string_equal(job->error_text, why.text);
    unit_event(u, id, JOB_REQUEUE);
    ok(u, store_job_get(u->s, id, &u->arena, &job, &u->e));
    assert_string_equal(job->error_code, "lane.done_wrong");
    unit_claim(u, 901, 30);
    ok(u, store_job_get(u->s, id, &u->arena, &job, &u->e));
    assert_null(job->error_code);
    assert_null(job->error_text);
    assert_int_equal(job->attempts, 2);
}

static void a_refusal_ends_its_attempt_in_the_same_transaction(void **ctx)
{
    struct unit *u = *ctx;
    const char *attempt = unit_attempt(u), *id = unit_id(u, 1);
    const struct raw_refusal refusal = {attempt, 40, PHASE_BEFORE_TIMING, "cc runs at 97 %"};
    const struct store_event with = {.wall_ms = 41,
                                     .text = refusal.reason,
                                     .next_try_ms = 600,
                                     .attempt = attempt,
                                     .outcome = "refused",
                                     .refusal = &refusal};
    struct store_job *job;
    struct store_attempt *row;
    struct raw_refusal *read;
    ok(u, store_job_event(u->s, id, JOB_REFUSE, &with, NULL, &u->e));
    ok(u, store_job_get(u->s, id, &u->arena, &job, &u->e));
    assert_int_equal(job->refusals, 1);
    assert_int_equal(job->next_try_ms, 600);
    assert_string_equal(job->attempt, attempt);
    ok(u, store_attempt_get(u->s, attempt, &u->arena, &row, &u->e));
    assert_int_equal(row->ended_ms, 41);
    assert_string_equal(row->outcome, "refused");
    ok(u, store_recent_refusal(u->s, id, &u->arena, &read, &u->e));
    assert_string_equal(read->attempt, attempt);
    assert_string_equal(read->reason, "cc runs at 97 %");
    assert_int_equal(read->phase, PHASE_BEFORE_TIMING);
}

static void what_goes_with_an_event_undoes_it_when_it_fails(void **ctx)
{
    struct unit *u = *ctx;
    const char *attempt = unit_attempt(u), *id = unit_id(u, 1);
    struct store_event with = {
        .wall_ms = 41, .next_try_ms = 600, .attempt = "none", .outcome = "refused"};
    struct raw_refusal *refusal;
    refused(u, store_job_event(u->s, id, JOB_REFUSE, &with, NULL, &u->e), -ENOENT,
            "attempt.not_found");
    assert_int_equal(unit_state(u, id), JOB_PREPARING);
    ok(u, store_attempt_end(u->s, attempt, "refused", 40, &u->e));
    with.attempt = attempt;
    refused(u, store_job_event(u->s, id, JOB_REFUSE, &with, NULL, &u->e), -EINVAL, "attempt.ended");
    assert_int_equal(unit_state(u, id), JOB_PREPARING);
    assert_int_equal(store_recent_refusal(u->s, id, &u->arena, &refusal, &u->e), STORE_NONE);
}

static void an_event_with_another_jobs_attempt_is_refused(void **ctx)
{
    struct unit *u = *ctx;
    const struct store_event with = {.wall_ms = 41, .next_try_ms = -1, .attempt = unit_attempt(u)};
    const char *other = unit_submit(u, 2, 0);
    refused(u, store_job_event(u->s, other, JOB_CANCEL, &with, NULL, &u->e), -ENOENT,
            "attempt.not_found");
    assert_int_equal(unit_state(u, other), JOB_QUEUED);
}

static void a_finished_job_names_its_report(void **ctx)
{
    struct unit *u = *ctx;
    const char *attempt = unit_attempt(u), *id = unit_id(u, 1);
    const struct store_report report = {.attempt = attempt,
                                        .grade = GRADE_CONTRACTUAL,
                                        .grade_line = "contractual, policy standard",
                                        .evidence = "evidence/1",
                                        .raw_sha256 = UNIT_SUITE,
                                        .summary_sha256 = UNIT_SUITE,
                                        .created_ms = 60};
    const struct store_event with = {
        .wall_ms = 61, .next_try_ms = -1, .attempt = attempt, .outcome = "done", .report = &report};
    struct store_job *job;
    struct store_attempt *row;
    struct store_report *read;
    unit_event(u, id, JOB_TIMING_BEGINS);
    unit_event(u, id, JOB_TIMING_ENDS);
    ok(u, store_job_event(u->s, id, JOB_FINISH, &with, NULL, &u->e));
    ok(u, store_job_get(u->s, id, &u->arena, &job, &u->e));
    assert_int_equal(job->state, JOB_DONE);
    assert_string_equal(job->report, attempt);
    ok(u, store_attempt_get(u->s, attempt, &u->arena, &row, &u->e));
    assert_string_equal(row->raw_sha256, UNIT_SUITE);
    ok(u, store_report_get(u->s, attempt, &u->arena, &read, &u->e));
    assert_int_equal(read->grade, GRADE_CONTRACTUAL);
    assert_string_equal(read->grade_line, report.grade_line);
    assert_string_equal(read->evidence, "evidence/1");
    assert_int_equal(read->created_ms, 60);
    assert_int_equal(store_report_get(u->s, "none", &u->arena, &read, &u->e), STORE_NONE);
}

static void the_history_tells_every_step_in_order(void **ctx)
{
    struct unit *u = *ctx;
    struct store_history *rows;
    size_t n;
    const char *attempt = unit_attempt(u), *id = unit_id(u, 1);
    unit_event(u, id, JOB_REFUSE);
    unit_claim(u, 901, 100);
    ok(u, store_job_history(u->s, id, 0, &u->arena, &rows, &n, &u->e));
    assert_int_equal(n, 5);
    const enum job_event events[] = {JOB_SUBMIT, JOB_CLAIM, JOB_REFUSE, JOB_RETRY_DUE, JOB_CLAIM};
    enum job_state at = JOB_NEW;
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(rows[i].seq, i + 1);
        assert_int_equal(rows[i].event, events[i]);
        assert_int_equal(rows[i].from, at);
        at = rows[i].to;
    }
    assert_int_equal(at, JOB_PREPARING);
    assert_string_equal(rows[1].attempt, attempt);
    ok(u, store_job_history(u->s, id, 3, &u->arena, &rows, &n, &u->e));
    assert_int_equal(n, 2);
    assert_int_equal(rows[0].seq, 4);
    refused(u, store_job_history(u->s, "none", 0, &u->arena, &rows, &n, &u->e), -ENOENT,
            "job.not_found");
}

#define T(name) cmocka_unit_test_setup_teardown(name, unit_setup, unit_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_submitted_job_reads_back_whole),
        T(the_same_id_and_document_twice_is_one_job),
        T(the_same_id_with_another_document_is_refused),
        T(bad_ids_and_unknown_suites_are_refused),
        T(a_job_submitted_on_hold_waits_for_its_release),
        T(every_event_in_every_state_does_what_the_table_says),
        T(submit_claim_edit_and_rerun_are_no_plain_events),
        T(an_event_on_no_job_is_refused),
        T(waiting_needs_the_time_of_the_next_try),
        T(a_failure_keeps_its_error_and_a_new_attempt_begins_without_it),
        T(a_refusal_ends_its_attempt_in_the_same_transaction),
        T(what_goes_with_an_event_undoes_it_when_it_fails),
        T(an_event_with_another_jobs_attempt_is_refused),
        T(a_finished_job_names_its_report),
        T(the_history_tells_every_step_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
