/* What is read of a lane that waits: the resident bytes of its tree before and after its load, and
 * what it uses of the CPU in a window. */
#include "world.h"

#include "run/run_values.h"

#define BASELINE "BASELINE toy"
#define LOAD "LOAD toy"
#define LINE_B "BASELINE toy\n"
#define LINE_R "READY toy 3\n"
#define LINE_D "DONE toy 42\n"
#define MIB (1 << 20)

static struct run_observation observe(void **state, struct run_observe *req)
{
    struct world *w = *state;
    struct run_observation o = world_observe(w, req);

    run_values_take(&w->arena, req, &o);
    return o;
}

static struct run_observation observe_memory(void **state, const char *const *argv)
{
    struct run_observe req = world_request(MEASURE_MEMORY, argv);

    req.baseline = BASELINE;
    req.load = LOAD;
    return observe(state, &req);
}

static struct run_observation observe_cpu(void **state, const char *const *argv)
{
    struct run_observe req = world_request(MEASURE_CPU, argv);

    req.window_ms = 300;
    return observe(state, &req);
}

static void assert_invalid(const struct run_observation *o, const char *outcome)
{
    assert_string_equal(o->raw.outcome, outcome);
    assert_int_equal(o->raw.elapsed_ns, -1);
    assert_int_equal(o->raw.n_values, 0);
    assert_null(o->unremoved);
}

static void test_a_load_between_the_records_is_what_ready_has_more(void **state)
{
    struct run_observation o =
        observe_memory(state, CHILD("say", LINE_B, "go", "hold", "64", "say", LINE_R, "go",
                                    "memory", "32", "say", LINE_D, "eof"));
    const struct raw_value *v = o.raw.values;

    assert_string_equal(o.raw.outcome, "ok");
    assert_int_equal(o.raw.elapsed_ns, -1);
    assert_true(o.raw.go_ns > 0 && o.raw.done_ns >= o.raw.go_ns);
    assert_int_equal(o.raw.n_values, 4);
    assert_string_equal(v[0].name, "baseline_rss");
    assert_string_equal(v[1].name, "ready_rss");
    assert_string_equal(v[2].name, "incremental_rss");
    assert_string_equal(v[3].name, "peak_rss");
    assert_true(v[0].value > 0);
    assert_int_equal(v[2].value, v[1].value - v[0].value);
    assert_in_range(v[2].value, 63 * MIB, 70 * MIB);
    assert_true(v[3].value >= v[1].value + 31 * MIB);
    assert_int_equal(o.raw.stdout_bytes, strlen(LINE_B LINE_R LINE_D));
}

static void test_without_a_baseline_there_are_two_values(void **state)
{
    struct run_observe req =
        world_request(MEASURE_MEMORY, CHILD("say", LINE_R, "go", "say", LINE_D, "eof"));
    struct run_observation o = observe(state, &req);

    assert_string_equal(o.raw.outcome, "ok");
    assert_int_equal(o.raw.n_values, 2);
    assert_string_equal(o.raw.values[0].name, "ready_rss");
    assert_string_equal(o.raw.values[1].name, "peak_rss");
    assert_true(o.raw.values[1].value >= o.raw.values[0].value);
}

/* The child that holds memory is a process of the lane like the first. */
static void test_memory_is_that_of_the_whole_tree(void **state)
{
    struct run_observation o =
        observe_memory(state, CHILD("say", LINE_B, "go", "hold-in-child", "48", "say", LINE_R, "go",
                                    "say", LINE_D, "eof", "end-child"));

    assert_string_equal(o.raw.outcome, "ok");
    assert_true(o.raw.values[2].value >= 47 * MIB);
    assert_true(o.raw.values[3].value >= 47 * MIB);
}

static void test_each_fault_of_the_first_records_has_its_name(void **state)
{
    static const struct {
        const char *argv[12], *outcome;
    } bad[] = {
        {{"say", LINE_R, "go", "say", LINE_D, "eof"}, "lane.baseline_missing"},
        {{"say", "BASE\n", "go", "say", LINE_R, "go"}, "lane.baseline_wrong"},
        {{"say", LINE_B LINE_B, "go", "say", LINE_R, "go"}, "lane.baseline_twice"},
        {{"say", LINE_B, "go", "say", LINE_B, "say", LINE_R, "go"}, "lane.baseline_twice"},
        {{"say", LINE_B LINE_R, "go", "go", "say", LINE_D, "eof"}, "lane.ready_early"},
        {{"say", LINE_B, "wait", "200", "say", LINE_R, "forever"}, "lane.ready_early"},
        {{"say", "BASE"}, "lane.eof_before_baseline"},
        {{"exit", "3"}, "lane.exit_status"},
        {{"close", "0", "say", LINE_B, "forever"}, "lane.load_failed"},
        {{"say", LINE_B, "go", "exit", "0"}, "lane.eof_before_ready"},
        {{"say", LINE_B, "go", "raise"}, "lane.signal"},
        {{"buffer", LINE_B, "eof", "forever"}, "lane.baseline_timeout"},
        {{"buffer", LINE_B, "eof"}, "lane.baseline_unflushed"},
    };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const char *argv[14] = {world_child()};
        memcpy(argv + 1, bad[i].argv, sizeof bad[i].argv);
        struct run_observe req = world_request(MEASURE_MEMORY, argv);
        req.baseline = BASELINE;
        req.load = LOAD;
        if (strcmp(bad[i].argv[0], "buffer") == 0)
            req.ready_timeout_ms = 300;
        struct run_observation o = observe(state, &req);
        if (strcmp(o.raw.outcome, bad[i].outcome) != 0)
            fail_msg("%zu: %s, not %s", i, o.raw.outcome, bad[i].outcome);
        assert_invalid(&o, bad[i].outcome);
    }
}

/* ---- CPU */

static void test_a_lane_that_waits_uses_next_to_nothing(void **state)
{
    struct run_observation o = observe_cpu(
        state, CHILD("burn", "200", "say", LINE_R, "go", "burn", "200", "say", LINE_D, "eof"));

    assert_string_equal(o.raw.outcome, "ok");
    assert_int_equal(o.raw.n_values, 1);
    assert_string_equal(o.raw.values[0].name, "cpu_ppm");
    assert_true(o.raw.values[0].value < 50000); /* what it burnt outside the window is not in it */
    assert_true(o.raw.done_ns - o.raw.go_ns >= 300000000);
    assert_int_equal(o.raw.elapsed_ns, -1);
}

static void test_what_it_burns_in_the_window_is_counted_with_its_children(void **state)
{
    static const char *const kinds[] = {"burn", "burn-in-child"};
    struct world *w = *state;

    for (size_t i = 0; i < 2; i++) {
        struct run_observation o = observe_cpu(
            state, CHILD("say", LINE_R, "wait", "20", kinds[i], "100", "go", "say", LINE_D, "eof"));
        if (strcmp(o.raw.outcome, "lane.cpu_unknown") == 0)
            continue; /* a child that came and went, and no control group here */
        assert_string_equal(o.raw.outcome, "ok");
        /* As much as a busy host gives it. */
        if (i == 0 || strcmp(run_sources(w->run)->lane, "cgroup") == 0)
            assert_true(o.raw.interval_cpu_ns >= 5000000);
        assert_int_equal(o.raw.values[0].value,
                         o.raw.interval_cpu_ns * 1000000 / (o.raw.done_ns - o.raw.go_ns));
    }
}

static void test_a_lane_that_does_not_last_the_window_is_named(void **state)
{
    struct run_observation o = observe_cpu(state, CHILD("say", LINE_R, "wait", "20", "exit", "0"));
    assert_invalid(&o, "lane.window_ended");
    o = observe_cpu(state, CHILD("say", LINE_R, "wait", "20", "exit", "4"));
    assert_invalid(&o, "lane.exit_status");
    o = observe_cpu(state, CHILD("say", LINE_R, "wait", "20", "close", "1", "forever"));
    assert_invalid(&o, "lane.window_ended");
    o = observe_cpu(state, CHILD("say", LINE_R, "wait", "20", "say", LINE_D, "eof"));
    assert_invalid(&o, "lane.done_early");
}

static void test_a_window_can_be_cancelled(void **state)
{
    struct world *w = *state;
    struct run_observe req = world_request(MEASURE_CPU, CHILD("say", LINE_R, "forever"));
    struct run_observation o;
    struct err e = {0};

    req.window_ms = 600000;
    assert_int_equal(run_observe_begin(w->run, &req, &e), 0);
    (void)run_wait(w->run, 300);
    assert_int_equal(run_cancel(w->run), 0);
    assert_int_equal(run_wait(w->run, LONG_MS), 0);
    assert_int_equal(run_observe_finish(w->run, &w->arena, &o, &e), 0);
    assert_string_equal(o.raw.outcome, "lane.cancelled");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_load_between_the_records_is_what_ready_has_more),
        TEST(test_without_a_baseline_there_are_two_values),
        TEST(test_memory_is_that_of_the_whole_tree),
        TEST(test_each_fault_of_the_first_records_has_its_name),
        TEST(test_a_lane_that_waits_uses_next_to_nothing),
        TEST(test_what_it_burns_in_the_window_is_counted_with_its_children),
        TEST(test_a_lane_that_does_not_last_the_window_is_named),
        TEST(test_a_window_can_be_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
