#include "unit.h"

#include "core/stats/compare.h"

/* One row: an interval, the margin of 1 %, a noise floor, and the word that follows. */
struct cell {
    double low, high, noise_floor;
    enum verdict verdict;
    const char *note; /* a part of it; NULL: there must be none */
};

static void check(const struct cell *cells, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct interval interval = {
            .defined = true, .low = cells[i].low, .high = cells[i].high};
        const struct verdict_rule rule = {.margin = 0.01, .noise_floor = cells[i].noise_floor};
        const char *note = "unset";
        assert_int_equal(compare_verdict(&interval, &rule, &note), cells[i].verdict);
        if (cells[i].note) {
            assert_non_null(note);
            assert_non_null(strstr(note, cells[i].note));
        } else {
            assert_null(note);
        }
    }
}

static void with_a_quiet_floor_the_margin_decides(void **state)
{
    (void)state;
    const struct cell cells[] = {
        {0.90, 0.98, 0.005, VERDICT_FASTER, NULL},
        {1.02, 1.10, 0.005, VERDICT_SLOWER, NULL},
        {0.995, 1.005, 0.005, VERDICT_SAME, NULL},
        {1 / 1.01, 1.01, 0.005, VERDICT_SAME, NULL},           /* the limits belong to SAME */
        {0.90, 1 / 1.01, 0.005, VERDICT_UNRESOLVED, "across"}, /* and not to FASTER */
        {1.01, 1.10, 0.005, VERDICT_UNRESOLVED, "across"},
        {0.97, 1.03, 0.005, VERDICT_UNRESOLVED, "across"},
        {0.995, 1.005, 0.01, VERDICT_SAME, NULL}, /* f = m is enough */
    };
    check(cells, sizeof cells / sizeof *cells);
}

static void with_a_noisy_floor_the_floor_decides_and_same_cannot_be_said(void **state)
{
    (void)state;
    const struct cell cells[] = {
        {0.90, 0.94, 0.05, VERDICT_FASTER, NULL},
        {1.06, 1.10, 0.05, VERDICT_SLOWER, NULL},
        {0.96, 0.97, 0.05, VERDICT_UNRESOLVED, "within the noise floor"},
        {1.02, 1.10, 0.05, VERDICT_UNRESOLVED, "within the noise floor"},
        {0.995, 1.005, 0.05, VERDICT_UNRESOLVED, "above the margin"},
        {0.97, 1.03, 0.05, VERDICT_UNRESOLVED, "across"},
    };
    check(cells, sizeof cells / sizeof *cells);
}

static void without_calibration_same_cannot_be_said_and_the_rest_says_so(void **state)
{
    (void)state;
    const struct cell cells[] = {
        {0.90, 0.98, NAN, VERDICT_FASTER, "not calibrated"},
        {1.02, 1.10, NAN, VERDICT_SLOWER, "not calibrated"},
        {0.995, 1.005, NAN, VERDICT_UNRESOLVED, "SAME cannot be said"},
        {1.0, 1.0, NAN, VERDICT_UNRESOLVED, "not calibrated"},
        {0.97, 1.03, NAN, VERDICT_UNRESOLVED, "across"},
    };
    check(cells, sizeof cells / sizeof *cells);
}

static void without_an_interval_nothing_is_resolved(void **state)
{
    (void)state;
    const struct interval none = {.low = NAN, .high = NAN, .coverage = NAN};
    const struct verdict_rule rule = {.margin = 0.01, .noise_floor = 0.001};
    const char *note = NULL;
    assert_int_equal(compare_verdict(&none, &rule, &note), VERDICT_UNRESOLVED);
    assert_non_null(strstr(note, "too few"));
    assert_nan(compare_resolvable(&none, 1, 0.01));
}

static void the_smallest_resolvable_change_is_the_wider_arm_with_the_margin(void **state)
{
    (void)state;
    const struct interval up = {.defined = true, .low = 0.99, .high = 1.04};
    assert_near(compare_resolvable(&up, 1.0, 0.01), 1.04 * 1.01 - 1, 1e-15);
    const struct interval down = {.defined = true, .low = 0.8, .high = 1.01};
    assert_near(compare_resolvable(&down, 1.0, 0.01), 1.25 * 1.01 - 1, 1e-15);
    const struct interval point = {.defined = true, .low = 2, .high = 2};
    assert_near(compare_resolvable(&point, 2, 0.01), 0.01, 1e-15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_a_quiet_floor_the_margin_decides),
        cmocka_unit_test(with_a_noisy_floor_the_floor_decides_and_same_cannot_be_said),
        cmocka_unit_test(without_calibration_same_cannot_be_said_and_the_rest_says_so),
        cmocka_unit_test(without_an_interval_nothing_is_resolved),
        cmocka_unit_test(the_smallest_resolvable_change_is_the_wider_arm_with_the_margin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
