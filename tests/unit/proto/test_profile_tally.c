/* Tallies: one set of samples has one text, from which the same counts come again; everything that
 * is written otherwise is refused with its line. */
#include "unit/unit.h"

#include <errno.h>
#include <inttypes.h>

#include "base/files.h"
#include "base/mem.h"
#include "proto/profile/profile_tally.h"

#define HEAD "samples\tstate\tsymbol\tobject\tprocess\tthread\n"

static const char *fn[] = {"mix*", "a\\b", NULL}, *lib[] = {"libc*", NULL};
static struct category categories[] = {{"fn", {fn, 2}, {NULL, 0}}, {"lib", {NULL, 0}, {lib, 1}}};
#define VALUES (2 + ATTRIBUTION_VALUES)

static struct attribution rules_of(enum profile_format format)
{
    return (struct attribution){.format = format,
                                .categories = categories,
                                .n_categories = ARRAY_LEN(categories),
                                .from_ms = -1,
                                .to_ms = -1};
}

static struct piece piece(const char *text)
{
    return (struct piece){text, text ? strlen(text) : 0};
}

static struct profile_sample sample(const char *symbol, int64_t count)
{
    return (struct profile_sample){.symbol = piece(symbol),
                                   .object = piece("/bin/fib"),
                                   .process = piece("fib"),
                                   .thread = piece("main"),
                                   .at_ns = 5000000,
                                   .count = count};
}

/* ---- writing */

static void test_samples_that_no_rule_can_tell_apart_are_one_line_in_order(void **state)
{
    const struct attribution rules = {.from_ms = 4, .to_ms = -1};
    CLEANUP(profile_tally_deinit) struct profile_tally t = {0};
    CLEANUP(buf_deinit) struct buf text = {0};
    struct profile_sample one = sample("push", 2), again = sample("push", 3);
    struct profile_sample early = sample("push", 1), nameless = sample(NULL, 7);

    (void)state;
    again.at_ns++;
    early.at_ns = 3999999;
    early.is_kernel = early.is_suspended = true;
    nameless.object = (struct piece){"", 0};
    nameless.thread = (struct piece){NULL, 0};
    assert_true(profile_tally_add(&t, &rules, &nameless) && profile_tally_add(&t, &rules, &early) &&
                profile_tally_add(&t, &rules, &one) && profile_tally_add(&t, &rules, &again));
    profile_tally_write(&t, &text);
    assert_string_equal(buf_str(&text),
                        HEAD "7\t-\t\\-\t\tfib\t\\-\n"
                             "5\t-\tpush\t/bin/fib\tfib\tmain\n"
                             "1\tkernel,suspended,outside\tpush\t/bin/fib\tfib\tmain\n");
}

static bool put_back(void *of, const struct profile_sample *s)
{
    struct buf *out = of;

    buf_add(out, s->symbol.at, s->symbol.len);
    return true;
}

static void test_every_byte_of_a_name_comes_back(void **state)
{
    const struct attribution rules = rules_of(PROFILE_PERF_SCRIPT);
    CLEANUP(profile_tally_deinit) struct profile_tally t = {0};
    CLEANUP(buf_deinit) struct buf text = {0}, names = {0};
    const struct profile_seen seen = {put_back, &names};
    struct err e = {0};
    char all[255];

    (void)state;
    for (int i = 0; i < 255; i++)
        all[i] = (char)(unsigned char)(i + 1);
    struct profile_sample s = sample(NULL, 1);
    s.symbol = (struct piece){all, sizeof all};
    assert_true(profile_tally_add(&t, &rules, &s));
    profile_tally_write(&t, &text);
    for (size_t i = 0; i < text.len; i++)
        assert_true(text.data[i] == '\n' || text.data[i] == '\t' ||
                    (text.data[i] >= ' ' && text.data[i] <= '~'));
    assert_int_equal(profile_read_tally(text.data, text.len, &seen, &e), 0);
    assert_int_equal(names.len, sizeof all);
    assert_memory_equal(names.data, all, sizeof all);
}

static void test_a_tally_beyond_its_bound_is_none(void **state)
{
    const struct attribution rules = rules_of(PROFILE_XCTRACE);
    CLEANUP(profile_tally_deinit) struct profile_tally t = {0};
    CLEANUP(buf_deinit) struct buf text = {0};
    size_t len = PROFILE_TALLY_BYTES_MAX - sizeof HEAD - 100;
    CLEANUP(mem_freep) char *name = mem_alloc(len);
    struct profile_sample s = sample(NULL, INT64_C(9007199254740991));

    (void)state;
    memset(name, 'n', len);
    s.symbol = (struct piece){name, len};
    assert_true(profile_tally_add(&t, &rules, &s));
    assert_true(profile_tally_add(&t, &rules, &s));
    s.symbol.len = 100;
    assert_false(profile_tally_add(&t, &rules, &s));
    s.symbol.len = PROFILE_TALLY_BYTES_MAX + 1; /* not even looked at */
    assert_false(profile_tally_add(&t, &rules, &s));
}

/* ---- what the profilers wrote */

struct both {
    struct attribution rules;
    int64_t counts[VALUES];
    struct profile_tally tally;
};

static bool count_both(void *of, const struct profile_sample *s)
{
    struct both *b = of;
    return profile_tally_add(&b->tally, &b->rules, s) && attribution_add(&b->rules, s, b->counts);
}

static void test_a_tally_gives_the_counts_of_its_profile_and_is_smaller(void **state)
{
    static const struct {
        enum profile_format format;
        const char *name, *process;
        int64_t from_ms;
    } rows[] = {{PROFILE_CALLGRIND, "work.callgrind", NULL, -1},
                {PROFILE_CALLGRIND, "work-instructions.callgrind", NULL, -1},
                {PROFILE_PERF_SCRIPT, "work.perf-script", NULL, -1},
                {PROFILE_PERF_SCRIPT, "work.perf-script", "wo*", 20},
                {PROFILE_PERF_SCRIPT, "work-calls.perf-script", NULL, -1},
                {PROFILE_XCTRACE, "time-profile.xml", "fib", 3}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        CLEANUP(mem_freep)
        char *path = mem_printf("%s/profiles/%s", getenv("AURABENCH_FIXTURES"), rows[i].name);
        CLEANUP(buf_deinit) struct buf profile = {0}, text = {0};
        struct both b = {.rules = rules_of(rows[i].format)};
        const struct profile_seen seen = {count_both, &b};
        int64_t again[VALUES] = {0};
        struct err e = {0};

        b.rules.process = rows[i].process;
        b.rules.from_ms = rows[i].from_ms;
        assert_int_equal(file_read(path, PROFILE_BYTES_MAX, &profile, &e), 0);
        if (profile_read(rows[i].format, buf_str(&profile), profile.len, &seen, &e) < 0)
            fail_msg("%s: %s", rows[i].name, e.text);
        profile_tally_write(&b.tally, &text);
        profile_tally_deinit(&b.tally);
        if (profile_tally_attribute(&b.rules, buf_str(&text), text.len, again, &e) < 0)
            fail_msg("%s: %s", rows[i].name, e.text);
        assert_memory_equal(again, b.counts, sizeof again);
        assert_true(again[2 + ATTRIBUTION_SAMPLES] > 0 && text.len < profile.len);
        assert_true(profile_is_tally(text.data, text.len));
        assert_false(profile_is_tally(profile.data, profile.len));
    }
}

/* ---- refusals */

static void expect_refused(const char *text, size_t len, int line, const char *word)
{
    const struct attribution rules = rules_of(PROFILE_PERF_SCRIPT);
    int64_t counts[VALUES] = {0};
    struct err e = {0};
    char field[32];

    assert_int_equal(profile_tally_attribute(&rules, text, len, counts, &e), -EBADMSG);
    assert_string_equal(e.code, "profile.bad");
    (void)snprintf(field, sizeof field, "line %d", line);
    if (strcmp(e.field, field) != 0 || !strstr(e.text, word))
        fail_msg("\"%s\" is refused in %s: %s", text, e.field, e.text);
}

static void test_what_is_written_otherwise_is_refused_by_line(void **state)
{
    static const struct {
        const char *text;
        int line;
        const char *word;
    } rows[] = {
        {"", 1, "no head"},
        {"samples\tstate\tsymbol\tobject\tprocess\n", 1, "no head"},
        {HEAD "1\t-\ta\tb\tc\td", 2, "cut off"},
        {HEAD "\n", 2, "1 columns"},
        {HEAD "1\t-\ta\tb\tc\n", 2, "5 columns"},
        {HEAD "1\t-\ta\tb\tc\td\te\n", 2, "7 columns"},
        {HEAD "0\t-\ta\tb\tc\td\n", 2, "count"},
        {HEAD "01\t-\ta\tb\tc\td\n", 2, "count"},
        {HEAD "-1\t-\ta\tb\tc\td\n", 2, "count"},
        {HEAD "1 \t-\ta\tb\tc\td\n", 2, "count"},
        {HEAD "9007199254740992\t-\ta\tb\tc\td\n", 2, "count"},
        {HEAD "1\t\ta\tb\tc\td\n", 2, "state"},
        {HEAD "1\toutside,kernel\ta\tb\tc\td\n", 2, "state"},
        {HEAD "1\toutside\ta\tb\tc\td\n", 2, "outside of a window"},
        {HEAD "1\t-\ta\\x41\tb\tc\td\n", 2, "name"},
        {HEAD "1\t-\ta\\x0A\tb\tc\td\n", 2, "name"},
        {HEAD "1\t-\ta\\x00\tb\tc\td\n", 2, "name"},
        {HEAD "1\t-\ta\\xa\tb\tc\td\n", 2, "name"},
        {HEAD "1\t-\ta\\-\tb\tc\td\n", 2, "name"},
        {HEAD "1\t-\ta\xc3\xa9\tb\tc\td\n", 2, "name"},
        {HEAD "1\t-\ta\tb\tc\td\r\n", 2, "name"},
        {HEAD "1\t-\ta\tb\tc\td\n1\t-\ta\tb\tc\td\n", 3, "behind"},
        {HEAD "1\t-\tb\tb\tc\td\n1\t-\ta\tb\tc\td\n", 3, "behind"},
        {HEAD "1\t-\ta\tb\tc\tdd\n1\t-\ta\tb\tc\td\n", 3, "behind"},
        {HEAD "9007199254740991\t-\ta\tb\tc\td\n1\t-\tb\tb\tc\td\n", 3, "more samples"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        expect_refused(rows[i].text, strlen(rows[i].text), rows[i].line, rows[i].word);
    expect_refused(HEAD "1\t-\ta\0\tb\tc\td\n", sizeof HEAD + 13, 2, "NUL");
}

static void test_a_text_of_too_many_bytes_is_refused(void **state)
{
    CLEANUP(mem_freep) char *text = mem_alloc(PROFILE_TALLY_BYTES_MAX + 1);

    (void)state;
    memcpy(text, HEAD, strlen(HEAD));
    expect_refused(text, PROFILE_TALLY_BYTES_MAX + 1, 1, "more than 16777216 bytes");
}

static void test_lines_fall_where_their_state_and_names_say(void **state)
{
    static const char text[] = HEAD "1\t-\t\\-\tx\tp\tt\n"
                                    "2\t-\ta\\x5cb\tx\tp\tt\n"
                                    "4\t-\tz\t/lib/libc.so\tp\tt\n"
                                    "8\t-\tz\tx\tp\tt\n"
                                    "16\tkernel\tmix\tx\tp\tt\n"
                                    "32\toutside\tmix\tx\tp\tt\n"
                                    "64\tsuspended\tmix\tx\tp\tt\n";
    struct attribution rules = rules_of(PROFILE_XCTRACE);
    int64_t counts[VALUES] = {0};
    struct err e = {0};

    (void)state;
    rules.to_ms = 9;
    if (profile_tally_attribute(&rules, text, sizeof text - 1, counts, &e) < 0)
        fail_msg("%s", e.text);
    assert_int_equal(counts[0], 2);
    assert_int_equal(counts[1], 4);
    assert_int_equal(counts[2 + ATTRIBUTION_OTHER], 8);
    assert_int_equal(counts[2 + ATTRIBUTION_KERNEL], 16);
    assert_int_equal(counts[2 + ATTRIBUTION_OUTSIDE_WINDOW], 32);
    assert_int_equal(counts[2 + ATTRIBUTION_NOT_RUNNING], 64);
    assert_int_equal(counts[2 + ATTRIBUTION_NO_SYMBOL], 1);
    assert_int_equal(counts[2 + ATTRIBUTION_SAMPLES], 127);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples_that_no_rule_can_tell_apart_are_one_line_in_order),
        cmocka_unit_test(test_every_byte_of_a_name_comes_back),
        cmocka_unit_test(test_a_tally_beyond_its_bound_is_none),
        cmocka_unit_test(test_a_tally_gives_the_counts_of_its_profile_and_is_smaller),
        cmocka_unit_test(test_what_is_written_otherwise_is_refused_by_line),
        cmocka_unit_test(test_a_text_of_too_many_bytes_is_refused),
        cmocka_unit_test(test_lines_fall_where_their_state_and_names_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
