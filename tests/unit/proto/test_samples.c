/* What a lane may print as its samples, and each way in which it may not. */
#include "unit/unit.h"

#include "base/buf.h"
#include "base/mem.h"
#include "proto/form/samples.h"

static const struct sample_series declared[] = {
    {.name = "late", .unit = SAMPLE_NS, .min = 2, .max = 3, .p99_max = -1},
    {.name = "span", .unit = SAMPLE_NS, .min = 0, .max = 1, .p99_max = -1},
};
#define L0 "SAMPLE late 0 7\n"
#define L1 "SAMPLE late 1 0\n"
#define L2 "SAMPLE late 2 9007199254740991\n"
#define S0 "SAMPLE span 0 5\n"

static const char *parse(struct arena *a, const char *text, size_t len, struct raw_samples **out,
                         const char **got)
{
    return samples_parse(a, text, len, declared, ARRAY_LEN(declared), out, got);
}

static const struct {
    const char *text;
    size_t late, span;
} good[] = {
    {L0 L1 L2 S0, 3, 1}, {L0 S0 L1, 2, 1}, {L0 L1, 2, 0}, /* of the second none is asked for */
};

static void each_sample_stands_at_its_index(void **state)
{
    static const int64_t values[] = {7, 0, 9007199254740991};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        CLEANUP(arena_deinit) struct arena a = {0};
        struct raw_samples *samples;
        const char *got;
        assert_null(parse(&a, good[i].text, strlen(good[i].text), &samples, &got));
        assert_null(got);
        assert_string_equal(samples[0].name, "late");
        assert_string_equal(samples[1].name, "span");
        assert_int_equal(samples[0].n, good[i].late);
        assert_int_equal(samples[1].n, good[i].span);
        for (size_t k = 0; k < samples[0].n; k++)
            assert_int_equal(samples[0].v[k], values[k]);
    }
}

static const struct {
    const char *text, *code, *got;
} bad[] = {
    {"", "lane.sample_missing", "late"},
    {L0, "lane.sample_missing", "late"},
    {L0 "SAMPLE early 0 1\n", "lane.sample_unknown", "SAMPLE early 0 1"},
    {"SAMPLE lat 0 1\n", "lane.sample_unknown", "SAMPLE lat 0 1"},
    {L0 L0, "lane.sample_twice", "SAMPLE late 0 7"},
    {L0 L1 L0, "lane.sample_twice", "SAMPLE late 0 7"},
    {L1, "lane.sample_gap", "SAMPLE late 1 0"},
    {L0 L2 L1, "lane.sample_gap", "SAMPLE late 2 9007199254740991"},
    {L0 L1 L2 "SAMPLE late 3 1\n", "lane.sample_extra", "SAMPLE late 3 1"},
    {L0 L1 S0 "SAMPLE span 1 1\n", "lane.sample_extra", "SAMPLE span 1 1"},
    {L0 "SAMPLE late 1 5", "lane.sample_bad", "SAMPLE late 1 5"},
    {"\n", "lane.sample_bad", ""},
    {"hello\n", "lane.sample_bad", "hello"},
    {"sample late 0 1\n", "lane.sample_bad", "sample late 0 1"},
    {" SAMPLE late 0 1\n", "lane.sample_bad", " SAMPLE late 0 1"},
    {"SAMPLE late 0\n", "lane.sample_bad", "SAMPLE late 0"},
    {"SAMPLE late 0 \n", "lane.sample_bad", "SAMPLE late 0 "},
    {"SAMPLE late  0 1\n", "lane.sample_bad", "SAMPLE late  0 1"},
    {"SAMPLE  late 0 1\n", "lane.sample_bad", "SAMPLE  late 0 1"},
    {"SAMPLE late 0 1 \n", "lane.sample_bad", "SAMPLE late 0 1 "},
    {"SAMPLE late 0 1 2\n", "lane.sample_bad", "SAMPLE late 0 1 2"},
    {"SAMPLE late 0 1\r\n", "lane.sample_bad", "SAMPLE late 0 1?"},
    {"SAMPLE late 0 -1\n", "lane.sample_bad", "SAMPLE late 0 -1"},
    {"SAMPLE late 0 1.5\n", "lane.sample_bad", "SAMPLE late 0 1.5"},
    {"SAMPLE late 0 01\n", "lane.sample_bad", "SAMPLE late 0 01"},
    {"SAMPLE late 00 1\n", "lane.sample_bad", "SAMPLE late 00 1"},
    {"SAMPLE late -0 1\n", "lane.sample_bad", "SAMPLE late -0 1"},
    {"SAMPLE late 0 9007199254740992\n", "lane.sample_bad", "SAMPLE late 0 9007199254740992"},
};

static void anything_else_is_refused_by_what_it_is(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        CLEANUP(arena_deinit) struct arena a = {0};
        struct raw_samples *samples;
        const char *got;
        const char *code = parse(&a, bad[i].text, strlen(bad[i].text), &samples, &got);
        assert_non_null(code);
        if (strcmp(code, bad[i].code) != 0)
            fail_msg("%s: %s, not %s", bad[i].text, code, bad[i].code);
        assert_string_equal(got, bad[i].got);
        assert_null(samples);
    }
}

/* 512 bytes with the newline are still a line, which then is none of ours. */
static void a_line_has_a_bound(void **state)
{
    for (size_t len = 511; len <= 512; len++) {
        CLEANUP(arena_deinit) struct arena a = {0};
        CLEANUP(buf_deinit) struct buf text = {0};
        struct raw_samples *samples;
        const char *got;
        for (size_t i = 0; i < len; i++)
            buf_puts(&text, "x");
        buf_puts(&text, "\n");
        assert_string_equal(parse(&a, buf_str(&text), text.len, &samples, &got),
                            len < 512 ? "lane.sample_bad" : "lane.line_too_long");
    }
    (void)state;
}

static void a_nul_is_no_end(void **state)
{
    static const char text[] = "SAMPLE late 0 1\0\n";
    CLEANUP(arena_deinit) struct arena a = {0};
    struct raw_samples *samples;
    const char *got;

    (void)state;
    assert_string_equal(parse(&a, text, sizeof text - 1, &samples, &got), "lane.sample_bad");
    assert_string_equal(got, "SAMPLE late 0 1?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_sample_stands_at_its_index),
        cmocka_unit_test(anything_else_is_refused_by_what_it_is),
        cmocka_unit_test(a_line_has_a_bound),
        cmocka_unit_test(a_nul_is_no_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
