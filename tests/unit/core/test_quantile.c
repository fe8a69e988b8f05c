#include "unit.h"

#include "core/stats/quantile.h"

#include "prng.h"

static void nothing_has_no_median_and_never_zero(void **state)
{
    (void)state;
    assert_nan(quantile_median_ints(NULL, 0));
    assert_nan(quantile_median(NULL, 0));
    assert_nan(quantile_mad(NULL, 0));
    assert_nan(quantile_r7(NULL, 0, 0.5));
    assert_nan(quantile_mean(NULL, 0));
    assert_nan(quantile_stddev(NULL, 0));
    assert_int_equal(quantile_p95(NULL, 0), -1);
    assert_int_equal(quantile_best(NULL, 0), -1);
}

static void median_is_the_middle_or_the_mean_of_the_two_middle(void **state)
{
    (void)state;
    assert_same(quantile_median_ints((int64_t[]){7}, 1), 7);
    assert_same(quantile_median_ints((int64_t[]){1, 2, 9}, 3), 2);
    assert_same(quantile_median_ints((int64_t[]){1, 2, 5, 9}, 4), 3.5);
    assert_same(quantile_median_ints((int64_t[]){-4, -2}, 2), -3);
    assert_same(quantile_median((double[]){0.5, 1.5, 8}, 3), 1.5);
    assert_same(quantile_median((double[]){0.5, 1.5}, 2), 1.0);
}

static void mad_is_the_unscaled_median_of_deviations(void **state)
{
    (void)state;
    /* median 2, deviations 1 1 0 0 2 4 7 */
    assert_same(quantile_mad((int64_t[]){1, 1, 2, 2, 4, 6, 9}, 7), 1);
    /* median 2.5, deviations 1.5 0.5 0.5 7.5 */
    assert_same(quantile_mad((int64_t[]){1, 2, 3, 10}, 4), 1);
    assert_same(quantile_mad((int64_t[]){5}, 1), 0);
    assert_same(quantile_mad((int64_t[]){5, 5, 5, 5}, 4), 0);
}

static void p95_is_the_value_at_rank_ceil_of_0_95_n(void **state)
{
    (void)state;
    int64_t v[1000];
    for (int i = 0; i < 1000; i++)
        v[i] = i + 1; /* the value is its rank */
    const struct {
        size_t n;
        int64_t rank;
    } cases[] = {{1, 1},   {2, 2},   {11, 11}, {19, 19},  {20, 19},  {21, 20},
                 {40, 38}, {41, 39}, {99, 95}, {100, 95}, {101, 96}, {1000, 950}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(quantile_p95(v, cases[i].n), cases[i].rank);
}

static void best_is_the_minimum(void **state)
{
    (void)state;
    assert_int_equal(quantile_best((int64_t[]){3, 4, 5}, 3), 3);
}

static void r7_interpolates_at_n_minus_1_times_p(void **state)
{
    (void)state;
    const double v[] = {10, 20, 40, 80};
    assert_same(quantile_r7(v, 4, 0), 10);
    assert_same(quantile_r7(v, 4, 1), 80);
    assert_same(quantile_r7(v, 4, 0.5), 30);         /* h = 1.5 */
    assert_same(quantile_r7(v, 4, 0.25), 17.5);      /* h = 0.75 */
    assert_near(quantile_r7(v, 4, 0.95), 74, 1e-12); /* h = 2.85 */
    assert_same(quantile_r7(v, 1, 0.95), 10);
}

static void a_percentile_outside_0_to_1_is_undefined(void **state)
{
    (void)state;
    const double v[] = {1, 2};
    assert_nan(quantile_r7(v, 2, -0.01));
    assert_nan(quantile_r7(v, 2, 1.01));
    assert_nan(quantile_r7(v, 2, NAN));
}

static void mean_and_population_deviation(void **state)
{
    (void)state;
    const double v[] = {2, 4, 4, 4, 5, 5, 7, 9};
    assert_same(quantile_mean(v, 8), 5);
    assert_same(quantile_stddev(v, 8), 2);
    assert_same(quantile_stddev(v, 1), 0);
    const double far[] = {1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16}; /* one pass would lose this */
    assert_near(quantile_stddev(far, 4), sqrt(22.5), 1e-9);
}

static double slow_mad(const int64_t *sorted, size_t n)
{
    double d[64];
    for (size_t i = 0; i < n; i++)
        d[i] = fabs((double)sorted[i] - quantile_median_ints(sorted, n));
    quantile_sort(d, n);
    return quantile_median(d, n);
}

static void any_samples_agree_with_the_definitions_done_slowly(void **state)
{
    (void)state;
    struct prng p = prng_seeded("quantile");
    for (int round = 0; round < 2000; round++) {
        int64_t v[64];
        double x[64];
        size_t n = 1 + prng_below(&p, 64), range = 1 + prng_below(&p, 100);
        for (size_t i = 0; i < n; i++)
            v[i] = (int64_t)prng_below(&p, range) - 20;
        quantile_sort_ints(v, n);
        for (size_t i = 0; i < n; i++) {
            x[i] = (double)v[i];
            assert_true(i == 0 || v[i - 1] <= v[i]);
        }
        assert_same(quantile_mad(v, n), slow_mad(v, n));
        assert_same(quantile_median_ints(v, n), quantile_r7(x, n, 0.5));
        size_t at_or_below = 0;
        while (at_or_below < n && v[at_or_below] <= quantile_p95(v, n))
            at_or_below++;
        assert_true(at_or_below * 100 >= 95 * n);
    }
}

static void a_total_is_exact_or_none(void **state)
{
    const int64_t few[] = {3, -1, 5}, most[] = {QUANTILE_TOTAL_MAX - 1, 1};
    const int64_t more[] = {QUANTILE_TOTAL_MAX, 1}, huge[] = {INT64_MAX, INT64_MAX};

    (void)state;
    assert_int_equal(quantile_total(few, 3), 7);
    assert_int_equal(quantile_total(most, 2), QUANTILE_TOTAL_MAX);
    assert_int_equal(quantile_total(more, 2), -1);
    assert_int_equal(quantile_total(huge, 2), -1);
    assert_int_equal(quantile_total(few, 0), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_total_is_exact_or_none),
        cmocka_unit_test(nothing_has_no_median_and_never_zero),
        cmocka_unit_test(median_is_the_middle_or_the_mean_of_the_two_middle),
        cmocka_unit_test(mad_is_the_unscaled_median_of_deviations),
        cmocka_unit_test(p95_is_the_value_at_rank_ceil_of_0_95_n),
        cmocka_unit_test(best_is_the_minimum),
        cmocka_unit_test(r7_interpolates_at_n_minus_1_times_p),
        cmocka_unit_test(a_percentile_outside_0_to_1_is_undefined),
        cmocka_unit_test(mean_and_population_deviation),
        cmocka_unit_test(any_samples_agree_with_the_definitions_done_slowly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
