/* The daemon's side of a runner that is broken: each way has a cause of its own, nothing that it
 * says is taken for an observation, and nobody waits for ever. */
#include "world.h"

#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "base/files.h"

#define FUZZED 400
#define HANG_MS 200 /* waited for in full by those that hang */

static int setup(void **state)
{
    struct world *w = calloc(1, sizeof *w);

    (void)signal(SIGPIPE, SIG_IGN);
    w->folder = unit_folder();
    *state = w;
    return 0;
}

static struct run *start(struct world *w, const char *way)
{
    const char *path = world_path(w, "runner"), *fake = getenv("AURABENCH_FAKE_RUNNER");
    const char *script = arena_printf(&w->arena, "#!%s %s\n", fake, way);
    struct run *run = NULL;
    struct err e = {0};

    assert_int_equal(file_write(path, script, strlen(script), 0755, &e), 0);
    assert_int_equal(chmod(path, 0755), 0);
    if (run_new(path, &run, &e) != 0)
        fail_msg("%s", e.text);
    return run;
}

static int observe(struct world *w, struct run *run, enum measure measure,
                   struct run_observation *o, struct err *e)
{
    struct run_observe req = world_request(measure, CHILD("exit", "0"));

    req.ready_timeout_ms = req.done_timeout_ms = 0;
    int rc = run_observe_begin(run, &req, e);
    if (rc != 0)
        return rc;
    (void)run_wait(run, -1);
    return run_observe_finish(run, &w->arena, o, e);
}

static int exec(struct world *w, struct run *run, struct run_exec_result *r, struct err *e)
{
    struct run_exec req = world_exec_request(w, CHILD("exit", "0"));

    req.timeout_ms = 0;
    int rc = run_exec_begin(run, &req, e);
    if (rc != 0)
        return rc;
    (void)run_wait(run, -1);
    return run_exec_finish(run, r, e);
}

static void test_working_answers_are_taken(void **state)
{
    static const char *const ways[] = {"good", "bytewise"};
    struct world *w = *state;

    for (size_t i = 0; i < 2; i++) {
        struct run *run = start(w, ways[i]);
        struct run_observation o;
        struct run_exec_result r;
        assert_int_equal(observe(w, run, MEASURE_PROTOCOL, &o, NULL), 0);
        assert_string_equal(o.raw.outcome, "ok");
        assert_int_equal(observe(w, run, MEASURE_PROCESS, &o, NULL), 0);
        assert_string_equal(o.raw.outcome, "ok");
        assert_int_equal(exec(w, run, &r, NULL), 0);
        assert_string_equal(r.outcome, "ok");
        run_free(run);
    }
}

static void test_each_broken_way_has_its_cause(void **state)
{
    static const struct {
        const char *way, *code;
    } cases[] = {
        {"id", "runner.garbled"},      {"type", "runner.garbled"},
        {"hello", "runner.garbled"},   {"past", "runner.garbled"},
        {"future", "runner.garbled"},  {"backwards", "runner.garbled"},
        {"status", "runner.garbled"},  {"leftover", "runner.garbled"},
        {"outcome", "runner.garbled"}, {"negative", "runner.garbled"},
        {"huge", "runner.garbled"},    {"tiny", "runner.garbled"},
        {"early", "runner.garbled"},   {"half-end", "runner.lost"},
        {"end", "runner.lost"},        {"hang", "runner.hung"},
        {"half-hang", "runner.hung"},
    };
    struct world *w = *state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int what = 0; what < 3; what++) {
            struct run *run = start(w, cases[i].way);
            struct run_observation o;
            struct run_exec_result r;
            struct err e = {0}, again = {0};
            if (strcmp(cases[i].code, "runner.hung") == 0)
                run_set_spare(run, HANG_MS);
            int rc = what == 2 ? exec(w, run, &r, &e)
                               : observe(w, run, what ? MEASURE_PROCESS : MEASURE_PROTOCOL, &o, &e);
            assert_int_equal(rc, -EPIPE);
            if (strcmp(e.code, cases[i].code) != 0)
                fail_msg("%s: %s", cases[i].way, e.code);
            /* Whatever comes later, it stays lost, and for the same reason. */
            assert_int_equal(exec(w, run, &r, &again), -EPIPE);
            assert_string_equal(again.code, cases[i].code);
            run_free(run);
        }
}

static void test_an_answer_that_comes_twice_is_taken_once(void **state)
{
    struct world *w = *state;
    struct run *run = start(w, "twice");
    struct run_observation o;
    struct err e = {0};

    assert_int_equal(observe(w, run, MEASURE_PROCESS, &o, &e), 0);
    assert_string_equal(o.raw.outcome, "ok");
    assert_int_equal(observe(w, run, MEASURE_PROCESS, &o, &e), -EPIPE);
    assert_string_equal(e.code, "runner.garbled");
    run_free(run);
}

/* Noise and damaged answers, of which some are still answers. */
static void test_whatever_it_sends_the_daemon_knows_what_to_do(void **state)
{
    struct world *w = *state;
    unsigned seed = (unsigned)time(NULL);
    int taken = 0, garbled = 0, hung = 0;

    for (unsigned i = 0; i < FUZZED; i++) {
        const char *way = arena_printf(&w->arena, "%s:%u", i % 8 ? "mutate" : "random", seed + i);
        struct run *run = start(w, way);
        struct run_observation o;
        struct err e = {0};
        run_set_spare(run, 100);
        int rc = observe(w, run, i % 2 ? MEASURE_PROTOCOL : MEASURE_PROCESS, &o, &e);
        if (rc != 0 && rc != -EPIPE)
            fail_msg("%s: %d", way, rc);
        taken += rc == 0;
        garbled += rc != 0 && strcmp(e.code, "runner.garbled") == 0;
        hung += rc != 0 && strcmp(e.code, "runner.hung") == 0;
        if (rc == 0 && strcmp(o.raw.outcome, "ok") == 0)
            assert_true(o.raw.elapsed_ns >= 0 && o.raw.exit_status == 0);
        run_free(run);
    }
    print_message("seed %u: of %d answers %d were taken, %d refused, %d not waited for\n", seed,
                  FUZZED, taken, garbled, hung);
    assert_int_equal(taken + garbled + hung, FUZZED);
    assert_true(taken > 0 && garbled > 0);
}

static int teardown(void **state)
{
    struct world *w = *state;

    arena_deinit(&w->arena);
    assert_int_equal(file_rmtree(w->folder, NULL), 0);
    free(w->folder);
    free(w);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    return 0;
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_working_answers_are_taken),
        TEST(test_each_broken_way_has_its_cause),
        TEST(test_an_answer_that_comes_twice_is_taken_once),
        TEST(test_whatever_it_sends_the_daemon_knows_what_to_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
