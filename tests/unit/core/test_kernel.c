/* Receipts of kernels: statistics, what a driver may not say, what is not compared. */
#include "unit.h"

#include "core/kernel/kernel_run.h"

#define A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static void statistics_are_r7_and_of_the_population(void **state)
{
    struct arena a = {0};
    struct kernel_stats s;
    int64_t ns[] = {4000000, 1000000, 3000000, 2000000};
    kernel_stats_of(&a, ns, 4, &s);
    assert_int_equal(s.iterations, 4);
    assert_same(s.min_ms, 1);
    assert_same(s.max_ms, 4);
    assert_same(s.mean_ms, 2.5);
    assert_same(s.p50_ms, 2.5);
    assert_true(fabs(s.p95_ms - 3.85) < 1e-12);                  /* 3 + 0.85, at h = 2.85 */
    assert_true(fabs(s.stddev_ms - 1.1180339887498949) < 1e-12); /* sqrt(5 / 4) */
    assert_same(s.total_ms, 10);
    kernel_stats_of(&a, ns, 0, &s);
    assert_int_equal(s.iterations, 0);
    arena_deinit(&a);
}

/* ---- the run */

static struct kernel_run run;
static struct arena arena;
static struct err why;

static int say(struct kernel_message m, int64_t elapsed_ns)
{
    why = (struct err){0};
    return kernel_run_take(&run, &m, elapsed_ns, &why);
}

static void good(struct kernel_message m)
{
    if (say(m, 1000000000))
        fail_msg("%s", why.text);
}

static void bad(struct kernel_message m, const char *code)
{
    if (say(m, 1000000000) == 0)
        fail_msg("taken, not %s", code);
    assert_string_equal(why.code, code);
}

static struct kernel_message samples(enum kernel_phase phase, int64_t worker, size_t n,
                                     const char *digest)
{
    static const int64_t ns[] = {5000, 6000, 7000, 8000, 9000, 10000, 11000, 12000};
    return (struct kernel_message){.kind = KERNEL_SAYS_SAMPLES,
                                   .phase = phase,
                                   .worker = worker,
                                   .ns = ns,
                                   .n = n,
                                   .digest = digest};
}

static struct kernel_message first(const char *digest)
{
    struct kernel_message m = samples(KERNEL_DISPATCH, -1, 1, digest);
    m.first = true;
    return m;
}

static struct kernel_message done(enum kernel_phase phase)
{
    return (struct kernel_message){.kind = KERNEL_SAYS_DONE,
                                   .phase = phase,
                                   .artifact_bytes = 100,
                                   .batch_wall_ns = 50000,
                                   .workers = 2};
}

/* Two compiles behind the first, five dispatches of two workers; said up to that phase. */
static void up_to(enum kernel_phase phase)
{
    const struct kernel_plan plan = {2, 5, 2};
    arena_deinit(&arena);
    kernel_run_init(&run, &arena, &plan);
    if (phase > KERNEL_HELLO)
        good((struct kernel_message){.kind = KERNEL_SAYS_HELLO, .initialization_ns = -1});
    if (phase > KERNEL_COMPILE) {
        good(samples(KERNEL_COMPILE, -1, 2, A));
        good(samples(KERNEL_COMPILE, -1, 1, A));
        good(done(KERNEL_COMPILE));
    }
    if (phase > KERNEL_DECODE) {
        good(samples(KERNEL_DECODE, -1, 2, NULL));
        good(done(KERNEL_DECODE));
    }
    if (phase > KERNEL_DISPATCH) {
        good(first(B));
        good(samples(KERNEL_DISPATCH, 1, 2, B));
        good(samples(KERNEL_DISPATCH, 0, 3, B));
        good(done(KERNEL_DISPATCH));
    }
}

static void a_whole_run_becomes_a_receipt(void **state)
{
    struct kernel_receipt r;
    up_to(KERNEL_OVER);
    kernel_run_receipt(&run, &r);
    assert_null(kernel_check(&arena, &r));
    assert_string_equal(r.artifact_digest, A);
    assert_string_equal(r.terminal_digest, B);
    assert_int_equal(r.artifact_bytes, 100);
    assert_same(r.compile.first_ms, 0.005);
    assert_int_equal(r.compile.repeated.iterations, 2);
    assert_same(r.compile.repeated.total_ms, 0.011); /* 6000 and the second message's 5000 */
    assert_int_equal(r.decode.iterations, 2);
    assert_int_equal(r.dispatch.repeated.iterations, 5);
    assert_same(r.dispatch.batch_wall_ms, 0.05);
    assert_same(r.dispatch.throughput, 100000);
    assert_nan(r.initialization_ms);
}

static void expect_contradiction(const struct kernel_receipt *r, const char *words)
{
    const char *fault = kernel_check(&arena, r);
    if (!fault || !strstr(fault, words))
        fail_msg("%s, not %s", fault ? fault : "nothing", words);
}

static void workers_and_their_batch_do_not_contradict_each_other(void **state)
{
    struct kernel_receipt whole, r;
    up_to(KERNEL_OVER);
    kernel_run_receipt(&run, &whole);
    r = whole;
    r.workers = r.iterations + 1;
    expect_contradiction(&r, "more workers than iterations");
    r = whole;
    r.iterations++;
    expect_contradiction(&r, "another number of times");
    r = whole;
    r.dispatch.throughput *= 2;
    expect_contradiction(&r, "not the iterations by the wall time");
    /* Twice as fast as its workers together could have been. */
    r = whole;
    r.dispatch.batch_wall_ms = r.dispatch.repeated.total_ms / (double)r.workers / 2;
    r.dispatch.throughput = (double)r.iterations * 1000 / r.dispatch.batch_wall_ms;
    expect_contradiction(&r, "took more time together than the batch had");
}

static void decode_that_cannot_be_told_apart_is_empty(void **state)
{
    struct kernel_receipt r;
    struct kernel_message m = done(KERNEL_DECODE);
    m.unmeasurable = true;
    up_to(KERNEL_DECODE);
    good(m);
    kernel_run_receipt(&run, &r);
    assert_int_equal(r.decode.iterations, 0);
    up_to(KERNEL_DECODE);
    good(samples(KERNEL_DECODE, -1, 1, NULL));
    bad(m, "kernel.driver");
}

static void artifacts_must_not_differ(void **state)
{
    up_to(KERNEL_COMPILE);
    good(samples(KERNEL_COMPILE, -1, 1, A));
    bad(samples(KERNEL_COMPILE, -1, 2, B), "kernel.artifact_differs");
    assert_non_null(strstr(why.text, "compile 2 of 3"));
}

static void a_worker_with_another_value_is_named(void **state)
{
    up_to(KERNEL_DISPATCH);
    good(first(B));
    good(samples(KERNEL_DISPATCH, 1, 2, B));
    bad(samples(KERNEL_DISPATCH, 1, 1, A), "kernel.terminal_differs");
    assert_non_null(strstr(why.text, "worker 1"));
    assert_non_null(strstr(why.text, "dispatch 3"));
}

static void what_does_not_belong_there_is_refused(void **state)
{
    up_to(KERNEL_HELLO);
    bad(samples(KERNEL_COMPILE, -1, 1, A), "kernel.driver");
    up_to(KERNEL_COMPILE);
    bad((struct kernel_message){.kind = KERNEL_SAYS_HELLO}, "kernel.driver");
    bad(samples(KERNEL_DECODE, -1, 1, NULL), "kernel.driver");
    bad(samples(KERNEL_COMPILE, -1, 1, NULL), "kernel.driver");
    bad(samples(KERNEL_COMPILE, 0, 1, A), "kernel.driver");
    up_to(KERNEL_DECODE);
    bad(samples(KERNEL_DECODE, -1, 1, A), "kernel.driver");
    up_to(KERNEL_DISPATCH);
    bad(samples(KERNEL_DISPATCH, 0, 1, B), "kernel.driver"); /* before the first */
    good(first(B));
    bad(first(B), "kernel.driver");
    bad(samples(KERNEL_DISPATCH, 2, 1, B), "kernel.driver"); /* there are two workers */
    bad(samples(KERNEL_DISPATCH, -1, 1, B), "kernel.driver");
    up_to(KERNEL_OVER);
    bad(samples(KERNEL_DISPATCH, 0, 1, B), "kernel.driver");
}

static void counts_are_those_that_were_asked_for(void **state)
{
    up_to(KERNEL_COMPILE);
    bad(samples(KERNEL_COMPILE, -1, 4, A), "kernel.driver");
    up_to(KERNEL_COMPILE);
    good(samples(KERNEL_COMPILE, -1, 2, A));
    bad(done(KERNEL_COMPILE), "kernel.driver");
    up_to(KERNEL_DISPATCH);
    good(first(B));
    good(samples(KERNEL_DISPATCH, 0, 4, B)); /* more than its share */
    good(samples(KERNEL_DISPATCH, 1, 1, B));
    bad(done(KERNEL_DISPATCH), "kernel.driver");
}

static void samples_must_fit_into_the_time_that_passed(void **state)
{
    struct kernel_message slow = samples(KERNEL_COMPILE, -1, 3, A), batch = done(KERNEL_DISPATCH);
    const int64_t long_ns[] = {1, 400000000, 700000000};
    up_to(KERNEL_COMPILE);
    slow.ns = long_ns;
    good(slow);
    bad(done(KERNEL_COMPILE), "kernel.implausible");
    up_to(KERNEL_DISPATCH);
    good(first(B));
    slow = samples(KERNEL_DISPATCH, 0, 3, B);
    slow.ns = long_ns;
    good(slow);
    good(samples(KERNEL_DISPATCH, 1, 2, B));
    batch.batch_wall_ns = 900000000;
    bad(batch, "kernel.implausible");
}

static void an_error_of_the_driver_is_its_own(void **state)
{
    up_to(KERNEL_COMPILE);
    bad((struct kernel_message){.kind = KERNEL_SAYS_ERROR, .error = "line 3: what?"},
        "kernel.failed");
    assert_string_equal(why.text, "the kernel failed: line 3: what?");
}

/* ---- two receipts */

static void only_like_is_compared_with_like(void **state)
{
    struct kernel_receipt x = {.schema = KERNEL_SCHEMA,
                               .entry = "reduce",
                               .workers = 4,
                               .terminal_digest = A,
                               .provenance = {.driver = "d",
                                              .os = "linux",
                                              .arch = "x86_64",
                                              .machine = A,
                                              .source_digest = A,
                                              .input_digest = A}},
                          y = x;
    assert_null(kernel_unlike(&arena, &x, NULL, &y, NULL));
#define UNLIKE(change, sentence)                                                                   \
    y = x;                                                                                         \
    change;                                                                                        \
    assert_non_null(kernel_unlike(&arena, &x, NULL, &y, NULL));                                    \
    assert_non_null(strstr(kernel_unlike(&arena, &x, NULL, &y, NULL), sentence))
    UNLIKE(y.schema = KERNEL_SCHEMA_HARN, "schemas");
    UNLIKE(y.target = KERNEL_BROWSER, "targets differ: native and browser");
    UNLIKE(y.provenance.profile = KERNEL_DEBUG, "build profiles differ: release and debug");
    UNLIKE(y.provenance.os = "macos", "systems");
    UNLIKE(y.provenance.arch = "arm64", "architectures");
    UNLIKE(y.provenance.driver = "e", "drivers");
    UNLIKE(y.provenance.machine = B, "machines");
    UNLIKE(y.provenance.machine = NULL, "of the second receipt it is not known");
    UNLIKE(y.entry = "other", "entries");
    UNLIKE(y.entry_kind = KERNEL_PIPELINE, "kinds of entry");
    UNLIKE(y.provenance.source_digest = B, "sources");
    UNLIKE(y.provenance.input_digest = B, "inputs");
    UNLIKE(y.terminal_digest = B, "terminal values");
    UNLIKE(y.workers = 2, "workers differ: 4 and 2");
#undef UNLIKE
    /* What nothing says somebody may say. */
    x.provenance.machine = y.provenance.machine = NULL;
    y = x;
    assert_non_null(kernel_unlike(&arena, &x, NULL, &y, NULL));
    assert_null(kernel_unlike(&arena, &x, "m", &y, "m"));
    assert_non_null(kernel_unlike(&arena, &x, "m", &y, "n"));
}

static int cleanup(void **state)
{
    arena_deinit(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statistics_are_r7_and_of_the_population),
        cmocka_unit_test(a_whole_run_becomes_a_receipt),
        cmocka_unit_test(workers_and_their_batch_do_not_contradict_each_other),
        cmocka_unit_test(decode_that_cannot_be_told_apart_is_empty),
        cmocka_unit_test(artifacts_must_not_differ),
        cmocka_unit_test(a_worker_with_another_value_is_named),
        cmocka_unit_test(what_does_not_belong_there_is_refused),
        cmocka_unit_test(counts_are_those_that_were_asked_for),
        cmocka_unit_test(samples_must_fit_into_the_time_that_passed),
        cmocka_unit_test(an_error_of_the_driver_is_its_own),
        cmocka_unit_test(only_like_is_compared_with_like),
    };
    return cmocka_run_group_tests(tests, NULL, cleanup);
}
