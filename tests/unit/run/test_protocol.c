/* READY, GO, DONE: what makes an observation valid, and each cause that makes it invalid. */
#include "world.h"

#include "base/clock.h"

#define SHORT_MS 2000 /* a timeout that the test waits for */

static struct run_observation observe(void **state, const char *const *argv)
{
    struct run_observe req = world_request(MEASURE_PROTOCOL, argv);

    return world_observe(*state, &req);
}

/* With timeouts that are meant to pass. */
static struct run_observation observe_late(void **state, const char *const *argv, bool ready_late)
{
    struct run_observe req = world_request(MEASURE_PROTOCOL, argv);

    if (ready_late)
        req.ready_timeout_ms = SHORT_MS;
    else
        req.done_timeout_ms = SHORT_MS;
    return world_observe(*state, &req);
}

static void assert_invalid(const struct run_observation *o, const char *outcome)
{
    assert_string_equal(o->raw.outcome, outcome);
    assert_int_equal(o->raw.elapsed_ns, -1);
    assert_null(o->unremoved);
}

static void test_good_lane_is_ok(void **state)
{
    int64_t before = clock_mono_ns();
    struct run_observation o =
        observe(state, CHILD("say", READY "\n", "go", "burn", "1", "say", DONE "\n", "eof"));

    assert_string_equal(o.raw.outcome, "ok");
    assert_string_equal(o.raw.ready, READY);
    assert_string_equal(o.raw.done, DONE);
    assert_true(before <= o.raw.start_ns && o.raw.start_ns < o.raw.go_ns);
    assert_true(o.raw.go_ns < o.raw.done_ns && o.raw.done_ns <= o.raw.exit_ns);
    assert_true(o.raw.exit_ns <= clock_mono_ns());
    assert_int_equal(o.raw.elapsed_ns, o.raw.done_ns - o.raw.go_ns);
    assert_int_equal(o.raw.process_ns, o.raw.exit_ns - o.raw.start_ns);
    assert_int_equal(o.raw.exit_status, 0);
    assert_int_equal(o.raw.exit_signal, 0);
    assert_int_equal(o.raw.stdout_bytes, sizeof READY + sizeof DONE);
    assert_int_equal(o.raw.stderr_bytes, 0);
    assert_int_equal(o.raw.threads, 1);
    assert_int_equal(o.raw.leftovers, 0);
    assert_true(o.raw.interval_cpu_ns > 0);
    assert_true(o.raw.user_us >= 0 && o.raw.system_us >= 0 && o.raw.max_rss_bytes > 0);
    assert_true(o.raw.runner_cpu_ns > 0 && o.raw.runner_delay_ns >= 0);
    assert_null(o.unremoved);
    assert_string_equal(o.stdout_tail, "");
}

static void test_exit_without_reading_stdin_to_its_end_is_ok(void **state)
{
    struct run_observation o = observe(state, CHILD("say", READY "\n", "go", "say", DONE "\n"));

    assert_string_equal(o.raw.outcome, "ok");
}

static void test_records_may_come_byte_by_byte(void **state)
{
    struct run_observation o =
        observe(state, CHILD("slow", READY "\n", "go", "slow", DONE "\n", "eof"));

    assert_string_equal(o.raw.outcome, "ok");
    assert_string_equal(o.raw.done, DONE);
}

static void test_lane_sees_exactly_the_go_line(void **state)
{
    struct world *w = *state;
    const char *path = world_path(w, "stdin");
    struct run_observation o =
        observe(state, CHILD("say", READY "\n", "go-into", path, "say", DONE "\n", "eof"));

    assert_string_equal(o.raw.outcome, "ok");
    assert_string_equal(world_read(w, path), GO "\n");
}

static void test_wrong_ready_is_named(void **state)
{
    static const struct {
        const char *said, *got;
    } cases[] = {
        {"READY toy 4\n", "READY toy 4"},         {"READY toy 3\r\n", "READY toy 3\\x0d"},
        {"READY toy 3\\0\n", "READY toy 3\\x00"}, {"READY toy\n", "READY toy"},
        {" READY toy 3\n", " READY toy 3"},       {"\n", ""},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct run_observation o = observe(state, CHILD("say", cases[i].said, "go", "eof"));
        assert_invalid(&o, "lane.ready_wrong");
        assert_string_equal(o.got, cases[i].got);
        assert_int_equal(o.raw.go_ns, -1);
        assert_int_equal(o.raw.done_ns, -1);
    }
}

static void test_silent_lane_times_out_before_ready(void **state)
{
    struct run_observation o = observe_late(state, CHILD("forever"), true);

    assert_invalid(&o, "lane.ready_timeout");
    assert_null(o.raw.ready);
}

static void test_ready_without_newline_times_out_and_is_shown(void **state)
{
    struct run_observation o = observe_late(state, CHILD("say", READY, "forever"), true);

    assert_invalid(&o, "lane.ready_timeout");
    assert_string_equal(o.got, READY);
}

static void test_unflushed_ready_is_diagnosed(void **state)
{
    struct run_observation o =
        observe_late(state, CHILD("buffer", READY "\n", "go", "exit", "0"), true);

    assert_invalid(&o, "lane.ready_unflushed");
}

static void test_unflushed_done_is_diagnosed(void **state)
{
    struct run_observation o = observe_late(
        state, CHILD("say", READY "\n", "go", "buffer", DONE "\n", "eof", "exit", "0"), false);

    assert_invalid(&o, "lane.done_unflushed");
    assert_int_equal(o.raw.done_ns, -1);
}

static void test_end_of_stdout_before_ready(void **state)
{
    struct run_observation o = observe(state, CHILD("say", "REA", "exit", "0"));

    assert_invalid(&o, "lane.eof_before_ready");
    assert_string_equal(o.got, "REA");
    assert_int_equal(o.raw.exit_status, 0);
}

static void test_closed_stdout_of_a_living_lane(void **state)
{
    struct run_observation o = observe(state, CHILD("close", "1", "forever"));

    assert_invalid(&o, "lane.eof_before_ready");
}

static void test_status_explains_a_lane_that_ends_before_ready(void **state)
{
    struct run_observation o =
        observe(state, CHILD("say", "REA", "err", "no such table\n", "exit", "3"));

    assert_invalid(&o, "lane.exit_status");
    assert_int_equal(o.raw.exit_status, 3);
    assert_string_equal(o.stdout_tail, "REA");
    assert_string_equal(o.stderr_tail, "no such table\n");
}

static void test_signal_explains_a_lane_that_ends_before_ready(void **state)
{
    struct run_observation o = observe(state, CHILD("raise"));

    assert_invalid(&o, "lane.signal");
    assert_int_equal(o.raw.exit_status, -1);
    assert_int_equal(o.raw.exit_signal, 10);
}

static void test_lane_that_cannot_hear_go(void **state)
{
    struct run_observation o = observe(state, CHILD("close", "0", "say", READY "\n", "forever"));

    assert_invalid(&o, "lane.go_failed");
    assert_int_equal(o.raw.go_ns, -1);
}

static void test_done_before_go_is_no_answer(void **state)
{
    struct run_observation o = observe(state, CHILD("say", READY "\n" DONE "\n", "go", "eof"));

    assert_invalid(&o, "lane.done_early");
    assert_string_equal(o.got, DONE "\\x0a");
    assert_int_equal(o.raw.go_ns, -1);
}

static void test_wrong_done_is_named(void **state)
{
    static const struct {
        const char *said, *got;
    } cases[] = {
        {"DONE toy 43\n", "DONE toy 43"},     {"DONE toy 42\r\n", "DONE toy 42\\x0d"},
        {"DONE toy 42 \n", "DONE toy 42 "},   {"DONE\\0toy 42\n", "DONE\\x00toy 42"},
        {"DONE toy \\f\n", "DONE toy \\xff"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct run_observation o =
            observe(state, CHILD("say", READY "\n", "go", "say", cases[i].said, "eof"));
        assert_invalid(&o, "lane.done_wrong");
        assert_string_equal(o.got, cases[i].got);
        assert_string_equal(o.raw.ready, READY);
    }
}

static void test_records_may_be_any_text_on_one_line(void **state)
{
    struct run_observe req =
        world_request(MEASURE_PROTOCOL,
                      CHILD("say", "READY \xc3\xa9\t\n", "go", "say", "DONE \"a\" {b}\n", "eof"));

    req.ready = "READY \xc3\xa9\t";
    req.done = "DONE \"a\" {b}";
    struct run_observation o = world_observe(*state, &req);
    assert_string_equal(o.raw.outcome, "ok");
    assert_string_equal(o.raw.ready, "READY \xc3\xa9\\x09");
    assert_string_equal(o.raw.done, req.done);
}

static void test_lane_that_never_says_done(void **state)
{
    struct run_observation o =
        observe_late(state, CHILD("say", READY "\n", "go", "forever"), false);

    assert_invalid(&o, "lane.done_timeout");
    assert_int_equal(o.raw.done_ns, -1);
    assert_true(o.raw.go_ns > 0);
}

static void test_end_of_stdout_before_done(void **state)
{
    struct run_observation o =
        observe(state, CHILD("say", READY "\n", "go", "say", "DON", "exit", "0"));

    assert_invalid(&o, "lane.eof_before_done");
    assert_string_equal(o.got, "DON");
}

static void test_status_explains_a_lane_that_ends_before_done(void **state)
{
    struct run_observation o = observe(state, CHILD("say", READY "\n", "go", "exit", "3"));

    assert_invalid(&o, "lane.exit_status");
    assert_int_equal(o.raw.exit_status, 3);
    assert_int_equal(o.raw.done_ns, -1);
}

static void test_line_of_512_bytes_without_newline_is_too_long(void **state)
{
    char line[513];

    memset(line, 'y', 512);
    line[512] = '\0';
    struct run_observation o = observe(state, CHILD("say", line, "go", "eof"));
    assert_invalid(&o, "lane.line_too_long");
    assert_int_equal(strlen(o.got), 512);

    o = observe(state, CHILD("say", READY "\n", "go", "say", line, "eof"));
    assert_invalid(&o, "lane.line_too_long");
}

static void test_line_of_512_bytes_with_its_newline_is_read(void **state)
{
    char ready[512], said[513];

    memset(ready, 'y', 511);
    ready[511] = '\0';
    (void)snprintf(said, sizeof said, "%s\n", ready);
    struct run_observe req =
        world_request(MEASURE_PROTOCOL, CHILD("say", said, "go", "say", DONE "\n", "eof"));
    req.ready = ready;
    struct run_observation o = world_observe(*state, &req);
    assert_string_equal(o.raw.outcome, "ok");
    assert_string_equal(o.raw.ready, ready);
}

static void test_flood_instead_of_a_record_is_bounded(void **state)
{
    struct run_observation o = observe(state, CHILD("flood", "1"));

    assert_invalid(&o, "lane.line_too_long");
    o = observe(state, CHILD("say", READY "\n", "go", "flood", "1"));
    assert_invalid(&o, "lane.line_too_long");
}

static void test_anything_after_done_is_too_much(void **state)
{
    struct run_observation o =
        observe(state, CHILD("say", READY "\n", "go", "say", DONE "\n" DONE "\n", "eof"));

    assert_invalid(&o, "lane.output_extra");
    assert_string_equal(o.got, DONE "\\x0a");
    assert_string_equal(o.raw.done, DONE);

    o = observe(state, CHILD("say", READY "\n", "go", "say", DONE "\n", "eof", "say", "more"));
    assert_invalid(&o, "lane.output_extra");
    assert_string_equal(o.got, "more");

    o = observe(state, CHILD("say", READY "\n", "go", "say", DONE "\n", "flood", "1"));
    assert_invalid(&o, "lane.output_extra");
}

static void test_stderr_must_stay_empty(void **state)
{
    struct run_observation o = observe(
        state, CHILD("say", READY "\n", "go", "err", "oh \\f no\n", "say", DONE "\n", "eof"));

    assert_invalid(&o, "lane.stderr_written");
    assert_int_equal(o.raw.stderr_bytes, 8);
    assert_string_equal(o.stderr_tail, "oh ? no\n");
    assert_string_equal(o.stdout_tail, READY "\n" DONE "\n");
}

static void test_stderr_may_be_allowed_up_to_its_limit(void **state)
{
    struct run_observe req = world_request(
        MEASURE_PROTOCOL, CHILD("say", READY "\n", "go", "err", "12345678", "say", DONE "\n"));

    req.stderr_allowed = true;
    req.stderr_limit_bytes = 8;
    struct run_observation o = world_observe(*state, &req);
    assert_string_equal(o.raw.outcome, "ok");

    req.stderr_limit_bytes = 7;
    o = world_observe(*state, &req);
    assert_invalid(&o, "lane.stderr_limit");
}

static void test_flood_of_stderr_blocks_nobody(void **state)
{
    struct run_observation o = observe(state, CHILD("flood", "2"));

    /* Writing beyond the end of the file fails in the lane, which then gives up with this status.
     */
    assert_invalid(&o, "lane.stderr_limit");
    assert_int_equal(o.raw.exit_status, 99);
    assert_int_equal(strlen(o.stderr_tail), RUN_TAIL_BYTES);
}

static void test_status_after_done(void **state)
{
    struct run_observation o =
        observe(state, CHILD("say", READY "\n", "go", "say", DONE "\n", "exit", "3"));

    assert_invalid(&o, "lane.exit_status");
    assert_int_equal(o.raw.exit_status, 3);
    assert_true(o.raw.done_ns > o.raw.go_ns);
}

static void test_signal_after_done(void **state)
{
    struct run_observation o =
        observe(state, CHILD("say", READY "\n", "go", "say", DONE "\n", "raise"));

    assert_invalid(&o, "lane.signal");
    assert_int_equal(o.raw.exit_signal, 10);
}

static void test_lane_that_does_not_exit(void **state)
{
    struct run_observation o =
        observe_late(state, CHILD("say", READY "\n", "go", "say", DONE "\n", "forever"), false);

    assert_invalid(&o, "lane.exit_timeout");
}

static void test_the_lane_after_an_invalid_one_is_measured(void **state)
{
    struct run_observation o = observe(state, CHILD("flood", "1"));

    assert_invalid(&o, "lane.line_too_long");
    o = observe(state, CHILD("say", READY "\n", "go", "say", DONE "\n", "eof"));
    assert_string_equal(o.raw.outcome, "ok");
    assert_null(o.got);
}

static void test_second_thread_is_seen(void **state)
{
    struct run_observation o =
        observe(state, CHILD("say", READY "\n", "go", "thread", "say", DONE "\n", "eof"));

    assert_string_equal(o.raw.outcome, "ok");
    assert_int_equal(o.raw.threads, 2);
}

static void test_cpu_time_of_the_interval_leaves_out_what_was_before(void **state)
{
    /* The child burns until its own clock says so, whatever else runs. */
    struct run_observation o = observe(state, CHILD("burn", "200", "say", READY "\n", "go", "burn",
                                                    "50", "say", DONE "\n", "eof"));

    assert_string_equal(o.raw.outcome, "ok");
    assert_in_range(o.raw.interval_cpu_ns, 50000000, 200000000);
    assert_true(o.raw.user_us + o.raw.system_us >= 200000);
    assert_true(o.raw.elapsed_ns >= 50000000);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_good_lane_is_ok),
        TEST(test_exit_without_reading_stdin_to_its_end_is_ok),
        TEST(test_records_may_come_byte_by_byte),
        TEST(test_lane_sees_exactly_the_go_line),
        TEST(test_wrong_ready_is_named),
        TEST(test_silent_lane_times_out_before_ready),
        TEST(test_ready_without_newline_times_out_and_is_shown),
        TEST(test_unflushed_ready_is_diagnosed),
        TEST(test_unflushed_done_is_diagnosed),
        TEST(test_end_of_stdout_before_ready),
        TEST(test_closed_stdout_of_a_living_lane),
        TEST(test_status_explains_a_lane_that_ends_before_ready),
        TEST(test_signal_explains_a_lane_that_ends_before_ready),
        TEST(test_lane_that_cannot_hear_go),
        TEST(test_done_before_go_is_no_answer),
        TEST(test_wrong_done_is_named),
        TEST(test_records_may_be_any_text_on_one_line),
        TEST(test_lane_that_never_says_done),
        TEST(test_end_of_stdout_before_done),
        TEST(test_status_explains_a_lane_that_ends_before_done),
        TEST(test_line_of_512_bytes_without_newline_is_too_long),
        TEST(test_line_of_512_bytes_with_its_newline_is_read),
        TEST(test_flood_instead_of_a_record_is_bounded),
        TEST(test_anything_after_done_is_too_much),
        TEST(test_stderr_must_stay_empty),
        TEST(test_stderr_may_be_allowed_up_to_its_limit),
        TEST(test_flood_of_stderr_blocks_nobody),
        TEST(test_status_after_done),
        TEST(test_signal_after_done),
        TEST(test_lane_that_does_not_exit),
        TEST(test_the_lane_after_an_invalid_one_is_measured),
        TEST(test_second_thread_is_seen),
        TEST(test_cpu_time_of_the_interval_leaves_out_what_was_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
