/* Values that differ a little in each repetition: compared by pairs and interval as times are, in
 * the words of values, and never called equal. */
#include "unit.h"

#include "base/mem.h"
#include "calibrations.h"
#include "core/summary/summarise.h"
#include "raw_fixture.h"

static struct arena arena;
static struct raw *raw;

static int set_up(void **state)
{
    (void)state;
    raw = raw_fixture(&arena);
    raw_add_values(&arena, raw, MEASURE_MEMORY); /* ready_rss and peak_rss */
    raw_replan(&arena, raw);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_deinit(&arena);
    return 0;
}

static int64_t *ready_of(const char *lane, const char *side, int repetition)
{
    return &raw_find(raw, "heap", lane, side, repetition)->values[0].value;
}

/* base, and step more with each repetition. */
static void set_ready(const char *lane, const char *side, int64_t base, int64_t step)
{
    for (int r = 0; r < raw->job.repetitions; r++)
        *ready_of(lane, side, r) = base + step * r;
}

static const struct value_comparison *find(bool of_sides, const char *name)
{
    const struct summary *s = summarise(&arena, raw);
    for (size_t i = 0; i < s->n_value_comparisons; i++) {
        const struct value_comparison *c = &s->value_comparisons[i];
        if (c->of_sides == of_sides && strcmp(c->subject_lane, "c") == 0 &&
            strcmp(c->subject_side, "after") == 0 && strcmp(c->name, name) == 0)
            return c;
    }
    fail_msg("no comparison of %s", name);
    return NULL;
}

static const struct value_comparison *compared(void)
{
    return find(true, "ready_rss");
}

static void repeat(int n)
{
    raw->job.repetitions = n;
    raw_replan(&arena, raw);
}

static void an_interval_beyond_the_margin_says_less_or_more(void **state)
{
    (void)state;
    set_ready("c", "before", 10000, 100);
    set_ready("c", "after", 5000, 50);
    const struct value_comparison *c = compared();
    assert_int_equal(c->verdict, VALUE_LESS);
    assert_true(c->has_estimate && !c->exact && c->difference == 0);
    assert_same(c->estimate.paired_median_ratio, 0.5);
    assert_int_equal(c->estimate.pairs, 11);
    assert_int_equal(c->estimate.interval.rank_low, 2);
    assert_int_equal(c->estimate.interval.rank_high, 10);
    assert_near(c->estimate.interval.coverage, 0.98828125, 1e-12);
    assert_same(c->estimate.margin, raw->policy.margin);
    assert_near(c->estimate.resolvable, raw->policy.margin, 1e-12);
    assert_string_equal(c->estimate.note,
                        "the noise floor is not calibrated: judged by the margin alone");
    set_ready("c", "after", 20000, 200);
    assert_int_equal(compared()->verdict, VALUE_MORE);
}

static void the_margin_itself_is_not_beyond_it(void **state)
{
    (void)state;
    set_ready("c", "before", 100000, 0);
    for (int r = 0; r < 11; r++)
        *ready_of("c", "after", r) = r < 2 ? 101000 : 102000; /* the 2nd is the interval's end */
    assert_int_equal(compared()->verdict, VALUE_UNRESOLVED);
    *ready_of("c", "after", 1) = 101001;
    assert_int_equal(compared()->verdict, VALUE_MORE);
    raw->policy.margin = 0.05;
    assert_int_equal(compared()->verdict, VALUE_UNRESOLVED);
}

static void an_interval_across_the_margin_is_unresolved(void **state)
{
    (void)state;
    set_ready("c", "before", 10000, 0);
    set_ready("c", "after", 9500, 100);
    assert_int_equal(compared()->verdict, VALUE_UNRESOLVED);
    assert_non_null(strstr(compared()->estimate.note, "reaches across the margin"));
}

/* No noise floor is known of values, and that of times is none of theirs. */
static void what_is_not_exact_is_never_equal(void **state)
{
    (void)state;
    set_ready("c", "before", 100000, 1);
    set_ready("c", "after", 100000, 1);
    assert_int_equal(compared()->verdict, VALUE_UNRESOLVED);
    assert_non_null(strstr(compared()->estimate.note, "SAME cannot be said"));
    calibrate(&arena, raw, 0.002);
    assert_int_equal(compared()->verdict, VALUE_UNRESOLVED);
}

static void one_side_that_changes_is_enough_and_exact_ones_have_no_estimate(void **state)
{
    (void)state;
    *ready_of("c", "after", 3) += 1;
    assert_true(compared()->has_estimate);
    assert_false(find(true, "peak_rss")->has_estimate);
    assert_int_equal(find(true, "peak_rss")->verdict, VALUE_EQUAL);
}

static void lanes_of_one_side_are_compared_alike(void **state)
{
    (void)state;
    set_ready("c", "after", 300, 3);
    const struct value_comparison *c = find(false, "ready_rss");
    assert_string_equal(c->reference_lane, "cpython");
    assert_int_equal(c->verdict, VALUE_MORE);
    assert_int_equal(c->estimate.pairs, 11);
}

/* ---- where there is no interval */

static void too_few_pairs_have_none(void **state)
{
    (void)state;
    repeat(5);
    set_ready("c", "after", 50, 1);
    assert_int_equal(compared()->verdict, VALUE_INEXACT);
    assert_int_equal(compared()->estimate.pairs, 5);
    assert_false(compared()->estimate.interval.defined);
    assert_non_null(strstr(compared()->estimate.note, "too few"));
    repeat(6);
    set_ready("c", "after", 50, 1);
    assert_int_equal(compared()->verdict, VALUE_LESS);
}

static void a_value_of_zero_has_no_ratio(void **state)
{
    (void)state;
    set_ready("c", "after", 50, 1);
    *ready_of("c", "after", 7) = 0;
    assert_int_equal(compared()->verdict, VALUE_INEXACT);
    assert_nan(compared()->estimate.paired_median_ratio);
    assert_non_null(strstr(compared()->estimate.note, "a value of 0"));
    set_ready("c", "after", 50, 1);
    *ready_of("c", "before", 0) = 0;
    assert_int_equal(compared()->verdict, VALUE_INEXACT);
}

static void a_repetition_that_one_side_lacks_is_no_pair(void **state)
{
    (void)state;
    set_ready("c", "before", 1000, 100);
    set_ready("c", "after", 500, 50);
    raw_find(raw, "heap", "c", "before", 2)->outcome = "lane.signal";
    assert_int_equal(compared()->estimate.pairs, 10);
    /* By place instead of repetition most of them would have another ratio. */
    assert_same(compared()->estimate.interval.low, 0.5);
    assert_same(compared()->estimate.interval.high, 0.5);
    for (int r = 3; r < 8; r++)
        raw_find(raw, "heap", "c", "after", r)->n_values = 0;
    assert_int_equal(compared()->estimate.pairs, 5);
    assert_int_equal(compared()->verdict, VALUE_INEXACT);
}

/* ---- sides that ran one after the other */

static void sides_in_sequence_are_compared_by_their_shift(void **state)
{
    (void)state;
    raw->job.order = ORDER_SEQUENTIAL;
    raw_replan(&arena, raw);
    set_ready("c", "before", 10000, 1);
    set_ready("c", "after", 5000, 1);
    const struct value_comparison *c = compared();
    assert_true(c->estimate.unpaired);
    assert_near(c->estimate.shift_ratio, 0.5, 0.001);
    assert_nan(c->estimate.paired_median_ratio);
    assert_int_equal(c->verdict, VALUE_LESS);
    assert_false(find(false, "ready_rss")->estimate.unpaired);
}

static void a_control_that_may_have_drifted_widens_their_margin(void **state)
{
    (void)state;
    raw->job.order = ORDER_SEQUENTIAL;
    raw_replan(&arena, raw);
    set_ready("c", "before", 10000, 1);
    set_ready("c", "after", 10300, 1);
    for (int r = 0; r < 11; r++)
        raw_find(raw, "fib30", "cpython", "after", r)->elapsed_ns += 4000; /* 5 % */
    assert_true(compared()->estimate.margin > 0.04);
    assert_int_equal(compared()->verdict, VALUE_UNRESOLVED);
    assert_non_null(strstr(compared()->estimate.note, "may have drifted as far"));
}

static void without_a_control_they_are_judged_by_the_margin_alone(void **state)
{
    (void)state;
    raw->workloads = &raw->workloads[raw->n_workloads - 1];
    raw->n_workloads = 1;
    raw->job.order = ORDER_SEQUENTIAL;
    raw_replan(&arena, raw);
    set_ready("c", "after", 50, 1);
    assert_int_equal(compared()->verdict, VALUE_LESS);
    assert_non_null(strstr(compared()->estimate.note, "no control shows"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_interval_beyond_the_margin_says_less_or_more),
        TEST(the_margin_itself_is_not_beyond_it),
        TEST(an_interval_across_the_margin_is_unresolved),
        TEST(what_is_not_exact_is_never_equal),
        TEST(one_side_that_changes_is_enough_and_exact_ones_have_no_estimate),
        TEST(lanes_of_one_side_are_compared_alike),
        TEST(too_few_pairs_have_none),
        TEST(a_value_of_zero_has_no_ratio),
        TEST(a_repetition_that_one_side_lacks_is_no_pair),
        TEST(sides_in_sequence_are_compared_by_their_shift),
        TEST(a_control_that_may_have_drifted_widens_their_margin),
        TEST(without_a_control_they_are_judged_by_the_margin_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
