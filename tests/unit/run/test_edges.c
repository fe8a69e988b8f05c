/* Lanes and builds at the edges: each ends in one definite way, whatever they do to their records,
 * their streams and themselves. */
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/files.h"

#define SHORT_MS 400

static struct run_observation observe(void **state, enum measure measure, const char *const *argv)
{
    struct run_observe req = world_request(measure, argv);

    req.ready_timeout_ms = LONG_MS;
    return world_observe(*state, &req);
}

static struct run_observation observe_briefly(void **state, enum measure measure,
                                              const char *const *argv)
{
    struct run_observe req = world_request(measure, argv);

    req.ready_timeout_ms = req.done_timeout_ms = SHORT_MS;
    return world_observe(*state, &req);
}

static void assert_outcome(const struct run_observation *o, const char *outcome)
{
    assert_string_equal(o->raw.outcome, outcome);
    assert_true((o->raw.elapsed_ns >= 0) == (strcmp(outcome, "ok") == 0));
    assert_null(o->unremoved);
}

static struct run_observation protocol(void **state, const char *const *argv)
{
    return observe(state, MEASURE_PROTOCOL, argv);
}

/* ---- records */

static void test_done_may_come_in_pieces(void **state)
{
    struct run_observation o = protocol(state, CHILD("say", READY "\n", "go", "say", "DONE to",
                                                     "wait", "30", "say", "y 42\n", "eof"));

    assert_outcome(&o, "ok");
    assert_string_equal(o.raw.done, DONE);
    o = protocol(state, CHILD("say", READY, "wait", "30", "say", "\n", "go", "say", DONE, "wait",
                              "30", "say", "\n", "eof"));
    assert_outcome(&o, "ok");
}

static void test_piece_of_done_alone_is_none(void **state)
{
    struct run_observation o = observe_briefly(
        state, MEASURE_PROTOCOL, CHILD("say", READY "\n", "go", "say", "DONE to", "forever"));

    assert_outcome(&o, "lane.done_timeout");
    assert_string_equal(o.got, "DONE to");
}

static void test_ready_twice_is_an_answer_given_too_early(void **state)
{
    struct run_observation o =
        protocol(state, CHILD("say", READY "\n" READY "\n", "go", "say", DONE "\n", "eof"));

    assert_outcome(&o, "lane.done_early");
    assert_string_equal(o.got, READY "\\x0a");
    assert_int_equal(o.raw.go_ns, -1);
}

static void test_ready_again_after_go_is_no_done(void **state)
{
    struct run_observation o =
        protocol(state, CHILD("say", READY "\n", "go", "say", READY "\n" DONE "\n", "eof"));

    assert_outcome(&o, "lane.done_wrong");
    assert_string_equal(o.got, READY);
}

/* The same answer a little later: it comes while GO lies in the pipe, and must not count as quick.
 */
static void test_done_without_reading_go_is_no_answer(void **state)
{
    for (int i = 0; i < 3; i++) {
        struct run_observation o = protocol(
            state, CHILD("say", READY "\n", "wait", "50", "say", DONE "\n", "wait", "50", "eof"));
        assert_outcome(&o, "lane.done_early");
        assert_string_equal(o.got, DONE);
        assert_true(o.raw.go_ns > 0);
    }
}

static void test_output_between_go_and_done_is_the_wrong_line(void **state)
{
    struct run_observation o =
        protocol(state, CHILD("say", READY "\n", "go", "say", "noise\n" DONE "\n", "eof"));

    assert_outcome(&o, "lane.done_wrong");
    assert_string_equal(o.got, "noise");
}

static void test_one_byte_after_done_is_too_much(void **state)
{
    struct run_observation o =
        protocol(state, CHILD("say", READY "\n", "go", "say", DONE "\n\\0", "eof"));

    assert_outcome(&o, "lane.output_extra");
    assert_string_equal(o.got, "\\x00");
    o = protocol(state, CHILD("say", READY "\n", "go", "say", DONE "\n", "eof", "say", "\n"));
    assert_outcome(&o, "lane.output_extra");
    assert_string_equal(o.got, "\\x0a");
}

static void test_lane_that_never_reads_go_times_out(void **state)
{
    struct run_observation o =
        observe_briefly(state, MEASURE_PROTOCOL, CHILD("say", READY "\n", "forever"));

    assert_outcome(&o, "lane.done_timeout");
    assert_true(o.raw.go_ns > 0);
}

static void test_lane_that_filled_its_stdin_cannot_hold_the_runner(void **state)
{
    struct run_observation o =
        observe_briefly(state, MEASURE_PROTOCOL, CHILD("fill-stdin", "say", READY "\n", "forever"));

    assert_outcome(&o, "lane.done_timeout");
    assert_int_equal(o.raw.go_ns, -1);
}

static void test_full_stdin_can_be_cancelled(void **state)
{
    struct world *w = *state;
    const char *path = world_path(w, "pid");
    struct run_observe req = world_request(
        MEASURE_PROTOCOL, CHILD("fill-stdin", "pid", path, "say", READY "\n", "forever"));
    struct run_observation o;
    struct err e = {0};

    assert_int_equal(run_observe_begin(w->run, &req, &e), 0);
    (void)world_pid(w, path);
    clock_sleep_ns(50000000);
    assert_int_equal(run_cancel(w->run), 0);
    assert_int_equal(run_wait(w->run, LONG_MS), 0);
    assert_int_equal(run_observe_finish(w->run, &w->arena, &o, &e), 0);
    assert_outcome(&o, "lane.cancelled");
}

/* ---- floods */

static void test_floods_of_a_process_lane_have_their_own_causes(void **state)
{
    struct run_observe req = world_request(MEASURE_PROCESS, CHILD("flood", "1"));

    req.stdout_text = "12\n";
    struct run_observation o = world_observe(*state, &req);
    assert_outcome(&o, "lane.stdout_limit");
    assert_int_equal(o.raw.stdout_bytes, 2 << 20);
    assert_int_equal(o.raw.exit_status, 99); /* it could not write on */

    /* Short of the end of the file the program's own end says more. */
    req = world_request(MEASURE_PROCESS, CHILD("lines", "1000", "exit", "3"));
    req.stdout_text = "12\n";
    o = world_observe(*state, &req);
    assert_outcome(&o, "lane.exit_status");
    req = world_request(MEASURE_PROCESS, CHILD("lines", "1000"));
    req.stdout_text = "12\n";
    o = world_observe(*state, &req);
    assert_outcome(&o, "lane.stdout_wrong");

    o = observe(state, MEASURE_PROCESS, CHILD("flood", "2"));
    assert_outcome(&o, "lane.stderr_limit");
}

static void test_flood_of_stderr_is_named_wherever_it_comes(void **state)
{
    struct run_observation o = protocol(state, CHILD("say", READY "\n", "flood", "2"));

    assert_outcome(&o, "lane.stderr_limit");
    o = protocol(state, CHILD("say", READY "\n", "go", "flood", "2"));
    assert_outcome(&o, "lane.stderr_limit");
    o = protocol(state, CHILD("say", READY "\n", "go", "say", DONE "\n", "flood", "2"));
    assert_outcome(&o, "lane.stderr_limit");
}

static void test_flood_of_stdout_is_named_by_where_it_comes(void **state)
{
    struct run_observation o = protocol(state, CHILD("flood", "1"));

    assert_outcome(&o, "lane.line_too_long");
    o = protocol(state, CHILD("say", READY "\n", "wait", "0", "say", "x", "flood", "1"));
    assert_true(strcmp(o.raw.outcome, "lane.done_early") == 0 ||
                strcmp(o.raw.outcome, "lane.line_too_long") == 0);
    o = protocol(state, CHILD("say", READY "\nxxxx", "flood", "1"));
    assert_outcome(&o, "lane.done_early");
    o = protocol(state, CHILD("say", READY "\n", "go", "say", DONE "\n", "flood", "1"));
    assert_outcome(&o, "lane.output_extra");
    assert_true(o.raw.stdout_bytes < 8 << 20); /* the runner does not read for ever */
}

static void test_closed_streams_are_no_error_of_the_runner(void **state)
{
    struct run_observation o =
        protocol(state, CHILD("close", "2", "say", READY "\n", "go", "say", DONE "\n", "eof"));

    assert_outcome(&o, "ok");
    o = protocol(state, CHILD("say", READY "\n", "go", "close", "0", "say", DONE "\n"));
    assert_outcome(&o, "ok");
    o = protocol(state, CHILD("say", READY "\n", "go", "say", DONE "\n", "close", "1", "eof"));
    assert_outcome(&o, "ok");
    o = observe(state, MEASURE_PROCESS, CHILD("close", "0", "close", "1", "close", "2"));
    assert_outcome(&o, "ok");
}

/* ---- how it ends */

static bool ends_a_process(int sig)
{
    return sig != SIGCHLD && sig != SIGCONT && sig != SIGURG && sig != SIGWINCH && sig != SIGSTOP &&
           sig != SIGTSTP && sig != SIGTTIN && sig != SIGTTOU;
}

static void test_death_by_each_signal_is_named(void **state)
{
    struct world *w = *state;

    for (int sig = 1; sig <= 64; sig++) {
        const char *number = arena_printf(&w->arena, "%d", sig);
        if (sig == SIGSTOP)
            continue;
        struct run_observe req = world_request(MEASURE_PROCESS, CHILD("kill", number));
        req.cwd = w->folder;
        struct run_observation o = world_observe(w, &req);
        assert_outcome(&o, ends_a_process(sig) ? "lane.signal" : "ok");
        assert_int_equal(o.raw.exit_signal, ends_a_process(sig) ? sig : 0);
        assert_int_equal(o.raw.exit_status, ends_a_process(sig) ? -1 : 0);
    }
    assert_int_equal(rmdir(w->folder), 0); /* none of them left a core file */
    assert_int_equal(mkdir(w->folder, 0700), 0);
}

static void test_signal_of_a_protocol_lane_and_of_a_build_is_named(void **state)
{
    static const char *const signals[] = {"4", "6", "9", "11", "15", "24", "31", "34", "64"};
    struct world *w = *state;

    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        struct run_observe lane = world_request(
            MEASURE_PROTOCOL, CHILD("say", READY "\n", "go", "kill", signals[i], "forever"));
        struct run_observation o = world_observe(w, &lane);
        assert_outcome(&o, "lane.signal");
        assert_int_equal(o.raw.exit_signal, atoi(signals[i]));
        struct run_exec req = world_exec_request(w, CHILD("kill", signals[i], "forever"));
        struct run_exec_result r = world_exec(w, &req);
        assert_string_equal(r.outcome, "exec.signal");
        assert_int_equal(r.exit_signal, atoi(signals[i]));
    }
}

static void test_stopped_lane_is_ended_by_its_timeout(void **state)
{
    struct world *w = *state;
    struct run_observation o = observe_briefly(state, MEASURE_PROTOCOL, CHILD("kill", "19"));

    assert_outcome(&o, "lane.ready_timeout");
    o = observe_briefly(state, MEASURE_PROTOCOL,
                        CHILD("say", READY "\n", "go", "kill", "19", "say", DONE "\n"));
    assert_outcome(&o, "lane.done_timeout");
    o = observe_briefly(state, MEASURE_PROTOCOL,
                        CHILD("say", READY "\n", "go", "say", DONE "\n", "kill", "19"));
    assert_outcome(&o, "lane.exit_timeout");
    o = observe_briefly(state, MEASURE_PROCESS, CHILD("kill", "19"));
    assert_outcome(&o, "lane.exit_timeout");
    struct run_exec req = world_exec_request(w, CHILD("kill", "19"));
    req.timeout_ms = SHORT_MS;
    struct run_exec_result r = world_exec(w, &req);
    assert_string_equal(r.outcome, "exec.timeout");
    assert_string_equal(r.unremoved, "");
}

static void test_lane_that_renames_itself_is_ended_all_the_same(void **state)
{
    struct run_observation o =
        observe_briefly(state, MEASURE_PROCESS, CHILD("rename", ") R 1 (a\n b)", "forever"));

    assert_outcome(&o, "lane.exit_timeout");
    assert_int_equal(o.raw.leftovers, 0);
}

/* A request to be traced makes the runner the debugger, whose waiting then also sees stops. */
static void test_lane_that_asks_to_be_traced_is_not(void **state)
{
    struct world *w = *state;
    struct run_observation o = observe(state, MEASURE_PROCESS, CHILD("traceme", "exit", "0"));

    assert_outcome(&o, "ok");
    o = observe(state, MEASURE_PROCESS, CHILD("traceme", "exit", "5"));
    assert_outcome(&o, "lane.exit_status");
    assert_int_equal(o.raw.exit_status, 5);
    /* Nobody waits for a protocol lane in this way: it stands until it is ended. */
    o = observe_briefly(state, MEASURE_PROTOCOL, CHILD("traceme", "say", READY "\n"));
    assert_outcome(&o, "lane.ready_timeout");
    struct run_exec req = world_exec_request(w, CHILD("traceme"));
    req.timeout_ms = SHORT_MS;
    struct run_exec_result r = world_exec(w, &req);
    assert_string_equal(r.outcome, "exec.timeout");
}

/* Its end is shown to the debugger first, which does not care. */
static void test_lane_under_a_debugger_that_never_looks_is_ended(void **state)
{
    struct world *w = *state;
    const char *path = world_path(w, "tracer");
    struct run_observation o =
        observe_briefly(state, MEASURE_PROCESS, CHILD("leave-tracer", path, "exit", "0"));

    assert_outcome(&o, "lane.exit_timeout");
    assert_int_equal(o.raw.leftovers, 1);
    assert_true(world_gone(world_pid(w, path)));
    o = protocol(state, CHILD("leave-tracer", path, "say", READY "\n", "go", "say", DONE "\n"));
    assert_outcome(&o, "lane.leftover");
    assert_true(world_gone(world_pid(w, path)));
}

/* ---- what cannot be started */

static void assert_not_started(void **state, const char *const *argv, const char *cwd, int errnum,
                               const char *step)
{
    struct world *w = *state;

    for (int m = 0; m < 2; m++) {
        struct run_observe req = world_request(m ? MEASURE_PROCESS : MEASURE_PROTOCOL, argv);
        req.cwd = cwd;
        struct run_observation o = world_observe(*state, &req);
        assert_outcome(&o, "lane.exec_failed");
        assert_int_equal(o.exec_errno, errnum);
        assert_string_equal(o.exec_step, step);
        assert_int_equal(o.raw.exit_status, -1);
    }
    struct run_exec req = world_exec_request(w, argv);
    req.cwd = cwd;
    struct run_exec_result r = world_exec(w, &req);
    assert_string_equal(r.outcome, "exec.failed");
    assert_int_equal(r.exec_errno, errnum);
    assert_string_equal(r.exec_step, step);
    assert_int_equal(r.wall_ns, -1);
}

#define PROGRAM(path) ((const char *const[]){path, NULL})

static char *repeated(struct world *w, char c, size_t n)
{
    char *text = arena_alloc(&w->arena, n + 1);

    memset(text, c, n);
    return text;
}

static void test_too_much_or_too_long_is_named(void **state)
{
    struct world *w = *state;
    const char *huge = repeated(w, 'x', 200000);
    char *long_path = repeated(w, '/', 5000), *long_name = repeated(w, 'n', 300);

    long_name[0] = '/';
    long_path[4999] = 'x';
    assert_not_started(state, (const char *const[]){world_child(), "exit", huge, NULL}, "/", E2BIG,
                       "execve");
    assert_not_started(state, PROGRAM(long_path), "/", ENAMETOOLONG, "lookup");
    assert_not_started(state, PROGRAM(long_name), "/", ENAMETOOLONG, "execve");
}

static void test_paths_that_lead_nowhere_are_named(void **state)
{
    struct world *w = *state;
    const char *a = world_path(w, "a"), *b = world_path(w, "b");
    const char *dangling = world_path(w, "dangling"), *file = world_path(w, "file");

    assert_int_equal(symlink(a, b), 0);
    assert_int_equal(symlink(b, a), 0);
    assert_int_equal(symlink("/no/such/program", dangling), 0);
    assert_int_equal(file_write(file, "x", 1, 0644, NULL), 0);
    assert_not_started(state, PROGRAM(a), "/", ELOOP, "execve");
    assert_not_started(state, PROGRAM(dangling), "/", ENOENT, "execve");
    assert_not_started(state, PROGRAM(arena_printf(&w->arena, "%s/x", file)), "/", ENOTDIR,
                       "execve");
    assert_not_started(state, PROGRAM("/dev/null"), "/", EACCES, "execve");
    assert_not_started(state, PROGRAM(world_child()), file, ENOTDIR, "chdir");
    assert_not_started(state, PROGRAM(world_child()), a, ELOOP, "chdir");
}

static const char *program_of(struct world *w, const char *name, const char *bytes, size_t len)
{
    const char *path = world_path(w, name);

    assert_int_equal(file_write(path, bytes, len, 0755, NULL), 0);
    assert_int_equal(chmod(path, 0755), 0);
    return path;
}

static void test_files_that_are_no_programs_are_named(void **state)
{
    struct world *w = *state;
    static const char cut[20] = "\177ELF\2\1\1";
    static const char folder[] = "#!/tmp\n";

    assert_not_started(state, PROGRAM(program_of(w, "empty", "", 0)), "/", ENOEXEC, "execve");
    assert_not_started(state, PROGRAM(program_of(w, "cut", cut, sizeof cut)), "/", ENOEXEC,
                       "execve");
    assert_not_started(state, PROGRAM(program_of(w, "folder", folder, strlen(folder))), "/", EACCES,
                       "execve");
    const char *data = world_path(w, "data");
    assert_int_equal(file_write(data, "x", 1, 0644, NULL), 0);
    const char *plain = arena_printf(&w->arena, "#!%s\n", data);
    assert_not_started(state, PROGRAM(program_of(w, "plain", plain, strlen(plain))), "/", EACCES,
                       "execve");
    const char *self = arena_printf(&w->arena, "#!%s/self\n", w->folder);
    assert_not_started(state, PROGRAM(program_of(w, "self", self, strlen(self))), "/", ELOOP,
                       "execve");
}

static void *close_later(void *arg)
{
    clock_sleep_ns(60000000);
    (void)close(*(int *)arg);
    return NULL;
}

static void test_program_that_is_being_written_is_tried_again(void **state)
{
    struct world *w = *state;
    static const char script[] = "#!/bin/sh\nexit 0\n";
    const char *path = program_of(w, "late", script, strlen(script));
    struct run_observe req = world_request(MEASURE_PROCESS, PROGRAM(path));
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    pthread_t closer;

    assert_true(fd >= 0);
    assert_int_equal(pthread_create(&closer, NULL, close_later, &fd), 0);
    struct run_observation o = world_observe(w, &req);
    assert_int_equal(pthread_join(closer, NULL), 0);
    /* On a machine that is very slow to close it, the busy program is what is named. */
    if (strcmp(o.raw.outcome, "ok") != 0)
        assert_int_equal(o.exec_errno, ETXTBSY);
}

static void set_files(struct world *w, rlim_t n, struct rlimit *before)
{
    const char *path =
        arena_printf(&w->arena, "/proc/%d/task/%d/children", run_pid(w->run), run_pid(w->run));
    struct rlimit limit = {n, n};

    pid_t runner = atoi(world_read(w, path)); /* the other of the two is its guard */
    assert_true(runner > 1);
    assert_int_equal(prlimit(runner, RLIMIT_NOFILE, NULL, before), 0);
    limit.rlim_max = before->rlim_max;
    assert_int_equal(prlimit(runner, RLIMIT_NOFILE, &limit, NULL), 0);
}

static void test_runner_without_descriptors_says_so_and_recovers(void **state)
{
    struct world *w = *state;
    struct rlimit before, low;
    struct run_exec req = world_exec_request(w, CHILD("exit", "0"));

    set_files(w, 5, &before);
    struct run_observation o = protocol(state, CHILD("say", READY "\n"));
    assert_outcome(&o, "lane.exec_failed");
    assert_int_equal(o.exec_errno, EMFILE);
    assert_string_equal(o.exec_step, "stdio");
    struct run_exec_result r = world_exec(w, &req);
    assert_string_equal(r.outcome, "exec.failed");
    assert_int_equal(r.exec_errno, EMFILE);
    set_files(w, before.rlim_cur, &low);
    o = protocol(state, CHILD("say", READY "\n", "go", "say", DONE "\n", "eof"));
    assert_outcome(&o, "ok");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_done_may_come_in_pieces),
        TEST(test_piece_of_done_alone_is_none),
        TEST(test_ready_twice_is_an_answer_given_too_early),
        TEST(test_ready_again_after_go_is_no_done),
        TEST(test_done_without_reading_go_is_no_answer),
        TEST(test_output_between_go_and_done_is_the_wrong_line),
        TEST(test_one_byte_after_done_is_too_much),
        TEST(test_lane_that_never_reads_go_times_out),
        TEST(test_lane_that_filled_its_stdin_cannot_hold_the_runner),
        TEST(test_full_stdin_can_be_cancelled),
        TEST(test_floods_of_a_process_lane_have_their_own_causes),
        TEST(test_flood_of_stderr_is_named_wherever_it_comes),
        TEST(test_flood_of_stdout_is_named_by_where_it_comes),
        TEST(test_closed_streams_are_no_error_of_the_runner),
        TEST(test_death_by_each_signal_is_named),
        TEST(test_signal_of_a_protocol_lane_and_of_a_build_is_named),
        TEST(test_stopped_lane_is_ended_by_its_timeout),
        TEST(test_lane_that_renames_itself_is_ended_all_the_same),
        TEST(test_lane_that_asks_to_be_traced_is_not),
        TEST(test_lane_under_a_debugger_that_never_looks_is_ended),
        TEST(test_too_much_or_too_long_is_named),
        TEST(test_paths_that_lead_nowhere_are_named),
        TEST(test_files_that_are_no_programs_are_named),
        TEST(test_program_that_is_being_written_is_tried_again),
        TEST(test_runner_without_descriptors_says_so_and_recovers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
