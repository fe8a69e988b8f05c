/* After a request the whole tree is gone, whatever it did to stay; nothing survives the daemon. */
#include "world.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

static const char *const leaves[] = {"leave-plain",   "leave-setsid",  "leave-deaf",
                                     "leave-stopped", "leave-holding", "leave-daemon"};

static void test_what_a_lane_leaves_is_ended_and_named(void **state)
{
    struct world *w = *state;

    for (size_t i = 0; i < sizeof leaves / sizeof leaves[0]; i++) {
        const char *path = world_path(w, leaves[i]);
        struct run_observe req =
            world_request(MEASURE_PROTOCOL,
                          CHILD(leaves[i], path, "say", READY "\n", "go", "say", DONE "\n", "eof"));
        struct run_observation o = world_observe(w, &req);
        int pid = world_pid(w, path);

        assert_string_equal(o.raw.outcome, "lane.leftover");
        assert_int_equal(o.raw.elapsed_ns, -1);
        assert_int_equal(o.raw.leftovers, 1);
        assert_string_equal(o.leftover_names, arena_printf(&w->arena, "%d (run_child)", pid));
        assert_null(o.unremoved);
        assert_int_equal(kill(pid, 0), -1);
        assert_int_equal(errno, ESRCH);
    }
}

static void test_what_a_process_leaves_is_ended_and_named(void **state)
{
    struct world *w = *state;
    const char *path = world_path(w, "pid");
    struct run_observe req = world_request(MEASURE_PROCESS, CHILD("leave-deaf", path));
    struct run_observation o = world_observe(w, &req);

    assert_string_equal(o.raw.outcome, "lane.leftover");
    assert_true(world_gone(world_pid(w, path)));
}

/* A leftover that ignores TERM takes the sweep over a second, and the stamp is from before that. */
static void test_leftovers_that_hold_the_streams_delay_no_stamp(void **state)
{
    struct world *w = *state;
    const char *path = world_path(w, "pid");
    struct run_observe process =
        world_request(MEASURE_PROCESS, CHILD("leave-holding", path, "say", "x"));
    struct run_observe lane =
        world_request(MEASURE_PROTOCOL, CHILD("leave-holding", path, "say", READY "\n", "go", "say",
                                              DONE "\n", "eof"));

    for (int i = 0; i < 2; i++) {
        struct run_observation o = world_observe(w, i ? &lane : &process);
        int64_t now = clock_mono_ns();
        assert_string_equal(o.raw.outcome, "lane.leftover");
        assert_true(o.raw.exit_ns > o.raw.start_ns && now - o.raw.exit_ns >= 1000000000);
    }
    struct run_exec req = world_exec_request(w, CHILD("leave-holding", path, "say", "built\n"));
    struct run_exec_result r = world_exec(w, &req);
    int64_t now = clock_mono_ns();
    assert_string_equal(r.outcome, "ok");
    assert_true(now - (r.start_ns + r.wall_ns) >= 1000000000);
}

static void test_zombies_are_no_leftovers(void **state)
{
    struct run_observe req = world_request(MEASURE_PROCESS, CHILD("zombies", "wait", "100"));
    struct run_observation o = world_observe(*state, &req);

    assert_string_equal(o.raw.outcome, "ok");
    assert_int_equal(o.raw.leftovers, 0);
    req = world_request(MEASURE_PROTOCOL,
                        CHILD("say", READY "\n", "go", "zombies", "say", DONE "\n", "eof"));
    o = world_observe(*state, &req);
    assert_string_equal(o.raw.outcome, "ok");
}

/* No scan of the process table meets it where it is by the time a signal arrives. */
static void test_process_that_keeps_forking_away_is_caught(void **state)
{
    struct world *w = *state;
    struct run_observe req = world_request(MEASURE_PROCESS, CHILD("comet"));
    struct run_observation o = world_observe(w, &req);

    assert_string_equal(o.raw.outcome, "lane.leftover");
    assert_true(o.raw.leftovers > 0);
    assert_null(o.unremoved);
    struct run_exec build = world_exec_request(w, CHILD("comet", "comet"));
    struct run_exec_result r = world_exec(w, &build);
    assert_string_equal(r.outcome, "ok");
    assert_true(r.leftovers > 0);
    assert_string_equal(r.unremoved, "");
}

static void test_bomb_is_ended_within_its_bounds(void **state)
{
    struct world *w = *state;
    struct run_observe req = world_request(MEASURE_PROCESS, CHILD("bomb", "400", "forever"));

    req.done_timeout_ms = 1000;
    struct run_observation o = world_observe(w, &req);
    assert_string_equal(o.raw.outcome, "lane.exit_timeout");
    assert_true(o.raw.leftovers > 0);
    assert_null(o.unremoved);
    /* And the next lane is measured as if nothing had been. */
    req = world_request(MEASURE_PROCESS, CHILD("exit", "0"));
    o = world_observe(w, &req);
    assert_string_equal(o.raw.outcome, "ok");
}

static void test_a_tree_of_leftovers_is_ended(void **state)
{
    struct world *w = *state;
    const char *a = world_path(w, "a"), *b = world_path(w, "b"), *c = world_path(w, "c");
    struct run_observe req = world_request(
        MEASURE_PROCESS, CHILD("leave-deaf", a, "leave-stopped", b, "leave-plain", c));
    struct run_observation o = world_observe(w, &req);

    assert_string_equal(o.raw.outcome, "lane.leftover");
    assert_int_equal(o.raw.leftovers, 3);
    assert_true(world_gone(world_pid(w, a)));
    assert_true(world_gone(world_pid(w, b)));
    assert_true(world_gone(world_pid(w, c)));
}

static void test_leftovers_do_not_hide_the_first_cause(void **state)
{
    struct world *w = *state;
    const char *path = world_path(w, "pid");
    struct run_observe req =
        world_request(MEASURE_PROTOCOL, CHILD("leave-deaf", path, "say", "nonsense\n", "go"));
    struct run_observation o = world_observe(w, &req);

    assert_string_equal(o.raw.outcome, "lane.ready_wrong");
    assert_int_equal(o.raw.leftovers, 1);
    assert_true(world_gone(world_pid(w, path)));
}

static void test_others_are_left_alone(void **state)
{
    struct world *w = *state;
    const char *path = world_path(w, "pid");
    pid_t bystander = fork();

    assert_true(bystander >= 0);
    if (bystander == 0) {
        for (;;)
            (void)pause();
    }
    struct run_observe req = world_request(MEASURE_PROCESS, CHILD("leave-deaf", path));
    struct run_observation o = world_observe(w, &req);
    assert_string_equal(o.raw.outcome, "lane.leftover");
    assert_int_equal(waitpid(bystander, NULL, WNOHANG), 0);
    assert_int_equal(kill(bystander, SIGKILL), 0);
    assert_int_equal(waitpid(bystander, NULL, 0), bystander);
}

/* Starts a lane that left a process and waits; where both are noted. */
static void begin_waiting_lane(struct world *w, struct run *run, const char *lane, const char *left)
{
    struct run_observe req =
        world_request(MEASURE_PROTOCOL,
                      CHILD("leave-deaf", left, "say", READY "\n", "go", "pid", lane, "forever"));
    struct err e = {0};

    assert_int_equal(run_observe_begin(run, &req, &e), 0);
    (void)world_pid(w, lane);
    (void)world_pid(w, left);
}

static void test_observation_can_be_cancelled_inside_its_interval(void **state)
{
    struct world *w = *state;
    const char *lane = world_path(w, "lane"), *left = world_path(w, "left");
    struct run_observation o;
    struct err e = {0};

    begin_waiting_lane(w, w->run, lane, left);
    assert_int_equal(run_wait(w->run, 0), -EAGAIN);
    assert_int_equal(run_cancel(w->run), 0);
    assert_int_equal(run_wait(w->run, LONG_MS), 0);
    assert_int_equal(run_observe_finish(w->run, &w->arena, &o, &e), 0);
    assert_string_equal(o.raw.outcome, "lane.cancelled");
    assert_null(o.unremoved);
    assert_true(world_gone(world_pid(w, lane)));
    assert_true(world_gone(world_pid(w, left)));
}

static void test_process_can_be_cancelled(void **state)
{
    struct world *w = *state;
    const char *path = world_path(w, "pid");
    struct run_observe req = world_request(MEASURE_PROCESS, CHILD("pid", path, "forever"));
    struct run_observation o;
    struct err e = {0};

    assert_int_equal(run_observe_begin(w->run, &req, &e), 0);
    int pid = world_pid(w, path);
    assert_int_equal(run_cancel(w->run), 0);
    assert_int_equal(run_wait(w->run, LONG_MS), 0);
    assert_int_equal(run_observe_finish(w->run, &w->arena, &o, &e), 0);
    assert_string_equal(o.raw.outcome, "lane.cancelled");
    assert_true(world_gone(pid));
}

static void test_freeing_the_run_ends_everything(void **state)
{
    struct world *w = *state;
    const char *lane = world_path(w, "lane"), *left = world_path(w, "left");
    pid_t runner = run_pid(w->run);

    begin_waiting_lane(w, w->run, lane, left);
    run_free(w->run);
    w->run = NULL;
    assert_true(world_gone(runner));
    assert_true(world_gone(world_pid(w, lane)));
    assert_true(world_gone(world_pid(w, left)));
}

/* The runner proper is the one child of the process that the daemon started, its guard. */
static pid_t runner_of(struct world *w)
{
    pid_t guard = run_pid(w->run);
    const char *children = arena_printf(&w->arena, "/proc/%d/task/%d/children", guard, guard);

    return world_pid(w, children);
}

static void assert_lost(struct world *w)
{
    struct run_observe req = world_request(MEASURE_PROTOCOL, CHILD("forever"));
    struct run_observation o;
    struct err e = {0};

    assert_int_equal(run_wait(w->run, LONG_MS), -EPIPE);
    assert_int_equal(run_observe_finish(w->run, &w->arena, &o, &e), -EPIPE);
    assert_string_equal(e.code, "runner.lost");
    err_clear(&e);
    assert_int_equal(run_observe_begin(w->run, &req, &e), -EPIPE);
    assert_string_equal(e.code, "runner.lost");
    assert_int_equal(run_cancel(w->run), -EPIPE);
}

/* When the daemon hears of it, all is gone already: the lane, and what was orphaned before. */
static void test_nothing_survives_a_runner_that_is_killed(void **state)
{
    static const int signals[] = {SIGKILL, SIGSEGV, SIGTERM, SIGABRT};
    struct world *w = *state;

    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        const char *lane = world_path(w, arena_printf(&w->arena, "lane%zu", i));
        const char *left = world_path(w, arena_printf(&w->arena, "left%zu", i));
        struct err e = {0};
        begin_waiting_lane(w, w->run, lane, left);
        assert_int_equal(kill(runner_of(w), signals[i]), 0);
        assert_lost(w);
        assert_true(world_gone(world_pid(w, lane)));
        assert_true(world_gone(world_pid(w, left)));
        run_free(w->run);
        assert_int_equal(run_new(world_runner(), &w->run, &e), 0);
    }
}

static void test_nothing_survives_a_guard_that_is_killed(void **state)
{
    struct world *w = *state;
    const char *lane = world_path(w, "lane"), *left = world_path(w, "left");
    pid_t runner = runner_of(w);

    begin_waiting_lane(w, w->run, lane, left);
    assert_int_equal(kill(run_pid(w->run), SIGKILL), 0);
    assert_lost(w);
    world_await_gone(runner);
    assert_true(world_gone(world_pid(w, lane)));
    assert_true(world_gone(world_pid(w, left)));
}

static void test_lane_that_kills_the_runner_ends_with_it(void **state)
{
    struct world *w = *state;
    const char *left = world_path(w, "left");
    struct run_observe req =
        world_request(MEASURE_PROTOCOL, CHILD("leave-deaf", left, "say", READY "\n", "go",
                                              "kill-parent", "9", "forever"));
    struct err e = {0};

    assert_int_equal(run_observe_begin(w->run, &req, &e), 0);
    assert_lost(w);
    assert_true(world_gone(world_pid(w, left)));
}

static void test_signals_that_mean_nothing_do_not_end_the_runner(void **state)
{
    struct world *w = *state;

    for (int sig = 1; sig <= 64; sig++) {
        bool meant = sig == SIGTERM || sig == SIGKILL || sig == SIGSTOP || sig == SIGSEGV ||
                     sig == SIGBUS || sig == SIGFPE || sig == SIGILL || sig == SIGABRT ||
                     sig == SIGTRAP || sig == SIGSYS;
        if (!meant && sig != 32 && sig != 33)
            assert_int_equal(kill(runner_of(w), sig), 0);
    }
    struct run_observe req =
        world_request(MEASURE_PROTOCOL, CHILD("say", READY "\n", "go", "say", DONE "\n", "eof"));
    struct run_observation o = world_observe(w, &req);
    assert_string_equal(o.raw.outcome, "ok");
}

/* It answers nobody and ends nothing; its guard does both when the daemon gives it up. */
static void test_stopped_runner_is_given_up_and_leaves_nothing(void **state)
{
    struct world *w = *state;
    const char *lane = world_path(w, "lane"), *left = world_path(w, "left");
    struct run_observation o;
    struct err e = {0};
    pid_t runner = runner_of(w);

    run_set_spare(w->run, 100);
    begin_waiting_lane(w, w->run, lane, left);
    assert_int_equal(kill(runner, SIGSTOP), 0);
    assert_int_equal(run_wait(w->run, 0), -EAGAIN);
    assert_int_equal(run_cancel(w->run), 0);
    assert_int_equal(run_wait(w->run, -1), -EPIPE);
    assert_int_equal(run_observe_finish(w->run, &w->arena, &o, &e), -EPIPE);
    assert_string_equal(e.code, "runner.hung");
    run_free(w->run);
    w->run = NULL;
    assert_true(world_gone(runner));
    assert_true(world_gone(world_pid(w, lane)));
    assert_true(world_gone(world_pid(w, left)));
}

/* A daemon of its own, which crashes on demand. */
static pid_t start_daemon(struct world *w, const char *runner, const char *lane, const char *left)
{
    pid_t pid = fork();
    struct run *run;

    assert_true(pid >= 0);
    if (pid != 0)
        return pid;
    run_free(NULL);
    if (run_new(world_runner(), &run, NULL) != 0)
        _exit(1);
    FILE *f = fopen(runner, "w");
    if (!f || fprintf(f, "%d\n", run_pid(run)) < 0 || fclose(f) != 0)
        _exit(1);
    begin_waiting_lane(w, run, lane, left);
    for (;;)
        (void)pause();
}

static void test_nothing_survives_a_daemon_that_crashes_in_an_interval(void **state)
{
    struct world *w = *state;
    const char *runner = world_path(w, "runner");
    const char *lane = world_path(w, "lane"), *left = world_path(w, "left");
    pid_t daemon = start_daemon(w, runner, lane, left);

    int lane_pid = world_pid(w, lane), left_pid = world_pid(w, left);
    assert_int_equal(kill(daemon, SIGKILL), 0);
    assert_int_equal(waitpid(daemon, NULL, 0), daemon);
    world_await_gone(world_pid(w, runner));
    assert_true(world_gone(lane_pid));
    assert_true(world_gone(left_pid));
}

static void test_terminated_runner_takes_everything_with_it(void **state)
{
    struct world *w = *state;
    const char *lane = world_path(w, "lane"), *left = world_path(w, "left");

    begin_waiting_lane(w, w->run, lane, left);
    assert_int_equal(kill(run_pid(w->run), SIGTERM), 0);
    world_await_gone(run_pid(w->run));
    assert_true(world_gone(world_pid(w, lane)));
    assert_true(world_gone(world_pid(w, left)));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_what_a_lane_leaves_is_ended_and_named),
        TEST(test_what_a_process_leaves_is_ended_and_named),
        TEST(test_leftovers_that_hold_the_streams_delay_no_stamp),
        TEST(test_zombies_are_no_leftovers),
        TEST(test_process_that_keeps_forking_away_is_caught),
        TEST(test_bomb_is_ended_within_its_bounds),
        TEST(test_a_tree_of_leftovers_is_ended),
        TEST(test_leftovers_do_not_hide_the_first_cause),
        TEST(test_others_are_left_alone),
        TEST(test_observation_can_be_cancelled_inside_its_interval),
        TEST(test_process_can_be_cancelled),
        TEST(test_freeing_the_run_ends_everything),
        TEST(test_nothing_survives_a_runner_that_is_killed),
        TEST(test_nothing_survives_a_guard_that_is_killed),
        TEST(test_lane_that_kills_the_runner_ends_with_it),
        TEST(test_signals_that_mean_nothing_do_not_end_the_runner),
        TEST(test_stopped_runner_is_given_up_and_leaves_nothing),
        TEST(test_nothing_survives_a_daemon_that_crashes_in_an_interval),
        TEST(test_terminated_runner_takes_everything_with_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
