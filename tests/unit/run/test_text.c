/* Every outcome has its own sentence, which names whose it is, the cause and the next step. */
#include "unit.h"

#include <errno.h>
#include <signal.h>

#include "run/run_text.h"

static const struct run_text_who who = {"tasks_10000", "c", "after"};
static const char *const argv[] = {"/suite/tasks", NULL};

static const struct run_observe request = {
    .measure = MEASURE_PROTOCOL,
    .argv = argv,
    .ready = "READY 10000",
    .go = "GO",
    .done = "DONE 10000 49995000",
    .baseline = "BASELINE 10000",
    .load = "LOAD 10000",
    .window_ms = 5600,
    .ready_timeout_ms = 1200,
    .done_timeout_ms = 3400,
};

static struct run_observation observation(const char *outcome)
{
    return (struct run_observation){
        .raw = {.outcome = outcome,
                .go_ns = -1,
                .done_ns = -1,
                .exit_status = 3,
                .exit_signal = 9,
                .leftovers = 2,
                .stderr_bytes = 17},
        .exec_errno = ENOENT,
        .exec_step = "execve",
        .got = "DONE 10000 7",
        .leftover_names = "41 (sleep), 42 (cat)",
        .stdout_tail = "",
        .stderr_tail = "Traceback\nValueError: seven\n",
    };
}

static const struct {
    const char *outcome, *field, *has, *also;
} sentences[] = {
    {"lane.exec_failed", "lanes.c.command", "cannot start /suite/tasks: No such file", "PATH"},
    {"lane.ready_wrong", "ready", "expected \"READY 10000\", got \"DONE 10000 7\"", "correct"},
    {"lane.ready_timeout", "ready", "within 1200 ms, only \"DONE 10000 7\"", "raise"},
    {"lane.ready_unflushed", "lanes.c.command", "buffer", "flush stdout after READY"},
    {"lane.eof_before_ready", "lanes.c.command", "before it printed READY", "by hand"},
    {"lane.go_failed", "lanes.c.command", "closed its stdin", "read the GO line"},
    {"lane.done_early", "lanes.c.command", "\"DONE 10000 7\" before GO", "after the GO line"},
    {"lane.done_wrong", "done", "expected \"DONE 10000 49995000\", got \"DONE 10000 7\"",
     "correct"},
    {"lane.done_timeout", "done", "DONE line (\"DONE 10000 49995000\") within 3400 ms", "raise"},
    {"lane.done_unflushed", "lanes.c.command", "buffer", "flush stdout after DONE"},
    {"lane.eof_before_done", "lanes.c.command", "before it printed DONE", "by hand"},
    {"lane.line_too_long", "lanes.c.command", "over 512 bytes", "short record"},
    {"lane.output_extra", "lanes.c.command", "more after DONE: \"DONE 10000 7\"", "nothing"},
    {"lane.stdout_wrong", "stdout", "wrong output", "correct"},
    {"lane.stdout_limit", "lanes.c.command", "more to stdout", "print less"},
    {"lane.counter_bad", "lanes.c.command", "the line \"DONE 10000 7\"", "print nothing else"},
    {"lane.counter_unknown", "counters", "does not declare", "do not print it"},
    {"lane.counter_twice", "lanes.c.command", "printed before", "print each once"},
    {"lane.counter_missing", "counters", "did not print its counter DONE", "take it out"},
    {"lane.baseline_wrong", "baseline", "expected \"BASELINE 10000\", got \"DONE 10000 7\"",
     "correct"},
    {"lane.baseline_missing", "baseline", "no BASELINE (\"BASELINE 10000\")", "before the load"},
    {"lane.baseline_twice", "baseline", "(\"BASELINE 10000\") twice", "once"},
    {"lane.baseline_timeout", "baseline", "BASELINE line (\"BASELINE 10000\") within 1200 ms",
     "raise"},
    {"lane.baseline_unflushed", "lanes.c.command", "buffer", "flush stdout after BASELINE"},
    {"lane.eof_before_baseline", "lanes.c.command", "before it printed BASELINE", "by hand"},
    {"lane.ready_early", "load", "before it had read the line \"LOAD 10000\"", "must begin after"},
    {"lane.load_failed", "lanes.c.command", "before \"LOAD 10000\"", "must read"},
    {"lane.memory_unknown", "lanes.c.command", "could not be read", "daemon's user"},
    {"lane.window_ended", "lanes.c.command", "its window of 5600 ms", "wait for GO"},
    {"lane.cpu_unknown", "lanes.c.command", "is not known", "start none there"},
    {"lane.instructions_unknown", "measure", "could not be counted", "by hand"},
    {"lane.artifact_differs", "lanes.c.command", "was no good kernel", "DONE"},
    {"lane.terminal_differs", "lanes.c.command", "was no good kernel", "DONE"},
    {"lane.kernel_failed", "lanes.c.command", "was no good kernel", "DONE"},
    {"lane.prepare_failed", "lanes.c.prepare", "could not be prepared", "DONE"},
    {"lane.output_missing", "lanes.c.outputs", "did not write its output DONE", "let the step"},
    {"lane.output_link", "lanes.c.outputs", "a link in place of its output", "name the file"},
    {"lane.output_special", "lanes.c.outputs", "no regular file", "name a file"},
    {"lane.output_large", "lanes.c.outputs", "more than 1 GiB to its output DONE", "a smaller"},
    {"lane.output_differs", "lanes.c.outputs", "wrote other bytes", "drop \"reproducible\""},
    {"lane.file_missing", "lanes.c.files", "has no file DONE", "mend its path"},
    {"lane.file_link", "lanes.c.files", "has a link", "name the file"},
    {"lane.file_special", "lanes.c.files", "no regular file", "name a file"},
    {"lane.link_forbidden", "lanes.c.must_not_link", "has DONE", "without that"},
    {"lane.link_missing", "lanes.c.must_link", "lacks DONE", "with that"},
    {"lane.link_unknown", "lanes.c.must_link", "cannot be read", "or drop"},
    {"lane.stderr_written", "lanes.c.command",
     "17 bytes to stderr (its stderr ends: ValueError: "
     "seven)",
     "empty"},
    {"lane.stderr_limit", "lanes.c.command", "more to stderr", "print less"},
    {"lane.exit_timeout", "lanes.c.command", "within 3400 ms", "when its stdin ends"},
    {"lane.exit_status", "lanes.c.command",
     "status 3 before READY (its stderr ends: ValueError: "
     "seven)",
     "by hand"},
    {"lane.signal", "lanes.c.command", "signal 9 (Killed) before READY", "by hand"},
    {"lane.leftover", "lanes.c.command", "2 processes running, which were ended: 41 (sleep), 42",
     "wait for"},
    {"lane.cancelled", "lanes.c.command", "cancelled", "submit"},
    {"run.refused", "lanes.c.command", "refused", "reinstall"},
    {"runner.unclean", "lanes.c.command", "not started", "by hand"},
};

static void test_each_outcome_has_its_sentence(void **state)
{
    for (size_t i = 0; i < sizeof sentences / sizeof sentences[0]; i++) {
        struct run_observation o = observation(sentences[i].outcome);
        struct err e = {0};
        assert_int_equal(run_observe_text(&who, &request, &o, &e), -EPROTO);
        assert_string_equal(e.code, sentences[i].outcome);
        assert_int_equal(strncmp(e.field, "workloads.tasks_10000.", 22), 0);
        assert_string_equal(e.field + 22, sentences[i].field);
        assert_int_equal(strncmp(e.text, "workload tasks_10000, lane c, side after: ", 42), 0);
        assert_non_null(strstr(e.text, sentences[i].has));
        assert_non_null(strstr(e.text, sentences[i].also));
        assert_null(strchr(e.text, '\n'));
    }
}

static void test_ok_has_no_sentence(void **state)
{
    struct run_observation o = observation("ok");
    struct err e = {0};

    assert_int_equal(run_observe_text(&who, &request, &o, &e), 0);
    assert_false(err_is_set(&e));
}

static void test_unknown_outcome_still_has_words(void **state)
{
    struct run_observation o = observation("lane.unheard_of");
    struct err e = {0};

    assert_int_equal(run_observe_text(&who, &request, &o, &e), -EPROTO);
    assert_string_equal(e.code, "lane.unheard_of");
    assert_non_null(strstr(e.text, "no words"));
}

static void test_how_far_the_lane_had_come_is_said(void **state)
{
    struct run_observation o = observation("lane.exit_status");
    struct err e = {0};

    o.raw.ready = "READY 10000";
    (void)run_observe_text(&who, &request, &o, &e);
    assert_non_null(strstr(e.text, "status 3 before GO"));
    err_clear(&e);
    o.raw.go_ns = 1;
    (void)run_observe_text(&who, &request, &o, &e);
    assert_non_null(strstr(e.text, "status 3 before DONE"));
    err_clear(&e);
    o.raw.done_ns = 2;
    (void)run_observe_text(&who, &request, &o, &e);
    assert_non_null(strstr(e.text, "status 3 after DONE"));
}

static void test_done_before_go_was_read_says_so(void **state)
{
    struct run_observation o = observation("lane.done_early");
    struct err e = {0};

    (void)run_observe_text(&who, &request, &o, &e);
    assert_non_null(strstr(e.text, "before GO was written"));
    err_clear(&e);
    o.raw.go_ns = 1;
    (void)run_observe_text(&who, &request, &o, &e);
    assert_non_null(strstr(e.text, "before GO was read"));
}

static void test_flood_beyond_what_is_expected_says_both_sizes(void **state)
{
    struct run_observe req = request;
    struct run_observation o = observation("lane.stdout_limit");
    struct err e = {0};

    req.stdout_text = "12\n";
    o.raw.stdout_bytes = 2097152;
    (void)run_observe_text(&who, &req, &o, &e);
    assert_non_null(strstr(e.text, "printed 2097152 bytes to stdout, where 3 are expected"));
}

static void test_what_cannot_be_removed_is_named(void **state)
{
    struct run_observation o = observation("lane.leftover");
    struct err e = {0};

    o.unremoved = "77 (stuck)";
    (void)run_observe_text(&who, &request, &o, &e);
    assert_non_null(strstr(e.text, "could not be ended: 77 (stuck)"));
}

static void test_long_text_leaves_room_for_the_next_step(void **state)
{
    struct run_observation o = observation("lane.done_wrong");
    struct run_observe req = request;
    char got[4096], done[512];
    struct err e = {0};

    memset(got, 'g', sizeof got - 1);
    got[sizeof got - 1] = '\0';
    for (size_t i = 0; i + 2 < sizeof done; i += 2)
        memcpy(done + i, "\xc3\xa9", 3);
    o.got = got;
    req.done = done;
    (void)run_observe_text(&who, &req, &o, &e);
    assert_non_null(strstr(e.text, "correct the program"));
    assert_non_null(strstr(e.text, "\xc3\xa9...\", got"));
}

static void test_start_failures_have_their_own_next_step(void **state)
{
    static const struct {
        int errnum;
        const char *step, *has;
    } cases[] = {
        {ENOENT, "lookup", "policy's PATH"},
        {EACCES, "execve", "chmod +x"},
        {ENOEXEC, "execve", "interpreter"},
        {ENOENT, "chdir", "working directory"},
        {EINVAL, "affinity", "cpu_set"},
        {ENOMEM, "spawn", "memory"},
        {ETXTBSY, "execve", "open for writing"},
        {E2BIG, "execve", "shorten its arguments"},
        {ENAMETOOLONG, "lookup", "shorten its path"},
        {ELOOP, "execve", "links"},
        {ENOTDIR, "execve", "not a folder"},
        {EAGAIN, "spawn", "too many processes"},
        {EMFILE, "stdio", "limit"},
        {EIO, "execve", "by hand"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct run_observation o = observation("lane.exec_failed");
        struct err e = {0};
        o.exec_errno = cases[i].errnum;
        o.exec_step = cases[i].step;
        (void)run_observe_text(&who, &request, &o, &e);
        assert_non_null(strstr(e.text, strerror(cases[i].errnum)));
        assert_non_null(strstr(e.text, cases[i].has));
    }
}

static void test_build_steps_have_their_sentences(void **state)
{
    static const struct {
        const char *outcome, *code, *has, *also;
        int exec_errno, exit_signal;
    } cases[] = {
        {"exec.failed", "build.failed", "cannot start /suite/tasks: No such file", "PATH", ENOENT,
         0},
        {"exec.exit_status", "build.failed",
         "exited with status 2 (its output ends: make: *** Error 1)", "see its log /logs/build-1",
         0, 0},
        {"exec.signal", "build.failed", "signal 9 (Killed)", "see its log", 0, SIGKILL},
        {"exec.timeout", "build.timeout", "within 1000 ms", "raise", 0, SIGKILL},
        {"exec.cancelled", "job.cancelled", "was cancelled after 5 ms", "submit", 0, SIGTERM},
        {"runner.unclean", "runner.unclean", "77 (stuck)", "by hand", 0, 0},
        {"exec.unheard_of", "build.failed", "exec.unheard_of", "reinstall", 0, 0},
    };
    const struct run_exec req = {.argv = argv, .log_path = "/logs/build-1", .timeout_ms = 1000};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct run_exec_result r = {.exit_status = 2,
                                    .exit_signal = cases[i].exit_signal,
                                    .exec_errno = cases[i].exec_errno,
                                    .exec_step = "lookup",
                                    .wall_ns = 5000000,
                                    .unremoved = "77 (stuck)",
                                    .tail = "cc x.c\nmake: *** Error 1\n\n"};
        struct err e = {0};
        (void)snprintf(r.outcome, sizeof r.outcome, "%s", cases[i].outcome);
        assert_int_equal(run_exec_text("build step 1 of side after", "build[0]", &req, &r, &e),
                         -EPROTO);
        assert_string_equal(e.code, cases[i].code);
        assert_string_equal(e.field, "build[0]");
        assert_int_equal(strncmp(e.text, "build step 1 of side after: ", 28), 0);
        assert_non_null(strstr(e.text, cases[i].has));
        assert_non_null(strstr(e.text, cases[i].also));
    }
    struct run_exec_result ok = {.outcome = "ok"};
    assert_int_equal(run_exec_text("x", "build[0]", &req, &ok, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_outcome_has_its_sentence),
        cmocka_unit_test(test_ok_has_no_sentence),
        cmocka_unit_test(test_unknown_outcome_still_has_words),
        cmocka_unit_test(test_how_far_the_lane_had_come_is_said),
        cmocka_unit_test(test_done_before_go_was_read_says_so),
        cmocka_unit_test(test_flood_beyond_what_is_expected_says_both_sizes),
        cmocka_unit_test(test_what_cannot_be_removed_is_named),
        cmocka_unit_test(test_long_text_leaves_room_for_the_next_step),
        cmocka_unit_test(test_start_failures_have_their_own_next_step),
        cmocka_unit_test(test_build_steps_have_their_sentences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
