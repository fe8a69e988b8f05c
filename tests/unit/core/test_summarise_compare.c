/* Which comparisons a summary makes, and what each of them says. */
#include "unit.h"

#include "base/mem.h"
#include "core/summary/summarise.h"

#include "calibrations.h"
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

static const struct comparison *of_control(void)
{
    return comparison_of(summarise(&arena, raw), COMPARE_SIDES, "fib30", "cpython", "after");
}

static void a_calibrated_host_says_same_unless_its_noise_is_over_the_margin(void **state)
{
    (void)state;
    calibrate(&arena, raw, 0.002);
    assert_int_equal(of_control()->wall.verdict, VERDICT_SAME);
    assert_null(of_control()->wall.note);
    calibrate(&arena, raw, 0.0099); /* not over it */
    assert_int_equal(of_control()->wall.verdict, VERDICT_SAME);
    calibrate(&arena, raw, 0.0101);
    assert_int_equal(of_control()->wall.verdict, VERDICT_UNRESOLVED);
    assert_non_null(strstr(of_control()->wall.note, "noise floor is above the margin"));
    calibrate(&arena, raw, 0.002)->boot = "another";
    assert_int_equal(of_control()->wall.verdict, VERDICT_UNRESOLVED);
}

static void a_difference_within_the_noise_floor_is_none(void **state)
{
    (void)state;
    set_all("fib30", "cpython", "before", 80000);
    set_all("fib30", "cpython", "after", 83000);
    calibrate(&arena, raw, 0.002);
    assert_int_equal(of_control()->wall.verdict, VERDICT_SLOWER);
    assert_null(of_control()->wall.note);
    calibrate(&arena, raw, 0.05);
    assert_int_equal(of_control()->wall.verdict, VERDICT_UNRESOLVED);
    assert_non_null(strstr(of_control()->wall.note, "within the noise floor"));
}

static void wall_and_cpu_time_and_each_measure_have_noise_floors_of_their_own(void **state)
{
    (void)state;
    struct calibration *c = calibrate(&arena, raw, 0.002);
    struct calibration *noisy = calibrate(&arena, raw, 0.05);
    raw->calibration = c;
    c->measures[MEASURE_PROTOCOL].pairs_cpu_ns = noisy->measures[MEASURE_PROTOCOL].pairs_cpu_ns;
    c->measures[MEASURE_PROCESS].pairs_ns = noisy->measures[MEASURE_PROCESS].pairs_ns;
    assert_int_equal(of_control()->wall.verdict, VERDICT_SAME);
    assert_int_equal(of_control()->cpu.verdict, VERDICT_UNRESOLVED);
    const struct comparison *process =
        comparison_of(summarise(&arena, raw), COMPARE_SIDES, "int32", "cpython", "after");
    assert_int_equal(process->wall.verdict, VERDICT_UNRESOLVED);
    assert_int_equal(process->cpu.verdict, VERDICT_SAME);
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

static void
sequential_sides_are_compared_without_pairs_with_cpu_time_and_excess_beside(void **state)
{
    (void)state;
    raw->job.order = ORDER_SEQUENTIAL;
    const struct summary *s = summarise(&arena, raw);
    const struct comparison *c = comparison_of(s, COMPARE_SIDES, "fanout", "c", "after");
    assert_true(c->wall.unpaired && c->cpu.unpaired && c->excess.unpaired);
    assert_nan(c->wall.paired_median_ratio);
    assert_int_equal(c->wall.pairs, 0);
    assert_true(c->wall.shift_ratio < 0.9);
    assert_same(c->wall.interval.coverage, 0.9526928180178954); /* 11 and 11 */
    assert_int_equal(c->wall.verdict, VERDICT_FASTER);
    assert_same(c->cpu.shift_ratio, 0.5);
    assert_int_equal(c->cpu.verdict, VERDICT_FASTER);
    assert_same(c->excess_ratio, 0.5);
    assert_int_equal(c->excess.verdict, VERDICT_FASTER);
    assert_null(c->undefined);
    /* The lanes of one side still take turns. */
    c = comparison_of(s, COMPARE_LANES, "fib30", "c", "after");
    assert_false(c->wall.unpaired);
    assert_int_equal(c->wall.pairs, 11);
}

static void the_largest_drift_of_a_control_is_the_margin_of_sequential_sides(void **state)
{
    (void)state;
    raw->job.order = ORDER_SEQUENTIAL;
    for (int r = 0; r < 11; r++)
        raw_find(raw, "int32", "cpython", "after", r)->elapsed_ns =
            raw_find(raw, "int32", "cpython", "before", r)->elapsed_ns / 100 * 97;
    set_all("fib30", "c", "before", 100000);
    set_all("fib30", "c", "after", 102000);
    const struct summary *s = summarise(&arena, raw);
    const struct comparison *c = comparison_of(s, COMPARE_SIDES, "fib30", "c", "after");
    /* Of another workload's control, and it fell: by 3 %, and its interval reaches farther. */
    assert_true(c->wall.margin > 0.0309 && c->wall.margin < 0.04);
    const struct control_drift *d = &s->controls[s->n_controls - 1];
    assert_near(d->drift_pct, -3, 1e-3);
    assert_same(c->wall.margin, d->bound_pct / 100);
    assert_same(c->cpu.margin, c->wall.margin);
    assert_int_equal(c->wall.verdict, VERDICT_UNRESOLVED); /* 2 % is within it */
    raw->job.order = ORDER_INTERLEAVED;                    /* pairs drift together */
    c = comparison_of(summarise(&arena, raw), COMPARE_SIDES, "fib30", "c", "after");
    assert_same(c->wall.margin, 0.01);
    assert_int_equal(c->wall.verdict, VERDICT_SLOWER);
    assert_nan(summarise(&arena, raw)->controls[0].bound_pct);
}

static void sequential_sides_without_a_control_say_so(void **state)
{
    (void)state;
    raw->job.order = ORDER_SEQUENTIAL;
    for (size_t w = 0; w < raw->n_workloads; w++)
        for (size_t l = 0; l < raw->workloads[w].n_lanes; l++)
            raw->workloads[w].lanes[l].control = false;
    const struct comparison *c =
        comparison_of(summarise(&arena, raw), COMPARE_SIDES, "fib30", "c", "after");
    assert_int_equal(c->wall.verdict, VERDICT_FASTER);
    assert_non_null(strstr(c->wall.note, "no control"));
}

/* ---- more than two sides, and workloads that are absent on some */

/* A third side, "tuned", beside before and after. */
static void add_third_side(void)
{
    const char **sides = arena_array(&arena, 3, sizeof *sides);
    sides[0] = "before";
    sides[1] = "after";
    sides[2] = "tuned";
    raw->sides = sides;
    raw->n_sides = 3;
    raw_replan(&arena, raw);
}

static void each_later_side_is_compared_with_the_first_where_no_pairs_are_named(void **state)
{
    (void)state;
    add_third_side();
    const struct summary *s = summarise(&arena, raw);
    const struct comparison *c = comparison_of(s, COMPARE_SIDES, "fib30", "c", "tuned");
    assert_string_equal(c->reference_side, "before");
    assert_string_equal(comparison_of(s, COMPARE_SIDES, "fib30", "c", "after")->reference_side,
                        "before");
    assert_int_equal(s->n_comparisons, 2 * 7 + 3 * 3); /* pairs by lanes, sides by references */
    assert_int_equal(s->n_controls, 2 * 3);
    assert_int_equal(s->n_rows, 3 * 7);
}

static void named_pairs_are_the_comparisons_and_carry_the_drifts(void **state)
{
    (void)state;
    add_third_side();
    struct job_pair pairs[] = {{"tuned", "after"}};
    raw->job.pairs = pairs;
    raw->job.n_pairs = 1;
    const struct summary *s = summarise(&arena, raw);
    const struct comparison *c = comparison_of(s, COMPARE_SIDES, "fib30", "c", "tuned");
    assert_string_equal(c->reference_side, "after");
    assert_same(c->wall.paired_median_ratio, 2); /* tuned is as slow as before */
    assert_null(comparison_of(s, COMPARE_SIDES, "fib30", "c", "after"));
    assert_int_equal(s->n_controls, 3);
    assert_string_equal(s->controls[0].before_side, "after");
    assert_string_equal(s->controls[0].after_side, "tuned");
    raw_expect(&arena, raw, PRED_CONTROLS_WITHIN_DRIFT, TRI_PASS, "3 controls");
}

static void a_pair_without_a_control_is_not_guarded_by_another_pairs(void **state)
{
    (void)state;
    const char *absent[] = {"tuned"};
    add_third_side();
    for (size_t w = 1; w < 3; w++)
        raw->workloads[w].absent_sides = (struct args){absent, 1};
    raw->workloads[0].lanes[1].control = false; /* the one control that tuned had */
    raw_replan(&arena, raw);
    raw_expect(&arena, raw, PRED_CONTROLS_WITHIN_DRIFT, TRI_UNKNOWN, "tuned with before");
}

static void a_workload_absent_on_a_side_yields_absent_and_the_other_rows_stand(void **state)
{
    (void)state;
    const char *absent[] = {"before"};
    raw->workloads[0].absent_sides = (struct args){absent, 1};
    raw_replan(&arena, raw);
    const struct summary *s = summarise(&arena, raw);
    for (size_t i = 0; i < s->n_rows; i++) {
        const struct row *r = &s->rows[i];
        bool gone = strcmp(r->workload, "fib30") == 0 && strcmp(r->side, "before") == 0;
        enum tri complete = r->grade.predicates[ROW_PAIRS_COMPLETE].status;
        assert_int_equal(complete, gone ? TRI_NOT_APPLICABLE : TRI_PASS);
        assert_int_equal(r->wall.n, gone ? 0 : 11);
        if (gone)
            assert_string_equal(r->undefined, "absent on before");
        else
            assert_null(r->undefined);
    }
    assert_null(comparison_of(s, COMPARE_SIDES, "fib30", "c", "after"));
    assert_null(comparison_of(s, COMPARE_LANES, "fib30", "c", "before"));
    assert_non_null(comparison_of(s, COMPARE_LANES, "fib30", "c", "after"));
    assert_non_null(comparison_of(s, COMPARE_SIDES, "fanout", "c", "after"));
    assert_int_equal(s->n_controls, 2);
    raw_expect(&arena, raw, PRED_PROTOCOL_EXACT, TRI_PASS, "as planned");
    raw_expect(&arena, raw, PRED_WARMUPS_EXCLUDED, TRI_PASS, "1 per lane");
    raw_expect(&arena, raw, PRED_CONTROLS_WITHIN_DRIFT, TRI_PASS, "2 controls");
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
    assert_true(c->has_excess);
    assert_int_equal(c->excess.interval.rank_low, 2);
    assert_same(c->excess.interval.high, 0.5);
    assert_int_equal(c->excess.verdict, VERDICT_FASTER);
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
        T(a_calibrated_host_says_same_unless_its_noise_is_over_the_margin),
        T(a_difference_within_the_noise_floor_is_none),
        T(wall_and_cpu_time_and_each_measure_have_noise_floors_of_their_own),
        T(lanes_are_compared_with_controls_on_each_side_but_startup_lanes_are_not),
        T(a_control_that_is_a_startup_lane_is_no_reference),
        T(a_lane_that_takes_no_part_is_not_compared),
        T(a_failed_side_leaves_the_comparison_undefined_with_a_reason),
        T(unknown_cpu_time_leaves_wall_time_compared),
        T(sequential_sides_are_compared_without_pairs_with_cpu_time_and_excess_beside),
        T(the_largest_drift_of_a_control_is_the_margin_of_sequential_sides),
        T(sequential_sides_without_a_control_say_so),
        T(each_later_side_is_compared_with_the_first_where_no_pairs_are_named),
        T(named_pairs_are_the_comparisons_and_carry_the_drifts),
        T(a_pair_without_a_control_is_not_guarded_by_another_pairs),
        T(a_workload_absent_on_a_side_yields_absent_and_the_other_rows_stand),
        T(two_commands_are_compared_b_against_a),
        T(a_declared_wait_dilutes_the_ratio_and_the_excess_does_not),
        T(wall_and_cpu_verdicts_that_differ_are_pointed_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
