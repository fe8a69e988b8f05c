/* Programs that are told of ends: owed with the end, told once and again, never forgotten; and the
 * drained queue. */
#include "tests/unit/store/unit.h"

#include <errno.h>

#include "store/hooks.h"

static const char *const tell_argv[] = {"/bin/tell", "all"};
static const struct notify host_job = {.command = {(const char **)(uintptr_t)tell_argv, 2},
                                       .timeout_ms = 5000};
static const struct notify host_empty = {.command = {(const char **)(uintptr_t)tell_argv, 1},
                                         .timeout_ms = 6000};
static const struct store_host_hooks both = {"bench", &host_job, &host_empty};

/* A job whose document wants these told. */
static const char *submit_telling(struct unit *u, int number, const char *notify)
{
    struct store_new_job job = unit_new_job(u, number);
    job.document = arena_printf(
        &u->arena,
        "{\"schema\":\"aurabench.job.v1\",\"id\":\"%s\",\"suite\":{\"name\":\"s\",\"sha256\":"
        "\"%s\"},\"notify\":[%s]}",
        job.id, UNIT_SUITE, notify);
    job.label = "a \"label\"";
    ok(u, store_job_submit(u->s, &job, NULL, &u->e));
    return job.id;
}

static struct store_hook *hooks_of(struct unit *u, const char *job, size_t *n)
{
    struct store_hook *hooks;
    ok(u, store_job_hooks(u->s, job, 100, &u->arena, &hooks, n, &u->e));
    return hooks;
}

static size_t count_of(struct unit *u, const char *job)
{
    size_t n;
    (void)hooks_of(u, job, &n);
    return n;
}

static struct store_hook *due(struct unit *u, int64_t now_ms)
{
    struct store_hook *hook = NULL;
    int rc = store_hook_due(u->s, now_ms, &u->arena, &hook, &u->e);
    assert_true(rc == 0 || rc == STORE_NONE);
    return rc == 0 ? hook : NULL;
}

/* ---- what is owed ---- */

static void a_job_that_wants_nobody_told_owes_nothing(void **ctx)
{
    struct unit *u = *ctx;
    const char *job = unit_submit(u, 1, 0);
    unit_event(u, job, JOB_CANCEL);
    assert_int_equal(count_of(u, job), 0);
    assert_null(due(u, INT64_MAX));
}

static void an_end_owes_the_jobs_own_programs_that_want_it(void **ctx)
{
    struct unit *u = *ctx;
    size_t n;
    const char *job = submit_telling(u, 1,
                                     "{\"command\":[\"a\",\"b c\"],\"timeout\":\"1m\"},"
                                     "{\"command\":[\"d\"],\"on\":[\"done\"]},"
                                     "{\"command\":[\"e\"],\"on\":[\"lost\",\"cancelled\"]}");
    unit_event(u, job, JOB_HOLD);
    assert_int_equal(count_of(u, job), 0);
    unit_event(u, job, JOB_CANCEL);
    struct store_hook *hooks = hooks_of(u, job, &n);
    assert_int_equal(n, 2);
    assert_string_equal(hooks[0].argv, "[\"e\"]");
    assert_string_equal(hooks[1].argv, "[\"a\",\"b c\"]");
    assert_int_equal(hooks[1].timeout_ms, 60000);
    assert_string_equal(hooks[1].owner, "job");
    assert_string_equal(hooks[1].state, "owed");
    assert_int_equal(hooks[1].next_ms, 50);
    assert_true(ulid_valid(hooks[0].id) && strcmp(hooks[0].id, hooks[1].id) != 0);
    const struct store_hook *first = due(u, 50);
    assert_int_equal(first->number, hooks[1].number);
    assert_non_null(strstr(first->document, first->id));
    assert_non_null(strstr(first->document, "\"event\":\"job_ended\""));
    assert_non_null(strstr(first->document, "\"state\":\"cancelled\""));
    assert_non_null(strstr(first->document, "\"label\":\"a \\\"label\\\"\""));
    assert_null(due(u, 49));
}

static void the_host_is_told_of_every_end_and_of_an_empty_queue(void **ctx)
{
    struct unit *u = *ctx;
    size_t n;
    store_set_host_hooks(u->s, &both);
    const char *one = unit_submit(u, 1, 0), *two = unit_submit(u, 2, 0),
               *held = unit_submit(u, 3, 0);
    unit_event(u, one, JOB_CANCEL);
    assert_int_equal(count_of(u, one), 1);
    unit_event(u, held, JOB_HOLD); /* a held job waits for a person */
    unit_event(u, two, JOB_CANCEL);
    struct store_hook *hooks = hooks_of(u, two, &n);
    assert_int_equal(n, 2);
    assert_int_equal(hooks[0].event, NOTIFY_QUEUE_EMPTY);
    assert_int_equal(hooks[0].timeout_ms, 6000);
    assert_int_equal(hooks[1].event, NOTIFY_JOB_ENDED);
    assert_string_equal(hooks[1].owner, "host");
    assert_string_equal(hooks[1].argv, "[\"/bin/tell\",\"all\"]");
}

static void a_queue_with_a_job_that_waits_or_runs_is_not_empty(void **ctx)
{
    struct unit *u = *ctx;
    unit_boot(u);
    store_set_host_hooks(u->s, &both);
    const char *waits = unit_submit(u, 1, 0);
    unit_claim(u, 901, 10);
    unit_event(u, waits, JOB_REFUSE);
    const char *one = unit_submit(u, 2, 0);
    unit_event(u, one, JOB_CANCEL);
    assert_int_equal(count_of(u, one), 1);
    const char *runs = unit_submit(u, 3, 0);
    unit_event(u, waits, JOB_CANCEL);
    unit_claim(u, 902, 11);
    const char *two = unit_submit(u, 4, 0);
    unit_event(u, two, JOB_CANCEL);
    assert_int_equal(count_of(u, two), 1);
    unit_event(u, runs, JOB_FAIL);
    assert_int_equal(count_of(u, runs), 2);
}

static void the_report_that_ends_the_job_is_told(void **ctx)
{
    struct unit *u = *ctx;
    unit_boot(u);
    const char *job = submit_telling(u, 1, "{\"command\":[\"a\"]}");
    unit_claim(u, 900, 10);
    unit_event(u, job, JOB_TIMING_BEGINS);
    unit_event(u, job, JOB_TIMING_ENDS);
    const struct store_report report = {.attempt = unit_id(u, 900),
                                        .grade = GRADE_DIAGNOSTIC,
                                        .grade_line = "diagnostic, why",
                                        .evidence = "/e",
                                        .raw_sha256 = UNIT_SUITE,
                                        .created_ms = 1};
    const struct store_event with = {.wall_ms = 60,
                                     .next_try_ms = -1,
                                     .attempt = unit_id(u, 900),
                                     .outcome = "done",
                                     .report = &report};
    ok(u, store_job_event(u->s, job, JOB_FINISH, &with, NULL, &u->e));
    const struct store_hook *hook = due(u, 60);
    assert_non_null(
        strstr(hook->document, "\"grade\":\"diagnostic\",\"line\":\"diagnostic, why\""));
    assert_non_null(strstr(hook->document, "\"attempts\":1"));
    assert_non_null(strstr(hook->document, "\"at_ms\":60"));
}

static void an_end_that_was_none_is_taken_back(void **ctx)
{
    struct unit *u = *ctx;
    unit_boot(u);
    store_set_host_hooks(u->s, &both);
    const char *job = submit_telling(u, 1, "{\"command\":[\"a\"]}");
    unit_claim(u, 900, 10);
    unit_event(u, job, JOB_LOSE);
    assert_int_equal(count_of(u, job), 3);
    unit_event(u, job, JOB_REQUEUE);
    assert_int_equal(count_of(u, job), 0);
    unit_event(u, job, JOB_CANCEL);
    assert_int_equal(count_of(u, job), 3);
}

static void an_end_that_cannot_be_stored_owes_nothing(void **ctx)
{
    struct unit *u = *ctx;
    const struct raw_refusal nobody = {.attempt = "unknown", .wall_ms = 1, .reason = "r"};
    struct store_event with = {.wall_ms = 50, .next_try_ms = -1, .refusal = &nobody};
    const char *job = submit_telling(u, 1, "{\"command\":[\"a\"]}");
    refused(u, store_job_event(u->s, job, JOB_CANCEL, &with, NULL, &u->e), -EINVAL,
            "store.constraint");
    assert_int_equal(unit_state(u, job), JOB_QUEUED);
    assert_int_equal(count_of(u, job), 0);
}

/* ---- tries ---- */

static const char *owing(struct unit *u)
{
    const char *job = submit_telling(u, 1, "{\"command\":[\"a\"]}");
    unit_event(u, job, JOB_CANCEL);
    return job;
}

static void begin(struct unit *u, int64_t now_ms, int64_t next_ms, int want)
{
    int seq = 0;
    ok(u, store_hook_begin(u->s, due(u, now_ms)->number, now_ms, next_ms, &seq, &u->e));
    assert_int_equal(seq, want);
}

static void a_try_is_counted_when_it_begins_and_told_with_its_end(void **ctx)
{
    struct unit *u = *ctx;
    struct store_hook_try *last;
    int64_t count, next_ms;
    size_t n;
    const char *job = owing(u);
    int64_t hook = hooks_of(u, job, &n)->number;
    assert_int_equal(store_hook_last_try(u->s, hook, &u->arena, &last, &u->e), STORE_NONE);
    begin(u, 50, 1000, 1);
    assert_null(due(u, 999));
    const struct store_hook_try failed = {.seq = 1,
                                          .ended_ms = 70,
                                          .outcome = "exec.exit_status",
                                          .exit_status = 3,
                                          .exit_signal = -1,
                                          .output = "no"};
    ok(u, store_hook_end(u->s, hook, &failed, "owed", 500, &u->e));
    ok(u, store_hooks_owed(u->s, &count, &next_ms, &u->e));
    assert_true(count == 1 && next_ms == 500);
    begin(u, 500, 2000, 2);
    const struct store_hook_try good = {.seq = 2, .ended_ms = 520, .outcome = "ok"};
    ok(u, store_hook_end(u->s, hook, &good, "delivered", -1, &u->e));
    assert_null(due(u, INT64_MAX));
    ok(u, store_hook_last_try(u->s, hook, &u->arena, &last, &u->e));
    assert_int_equal(last->seq, 2);
    assert_int_equal(last->exit_status, 0);
    assert_int_equal(hooks_of(u, job, &n)->tries, 2);
    refused(u, store_hook_end(u->s, hook, &good, "delivered", -1, &u->e), -EINVAL,
            "store.constraint");
    int seq;
    refused(u, store_hook_begin(u->s, hook, 1, 2, &seq, &u->e), -EINVAL, "store.constraint");
}

static void a_try_that_the_daemon_did_not_survive_is_made_again(void **ctx)
{
    struct unit *u = *ctx;
    struct store_hook_try *last;
    size_t n;
    const char *job = owing(u);
    for (int i = 1; i <= 2 * STORE_HOOK_TRIES; i++) {
        begin(u, 100 * i, 1000000, i);
        unit_reopen(u);
        ok(u, store_hooks_recover(u->s, 100 * i + 50, &u->e));
        ok(u, store_hook_last_try(u->s, hooks_of(u, job, &n)->number, &u->arena, &last, &u->e));
        assert_string_equal(last->outcome, "interrupted");
        if (i < 2 * STORE_HOOK_TRIES)
            assert_int_equal(hooks_of(u, job, &n)->next_ms, 100 * i + 50);
    }
    /* but not for ever */
    assert_string_equal(hooks_of(u, job, &n)->state, "given_up");
    assert_null(due(u, INT64_MAX));
}

static void what_was_told_is_not_taken_back(void **ctx)
{
    struct unit *u = *ctx;
    unit_boot(u);
    const char *job = submit_telling(u, 1, "{\"command\":[\"a\"]}");
    unit_claim(u, 900, 10);
    unit_event(u, job, JOB_LOSE);
    begin(u, 50, 1000, 1);
    unit_event(u, job, JOB_REQUEUE);
    assert_int_equal(count_of(u, job), 1);
}

/* ---- drain ---- */

static void a_drained_queue_stays_so_until_it_is_ended(void **ctx)
{
    struct unit *u = *ctx;
    int64_t since_ms, uid;
    ok(u, store_drained(u->s, &since_ms, &uid, &u->e));
    assert_int_equal(since_ms, -1);
    ok(u, store_drain(u->s, 1000, 42, &u->e));
    ok(u, store_drain(u->s, 2000, 43, &u->e));
    unit_reopen(u);
    ok(u, store_drained(u->s, &since_ms, &uid, &u->e));
    assert_true(since_ms == 1000 && uid == 42);
    ok(u, store_drain_end(u->s, &u->e));
    ok(u, store_drain_end(u->s, &u->e));
    ok(u, store_drained(u->s, &since_ms, &uid, &u->e));
    assert_int_equal(since_ms, -1);
}

#define T(test) cmocka_unit_test_setup_teardown(test, unit_setup, unit_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_job_that_wants_nobody_told_owes_nothing),
        T(an_end_owes_the_jobs_own_programs_that_want_it),
        T(the_host_is_told_of_every_end_and_of_an_empty_queue),
        T(a_queue_with_a_job_that_waits_or_runs_is_not_empty),
        T(the_report_that_ends_the_job_is_told),
        T(an_end_that_was_none_is_taken_back),
        T(an_end_that_cannot_be_stored_owes_nothing),
        T(a_try_is_counted_when_it_begins_and_told_with_its_end),
        T(a_try_that_the_daemon_did_not_survive_is_made_again),
        T(what_was_told_is_not_taken_back),
        T(a_drained_queue_stays_so_until_it_is_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
