#include "unit.h"

#include "base/mem.h"
#include "core/stats/compare.h"

#include "prng.h"

static const struct verdict_rule uncalibrated = {.margin = 0.01, .noise_floor = NAN};

/* Samples of repetitions 0..n-1. */
static struct samples series(struct arena *a, const int64_t *values, size_t n)
{
    struct samples s = {arena_array(a, n, sizeof *s.v), n};
    for (size_t i = 0; i < n; i++)
        s.v[i] = (struct sample){(int)i, values[i]};
    return s;
}

static void a_ratio_is_subject_over_reference(void **state)
{
    (void)state;
    assert_same(compare_ratio(3, 2), 1.5);
    assert_nan(compare_ratio(3, 0));
    assert_nan(compare_ratio(0, 3));
    assert_nan(compare_ratio(-3, 3));
    assert_nan(compare_ratio(3, -3));
    assert_nan(compare_ratio(NAN, 3));
    assert_nan(compare_ratio(3, NAN));
}

static void change_and_reduction_are_percent_of_before(void **state)
{
    (void)state;
    assert_same(compare_change_pct(200, 150), -25);
    assert_same(compare_change_pct(200, 250), 25);
    assert_same(compare_reduction_pct(200, 150), 25);
    assert_same(compare_reduction_pct(200, 0), 100);
    assert_nan(compare_change_pct(0, 150));
    assert_nan(compare_change_pct(-1, 150));
    assert_nan(compare_change_pct(200, NAN));
    assert_nan(compare_reduction_pct(0, 150));
    assert_nan(compare_reduction_pct(NAN, 150));
}

static void size_gate_passes_up_to_110_percent_and_not_a_byte_more(void **state)
{
    (void)state;
    assert_int_equal(compare_size_gate(1000, 1100), TRI_PASS);
    assert_int_equal(compare_size_gate(1000, 1101), TRI_FAIL);
    assert_int_equal(compare_size_gate(1009, 1109), TRI_PASS); /* 1109.9 */
    assert_int_equal(compare_size_gate(1009, 1110), TRI_FAIL);
    assert_int_equal(compare_size_gate(1000, 0), TRI_PASS);
    assert_int_equal(compare_size_gate(INT64_MAX, INT64_MAX), TRI_PASS);
    assert_int_equal(compare_size_gate(1, INT64_MAX), TRI_FAIL);
}

static void size_gate_without_a_record_is_unknown(void **state)
{
    (void)state;
    assert_int_equal(compare_size_gate(0, 1), TRI_UNKNOWN);
    assert_int_equal(compare_size_gate(-1, 1), TRI_UNKNOWN);
    assert_int_equal(compare_size_gate(1000, -1), TRI_UNKNOWN);
}

static void pairs_are_matched_by_repetition_and_never_by_position(void **state)
{
    (void)state;
    struct sample s[] = {{0, 10}, {2, 12}, {3, 13}, {5, 15}};
    struct sample r[] = {{1, 21}, {2, 22}, {3, 23}, {4, 24}, {5, 25}};
    struct pair out[4];
    size_t n = compare_pairs(&(struct samples){s, 4}, &(struct samples){r, 5}, out);
    assert_int_equal(n, 3);
    const int repetitions[] = {2, 3, 5};
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(out[i].repetition, repetitions[i]);
        assert_int_equal(out[i].subject, repetitions[i] + 10);
        assert_int_equal(out[i].reference, repetitions[i] + 20);
    }
}

static void a_repetition_that_one_side_has_twice_gives_no_pair(void **state)
{
    (void)state;
    struct sample s[] = {{0, 10}, {1, 11}, {1, 12}, {2, 13}};
    struct sample r[] = {{0, 20}, {1, 21}, {2, 22}, {2, 23}, {3, 24}};
    struct pair out[4];
    assert_int_equal(compare_pairs(&(struct samples){s, 4}, &(struct samples){r, 5}, out), 1);
    assert_int_equal(out[0].repetition, 0);
    assert_int_equal(compare_pairs(&(struct samples){r, 5}, &(struct samples){s, 4}, out), 1);
    assert_int_equal(compare_pairs(&(struct samples){s, 0}, &(struct samples){r, 5}, out), 0);
}

static void an_estimate_speaks_of_the_median_of_paired_ratios(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    /* Twice as slow in every repetition, while the host slows down by the factor 11. */
    int64_t s[11], r[11];
    for (int i = 0; i < 11; i++) {
        r[i] = 1000 * (i + 1);
        s[i] = 2000 * (i + 1);
    }
    struct samples subject = series(&a, s, 11), reference = series(&a, r, 11);
    struct estimate e;
    compare_estimate(&a, &subject, &reference, &uncalibrated, &e);
    assert_int_equal(e.pairs, 11);
    assert_same(e.ratio_of_medians, 2);
    assert_same(e.paired_median_ratio, 2);
    assert_same(e.interval.low, 2);
    assert_same(e.interval.high, 2);
    assert_int_equal(e.verdict, VERDICT_SLOWER);
    assert_false(e.medians_outside);
    assert_near(e.resolvable, 0.01, 1e-15);
    assert_non_null(e.note); /* not calibrated */

    compare_estimate(&a, &reference, &subject, &uncalibrated, &e);
    assert_same(e.paired_median_ratio, 0.5);
    assert_int_equal(e.verdict, VERDICT_FASTER);
}

static void a_ratio_of_medians_outside_the_interval_is_pointed_out(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    /* Ratios of 1 in nine repetitions, but the two others move the medians apart. */
    const int64_t s[] = {10, 20, 30, 40, 50, 60, 70, 80, 90, 999, 999};
    const int64_t r[] = {10, 20, 30, 40, 50, 60, 70, 80, 90, 1, 1};
    struct samples subject = series(&a, s, 11), reference = series(&a, r, 11);
    struct estimate e;
    compare_estimate(&a, &subject, &reference, &uncalibrated, &e);
    assert_same(e.paired_median_ratio, 1);
    assert_same(e.ratio_of_medians, 60.0 / 40.0);
    assert_true(e.interval.high > 900); /* 10th of 11 is one of the two */
    assert_false(e.medians_outside);

    const int64_t one_off[] = {10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 1};
    reference = series(&a, one_off, 11);
    const int64_t other[] = {10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 999};
    subject = series(&a, other, 11);
    compare_estimate(&a, &subject, &reference, &uncalibrated, &e);
    assert_same(e.interval.low, 1);
    assert_same(e.interval.high, 1);
    assert_same(e.ratio_of_medians, 60.0 / 50.0);
    assert_true(e.medians_outside);
    compare_estimate(&a, &reference, &subject, &uncalibrated, &e);
    assert_same(e.ratio_of_medians, 50.0 / 60.0);
    assert_true(e.medians_outside);
}

static void assert_undefined(const struct estimate *e)
{
    assert_nan(e->paired_median_ratio);
    assert_nan(e->resolvable);
    assert_false(e->interval.defined);
    assert_nan(e->interval.low);
    assert_int_equal(e->verdict, VERDICT_UNRESOLVED);
    assert_non_null(e->note);
}

static void without_samples_there_is_no_estimate_but_a_reason(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    const int64_t v[] = {1, 2, 3, 4, 5, 6};
    struct samples some = series(&a, v, 6), none = {NULL, 0};
    struct estimate e;
    compare_estimate(&a, &none, &some, &uncalibrated, &e);
    assert_undefined(&e);
    assert_nan(e.ratio_of_medians);
    assert_non_null(strstr(e.note, "subject"));
    compare_estimate(&a, &some, &none, &uncalibrated, &e);
    assert_undefined(&e);
    assert_non_null(strstr(e.note, "reference"));
    struct samples later = series(&a, v, 6);
    for (size_t i = 0; i < later.n; i++)
        later.v[i].repetition += 100;
    compare_estimate(&a, &some, &later, &uncalibrated, &e);
    assert_undefined(&e);
    assert_int_equal(e.pairs, 0);
    assert_non_null(strstr(e.note, "no repetition"));
}

static void a_zero_baseline_is_undefined_and_not_infinite(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    const int64_t v[] = {1, 2, 3, 4, 5, 6}, zero[] = {1, 2, 0, 4, 5, 6};
    struct samples some = series(&a, v, 6), with_zero = series(&a, zero, 6);
    struct estimate e;
    compare_estimate(&a, &some, &with_zero, &uncalibrated, &e);
    assert_undefined(&e);
    assert_int_equal(e.pairs, 6);
    compare_estimate(&a, &with_zero, &some, &uncalibrated, &e);
    assert_undefined(&e);
}

static void sides_that_ran_one_after_the_other_are_two_samples(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    const int64_t s[] = {2000, 2010, 2020, 2030, 2040, 2050, 2060},
                  r[] = {1000, 1005, 1010, 1015, 1020, 1025, 1030};
    struct samples subject = series(&a, s, 7), reference = series(&a, r, 7), none = {NULL, 0};
    struct estimate e;
    compare_unpaired(&a, &subject, &reference, &uncalibrated, &e);
    assert_true(e.unpaired);
    assert_int_equal(e.pairs, 0);
    assert_nan(e.paired_median_ratio);
    assert_same(e.shift_ratio, 2);
    assert_same(estimate_ratio(&e), 2);
    assert_same(e.ratio_of_medians, 2);
    assert_int_equal(e.interval.rank_low, 9);
    assert_same(e.interval.coverage, 1 - 2 * (65.0 / 3432));
    assert_int_equal(e.verdict, VERDICT_SLOWER);
    assert_true(e.resolvable > 0.01 && e.resolvable < 0.04);
    assert_same(e.margin, 0.01);
    compare_unpaired(&a, &none, &reference, &uncalibrated, &e);
    assert_undefined(&e);
    assert_nan(e.ratio_of_medians);
    assert_nan(e.shift_ratio);
    assert_non_null(strstr(e.note, "subject"));
    subject.v[0].value = 0;
    compare_unpaired(&a, &subject, &reference, &uncalibrated, &e);
    assert_undefined(&e);
}

static void the_margin_of_unpaired_sides_is_at_least_the_drift_of_the_controls(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    int64_t s[11], r[11];
    for (int i = 0; i < 11; i++) {
        s[i] = 10300 + i;
        r[i] = 10000 + i;
    }
    struct samples subject = series(&a, s, 11), reference = series(&a, r, 11);
    struct verdict_rule rule = {.margin = 0.01, .noise_floor = 0.002, .drift = 0};
    struct estimate e;
    compare_unpaired(&a, &subject, &reference, &rule, &e);
    assert_int_equal(e.verdict, VERDICT_SLOWER);
    assert_null(e.note);
    rule.drift = 0.02;
    compare_unpaired(&a, &subject, &reference, &rule, &e);
    assert_same(e.margin, 0.02);
    assert_int_equal(e.verdict, VERDICT_SLOWER);
    rule.drift = 0.0299; /* inside the interval */
    compare_unpaired(&a, &subject, &reference, &rule, &e);
    assert_int_equal(e.verdict, VERDICT_UNRESOLVED);
    assert_non_null(strstr(e.note, "may have drifted"));
    rule.drift = 0.04;
    compare_unpaired(&a, &subject, &reference, &rule, &e);
    assert_int_equal(e.verdict, VERDICT_UNRESOLVED);
    assert_same(e.margin, 0.04);
}

static void a_host_that_moves_does_not_make_same_easier(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    const int64_t v[] = {10000, 10001, 10002, 10003, 10004, 10005};
    struct samples s = series(&a, v, 6);
    struct verdict_rule rule = {.margin = 0.01, .noise_floor = 0.002, .drift = 0.01};
    struct estimate e;
    compare_unpaired(&a, &s, &s, &rule, &e);
    assert_int_equal(e.verdict, VERDICT_SAME);
    rule.drift = 0.011;
    compare_unpaired(&a, &s, &s, &rule, &e);
    assert_int_equal(e.verdict, VERDICT_UNRESOLVED);
    assert_non_null(strstr(e.note, "SAME cannot be said"));
}

static void without_a_control_unpaired_sides_are_never_the_same(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    const int64_t v[] = {1000, 1001, 1002, 1003, 1004, 1005},
                  w[] = {2000, 2001, 2002, 2003, 2004, 2005};
    struct samples some = series(&a, v, 6), twice = series(&a, w, 6);
    const struct verdict_rule rule = {.margin = 0.01, .noise_floor = 0.002, .drift = NAN};
    struct estimate e;
    compare_unpaired(&a, &some, &some, &rule, &e);
    assert_int_equal(e.verdict, VERDICT_UNRESOLVED);
    assert_non_null(strstr(e.note, "no control"));
    compare_unpaired(&a, &twice, &some, &rule, &e);
    assert_int_equal(e.verdict, VERDICT_SLOWER);
    assert_non_null(strstr(e.note, "no control"));
}

static void the_order_of_samples_never_matters(void **state)
{
    (void)state;
    struct prng p = prng_seeded("compare");
    for (int round = 0; round < 300; round++) {
        CLEANUP(arena_deinit) struct arena a = {0};
        int64_t s[20], r[20];
        for (int i = 0; i < 20; i++) {
            s[i] = 1 + (int64_t)prng_below(&p, 1000);
            r[i] = 1 + (int64_t)prng_below(&p, 1000);
        }
        struct samples subject = series(&a, s, 20), reference = series(&a, r, 20);
        struct estimate straight, shuffled;
        compare_estimate(&a, &subject, &reference, &uncalibrated, &straight);
        for (size_t i = 20; i > 1; i--) {
            size_t j = prng_below(&p, i);
            struct sample t = subject.v[i - 1];
            subject.v[i - 1] = subject.v[j];
            subject.v[j] = t;
        }
        samples_sort(&subject);
        compare_estimate(&a, &subject, &reference, &uncalibrated, &shuffled);
        assert_same(straight.paired_median_ratio, shuffled.paired_median_ratio);
        assert_same(straight.interval.low, shuffled.interval.low);
        assert_same(straight.interval.high, shuffled.interval.high);
        assert_int_equal(straight.verdict, shuffled.verdict);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ratio_is_subject_over_reference),
        cmocka_unit_test(change_and_reduction_are_percent_of_before),
        cmocka_unit_test(size_gate_passes_up_to_110_percent_and_not_a_byte_more),
        cmocka_unit_test(size_gate_without_a_record_is_unknown),
        cmocka_unit_test(pairs_are_matched_by_repetition_and_never_by_position),
        cmocka_unit_test(a_repetition_that_one_side_has_twice_gives_no_pair),
        cmocka_unit_test(an_estimate_speaks_of_the_median_of_paired_ratios),
        cmocka_unit_test(a_ratio_of_medians_outside_the_interval_is_pointed_out),
        cmocka_unit_test(without_samples_there_is_no_estimate_but_a_reason),
        cmocka_unit_test(a_zero_baseline_is_undefined_and_not_infinite),
        cmocka_unit_test(sides_that_ran_one_after_the_other_are_two_samples),
        cmocka_unit_test(the_margin_of_unpaired_sides_is_at_least_the_drift_of_the_controls),
        cmocka_unit_test(a_host_that_moves_does_not_make_same_easier),
        cmocka_unit_test(without_a_control_unpaired_sides_are_never_the_same),
        cmocka_unit_test(the_order_of_samples_never_matters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
