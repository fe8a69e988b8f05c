/* Jobs that change after the submit: holds, edits before they run, further runs of ended ones. */
#include "tests/unit/store/unit_after.h"

static const int64_t uid = 1001;

static const struct store_event by_person = {
    .wall_ms = 500, .next_try_ms = -1, .peer_uid = &uid, .text = "changed"};

static struct store_edit edit_of(const struct store_job *row)
{
    return (struct store_edit){.document = row->document,
                               .label = row->label,
                               .priority = row->priority,
                               .deadline_ms = -1};
}

static const struct store_history *last_event(struct unit *u, const char *job)
{
    struct store_history *rows;
    size_t n;
    ok(u, store_job_history(u->s, job, -1, &u->arena, &rows, &n, &u->e));
    assert_int_equal(n, 1);
    return rows;
}

/* ---- holds ---- */

static void a_held_job_names_who_holds_it_until_it_is_released(void **ctx)
{
    struct unit *u = *ctx;
    unit_boot(u);
    const char *job = unit_submit(u, 1, 0);
    assert_int_equal(unit_job(u, job)->held_by, -1);
    ok(u, store_job_event(u->s, job, JOB_HOLD, &by_person, NULL, &u->e));
    assert_int_equal(unit_job(u, job)->held_by, 1001);
    assert_int_equal(last_event(u, job)->peer_uid, 1001);
    assert_false(unit_claims(u, 901, NULL));
    ok(u, store_job_event(u->s, job, JOB_RELEASE, &by_person, NULL, &u->e));
    assert_int_equal(unit_job(u, job)->held_by, -1);
    assert_true(unit_claims(u, 902, job));
    refused(u, store_job_event(u->s, job, JOB_HOLD, &by_person, NULL, &u->e), -EINVAL,
            "job.bad_state");
    assert_int_equal(last_event(u, job)->peer_uid, -1); /* the daemon itself */
}

static void a_job_born_held_is_held_by_who_submitted_it(void **ctx)
{
    struct unit *u = *ctx;
    struct store_new_job new = unit_new_job(u, 1);
    new.held = true;
    ok(u, store_job_submit(u->s, &new, NULL, &u->e));
    assert_int_equal(unit_job(u, new.id)->held_by, 1000);
    assert_int_equal(last_event(u, new.id)->peer_uid, 1000);
}

/* ---- edits ---- */

static void an_edit_changes_the_document_and_says_who_did(void **ctx)
{
    struct unit *u = *ctx;
    unit_boot(u);
    const char *job = unit_submit(u, 1, 0), *other = unit_submit(u, 2, 0);
    const struct job_after after = {other, NEED_ANY};
    const struct store_edit edit = {.document = "{\"n\":99}",
                                    .label = "new",
                                    .priority = 5,
                                    .timed = true,
                                    .deadline_ms = 9000,
                                    .after = &after,
                                    .n_after = 1};
    struct job_step step;
    ok(u, store_job_edit(u->s, job, &edit, &by_person, &step, &u->e));
    assert_int_equal(step.to, JOB_QUEUED);
    const struct store_job *row = unit_job(u, job);
    assert_string_equal(row->document, "{\"n\":99}");
    assert_string_equal(row->label, "new");
    assert_int_equal(row->priority, 5);
    assert_int_equal(row->blocked, 1);
    assert_int_equal(row->changed_ms, 1); /* its state has not changed */
    assert_int_equal(unit_raw_number(u, "SELECT deadline_ms FROM jobs WHERE number = 1"), 9000);
    assert_int_equal(unit_raw_number(u, "SELECT timed FROM jobs WHERE number = 1"), 1);
    const struct store_history *h = last_event(u, job);
    assert_int_equal(h->event, JOB_EDIT);
    assert_int_equal(h->peer_uid, 1001);
    assert_string_equal(h->text, "changed");
    assert_int_equal(h->wall_ms, 500);
}

static void a_submit_sent_again_after_an_edit_is_still_the_same_job(void **ctx)
{
    struct unit *u = *ctx;
    bool duplicate = false;
    const struct store_new_job new = unit_new_job(u, 1);
    ok(u, store_job_submit(u->s, &new, NULL, &u->e));
    for (int i = 0; i < 3; i++) {
        struct store_edit edit = edit_of(unit_job(u, new.id));
        edit.document = arena_printf(&u->arena, "{\"edited\":%d}", i);
        ok(u, store_job_edit(u->s, new.id, &edit, &by_person, NULL, &u->e));
    }
    ok(u, store_job_submit(u->s, &new, &duplicate, &u->e));
    assert_true(duplicate);
    assert_string_equal(unit_job(u, new.id)->document, "{\"edited\":2}");
    struct store_new_job other = new;
    other.document = "{\"edited\":2}"; /* nobody submitted that */
    refused(u, store_job_submit(u->s, &other, NULL, &u->e), -EEXIST, "job.exists_differs");
}

static void only_a_job_that_has_not_begun_is_edited(void **ctx)
{
    struct unit *u = *ctx;
    const char *attempt = unit_attempt(u), *job = unit_id(u, 1);
    struct store_edit edit = edit_of(unit_job(u, job));
    edit.document = "{}";
    (void)attempt;
    refused(u, store_job_edit(u->s, job, &edit, &by_person, NULL, &u->e), -EINVAL, "job.bad_state");
    unit_event(u, job, JOB_REFUSE);
    ok(u, store_job_edit(u->s, job, &edit, &by_person, NULL, &u->e));
    unit_event(u, job, JOB_HOLD);
    ok(u, store_job_edit(u->s, job, &edit, &by_person, NULL, &u->e));
    assert_int_equal(unit_state(u, job), JOB_HELD);
    unit_event(u, job, JOB_CANCEL);
    refused(u, store_job_edit(u->s, job, &edit, &by_person, NULL, &u->e), -EINVAL, "job.bad_state");
    refused(u, store_job_edit(u->s, "none", &edit, &by_person, NULL, &u->e), -ENOENT,
            "job.not_found");
}

static void a_waiting_job_is_due_at_once_when_its_times_have_changed(void **ctx)
{
    struct unit *u = *ctx;
    struct store_event refuse = {.wall_ms = 50, .next_try_ms = 10000, .waits_for = "its window"};
    const char *job = unit_id(u, 1);
    (void)unit_attempt(u);
    ok(u, store_job_event(u->s, job, JOB_REFUSE, &refuse, NULL, &u->e));
    struct store_edit edit = edit_of(unit_job(u, job));
    edit.label = "x";
    ok(u, store_job_edit(u->s, job, &edit, &by_person, NULL, &u->e));
    assert_int_equal(unit_job(u, job)->next_try_ms, 10000);
    assert_string_equal(unit_job(u, job)->waits_for, "its window");
    edit.ask_again = true;
    ok(u, store_job_edit(u->s, job, &edit, &by_person, NULL, &u->e));
    assert_int_equal(unit_state(u, job), JOB_WAITING);
    assert_int_equal(unit_job(u, job)->next_try_ms, 500);
    assert_null(unit_job(u, job)->waits_for);
    assert_int_equal(unit_job(u, job)->refusals, 1);
}

static void a_list_of_jobs_is_replaced_as_a_whole(void **ctx)
{
    struct unit *u = *ctx;
    struct store_after *rows;
    size_t n;
    unit_boot(u);
    const char *a = unit_submit(u, 1, 0), *b = unit_submit(u, 2, 0), *c = unit_submit(u, 3, 0);
    const struct job_after both[] = {{a, NEED_OK}, {b, NEED_OK}}, other[] = {{c, NEED_ANY}};
    const char *job = unit_submit_after(u, 4, both, 2);
    struct store_edit edit = edit_of(unit_job(u, job));
    edit.after = other;
    edit.n_after = 1;
    ok(u, store_job_edit(u->s, job, &edit, &by_person, NULL, &u->e));
    ok(u, store_job_after(u->s, job, &u->arena, &rows, &n, &u->e));
    assert_int_equal(n, 1);
    assert_string_equal(rows[0].job, c);
    assert_int_equal(unit_job(u, job)->blocked, 1);
    edit.n_after = 0;
    ok(u, store_job_edit(u->s, job, &edit, &by_person, NULL, &u->e));
    assert_int_equal(unit_job(u, job)->blocked, 0);
    unit_event(u, a, JOB_CANCEL);
    assert_int_equal(unit_settle(u), 0);
    assert_int_equal(unit_state(u, job), JOB_QUEUED);
}

static void a_list_that_stays_is_not_asked_again(void **ctx)
{
    struct unit *u = *ctx;
    unit_boot(u);
    const char *a = unit_submit(u, 1, 0);
    const struct job_after after = {a, NEED_OK};
    const char *job = unit_submit_after(u, 2, &after, 1);
    unit_run(u, 901, a, JOB_FINISH);
    assert_int_equal(unit_settle(u), 0);
    ok(u, store_job_rerun(u->s, a, NULL, false, &by_person, NULL, &u->e));
    struct store_edit edit = edit_of(unit_job(u, job));
    edit.after = &after;
    edit.n_after = 1;
    edit.label = "x";
    ok(u, store_job_edit(u->s, job, &edit, &by_person, NULL, &u->e));
    assert_int_equal(unit_job(u, job)->blocked, 0); /* it was told that a ended well */
}

static int edit_after(struct unit *u, const char *job, const char *other)
{
    const struct job_after after = {other, NEED_OK};
    struct store_edit edit = edit_of(unit_job(u, job));
    edit.after = &after;
    edit.n_after = 1;
    err_clear(&u->e);
    return store_job_edit(u->s, job, &edit, &by_person, NULL, &u->e);
}

static void circles_are_refused_and_change_nothing(void **ctx)
{
    struct unit *u = *ctx;
    unit_boot(u);
    const char *a = unit_submit(u, 1, 0);
    const char *b = unit_after_one(u, 2, a, NEED_OK), *c = unit_after_one(u, 3, b, NEED_ANY);
    refused(u, edit_after(u, a, c), -EINVAL, "job.after_circle");
    refused(u, edit_after(u, a, b), -EINVAL, "job.after_circle");
    refused(u, edit_after(u, a, a), -EINVAL, "job.after_circle");
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM job_after"), 2);
    assert_int_equal(unit_job(u, a)->blocked, 0);
    assert_int_equal(last_event(u, a)->event, JOB_SUBMIT);
    ok(u, edit_after(u, c, a)); /* another way to the same is none */
    refused(u, edit_after(u, a, c), -EINVAL, "job.after_circle");
    ok(u, edit_after(u, b, c)); /* b no longer comes after a, so it may come after c */
}

static void a_circle_by_way_of_an_ended_job_is_refused_too(void **ctx)
{
    struct unit *u = *ctx;
    unit_boot(u);
    const char *a = unit_submit(u, 1, 0), *b = unit_after_one(u, 2, a, NEED_ANY);
    unit_event(u, b, JOB_CANCEL);
    refused(u, edit_after(u, a, b), -EINVAL, "job.after_failed");
    const struct job_after any = {b, NEED_ANY};
    struct store_edit edit = edit_of(unit_job(u, a));
    edit.after = &any;
    edit.n_after = 1;
    refused(u, store_job_edit(u->s, a, &edit, &by_person, NULL, &u->e), -EINVAL,
            "job.after_circle");
}

static void a_chain_too_long_to_look_through_is_refused(void **ctx)
{
    struct unit *u = *ctx;
    unit_boot(u);
    unit_raw_exec(u, "BEGIN; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
                     " WHERE i < 10003) INSERT INTO jobs (id, id_reversed, state, priority,"
                     " document, policy, submitted_ms, changed_ms)"
                     " SELECT printf('01HY%022d', i), '', 'queued', 0, '{}', '{}', 1, 1 FROM n;"
                     "INSERT INTO job_after SELECT id, 0, printf('01HY%022d', number - 1), 'ok', 1"
                     " FROM jobs WHERE number > 1; COMMIT");
    const char *job = unit_submit(u, 1, 0);
    refused(u, edit_after(u, job, "01HY0000000000000000010003"), -EINVAL, "job.after_circle");
    assert_non_null(strstr(u->e.text, "10000"));
    ok(u, edit_after(u, job, "01HY0000000000000000009999"));
}

/* ---- further runs ---- */

static void finish_with_report(struct unit *u, const char *job, int number)
{
    const char *attempt = unit_id(u, number);
    const struct store_report report = {
        attempt, GRADE_DIAGNOSTIC, "diagnostic", "evidence", "ab", NULL, 60, NULL, NULL};
    const struct store_event with = {
        .wall_ms = 61, .next_try_ms = -1, .attempt = attempt, .outcome = "done", .report = &report};
    assert_true(unit_claims(u, number, job));
    unit_event(u, job, JOB_TIMING_BEGINS);
    unit_event(u, job, JOB_TIMING_ENDS);
    ok(u, store_job_event(u->s, job, JOB_FINISH, &with, NULL, &u->e));
}

static void a_rerun_is_a_new_attempt_and_the_old_ones_stay(void **ctx)
{
    struct unit *u = *ctx;
    struct store_attempt *attempts;
    struct store_report *report;
    struct job_step step;
    size_t n;
    unit_boot(u);
    const char *job = unit_submit(u, 1, 0);
    finish_with_report(u, job, 901);
    assert_string_equal(unit_job(u, job)->report, unit_id(u, 901));
    ok(u, store_job_rerun(u->s, job, NULL, false, &by_person, &step, &u->e));
    assert_int_equal(step.from, JOB_DONE);
    assert_int_equal(step.to, JOB_QUEUED);
    const struct store_job *row = unit_job(u, job);
    assert_int_equal(row->state, JOB_QUEUED);
    assert_null(row->report);
    assert_int_equal(row->run_from, 2);
    assert_int_equal(last_event(u, job)->event, JOB_RERUN);
    assert_int_equal(last_event(u, job)->peer_uid, 1001);
    ok(u, store_report_get(u->s, unit_id(u, 901), &u->arena, &report, &u->e));
    finish_with_report(u, job, 902);
    assert_string_equal(unit_job(u, job)->report, unit_id(u, 902));
    ok(u, store_job_attempts(u->s, job, &u->arena, &attempts, &n, &u->e));
    assert_int_equal(n, 2);
    assert_non_null(attempts[0].raw_sha256);
    assert_non_null(attempts[1].raw_sha256);
}

static void a_run_begins_without_the_refusals_and_errors_of_the_one_before(void **ctx)
{
    struct unit *u = *ctx;
    int count;
    struct err why = {"host.not_qualified", "before_build", "The host did not qualify."};
    struct store_event with = {.wall_ms = 50,
                               .next_try_ms = 100,
                               .attempt = unit_id(u, 901),
                               .outcome = "refused",
                               .night = "2026-01-01"};
    unit_boot(u);
    const char *job = unit_submit(u, 1, 0);
    assert_true(unit_claims(u, 901, job));
    ok(u, store_job_event(u->s, job, JOB_REFUSE, &with, NULL, &u->e));
    assert_true(unit_claims(u, 902, job));
    with.attempt = unit_id(u, 902);
    with.error = &why;
    ok(u, store_job_event(u->s, job, JOB_UNQUALIFY, &with, NULL, &u->e));
    ok(u, store_job_outcomes(u->s, job, "refused", &count, &u->e));
    assert_int_equal(count, 2);
    ok(u, store_job_rerun(u->s, job, NULL, false, &by_person, NULL, &u->e));
    const struct store_job *row = unit_job(u, job);
    assert_int_equal(row->refusals, 0);
    assert_null(row->error_code);
    assert_null(row->night);
    assert_int_equal(row->run_from, 3);
    ok(u, store_job_outcomes(u->s, job, "refused", &count, &u->e));
    assert_int_equal(count, 0);
}

static void a_rerun_may_be_held_and_edited(void **ctx)
{
    struct unit *u = *ctx;
    struct job_step step;
    unit_boot(u);
    const char *job = unit_submit(u, 1, 0);
    unit_event(u, job, JOB_EXPIRE);
    struct store_edit edit = edit_of(unit_job(u, job));
    edit.document = "{\"deadline\":\"later\"}";
    edit.deadline_ms = 90000;
    ok(u, store_job_rerun(u->s, job, &edit, true, &by_person, &step, &u->e));
    assert_int_equal(step.to, JOB_HELD);
    const struct store_job *row = unit_job(u, job);
    assert_int_equal(row->state, JOB_HELD);
    assert_int_equal(row->held_by, 1001);
    assert_string_equal(row->document, edit.document);
    assert_int_equal(last_event(u, job)->event, JOB_HOLD);
}

static void a_rerun_asks_anew_what_it_comes_after(void **ctx)
{
    struct unit *u = *ctx;
    unit_boot(u);
    const char *a = unit_submit(u, 1, 0), *b = unit_after_one(u, 2, a, NEED_OK);
    unit_run(u, 901, a, JOB_FAIL);
    assert_int_equal(unit_settle(u), 1);
    refused(u, store_job_rerun(u->s, b, NULL, false, &by_person, NULL, &u->e), -EINVAL,
            "job.after_failed");
    assert_int_equal(unit_state(u, b), JOB_CANCELLED);
    ok(u, store_job_rerun(u->s, a, NULL, false, &by_person, NULL, &u->e));
    ok(u, store_job_rerun(u->s, b, NULL, false, &by_person, NULL, &u->e));
    assert_int_equal(unit_job(u, b)->blocked, 1);
    unit_run(u, 902, a, JOB_FINISH);
    assert_int_equal(unit_settle(u), 0);
    unit_run(u, 903, b, JOB_FINISH);
}

static void a_rerun_without_its_failed_predecessor_goes_through(void **ctx)
{
    struct unit *u = *ctx;
    unit_boot(u);
    const char *a = unit_submit(u, 1, 0), *b = unit_after_one(u, 2, a, NEED_OK);
    unit_event(u, a, JOB_CANCEL);
    assert_int_equal(unit_settle(u), 1);
    const struct store_edit edit = edit_of(unit_job(u, b));
    ok(u, store_job_rerun(u->s, b, &edit, false, &by_person, NULL, &u->e));
    assert_true(unit_claims(u, 901, b));
}

static void jobs_that_were_told_of_an_end_are_not_asked_again(void **ctx)
{
    struct unit *u = *ctx;
    unit_boot(u);
    const char *a = unit_submit(u, 1, 0);
    const char *told = unit_after_one(u, 2, a, NEED_OK);
    unit_run(u, 901, a, JOB_FINISH);
    assert_int_equal(unit_settle(u), 0);
    ok(u, store_job_rerun(u->s, a, NULL, false, &by_person, NULL, &u->e));
    assert_int_equal(unit_job(u, told)->blocked, 0);
    const char *untold = unit_after_one(u, 3, a, NEED_OK);
    assert_int_equal(unit_job(u, untold)->blocked, 1);
}

static void a_job_whose_attempt_still_stops_is_not_rerun(void **ctx)
{
    struct unit *u = *ctx;
    const char *attempt = unit_attempt(u), *job = unit_id(u, 1);
    refused(u, store_job_rerun(u->s, job, NULL, false, &by_person, NULL, &u->e), -EINVAL,
            "job.bad_state");
    unit_event(u, job, JOB_CANCEL);
    refused(u, store_job_rerun(u->s, job, NULL, false, &by_person, NULL, &u->e), -EINVAL,
            "job.bad_state");
    assert_int_equal(unit_state(u, job), JOB_CANCELLED);
    ok(u, store_attempt_end(u->s, attempt, "cancelled", 60, &u->e));
    ok(u, store_job_rerun(u->s, job, NULL, false, &by_person, NULL, &u->e));
}

static void a_job_of_a_closed_session_is_not_rerun(void **ctx)
{
    struct unit *u = *ctx;
    unit_boot(u);
    const struct store_session session = {.id = unit_id(u, 100),
                                          .label = "night",
                                          .document = "{}",
                                          .peer_uid = 1000,
                                          .opened_ms = 1,
                                          .opened_boot = UNIT_BOOT};
    struct store_new_job new = unit_new_job(u, 1);
    new.session = session.id;
    ok(u, store_session_open(u->s, &session, &new, 1, NULL, &u->e));
    unit_run(u, 901, new.id, JOB_FAIL);
    ok(u, store_job_rerun(u->s, new.id, NULL, false, &by_person, NULL, &u->e));
    unit_run(u, 902, new.id, JOB_FAIL);
    ok(u,
       store_session_close(u->s, session.id, &(struct store_event){.wall_ms = 70}, NULL, 0, &u->e));
    refused(u, store_job_rerun(u->s, new.id, NULL, false, &by_person, NULL, &u->e), -EINVAL,
            "session.closed");
    assert_int_equal(unit_state(u, new.id), JOB_FAILED);
}

static void the_list_of_blocked_jobs_has_only_those(void **ctx)
{
    struct unit *u = *ctx;
    struct store_job *jobs;
    struct store_list list = {.limit = 10, .blocked = true};
    size_t n;
    unit_boot(u);
    const char *a = unit_submit(u, 1, 0), *b = unit_after_one(u, 2, a, NEED_OK);
    const char *c = unit_after_one(u, 3, a, NEED_ANY);
    unit_event(u, b, JOB_HOLD);
    ok(u, store_job_list(u->s, &list, &u->arena, &jobs, &n, &u->e));
    assert_int_equal(n, 2);
    assert_string_equal(jobs[0].id, c);
    assert_int_equal(jobs[0].blocked, 1);
    list.states = STORE_STATE(JOB_HELD);
    ok(u, store_job_list(u->s, &list, &u->arena, &jobs, &n, &u->e));
    assert_int_equal(n, 1);
    assert_string_equal(jobs[0].id, b);
}

#define T(name) cmocka_unit_test_setup_teardown(name, unit_setup, unit_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_held_job_names_who_holds_it_until_it_is_released),
        T(a_job_born_held_is_held_by_who_submitted_it),
        T(an_edit_changes_the_document_and_says_who_did),
        T(a_submit_sent_again_after_an_edit_is_still_the_same_job),
        T(only_a_job_that_has_not_begun_is_edited),
        T(a_waiting_job_is_due_at_once_when_its_times_have_changed),
        T(a_list_of_jobs_is_replaced_as_a_whole),
        T(a_list_that_stays_is_not_asked_again),
        T(circles_are_refused_and_change_nothing),
        T(a_circle_by_way_of_an_ended_job_is_refused_too),
        T(a_chain_too_long_to_look_through_is_refused),
        T(a_rerun_is_a_new_attempt_and_the_old_ones_stay),
        T(a_run_begins_without_the_refusals_and_errors_of_the_one_before),
        T(a_rerun_may_be_held_and_edited),
        T(a_rerun_asks_anew_what_it_comes_after),
        T(a_rerun_without_its_failed_predecessor_goes_through),
        T(jobs_that_were_told_of_an_end_are_not_asked_again),
        T(a_job_whose_attempt_still_stops_is_not_rerun),
        T(a_job_of_a_closed_session_is_not_rerun),
        T(the_list_of_blocked_jobs_has_only_those),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
