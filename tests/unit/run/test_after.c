/* What comes after DONE was stamped: the ack that a lane is told by, and the samples that it then
 * prints. */
#include "world.h"

#include "run/run_values.h"

#define ACK "ACK toy"
#define LINE_R "READY toy 3\n"
#define LINE_D "DONE toy 42\n"

static const struct sample_series declared[] = {
    {.name = "late", .unit = SAMPLE_NS, .min = 2, .max = 3, .p99_max = -1},
    {.name = "span", .unit = SAMPLE_NS, .min = 1, .max = 1, .p99_max = -1},
};

static struct run_observation observe(void **state, const char *const *argv, bool samples)
{
    struct world *w = *state;
    struct run_observe req = world_request(MEASURE_PROTOCOL, argv);

    req.ack = ACK;
    req.samples = samples ? declared : NULL;
    req.n_samples = samples ? 2 : 0;
    struct run_observation o = world_observe(w, &req);
    run_values_take(&w->arena, &req, &o);
    return o;
}

static void test_the_ack_is_one_line_after_done(void **state)
{
    struct world *w = *state;
    const char *told = world_path(w, "told");
    struct run_observation o =
        observe(state, CHILD("say", LINE_R, "go", "say", LINE_D, "go-into", told), false);

    assert_string_equal(o.raw.outcome, "ok");
    assert_string_equal(world_read(w, told), ACK "\n");
    assert_int_equal(o.raw.elapsed_ns, o.raw.done_ns - o.raw.go_ns);
    assert_int_equal(o.raw.n_samples, 0);
}

/* Both may wait: one for the line, and the end of stdin behind it. */
static void test_stdin_ends_after_the_ack_was_read(void **state)
{
    struct run_observation o =
        observe(state, CHILD("say", LINE_R, "go", "say", LINE_D, "wait", "50", "go", "eof"), false);

    assert_string_equal(o.raw.outcome, "ok");
}

/* A lane without an ack may leave the end of GO's line unread: its stdin ends all the same. */
static void test_without_an_ack_nothing_need_be_read(void **state)
{
    struct world *w = *state;
    const char *const argv[] = {"/bin/sh", "-c",
                                "printf 'READY toy 3\\n'; dd bs=1 count=2 of=/dev/null 2>&-; "
                                "printf 'DONE toy 42\\n'; sleep 0.1",
                                NULL};
    struct run_observe req = world_request(MEASURE_PROTOCOL, argv);
    struct run_observation o = world_observe(w, &req);

    assert_string_equal(o.raw.outcome, "ok");
}

static void test_samples_follow_the_ack(void **state)
{
    struct run_observation o = observe(state,
                                       CHILD("say", LINE_R, "go", "say", LINE_D, "go", "say",
                                             "SAMPLE late 0 70\nSAMPLE span 0 5\n", "wait", "20",
                                             "say", "SAMPLE late 1 0\n"),
                                       true);

    assert_string_equal(o.raw.outcome, "ok");
    assert_int_equal(o.raw.elapsed_ns, o.raw.done_ns - o.raw.go_ns);
    assert_int_equal(o.raw.n_samples, 2);
    assert_string_equal(o.raw.samples[0].name, "late");
    assert_int_equal(o.raw.samples[0].n, 2);
    assert_int_equal(o.raw.samples[0].v[0], 70);
    assert_int_equal(o.raw.samples[0].v[1], 0);
    assert_int_equal(o.raw.samples[1].v[0], 5);
    assert_int_equal(o.raw.stdout_bytes,
                     strlen(LINE_R LINE_D "SAMPLE late 0 70\nSAMPLE span 0 5\nSAMPLE late 1 0\n"));
}

static void test_each_fault_has_its_name(void **state)
{
    static const struct {
        const char *argv[14], *outcome;
        bool samples;
    } bad[] = {
        {{"say", LINE_D "SAMPLE span 0 5\n", "go"}, "lane.ack_early", true},
        {{"say", LINE_D "more", "go"}, "lane.ack_early", false},
        {{"say", LINE_D, "say", "SAMPLE span 0 5\n", "forever"}, "lane.ack_early", true},
        {{"say", LINE_D, "wait", "100", "say", "SAMPLE span 0 5\n"}, "lane.ack_early", true},
        {{"say", LINE_D, "wait", "100", "exit", "0"}, "lane.ack_unread", false},
        {{"say", LINE_D, "wait", "100"}, "lane.ack_unread", true},
        {{"close", "0", "say", LINE_D, "wait", "100"}, "lane.ack_unread", false},
        {{"say", LINE_D, "wait", "100", "exit", "4"}, "lane.exit_status", false},
        {{"say", LINE_D, "wait", "100", "raise"}, "lane.signal", false},
        {{"say", LINE_D, "go", "say", "more\n"}, "lane.output_extra", false},
        {{"say", LINE_D, "go", "say", "SAMPLE late 0 1\nSAMPLE late 1 1\n"},
         "lane.sample_missing",
         true},
        {{"say", LINE_D, "go", "say", "SAMPLE late 1 1\n"}, "lane.sample_gap", true},
        {{"say", LINE_D, "go", "say", LINE_D}, "lane.sample_bad", true},
        {{"say", LINE_D, "go", "flood", "1"}, "lane.sample_limit", true},
        {{"say", LINE_D, "go", "exit", "3"}, "lane.exit_status", true},
        {{"say", LINE_D, "go", "err", "oh\n"}, "lane.stderr_written", false},
    };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const char *argv[18] = {world_child(), "say", LINE_R, "go"};
        memcpy(argv + 4, bad[i].argv, 13 * sizeof *argv);
        struct run_observation o = observe(state, argv, bad[i].samples);
        if (strcmp(o.raw.outcome, bad[i].outcome) != 0)
            fail_msg("%zu: %s, not %s", i, o.raw.outcome, bad[i].outcome);
        assert_int_equal(o.raw.elapsed_ns, -1);
        assert_int_equal(o.raw.n_samples, 0);
        assert_null(o.unremoved);
    }
}

static void test_a_lane_that_stays_after_its_ack_is_not_waited_for(void **state)
{
    struct world *w = *state;
    struct run_observe req =
        world_request(MEASURE_PROTOCOL, CHILD("say", LINE_R, "go", "say", LINE_D, "go", "forever"));

    req.ack = ACK;
    req.done_timeout_ms = 1000;
    struct run_observation o = world_observe(w, &req);
    assert_string_equal(o.raw.outcome, "lane.exit_timeout");
    req.argv = CHILD("say", LINE_R, "go", "say", LINE_D, "forever");
    o = world_observe(w, &req);
    assert_string_equal(o.raw.outcome, "lane.exit_timeout");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_the_ack_is_one_line_after_done),
        TEST(test_stdin_ends_after_the_ack_was_read),
        TEST(test_without_an_ack_nothing_need_be_read),
        TEST(test_samples_follow_the_ack),
        TEST(test_each_fault_has_its_name),
        TEST(test_a_lane_that_stays_after_its_ack_is_not_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
