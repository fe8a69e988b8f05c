/* Whatever a raw report holds: no NaN, no control character, no broken table. */
#include "../unit.h"

#include "../proto/random_raw.h"
#include "base/mem.h"
#include "report/page_session.h"
#include "report/report.h"

#define ROUNDS 100

static bool is_figure_word(const char *word, size_t len)
{
    static const char *const bad[] = {"nan",  "-nan",  "inf",   "-inf",  "+inf",  "+nan",  "nan%",
                                      "inf%", "+nan%", "+inf%", "-nan%", "-inf%", "(null)"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        if (strlen(bad[i]) == len && strncmp(bad[i], word, len) == 0)
            return true;
    return false;
}

static void expect_no_nan(const char *text)
{
    for (const char *p = text; *p;) {
        size_t len = strcspn(p, " \n|");
        if (len && is_figure_word(p, len))
            fail_msg("\"%.60s\" is printed", p);
        p += len + (p[len] != '\0');
    }
}

static void expect_no_control_characters(const char *text)
{
    for (const unsigned char *p = (const unsigned char *)text; *p; p++)
        if ((*p < 0x20 && *p != '\n') || *p == 0x7f)
            fail_msg("byte %02x is printed", *p);
    assert_null(strstr(text, "\xe2\x80\xae"));
}

static size_t count_bars(const char *line, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        if (line[i] == '\\')
            i++;
        else
            n += line[i] == '|';
    }
    return n;
}

/* All lines of one table have as many bars. */
static void expect_whole_tables(const char *text)
{
    size_t expected = 0;
    for (const char *p = text; *p;) {
        size_t len = strcspn(p, "\n");
        size_t bars = *p == '|' ? count_bars(p, len) : 0;
        if (bars && expected && bars != expected)
            fail_msg("%zu bars instead of %zu: %.*s", bars, expected, (int)len, p);
        expected = bars;
        p += len + (p[len] != '\0');
    }
}

static void check(struct arena *a, struct prng *p)
{
    CLEANUP(buf_deinit) struct buf text = {0};
    CLEANUP(buf_deinit) struct buf markdown = {0};
    const struct raw *raw = random_raw(a, p);
    const struct summary *s = summarise(a, raw);
    const struct report_style style = {.width = (int)prng_below(p, 200), .colour = false};
    report_text(&text, raw, s, &style);
    report_markdown(&markdown, raw, s);
    expect_no_nan(buf_str(&text));
    expect_no_nan(buf_str(&markdown));
    expect_no_control_characters(buf_str(&text));
    expect_no_control_characters(buf_str(&markdown));
    expect_whole_tables(buf_str(&markdown));
    assert_int_equal(text.data[text.len - 1], '\n');
}

static void random_reports_are_readable(void **state)
{
    struct prng p = prng_seeded("random reports");
    for (int i = 0; i < ROUNDS; i++) {
        struct arena a = {0};
        check(&a, &p);
        arena_deinit(&a);
    }
}

/* Two random reports on one page, with targets that name what the first one has. */
static void check_page(struct arena *a, struct prng *p)
{
    CLEANUP(buf_deinit) struct buf page = {0};
    struct page_report reports[2] = {{0}};
    struct target v[] = {
        {.kind = TARGET_RATIO, .workload = "w", .lane = "a", .reference = "b", .max = 1},
        {.kind = TARGET_SIZE, .file = "f", .bytes = 1}};
    const struct targets targets = {.v = v, .n = 2};
    struct page_input in = {
        .opened_wall_ms = -1, .reports = reports, .n_reports = 2, .targets = &targets};
    for (int i = 0; i < 2; i++) {
        reports[i].raw = random_raw(a, p);
        reports[i].s = summarise(a, reports[i].raw);
    }
    if (reports[0].raw->n_workloads && reports[0].raw->workloads[0].n_lanes) {
        v[0].workload = reports[0].raw->workloads[0].name;
        v[0].lane = reports[0].raw->workloads[0].lanes[0].name;
    }
    report_page(&page, &in);
    expect_no_nan(buf_str(&page));
    expect_no_control_characters(buf_str(&page));
    expect_whole_tables(buf_str(&page));
}

static void random_pages_are_readable(void **state)
{
    struct prng p = prng_seeded("random pages");
    for (int i = 0; i < ROUNDS; i++) {
        struct arena a = {0};
        check_page(&a, &p);
        arena_deinit(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_reports_are_readable),
                                       cmocka_unit_test(random_pages_are_readable)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
