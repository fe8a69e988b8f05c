/* The typed reader: each wrong member is refused by its own code and path, and the first error
 * stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "proto/json/json.h"

struct fixture {
    struct arena a;
    struct err e;
    struct json_in in;
    cJSON *doc;
};

static void begin(struct fixture *f, const char *text)
{
    *f = (struct fixture){0};
    json_in_init(&f->in, &f->a, &f->e);
    assert_int_equal(json_parse(text, strlen(text), &f->doc, &f->e), 0);
}

static void end(struct fixture *f)
{
    cJSON_Delete(f->doc);
    arena_deinit(&f->a);
}

static void end_with(struct fixture *f, const char *code, const char *field)
{
    assert_int_not_equal(f->in.rc, 0);
    assert_string_equal(f->e.code, code);
    assert_string_equal(f->e.field, field);
    assert_true(strlen(f->e.text) > 10);
    end(f);
}

static void members_of_the_right_type_are_read(void **state)
{
    static const char text[] =
        "{\"s\":\"x\",\"i\":-7,\"whole\":2.0,\"big\":\"9223372036854775807\",\"n\":1.5,\"t\":true,"
        "\"m\":\"process\",\"o\":{},\"l\":[1,2],\"args\":[\"a\",\"b\"]}";
    struct fixture f;
    size_t n = 0;
    begin(&f, text);
    assert_string_equal(json_str(&f.in, f.doc, "s", 1), "x");
    assert_int_equal(json_int(&f.in, f.doc, "i", -7, -7), -7);
    assert_int_equal(json_int(&f.in, f.doc, "whole", 0, 9), 2);
    assert_true(json_int(&f.in, f.doc, "big", 0, INT64_MAX) == INT64_MAX);
    assert_true(json_num(&f.in, f.doc, "n", 0, 2) == 1.5);
    assert_true(json_bool(&f.in, f.doc, "t"));
    assert_int_equal(json_enum(&f.in, f.doc, "m", measure_parse), MEASURE_PROCESS);
    assert_non_null(json_obj(&f.in, f.doc, "o"));
    assert_non_null(json_arr(&f.in, f.doc, "l", 2, &n));
    assert_int_equal(n, 2);
    struct args args = json_opt_args(&f.in, f.doc, "args", 2);
    assert_int_equal(args.n, 2);
    assert_string_equal(args.v[1], "b");
    assert_null(args.v[2]);
    assert_int_equal(f.in.rc, 0);
    end(&f);
}

static void missing_and_null_optional_members_take_the_fallback(void **state)
{
    static const char *const texts[] = {"{}", "{\"s\":null,\"i\":null,\"n\":null,\"o\":null}"};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct fixture f;
        size_t n = 9;
        begin(&f, texts[i]);
        assert_string_equal(json_opt_str(&f.in, f.doc, "s", 9, "fallback"), "fallback");
        assert_int_equal(json_opt_int(&f.in, f.doc, "i", 0, 1, -1), -1);
        assert_true(json_opt_num(&f.in, f.doc, "n", 0, 1, 7.5) == 7.5);
        assert_true(json_opt_bool(&f.in, f.doc, "t", true));
        assert_null(json_opt_obj(&f.in, f.doc, "o"));
        assert_null(json_opt_arr(&f.in, f.doc, "l", 9, &n));
        assert_int_equal(n, 0);
        assert_int_equal(json_opt_enum_of(&f.in, f.doc, "m", measure_parse, "x", 5), 5);
        struct args args = json_opt_args(&f.in, f.doc, "args", 9);
        assert_int_equal(args.n, 0);
        assert_null(args.v[0]);
        assert_int_equal(f.in.rc, 0);
        end(&f);
    }
}

enum getter { STR, INT, NUM, BOOL, OBJ, ARR, ARGS, ENUM, OPT_STR, OPT_INT, OPT_BOOL, OPT_ARR };

static void get(struct fixture *f, enum getter g)
{
    size_t n;
    switch (g) {
    case STR:
        assert_null(json_str(&f->in, f->doc, "k", 3));
        break;
    case INT:
        assert_int_equal(json_int(&f->in, f->doc, "k", 0, 100), 0);
        break;
    case NUM:
        assert_true(json_num(&f->in, f->doc, "k", 0, 100) == 0);
        break;
    case BOOL:
        assert_false(json_bool(&f->in, f->doc, "k"));
        break;
    case OBJ:
        assert_null(json_obj(&f->in, f->doc, "k"));
        break;
    case ARR:
        assert_null(json_arr(&f->in, f->doc, "k", 2, &n));
        break;
    case ARGS:
        assert_int_equal(json_opt_args(&f->in, f->doc, "k", 2).n, 0);
        break;
    case ENUM:
        assert_int_equal(json_enum_of(&f->in, f->doc, "k", measure_parse, "protocol, process"), 0);
        break;
    case OPT_STR:
        assert_string_equal(json_opt_str(&f->in, f->doc, "k", 3, "f"), "f");
        break;
    case OPT_INT:
        assert_int_equal(json_opt_int(&f->in, f->doc, "k", 0, 100, 42), 42);
        break;
    case OPT_BOOL:
        assert_true(json_opt_bool(&f->in, f->doc, "k", true));
        break;
    case OPT_ARR:
        assert_null(json_opt_arr(&f->in, f->doc, "k", 2, &n));
        break;
    }
}

static void each_wrong_member_is_refused_by_its_own_code(void **state)
{
    static const struct {
        const char *text;
        enum getter get;
        const char *code, *field;
    } rows[] = {
        {"{}", STR, "json.missing", "k"},
        {"{\"K\":\"x\"}", STR, "json.missing", "k"}, /* look-ups mind the case */
        {"{\"k\":1}", STR, "json.type", "k"},
        {"{\"k\":null}", STR, "json.type", "k"},
        {"{\"k\":\"long\"}", STR, "json.too_long", "k"},
        {"{\"k\":\"long\"}", OPT_STR, "json.too_long", "k"},
        {"{}", INT, "json.missing", "k"},
        {"{\"k\":1.5}", INT, "json.type", "k"},
        {"{\"k\":1e300}", INT, "json.type", "k"},
        {"{\"k\":\"7\"}", INT, "json.type", "k"}, /* a string only beyond 2^53 - 1 */
        {"{\"k\":\"09007199254740993\"}", INT, "json.type", "k"},
        {"{\"k\":\"9007199254740993x\"}", INT, "json.type", "k"},
        {"{\"k\":\"9223372036854775808\"}", INT, "json.type", "k"},
        {"{\"k\":\"9007199254740993\"}", INT, "json.range", "k"},
        {"{\"k\":-1}", INT, "json.range", "k"},
        {"{\"k\":101}", OPT_INT, "json.range", "k"},
        {"{\"k\":true}", NUM, "json.type", "k"},
        {"{\"k\":100.5}", NUM, "json.range", "k"},
        {"{\"k\":0}", BOOL, "json.type", "k"},
        {"{\"k\":null}", OPT_BOOL, "json.type", "k"},
        {"{\"k\":[]}", OBJ, "json.type", "k"},
        {"{\"k\":{}}", ARR, "json.type", "k"},
        {"{\"k\":[1,2,3]}", ARR, "json.too_long", "k"},
        {"{\"k\":null}", OPT_ARR, "json.type", "k"},
        {"{\"k\":[\"a\",1]}", ARGS, "json.type", "k[1]"},
        {"{\"k\":[\"a\",\"b\",\"c\"]}", ARGS, "json.too_long", "k"},
        {"{\"k\":\"Protocol\"}", ENUM, "json.value", "k"},
        {"{\"k\":3}", ENUM, "json.type", "k"},
        {"[]", STR, "json.type", ""},
        {"7", ARGS, "json.type", ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct fixture f;
        begin(&f, rows[i].text);
        get(&f, rows[i].get);
        end_with(&f, rows[i].code, rows[i].field);
    }
}

static void a_closed_object_refuses_unknown_keys_and_lists_the_known(void **state)
{
    static const char *const keys[] = {"a", "b", NULL};
    struct fixture f;
    begin(&f, "{\"a\":1,\"b\":2}");
    json_closed(&f.in, f.doc, keys);
    assert_int_equal(f.in.rc, 0);
    end(&f);

    begin(&f, "{\"a\":1,\"B\":2}");
    json_closed(&f.in, f.doc, keys);
    assert_non_null(strstr(f.e.text, "a, b"));
    end_with(&f, "json.unknown_key", "B");

    begin(&f, "[]");
    json_closed(&f.in, f.doc, keys);
    end_with(&f, "json.type", "");
}

static void the_path_descends_and_comes_back(void **state)
{
    struct fixture f;
    begin(&f, "{}");
    size_t top = json_enter(&f.in, "workloads");
    size_t inner = json_enter_index(&f.in, 2);
    json_enter(&f.in, "lanes");
    json_leave(&f.in, inner);
    assert_string_equal(f.in.path, "workloads");
    json_leave(&f.in, top);
    assert_string_equal(f.in.path, "");
    json_enter(&f.in, "lanes");
    json_enter_index(&f.in, 7);
    json_fail(&f.in, "command", "suite.bad", "a sentence with %d words", 5);
    assert_string_equal(f.e.text, "a sentence with 5 words");
    end_with(&f, "suite.bad", "lanes[7].command");
}

static void the_first_error_stays_and_nothing_is_read_after_it(void **state)
{
    struct fixture f;
    begin(&f, "{\"a\":1,\"b\":\"x\"}");
    assert_null(json_str(&f.in, f.doc, "a", 9));
    assert_null(json_str(&f.in, f.doc, "b", 9));
    assert_string_equal(json_opt_str(&f.in, f.doc, "b", 9, "f"), "f");
    json_fail(&f.in, "b", "other", "another");
    end_with(&f, "json.type", "a");
}

static void a_path_of_strangers_keys_is_cut_and_cleaned(void **state)
{
    struct fixture f;
    char key[400];
    memset(key, 'k', sizeof key - 1);
    key[0] = '\x1b';
    key[sizeof key - 1] = '\0';
    begin(&f, "{}");
    size_t mark = json_enter(&f.in, key);
    json_enter_index(&f.in, 1);
    json_enter(&f.in, key);
    assert_int_equal(strlen(f.in.path), sizeof f.in.path - 1);
    assert_int_equal(f.in.path[0], '?');
    json_leave(&f.in, mark);
    assert_string_equal(f.in.path, "");
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_of_the_right_type_are_read),
        cmocka_unit_test(missing_and_null_optional_members_take_the_fallback),
        cmocka_unit_test(each_wrong_member_is_refused_by_its_own_code),
        cmocka_unit_test(a_closed_object_refuses_unknown_keys_and_lists_the_known),
        cmocka_unit_test(the_path_descends_and_comes_back),
        cmocka_unit_test(the_first_error_stays_and_nothing_is_read_after_it),
        cmocka_unit_test(a_path_of_strangers_keys_is_cut_and_cleaned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
