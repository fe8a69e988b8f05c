/* What a lane of measure "counters" may print, and each way in which it may not. */
#include "unit/unit.h"

#include "base/mem.h"
#include "proto/form/counters.h"

static const char *names_v[] = {"allocations", "retains", "a", NULL};
static const struct args names = {names_v, 3};

static const struct {
    const char *text;
    int64_t values[3];
} good[] = {
    {"COUNTER allocations 12\nCOUNTER retains 0\nCOUNTER a 9007199254740991\n",
     {12, 0, 9007199254740991}},
    {"COUNTER a 3\nCOUNTER retains 2\nCOUNTER allocations 1\n", {1, 2, 3}},
};

static void each_counter_is_taken_in_the_declared_order(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        CLEANUP(arena_deinit) struct arena a = {0};
        struct raw_value *values;
        const char *got;
        assert_null(counters_parse(&a, good[i].text, strlen(good[i].text), &names, &values, &got));
        assert_null(got);
        for (size_t k = 0; k < names.n; k++) {
            assert_string_equal(values[k].name, names.v[k]);
            assert_int_equal(values[k].value, good[i].values[k]);
        }
    }
}

#define TWO "COUNTER allocations 1\nCOUNTER retains 2\n"

static const struct {
    const char *text, *code, *got;
} bad[] = {
    {"", "lane.counter_missing", "allocations"},
    {TWO, "lane.counter_missing", "a"},
    {TWO "COUNTER a 1\nCOUNTER releases 3\n", "lane.counter_unknown", "COUNTER releases 3"},
    {"COUNTER al 3\n", "lane.counter_unknown", "COUNTER al 3"},
    {TWO "COUNTER retains 2\n", "lane.counter_twice", "COUNTER retains 2"},
    {"COUNTER retains 2", "lane.counter_bad", "COUNTER retains 2"},
    {"\n", "lane.counter_bad", ""},
    {"hello\n", "lane.counter_bad", "hello"},
    {"counter a 1\n", "lane.counter_bad", "counter a 1"},
    {" COUNTER a 1\n", "lane.counter_bad", " COUNTER a 1"},
    {"COUNTER a\n", "lane.counter_bad", "COUNTER a"},
    {"COUNTER a \n", "lane.counter_bad", "COUNTER a "},
    {"COUNTER  a 1\n", "lane.counter_bad", "COUNTER  a 1"},
    {"COUNTER a  1\n", "lane.counter_bad", "COUNTER a  1"},
    {"COUNTER a 1 \n", "lane.counter_bad", "COUNTER a 1 "},
    {"COUNTER a 1\r\n", "lane.counter_bad", "COUNTER a 1?"},
    {"COUNTER a -1\n", "lane.counter_bad", "COUNTER a -1"},
    {"COUNTER a +1\n", "lane.counter_bad", "COUNTER a +1"},
    {"COUNTER a 1.5\n", "lane.counter_bad", "COUNTER a 1.5"},
    {"COUNTER a 1e3\n", "lane.counter_bad", "COUNTER a 1e3"},
    {"COUNTER a 0x10\n", "lane.counter_bad", "COUNTER a 0x10"},
    {"COUNTER a 01\n", "lane.counter_bad", "COUNTER a 01"},
    {"COUNTER a 9007199254740992\n", "lane.counter_bad", "COUNTER a 9007199254740992"},
    {"COUNTER a 99999999999999999999\n", "lane.counter_bad", "COUNTER a 99999999999999999999"},
};

static void anything_else_is_refused_by_what_it_is(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        CLEANUP(arena_deinit) struct arena a = {0};
        struct raw_value *values;
        const char *got;
        const char *code =
            counters_parse(&a, bad[i].text, strlen(bad[i].text), &names, &values, &got);
        assert_non_null(code);
        assert_string_equal(code, bad[i].code);
        assert_string_equal(got, bad[i].got);
        assert_null(values);
    }
}

static void a_nul_is_no_end(void **state)
{
    static const char text[] = "COUNTER a 1\0\n";
    CLEANUP(arena_deinit) struct arena a = {0};
    struct raw_value *values;
    const char *got;

    (void)state;
    assert_string_equal(counters_parse(&a, text, sizeof text - 1, &names, &values, &got),
                        "lane.counter_bad");
    assert_string_equal(got, "COUNTER a 1?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_counter_is_taken_in_the_declared_order),
        cmocka_unit_test(anything_else_is_refused_by_what_it_is),
        cmocka_unit_test(a_nul_is_no_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
