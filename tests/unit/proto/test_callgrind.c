/* The total of what callgrind wrote: from the last line of a whole file, and from nothing else. */
#include "unit/unit.h"

#include "base/mem.h"
#include "proto/form/callgrind.h"

static const struct {
    const char *tail;
    int64_t total;
} cases[] = {
    {"fn=(482)\n0 6\n\ntotals: 234394\n", 234394},
    {"totals: 0\n\n", 0},
    {"totals: 9007199254740991\n", 9007199254740991},
    {"totals: 9007199254740992\n", -1},
    {"totals: 99999999999999999\n", -1},
    {"totals: 234394", -1}, /* cut off: more digits may have followed */
    {"totals: 12 34\n", -1},
    {"totals: -1\n", -1},
    {"totals: \n", -1},
    {"totals: 5\n0 6\n", -1},
    {"xtotals: 5\n", -1},
    {"\n\n", -1},
    {"", -1},
};

static void only_a_whole_last_line_is_a_total(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (callgrind_total(cases[i].tail, strlen(cases[i].tail)) != cases[i].total)
            fail_msg("%zu: %s", i, cases[i].tail);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_a_whole_last_line_is_a_total),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
