/* What follows from a calibration: each figure on values that can be reckoned by hand. */
#include "unit.h"

#include "base/mem.h"
#include "core/stats/interval.h"
#include "core/stats/quantile.h"

#include "calibrations.h"
#include "prng.h"

static struct arena arena;

static int tear_down(void **state)
{
    (void)state;
    arena_deinit(&arena);
    return 0;
}

static double noise_of(const double *ratios, size_t groups)
{
    const struct calibration *c = calibration_of(&arena, "b", ratios, groups, 100, 5);

    return calibration_noise_floor(&arena, &c->measures[MEASURE_PROTOCOL].pairs_ns);
}

static void the_noise_floor_is_the_95th_percentile_of_how_far_groups_are_apart(void **state)
{
    (void)state;
    double ratios[40];
    for (size_t i = 0; i < ARRAY_LEN(ratios); i++)
        ratios[i] = 1 + (double)i / 1000;
    assert_near(noise_of(ratios, 40), 0.037, 1e-12); /* rank 38 of 40 */
    assert_near(noise_of(ratios, 21), 0.019, 1e-12); /* rank 20 of 21 */
    assert_near(noise_of(ratios, 20), 0.018, 1e-12); /* rank 19 of 20 */
    assert_near(noise_of(ratios, 5), 0.004, 1e-12);  /* all: 5 of 5 */
    assert_near(noise_of(ratios, 1), 0, 1e-12);
}

static void a_group_that_looks_faster_counts_as_one_that_looks_slower(void **state)
{
    (void)state;
    const double slower[] = {1.25, 1, 1}, faster[] = {0.8, 1, 1};
    assert_near(noise_of(slower, 3), 0.25, 1e-12);
    assert_near(noise_of(faster, 3), 0.25, 1e-12);
}

static void there_is_no_noise_floor_without_a_full_group_or_with_an_unknown_value(void **state)
{
    (void)state;
    const double ratios[] = {1, 1};
    struct calibration *c = calibration_of(&arena, "b", ratios, 2, 100, 5);
    struct calibration_values *pairs = &c->measures[MEASURE_PROCESS].pairs_ns;
    assert_number(calibration_noise_floor(&arena, pairs));
    pairs->v[7] = -1;
    assert_nan(calibration_noise_floor(&arena, pairs));
    pairs->v[7] = 0; /* was not resolved */
    assert_nan(calibration_noise_floor(&arena, pairs));
    pairs->v[7] = 1000000;
    pairs->n = 2 * (CALIBRATION_GROUP_PAIRS - 1);
    assert_nan(calibration_noise_floor(&arena, pairs));
    pairs->n = 0;
    assert_nan(calibration_noise_floor(&arena, pairs));
}

static void floors_have_median_and_mad_and_resolve_100_times_the_mad(void **state)
{
    (void)state;
    const double ratios[] = {1.01};
    struct calibration *c = calibration_of(&arena, "b", ratios, 1, 12000, 300);
    struct calibration_figures f;
    calibration_figures(&arena, c, MEASURE_PROTOCOL, &f);
    assert_same(f.floor_median_ns, 12000);
    assert_same(f.floor_mad_ns, 300);
    assert_same(f.resolution_ns, 30000);
    assert_same(calibration_share(&f, 24000), 0.5);
    assert_nan(calibration_share(&f, NAN));
    assert_int_equal(f.groups, 1);
    assert_int_equal(f.floor_n, 3);
    assert_int_equal(f.floor_total_ns, 36000);
    assert_near(f.noise_floor, 0.01, 1e-12);
    assert_near(f.cpu_noise_floor, 0.01, 1e-12);
    assert_int_equal(f.pairs_total_ns, f.pairs_cpu_total_ns);
}

static void a_clock_too_coarse_for_a_mad_resolves_100_of_its_steps(void **state)
{
    (void)state;
    const double ratios[] = {1};
    struct calibration *c = calibration_of(&arena, "b", ratios, 1, 12000, 0);
    struct calibration_figures f;
    c->clock_step_ns = 1000;
    calibration_figures(&arena, c, MEASURE_PROTOCOL, &f);
    assert_same(f.resolution_ns, 100000);
    c->measures[MEASURE_PROTOCOL].floor_ns.n = 0;
    calibration_figures(&arena, c, MEASURE_PROTOCOL, &f);
    assert_nan(f.floor_median_ns);
    assert_nan(f.resolution_ns);
}

static void what_can_be_found_follows_from_the_ranks_of_the_interval(void **state)
{
    (void)state;
    const double ratios[] = {1, 1, 1, 1};
    const struct calibration *c = calibration_of(&arena, "b", ratios, 4, 100, 5);
    /* Ratios 0.995 to 1.005 in steps of 0.001, four of each: 11 repetitions have ranks 2 and 10,
     * at 1/6 and 5/6 of all. */
    double found = calibration_resolvable(&arena, c, MEASURE_PROTOCOL, 11, 0.01);
    assert_int_equal(interval_rank(11), 2);
    assert_near(found, 1 / 0.9962 * 1.01 - 1, 3e-4);
    assert_true(calibration_resolvable(&arena, c, MEASURE_PROTOCOL, 21, 0.01) < found);
    assert_true(calibration_resolvable(&arena, c, MEASURE_PROTOCOL, 51, 0.01) > 0.01);
    assert_nan(calibration_resolvable(&arena, c, MEASURE_PROTOCOL, 5, 0.01)); /* no interval */
}

static void nothing_below_the_noise_floor_can_be_found(void **state)
{
    (void)state;
    const double ratios[] = {1, 1, 1, 1.2};
    const struct calibration *c = calibration_of(&arena, "b", ratios, 4, 100, 5);
    assert_true(calibration_resolvable(&arena, c, MEASURE_PROCESS, 100000, 0.01) > 0.1999);
}

/* More repetitions never find less, whatever was measured. */
static void more_repetitions_find_smaller_changes(void **state)
{
    (void)state;
    struct prng p = prng_seeded(__func__);
    for (int round = 0; round < 200; round++) {
        double ratios[8], last = INFINITY;
        for (size_t i = 0; i < ARRAY_LEN(ratios); i++)
            ratios[i] = 0.9 + (double)prng_below(&p, 200) / 1000;
        const struct calibration *c = calibration_of(&arena, "b", ratios, 8, 100, 5);
        static const size_t counts[] = {11, 21, 51};
        for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
            double found = calibration_resolvable(&arena, c, MEASURE_PROTOCOL, counts[i], 0.01);
            assert_true(found > 0 && found <= last);
            last = found;
        }
    }
}

static void forms_have_one_spelling(void **state)
{
    (void)state;
    assert_int_equal(calibration_form_parse("quick"), CALIBRATION_QUICK);
    assert_string_equal(calibration_form_name(CALIBRATION_FULL), "full");
    assert_int_equal(calibration_form_parse("long"), -1);
}

int main(void)
{
#define T(name) cmocka_unit_test_teardown(name, tear_down)
    const struct CMUnitTest tests[] = {
        T(the_noise_floor_is_the_95th_percentile_of_how_far_groups_are_apart),
        T(a_group_that_looks_faster_counts_as_one_that_looks_slower),
        T(there_is_no_noise_floor_without_a_full_group_or_with_an_unknown_value),
        T(floors_have_median_and_mad_and_resolve_100_times_the_mad),
        T(a_clock_too_coarse_for_a_mad_resolves_100_of_its_steps),
        T(what_can_be_found_follows_from_the_ranks_of_the_interval),
        T(nothing_below_the_noise_floor_can_be_found),
        T(more_repetitions_find_smaller_changes),
        T(forms_have_one_spelling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
