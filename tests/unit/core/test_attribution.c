/* Samples fall into one place each, in the declared order; shares add up. */
#include "unit.h"

#include <math.h>

#include "base/mem.h"
#include "core/summary/attribution.h"

static const char *frames_v[] = {"frame_*", "push", NULL};
static const char *all_v[] = {"*", NULL};
static const char *libc_v[] = {"libc.so*", "/opt/*/libm.so.?", NULL};
static const char *none_v[] = {"nothing", NULL};
static struct category categories[] = {
    {"frames", {frames_v, 2}, {NULL, 0}},
    {"libc", {NULL, 0}, {libc_v, 2}},
    {"unused", {none_v, 1}, {NULL, 0}},
};
#define N ARRAY_LEN(categories)

static struct attribution rules(void)
{
    return (struct attribution){.format = PROFILE_PERF_SCRIPT,
                                .categories = categories,
                                .n_categories = N,
                                .from_ms = -1,
                                .to_ms = -1};
}

static struct piece piece(const char *text)
{
    return (struct piece){text, text ? strlen(text) : 0};
}

static struct profile_sample sample(const char *symbol, const char *object)
{
    return (struct profile_sample){.symbol = piece(symbol),
                                   .object = piece(object),
                                   .process = piece("fib"),
                                   .thread = piece("main"),
                                   .at_ns = 5000000,
                                   .count = 1};
}

/* Where one sample falls. */
static const char *place(const struct attribution *r, const struct profile_sample *s)
{
    int64_t counts[N + ATTRIBUTION_VALUES] = {0};

    assert_true(attribution_add(r, s, counts));
    assert_int_equal(counts[N + ATTRIBUTION_SAMPLES], s->count);
    assert_true(attribution_adds_up(r, counts));
    for (size_t i = 0; i < N + ATTRIBUTION_SAMPLES; i++)
        if (counts[i] == s->count)
            return attribution_name(r, i);
    fail_msg("nowhere");
    return NULL;
}

static void expect(const char *symbol, const char *object, const char *where)
{
    struct attribution r = rules();
    struct profile_sample s = sample(symbol, object);
    assert_string_equal(place(&r, &s), where);
}

static void test_a_sample_is_of_the_first_category_that_matches(void **state)
{
    (void)state;
    expect("frame_push", "/bin/fib", "frames");
    expect("frame_push", "/lib/libc.so.6", "frames"); /* of two: the one declared first */
    expect("memcpy", "/lib/libc.so.6", "libc");       /* by the last part of its path */
    expect("exp", "/opt/own/libm.so.6", "libc");      /* by all of it */
    expect("exp", "/opt/own/libm.so.66", "other");
    expect("frame", "/bin/fib", "other");
    expect("push", NULL, "frames");
    expect("pushes", NULL, "other");
    expect(NULL, "/lib/libc.so.6", "excluded_no_symbol");
    expect("", "/bin/fib", "other"); /* a reader gives no empty name */
}

static void test_patterns_hold_with_stars_anywhere(void **state)
{
    static const struct {
        const char *pattern, *text;
        bool fits;
    } rows[] = {
        {"*", "", true},
        {"", "", true},
        {"", "a", false},
        {"a*c", "abc", true},
        {"a*c", "abcb", false},
        {"*b*", "abc", true},
        {"a**c", "ac", true},
        {"?", "", false},
        {"a*b*c", "aXbXbXc", true},
        {"*ab", "aab", true},
        {"a?c", "ac", false},
        {"*a*a*a*", "aa", false},
        {"operator*", "operator*", true},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const char *v[] = {rows[i].pattern, NULL};
        struct category one = {"one", {v, 1}, {NULL, 0}};
        struct attribution r = {.categories = &one, .n_categories = 1, .from_ms = -1, .to_ms = -1};
        struct profile_sample s = sample(rows[i].text, NULL);
        int64_t counts[1 + ATTRIBUTION_VALUES] = {0};
        assert_true(attribution_add(&r, &s, counts));
        if ((counts[0] == 1) != rows[i].fits)
            fail_msg("%s and %s", rows[i].pattern, rows[i].text);
    }
}

static void test_a_sample_is_excluded_for_the_first_reason_that_holds(void **state)
{
    struct attribution r = rules();
    struct profile_sample s = sample("frame_push", "/bin/fib");

    (void)state;
    s.is_kernel = true;
    assert_string_equal(place(&r, &s), "excluded_kernel");
    r.kernel = true;
    assert_string_equal(place(&r, &s), "frames");
    r.to_ms = 5;
    assert_string_equal(place(&r, &s), "excluded_outside_window");
    r.to_ms = 6;
    r.from_ms = 6;
    assert_string_equal(place(&r, &s), "excluded_outside_window");
    r.from_ms = 5;
    assert_string_equal(place(&r, &s), "frames");
    s.at_ns = -1;
    assert_string_equal(place(&r, &s), "excluded_outside_window");
    r.thread = "mai?";
    r.process = "f*";
    s.at_ns = 5000000;
    assert_string_equal(place(&r, &s), "frames");
    s.thread = piece("worker");
    assert_string_equal(place(&r, &s), "excluded_other_thread");
    s.thread = piece(NULL);
    assert_string_equal(place(&r, &s), "excluded_other_thread");
    s.process = piece("sh");
    assert_string_equal(place(&r, &s), "excluded_other_process");
    s.is_suspended = true;
    assert_string_equal(place(&r, &s), "excluded_not_running");
}

static void test_shares_of_what_was_recovered_make_a_hundred(void **state)
{
    struct attribution r = rules();
    int64_t counts[N + ATTRIBUTION_VALUES] = {0};
    static const struct {
        const char *symbol, *object;
        int64_t count;
    } rows[] = {{"frame_push", NULL, 4929},
                {"memcpy", "libc.so.6", 3738},
                {"fib", NULL, 1333},
                {NULL, NULL, 777}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct profile_sample s = sample(rows[i].symbol, rows[i].object);
        s.count = rows[i].count;
        assert_true(attribution_add(&r, &s, counts));
    }
    int64_t recovered = attribution_recovered(&r, counts);
    assert_int_equal(recovered, 10000);
    assert_true(fabs(attribution_share_pct(counts[0], recovered) - 49.29) < 1e-9);
    assert_true(fabs(attribution_share_pct(counts[1], recovered) - 37.38) < 1e-9);
    assert_true(attribution_share_pct(counts[2], recovered) == 0); /* matched by nothing: shown */
    double sum = 0;
    for (size_t i = 0; i <= N + ATTRIBUTION_OTHER; i++)
        sum += attribution_share_pct(counts[i], recovered);
    assert_true(fabs(sum - 100) < 1e-9);
    assert_true(isnan(attribution_share_pct(0, 0)));
    counts[1]++;
    assert_false(attribution_adds_up(&r, counts));
    counts[1] = -1;
    assert_false(attribution_adds_up(&r, counts));
}

static void test_more_samples_than_a_document_can_say_are_refused(void **state)
{
    struct attribution r = rules();
    int64_t counts[N + ATTRIBUTION_VALUES] = {0};
    struct profile_sample s = sample("fib", NULL);

    (void)state;
    s.count = ((int64_t)1 << 53) - 1;
    assert_true(attribution_add(&r, &s, counts));
    s.count = 1;
    assert_false(attribution_add(&r, &s, counts));
    s.count = -1;
    assert_false(attribution_add(&r, &s, counts));
    assert_int_equal(counts[N + ATTRIBUTION_SAMPLES], ((int64_t)1 << 53) - 1);
}

static void test_rules_are_the_same_only_with_every_pattern(void **state)
{
    struct attribution a = rules(), b = rules();
    struct category others[N];

    (void)state;
    assert_true(attribution_equal(&a, &b));
    assert_true(attribution_equal(NULL, NULL));
    assert_false(attribution_equal(&a, NULL));
    b.to_ms = 7;
    assert_false(attribution_equal(&a, &b));
    b = rules();
    b.thread = "main";
    assert_false(attribution_equal(&a, &b));
    b = rules();
    memcpy(others, categories, sizeof others);
    b.categories = others;
    assert_true(attribution_equal(&a, &b));
    others[1].objects = (struct args){all_v, 1};
    assert_false(attribution_equal(&a, &b));
    b = rules();
    b.n_categories--;
    assert_false(attribution_equal(&a, &b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_sample_is_of_the_first_category_that_matches),
        cmocka_unit_test(test_patterns_hold_with_stars_anywhere),
        cmocka_unit_test(test_a_sample_is_excluded_for_the_first_reason_that_holds),
        cmocka_unit_test(test_shares_of_what_was_recovered_make_a_hundred),
        cmocka_unit_test(test_more_samples_than_a_document_can_say_are_refused),
        cmocka_unit_test(test_rules_are_the_same_only_with_every_pattern),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
