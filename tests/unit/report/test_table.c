/* Tables: alignment, blocks, wrapping, colour, Markdown. */
#include "../unit.h"

#include "base/mem.h"
#include "report/table.h"

static void fill(struct table *t)
{
    table_column(t, "key", ALIGN_LEFT, 0);
    table_column(t, "count", ALIGN_RIGHT, 1);
    table_column(t, "word", ALIGN_LEFT, 1);
    table_column(t, "second", ALIGN_RIGHT, 2);
    table_put(t, "\xc3\xbc"
                 "ber");
    table_put(t, "7");
    table_cell(t, STYLE_BAD, "SLOWER");
    table_put(t, "1.5");
    table_put(t, "b");
    table_put(t, "12345678");
    table_put(t, "x");
    table_put(t, NULL);
}

static void expect_text(size_t width, bool colour, const char *expected)
{
    CLEANUP(buf_deinit) struct buf out = {0};
    CLEANUP(table_deinit) struct table t = {0};
    fill(&t);
    table_text(&out, &t, 2, width, colour);
    assert_string_equal(buf_str(&out), expected);
}

static void numbers_are_right_aligned_and_no_line_ends_in_blanks(void **state)
{
    expect_text(80, false,
                "  key      count  word     second\n"
                "  \xc3\xbc"
                "ber         7  SLOWER      1.5\n"
                "  b     12345678  x       unknown\n");
}

static void a_wide_table_is_drawn_in_blocks_that_repeat_the_keys(void **state)
{
    expect_text(30, false,
                "  key      count  word\n"
                "  \xc3\xbc"
                "ber         7  SLOWER\n"
                "  b     12345678  x\n"
                "\n"
                "  key    second\n"
                "  \xc3\xbc"
                "ber      1.5\n"
                "  b     unknown\n");
}

static void even_a_group_that_is_too_wide_is_drawn(void **state)
{
    expect_text(16, false,
                "  key      count\n"
                "  \xc3\xbc"
                "ber         7\n"
                "  b     12345678\n"
                "\n"
                "  key   word\n"
                "  \xc3\xbc"
                "ber  SLOWER\n"
                "  b     x\n"
                "\n"
                "  key    second\n"
                "  \xc3\xbc"
                "ber      1.5\n"
                "  b     unknown\n");
}

static void colour_does_not_move_columns(void **state)
{
    CLEANUP(buf_deinit) struct buf out = {0};
    CLEANUP(table_deinit) struct table t = {0};
    fill(&t);
    table_text(&out, &t, 2, 80, true);
    assert_non_null(strstr(buf_str(&out), "  7  \x1b[31mSLOWER\x1b[0m      1.5\n"));
}

static void the_last_column_wraps_under_itself(void **state)
{
    CLEANUP(buf_deinit) struct buf out = {0};
    CLEANUP(table_deinit) struct table t = {0};
    table_column(&t, "key", ALIGN_LEFT, 0);
    table_column(&t, "text", ALIGN_WRAP, 1);
    table_put(&t, "a");
    table_put(&t, "one two three four five six seven");
    table_put(&t, "bb");
    table_put(&t, "");
    table_text(&out, &t, 2, 30, false);
    assert_string_equal(buf_str(&out), "  key  text\n"
                                       "  a    one two three four five\n"
                                       "       six seven\n"
                                       "  bb\n");
}

static void a_cell_cannot_break_its_line(void **state)
{
    CLEANUP(buf_deinit) struct buf text = {0}, markdown = {0};
    CLEANUP(table_deinit) struct table t = {0};
    table_column(&t, "k|ey", ALIGN_LEFT, 0);
    table_cell(&t, STYLE_PLAIN, "a\n|b\x1b");
    table_text(&text, &t, 0, 80, false);
    assert_string_equal(buf_str(&text), "k|ey\na\\n|b\\x1b\n");
    table_markdown(&markdown, &t);
    assert_string_equal(buf_str(&markdown), "| k\\|ey |\n|---|\n| a\\\\n\\|b\\\\x1b |\n");
}

static void markdown_marks_numbers_and_bad_words(void **state)
{
    CLEANUP(buf_deinit) struct buf out = {0};
    CLEANUP(table_deinit) struct table t = {0};
    fill(&t);
    table_markdown(&out, &t);
    assert_string_equal(buf_str(&out), "| key | count | word | second |\n"
                                       "|---|---:|---|---:|\n"
                                       "| \xc3\xbc"
                                       "ber | 7 | **SLOWER** | 1.5 |\n"
                                       "| b | 12345678 | x | unknown |\n");
}

static void an_empty_table_draws_titles_only(void **state)
{
    CLEANUP(buf_deinit) struct buf out = {0};
    CLEANUP(table_deinit) struct table t = {0};
    table_column(&t, "key", ALIGN_LEFT, 0);
    table_text(&out, &t, 0, 80, false);
    assert_string_equal(buf_str(&out), "key\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_right_aligned_and_no_line_ends_in_blanks),
        cmocka_unit_test(a_wide_table_is_drawn_in_blocks_that_repeat_the_keys),
        cmocka_unit_test(even_a_group_that_is_too_wide_is_drawn),
        cmocka_unit_test(colour_does_not_move_columns),
        cmocka_unit_test(the_last_column_wraps_under_itself),
        cmocka_unit_test(a_cell_cannot_break_its_line),
        cmocka_unit_test(markdown_marks_numbers_and_bad_words),
        cmocka_unit_test(an_empty_table_draws_titles_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
