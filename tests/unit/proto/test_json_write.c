/* The writer and the canonical form: what is written is read back as the same, whatever it is. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/mem.h"
#include "proto/json/json.h"

/* A small generator of its own (splitmix64), so that a printed seed says all. */
static uint64_t random_next(uint64_t *seed)
{
    uint64_t z = (*seed += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint64_t first_seed(void)
{
    const char *given = getenv("AURABENCH_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
    print_message("seed %llu (set AURABENCH_SEED to repeat)\n", (unsigned long long)seed);
    return seed;
}

static void expect_num(double v, const char *text)
{
    struct buf b = {0};
    struct json_out o;
    json_out_init(&o, &b);
    json_put_num(&o, NULL, v);
    assert_string_equal(buf_str(&b), text);
    buf_deinit(&b);
}

static void doubles_are_written_shortest(void **state)
{
    expect_num(0.1, "0.1");
    expect_num(1.0, "1");
    expect_num(0.1 + 0.2, "0.30000000000000004");
    expect_num(5e-324, "5e-324");
    expect_num(DBL_MAX, "1.7976931348623157e+308");
    expect_num(9007199254740991.0, "9007199254740991");
    expect_num(9007199254740992.0, "9007199254740992.0"); /* else an integer out of range */
    expect_num((double)NAN, "null");
    expect_num((double)INFINITY, "null");
    expect_num(-(double)INFINITY, "null");
}

static void any_double_reads_back_as_the_same_bits(void **state)
{
    uint64_t seed = first_seed();
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = random_next(&seed);
        double v, back;
        memcpy(&v, &bits, sizeof v);
        if (!isfinite(v))
            continue;
        struct buf b = {0};
        struct err e = {0};
        struct json_out o;
        cJSON *doc = NULL;
        json_out_init(&o, &b);
        json_put_num(&o, NULL, v);
        assert_int_equal(json_parse(b.data, b.len, &doc, &e), 0);
        back = doc->valuedouble;
        assert_memory_equal(&back, &v, sizeof v);
        cJSON_Delete(doc);
        buf_deinit(&b);
    }
}

static void integers_beyond_double_travel_as_strings(void **state)
{
    static const struct {
        int64_t v;
        const char *text;
    } rows[] = {
        {0, "0"},
        {-1, "-1"},
        {JSON_INT_MAX, "9007199254740991"},
        {JSON_INT_MAX + 1, "\"9007199254740992\""},
        {9007199254740993, "\"9007199254740993\""}, /* the one that cJSON's printer loses */
        {INT64_MAX, "\"9223372036854775807\""},
        {INT64_MIN, "\"-9223372036854775808\""},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct buf b = {0};
        struct json_out o;
        json_out_init(&o, &b);
        json_put_int(&o, NULL, rows[i].v);
        assert_string_equal(buf_str(&b), rows[i].text);
        buf_deinit(&b);
    }
}

static void commas_and_keys_stand_where_they_must(void **state)
{
    struct buf b = {0};
    struct json_out o;
    const char *words[] = {"x", "y", NULL};
    struct args args = {words, 2};
    json_out_init(&o, &b);
    json_begin(&o, NULL);
    json_put_str(&o, "s", "v");
    json_put_str(&o, "none", NULL);
    json_begin_array(&o, "list");
    json_begin(&o, NULL);
    json_end(&o);
    json_put_bool(&o, NULL, true);
    json_put_int_or_null(&o, NULL, -1);
    json_end_array(&o);
    json_put_args(&o, "args", &args);
    json_put_raw(&o, "raw", "[1]");
    json_put_null(&o, "last");
    json_end(&o);
    assert_string_equal(buf_str(&b), "{\"s\":\"v\",\"none\":null,\"list\":[{},true,null],"
                                     "\"args\":[\"x\",\"y\"],\"raw\":[1],\"last\":null}");
    buf_deinit(&b);
}

static void strings_are_escaped_in_one_form(void **state)
{
    static const struct {
        const char *s, *text;
    } rows[] = {
        {"", "\"\""},
        {"a/b", "\"a/b\""},
        {"\"\\", "\"\\\"\\\\\""},
        {"\b\t\n\f\r", "\"\\b\\t\\n\\f\\r\""},
        {"\x01\v\x1f\x7f", "\"\\u0001\\u000b\\u001f\x7f\""},
        {"\xc3\xa9\xf0\x9f\x98\x80", "\"\xc3\xa9\xf0\x9f\x98\x80\""},
        {"a\xff"
         "b\xc3",
         "\"a\xef\xbf\xbd"
         "b\xef\xbf\xbd\""}, /* not UTF-8 */
        {"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct buf b = {0};
        struct json_out o;
        json_out_init(&o, &b);
        json_put_str(&o, NULL, rows[i].s);
        assert_string_equal(buf_str(&b), rows[i].text);
        buf_deinit(&b);
    }
}

static void canonical_is(const char *text, const char *expected)
{
    struct buf b = {0};
    struct err e = {0};
    assert_int_equal(json_canonical(text, strlen(text), &b, &e), 0);
    assert_string_equal(buf_str(&b), expected);
    buf_deinit(&b);
}

static void canonical_form_sorts_by_bytes_and_drops_space(void **state)
{
    canonical_is("7", "7\n");
    canonical_is(" { } ", "{}\n");
    canonical_is("[ ]", "[]\n");
    canonical_is("[1 , [ 2,{} ] ,\"x\"]", "[1,[2,{}],\"x\"]\n");
    canonical_is("{\"b\" : 1, \"a\" : {\"d\":[], \"c\":null}, \"B\": true}",
                 "{\"B\":true,\"a\":{\"c\":null,\"d\":[]},\"b\":1}\n");
    canonical_is("{\"aa\":1,\"a\":2,\"\":3}", "{\"\":3,\"a\":2,\"aa\":1}\n");
    canonical_is("{\"\\uffee\":1,\"\\ud83d\\ude00\":2,\"z\":3}", /* bytes, not UTF-16 units */
                 "{\"z\":3,\"\xef\xbf\xae\":1,\"\xf0\x9f\x98\x80\":2}\n");
}

static void canonical_form_has_one_form_of_strings_and_keeps_numbers(void **state)
{
    canonical_is("\"\\u0041\\/\\u00e9\\u000a\\u001F\"", "\"A/\xc3\xa9\\n\\u001f\"\n");
    canonical_is("[1.50,1e3,-0,9007199254740991]", "[1.50,1e3,-0,9007199254740991]\n");
}

static void canonical_form_refuses_what_the_parser_refuses(void **state)
{
    static const char *const bad[] = {"{\"a\":1,\"\\u0061\":2}", "{\"a\":1} x", "01", ""};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct buf b = {0};
        struct err e = {0};
        buf_puts(&b, "kept");
        assert_int_not_equal(json_canonical(bad[i], strlen(bad[i]), &b, &e), 0);
        assert_string_equal(buf_str(&b), "kept");
        assert_true(err_is_set(&e));
        buf_deinit(&b);
    }
}

static void random_string(uint64_t *seed, char out[16])
{
    static const char *const pieces[] = {
        "a", "B", "\"", "\\", "\n", "\x01", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "/"};
    out[0] = '\0';
    for (uint64_t n = random_next(seed) % 4; n > 0; n--)
        strcat(out, pieces[random_next(seed) % ARRAY_LEN(pieces)]);
}

static void random_value(uint64_t *seed, struct json_out *o, const char *key, int depth)
{
    char text[16];
    uint64_t n = random_next(seed) % 5;
    switch (random_next(seed) % (depth < 6 ? 7 : 4)) {
    case 0:
        json_put_int(o, key, (int64_t)random_next(seed) >> (random_next(seed) % 64));
        break;
    case 1:
        json_put_num(o, key, (double)(int64_t)random_next(seed) * 1e-12);
        break;
    case 2:
        random_string(seed, text);
        json_put_str(o, key, text);
        break;
    case 3:
        json_put_null(o, key);
        break;
    case 4:
        json_begin_array(o, key);
        for (uint64_t i = 0; i < n; i++)
            random_value(seed, o, NULL, depth + 1);
        json_end_array(o);
        break;
    default:
        json_begin(o, key);
        for (uint64_t i = 0; i < n; i++) {
            char name[32];
            random_string(seed, text);
            snprintf(name, sizeof name, "%s%d", text, (int)(n - i)); /* distinct, unsorted */
            random_value(seed, o, name, depth + 1);
        }
        json_end(o);
        break;
    }
}

static void random_documents_survive_and_canonical_form_is_idempotent(void **state)
{
    uint64_t seed = first_seed();
    for (int i = 0; i < 2000; i++) {
        struct buf text = {0}, once = {0}, twice = {0};
        struct json_out o;
        struct err e = {0};
        cJSON *before = NULL, *after = NULL;
        json_out_init(&o, &text);
        random_value(&seed, &o, NULL, 0);
        assert_int_equal(json_parse(text.data, text.len, &before, &e), 0);
        assert_int_equal(json_canonical(text.data, text.len, &once, &e), 0);
        assert_int_equal(json_canonical(once.data, once.len, &twice, &e), 0);
        assert_string_equal(buf_str(&once), buf_str(&twice));
        assert_int_equal(json_parse(once.data, once.len, &after, &e), 0);
        assert_true(cJSON_Compare(before, after, true));
        cJSON_Delete(before);
        cJSON_Delete(after);
        buf_deinit(&text);
        buf_deinit(&once);
        buf_deinit(&twice);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doubles_are_written_shortest),
        cmocka_unit_test(any_double_reads_back_as_the_same_bits),
        cmocka_unit_test(integers_beyond_double_travel_as_strings),
        cmocka_unit_test(commas_and_keys_stand_where_they_must),
        cmocka_unit_test(strings_are_escaped_in_one_form),
        cmocka_unit_test(canonical_form_sorts_by_bytes_and_drops_space),
        cmocka_unit_test(canonical_form_has_one_form_of_strings_and_keeps_numbers),
        cmocka_unit_test(canonical_form_refuses_what_the_parser_refuses),
        cmocka_unit_test(random_documents_survive_and_canonical_form_is_idempotent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
