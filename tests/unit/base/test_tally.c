/* Texts are counted once each, however many there are, and come out in the order asked for. */
#include "unit/unit.h"

#include "base/mem.h"
#include "base/tally.h"

static void add(struct tally *t, const char *text, int64_t count)
{
    tally_add(t, text, strlen(text), count);
}

static void expect(const struct tally *t, const char *const *texts, size_t n)
{
    assert_int_equal(t->n, n);
    for (size_t i = 0; i < n; i++)
        assert_string_equal(t->entries[i].text, texts[i]);
}

static void test_both_orders(void **state)
{
    static const char *const by_count[] = {"c", "a", "b", ""}, *const by_text[] = {"", "a", "b",
                                                                                   "c"};

    (void)state;
    for (int order = 0; order < 2; order++) {
        CLEANUP(tally_deinit) struct tally t = {0};
        add(&t, "b", 2);
        add(&t, "c", 1);
        add(&t, "a", 2);
        add(&t, "", 1);
        add(&t, "c", 4);
        tally_sort(&t, order ? TALLY_BY_TEXT : TALLY_BY_COUNT);
        expect(&t, order ? by_text : by_count, 4);
        assert_int_equal(t.bytes, 3);
        assert_int_equal(t.entries[order ? 3 : 0].count, 5);
    }
}

static void test_texts_that_begin_alike_are_two(void **state)
{
    static const char *const texts[] = {"frame", "frame_push"};
    CLEANUP(tally_deinit) struct tally t = {0};

    (void)state;
    tally_add(&t, "frame_push", 10, 1);
    tally_add(&t, "frame_push", 5, 1);
    tally_sort(&t, TALLY_BY_TEXT);
    expect(&t, texts, 2);
}

static void test_thousands_are_each_found_again(void **state)
{
    CLEANUP(tally_deinit) struct tally t = {0};
    char text[16];

    (void)state;
    for (int i = 0; i < 20000; i++) {
        (void)snprintf(text, sizeof text, "%05d", i % 5000);
        add(&t, text, 1);
    }
    tally_sort(&t, TALLY_BY_TEXT);
    assert_int_equal(t.n, 5000);
    assert_int_equal(t.bytes, 25000);
    for (int i = 0; i < 5000; i++) {
        (void)snprintf(text, sizeof text, "%05d", i);
        assert_string_equal(t.entries[i].text, text);
        assert_int_equal(t.entries[i].count, 4);
    }
}

static void test_an_empty_one_can_be_sorted(void **state)
{
    CLEANUP(tally_deinit) struct tally t = {0};

    (void)state;
    tally_sort(&t, TALLY_BY_COUNT);
    assert_int_equal(t.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_orders),
        cmocka_unit_test(test_texts_that_begin_alike_are_two),
        cmocka_unit_test(test_thousands_are_each_found_again),
        cmocka_unit_test(test_an_empty_one_can_be_sorted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
