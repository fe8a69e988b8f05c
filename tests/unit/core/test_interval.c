#include "unit.h"

#include "core/stats/interval.h"
#include "core/stats/quantile.h"

#include "prng.h"

static void fewer_than_6_give_no_interval(void **state)
{
    (void)state;
    const double v[] = {1, 2, 3, 4, 5, 6};
    struct interval out;
    for (size_t n = 0; n < 6; n++) {
        interval_of_median(v, n, &out);
        assert_false(out.defined);
        assert_nan(out.low);
        assert_nan(out.high);
        assert_nan(out.coverage);
        assert_int_equal(out.rank_low, 0);
    }
    interval_of_median(v, 6, &out);
    assert_true(out.defined);
}

static void eleven_pairs_give_the_2nd_and_10th_at_98_8_percent(void **state)
{
    (void)state;
    const double v[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    struct interval out;
    interval_of_median(v, 11, &out);
    assert_int_equal(out.rank_low, 2);
    assert_int_equal(out.rank_high, 10);
    assert_same(out.low, 2);
    assert_same(out.high, 10);
    assert_same(out.coverage, 1 - 24.0 / 2048);
}

static void ranks_are_those_of_the_sign_test_tables(void **state)
{
    (void)state;
    /* Dixon & Mood's table of the sign test at 5 %, two-sided: critical r, so rank r + 1. */
    const struct {
        size_t n, rank;
    } cases[] = {{6, 1},  {7, 1},  {8, 1},  {9, 2},   {11, 2},  {12, 3},  {15, 4},
                 {17, 5}, {20, 6}, {25, 8}, {30, 10}, {50, 18}, {100, 40}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(interval_rank(cases[i].n), cases[i].rank);
}

/* Row n of Pascal's triangle; fits 64 bits for every n tried. */
static void pascal(size_t n, uint64_t *row)
{
    memset(row, 0, 64 * sizeof *row);
    row[0] = 1;
    for (size_t k = 1; k <= n; k++)
        for (size_t i = k; i > 0; i--)
            row[i] += row[i - 1];
}

static void coverage_is_exact(void **state)
{
    (void)state;
    uint64_t row[64];
    for (size_t n = 2; n <= 50; n++) {
        pascal(n, row);
        uint64_t inside = 0, below = 0;
        for (size_t i = 0; i <= n; i++)
            inside += row[i];
        for (size_t rank = 1; rank <= n / 2; rank++) {
            below += row[rank - 1];
            assert_same(interval_coverage(n, rank), (double)(inside - 2 * below) / (double)inside);
        }
    }
}

static void many_pairs_do_not_overflow(void **state)
{
    (void)state;
    /* From exact integer arithmetic with as many digits as it takes. */
    const struct {
        size_t n, rank;
        double coverage;
    } cases[] = {{60, 22, 0.972659866131922},
                 {600, 276, 0.9546347777175817},
                 {1000, 469, 0.9537088026395019},
                 {3000, 1446, 0.9534335506179172}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(interval_rank(cases[i].n), cases[i].rank);
        assert_near(interval_coverage(cases[i].n, cases[i].rank), cases[i].coverage, 1e-12);
    }
}

static void a_rank_outside_the_lower_half_has_no_coverage(void **state)
{
    (void)state;
    assert_nan(interval_coverage(0, 1));
    assert_nan(interval_coverage(11, 0));
    assert_nan(interval_coverage(11, 6));
}

static void it_is_the_narrowest_that_still_covers_95_percent(void **state)
{
    (void)state;
    for (size_t n = 6; n <= 3000; n += n < 100 ? 1 : 37) {
        size_t rank = interval_rank(n);
        assert_true(rank >= 1 && rank <= n / 2);
        assert_true(interval_coverage(n, rank) >= INTERVAL_COVERAGE_MIN);
        assert_true(rank == n / 2 || interval_coverage(n, rank + 1) < INTERVAL_COVERAGE_MIN);
    }
}

static void it_holds_the_true_median_as_often_as_it_says(void **state)
{
    (void)state;
    struct prng p = prng_seeded("interval");
    const int trials = 20000;
    int hits = 0;
    for (int t = 0; t < trials; t++) {
        double v[11];
        for (int i = 0; i < 11; i++)
            v[i] = (double)(prng_next(&p) >> 11) * 0x1p-53;
        quantile_sort(v, 11);
        struct interval out;
        interval_of_median(v, 11, &out);
        hits += out.low <= 0.5 && out.high >= 0.5;
    }
    /* 98.83 % by theory; 8 standard deviations on either side. */
    assert_near((double)hits / trials, 0.98828125, 8 * sqrt(0.988 * 0.012 / trials));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fewer_than_6_give_no_interval),
        cmocka_unit_test(eleven_pairs_give_the_2nd_and_10th_at_98_8_percent),
        cmocka_unit_test(ranks_are_those_of_the_sign_test_tables),
        cmocka_unit_test(coverage_is_exact),
        cmocka_unit_test(many_pairs_do_not_overflow),
        cmocka_unit_test(a_rank_outside_the_lower_half_has_no_coverage),
        cmocka_unit_test(it_is_the_narrowest_that_still_covers_95_percent),
        cmocka_unit_test(it_holds_the_true_median_as_often_as_it_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
