/* Figures of lanes that are no times: counters from what they print, instructions from the CPU or
 * from what callgrind leaves. */
#include "world.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "base/mem.h"
#include "run/run_callgrind.h"
#include "run/run_values.h"

static void assert_invalid(const struct run_observation *o, const char *outcome)
{
    assert_string_equal(o->raw.outcome, outcome);
    assert_int_equal(o->raw.elapsed_ns, -1);
    assert_null(o->unremoved);
}

static struct run_observation observe_counters(void **state, const char *const *argv)
{
    static const char *names[] = {"allocations", "retains", NULL};
    struct world *w = *state;
    struct run_observe req = world_request(MEASURE_COUNTERS, argv);

    req.counters = (struct args){names, 2};
    struct run_observation o = world_observe(w, &req);
    run_values_take(&w->arena, &req, &o);
    return o;
}

static void test_counters_are_taken_from_stdout(void **state)
{
    struct run_observation o =
        observe_counters(state, CHILD("say", "COUNTER retains 7\nCOUNTER allocations 1234\n"));

    assert_string_equal(o.raw.outcome, "ok");
    assert_int_equal(o.raw.elapsed_ns, -1);
    assert_int_equal(o.raw.process_ns, o.raw.exit_ns - o.raw.start_ns);
    assert_int_equal(o.raw.n_values, 2);
    assert_string_equal(o.raw.values[0].name, "allocations");
    assert_int_equal(o.raw.values[0].value, 1234);
    assert_int_equal(o.raw.values[1].value, 7);
    assert_int_equal(o.raw.stdout_bytes, 43);
}

static void test_what_is_no_counter_makes_it_invalid(void **state)
{
    static const struct {
        const char *said, *outcome;
    } bad[] = {
        {"", "lane.counter_missing"},
        {"COUNTER allocations 1\n", "lane.counter_missing"},
        {"COUNTER allocations 1\nCOUNTER retains x\n", "lane.counter_bad"},
        {"COUNTER allocations 1\nCOUNTER releases 1\n", "lane.counter_unknown"},
        {"COUNTER retains 1\nCOUNTER retains 1\n", "lane.counter_twice"},
    };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct run_observation o = observe_counters(state, CHILD("say", bad[i].said));
        assert_invalid(&o, bad[i].outcome);
        assert_int_equal(o.raw.n_values, 0);
    }
}

static void test_how_a_lane_ends_comes_before_its_counters(void **state)
{
    struct run_observation o = observe_counters(state, CHILD("say", "x", "exit", "3"));
    assert_invalid(&o, "lane.exit_status");
    o = observe_counters(state, CHILD("lines", "100000"));
    assert_invalid(&o, "lane.stdout_limit");
}

/* ---- instructions */

static void test_the_cpus_counter_brings_a_number_or_says_that_it_has_none(void **state)
{
    struct world *w = *state;
    struct run_observe req = world_request(MEASURE_INSTRUCTIONS, CHILD("say", "x"));

    req.stdout_text = "x";
    for (int i = 0; i < 2; i++) { /* the second time too: the first left no event open */
        struct run_observation o = world_observe(w, &req);
        assert_string_equal(o.raw.outcome, "ok");
        assert_int_equal(o.instructions > 0, run_counts_instructions(w->run));
        run_values_take(&w->arena, &req, &o);
        assert_int_equal(o.raw.elapsed_ns, -1);
        assert_string_equal(o.raw.outcome, o.instructions > 0 ? "ok" : "lane.instructions_unknown");
        assert_int_equal(o.raw.n_values, o.instructions > 0);
    }
    req.stdout_text = "y";
    struct run_observation o = world_observe(w, &req);
    run_values_take(&w->arena, &req, &o);
    assert_invalid(&o, "lane.stdout_wrong");
}

static void write_file(const char *folder, const char *name, const char *text)
{
    CLEANUP(mem_freep) char *path = file_join(folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(close(fd), 0);
}

static void test_the_files_of_callgrind_are_added_up_and_removed(void **state)
{
    struct world *w = *state;
    CLEANUP(mem_freep) char *folder = mem_printf("%s/callgrind", w->folder);

    assert_int_equal(run_callgrind_sum(folder), -1);
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(run_callgrind_sum(folder), -1); /* nothing ran */
    write_file(folder, "12", "0 1\n\ntotals: 5\n");
    write_file(folder, "13", "totals: 7\n");
    assert_int_equal(run_callgrind_sum(folder), 12);
    assert_int_equal(run_callgrind_sum(folder), -1);
    write_file(folder, "12", "totals: 5\n");
    write_file(folder, "13", "totals: 7"); /* cut off */
    assert_int_equal(run_callgrind_sum(folder), -1);
    assert_int_equal(rmdir(folder), 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_counters_are_taken_from_stdout),
        TEST(test_what_is_no_counter_makes_it_invalid),
        TEST(test_how_a_lane_ends_comes_before_its_counters),
        TEST(test_the_cpus_counter_brings_a_number_or_says_that_it_has_none),
        TEST(test_the_files_of_callgrind_are_added_up_and_removed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
