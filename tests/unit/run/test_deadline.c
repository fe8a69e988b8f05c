/* Programs that end exactly at their timeout: one outcome each, however often. */
#include "world.h"

#include <signal.h>

#include "base/clock.h"
#include "base/files.h"

/* A sanitized runner is slower, and no more is learnt of it. */
#if defined __SANITIZE_ADDRESS__
#define TIMES(n) ((n) / 10)
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define TIMES(n) ((n) / 10)
#endif
#endif
#ifndef TIMES
#define TIMES(n) (n)
#endif

#define TIMEOUT_MS 1 /* at first */
#define STEP_US 20

static volatile sig_atomic_t strays;

static void on_stray(int sig)
{
    strays++;
}

/* How often it ended in time and how often not; and how long it should take for both to happen. */
struct tally {
    int in_time, late;
    int sleep_us, timeout_ms;
};

static void count(struct tally *t, bool in_time)
{
    t->in_time += in_time;
    t->late += !in_time;
    /* Towards the edge, which is where both are equally frequent. */
    t->sleep_us += in_time ? STEP_US : -STEP_US;
    /* On a busy machine starting alone takes longer. */
    if (t->sleep_us < 0) {
        t->sleep_us = 500;
        t->timeout_ms++;
    }
}

static void observe_once(struct world *w, struct tally *t, const char *us)
{
    struct run_observe req = world_request(MEASURE_PROCESS, CHILD("sleep", us));

    req.done_timeout_ms = t->timeout_ms;
    struct run_observation o = world_observe(w, &req);
    bool ok = strcmp(o.raw.outcome, "ok") == 0;
    assert_true(ok || strcmp(o.raw.outcome, "lane.exit_timeout") == 0);
    assert_true((o.raw.elapsed_ns >= 0) == ok);
    assert_null(o.unremoved);
    assert_int_equal(o.raw.leftovers, 0);
    if (ok)
        assert_true(o.raw.exit_status == 0 && o.raw.exit_signal == 0 &&
                    o.raw.elapsed_ns <= t->timeout_ms * 1000000LL);
    else /* it was ended, or it ended while that was decided */
        assert_true(o.raw.exit_signal == SIGTERM ||
                    (o.raw.exit_signal == 0 && o.raw.exit_status == 0));
    count(t, ok);
}

static void exec_once(struct world *w, struct tally *t, const char *us)
{
    struct run_exec req = world_exec_request(w, CHILD("sleep", us));

    req.timeout_ms = t->timeout_ms;
    struct run_exec_result r = world_exec(w, &req);
    bool ok = strcmp(r.outcome, "ok") == 0;
    assert_true(ok || strcmp(r.outcome, "exec.timeout") == 0);
    assert_string_equal(r.unremoved, "");
    assert_int_equal(r.leftovers, 0);
    count(t, ok);
}

/* Between DONE and the end. */
static void exit_once(struct world *w, struct tally *t, const char *us)
{
    struct run_observe req = world_request(
        MEASURE_PROTOCOL, CHILD("say", READY "\n", "go", "say", DONE "\n", "eof", "sleep", us));

    req.done_timeout_ms = t->timeout_ms;
    struct run_observation o = world_observe(w, &req);
    bool ok = strcmp(o.raw.outcome, "ok") == 0;
    /* On a busy machine even DONE can be late; one that comes just then is taken for one that the
     * end of stdin brought out. */
    assert_true(ok || strcmp(o.raw.outcome, "lane.exit_timeout") == 0 ||
                strcmp(o.raw.outcome, "lane.done_timeout") == 0 ||
                strcmp(o.raw.outcome, "lane.done_unflushed") == 0);
    assert_true((o.raw.elapsed_ns >= 0) == ok);
    assert_int_equal(o.raw.leftovers, 0);
    count(t, ok);
}

/* Nothing of any of them, not even a zombie. */
static void assert_no_children(struct world *w)
{
    char children[64];

    (void)snprintf(children, sizeof children, "/proc/%d/task/%d/children", run_pid(w->run),
                   run_pid(w->run));
    int runner = atoi(world_read(w, children));
    (void)snprintf(children, sizeof children, "/proc/%d/task/%d/children", runner, runner);
    assert_string_equal(world_read(w, children), "");
}

static void repeat(struct world *w, int times, int sleep_us, struct tally *t,
                   void (*once)(struct world *, struct tally *, const char *))
{
    static const int caught[] = {SIGTERM, SIGCONT, SIGALRM, SIGIO, SIGUSR1, SIGHUP};
    struct sigaction act = {.sa_handler = on_stray};

    for (size_t i = 0; i < sizeof caught / sizeof caught[0]; i++)
        assert_int_equal(sigaction(caught[i], &act, NULL), 0);
    *t = (struct tally){.sleep_us = sleep_us, .timeout_ms = TIMEOUT_MS};
    for (int i = 0; i < times; i++) {
        char us[16];
        (void)snprintf(us, sizeof us, "%d", t->sleep_us);
        once(w, t, us);
        arena_deinit(&w->arena);
        w->arena = (struct arena){0};
    }
    print_message("%d times: %d in time, %d late, at last with %d us of sleep in %d ms\n", times,
                  t->in_time, t->late, t->sleep_us, t->timeout_ms);
    assert_int_equal(t->in_time + t->late, times);
    assert_int_equal(strays, 0);
    assert_no_children(w);
}

static void test_process_that_ends_at_its_timeout_has_one_outcome(void **state)
{
    struct tally t;

    repeat(*state, TIMES(7000), 300, &t, observe_once);
    assert_true(t.in_time > 0 && t.late > 0);
}

static void test_build_that_ends_at_its_timeout_has_one_outcome(void **state)
{
    struct tally t;

    repeat(*state, TIMES(2500), 300, &t, exec_once);
    assert_true(t.in_time > 0 && t.late > 0);
}

static void test_lane_that_exits_at_its_timeout_has_one_outcome(void **state)
{
    struct tally t;

    repeat(*state, TIMES(500), 600, &t, exit_once);
    assert_true(t.in_time > 0 && t.late > 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_process_that_ends_at_its_timeout_has_one_outcome),
        TEST(test_build_that_ends_at_its_timeout_has_one_outcome),
        TEST(test_lane_that_exits_at_its_timeout_has_one_outcome),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
