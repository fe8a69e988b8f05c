/* What the compiler refuses, and where. */
#include "kernel.h"

static void every_sentence_has_a_line_and_a_column(void **state)
{
    refused("", "line 1, column 1: expected a function, found the end");
    refused("fn main(x: int): int {\n  x + \"a\"\n}",
            "line 2, column 7: expected int, found string");
    refused("fn main(x: int): int {\n  y\n}", "line 2, column 3: y is not known here");
    refused("\n\n  garbage", "line 3, column 3: expected fn, type or pipeline, found garbage");
}

static void words_are_read_strictly(void **state)
{
    refused("fn main(x: int): int { 01 }", "line 1, column 24: a number does not begin with 0");
    refused("fn main(x: int): int { 1.5 }",
            "line 1, column 24: a number is made of digits alone; there are only whole ones");
    refused("fn main(x: int): int { 9223372036854775808 }",
            "line 1, column 24: this number is larger than a 64-bit integer, found "
            "9223372036854775808");
    refused("fn main(x: int): int { 99999999999999999999 }",
            "line 1, column 24: this number is larger than a 64-bit integer");
    refused("fn main(x: int): string { \"a }",
            "line 1, column 27: this text has no end; close it with \" in the same line");
    refused("fn main(x: int): string { \"\\q\" }",
            "line 1, column 28: behind \\ stands one of n t \" \\ u");
    refused("fn main(x: int): string { \"\\u{d800}\" }",
            "line 1, column 28: write \\u{HEX} with the number of a character, other than 0");
    refused("fn main(x: int): string { \"a\tb\" }",
            "line 1, column 29: a control character in a text is written as an escape");
    refused("fn main(x: int): int { x # 1 }",
            "line 1, column 26: this character means nothing here");
    refused("// \xff", "line 1, column 4: the source is not UTF-8 here");
}

static void types_must_fit(void **state)
{
    refused("fn main(x: bool): int { if x { 1 } else { true } }",
            "line 1, column 43: expected int, found bool");
    refused("fn main(x: int): int { if x { 1 } else { 2 } }",
            "line 1, column 27: expected bool, found int");
    refused("fn main(x: {a: int}): int { x.b }", "line 1, column 31: {a: int} has no field b");
    refused("fn main(x: int): list<int> { [1, \"a\"] }",
            "line 1, column 34: expected int, found string");
    refused("fn main(x: int): int { len([]) }",
            "line 1, column 28: what an empty list holds does not follow from here");
    refused("fn main(x: bool): bool { x < x }",
            "line 1, column 26: expected an int or a string, which have an order,, found bool");
    refused("fn main(x: int): int { x ++ x }",
            "line 1, column 24: expected a string or a list in front of ++, found int");
    refused("fn main(x: int): int { x[0] }",
            "line 1, column 24: expected a list or a map in front of [, found int");
    refused("fn main(x: int): int { min(x) }", "line 1, column 24: min takes 2, found 1 values");
    refused("fn f(a: int, b: int): int { a } fn main(x: int): int { f(x) }",
            "line 1, column 56: f takes 2, found 1 values");
    refused("fn main(x: int): int { f(x) }", "line 1, column 24: there is no function f");
    refused("fn main(x: T): int { 1 }",
            "line 1, column 12: expected a type that is declared above, found T");
    refused("fn main(x: {a: int}): {a: int} { x with {a: true} }",
            "line 1, column 45: expected int, found bool");
    refused("fn main(x: int): int { fold y in x from z = 0 { z } }",
            "line 1, column 34: expected a list behind in, found int");
}

static void nothing_is_named_twice(void **state)
{
    refused("fn main(x: int): int { let x = 1; x }",
            "line 1, column 32: x has a meaning here already");
    refused("fn main(x: int, x: int): int { 1 }",
            "line 1, column 17: this parameter is there twice");
    refused("fn f(x: int): int { 1 } fn f(x: int): int { 1 }",
            "line 1, column 28: the function f is declared twice");
    refused("fn len(x: int): int { 1 }", "line 1, column 4: len is always there; use another name");
    refused("type A = {a: int, a: int};", "line 1, column 19: the field a is there twice");
    refused("type A = int; type A = int;", "line 1, column 20: the type A is declared twice");
    refused("fn main(x: int): {a: int} { {a: 1, a: 2} }",
            "line 1, column 36: the field a is there twice");
    refused("fn main(x: int): int { match x { 1 => 1, 1 => 2, _ => 3 } }",
            "line 1, column 42: this value stands above already");
    refused("fn f(x: int): int { x } pipeline p = f; pipeline p = f;",
            "line 1, column 50: this pipeline is declared twice");
}

static void a_match_says_what_all_other_values_give(void **state)
{
    refused("fn main(x: int): int { match x { 1 => 1, } }",
            "line 1, column 42: expected _, which says what all other values give, found }");
    refused("fn main(x: int): int { match x { x => 1, _ => 2 } }",
            "line 1, column 34: expected a number, a text, true, false or _, found x");
    refused("fn main(x: int): int { match x { 1 + 1 => 1, _ => 2 } }",
            "line 1, column 36: here stands a number, a text, true, false or _, and nothing else");
    refused("fn main(x: list<int>): int { match x { _ => 2 } }",
            "line 1, column 36: expected an int, a bool or a string behind match, found list<int>");
}

static void comparisons_do_not_follow_each_other(void **state)
{
    refused("fn main(x: int): bool { 1 < x < 3 }",
            "line 1, column 31: comparisons do not follow each other; use and, found <");
}

static void pipelines_are_functions_that_fit(void **state)
{
    refused("fn f(x: int): bool { true } pipeline p = f | f;",
            "line 1, column 46: this function does not take what the one in front of it gives");
    refused("fn f(x: int): int { x } pipeline p = g;",
            "line 1, column 38: g is no function of one value");
    refused("fn f(x: int, y: int): int { x } pipeline p = f;",
            "line 1, column 46: f is no function of one value");
}

/* Depth is bounded in every way in which source can nest. */
static void what_is_too_deep_is_refused(void **state)
{
    static const struct {
        const char *open, *inner, *close;
    } ways[] = {
        {"(", "1", ")"},      {"[", "1", "]"},           {"-", "x", ""},
        {"1 + ", "1", ""},    {"not ", "true", ""},      {"if true { ", "1", " } else { 1 }"},
        {"do { ", "1", " }"}, {"{a: ", "1", "}"},        {"if true { 1 } else ", "{ 1 }", ""},
        {"f(", "1", ")"},     {"map{\"a\": ", "1", "}"}, {"1 + (2 * ", "3", ")"},
    };
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        struct pk_bytes source = {0}, out = {0};
        struct pk_err e = {0};
        struct pk_abi abi;
        char *text = calloc(1, 100000);
        strcat(text, "fn main(x: int): int { ");
        for (int i = 0; i < 2000; i++)
            strcat(text, ways[w].open);
        strcat(text, ways[w].inner);
        for (int i = 0; i < 2000; i++)
            strcat(text, ways[w].close);
        strcat(text, " }");
        pk_abi_init(&abi);
        assert_int_equal(pk_compile(&abi, text, strlen(text), &out, &e), -1);
        if (!strstr(e.text, "more than 100 things stand inside each other here"))
            fail_msg("%s: %s", ways[w].open, e.text);
        pk_bytes_free(&source);
        free(text);
    }
    refused("fn main(x: list<list<list<int>>>): int { x }",
            "line 1, column 42: expected int, found list<list<list<int>>>");
}

static void what_is_too_long_is_refused(void **state)
{
    struct pk_bytes out = {0};
    struct pk_err e = {0};
    struct pk_abi abi;
    char *text = malloc(1000001);
    memset(text, ' ', 1000001);
    pk_abi_init(&abi);
    assert_int_equal(pk_compile(&abi, text, 1000001, &out, &e), -1);
    assert_string_equal(e.text, "the source is longer than 1000000 bytes");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sentence_has_a_line_and_a_column),
        cmocka_unit_test(words_are_read_strictly),
        cmocka_unit_test(types_must_fit),
        cmocka_unit_test(nothing_is_named_twice),
        cmocka_unit_test(a_match_says_what_all_other_values_give),
        cmocka_unit_test(comparisons_do_not_follow_each_other),
        cmocka_unit_test(pipelines_are_functions_that_fit),
        cmocka_unit_test(what_is_too_deep_is_refused),
        cmocka_unit_test(what_is_too_long_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
