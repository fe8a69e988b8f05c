/* What a reader is told of values that are not exact: ratio and interval as of times, why there is
 * none, and that nothing of it is said where all are exact. */
#include "../unit.h"

#include "../core/raw_fixture.h"
#include "base/mem.h"
#include "report/history.h"
#include "report/page_session.h"
#include "report/report.h"

static struct arena arena;
static struct raw *raw;

static int set_up(void **state)
{
    (void)state;
    raw = raw_fixture(&arena);
    raw_add_values(&arena, raw, MEASURE_MEMORY); /* ready_rss and peak_rss */
    raw_replan(&arena, raw);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_deinit(&arena);
    return 0;
}

/* c holds half as much after, and a little more with each repetition. */
static void set_ready(void)
{
    for (int r = 0; r < raw->job.repetitions; r++) {
        raw_find(raw, "heap", "c", "before", r)->values[0].value = (2 << 20) + r * 2048;
        raw_find(raw, "heap", "c", "after", r)->values[0].value = (1 << 20) + r * 1024;
    }
}

static struct summary *contractual(void)
{
    struct summary *s = summarise(&arena, raw);
    s->grade.value = GRADE_CONTRACTUAL;
    return s;
}

static char *text_of(const struct summary *s)
{
    const struct report_style style = {.width = 500 /* no sentence is wrapped */};
    struct buf out = {0};
    report_text(&out, raw, s, &style);
    return buf_take(&out);
}

static char *page_of(const struct summary *s)
{
    const struct page_report report = {.raw = raw, .s = s};
    const struct page_input in = {.opened_wall_ms = -1, .reports = &report, .n_reports = 1};
    struct buf out = {0};
    report_page(&out, &in);
    return buf_take(&out);
}

static void expect(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" does not stand in\n%s", part, text);
}

static void expect_without(const char *text, const char *part)
{
    if (strstr(text, part))
        fail_msg("\"%s\" stands in\n%s", part, text);
}

static void ratio_and_interval_stand_beside_the_verdict(void **state)
{
    (void)state;
    set_ready();
    CLEANUP(mem_freep) char *text = text_of(summarise(&arena, raw));
    expect(text, "; 1 EQUAL, 1 LESS, in 2 comparisons of values");
    expect(text, "Where a side is not exact, ratio is the median of after / before over the "
                 "repetitions, and its interval decides: MORE and LESS lie beyond the margin of "
                 "1.00%, UNRESOLVED does not.");
    expect(text,
           "  not exact  -50.0000%  LESS     0.500000  0.500000 to 0.500000    98.83%     11  "
           "   1.00%\n");
    expect(text, "EQUAL    1.000000  exact");
    expect(text, "\n  - 1 comparison of values rests on an interval; by chance 0.01 of them");
    expect_without(text, "ratios of medians");
}

static void exact_values_are_told_as_ever(void **state)
{
    (void)state;
    CLEANUP(mem_freep) char *text = text_of(summarise(&arena, raw));
    expect(text, "differences are exact, changes and ratios of medians");
    expect(text, "EQUAL");
    expect_without(text, "Where a side is not exact");
    expect_without(text, "of values rest");
}

static void what_has_no_interval_says_why(void **state)
{
    (void)state;
    set_ready();
    raw_find(raw, "heap", "c", "after", 0)->values[0].value = 0;
    CLEANUP(mem_freep) char *text = text_of(summarise(&arena, raw));
    expect(text, "INEXACT  undefined  none");
    expect(text, "- 1 comparison has no interval: a value of 0 has no ratio");
    expect_without(text, "of values rest");
}

static void a_margin_that_a_control_widens_is_told(void **state)
{
    (void)state;
    raw->job.order = ORDER_SEQUENTIAL;
    raw_replan(&arena, raw);
    set_ready();
    for (int r = 0; r < raw->job.repetitions; r++)
        raw_find(raw, "fib30", "cpython", "after", r)->elapsed_ns += 4000; /* 5 % */
    CLEANUP(mem_freep) char *text = text_of(summarise(&arena, raw));
    expect(text,
           "over every two repetitions, one of each side, as the sides ran one after the "
           "other, and its interval decides: MORE and LESS lie beyond the margin of 5.29%, as "
           "far as a control may have drifted (the policy's own is 1.00%), UNRESOLVED does");
}

static void a_row_that_is_diagnostic_marks_its_verdict_in_a_contractual_report(void **state)
{
    (void)state;
    set_ready();
    struct summary *s = contractual();
    for (size_t i = 0; i < s->n_values; i++)
        s->values[i].grade.value = GRADE_CONTRACTUAL;
    CLEANUP(mem_freep) char *good = text_of(s);
    expect(good, "LESS     0.5");
    expect_without(good, "LESS (diagnostic)");
    s->values[0].grade.value = GRADE_DIAGNOSTIC;
    CLEANUP(mem_freep) char *marked = text_of(s);
    expect(marked, "LESS (diagnostic)");
    expect_without(marked, "EQUAL (diagnostic)");
}

static void a_page_tells_the_same_and_counts_values_apart_from_times(void **state)
{
    (void)state;
    set_ready();
    raw_find(raw, "heap", "c", "after", 1)->values[0].value = 4 << 20;
    raw_find(raw, "heap", "c", "after", 2)->values[0].value = 4 << 20;
    CLEANUP(mem_freep) char *page = page_of(summarise(&arena, raw));
    expect(page, "1 EQUAL, 1 UNRESOLVED of values |");
    expect(page,
           "| not exact | -49.9028% | UNRESOLVED | 0.500000 | 0.500000 to 1.996101 | 98.83% |");
    expect(page, "- 1 comparison of values rests on an interval; by chance 0.01 of them");
}

/* ---- through many reports */

/* The changes of a value of c, as they are followed. */
static char *followed(const char *value)
{
    const struct history *h = history_of(&arena, raw, summarise(&arena, raw));
    struct history found = {.ratios = arena_array(&arena, h->n_ratios, sizeof *found.ratios)};
    const struct history_view view = {.h = &found, .workload = "heap", .changes = true};
    const struct report_style style = {.width = 500};
    struct buf out = {0};
    for (size_t i = 0; i < h->n_ratios; i++)
        if (strcmp(h->ratios[i].value, value) == 0 && strcmp(h->ratios[i].subject_lane, "c") == 0 &&
            strcmp(h->ratios[i].reference_lane, "c") == 0) {
            struct history_ratio *r = &found.ratios[found.n_ratios++];
            *r = h->ratios[i];
            r->of.job = r->of.boot = r->of.host = r->of.suite = r->of.suite_sha256 = "x";
        }
    assert_int_equal(found.n_ratios, 1);
    history_render(&out, &view, HISTORY_TEXT, &style);
    return buf_take(&out);
}

static void a_history_has_the_interval_of_what_varies_and_only_of_that(void **state)
{
    (void)state;
    set_ready();
    CLEANUP(mem_freep) char *ready = followed("ready_rss");
    expect(ready, "paired ratio");
    expect(ready, "0.500000  0.500000 to 0.500000  LESS");
    CLEANUP(mem_freep) char *peak = followed("peak_rss");
    expect_without(peak, "paired ratio");
    expect(peak, "1.000000  EQUAL");
    raw_find(raw, "heap", "c", "after", 0)->values[0].value = 0;
    CLEANUP(mem_freep) char *zero = followed("ready_rss");
    expect(zero, "INEXACT");
    expect_without(zero, "paired ratio");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(ratio_and_interval_stand_beside_the_verdict),
        TEST(exact_values_are_told_as_ever),
        TEST(what_has_no_interval_says_why),
        TEST(a_margin_that_a_control_widens_is_told),
        TEST(a_row_that_is_diagnostic_marks_its_verdict_in_a_contractual_report),
        TEST(a_history_has_the_interval_of_what_varies_and_only_of_that),
        TEST(a_page_tells_the_same_and_counts_values_apart_from_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
