/* Strings from elsewhere are harmless on a terminal and in Markdown, and are counted as drawn. */
#include "../unit.h"

#include "base/mem.h"
#include "report/text.h"

static void expect_clean(const char *in, size_t max, const char *expected)
{
    CLEANUP(buf_deinit) struct buf out = {0};
    text_clean(&out, in, max);
    assert_string_equal(buf_str(&out), expected);
}

static void width_counts_columns_not_bytes(void **state)
{
    assert_int_equal(text_width(""), 0);
    assert_int_equal(text_width("abc"), 3);
    assert_int_equal(text_width("\xc3\xbc"
                                "ber"),
                     4);
    assert_int_equal(text_width("\xe6\x97\xa5\xe6\x9c\xac"), 4);
    assert_int_equal(text_width("e\xcc\x81"), 1);
    assert_int_equal(text_width("\xf0\x9f\x98\x80"), 2);
}

static void what_could_move_the_cursor_is_written_out(void **state)
{
    expect_clean("a\nb\tc", 0, "a\\nb\\tc");
    expect_clean("\x1b[31mred\x7f", 0, "\\x1b[31mred\\x7f");
    expect_clean("\r\b\a", 0, "\\x0d\\x08\\x07");
    expect_clean("\xc2\x9b"
                 "31m",
                 0, "\\u009b31m");
}

static void what_could_reorder_or_hide_text_is_written_out(void **state)
{
    expect_clean("a\xe2\x80\xae"
                 "b",
                 0, "a\\u202eb");
    expect_clean("a\xe2\x80\x8b"
                 "b",
                 0, "a\\u200bb");
    expect_clean("\xef\xbb\xbf", 0, "\\ufeff");
}

static void bytes_that_are_no_utf_8_are_written_out(void **state)
{
    expect_clean("a\xff"
                 "b",
                 0, "a\\xffb");
    expect_clean("\xc3", 0, "\\xc3");
    expect_clean("\xc0\x80", 0, "\\xc0\\x80");
    expect_clean("\xed\xa0\x80", 0, "\\xed\\xa0\\x80");
    expect_clean("\xf4\x90\x80\x80", 0, "\\xf4\\x90\\x80\\x80");
    expect_clean("\xe6\x97", 0, "\\xe6\\x97");
}

static void long_text_is_cut_within_its_columns(void **state)
{
    expect_clean("abcdefgh", 8, "abcdefgh");
    expect_clean("abcdefghi", 8, "abcde...");
    expect_clean("\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe8\xaa\x9e", 7,
                 "\xe6\x97\xa5\xe6\x9c\xac...");
}

static void wrapping_breaks_between_words_only(void **state)
{
    CLEANUP(buf_deinit) struct buf out = {0};
    text_wrap(&out, "one two three averyverylongword four", 8, 2, 10);
    assert_string_equal(buf_str(&out), "one two\n  three\n  averyverylongword\n  four");
}

static void wrapping_counts_columns(void **state)
{
    CLEANUP(buf_deinit) struct buf out = {0};
    text_wrap(&out, "\xc3\xbc\xc3\xbc\xc3\xbc \xc3\xbc\xc3\xbc\xc3\xbc", 7, 0, 7);
    assert_string_equal(buf_str(&out), "\xc3\xbc\xc3\xbc\xc3\xbc \xc3\xbc\xc3\xbc\xc3\xbc");
}

static void markdown_shows_the_characters_themselves(void **state)
{
    CLEANUP(buf_deinit) struct buf out = {0};
    text_markdown(&out, "a|b *c* `d` <e> [f](g) \\ _h_ i_j ~k~ &amp; $l$");
    assert_string_equal(buf_str(&out), "a\\|b \\*c\\* \\`d\\` \\<e\\> \\[f\\](g) \\\\ \\_h\\_ i_j "
                                       "\\~k\\~ \\&amp; \\$l\\$");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(width_counts_columns_not_bytes),
        cmocka_unit_test(what_could_move_the_cursor_is_written_out),
        cmocka_unit_test(what_could_reorder_or_hide_text_is_written_out),
        cmocka_unit_test(bytes_that_are_no_utf_8_are_written_out),
        cmocka_unit_test(long_text_is_cut_within_its_columns),
        cmocka_unit_test(wrapping_breaks_between_words_only),
        cmocka_unit_test(wrapping_counts_columns),
        cmocka_unit_test(markdown_shows_the_characters_themselves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
