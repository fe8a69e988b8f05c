/* Which comparisons a summary makes, and what each of them says. */
#include "unit.h"

#include "base/mem.h"
#include "core/summarise.h"

#include "raw_fixture.h"

static struct arena arena;
static struct raw *raw;

static int set_up(void **state)
{
    (void)state;
    raw = raw_fixture(&arena);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_deinit(&arena);
    return 0;
}

/* NULL when there is none. */
static const struct comparison *comparison_of(const struct summary *s, enum comparison_kind kind,
                                              const char *workload, const char *subject,
                                              const char *side)
{
    for (size_t i = 0; i < s->n_comparisons; i++) {
        const struct comparison *c = &s->comparisons[i];
        if (c->kind == kind && strcmp(c->workload, workload) == 0 &&
            strcmp(c->subject_lane, subject) == 0 && strcmp(c->subject_side, side) == 0)
            return c;
    }
    return NULL;
}

static void set_all(const char *workload, const char *lane, const char *side, int64_t elapsed_ns)
{
    for (int r = 0; r < 11; r++)
        raw_find(raw, workload, lane, side, r)->elapsed_ns = elapsed_ns;
}

static void after_is_compared_with_before_in_every_lane(void **state)
{
    (void)state;
    const struct summary *s = summarise(&arena, raw);
    const struct comparison *c = comparison_of(s, COMPARE_SIDES, "fib30", "c", "after");
    assert_non_null(c);
    assert_string_equal(c->reference_side, "before");
    assert_string_equal(c->reference_lane, "c");
    assert_same(c->wall.ratio_of_medians, 0.5);
    assert_same(c->wall.paired_median_ratio, 0.5);
    assert_int_equal(c->wall.pairs, 11);
    assert_int_equal(c->wall.interval.rank_low, 2);
    assert_int_equal(c->wall.interval.rank_high, 10);
    assert_int_equal(c->wall.verdict, VERDICT_FASTER);
    assert_same(c->change_pct, -50);
    assert_null(c->undefined);
    assert_non_null(comparison_of(s, COMPARE_SIDES, "fib30", "cpython", "after"));
    assert_non_null(comparison_of(s, COMPARE_SIDES, "int32", "c-startup", "after"));
}

static void same_cannot_be_said_without_a_calibration(void **state)
{
    (void)state;
    const struct summary *s = summarise(&arena, raw);
    const struct comparison *c = comparison_of(s, COMPARE_SIDES, "fib30", "cpython", "after");
    assert_same(c->wall.paired_median_ratio, 1);
    assert_int_equal(c->wall.verdict, VERDICT_UNRESOLVED);
    assert_non_null(strstr(c->wall.note, "not calibrated"));
    assert_near(c->wall.resolvable, 0.01, 1e-12);
}

static void lanes_are_compared_with_controls_on_each_side_but_startup_lanes_are_not(void **state)
{
    (void)state;
    const struct summary *s = summarise(&arena, raw);
    const struct comparison *c = comparison_of(s, COMPARE_LANES, "fib30", "c", "before");
    assert_non_null(c);
    assert_string_equal(c->reference_lane, "cpython");
    assert_string_equal(c->reference_side, "before");
    assert_same(c->wall.ratio_of_medians, 0.5);
    assert_non_null(comparison_of(s, COMPARE_LANES, "int32", "c", "after"));
    assert_null(comparison_of(s, COMPARE_LANES, "int32", "c-startup", "after"));
    assert_null(comparison_of(s, COMPARE_LANES, "fib30", "cpython", "after"));
    assert_int_equal(s->n_comparisons, 7 + 6); /* 7 lanes between sides, 3 pairs on 2 sides */
}

static void a_control_that_is_a_startup_lane_is_no_reference(void **state)
{
    (void)state;
    raw->workloads[2].lanes[1].control = true; /* c-startup */
    const struct summary *s = summarise(&arena, raw);
    assert_int_equal(s->n_comparisons, 7 + 6);
    assert_int_equal(s->n_controls, 4); /* but its drift counts */
}

static void a_lane_that_takes_no_part_is_not_compared(void **state)
{
    (void)state;
    raw->workloads[0].lanes[1].absent = "python3 is not on this host";
    const struct summary *s = summarise(&arena, raw);
    assert_null(comparison_of(s, COMPARE_SIDES, "fib30", "cpython", "after"));
    assert_null(comparison_of(s, COMPARE_LANES, "fib30", "c", "after"));
    assert_non_null(comparison_of(s, COMPARE_SIDES, "fib30", "c", "after"));
    assert_int_equal(s->n_controls, 2);
}

static void a_failed_side_leaves_the_comparison_undefined_with_a_reason(void **state)
{
    (void)state;
    for (int i = 0; i < 11; i++)
        raw_find(raw, "fib30", "c", "before", i)->outcome = "lane.timeout";
    const struct comparison *c =
        comparison_of(summarise(&arena, raw), COMPARE_SIDES, "fib30", "c", "after");
    assert_non_null(c->undefined);
    assert_non_null(strstr(c->undefined, "reference"));
    assert_nan(c->wall.paired_median_ratio);
    assert_nan(c->wall.ratio_of_medians);
    assert_nan(c->change_pct);
    assert_int_equal(c->wall.verdict, VERDICT_UNRESOLVED);
}

static void unknown_cpu_time_leaves_wall_time_compared(void **state)
{
    (void)state;
    for (int i = 0; i < 11; i++)
        raw_find(raw, "fib30", "c", "after", i)->interval_cpu_ns = -1;
    const struct comparison *c =
        comparison_of(summarise(&arena, raw), COMPARE_SIDES, "fib30", "c", "after");
    assert_nan(c->cpu.paired_median_ratio);
    assert_null(c->undefined);
    assert_false(c->verdicts_disagree);
}

static void sequential_sides_have_a_ratio_of_medians_and_no_verdict(void **state)
{
    (void)state;
    raw->job.order = ORDER_SEQUENTIAL;
    const struct summary *s = summarise(&arena, raw);
    const struct comparison *c = comparison_of(s, COMPARE_SIDES, "fanout", "c", "after");
    assert_true(c->wall.ratio_of_medians < 1);
    assert_true(c->change_pct < 0);
    assert_nan(c->wall.paired_median_ratio);
    assert_nan(c->excess_ratio);
    assert_int_equal(c->wall.verdict, VERDICT_UNRESOLVED);
    assert_non_null(strstr(c->wall.note, "one after the other"));
    assert_null(c->undefined);
    /* The lanes of one side still take turns. */
    c = comparison_of(s, COMPARE_LANES, "fib30", "c", "after");
    assert_int_equal(c->wall.verdict, VERDICT_FASTER);
    assert_int_equal(c->wall.pairs, 11);
}

static void two_commands_are_compared_b_against_a(void **state)
{
    (void)state;
    raw = raw_fixture_run(&arena);
    const struct summary *s = summarise(&arena, raw);
    assert_int_equal(s->n_comparisons, 1);
    const struct comparison *c = &s->comparisons[0];
    assert_int_equal(c->kind, COMPARE_LANES);
    assert_string_equal(c->subject_lane, "b");
    assert_string_equal(c->reference_lane, "a");
    assert_same(c->wall.paired_median_ratio, 2);
    assert_int_equal(c->wall.verdict, VERDICT_SLOWER);
    assert_int_equal(s->n_controls, 0);
    assert_int_equal(s->grade.value, GRADE_DIAGNOSTIC);
}

static void a_declared_wait_dilutes_the_ratio_and_the_excess_does_not(void **state)
{
    (void)state;
    const struct summary *s = summarise(&arena, raw);
    const struct comparison *c = comparison_of(s, COMPARE_SIDES, "fanout", "c", "after");
    assert_same(c->excess_ratio, 0.5);
    assert_true(c->wall.paired_median_ratio > 0.8);
    assert_nan(comparison_of(s, COMPARE_SIDES, "fib30", "c", "after")->excess_ratio);
    raw_find(raw, "fanout", "c", "after", 2)->elapsed_ns = FIXTURE_WAIT_NS;
    c = comparison_of(summarise(&arena, raw), COMPARE_SIDES, "fanout", "c", "after");
    assert_nan(c->excess_ratio); /* a value within the wait has no excess */
}

static void wall_and_cpu_verdicts_that_differ_are_pointed_out(void **state)
{
    (void)state;
    const struct comparison *c =
        comparison_of(summarise(&arena, raw), COMPARE_SIDES, "fib30", "c", "after");
    assert_int_equal(c->cpu.verdict, VERDICT_FASTER);
    assert_false(c->verdicts_disagree);
    set_all("fib30", "c", "after",
            90000); /* slower on the wall, with the same CPU time as before */
    c = comparison_of(summarise(&arena, raw), COMPARE_SIDES, "fib30", "c", "after");
    assert_int_equal(c->wall.verdict, VERDICT_SLOWER);
    assert_int_equal(c->cpu.verdict, VERDICT_FASTER);
    assert_true(c->verdicts_disagree);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(after_is_compared_with_before_in_every_lane),
        T(same_cannot_be_said_without_a_calibration),
        T(lanes_are_compared_with_controls_on_each_side_but_startup_lanes_are_not),
        T(a_control_that_is_a_startup_lane_is_no_reference),
        T(a_lane_that_takes_no_part_is_not_compared),
        T(a_failed_side_leaves_the_comparison_undefined_with_a_reason),
        T(unknown_cpu_time_leaves_wall_time_compared),
        T(sequential_sides_have_a_ratio_of_medians_and_no_verdict),
        T(two_commands_are_compared_b_against_a),
        T(a_declared_wait_dilutes_the_ratio_and_the_excess_does_not),
        T(wall_and_cpu_verdicts_that_differ_are_pointed_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
