/* Builds: exit, log and its limit, timeout, cancel; and the daemon's side of a request. */
#include "world.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"

#define SHORT_MS 300
#define MARK "\n[aurabench: the log is cut here, at 100 bytes]\n"

static void test_good_build_is_ok(void **state)
{
    struct world *w = *state;
    struct run_exec req =
        world_exec_request(w, CHILD("say", "out\n", "err", "err\n", "say", "again\n"));
    struct run_exec_result r = world_exec(w, &req);

    assert_string_equal(r.outcome, "ok");
    assert_int_equal(r.exit_status, 0);
    assert_true(r.start_ns > 0 && r.wall_ns > 0);
    assert_false(r.truncated);
    assert_int_equal(r.log_bytes, 14);
    assert_int_equal(r.output_bytes, 14);
    assert_int_equal(r.leftovers, 0);
    assert_string_equal(r.tail, "out\nerr\nagain\n");
    assert_string_equal(world_read(w, req.log_path), "out\nerr\nagain\n");
}

static void test_status_and_signal_of_a_build(void **state)
{
    struct world *w = *state;
    struct run_exec req = world_exec_request(w, CHILD("err", "no rule\n", "exit", "2"));
    struct run_exec_result r = world_exec(w, &req);

    assert_string_equal(r.outcome, "exec.exit_status");
    assert_int_equal(r.exit_status, 2);
    assert_string_equal(r.tail, "no rule\n");
    req = world_exec_request(w, CHILD("raise"));
    r = world_exec(w, &req);
    assert_string_equal(r.outcome, "exec.signal");
    assert_int_equal(r.exit_status, -1);
    assert_int_equal(r.exit_signal, SIGUSR1);
}

static void test_log_is_cut_at_its_limit_and_the_rest_is_read(void **state)
{
    struct world *w = *state;
    struct run_exec req = world_exec_request(w, CHILD("lines", "50000"));

    req.log_limit_bytes = 100;
    struct run_exec_result r = world_exec(w, &req);
    assert_string_equal(r.outcome, "ok");
    assert_true(r.truncated);
    assert_int_equal(r.output_bytes, 49999 * 11 + 8);
    const char *log = world_read(w, req.log_path);
    assert_int_equal(strlen(log), 100 + strlen(MARK));
    assert_int_equal(r.log_bytes, strlen(log));
    assert_int_equal(strncmp(log, "0123456789\n0123456789\n", 22), 0);
    assert_string_equal(log + 100, MARK);
    assert_int_equal(strlen(r.tail), RUN_TAIL_BYTES);
    assert_string_equal(r.tail + RUN_TAIL_BYTES - 8, "the end\n");
}

static void test_output_of_exactly_the_limit_is_not_cut(void **state)
{
    struct world *w = *state;
    struct run_exec req = world_exec_request(w, CHILD("say", "12345678"));

    req.log_limit_bytes = 8;
    struct run_exec_result r = world_exec(w, &req);
    assert_false(r.truncated);
    assert_string_equal(world_read(w, req.log_path), "12345678");
}

static void test_build_that_floods_for_ever_is_ended_by_its_timeout(void **state)
{
    struct world *w = *state;
    struct run_exec req = world_exec_request(w, CHILD("flood", "1"));

    req.timeout_ms = SHORT_MS;
    req.log_limit_bytes = 4096;
    struct run_exec_result r = world_exec(w, &req);
    assert_string_equal(r.outcome, "exec.timeout");
    assert_true(r.truncated);
    assert_string_equal(r.unremoved, "");
}

static void test_silent_build_is_ended_by_its_timeout(void **state)
{
    struct world *w = *state;
    const char *path = world_path(w, "pid");
    struct run_exec req = world_exec_request(w, CHILD("leave-deaf", path, "forever"));

    req.timeout_ms = 2000;
    struct run_exec_result r = world_exec(w, &req);
    assert_string_equal(r.outcome, "exec.timeout");
    assert_int_equal(r.leftovers, 1);
    assert_true(world_gone(world_pid(w, path)));
}

static void test_build_may_leave_a_process_that_holds_its_output(void **state)
{
    struct world *w = *state;
    const char *path = world_path(w, "pid");
    struct run_exec req = world_exec_request(w, CHILD("leave-holding", path, "say", "built\n"));
    struct run_exec_result r = world_exec(w, &req);

    assert_string_equal(r.outcome, "ok");
    assert_int_equal(r.leftovers, 1);
    assert_non_null(strstr(r.leftover_names, "(run_child)"));
    assert_string_equal(r.tail, "built\n");
    assert_true(world_gone(world_pid(w, path)));
}

static void test_build_can_be_cancelled(void **state)
{
    struct world *w = *state;
    const char *path = world_path(w, "pid");
    struct run_exec req = world_exec_request(w, CHILD("pid", path, "forever"));
    struct run_exec_result r;
    struct err e = {0};

    assert_int_equal(run_exec_begin(w->run, &req, &e), 0);
    int pid = world_pid(w, path);
    assert_int_equal(run_wait(w->run, 0), -EAGAIN);
    assert_int_equal(run_cancel(w->run), 0);
    assert_int_equal(run_wait(w->run, LONG_MS), 0);
    assert_int_equal(run_exec_finish(w->run, &r, &e), 0);
    assert_string_equal(r.outcome, "exec.cancelled");
    assert_true(world_gone(pid));
}

static void test_cancel_sent_with_the_request_is_not_lost(void **state)
{
    struct world *w = *state;
    struct run_exec_result r;
    struct run_observation o;
    struct err e = {0};
    struct run_exec req = world_exec_request(w, CHILD("forever"));
    struct run_observe lane = world_request(MEASURE_PROTOCOL, CHILD("forever"));
    struct run_observe process = world_request(MEASURE_PROCESS, CHILD("forever"));

    for (int i = 0; i < 20; i++) {
        assert_int_equal(run_exec_begin(w->run, &req, &e), 0);
        assert_int_equal(run_cancel(w->run), 0);
        assert_int_equal(run_wait(w->run, LONG_MS / 2), 0);
        assert_int_equal(run_exec_finish(w->run, &r, &e), 0);
        assert_string_equal(r.outcome, "exec.cancelled");

        assert_int_equal(run_observe_begin(w->run, i % 2 ? &lane : &process, &e), 0);
        assert_int_equal(run_cancel(w->run), 0);
        assert_int_equal(run_wait(w->run, LONG_MS / 2), 0);
        assert_int_equal(run_observe_finish(w->run, &w->arena, &o, &e), 0);
        assert_string_equal(o.raw.outcome, "lane.cancelled");
    }
}

static void test_late_cancel_does_not_reach_the_next_request(void **state)
{
    struct world *w = *state;
    struct run_exec req = world_exec_request(w, CHILD("exit", "0"));
    struct run_exec_result r;
    struct err e = {0};

    for (int i = 0; i < 5; i++) {
        struct pollfd p = {.fd = run_fd(w->run), .events = POLLIN};
        assert_int_equal(run_exec_begin(w->run, &req, &e), 0);
        assert_int_equal(poll(&p, 1, LONG_MS), 1);
        /* The program has ended, but this side does not know it yet. */
        assert_int_equal(run_cancel(w->run), 0);
        assert_int_equal(run_wait(w->run, LONG_MS), 0);
        assert_int_equal(run_exec_finish(w->run, &r, &e), 0);
        assert_string_equal(r.outcome, "ok");
    }
}

static void test_build_that_cannot_start_is_named(void **state)
{
    struct world *w = *state;
    const char *const missing[] = {"no-such-compiler", NULL};
    struct run_exec req = world_exec_request(w, missing);
    struct run_exec_result r = world_exec(w, &req);

    assert_string_equal(r.outcome, "exec.failed");
    assert_string_equal(r.exec_step, "lookup");
    assert_int_equal(r.exec_errno, ENOENT);
    assert_int_equal(r.wall_ns, -1);

    req = world_exec_request(w, CHILD("exit", "0"));
    req.log_path = world_path(w, "none/log");
    r = world_exec(w, &req);
    assert_string_equal(r.outcome, "exec.failed");
    assert_string_equal(r.exec_step, "log");

    req = world_exec_request(w, CHILD("exit", "0"));
    req.cwd = world_path(w, "none");
    r = world_exec(w, &req);
    assert_string_equal(r.exec_step, "chdir");
}

static void test_log_that_cannot_be_written_is_reported(void **state)
{
    struct world *w = *state;
    struct run_exec req = world_exec_request(w, CHILD("say", "out\n"));

    req.log_path = "/dev/full";
    struct run_exec_result r = world_exec(w, &req);
    assert_string_equal(r.outcome, "ok");
    assert_int_equal(r.log_errno, ENOSPC);
    assert_int_equal(r.log_bytes, 0);
    assert_string_equal(r.tail, "out\n");
}

static void test_build_is_started_like_a_lane(void **state)
{
    struct world *w = *state;
    const char *path = world_path(w, "report");
    const char *const env[] = {"A=1", NULL};
    struct run_exec req = world_exec_request(w, CHILD("report", path));

    req.env = env;
    struct run_exec_result r = world_exec(w, &req);
    assert_string_equal(r.outcome, "ok");
    const char *text = world_read(w, path);
    assert_int_equal(strncmp(text, "env A=1\ncwd ", 12), 0);
    assert_true(world_has_line(text, "fds 0 1 2"));
    assert_true(world_has_line(text, "leader 1"));
    assert_true(world_has_line(text, "blocked 0"));
    assert_true(world_has_line(text, "handled 0"));
}

static void test_tail_is_text_whatever_was_printed(void **state)
{
    struct world *w = *state;
    struct run_exec req = world_exec_request(
        w, CHILD("say", "a\\0b \\f \xc3\xa9 \xc3 \xed\xa0\x80 \xf0\x9f\x98\x80 \xc0\xaf \xe2\x82"));
    struct run_exec_result r = world_exec(w, &req);

    assert_string_equal(r.tail, "a?b ? \xc3\xa9 ? ??? \xf0\x9f\x98\x80 ?? ??");
}

/* ---- the daemon's side */

static void test_one_request_at_a_time(void **state)
{
    struct world *w = *state;
    struct run_exec req = world_exec_request(w, CHILD("say", "x"));
    struct run_exec_result r;
    struct err e = {0};

    assert_int_equal(run_exec_finish(w->run, &r, &e), -EAGAIN);
    err_clear(&e);
    assert_int_equal(run_exec_begin(w->run, &req, &e), 0);
    assert_int_equal(run_exec_begin(w->run, &req, &e), -EBUSY);
    assert_string_equal(e.code, "run.busy");
    assert_int_equal(run_wait(w->run, LONG_MS), 0);
    assert_int_equal(run_exec_finish(w->run, &r, &e), 0);
    assert_string_equal(r.outcome, "ok");
    assert_int_equal(run_cancel(w->run), 0);
    r = world_exec(w, &req);
    assert_string_equal(r.outcome, "ok");
}

static void test_forbidden_variables_are_refused_before_anything_runs(void **state)
{
    static const char *const bad[] = {"GIT_DIR=/x", "LISTEN_FDS=1", "NOTIFY_SOCKET=/x"};
    struct world *w = *state;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const char *const env[] = {"PATH=/bin", bad[i], NULL};
        struct run_exec req = world_exec_request(w, CHILD("exit", "0"));
        struct run_observe lane = world_request(MEASURE_PROCESS, CHILD("exit", "0"));
        struct err e = {0};

        req.env = lane.env = env;
        assert_int_equal(run_exec_begin(w->run, &req, &e), -EINVAL);
        assert_string_equal(e.code, "run.env_forbidden");
        err_clear(&e);
        assert_int_equal(run_observe_begin(w->run, &lane, &e), -EINVAL);
        assert_string_equal(e.code, "run.env_forbidden");
    }
}

static void test_requests_that_make_no_sense_are_refused(void **state)
{
    struct world *w = *state;
    const char *const nothing[] = {NULL};
    struct run_exec req = world_exec_request(w, nothing);
    struct run_observe lane = world_request(MEASURE_PROTOCOL, CHILD("exit", "0"));
    char line[600];
    struct err e = {0};

    assert_int_equal(run_exec_begin(w->run, &req, &e), -EINVAL);
    assert_string_equal(e.code, "run.no_command");
    err_clear(&e);
    req = world_exec_request(w, CHILD("exit", "0"));
    req.cwd = "relative";
    assert_int_equal(run_exec_begin(w->run, &req, &e), -EINVAL);
    assert_string_equal(e.code, "run.cwd");
    err_clear(&e);
    lane.go = "GO\nGO";
    assert_int_equal(run_observe_begin(w->run, &lane, &e), -EINVAL);
    assert_string_equal(e.code, "run.record");
    assert_string_equal(e.field, "go");
    err_clear(&e);
    memset(line, 'x', sizeof line);
    line[512] = '\0';
    lane.go = GO;
    lane.done = line;
    assert_int_equal(run_observe_begin(w->run, &lane, &e), -EINVAL);
    assert_string_equal(e.field, "done");
}

static void test_too_many_arguments_are_refused(void **state)
{
    struct world *w = *state;
    const char *argv[1027];
    struct err e = {0};

    for (int i = 0; i < 1026; i++)
        argv[i] = world_child();
    argv[1026] = NULL;
    struct run_exec req = world_exec_request(w, argv);
    assert_int_equal(run_exec_begin(w->run, &req, &e), -E2BIG);
    assert_string_equal(e.code, "run.too_large");
}

static void test_program_that_is_no_runner_is_refused(void **state)
{
    struct world *w = *state;
    struct run *run = NULL;
    struct err e = {0};

    assert_int_equal(run_new("/bin/true", &run, &e), -EPIPE);
    assert_string_equal(e.code, "runner.start");
    err_clear(&e);
    assert_int_equal(run_new(world_path(w, "none"), &run, &e), -ENOENT);
    assert_string_equal(e.code, "runner.start");
    assert_null(run);
}

static void test_runner_of_another_version_is_refused(void **state)
{
    struct world *w = *state;
    const char *path = world_path(w, "other-runner");
    /* A hello frame with version 99 and pid 1, then silence until the pipe is closed. */
    static const char script[] = "#!/bin/sh\n"
                                 "printf '\\054\\0\\0\\0\\001\\0'\n"
                                 "printf '\\001\\0\\010\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0'\n"
                                 "printf '\\002\\0\\010\\0\\0\\0\\143\\0\\0\\0\\0\\0\\0\\0'\n"
                                 "printf '\\003\\0\\010\\0\\0\\0\\001\\0\\0\\0\\0\\0\\0\\0'\n"
                                 "read x\n";
    struct run *run = NULL;
    struct err e = {0};

    assert_int_equal(file_write(path, script, strlen(script), 0755, &e), 0);
    assert_int_equal(chmod(path, 0755), 0);
    assert_int_equal(run_new(path, &run, &e), -EPROTO);
    assert_string_equal(e.code, "runner.version");
}

static void test_runner_started_by_hand_says_what_it_is(void **state)
{
    struct world *w = *state;
    const char *const argv[] = {world_runner(), NULL};
    struct run_exec req = world_exec_request(w, argv);
    struct run_exec_result r = world_exec(w, &req);

    /* Its stdin is /dev/null here: it says hello, meets the end of its requests and goes. */
    assert_string_equal(r.outcome, "ok");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_good_build_is_ok),
        TEST(test_status_and_signal_of_a_build),
        TEST(test_log_is_cut_at_its_limit_and_the_rest_is_read),
        TEST(test_output_of_exactly_the_limit_is_not_cut),
        TEST(test_build_that_floods_for_ever_is_ended_by_its_timeout),
        TEST(test_silent_build_is_ended_by_its_timeout),
        TEST(test_build_may_leave_a_process_that_holds_its_output),
        TEST(test_build_can_be_cancelled),
        TEST(test_cancel_sent_with_the_request_is_not_lost),
        TEST(test_late_cancel_does_not_reach_the_next_request),
        TEST(test_build_that_cannot_start_is_named),
        TEST(test_log_that_cannot_be_written_is_reported),
        TEST(test_build_is_started_like_a_lane),
        TEST(test_tail_is_text_whatever_was_printed),
        TEST(test_one_request_at_a_time),
        TEST(test_forbidden_variables_are_refused_before_anything_runs),
        TEST(test_requests_that_make_no_sense_are_refused),
        TEST(test_too_many_arguments_are_refused),
        TEST(test_program_that_is_no_runner_is_refused),
        TEST(test_runner_of_another_version_is_refused),
        TEST(test_runner_started_by_hand_says_what_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
