/* The runner's counters: what the kernel's files say, which of them are chosen, and what is
 * unknown. */
#include "unit.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/files.h"
#include "base/mem.h"
#include "run/runner/counters.h"
#include "run/runner/counters_parse.h"
#include "run/runner/readings.h"

static const uint8_t second_cpu[] = {0x02};
static const struct wire_bytes near = {second_cpu, 1};
static const struct wire_bytes all = {NULL, 0};

/* ---- parsing */

static void a_cpu_is_near_or_far(void **state)
{
    struct cpu_times t;

    (void)state;
    assert_true(parse_percpu("12 700 9 \n", &near, &t));
    assert_int_equal(t.near_ns, 700);
    assert_int_equal(t.far_ns, 21);
    assert_true(parse_percpu("12 700 9 \n", &all, &t));
    assert_int_equal(t.near_ns, 721);
    assert_int_equal(t.far_ns, 0);
}

static void what_is_cut_off_or_no_number_is_not_read(void **state)
{
    static const char *const bad[] = {"",       "\n",      "12 70",
                                      "12 x\n", "12 -3\n", "99999999999999999999999 1\n"};
    struct cpu_times t;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_false(parse_percpu(bad[i], &all, &t));
    assert_false(parse_schedstat("version 15\ntimestamp 1\n", &all, &t));
    assert_false(parse_schedstat("cpu0 0 0 0 0 0 0 5 6\n", &all, &t));
    assert_false(parse_schedstat("cpu0 0 0 0 0 0 0 5 6 7", &all, &t));
    assert_false(parse_stat("cpu  1 2 3 4 5 6 7 8 9 10\n", &all, 0, 10, &t));
    assert_false(parse_stat("cpu0 1 2 3\n", &all, 0, 10, &t));
    assert_int_equal(parse_stat_steal("cpu0 1 2 3 4 5 6 7 8\n", 10), -1);
    assert_int_equal(parse_stat_steal("cpu  1 2 3 4 5 6 7\n", 10), -1);
    assert_int_equal(parse_pressure("full avg10=0.00 total=7\n"), -1);
    assert_int_equal(parse_pressure("some avg10=0.00 total=7"), -1);
    assert_int_equal(parse_swapped("pswpin 3\n"), -1);
    assert_int_equal(parse_group("usage_usec 12"), -1);
    assert_int_equal(parse_group("x_usage_usec 12\n"), -1);
    assert_int_equal(parse_number("7 8\n"), -1);
}

static void schedstat_has_what_ran_in_its_seventh_field(void **state)
{
    static const char text[] = "version 15\ntimestamp 4294898\n"
                               "cpu0 0 0 0 0 0 0 1000 50 3\ndomain0 3 1 2 3\n"
                               "cpu1 0 0 0 0 0 0 2000 60 4\n";
    struct cpu_times t;

    (void)state;
    assert_true(parse_schedstat(text, &near, &t));
    assert_int_equal(t.near_ns, 2000);
    assert_int_equal(t.far_ns, 1000);
}

static void stat_has_what_was_neither_idle_nor_stolen(void **state)
{
    static const char text[] = "cpu  1 2 3 4 5 6 7 8 9 10\n"
                               "cpu0 1 1 1 100 20 0 0 5 0 0\ncpu1 1 1 1 50 0 0 0 0 0 0\nintr 5\n";
    struct cpu_times t;

    (void)state;
    assert_true(parse_stat(text, &near, 5000, 10, &t));
    assert_int_equal(t.near_ns, 5000 - 500);
    assert_int_equal(t.far_ns, 5000 - 1250);
    assert_int_equal(parse_stat_steal(text, 10), 80);
}

static void the_small_files(void **state)
{
    int64_t ran_ns, delay_ns, slices;

    (void)state;
    assert_int_equal(parse_pressure("some avg10=1.43 avg60=9.27 avg300=12.05 total=10301\n"
                                    "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"),
                     10301);
    assert_int_equal(parse_swapped("nr_free 9\npswpin 3\npswpout 4\n"), 7);
    assert_int_equal(parse_group("usage_usec 12\nuser_usec 5\n"), 12000);
    assert_true(parse_thread("100 20 3\n", &ran_ns, &delay_ns, &slices));
    assert_int_equal(delay_ns, 20);
    assert_false(parse_thread("100 20\n", &ran_ns, &delay_ns, &slices));
    assert_int_equal(parse_number("17\n"), 17);
}

/* ---- choosing, on trees of files */

static char root[] = "/tmp/aurabench-unit-counters-XXXXXX";

static void put(const char *path, const char *text)
{
    CLEANUP(mem_freep) char *full = mem_printf("%s%s", root, path);
    struct err e = {0};

    for (char *at = full + strlen(root) + 1; (at = strchr(at, '/')); *at++ = '/') {
        *at = '\0';
        (void)mkdir(full, 0755);
    }
    assert_int_equal(file_write(full, text, strlen(text), 0644, &e), 0);
}

static int fresh_root(void **state)
{
    (void)state;
    memcpy(root + strlen(root) - 6, "XXXXXX", 6);
    assert_non_null(mkdtemp(root));
    put("/proc/stat", "cpu  10 0 0 900 0 0 0 7 0 0\ncpu0 5 0 0 450 0 0 0 3 0 0\n"
                      "cpu1 5 0 0 450 0 0 0 4 0 0\n");
    put("/proc/cpuinfo", "flags\t\t: fpu vme sse2\n");
    put("/proc/swaps", "Filename Type Size Used Priority\n");
    return 0;
}

static int no_root(void **state)
{
    struct err e = {0};

    (void)state;
    counters_close();
    return file_rmtree(root, &e);
}

static struct counters read_both(struct counters *to)
{
    struct counters from;

    counters_lane(0);
    counters_from(&near, &from);
    counters_to(&near, to);
    return from;
}

static void the_finest_counter_is_chosen(void **state)
{
    struct counters to;

    (void)state;
    put("/proc/schedstat", "version 15\ncpu0 0 0 0 0 0 0 1000 50 3\ncpu1 0 0 0 0 0 0 2000 60 4\n");
    put("/sys/fs/cgroup/cpuacct/cpuacct.usage_percpu", "111 222 \n");
    counters_init(root, getpid(), false);
    assert_string_equal(counters_sources()->busy, "cpuacct");
    (void)read_both(&to);
    assert_int_equal(to.near_busy_ns, 222);
    assert_int_equal(to.far_busy_ns, 111);
    assert_int_equal(to.near_ticks_ns, -1);
    assert_string_equal(counters_sources()->lane, "process");
}

static void schedstat_is_backed_by_stat(void **state)
{
    struct counters to;

    (void)state;
    put("/proc/schedstat", "version 15\ncpu0 0 0 0 0 0 0 1000 50 3\ncpu1 0 0 0 0 0 0 2000 60 4\n");
    counters_init(root, getpid(), false);
    assert_string_equal(counters_sources()->busy, "schedstat");
    struct counters from = read_both(&to);
    assert_int_equal(to.near_busy_ns, 2000);
    assert_true(to.near_ticks_ns > 0 && to.near_ticks_ns >= from.near_ticks_ns);
}

static void stat_alone_is_better_than_nothing(void **state)
{
    struct counters to;

    (void)state;
    counters_init(root, getpid(), false);
    assert_string_equal(counters_sources()->busy, "stat");
    struct counters from = read_both(&to);
    assert_true(to.near_busy_ns >= from.near_busy_ns && from.near_busy_ns > 0);
    assert_true(counters_sources()->busy_resolution_ns > 0);
}

static void an_empty_tree_has_no_counters(void **state)
{
    struct counters to;
    struct err e = {0};

    (void)state;
    assert_int_equal(file_rmtree(root, &e), 0);
    assert_int_equal(mkdir(root, 0755), 0);
    counters_init(root, getpid(), false);
    const struct ledger_sources *s = counters_sources();
    assert_true(!s->busy && !s->steal && !s->pressure && !s->throttle && !s->swap && !s->delay);
    assert_int_equal(s->busy_resolution_ns, -1);
    (void)read_both(&to);
    assert_int_equal(to.near_busy_ns, -1);
    assert_int_equal(to.steal_ns, -1);
    assert_int_equal(to.pressure_us, -1);
    assert_int_equal(to.throttles, -1);
    assert_int_equal(to.swapped_pages, -1);
    assert_true(to.at_ns > 0 && to.runner_ns > 0 && to.runner_switches >= 0);
}

static void bare_metal_has_nothing_stolen_and_a_guest_may(void **state)
{
    struct counters to;

    (void)state;
    put("/proc/stat", "cpu  10 0 0 900 0 0 0 0 0 0\ncpu0 10 0 0 900 0 0 0 0 0 0\n");
    counters_init(root, getpid(), false);
    assert_string_equal(counters_sources()->steal, "absent");
    (void)read_both(&to);
    assert_int_equal(to.steal_ns, 0);
    counters_close();
    put("/proc/cpuinfo", "flags\t\t: fpu hypervisor sse2\n");
    counters_init(root, getpid(), false);
    assert_string_equal(counters_sources()->steal, "stat");
    counters_close();
    put("/proc/cpuinfo", "flags\t\t: fpu vme sse2\n");
    put("/proc/stat", "cpu  10 0 0 900 0 0 0 7 0 0\ncpu0 10 0 0 900 0 0 0 7 0 0\n");
    counters_init(root, getpid(), false);
    (void)read_both(&to);
    assert_int_equal(to.steal_ns, 7 * counters_ticks_off_ns());
}

static void swap_throttling_and_pressure_are_read_where_they_are(void **state)
{
    struct counters to;

    (void)state;
    counters_init(root, getpid(), false);
    assert_string_equal(counters_sources()->swap, "absent");
    assert_null(counters_sources()->throttle);
    counters_close();
    put("/proc/swaps", "Filename Type Size Used Priority\n/dev/sda2 partition 1 0 -2\n");
    put("/proc/vmstat", "pswpin 3\npswpout 4\n");
    put("/proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=55\n");
    put("/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "2\n");
    put("/sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count", "3\n");
    put("/sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", "4\n");
    counters_init(root, getpid(), false);
    (void)read_both(&to);
    assert_int_equal(to.swapped_pages, 7);
    assert_int_equal(to.pressure_us, 55);
    assert_int_equal(to.throttles, 9);
}

/* ---- this machine */

static void the_process_itself_is_seen_to_work(void **state)
{
    struct counters from, to;
    volatile unsigned sum = 0;

    (void)state;
    counters_init("", getpid(), false);
    counters_lane(getpid());
    counters_from(&all, &from);
    for (unsigned i = 0; i < 20000000; i++)
        sum += i;
    (void)reading_cpu_ns(
        getpid()); /* charges what has run since the last tick, as an interval's end does */
    counters_to(&all, &to);
    (void)sum;
    assert_true(counted(from.lane_ns, to.lane_ns) > 1000000);
    assert_true(counted(from.daemon_ns, to.daemon_ns) > 1000000);
    if (counters_sources()->busy && strcmp(counters_sources()->busy, "cpuacct") == 0)
        assert_true(counted(from.near_busy_ns, to.near_busy_ns) + 1000000 >=
                    counted(from.lane_ns, to.lane_ns));
}

int main(void)
{
#define ROOTED(name) cmocka_unit_test_setup_teardown(name, fresh_root, no_root)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cpu_is_near_or_far),
        cmocka_unit_test(what_is_cut_off_or_no_number_is_not_read),
        cmocka_unit_test(schedstat_has_what_ran_in_its_seventh_field),
        cmocka_unit_test(stat_has_what_was_neither_idle_nor_stolen),
        cmocka_unit_test(the_small_files),
        ROOTED(the_finest_counter_is_chosen),
        ROOTED(schedstat_is_backed_by_stat),
        ROOTED(stat_alone_is_better_than_nothing),
        ROOTED(an_empty_tree_has_no_counters),
        ROOTED(bare_metal_has_nothing_stolen_and_a_guest_may),
        ROOTED(swap_throttling_and_pressure_are_read_where_they_are),
        ROOTED(the_process_itself_is_seen_to_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
