/* After a request the whole tree is gone, whatever it did to stay; nothing survives the daemon. */
#include "world.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

static const char *const leaves[] = {"leave-plain", "leave-setsid", "leave-deaf", "leave-stopped",
                                     "leave-holding"};

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

static void test_lane_does_not_survive_a_killed_runner(void **state)
{
    struct world *w = *state;
    const char *path = world_path(w, "lane");
    struct run_observe req =
        world_request(MEASURE_PROTOCOL, CHILD("say", READY "\n", "go", "pid", path, "forever"));
    struct run_observation o;
    struct err e = {0};

    assert_int_equal(run_observe_begin(w->run, &req, &e), 0);
    int pid = world_pid(w, path);
    assert_int_equal(kill(run_pid(w->run), SIGKILL), 0);
    assert_int_equal(run_wait(w->run, LONG_MS), -EPIPE);
    assert_int_equal(run_observe_finish(w->run, &w->arena, &o, &e), -EPIPE);
    assert_string_equal(e.code, "runner.lost");
    err_clear(&e);
    assert_int_equal(run_observe_begin(w->run, &req, &e), -EPIPE);
    assert_string_equal(e.code, "runner.lost");
    assert_int_equal(run_cancel(w->run), -EPIPE);
    world_await_gone(pid);
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
        TEST(test_a_tree_of_leftovers_is_ended),
        TEST(test_leftovers_do_not_hide_the_first_cause),
        TEST(test_others_are_left_alone),
        TEST(test_observation_can_be_cancelled_inside_its_interval),
        TEST(test_process_can_be_cancelled),
        TEST(test_freeing_the_run_ends_everything),
        TEST(test_lane_does_not_survive_a_killed_runner),
        TEST(test_nothing_survives_a_daemon_that_crashes_in_an_interval),
        TEST(test_terminated_runner_takes_everything_with_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
