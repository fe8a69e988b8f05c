/* What a terminal is shown: safe text, widths, tables. */
#include <unistd.h>

#include "base/mem.h"
#include "client/view/table.h"
#include "client/view/term.h"
#include "unit.h"

static void assert_clean(const char *text, size_t len, unsigned keep, const char *want)
{
    CLEANUP(buf_deinit) struct buf b = {0};

    term_clean(&b, text, len, keep);
    assert_string_equal(buf_str(&b), want);
}

static void what_steers_a_terminal_becomes_a_question_mark(void **state)
{
    (void)state;
    assert_clean("a\x1b[31mb", 7, 0, "a?[31mb");
    assert_clean("a\rb\nc\td\0e\x7f", 10, 0, "a?b?c?d?e?");
    assert_clean("\xc2\x9b"
                 "31m",
                 5, 0, "?31m"); /* C1: CSI in one character */
    assert_clean("\xe2\x80\xae"
                 "evil",
                 7, 0, "?evil"); /* text from right to left */
    assert_clean("\xe2\x81\xa6\xef\xbb\xbf", 6, 0, "??");
}

static void bytes_that_are_not_utf8_become_question_marks(void **state)
{
    (void)state;
    assert_clean("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", 14, 0,
                 "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
    assert_clean("\xff\xc0\xaf\x80", 4, 0, "????");
    assert_clean("\xc3", 1, 0, "?");
    assert_clean("\xed\xa0\x80", 3, 0, "???"); /* a surrogate */
    assert_clean("\xf4\x90\x80\x80", 4, 0, "????");
}

static void lines_and_styles_are_kept_only_when_asked(void **state)
{
    (void)state;
    assert_clean("a\n\tb", 4, TERM_KEEP_LINES, "a\n\tb");
    assert_clean("\x1b[1;32mok\x1b[0m", 13, TERM_KEEP_STYLES, "\x1b[1;32mok\x1b[0m");
    assert_clean("\x1b[2J\x1b]0;t\x07", 10, TERM_KEEP_STYLES, "?[2J?]0;t?");
    assert_clean("\x1b[1;3", 5, TERM_KEEP_STYLES, "?[1;3");
}

static void cutting_counts_characters_and_says_so(void **state)
{
    CLEANUP(buf_deinit) struct buf b = {0};

    (void)state;
    term_cut(&b, "h\xc3\xa9llo w\xc3\xb6rld", 8);
    assert_string_equal(b.data, "h\xc3\xa9llo...");
    assert_int_equal(term_columns(b.data), 8);
    buf_clear(&b);
    term_cut(&b, "short", 5);
    assert_string_equal(b.data, "short");
    buf_clear(&b);
    term_cut(&b, "abcdef", 2);
    assert_string_equal(b.data, "..");
}

static void wrapping_breaks_at_spaces_and_indents_what_follows(void **state)
{
    CLEANUP(buf_deinit) struct buf b = {0};

    (void)state;
    term_wrap(&b, "one two three four five six seven", 4, 24);
    assert_string_equal(b.data, "one two three four\n    five six seven\n");
    buf_clear(&b);
    term_wrap(&b, "aaaaaaaaaaaaaaaaaaaaaaaaa b", 0, 20);
    assert_string_equal(b.data, "aaaaaaaaaaaaaaaaaaaa\naaaaa b\n");
    buf_clear(&b);
    term_wrap(&b, "no limit no break", 4, 0);
    assert_string_equal(b.data, "no limit no break\n");
    buf_clear(&b);
    term_wrap(&b, "", 4, 80);
    assert_string_equal(b.data, "\n");
}

static void what_is_no_terminal_gets_no_colour_and_no_limit(void **state)
{
    CLEANUP(buf_deinit) struct buf b = {0};
    struct term t;
    int ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    term_init(&t, ends[1]);
    assert_false(t.tty || t.colour);
    assert_int_equal(t.width, 0);
    term_styled(&t, &b, TERM_RED, "text");
    assert_string_equal(b.data, "text");
    (void)close(ends[0]);
    (void)close(ends[1]);
}

static const struct table_column columns[] = {
    {"NAME", false, false}, {"N", true, false}, {"TEXT", false, true}};

static struct table *sample(void)
{
    struct table *t = table_new(columns, ARRAY_LEN(columns));

    table_cell(t, TERM_PLAIN, "one");
    table_cell(t, TERM_PLAIN, "%d", 7);
    table_cell(t, TERM_RED, "%s", "the first\nrow of all");
    table_cell(t, TERM_PLAIN, "second");
    table_cell(t, TERM_PLAIN, "%d", 1234);
    table_cell(t, TERM_PLAIN, "%s", "");
    return t;
}

static void columns_are_aligned_and_cells_cannot_break_lines(void **state)
{
    CLEANUP(buf_deinit) struct buf b = {0};
    const struct term plain = {.fd = -1};
    struct table *t = sample();

    (void)state;
    table_print(t, &plain, 0, &b);
    assert_int_equal(table_rows(t), 2);
    assert_string_equal(b.data, "NAME       N  TEXT\n"
                                "one        7  the first?row of all\n"
                                "second  1234\n");
    table_free(t);
}

static void the_column_that_gives_way_is_cut_to_the_width(void **state)
{
    CLEANUP(buf_deinit) struct buf b = {0};
    const struct term narrow = {.fd = -1, .tty = true, .width = 28};
    struct table *t = sample();

    (void)state;
    table_print(t, &narrow, 2, &b);
    assert_string_equal(b.data, "  NAME       N  TEXT\n"
                                "  one        7  the first...\n"
                                "  second  1234\n");
    table_free(t);
}

static void colour_does_not_change_the_alignment(void **state)
{
    CLEANUP(buf_deinit) struct buf b = {0};
    const struct term colourful = {.fd = -1, .tty = true, .colour = true, .width = 80};
    struct table *t = table_new(columns, ARRAY_LEN(columns));

    (void)state;
    table_cell(t, TERM_GREEN, "ok");
    table_cell(t, TERM_PLAIN, "1");
    table_cell(t, TERM_PLAIN, "x");
    table_print(t, &colourful, 0, &b);
    assert_non_null(strstr(b.data, "\x1b[32mok\x1b[0m    1  x\n"));
    table_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_steers_a_terminal_becomes_a_question_mark),
        cmocka_unit_test(bytes_that_are_not_utf8_become_question_marks),
        cmocka_unit_test(lines_and_styles_are_kept_only_when_asked),
        cmocka_unit_test(cutting_counts_characters_and_says_so),
        cmocka_unit_test(wrapping_breaks_at_spaces_and_indents_what_follows),
        cmocka_unit_test(what_is_no_terminal_gets_no_colour_and_no_limit),
        cmocka_unit_test(columns_are_aligned_and_cells_cannot_break_lines),
        cmocka_unit_test(the_column_that_gives_way_is_cut_to_the_width),
        cmocka_unit_test(colour_does_not_change_the_alignment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
