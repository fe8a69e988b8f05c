/* The unpaired interval: ranks and coverage against counting by hand, ratios against sorting. */
#include "unit.h"

#include <stdlib.h>

#include "core/stats/quantile.h"
#include "core/stats/shift.h"

#include "prng.h"

/* ---- coverage */

/* How many of the arrangements of m among m + n have U < rank, by trying each. */
static void try_all(size_t m, size_t n, size_t rank, size_t *below, size_t *all)
{
    *below = *all = 0;
    for (uint32_t bits = 0; bits < 1u << (m + n); bits++) {
        size_t u = 0, seen = 0;
        for (size_t i = 0; i < m + n; i++) {
            if (bits >> i & 1)
                seen++;
            else
                u += seen;
        }
        *all += seen == m;
        *below += seen == m && u < rank;
    }
}

static void coverage_is_that_of_trying_every_arrangement(void **state)
{
    (void)state;
    for (size_t m = 1; m <= 6; m++)
        for (size_t n = 1; n <= 7; n++)
            for (size_t rank = 1; rank <= m * n / 2; rank++) {
                size_t below, all;
                try_all(m, n, rank, &below, &all);
                assert_same(shift_coverage(m, n, rank), 1 - 2 * ((double)below / (double)all));
            }
}

/* Counted with integers of any length. */
static const struct {
    size_t m, n, rank;
    double coverage, next; /* of the rank, and of the one after it */
} counted[] = {
    {4, 4, 1, 0.9714285714285714, 0.9428571428571428},
    {5, 5, 3, 0.9682539682539683, 0.9444444444444444},
    {11, 9, 24, 0.9535484639199809, 0.9438080495356037},
    {11, 11, 31, 0.9526928180178954, 0.944331983805668},
    {58, 58, 1327, 0.9506048004896007, 0.9499551376022317},
    {60, 60, 1427, 0.9502930274934018, 0.9496726548119061},
    {66, 66, 1748, 0.9501411080679752, 0.9496027216908103},
    {100, 100, 4198, 0.9502465595809405, 0.9499595958753396},
    {1000, 18, 6583, 0.9500091522967884, 0.9499122011410434},
    {20, 1000, 7449, 0.9500199741677415, 0.9499283396727292},
    {200, 200, 17735, 0.9500221565325085, 0.9499206791491317},
};
#define COUNTED (sizeof counted / sizeof *counted)

static void ranks_and_coverage_are_those_counted_with_long_integers(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNTED; i++) {
        size_t m = counted[i].m, n = counted[i].n, rank = counted[i].rank;
        assert_int_equal(shift_rank(m, n), rank);
        assert_int_equal(shift_rank(n, m), rank);
        assert_near(shift_coverage(m, n, rank), counted[i].coverage, SHIFT_SERIES_ERROR);
        assert_near(shift_coverage(n, m, rank + 1), counted[i].next, SHIFT_SERIES_ERROR);
    }
}

static void counting_and_the_series_meet(void **state)
{
    (void)state;
    /* On either side of the limit up to which arrangements are counted the coverage goes on
     * smoothly: per rank it falls by about twice the density of U there. */
    for (size_t n = 50; n <= 70; n++) {
        double c = shift_coverage(n, n, shift_rank(n, n));
        assert_true(c >= INTERVAL_COVERAGE_MIN && c < INTERVAL_COVERAGE_MIN + 0.001);
    }
}

static void it_is_the_narrowest_that_still_covers_95_percent(void **state)
{
    (void)state;
    for (size_t m = 1; m <= 1000; m += m < 30 ? 1 : 97)
        for (size_t n = m; n <= 1000; n += n < 30 ? 1 : 97) {
            size_t rank = shift_rank(m, n);
            if (rank > 0)
                assert_true(shift_coverage(m, n, rank) >= INTERVAL_COVERAGE_MIN);
            if (rank < m * n / 2)
                assert_true(shift_coverage(m, n, rank + 1) <
                            INTERVAL_COVERAGE_MIN + SHIFT_SERIES_ERROR);
        }
}

static void three_and_four_give_no_interval(void **state)
{
    (void)state;
    assert_int_equal(shift_rank(0, 1000), 0);
    assert_int_equal(shift_rank(1, 38), 0); /* 39 places, 1 of them below: 2.56 % */
    assert_int_equal(shift_rank(1, 39), 1);
    assert_int_equal(shift_rank(3, 4), 0);
    assert_int_equal(shift_rank(4, 4), 1);
    assert_nan(shift_coverage(0, 5, 1));
    assert_nan(shift_coverage(5, 5, 0));
    assert_nan(shift_coverage(5, 5, 13));
}

/* ---- ratios */

static void random_values(struct prng *p, int64_t *v, size_t n, size_t below)
{
    for (size_t i = 0; i < n; i++)
        v[i] = 1 + (int64_t)prng_below(p, below);
    quantile_sort_ints(v, n);
}

#define MOST 40

static void ratios_are_those_of_sorting_them_all(void **state)
{
    (void)state;
    struct prng p = prng_seeded("shift: ratios");
    for (int round = 0; round < 2000; round++) {
        int64_t x[MOST], y[MOST];
        double all[MOST * MOST];
        size_t m = 1 + prng_below(&p, MOST), n = 1 + prng_below(&p, MOST), k = 0;
        size_t below = prng_below(&p, 2) ? 5 : 1000000000; /* many ties, or hardly any */
        random_values(&p, x, m, below);
        random_values(&p, y, n, below);
        for (size_t i = 0; i < m * n; i++)
            all[k++] = (double)x[i / n] / (double)y[i % n];
        quantile_sort(all, k);
        struct shift s;
        shift_of(x, m, y, n, &s);
        assert_same(s.ratio, k % 2 ? all[k / 2] : sqrt(all[k / 2 - 1] * all[k / 2]));
        size_t rank = shift_rank(m, n);
        assert_int_equal(s.interval.defined, rank > 0);
        if (rank == 0)
            continue;
        assert_same(s.interval.low, all[rank - 1]);
        assert_same(s.interval.high, all[k - rank]);
        assert_int_equal(s.interval.rank_low, rank);
        assert_int_equal(s.interval.rank_high, k + 1 - rank);
        assert_same(s.interval.coverage, shift_coverage(m, n, rank));
    }
}

static void a_factor_between_the_samples_is_found_exactly(void **state)
{
    (void)state;
    const int64_t y[] = {1000, 1010, 1020, 1030, 1040, 1050, 1060};
    int64_t x[7];
    for (int i = 0; i < 7; i++)
        x[i] = 2 * y[i];
    struct shift s;
    shift_of(x, 7, y, 7, &s);
    assert_same(s.ratio, 2);
    assert_true(s.interval.low < 2 && s.interval.high > 2);
    shift_of(y, 7, x, 7, &s);
    assert_same(s.ratio, 0.5);
}

static void no_samples_or_a_value_of_0_are_undefined(void **state)
{
    (void)state;
    const int64_t some[] = {1, 2, 3, 4, 5}, zero[] = {0, 2, 3, 4, 5};
    struct shift s;
    shift_of(some, 5, some, 0, &s);
    assert_nan(s.ratio);
    shift_of(NULL, 0, some, 5, &s);
    assert_nan(s.ratio);
    shift_of(zero, 5, some, 5, &s);
    assert_nan(s.ratio);
    shift_of(some, 5, zero, 5, &s);
    assert_nan(s.ratio);
    assert_false(s.interval.defined);
    assert_nan(s.interval.low);
    assert_nan(s.interval.coverage);
}

static void equal_values_throughout_give_an_interval_of_one_point(void **state)
{
    (void)state;
    const int64_t v[] = {7, 7, 7, 7, 7, 7};
    struct shift s;
    shift_of(v, 6, v, 6, &s);
    assert_same(s.ratio, 1);
    assert_same(s.interval.low, 1);
    assert_same(s.interval.high, 1);
}

/* ---- it holds what it says */

/* A skewed duration around 100000 ns, rounded to whole steps. */
static int64_t duration(struct prng *p, double factor, int64_t step)
{
    double u = (double)(prng_next(p) >> 11) * 0x1p-53, v = (double)(prng_next(p) >> 11) * 0x1p-53;
    double ns = 100000 * factor * (1 + 0.02 * u + 0.2 * v * v * v * v);
    return (int64_t)(ns / (double)step + 0.5) * step;
}

static double share_covered(struct prng *p, size_t m, size_t n, int64_t step)
{
    const int trials = 4000;
    int hits = 0;
    for (int t = 0; t < trials; t++) {
        int64_t x[MOST], y[MOST];
        for (size_t i = 0; i < m; i++)
            x[i] = duration(p, 1.25, step);
        for (size_t i = 0; i < n; i++)
            y[i] = duration(p, 1, step);
        quantile_sort_ints(x, m);
        quantile_sort_ints(y, n);
        struct shift s;
        shift_of(x, m, y, n, &s);
        hits += s.interval.low <= 1.25 && s.interval.high >= 1.25;
    }
    return (double)hits / trials;
}

static void it_holds_the_true_ratio_as_often_as_it_says(void **state)
{
    (void)state;
    struct prng p = prng_seeded("shift: coverage");
    const struct {
        size_t m, n;
    } sizes[] = {{4, 4}, {5, 9}, {11, 11}, {30, 20}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t m = sizes[i].m, n = sizes[i].n;
        double c = shift_coverage(m, n, shift_rank(m, n));
        double error = 5 * sqrt(c * (1 - c) / 4000);
        assert_near(share_covered(&p, m, n, 1), c, error);
    }
}

static void ties_only_raise_how_often_it_holds_the_true_ratio(void **state)
{
    (void)state;
    struct prng p = prng_seeded("shift: ties");
    double c = shift_coverage(11, 11, shift_rank(11, 11));
    /* Steps of 1000 and 2500 ns: a handful of different values, and 1.25 maps steps to steps. */
    assert_true(share_covered(&p, 11, 11, 1000) >= c - 5 * sqrt(c * (1 - c) / 4000));
    assert_true(share_covered(&p, 11, 11, 2500) >= c - 5 * sqrt(c * (1 - c) / 4000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coverage_is_that_of_trying_every_arrangement),
        cmocka_unit_test(ranks_and_coverage_are_those_counted_with_long_integers),
        cmocka_unit_test(counting_and_the_series_meet),
        cmocka_unit_test(it_is_the_narrowest_that_still_covers_95_percent),
        cmocka_unit_test(three_and_four_give_no_interval),
        cmocka_unit_test(ratios_are_those_of_sorting_them_all),
        cmocka_unit_test(a_factor_between_the_samples_is_found_exactly),
        cmocka_unit_test(no_samples_or_a_value_of_0_are_undefined),
        cmocka_unit_test(equal_values_throughout_give_an_interval_of_one_point),
        cmocka_unit_test(it_holds_the_true_ratio_as_often_as_it_says),
        cmocka_unit_test(ties_only_raise_how_often_it_holds_the_true_ratio),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
