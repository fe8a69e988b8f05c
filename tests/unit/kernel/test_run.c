/* What programs give, and what stops them. */
#include "kernel.h"

static void integers_are_checked(void **state)
{
    body_gives("int", "int", "x * 3 - 7 / 2 + 9 % 4", "5", "13");
    body_gives("int", "int", "-7 / 2", "0", "-3");
    body_gives("int", "int", "-7 % 2", "0", "-1");
    body_gives("int", "int", "-9223372036854775808 % -1", "0", "0");
    body_gives("int", "int", "x + 1", "9223372036854775807",
               "!line 1, column 26: the result is no 64-bit integer");
    body_gives("int", "int", "x - 1", "-9223372036854775808",
               "!line 1, column 26: the result is no 64-bit integer");
    body_gives("int", "int", "x * x", "4294967296",
               "!line 1, column 26: the result is no 64-bit integer");
    body_gives("int", "int", "-x", "-9223372036854775808",
               "!line 1, column 24: the result is no 64-bit integer");
    body_gives("int", "int", "x / -1", "-9223372036854775808",
               "!line 1, column 26: the result is no 64-bit integer");
    body_gives("int", "int", "1 / x", "0", "!line 1, column 26: division by zero");
    body_gives("int", "int", "1 % x", "0", "!line 1, column 26: division by zero");
    body_gives("int", "int", "min(x, 3) + max(x, 3)", "8", "11");
}

static void logic_asks_only_as_far_as_needed(void **state)
{
    body_gives("int", "bool", "x == 0 or 1 / x > 0", "0", "true");
    body_gives("int", "bool", "x != 0 and 1 / x > 0", "0", "false");
    body_gives("int", "bool", "not (x < 3) and x <= 3 and x >= 3 and not (x > 3)", "3", "true");
    body_gives("bool", "string", "match x { true => \"yes\", _ => \"no\" }", "false", "\"no\"");
}

static void strings_compare_and_join_by_bytes(void **state)
{
    body_gives("string", "string", "x ++ \"\\u{e9}\\n\"", "\"a\\u00e9\"",
               "\"a\xc3\xa9\xc3\xa9\\n\"");
    body_gives("string", "bool", "x < \"b\" and x == \"a\"", "\"a\"", "true");
    body_gives("string", "int", "len(x)", "\"\\ud83d\\ude00\"", "4");
    body_gives("int", "string", "str(x)", "-9223372036854775808", "\"-9223372036854775808\"");
    body_gives("string", "string", "x", "\"\\u0001\\\"\\\\\\/\\b\\f\\r\\t\"",
               "\"\\u0001\\\"\\\\/\\b\\f\\r\\t\"");
}

static void lists_are_made_anew(void **state)
{
    body_gives("list<int>", "list<int>", "push(x, 4) ++ [5]", "[1, 2]", "[1,2,4,5]");
    body_gives("list<int>", "{a: list<int>, b: list<int>}",
               "let y = push(x, 3); let z = push(x, 4); {b: y, a: z}", "[]",
               "{\"a\":[4],\"b\":[3]}");
    body_gives("list<int>", "int", "x[1] + len(x)", "[7, 8]", "10");
    body_gives("list<int>", "int", "x[2]", "[7, 8]",
               "!line 1, column 32: the list has no item with this number");
    body_gives("list<int>", "list<int>", "slice(x, 1, 3)", "[1, 2, 3, 4]", "[2,3]");
    body_gives("list<int>", "list<int>", "slice(x, 0, 0)", "[]", "[]");
    body_gives("list<int>", "list<int>", "slice(x, 1, 3)", "[1]",
               "!line 1, column 36: slice takes a part from 0 to the length of the list");
    body_gives("int", "list<int>", "range(2, x)", "5", "[2,3,4]");
    body_gives("int", "list<int>", "range(2, x)", "-5", "[]");
    body_gives("int", "list<int>", "range(-9223372036854775808, x)", "5",
               "!line 1, column 30: a list has too many items");
}

static void maps_are_sorted_by_key(void **state)
{
    body_gives("map<int>", "map<int>", "put(put(x, \"b\", 2), \"a\", 1)", "{\"c\": 3, \"a\": 0}",
               "{\"a\":1,\"b\":2,\"c\":3}");
    body_gives("map<int>", "list<string>", "keys(x)", "{\"z\": 1, \"\": 2, \"y\": 3}",
               "[\"\",\"y\",\"z\"]");
    body_gives("map<int>", "int", "get(x, \"a\", 7) + x[\"b\"]", "{\"b\": 1}", "8");
    body_gives("map<int>", "bool", "has(x, \"a\") or x == map{\"b\": 1}", "{\"b\": 1}", "true");
    body_gives("map<int>", "int", "x[\"a\"]", "{}",
               "!line 1, column 31: the map has no such key; ask with has, or use get");
    body_gives("string", "map<int>", "map{x: 1, \"a\": 2}", "\"a\"",
               "!line 1, column 32: a key is in this map twice");
}

static void records_keep_their_fields(void **state)
{
    body_gives("{b: int, a: string}", "{a: string, b: int}", "x with {b: x.b + 1}",
               "{\"a\": \"n\", \"b\": 1}", "{\"a\":\"n\",\"b\":2}");
    body_gives("{b: int, a: string}", "bool", "x == {a: \"n\", b: 1}", "{\"a\": \"n\", \"b\": 1}",
               "true");
}

static void repetition_gathers(void **state)
{
    body_gives("list<int>", "int", "fold y in x from s = 0 { s + y }", "[1, 2, 3]", "6");
    body_gives("int", "int", "loop y = 1 while y < x { y * 2 }", "100", "128");
    body_gives("int", "int",
               "fold y in range(0, x) from s = 0 { fold z in range(0, y) from t = s { t + z } }",
               "5", "10");
    gives("fn f(n: int): int { if n < 2 { n } else { f(n - 1) + f(n - 2) } }"
          " fn main(x: int): int { f(x) }",
          "15", "610");
}

static void what_does_not_end_is_ended(void **state)
{
    body_gives("int", "int", "loop y = 1 while true { y }", "1",
               "!line 1, column 29: the steps that one dispatch may take are used up");
    gives("fn f(n: int): int { f(n + 1) } fn main(x: int): int { f(x) }", "1",
          "!line 1, column 21: too many calls inside each other");
    body_gives("int", "int",
               "let all = fold y in range(0, 60) from l = [\"abcdefgh\"] { l ++ l }; len(all)", "1",
               "!line 1, column 83: a list has too many items");
    body_gives("int", "int", "let s = loop s = \"abcdefgh\" while true { s ++ s }; len(s)", "1",
               "!line 1, column 67: the memory that one dispatch may have is used up");
}

/* 100 levels of [x, x]: a value whose text would be endless. */
static void a_result_that_is_too_long_is_refused(void **state)
{
    char type[600] = "int", source[4000];
    size_t n = 0;
    for (int i = 0; i < 60; i++) {
        char more[sizeof type + 6];
        (void)snprintf(more, sizeof more, "list<%.580s>", type);
        memcpy(type, more, sizeof type - 1);
    }
    n += (size_t)snprintf(source + n, sizeof source - n, "fn main(v0: int): %s {", type);
    for (int i = 0; i < 60; i++)
        n += (size_t)snprintf(source + n, sizeof source - n, "let v%d = [v%d, v%d];", i + 1, i, i);
    (void)snprintf(source + n, sizeof source - n, " v60 }");
    gives(source, "1", "!the result is longer than 16000000 bytes");
}

static void the_input_must_be_of_the_entrys_type(void **state)
{
    static const struct {
        const char *input, *sentence;
    } rows[] = {
        {"", "!line 1, column 1: the input has no object where the program takes a record"},
        {"{\"a\": 1}", "!line 1, column 9: the input has no field b"},
        {"{\"a\": 1, \"b\": [], \"c\": 1}",
         "!line 1, column 23: the input has a field that the program does not take: c"},
        {"{\"a\": 1, \"a\": 1}", "!line 1, column 14: the input has twice the field a"},
        {"{\"a\": 1.5, \"b\": []}",
         "!line 1, column 8: the input has no whole number where the program takes one"},
        {"{\"a\": 9223372036854775808, \"b\": []}",
         "!line 1, column 25: the input has a number that is no 64-bit integer"},
        {"{\"a\": 01, \"b\": []}",
         "!line 1, column 9: the input has no whole number where the program takes one"},
        {"{\"a\": 1, \"b\": [1]}",
         "!line 1, column 16: the input has no text where the program takes one"},
        {"{\"a\": 1, \"b\": [\"x\" \"y\"]}",
         "!line 1, column 20: the input has neither a comma nor an end behind a value"},
        {"{\"a\": 1, \"b\": [\"\\ud800\"]}",
         "!line 1, column 23: the input has half of a pair of surrogates"},
        {"{\"a\": 1, \"b\": [\"\\u0000\"]}",
         "!line 1, column 23: the input has a \\u that is no character"},
        {"{\"a\": 1, \"b\": [\"x", "!line 1, column 18: the input has a text without an end"},
        {"{\"a\": 1, \"b\": []}\n{}",
         "!line 2, column 1: the input has something behind its value"},
        {"{\"a\": 1, \"b\": [\"\xff\"]}",
         "!line 1, column 17: the input has bytes that are not UTF-8"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        body_gives("{a: int, b: list<string>}", "int", "x.a", rows[i].input, rows[i].sentence);
    body_gives("map<int>", "int", "len(x)", "{\"k\": 1, \"k\": 2}",
               "!line 1, column 16: the input has the same key twice");
}

static void an_entry_is_found_by_kind_and_name(void **state)
{
    static const char source[] = "fn f(x: int): int { x + 1 } fn g(x: int): bool { x > 2 }"
                                 "fn h(x: int, y: int): int { x } pipeline p = f | f | g;";
    static const struct {
        enum pk_kind kind;
        const char *name, *wanted;
    } rows[] = {
        {PK_FUNCTION, "f", "2"},
        {PK_PIPELINE, "p", "true"},
        {PK_FUNCTION, "p", "!the program has no function p"},
        {PK_PIPELINE, "f", "!the program has no pipeline f"},
        {PK_FUNCTION, "h", "!the function takes 2 values; an entry takes one"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *text = ran(source, rows[i].kind, rows[i].name, "1");
        assert_string_equal(text, rows[i].wanted);
        free(text);
    }
}

static void the_example_reduces(void **state)
{
    char *source = example("reducer.pk"), *input = example("reducer-input.json");
    char *once = ran(source, PK_FUNCTION, "reduce", input);
    char *twice = ran(source, PK_PIPELINE, "twice", input);
    assert_string_equal(
        once, "{\"count\":1,\"history\":[{\"amount\":1,\"count\":1,\"kind\":\"increment\"}],"
              "\"label\":\"portable (increment 1)\"}");
    assert_string_equal(
        twice, "{\"count\":2,\"history\":[{\"amount\":1,\"count\":1,\"kind\":\"increment\"},"
               "{\"amount\":1,\"count\":2,\"kind\":\"increment\"}],"
               "\"label\":\"portable (increment 2)\"}");
    free(source);
    free(input);
    free(once);
    free(twice);
}

static void the_example_with_more_work_sums_primes(void **state)
{
    char *source = example("sums.pk");
    char *sums = ran(source, PK_FUNCTION, "sums", "{\"limit\": 20}");
    assert_string_equal(sums, "{\"largest\":19,\"primes\":[2,3,5,7,11,13,17,19],\"sum\":77}");
    free(source);
    free(sums);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_are_checked),
        cmocka_unit_test(logic_asks_only_as_far_as_needed),
        cmocka_unit_test(strings_compare_and_join_by_bytes),
        cmocka_unit_test(lists_are_made_anew),
        cmocka_unit_test(maps_are_sorted_by_key),
        cmocka_unit_test(records_keep_their_fields),
        cmocka_unit_test(repetition_gathers),
        cmocka_unit_test(what_does_not_end_is_ended),
        cmocka_unit_test(a_result_that_is_too_long_is_refused),
        cmocka_unit_test(the_input_must_be_of_the_entrys_type),
        cmocka_unit_test(an_entry_is_found_by_kind_and_name),
        cmocka_unit_test(the_example_reduces),
        cmocka_unit_test(the_example_with_more_work_sums_primes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
