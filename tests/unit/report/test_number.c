/* Figures have one form each, and what is undefined says so. */
#include "../unit.h"

#include <math.h>

#include "base/mem.h"
#include "report/number.h"

static void durations_have_six_decimals_of_a_millisecond(void **state)
{
    char n[NUMBER_MAX];
    assert_string_equal(number_ms(n, 89359292), "89.359292");
    assert_string_equal(number_ms(n, 0), "0.000000");
    assert_string_equal(number_ms(n, 1), "0.000001");
    assert_string_equal(number_ms(n, -12345678), "-12.345678");
    assert_string_equal(number_ms(n, 3600e9), "3600000.000000");
}

static void an_operation_has_the_unit_that_suits_the_smallest_beside_it(void **state)
{
    char n[NUMBER_MAX];
    assert_string_equal(number_per_operation(n, 249473, 249473), "0.249473 ms/op");
    assert_string_equal(number_per_operation(n, 54e6, 13.9e6), "54.000000 ms/op");
    assert_string_equal(number_per_operation(n, 9412.345, 670), "9.412345 us/op");
    assert_string_equal(number_per_operation(n, 9412.345, 99), "9412.345 ns/op");
    assert_string_equal(number_per_operation(n, 0.25, 0.25), "0.250 ns/op");
    assert_string_equal(number_per_operation(n, (double)NAN, (double)NAN), "undefined");
}

static void ratios_have_six_decimals(void **state)
{
    char n[NUMBER_MAX];
    assert_string_equal(number_ratio(n, 0.5644170), "0.564417");
    assert_string_equal(number_ratio(n, 29.6648839), "29.664884");
}

static void percents_are_signed_unless_they_round_to_zero(void **state)
{
    char n[NUMBER_MAX];
    assert_string_equal(number_pct(n, -79.95911), "-79.9591%");
    assert_string_equal(number_pct(n, 0.04981), "+0.0498%");
    assert_string_equal(number_pct(n, 0.00004), "0.0000%");
    assert_string_equal(number_pct(n, -0.00004), "0.0000%");
    assert_string_equal(number_pct(n, 0.00006), "+0.0001%");
}

static void undefined_is_a_word(void **state)
{
    static char *(*const forms[])(char *, double) = {number_ms, number_ratio, number_pct,
                                                     number_share, number_fraction};
    const double bad[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
    char n[NUMBER_MAX];
    for (size_t f = 0; f < ARRAY_LEN(forms); f++)
        for (size_t i = 0; i < ARRAY_LEN(bad); i++)
            assert_string_equal(forms[f](n, bad[i]), "undefined");
}

static void huge_values_stay_short(void **state)
{
    char n[NUMBER_MAX];
    assert_string_equal(number_ratio(n, 1e300), "1.000000e+300");
    assert_string_equal(number_ms(n, 1e300), "1.000000e+294");
    assert_string_equal(number_pct(n, -1e300), "-1.0000e+300%");
}

static void counts_have_separators(void **state)
{
    char n[NUMBER_MAX];
    assert_string_equal(number_count(n, 0), "0");
    assert_string_equal(number_count(n, 999), "999");
    assert_string_equal(number_count(n, 1000), "1,000");
    assert_string_equal(number_count(n, 1234567), "1,234,567");
    assert_string_equal(number_count(n, INT64_MAX), "9,223,372,036,854,775,807");
    assert_string_equal(number_count(n, -1), "unknown");
}

static void bytes_and_spans_are_for_people(void **state)
{
    char n[NUMBER_MAX];
    assert_string_equal(number_bytes(n, 512), "512 bytes");
    assert_string_equal(number_bytes(n, 8321499136), "7.75 GiB");
    assert_string_equal(number_bytes(n, INT64_MAX), "8.00 EiB");
    assert_string_equal(number_bytes(n, -1), "unknown");
    assert_string_equal(number_span(n, 1234), "1.2 s");
    assert_string_equal(number_span(n, 59999), "59 s");
    assert_string_equal(number_span(n, 252000), "4 min 12 s");
    assert_string_equal(number_span(n, 7500000), "2 h 5 min");
    assert_string_equal(number_span(n, -1), "unknown");
    assert_string_equal(number_share(n, 98.24), "98.2%");
    assert_string_equal(number_fraction(n, 0.98828125), "98.83%");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations_have_six_decimals_of_a_millisecond),
        cmocka_unit_test(an_operation_has_the_unit_that_suits_the_smallest_beside_it),
        cmocka_unit_test(ratios_have_six_decimals),
        cmocka_unit_test(percents_are_signed_unless_they_round_to_zero),
        cmocka_unit_test(undefined_is_a_word),
        cmocka_unit_test(huge_values_stay_short),
        cmocka_unit_test(counts_have_separators),
        cmocka_unit_test(bytes_and_spans_are_for_people),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
