/* Attempts with their hosts, boots, reuse, refusals and suites. */
#include "tests/unit/store/random.h"

#include <errno.h>

#define HOST_TEXTS(X) X(host.name) X(host.model) X(host.cpu) X(host.os) X(host.kernel) X(host.arch)
#define RAW_TEXTS(X) X(clock) X(cpu_set) X(boot_id_after) X(cleanup) X(void_code) X(void_text)

static void fill_raw(struct unit *u, struct raw *x)
{
    HOST_TEXTS(FILL_TEXT_OR_NULL)
    RAW_TEXTS(FILL_TEXT_OR_NULL)
    x->host.id = "host-id";
    x->host.cores = (int)rnd(64);
    x->host.memory_bytes = rnd_int64();
    x->host.tick_ns = 10000000;
    x->boot = (struct boot_identity){"boot-x", rnd_int64()};
    x->suspend_before_ms = rnd_int64();
    x->suspend_after_ms = rnd_int64();
    x->fresh_worktrees = rnd(2) == 0;
}

static void an_attempt_reads_back_with_its_host_and_boot(void **ctx)
{
    struct unit *u = *ctx;
    struct raw in = {0}, out = {0};
    const struct raw *x = &in, *y = &out;
    const struct store_new_attempt attempt = {
        .id = unit_id(u, 900), .boot = "boot-x", .version = "0.1.0", .work_dir = "work/1"};
    char job[ULID_LEN + 1];
    fill_raw(u, &in);
    ok(u, store_boot_put(u->s, &in.host, &in.boot, 5, &u->e));
    unit_boot(u);
    struct store_new_job new = unit_new_job(u, 1);
    new.suite_sha256 = UNIT_SUITE;
    ok(u, store_job_submit(u->s, &new, NULL, &u->e));
    ok(u, store_job_claim(u->s, 10, &attempt, job, &u->e));
    ok(u, store_attempt_put(u->s, attempt.id, &in, &u->e));
    ok(u, store_attempt_end(u->s, attempt.id, "done", 20, &u->e));
    ok(u, store_load_raw(u->s, attempt.id, &u->arena, &out, &u->e));
    assert_string_equal(out.id, attempt.id);
    assert_string_equal(out.version, "0.1.0");
    assert_int_equal(out.started_wall_ms, 10);
    assert_int_equal(out.ended_wall_ms, 20);
    assert_string_equal(out.suite_sha256, UNIT_SUITE);
    HOST_TEXTS(SAME_TEXT)
    RAW_TEXTS(SAME_TEXT)
    SAME_TEXT(host.id)
    SAME_INT(host.cores)
    SAME_INT(host.memory_bytes)
    SAME_INT(host.tick_ns)
    SAME_TEXT(boot.id)
    SAME_INT(boot.boot_wall_ms)
    SAME_INT(suspend_before_ms)
    SAME_INT(suspend_after_ms)
    SAME_INT(fresh_worktrees)
}

static void an_attempt_keeps_the_identity_its_host_had(void **ctx)
{
    struct unit *u = *ctx;
    struct raw raw = {0};
    const struct boot_identity boot = {UNIT_BOOT, 2000};
    struct host_identity host = {.id = "host", .name = "renamed", .cores = 2};
    const char *first = unit_attempt(u);
    ok(u, store_boot_put(u->s, &host, &boot, 9, &u->e));
    ok(u, store_boot_put(u->s, &host, &boot, 9, &u->e));
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM hosts"), 2);
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM boots"), 1);
    unit_submit(u, 2, 0);
    unit_claim(u, 901, 10);
    ok(u, store_load_attempt(u->s, first, &u->arena, &raw, &u->e));
    assert_string_equal(raw.host.name, "bench");
    ok(u, store_load_attempt(u->s, unit_id(u, 901), &u->arena, &raw, &u->e));
    assert_string_equal(raw.host.name, "renamed");
    assert_int_equal(raw.boot.boot_wall_ms, 1000);
}

static void an_ended_attempt_no_longer_changes(void **ctx)
{
    struct unit *u = *ctx;
    struct raw raw = {0};
    const char *attempt = unit_attempt(u);
    ok(u, store_attempt_end(u->s, attempt, "done", 20, &u->e));
    refused(u, store_attempt_end(u->s, attempt, "lost", 21, &u->e), -EINVAL, "attempt.ended");
    refused(u, store_attempt_put(u->s, attempt, &raw, &u->e), -EINVAL, "attempt.ended");
    refused(u, store_attempt_reuse(u->s, attempt, "w", NULL, &u->e), -EINVAL, "attempt.ended");
    refused(u, store_attempt_end(u->s, "none", "lost", 21, &u->e), -ENOENT, "attempt.not_found");
    refused(u, store_load_raw(u->s, "none", &u->arena, &raw, &u->e), -ENOENT, "attempt.not_found");
}

static void a_retry_names_the_attempt_it_reuses(void **ctx)
{
    struct unit *u = *ctx;
    struct store_attempt *rows;
    size_t n;
    const char *first = unit_attempt(u), *job = unit_id(u, 1), *second = unit_id(u, 901);
    ok(u, store_attempt_reuse(u->s, first, "work/1", NULL, &u->e));
    unit_event(u, job, JOB_REFUSE);
    unit_claim(u, 901, 100);
    ok(u, store_attempt_reuse(u->s, second, "work/1", first, &u->e));
    refused(u, store_attempt_reuse(u->s, second, "work/1", "none", &u->e), -EINVAL,
            "store.constraint");
    ok(u, store_job_attempts(u->s, job, &u->arena, &rows, &n, &u->e));
    assert_int_equal(n, 2);
    assert_null(rows[0].reused_from);
    assert_string_equal(rows[1].reused_from, first);
    assert_string_equal(rows[1].work_dir, "work/1");
    assert_int_equal(rows[1].number, 2);
}

static void refusals_of_earlier_attempts_belong_to_the_report(void **ctx)
{
    struct unit *u = *ctx;
    struct raw raw = {0};
    struct raw_refusal *recent;
    const char *job = unit_id(u, 1), *attempts[3];
    attempts[0] = unit_attempt(u);
    for (int i = 0; i < 3; i++) {
        const struct raw_refusal refusal = {attempts[i], 10 + i, (enum phase)(i % 2), rnd_text(u)};
        const struct store_event with = {.wall_ms = 10 + i,
                                         .next_try_ms = 50,
                                         .attempt = attempts[i],
                                         .outcome = "refused",
                                         .refusal = &refusal};
        ok(u, store_job_event(u->s, job, JOB_REFUSE, &with, NULL, &u->e));
        if (i < 2) {
            unit_claim(u, 901 + i, 100);
            attempts[i + 1] = unit_id(u, 901 + i);
        }
    }
    ok(u, store_load_refusals(u->s, attempts[1], &u->arena, &raw, &u->e));
    assert_int_equal(raw.n_refusals, 2);
    assert_string_equal(raw.refusals[0].attempt, attempts[0]);
    assert_string_equal(raw.refusals[1].attempt, attempts[1]);
    assert_int_equal(raw.refusals[1].phase, PHASE_BEFORE_TIMING);
    ok(u, store_recent_refusal(u->s, job, &u->arena, &recent, &u->e));
    assert_string_equal(recent->attempt, attempts[2]);
}

static void a_suite_is_put_once(void **ctx)
{
    struct unit *u = *ctx;
    struct store_suite *suite;
    const struct store_suite again = {UNIT_SUITE, "other", "elsewhere", 9};
    assert_int_equal(store_suite_get(u->s, UNIT_SUITE, &u->arena, &suite, &u->e), STORE_NONE);
    unit_boot(u);
    ok(u, store_suite_put(u->s, &again, &u->e));
    ok(u, store_suite_get(u->s, UNIT_SUITE, &u->arena, &suite, &u->e));
    assert_string_equal(suite->name, "release-performance");
    assert_string_equal(suite->path, "suites/5f70");
    assert_int_equal(suite->added_ms, 1);
}

static void records_of_an_unknown_attempt_are_refused(void **ctx)
{
    struct unit *u = *ctx;
    const struct raw_source source = {.side = "before"};
    const struct raw_build build = {.side = "before"};
    const struct store_report report = {.attempt = "none",
                                        .grade = GRADE_VOID,
                                        .grade_line = "void",
                                        .evidence = "e",
                                        .raw_sha256 = "a",
                                        .created_ms = 1};
    struct phase_record phase = {0};
    refused(u, store_put_sources(u->s, "none", &source, 1, &u->e), -EINVAL, "store.constraint");
    refused(u, store_put_build(u->s, "none", &build, &u->e), -EINVAL, "store.constraint");
    refused(u, store_report_put(u->s, &report, &u->e), -EINVAL, "store.constraint");
    refused(u, store_put_phase(u->s, "none", PHASE_BEFORE_BUILD, &phase, &u->e), -EINVAL,
            "store.constraint");
}

#define T(name) cmocka_unit_test_setup_teardown(name, unit_setup, unit_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(an_attempt_reads_back_with_its_host_and_boot),
        T(an_attempt_keeps_the_identity_its_host_had),
        T(an_ended_attempt_no_longer_changes),
        T(a_retry_names_the_attempt_it_reuses),
        T(refusals_of_earlier_attempts_belong_to_the_report),
        T(a_suite_is_put_once),
        T(records_of_an_unknown_attempt_are_refused),
    };
    return cmocka_run_group_tests(tests, start_seed, NULL);
}
