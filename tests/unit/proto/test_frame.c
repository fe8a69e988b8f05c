/* Framing: lines come out whole however the stream cuts them, and no line grows without bound. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "proto/wire/frame.h"

static void expect_line(struct frame_reader *r, const char *text)
{
    const char *line = NULL;
    size_t len = 0;
    struct err e = {0};
    assert_int_equal(frame_next(r, &line, &len, &e), 1);
    assert_int_equal(len, strlen(text));
    assert_memory_equal(line, text, len);
}

static void expect_nothing(struct frame_reader *r)
{
    const char *line;
    size_t len;
    struct err e = {0};
    assert_int_equal(frame_next(r, &line, &len, &e), 0);
    assert_false(err_is_set(&e));
}

static void expect_too_long(struct frame_reader *r)
{
    const char *line;
    size_t len;
    struct err e = {0};
    assert_int_equal(frame_next(r, &line, &len, &e), -EMSGSIZE);
    assert_string_equal(e.code, "rpc.too_long");
}

static void push_x(struct frame_reader *r, size_t n)
{
    char block[4096];
    memset(block, 'x', sizeof block);
    for (; n > sizeof block; n -= sizeof block)
        frame_push(r, block, sizeof block);
    frame_push(r, block, n);
}

static void lines_are_whole_at_every_cut(void **state)
{
    static const char stream[] = "one\n\ntwo two\nthree\n";
    size_t n = sizeof stream - 1;
    for (size_t first = 0; first <= n; first++) {
        struct frame_reader r = {0};
        const char *line;
        struct buf seen = {0};
        size_t len;
        frame_push(&r, stream, first);
        while (frame_next(&r, &line, &len, NULL) == 1)
            buf_printf(&seen, "%.*s\n", (int)len, line);
        frame_push(&r, stream + first, n - first);
        while (frame_next(&r, &line, &len, NULL) == 1)
            buf_printf(&seen, "%.*s\n", (int)len, line);
        assert_string_equal(buf_str(&seen), stream);
        assert_true(frame_is_empty(&r));
        buf_deinit(&seen);
        frame_reader_deinit(&r);
    }
}

static void a_half_line_is_kept_and_noticed(void **state)
{
    struct frame_reader r = {0};
    expect_nothing(&r);
    assert_true(frame_is_empty(&r));
    frame_push(&r, "ab", 2);
    expect_nothing(&r);
    assert_false(frame_is_empty(&r));
    frame_push(&r, "c\nd", 3);
    expect_line(&r, "abc");
    expect_nothing(&r);
    assert_false(frame_is_empty(&r));
    frame_reader_deinit(&r);
}

static void a_line_of_the_limit_passes_and_one_byte_more_does_not(void **state)
{
    struct frame_reader r = {0};
    const char *line;
    size_t len;
    push_x(&r, FRAME_MAX);
    frame_push(&r, "\n", 1);
    assert_int_equal(frame_next(&r, &line, &len, NULL), 1);
    assert_int_equal(len, FRAME_MAX);
    push_x(&r, FRAME_MAX + 1);
    frame_push(&r, "\nnext\n", 6);
    expect_too_long(&r);
    expect_line(&r, "next");
    frame_reader_deinit(&r);
}

static void an_endless_line_is_reported_once_and_takes_bounded_memory(void **state)
{
    struct frame_reader r = {0};
    int errors = 0;
    for (int i = 0; i < 1000; i++) {
        const char *line;
        size_t len;
        push_x(&r, 8192);
        int rc = frame_next(&r, &line, &len, NULL);
        assert_true(rc == 0 || rc == -EMSGSIZE);
        errors += rc != 0;
    }
    assert_int_equal(errors, 1);
    assert_true(r.b.cap <= 4 * FRAME_MAX);
    assert_false(frame_is_empty(&r));
    frame_push(&r, "xx\nnext\n", 8);
    expect_line(&r, "next");
    expect_nothing(&r);
    assert_true(frame_is_empty(&r));
    frame_reader_deinit(&r);
}

static void a_line_that_goes_on_for_16_mib_more_is_endless(void **state)
{
    struct frame_reader r = {0};
    push_x(&r, FRAME_MAX + 1);
    expect_too_long(&r);
    push_x(&r, FRAME_DROP_MAX);
    assert_false(frame_is_endless(&r));
    assert_int_equal(frame_held(&r), 0);
    frame_push(&r, "x", 1);
    assert_true(frame_is_endless(&r));
    frame_push(&r, "\n", 1); /* whoever goes on reading may */
    assert_false(frame_is_endless(&r));
    frame_reader_deinit(&r);
}

static void a_large_buffer_is_given_back_when_it_is_empty(void **state)
{
    struct frame_reader r = {0};
    const char *line;
    size_t len;
    push_x(&r, FRAME_MAX);
    assert_int_equal(frame_held(&r), FRAME_MAX);
    frame_push(&r, "\n", 1);
    assert_int_equal(frame_next(&r, &line, &len, NULL), 1);
    assert_int_equal(len, FRAME_MAX);
    expect_nothing(&r);
    assert_int_equal(r.b.cap, 0);
    frame_reader_deinit(&r);
}

static void many_lines_do_not_pile_up(void **state)
{
    struct frame_reader r = {0};
    for (int i = 0; i < 20000; i++) {
        frame_push(&r, "{\"a\":1}\n", 8);
        expect_line(&r, "{\"a\":1}");
    }
    assert_true(r.b.cap <= 4096);
    frame_reader_deinit(&r);
}

static void a_written_message_ends_with_a_newline_or_is_taken_back(void **state)
{
    struct buf out = {0};
    struct err e = {0};
    buf_puts(&out, "before\n");
    buf_puts(&out, "{}");
    assert_int_equal(frame_finish(&out, 7, &e), 0);
    assert_string_equal(buf_str(&out), "before\n{}\n");
    size_t start = out.len;
    for (size_t i = 0; i <= FRAME_MAX; i++)
        buf_putc(&out, 'x');
    assert_int_equal(frame_finish(&out, start, &e), -EMSGSIZE);
    assert_string_equal(e.code, "rpc.too_long");
    assert_string_equal(buf_str(&out), "before\n{}\n");
    buf_deinit(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_whole_at_every_cut),
        cmocka_unit_test(a_half_line_is_kept_and_noticed),
        cmocka_unit_test(a_line_of_the_limit_passes_and_one_byte_more_does_not),
        cmocka_unit_test(an_endless_line_is_reported_once_and_takes_bounded_memory),
        cmocka_unit_test(a_line_that_goes_on_for_16_mib_more_is_endless),
        cmocka_unit_test(a_large_buffer_is_given_back_when_it_is_empty),
        cmocka_unit_test(many_lines_do_not_pile_up),
        cmocka_unit_test(a_written_message_ends_with_a_newline_or_is_taken_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
