/* What json_parse accepts and what it refuses: the grammar, the limits, and every trap that cJSON
 * alone falls into. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/types.h"
#include "proto/json/json.h"

#define TEXT(s)                                                                                    \
    {                                                                                              \
        s, sizeof(s) - 1                                                                           \
    }

struct text {
    const char *data;
    size_t len;
};

static const struct text accepted[] = {
    TEXT("0"),
    TEXT("-0"),
    TEXT("-12"),
    TEXT(" \t\r\n1 \n"),
    TEXT("1.5"),
    TEXT("1e5"),
    TEXT("1E+5"),
    TEXT("1.25e-3"),
    TEXT("9007199254740991"),
    TEXT("-9007199254740991"),
    TEXT("9007199254740992.0"), /* a double, not an integer */
    TEXT("1e308"),
    TEXT("1e-999"), /* too small is zero, not an error */
    TEXT("true"),
    TEXT("false"),
    TEXT("null"),
    TEXT("\"\""),
    TEXT("\"\x7f\""),
    TEXT("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\""),
    TEXT("\"\\ud83d\\ude00\""),
    TEXT(
        "\"\xc2\x80 \xdf\xbf \xe0\xa0\x80 \xed\x9f\xbf \xee\x80\x80 \xf0\x90\x80\x80 \xf4\x8f\xbf\xbf\""),
    TEXT("[]"),
    TEXT("[ ]"),
    TEXT("{}"),
    TEXT("{ \"a\" : [ 1 , 2 ] , \"A\" : { } }"),
};

static const struct text refused[] = {
    TEXT(""),
    TEXT(" "),
    TEXT("\xef\xbb\xbf{}"), /* a byte order mark */
    TEXT("01"),
    TEXT("-01"),
    TEXT("00"),
    TEXT("1."),
    TEXT(".5"),
    TEXT("+1"),
    TEXT("-"),
    TEXT("1e"),
    TEXT("1e+"),
    TEXT("0x10"),
    TEXT("1e999"),
    TEXT("-1e999"),
    TEXT("9007199254740992"),
    TEXT("-9007199254740992"),
    TEXT("9007199254740993"),
    TEXT("99999999999999999999999999"),
    TEXT("0.1000000000000000000000000000000000000000000000000000000000000001"), /* 64 digits */
    TEXT("NaN"),
    TEXT("Infinity"),
    TEXT("tru"),
    TEXT("True"),
    TEXT("nullx"),
    TEXT("'a'"),
    TEXT("\""),
    TEXT("\"\\"),
    TEXT("\"a\nb\""), /* raw control characters */
    TEXT("\"a\tb\""),
    TEXT("\"a\0b\""),
    TEXT("\"\x1f\""),
    TEXT("\"\\u0000\""),
    TEXT("\"\\x41\""),
    TEXT("\"\\u12\""),
    TEXT("\"\\u12g4\""),
    TEXT("\"\\ud83d\""), /* lone surrogate escapes */
    TEXT("\"\\ude00\""),
    TEXT("\"\\ud83d\\u0041\""),
    TEXT("\"\\ud83d\\ud83d\""),
    TEXT("\"\\ud83dxxxxxx\""),
    TEXT("\"\xff\""),
    TEXT("\"\x80\""),
    TEXT("\"\xc3\""),
    TEXT("\"\xc0\xaf\""), /* overlong */
    TEXT("\"\xe0\x80\xaf\""),
    TEXT("\"\xf0\x80\x80\xaf\""),
    TEXT("\"\xed\xa0\x80\""),     /* an encoded surrogate */
    TEXT("\"\xf4\x90\x80\x80\""), /* beyond U+10FFFF */
    TEXT("\"\xf8\x88\x80\x80\x80\""),
    TEXT("[1,]"),
    TEXT("[,1]"),
    TEXT("[1 2]"),
    TEXT("[1"),
    TEXT("]"),
    TEXT("{\"a\":1,}"),
    TEXT("{\"a\" 1}"),
    TEXT("{\"a\":}"),
    TEXT("{a:1}"),
    TEXT("{1:1}"),
    TEXT("{\"a\":1"),
    TEXT("[}"),
    TEXT("// c\n1"),
    TEXT("1 2"), /* text behind the value */
    TEXT("{} x"),
    TEXT("{}\0"),
};

static int parse(const char *data, size_t len, struct err *e)
{
    cJSON *doc = NULL;
    /* A copy of exact size lets the sanitizer see a read beyond the end. */
    char *copy = mem_alloc(len ? len : 1);
    memcpy(copy, data, len);
    err_clear(e);
    int rc = json_parse(copy, len, &doc, e);
    assert_int_equal(rc == 0, doc != NULL);
    cJSON_Delete(doc);
    free(copy);
    return rc;
}

static void valid_texts_are_accepted(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(accepted); i++) {
        struct err e = {0};
        if (parse(accepted[i].data, accepted[i].len, &e))
            fail_msg("refused %s: %s", accepted[i].data, e.text);
    }
}

static void invalid_texts_are_refused_with_their_offset(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        struct err e = {0};
        if (!parse(refused[i].data, refused[i].len, &e))
            fail_msg("accepted row %zu: %s", i, refused[i].data);
        assert_string_equal(e.code, "json.bad");
        assert_memory_equal(e.field, "offset ", 7);
        assert_true(strlen(e.text) > 0);
    }
}

static void an_error_names_line_and_column(void **state)
{
    struct err e = {0};
    static const char text[] = "{\n  \"a\": 01\n}";
    assert_int_not_equal(parse(text, sizeof text - 1, &e), 0);
    assert_string_equal(e.field, "offset 9");
    assert_non_null(strstr(e.text, "line 2, column 8"));
}

static void every_cut_of_a_document_is_refused(void **state)
{
    static const char text[] = "{\"a\":[1.5e3,\"\\ud83d\\ude00\xc3\xa9\",true,null]}";
    struct err e = {0};
    for (size_t len = 0; len < sizeof text - 1; len++)
        assert_int_not_equal(parse(text, len, &e), 0);
    assert_int_equal(parse(text, sizeof text - 1, &e), 0);
}

static int parse_nested(int depth, struct err *e)
{
    struct buf b = {0};
    for (int i = 0; i < depth; i++)
        buf_puts(&b, i % 2 ? "{\"a\":" : "[");
    buf_puts(&b, "1");
    for (int i = depth; i-- > 0;)
        buf_puts(&b, i % 2 ? "}" : "]");
    int rc = parse(b.data, b.len, e);
    buf_deinit(&b);
    return rc;
}

static void nesting_is_bounded_at_32(void **state)
{
    struct err e = {0};
    assert_int_equal(parse_nested(JSON_DEPTH_MAX, &e), 0);
    assert_int_not_equal(parse_nested(JSON_DEPTH_MAX + 1, &e), 0);
    assert_non_null(strstr(e.text, "nested too deeply"));
    assert_int_not_equal(parse_nested(100000, &e), 0);
}

static int parse_string_of(size_t n, size_t string_max)
{
    struct buf b = {0};
    struct err e = {0};
    cJSON *doc;
    buf_putc(&b, '"');
    for (size_t i = 0; i < n; i++)
        buf_puts(&b, i ? "x" : "\\u0041"); /* counted decoded: one byte */
    buf_putc(&b, '"');
    int rc = json_parse_max(b.data, b.len, string_max, &doc, &e);
    cJSON_Delete(doc);
    buf_deinit(&b);
    return rc;
}

static void strings_are_bounded_in_decoded_bytes(void **state)
{
    assert_int_equal(parse_string_of(JSON_STRING_MAX, JSON_STRING_MAX), 0);
    assert_int_not_equal(parse_string_of(JSON_STRING_MAX + 1, JSON_STRING_MAX), 0);
    assert_int_equal(parse_string_of(JSON_STRING_MAX + 1, 4 * JSON_STRING_MAX), 0);
}

static void duplicate_keys_are_refused_by_path(void **state)
{
    static const struct {
        const char *text, *field;
    } rows[] = {
        {"{\"a\":1,\"a\":2}", "a"},
        {"{\"a\":1,\"\\u0061\":2}", "a"}, /* the same after decoding */
        {"{\"b\":1,\"c\":{},\"b\":1}", "b"},
        {"{\"x\":[0,{\"y\":{\"k\":1,\"l\":2,\"k\":3}}]}", "x[1].y.k"},
        {"[[{\"\":1,\"\":2}]]", "[0][0]."},
        {"{\"\\n\":1,\"\\n\":2}", "?"}, /* nothing that a terminal would obey */
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err e = {0};
        assert_int_not_equal(parse(rows[i].text, strlen(rows[i].text), &e), 0);
        assert_string_equal(e.code, "json.duplicate_key");
        assert_string_equal(e.field, rows[i].field);
    }
    struct err e = {0};
    static const char by_case[] = "{\"a\":1,\"A\":2}";
    assert_int_equal(parse(by_case, sizeof by_case - 1, &e), 0);
}

/* Quadratic work on this document would take minutes, linear takes a fraction of a second. */
static void a_megabyte_of_keys_is_checked_in_bounded_time(void **state)
{
    struct buf b = {0};
    struct err e = {0};
    for (int i = 0; b.len < 1000000; i++)
        buf_printf(&b, "%c\"%d\":0", i ? ',' : '{', i);
    buf_putc(&b, '}');
    assert_int_equal(parse(b.data, b.len, &e), 0);
    b.len--;
    buf_puts(&b, ",\"70000\":0}");
    assert_int_not_equal(parse(b.data, b.len, &e), 0);
    assert_string_equal(e.field, "70000");
    buf_deinit(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valid_texts_are_accepted),
        cmocka_unit_test(invalid_texts_are_refused_with_their_offset),
        cmocka_unit_test(an_error_names_line_and_column),
        cmocka_unit_test(every_cut_of_a_document_is_refused),
        cmocka_unit_test(nesting_is_bounded_at_32),
        cmocka_unit_test(strings_are_bounded_in_decoded_bytes),
        cmocka_unit_test(duplicate_keys_are_refused_by_path),
        cmocka_unit_test(a_megabyte_of_keys_is_checked_in_bounded_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
