#include "base/mem.h"
#include "client/options.h"
#include "unit.h"

struct values {
    bool all;
    const char *rev;
    int n;
    int64_t every_ms;
    struct args exclude;
};

static const struct opt opts[] = {
    {'a', "all", OPT_FLAG, NULL, offsetof(struct values, all), 0, 0, "everything"},
    {'r', "rev", OPT_TEXT, "REV", offsetof(struct values, rev), 0, 0, "a revision"},
    {'n', "limit", OPT_INT, "N", offsetof(struct values, n), 1, 10, "at most so many"},
    {0, "every", OPT_DURATION_MS, "DURATION", offsetof(struct values, every_ms), 0, 0, "how often"},
    {'x', "exclude", OPT_LIST, "W/L", offsetof(struct values, exclude), 0, 0, "leave out"},
};

struct parsed {
    struct arena a;
    struct values v;
    struct opt_words words;
    struct err e;
    int rc;
};

static int setup(void **state)
{
    *state = mem_alloc(sizeof(struct parsed));
    return 0;
}

static int teardown(void **state)
{
    struct parsed *p = *state;

    arena_deinit(&p->a);
    free(p);
    return 0;
}

static void parse(struct parsed *p, const char **words, size_t n)
{
    const struct opt_table tables[] = {{opts, 3, &p->v}, {opts + 3, 2, &p->v}};

    p->rc = opts_parse(&p->a, tables, ARRAY_LEN(tables), (struct args){words, n}, &p->words, &p->e);
}
#define PARSE(p, ...)                                                                              \
    parse(p, (const char *[]){__VA_ARGS__},                                                        \
          sizeof((const char *[]){__VA_ARGS__}) / sizeof(const char *))

static void a_value_follows_its_option_in_four_spellings(void **state)
{
    struct parsed *p = *state;

    PARSE(p, "--rev", "v1", "-n5", "--every=10m", "-x", "a/b", "--exclude", "c");
    assert_int_equal(p->rc, 0);
    assert_string_equal(p->v.rev, "v1");
    assert_int_equal(p->v.n, 5);
    assert_int_equal(p->v.every_ms, 600000);
    assert_int_equal(p->v.exclude.n, 2);
    assert_string_equal(p->v.exclude.v[0], "a/b");
    assert_string_equal(p->v.exclude.v[1], "c");
    assert_null(p->v.exclude.v[2]);
}

static void words_and_options_mix_until_two_dashes(void **state)
{
    struct parsed *p = *state;

    PARSE(p, "one", "-a", "two", "-", "--", "-n", "--rev");
    assert_int_equal(p->rc, 0);
    assert_true(p->v.all && p->words.dashes);
    assert_int_equal(p->words.words.n, 3);
    assert_string_equal(p->words.words.v[2], "-");
    assert_int_equal(p->words.after.n, 2);
    assert_string_equal(p->words.after.v[0], "-n");
    assert_int_equal(p->v.n, 0);
}

static void what_is_not_given_keeps_its_value(void **state)
{
    struct parsed *p = *state;

    p->v = (struct values){.n = 7, .rev = "HEAD"};
    PARSE(p, "-a");
    assert_int_equal(p->v.n, 7);
    assert_string_equal(p->v.rev, "HEAD");
    assert_false(p->words.dashes);
}

static void an_empty_value_and_one_that_looks_like_an_option_are_values(void **state)
{
    struct parsed *p = *state;

    PARSE(p, "--rev=", "-x", "-n");
    assert_int_equal(p->rc, 0);
    assert_string_equal(p->v.rev, "");
    assert_string_equal(p->v.exclude.v[0], "-n");
}

static void refuse(struct parsed *p, const char *field, const char *part)
{
    assert_true(p->rc < 0);
    assert_string_equal(p->e.code, "usage");
    assert_string_equal(p->e.field, field);
    assert_non_null(strstr(p->e.text, part));
}

static void unknown_options_are_refused_by_name(void **state)
{
    struct parsed *p = *state;

    PARSE(p, "--al");
    refuse(p, "--al", "no option --al");
    err_clear(&p->e);
    PARSE(p, "-az");
    refuse(p, "-z", "no option -z");
}

static void values_that_do_not_fit_are_refused(void **state)
{
    struct parsed *p = *state;
    static const char *const bad[][2] = {{"--limit=0", "from 1 to 10"},
                                         {"--limit=11", "not 11"},
                                         {"--limit=", "not nothing"},
                                         {"--limit=5x", "not 5x"},
                                         {"--limit=99999999999999999999", "whole number"}};

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        err_clear(&p->e);
        PARSE(p, bad[i][0]);
        refuse(p, "--limit", bad[i][1]);
    }
    err_clear(&p->e);
    PARSE(p, "--every", "10");
    refuse(p, "--every", "a duration like");
    assert_int_equal(p->v.every_ms, 0);
}

static void a_missing_value_and_a_value_of_a_flag_are_refused(void **state)
{
    struct parsed *p = *state;

    PARSE(p, "--rev");
    refuse(p, "--rev", "--rev REV");
    err_clear(&p->e);
    PARSE(p, "--all=1");
    refuse(p, "--all", "takes no value");
}

static void leading_options_end_at_the_first_word(void **state)
{
    struct parsed *p = *state;
    const struct opt_table table = {opts, ARRAY_LEN(opts), &p->v};
    const char *words[] = {"-a", "--rev", "v1", "list", "--bogus"};
    size_t used = 0;

    assert_int_equal(opts_parse_leading(&p->a, &table, (struct args){words, 5}, &used, &p->e), 0);
    assert_int_equal(used, 3);
    assert_string_equal(p->v.rev, "v1");
}

static void help_shows_every_option_with_its_value(void **state)
{
    CLEANUP(buf_deinit) struct buf b = {0};

    (void)state;
    opts_help(opts, ARRAY_LEN(opts), &b);
    assert_non_null(strstr(b.data, "  -a, --all                 everything\n"));
    assert_non_null(strstr(b.data, "      --every DURATION      how often\n"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_value_follows_its_option_in_four_spellings),
        TEST(words_and_options_mix_until_two_dashes),
        TEST(what_is_not_given_keeps_its_value),
        TEST(an_empty_value_and_one_that_looks_like_an_option_are_values),
        TEST(unknown_options_are_refused_by_name),
        TEST(values_that_do_not_fit_are_refused),
        TEST(a_missing_value_and_a_value_of_a_flag_are_refused),
        TEST(leading_options_end_at_the_first_word),
        TEST(help_shows_every_option_with_its_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
