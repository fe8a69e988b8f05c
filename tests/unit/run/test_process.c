/* Whole processes: what is timed, how stdout is compared, and how a program is started. */
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files.h"

#define SHORT_MS 300

static struct run_observation observe_stdout(void **state, const char *expected,
                                             const char *const *argv)
{
    struct run_observe req = world_request(MEASURE_PROCESS, argv);

    req.stdout_text = expected;
    return world_observe(*state, &req);
}

static void assert_invalid(const struct run_observation *o, const char *outcome)
{
    assert_string_equal(o->raw.outcome, outcome);
    assert_int_equal(o->raw.elapsed_ns, -1);
    assert_null(o->unremoved);
}

static void test_figure_is_spawn_to_exit(void **state)
{
    struct run_observation o = observe_stdout(state, "10000000\n", CHILD("say", "10000000\n"));

    assert_string_equal(o.raw.outcome, "ok");
    assert_int_equal(o.raw.elapsed_ns, o.raw.exit_ns - o.raw.start_ns);
    assert_true(o.raw.elapsed_ns > 0);
    assert_int_equal(o.raw.elapsed_ns, o.raw.process_ns);
    assert_int_equal(o.raw.go_ns, -1);
    assert_int_equal(o.raw.done_ns, -1);
    assert_int_equal(o.raw.threads, -1);
    assert_int_equal(o.raw.stdout_bytes, 9);
    assert_int_equal(o.raw.exit_status, 0);
    assert_null(o.raw.ready);
}

static void test_cpu_time_is_of_the_whole_life(void **state)
{
    struct run_observation o = observe_stdout(state, NULL, CHILD("burn", "50"));

    assert_string_equal(o.raw.outcome, "ok");
    assert_true(o.raw.interval_cpu_ns >= 50000000);
    assert_true(o.raw.elapsed_ns >= 50000000);
}

static void test_stdout_must_be_exact(void **state)
{
    static const struct {
        const char *said, *got;
    } wrong[] = {
        {"10000000", ""},
        {"10000000\r\n", "\\x0d\\x0a"},
        {"10000001\n", "1\\x0a"},
        {"10000000\n\n", "\\x0a"},
        {"10000000\n\\0", "\\x00"},
        {"1000000\n", "\\x0a"},
        {" 10000000\n", " 10000000\\x0a"},
    };

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct run_observation o = observe_stdout(state, "10000000\n", CHILD("say", wrong[i].said));
        assert_invalid(&o, "lane.stdout_wrong");
        assert_string_equal(o.got ? o.got : "", wrong[i].got);
    }
    struct run_observation o = observe_stdout(state, "10000000\n", CHILD("exit", "0"));
    assert_invalid(&o, "lane.stdout_wrong");
    o = observe_stdout(state, "", CHILD("say", "x"));
    assert_invalid(&o, "lane.stdout_wrong");
    o = observe_stdout(state, "", CHILD("exit", "0"));
    assert_string_equal(o.raw.outcome, "ok");
}

static void test_long_stdout_is_compared_whole(void **state)
{
    enum { LINES = 100000, LINE = 11 };
    struct world *w = *state;
    char *expected = arena_alloc(&w->arena, (size_t)LINES * LINE + 1), *to = expected;

    for (int i = 1; i < LINES; i++, to += LINE)
        memcpy(to, "0123456789\n", LINE);
    memcpy(to, "the end\n", 8);
    /* More than a message may hold in all is refused before anything is sent. */
    struct run_observe req = world_request(MEASURE_PROCESS, CHILD("lines", "100000"));
    struct err e = {0};
    req.stdout_text = expected;
    assert_int_equal(run_observe_begin(w->run, &req, &e), -E2BIG);
    assert_string_equal(e.code, "run.too_large");

    to[-LINE * (LINES / 2)] = '\0';
    struct run_observation o = observe_stdout(state, expected, CHILD("lines", "100000"));
    assert_invalid(&o, "lane.stdout_wrong");
    assert_int_equal(o.raw.stdout_bytes, (LINES - 1) * LINE + 8);
    assert_int_equal(strlen(o.stdout_tail), RUN_TAIL_BYTES);
    assert_string_equal(o.stdout_tail + RUN_TAIL_BYTES - 8, "the end\n");

    memcpy(expected + LINE * 1000, "the end\n", 9);
    o = observe_stdout(state, expected, CHILD("lines", "1001"));
    assert_string_equal(o.raw.outcome, "ok");
}

static void test_unchecked_stdout_is_limited(void **state)
{
    struct run_observe req = world_request(MEASURE_PROCESS, CHILD("say", "12345678"));

    req.stdout_limit_bytes = 8;
    struct run_observation o = world_observe(*state, &req);
    assert_string_equal(o.raw.outcome, "ok");
    assert_int_equal(o.raw.stdout_bytes, 8);

    req.stdout_limit_bytes = 7;
    o = world_observe(*state, &req);
    assert_invalid(&o, "lane.stdout_limit");
}

static void test_flood_blocks_nobody_and_the_limit_is_named_as_the_cause(void **state)
{
    struct run_observe req = world_request(MEASURE_PROCESS, CHILD("flood", "2"));
    struct run_observation o = observe_stdout(state, NULL, CHILD("flood", "1"));

    assert_invalid(&o, "lane.stdout_limit");
    assert_int_equal(o.raw.exit_status, 99); /* it could not write on */
    req.stderr_allowed = true;
    o = world_observe(*state, &req);
    assert_invalid(&o, "lane.stderr_limit");
}

static void test_stderr_counts_unless_it_is_allowed(void **state)
{
    struct run_observe req = world_request(MEASURE_PROCESS, CHILD("err", "warning\n"));
    struct run_observation o = world_observe(*state, &req);

    assert_invalid(&o, "lane.stderr_written");
    assert_string_equal(o.stderr_tail, "warning\n");
    req.stderr_allowed = true;
    o = world_observe(*state, &req);
    assert_string_equal(o.raw.outcome, "ok");
    assert_int_equal(o.raw.stderr_bytes, 8);
}

static void test_exit_status_and_signal_are_named(void **state)
{
    struct run_observation o = observe_stdout(state, "x", CHILD("exit", "3"));

    assert_invalid(&o, "lane.exit_status");
    assert_int_equal(o.raw.exit_status, 3);
    o = observe_stdout(state, NULL, CHILD("raise"));
    assert_invalid(&o, "lane.signal");
    assert_int_equal(o.raw.exit_signal, 10);
    assert_int_equal(o.raw.exit_status, -1);
}

static void test_process_that_does_not_end(void **state)
{
    struct run_observe req = world_request(MEASURE_PROCESS, CHILD("forever"));

    req.done_timeout_ms = SHORT_MS;
    struct run_observation o = world_observe(*state, &req);
    assert_invalid(&o, "lane.exit_timeout");
}

/* ---- how a program is started */

static void assert_not_started(void **state, const char *program, const char *cwd, int errnum,
                               const char *step)
{
    const char *const argv[] = {program, NULL};

    for (int m = 0; m < 2; m++) {
        struct run_observe req = world_request(m ? MEASURE_PROCESS : MEASURE_PROTOCOL, argv);
        req.cwd = cwd;
        struct run_observation o = world_observe(*state, &req);
        assert_invalid(&o, "lane.exec_failed");
        assert_int_equal(o.exec_errno, errnum);
        assert_string_equal(o.exec_step, step);
        assert_int_equal(o.raw.exit_status, -1);
        assert_int_equal(o.raw.exit_ns, -1);
        assert_int_equal(o.raw.process_ns, -1);
        assert_int_equal(o.raw.max_rss_bytes, -1);
        assert_int_equal(o.raw.runner_cpu_ns, -1);
        assert_int_equal(o.raw.runner_delay_ns, -1);
    }
}

static const char *make_file(struct world *w, const char *name, const char *content, mode_t mode)
{
    const char *path = world_path(w, name);

    assert_int_equal(file_write(path, content, strlen(content), mode, NULL), 0);
    assert_int_equal(chmod(path, mode), 0);
    return path;
}

static void test_what_cannot_be_executed_is_named(void **state)
{
    struct world *w = *state;
    const char *interpreter = make_file(w, "script", "#!/no/such/interpreter\n", 0755);

    assert_not_started(state, "/no/such/program", "/", ENOENT, "execve");
    assert_not_started(state, "no-such-program", "/", ENOENT, "lookup");
    assert_not_started(state, "", "/", EINVAL, "lookup");
    assert_not_started(state, w->folder, "/", EACCES, "execve");
    assert_not_started(state, make_file(w, "data", "x", 0644), "/", EACCES, "execve");
    assert_not_started(state, make_file(w, "text", "echo no\n", 0755), "/", ENOEXEC, "execve");
    assert_not_started(state, interpreter, "/", ENOENT, "execve");
    assert_not_started(state, "/bin/true", "/no/such/folder", ENOENT, "chdir");
}

static void test_program_still_open_for_writing_is_named(void **state)
{
    struct world *w = *state;
    const char *path = make_file(w, "busy", "\177ELF", 0755);
    int fd = open(path, O_WRONLY | O_CLOEXEC);

    assert_true(fd >= 0);
    assert_not_started(state, path, "/", ETXTBSY, "execve");
    assert_int_equal(close(fd), 0);
}

static void test_name_is_looked_up_in_absolute_folders_of_path_only(void **state)
{
    struct world *w = *state;
    const char *const argv[] = {"tool", NULL};
    const char *here = arena_printf(&w->arena, "PATH=:.:%s/none:%s", w->folder, w->folder);
    const char *const env[] = {here, NULL}, *const relative[] = {"PATH=.:", NULL};
    struct run_observe req = world_request(MEASURE_PROCESS, argv);

    (void)make_file(w, "tool", "#!/bin/sh\necho found\n", 0755);
    req.env = env;
    req.stdout_text = "found\n";
    struct run_observation o = world_observe(w, &req);
    assert_string_equal(o.raw.outcome, "ok");

    req.env = relative;
    req.cwd = w->folder;
    o = world_observe(w, &req);
    assert_invalid(&o, "lane.exec_failed");
    assert_int_equal(o.exec_errno, ENOENT);

    (void)make_file(w, "tool", "#!/bin/sh\n", 0644);
    req.env = env;
    o = world_observe(w, &req);
    assert_int_equal(o.exec_errno, EACCES);
}

static void test_child_gets_exactly_what_the_request_lists(void **state)
{
    struct world *w = *state;
    const char *path = world_path(w, "report");
    const char *const env[] = {"B=2", "A=1", "EMPTY=", NULL};
    struct run_observe req = world_request(MEASURE_PROCESS, CHILD("report", path));

    req.env = env;
    req.cwd = w->folder;
    struct run_observation o = world_observe(w, &req);
    assert_string_equal(o.raw.outcome, "ok");
    const char *text = world_read(w, path);
    assert_int_equal(strncmp(text, "env B=2\nenv A=1\nenv EMPTY=\ncwd ", 31), 0);
    assert_true(world_has_line(text, arena_printf(&w->arena, "cwd %s", w->folder)));
    assert_true(world_has_line(text, "fds 0 1 2"));
    assert_true(world_has_line(text, "leader 1"));
    assert_true(world_has_line(text, "blocked 0"));
    assert_true(world_has_line(text, "handled 0"));
    assert_true(world_has_line(text, arena_printf(&w->arena, "policy %d", SCHED_OTHER)));
    assert_true(world_has_line(text, "core 1"));
    assert_true(world_has_line(text, "umask 22"));
}

static void burden(int *files)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigset_t all;
    int fd = open("/proc/self/oom_score_adj", O_WRONLY);

    if (fd >= 0 && write(fd, "-500", 4) == 4) /* as root only */
        (void)setpriority(PRIO_PROCESS, 0, -5);
    (void)setenv("GIT_DIR", "/x", 1);
    (void)setenv("LD_PRELOAD", "", 1);
    for (int sig = 1; sig <= 64; sig++)
        (void)sigaction(sig, &ignore, NULL);
    (void)sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, NULL);
    (void)umask(0777);
    for (int i = 0; i < 20; i++) /* not closed on exec */
        *files += open("/dev/null", O_RDWR) >= 0;
}

/* In a session with a terminal of its own, with all that a child could inherit. */
static void be_burdened_daemon(struct world *w, const char *path, const char *terminal)
{
    const char *const env[] = {"A=1", NULL};
    struct run_observe req = world_request(MEASURE_PROCESS, CHILD("report", path));
    struct run_observation o;
    struct run *run;
    int files = 0;

    if (setsid() < 0 || open(terminal, O_RDWR) < 0 || open("/dev/tty", O_RDWR) < 0)
        _exit(2);
    burden(&files);
    if (files != 20 || run_new(world_runner(), &run, NULL) != 0)
        _exit(3);
    req.env = env;
    if (run_observe_begin(run, &req, NULL) != 0 || run_wait(run, LONG_MS) != 0 ||
        run_observe_finish(run, &w->arena, &o, NULL) != 0)
        _exit(4);
    run_free(run);
    _exit(strcmp(o.raw.outcome, "ok") == 0 ? 0 : 5);
}

static void test_nothing_of_the_daemons_standing_is_inherited(void **state)
{
    static const char *const lines[] = {
        "fds 0 1 2",
        "leader 1",
        "group 1",
        "tty 0",
        "umask 22",
        "core 1",
        "SigBlk:\t0000000000000000",
        "SigIgn:\t0000000000000000",
        "ShdPnd:\t0000000000000000",
    };
    struct world *w = *state;
    const char *path = world_path(w, "report");
    int status, master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

    assert_true(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        be_burdened_daemon(w, path, ptsname(master));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    const char *text = world_read(w, path);
    assert_int_equal(strncmp(text, "env A=1\ncwd /\n", 14), 0);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        if (!world_has_line(text, lines[i]))
            fail_msg("no line \"%s\" in %s", lines[i], text);
    assert_null(strstr(text, "\noom -"));
    /* A lowered priority can be given up by root only. */
    int nice =
        geteuid() == 0 || getpriority(PRIO_PROCESS, 0) < 0 ? 0 : getpriority(PRIO_PROCESS, 0);
    assert_true(world_has_line(text, arena_printf(&w->arena, "nice %d", nice)));
    (void)close(master);
}

static int first_cpu(void)
{
    cpu_set_t cpus;
    int cpu = 0;

    assert_int_equal(sched_getaffinity(0, sizeof cpus, &cpus), 0);
    while (!CPU_ISSET((size_t)cpu, &cpus))
        cpu++;
    return cpu;
}

static void test_pinned_lane_runs_on_its_core_only(void **state)
{
    struct world *w = *state;
    const char *path = world_path(w, "report");
    const char *const argv[] = {world_child(), "say", READY "\n", "go",  "report",
                                path,          "say", DONE "\n",  "eof", NULL};
    int cpu = first_cpu();

    for (int m = 0; m < 2; m++) {
        struct run_observe req = m ? world_request(MEASURE_PROCESS, CHILD("report", path))
                                   : world_request(MEASURE_PROTOCOL, argv);
        req.pin_cpu = cpu;
        struct run_observation o = world_observe(w, &req);
        assert_string_equal(o.raw.outcome, "ok");
        assert_int_equal(o.raw.cpu, cpu);
        const char *text = world_read(w, path);
        assert_true(world_has_line(text, arena_printf(&w->arena, "cpus %d", cpu)));
        /* The runner may wait in a real-time class; the lane must not inherit it. */
        assert_true(world_has_line(text, arena_printf(&w->arena, "policy %d", SCHED_OTHER)));
    }
}

static void test_unpinned_lane_runs_on_the_given_set(void **state)
{
    struct world *w = *state;
    const char *path = world_path(w, "report");
    const int cpus[] = {first_cpu()};
    struct run_observe req = world_request(MEASURE_PROCESS, CHILD("report", path));

    req.cpus = cpus;
    req.n_cpus = 1;
    struct run_observation o = world_observe(w, &req);
    assert_string_equal(o.raw.outcome, "ok");
    assert_int_equal(o.raw.cpu, -1);
    assert_true(world_has_line(world_read(w, path), arena_printf(&w->arena, "cpus %d", cpus[0])));
}

static void test_lane_after_a_pinned_one_is_not_pinned(void **state)
{
    struct world *w = *state;
    const char *before = world_path(w, "before"), *after = world_path(w, "after");
    struct run_observe req = world_request(MEASURE_PROCESS, CHILD("report", before));

    (void)world_observe(w, &req);
    req = world_request(MEASURE_PROCESS, CHILD("exit", "0"));
    req.pin_cpu = first_cpu();
    struct run_observation o = world_observe(w, &req);
    assert_int_equal(o.raw.cpu, req.pin_cpu);
    req = world_request(MEASURE_PROCESS, CHILD("report", after));
    o = world_observe(w, &req);
    assert_int_equal(o.raw.cpu, -1);
    const char *a = world_read(w, before), *b = world_read(w, after);
    const char *end = strstr(a, "\nName:"); /* then come its pid and the like */
    assert_non_null(end);
    assert_int_equal(strncmp(a, b, (size_t)(end - a)), 0);
}

static void test_cpu_that_the_host_does_not_have_is_refused(void **state)
{
    struct run_observe req = world_request(MEASURE_PROCESS, CHILD("exit", "0"));
    struct err e = {0};

    req.pin_cpu = 1023;
    struct run_observation o = world_observe(*state, &req);
    assert_invalid(&o, "lane.exec_failed");
    assert_string_equal(o.exec_step, "affinity");
    req.pin_cpu = -1;
    req.cpus = (const int[]){5000};
    req.n_cpus = 1;
    assert_int_equal(run_observe_begin(((struct world *)*state)->run, &req, &e), -EINVAL);
    assert_string_equal(e.code, "run.cpu");
}

static void test_peak_memory_is_the_lanes_own(void **state)
{
    struct run_observation big = observe_stdout(state, NULL, CHILD("memory", "96"));
    struct run_observation small = observe_stdout(state, NULL, CHILD("exit", "0"));

    assert_string_equal(big.raw.outcome, "ok");
    assert_true(big.raw.max_rss_bytes >= 96 << 20);
    assert_true(small.raw.max_rss_bytes < 48 << 20);
    assert_true(small.raw.max_rss_bytes > 0);
}

static void test_runner_maps_no_library_but_libc(void **state)
{
    struct world *w = *state;
    const char *maps = world_read(w, arena_printf(&w->arena, "/proc/%d/maps", run_pid(w->run)));

    assert_non_null(strstr(maps, "libc"));
    assert_null(strstr(maps, "libcrypto"));
    assert_null(strstr(maps, "libsqlite"));
    assert_null(strstr(maps, "libcjson"));
    assert_null(strstr(maps, "libuv"));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_figure_is_spawn_to_exit),
        TEST(test_cpu_time_is_of_the_whole_life),
        TEST(test_stdout_must_be_exact),
        TEST(test_long_stdout_is_compared_whole),
        TEST(test_unchecked_stdout_is_limited),
        TEST(test_flood_blocks_nobody_and_the_limit_is_named_as_the_cause),
        TEST(test_stderr_counts_unless_it_is_allowed),
        TEST(test_exit_status_and_signal_are_named),
        TEST(test_process_that_does_not_end),
        TEST(test_what_cannot_be_executed_is_named),
        TEST(test_program_still_open_for_writing_is_named),
        TEST(test_name_is_looked_up_in_absolute_folders_of_path_only),
        TEST(test_child_gets_exactly_what_the_request_lists),
        TEST(test_nothing_of_the_daemons_standing_is_inherited),
        TEST(test_pinned_lane_runs_on_its_core_only),
        TEST(test_unpinned_lane_runs_on_the_given_set),
        TEST(test_lane_after_a_pinned_one_is_not_pinned),
        TEST(test_cpu_that_the_host_does_not_have_is_refused),
        TEST(test_peak_memory_is_the_lanes_own),
        TEST(test_runner_maps_no_library_but_libc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
