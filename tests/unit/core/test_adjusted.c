/* What is taken off a figure before it is compared (startup, a declared wait), and control drift.
 */
#include "unit.h"

#include "base/mem.h"
#include "core/stats/adjusted.h"
#include "core/stats/compare.h"
#include "core/stats/drift.h"

static const struct verdict_rule uncalibrated = {.margin = 0.01, .noise_floor = NAN};

/* Samples of repetitions 0..n-1. */
static struct samples series(struct arena *a, const int64_t *values, size_t n)
{
    struct samples s = {arena_array(a, n, sizeof *s.v), n};
    for (size_t i = 0; i < n; i++)
        s.v[i] = (struct sample){(int)i, values[i]};
    return s;
}

static void startup_is_subtracted_in_the_same_repetition(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    /* Differences 5, -1, 0, 7, 9 and a lane without startup in repetition 5. */
    const int64_t l[] = {15, 19, 30, 47, 59, 60}, s[] = {10, 20, 30, 40, 50};
    struct samples lane = series(&a, l, 6), startup = series(&a, s, 5);
    struct startup_adjusted out;
    compare_startup(&a, &lane, &startup, &out);
    assert_int_equal(out.valid, 3);
    assert_int_equal(out.n, 5);
    assert_same(out.median_ns, 7);
    assert_same(out.median_all_ns, 5);
}

static void startup_without_a_positive_difference_is_undefined(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    const int64_t l[] = {9, 20}, s[] = {10, 20};
    struct samples lane = series(&a, l, 2), startup = series(&a, s, 2), none = {NULL, 0};
    struct startup_adjusted out;
    compare_startup(&a, &lane, &startup, &out);
    assert_int_equal(out.valid, 0);
    assert_int_equal(out.n, 2);
    assert_nan(out.median_ns);
    assert_same(out.median_all_ns, -0.5);
    compare_startup(&a, &lane, &none, &out);
    assert_int_equal(out.n, 0);
    assert_nan(out.median_ns);
    assert_nan(out.median_all_ns);
}

static void a_reference_is_adjusted_over_the_pairs_of_the_lane_beside_it(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    /* The lane's own differences: 5, -1, 0, 7, 9; those of the reference: 50, 40, 30, 20, -10. */
    const int64_t l[] = {15, 19, 30, 47, 59}, s[] = {10, 20, 30, 40, 50};
    const int64_t rl[] = {150, 140, 130, 120, 90}, rs[] = {100, 100, 100, 100, 100};
    const struct adjusted_lane lane = {series(&a, l, 5), series(&a, s, 5)};
    const struct adjusted_lane reference = {series(&a, rl, 5), series(&a, rs, 5)};
    const struct adjusted_lane none = {series(&a, rl, 5), {NULL, 0}};
    struct startup_adjusted out;
    adjusted_beside(&a, &reference, &lane, &out);
    assert_int_equal(out.valid, 2); /* repetitions 0 and 3; in 4 the reference is not positive */
    assert_int_equal(out.n, 5);
    assert_same(out.median_ns, 35);
    assert_same(out.median_all_ns, 30);
    adjusted_beside(&a, &reference, &none, &out);
    assert_int_equal(out.n, 0);
    assert_nan(out.median_ns);
    assert_nan(out.median_all_ns);
}

/* 11 pairs with a wait of 1000: the whole differs by half a percent, the excess by half. */
static void same_must_hold_for_the_excess_over_a_wait_too(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    int64_t s[11], r[11];
    for (int i = 0; i < 11; i++) {
        r[i] = 1010;
        s[i] = 1015;
    }
    struct samples subject = series(&a, s, 11), reference = series(&a, r, 11);
    const struct verdict_rule rule = {.margin = 0.01, .noise_floor = 0.002};
    struct estimate e, excess;
    compare_estimate(&a, &subject, &reference, &rule, &e);
    assert_int_equal(e.verdict, VERDICT_SAME);
    compare_excess(&a, &subject, &reference, 1000, &rule, &e, &excess);
    assert_same(excess.paired_median_ratio, 1.5);
    assert_same(excess.interval.low, 1.5);
    assert_same(excess.interval.coverage, e.interval.coverage);
    assert_int_equal(excess.verdict, VERDICT_SLOWER);
    assert_int_equal(e.verdict, VERDICT_UNRESOLVED);
    assert_non_null(e.note);

    compare_estimate(&a, &reference, &reference, &rule, &e);
    compare_excess(&a, &reference, &reference, 1000, &rule, &e, &excess);
    assert_same(excess.paired_median_ratio, 1);
    assert_int_equal(excess.verdict, VERDICT_SAME);
    assert_int_equal(e.verdict, VERDICT_SAME);
}

static void a_value_within_the_wait_leaves_the_excess_undefined(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    int64_t v[11];
    for (int i = 0; i < 11; i++)
        v[i] = 1010;
    v[4] = 1000;
    struct samples s = series(&a, v, 11), none = {NULL, 0};
    const struct verdict_rule rule = {.margin = 0.01, .noise_floor = 0.002};
    struct estimate e, excess;
    compare_estimate(&a, &s, &s, &rule, &e);
    compare_excess(&a, &s, &s, 1000, &rule, &e, &excess);
    assert_nan(excess.paired_median_ratio);
    assert_non_null(strstr(excess.note, "declared wait"));
    assert_int_equal(e.verdict, VERDICT_UNRESOLVED);
    compare_estimate(&a, &none, &none, &rule, &e);
    compare_excess(&a, &none, &none, 1000, &rule, &e, &excess);
    assert_nan(excess.paired_median_ratio);
    assert_non_null(strstr(excess.note, "subject"));
}

static void a_faster_or_slower_verdict_is_untouched_by_the_excess(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    int64_t s[11], r[11];
    for (int i = 0; i < 11; i++) {
        s[i] = 2000;
        r[i] = 1500;
    }
    struct samples subject = series(&a, s, 11), reference = series(&a, r, 11);
    struct estimate e, excess;
    compare_estimate(&a, &subject, &reference, &uncalibrated, &e);
    compare_excess(&a, &subject, &reference, 1000, &uncalibrated, &e, &excess);
    assert_same(excess.paired_median_ratio, 2);
    assert_int_equal(e.verdict, VERDICT_SLOWER);
}

static void the_excess_of_unpaired_sides_is_unpaired(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    int64_t s[11], r[11];
    for (int i = 0; i < 11; i++) {
        r[i] = 1010;
        s[i] = 1015;
    }
    struct samples subject = series(&a, s, 11), reference = series(&a, r, 11);
    const struct verdict_rule rule = {.margin = 0.01, .noise_floor = 0.002, .drift = 0.001};
    struct estimate e, excess;
    compare_unpaired(&a, &subject, &reference, &rule, &e);
    assert_int_equal(e.verdict, VERDICT_SAME);
    compare_excess(&a, &subject, &reference, 1000, &rule, &e, &excess);
    assert_true(excess.unpaired);
    assert_same(excess.shift_ratio, 1.5);
    assert_int_equal(excess.verdict, VERDICT_SLOWER);
    assert_int_equal(e.verdict, VERDICT_UNRESOLVED);
}

static void a_control_drifts_within_its_limit_or_not(void **state)
{
    (void)state;
    struct control_drift d = {.before_ns = 1000, .after_ns = 1049};
    drift_judge(&d, 5);
    assert_near(d.drift_pct, 4.9, 1e-12);
    assert_int_equal(d.within, TRI_PASS);
    d.after_ns = 1050; /* below 5 %, not at it */
    drift_judge(&d, 5);
    assert_int_equal(d.within, TRI_FAIL);
    d.after_ns = 940; /* in absolute value */
    drift_judge(&d, 5);
    assert_int_equal(d.within, TRI_FAIL);
}

static void an_undefined_drift_is_unknown(void **state)
{
    (void)state;
    struct control_drift d = {.before_ns = NAN, .after_ns = 1000};
    drift_judge(&d, 5);
    assert_nan(d.drift_pct);
    assert_int_equal(d.within, TRI_UNKNOWN);
    d = (struct control_drift){.before_ns = 1000, .after_ns = NAN};
    drift_judge(&d, 5);
    assert_int_equal(d.within, TRI_UNKNOWN);
    d = (struct control_drift){.before_ns = 0, .after_ns = 1000};
    drift_judge(&d, 5);
    assert_int_equal(d.within, TRI_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(startup_is_subtracted_in_the_same_repetition),
        cmocka_unit_test(startup_without_a_positive_difference_is_undefined),
        cmocka_unit_test(a_reference_is_adjusted_over_the_pairs_of_the_lane_beside_it),
        cmocka_unit_test(same_must_hold_for_the_excess_over_a_wait_too),
        cmocka_unit_test(a_value_within_the_wait_leaves_the_excess_undefined),
        cmocka_unit_test(a_faster_or_slower_verdict_is_untouched_by_the_excess),
        cmocka_unit_test(the_excess_of_unpaired_sides_is_unpaired),
        cmocka_unit_test(a_control_drifts_within_its_limit_or_not),
        cmocka_unit_test(an_undefined_drift_is_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
