/* A history in each of its forms, and plots by themselves: what stands where, what is joined with
 * what, and that nothing of one unit is shown as of another. */
#include "../unit.h"

#include <math.h>

#include "base/mem.h"
#include "report/history.h"
#include "report/plot.h"

#define DAY_MS INT64_C(86400000)
#define FIRST_MS INT64_C(1796083200000) /* 2026-12-01 */

static struct history_figure figure(int day, const char *suite, double median_ns)
{
    return (struct history_figure){.of = {.attempt = "01KB9XK3Q8Z4T1V7N5M2C0D6EF",
                                          .started_ms = FIRST_MS + day * DAY_MS,
                                          .job = "01KB9XK3Q8Z4T1V7N5M2C0D6EG",
                                          .label = "a <b>",
                                          .boot = "0f9b8c1e-boot",
                                          .host = "bench",
                                          .suite = "s",
                                          .suite_sha256 = suite},
                                   .workload = "w",
                                   .value = "",
                                   .lane = "c",
                                   .side = "after",
                                   .commit = "3f2a91c0de3f2a91c0de",
                                   .measure = MEASURE_OPERATION,
                                   .unit = "ns",
                                   .operations = -1,
                                   .n = 11,
                                   .median = median_ns,
                                   .mad = 1000,
                                   .low = (int64_t)median_ns - 5000,
                                   .high = (int64_t)median_ns + 5000,
                                   .cpu_median = NAN,
                                   .grade = GRADE_CONTRACTUAL};
}

static char *render(struct history_figure *figures, size_t n, enum history_format format)
{
    const struct history h = {.figures = figures, .n_figures = n};
    const struct history_view v = {.h = &h, .workload = "w"};
    const struct report_style style = {.width = 200};
    struct buf out = {0};

    history_render(&out, &v, format, &style);
    return buf_take(&out);
}

static size_t count(const char *text, const char *part)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
        n++;
    return n;
}

static void expect(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no \"%s\" in:\n%s", part, text);
}

static void expect_order(const char *text, const char *first, const char *second)
{
    expect(text, first);
    expect(text, second);
    assert_true(strstr(text, first) < strstr(text, second));
}

/* A workload that began to count operations: its times stand apart, each in its own unit. */
static void what_has_another_unit_has_another_section(void **state)
{
    struct history_figure f[] = {figure(0, "x", 5e6), figure(1, "x", 5e6), figure(2, "x", 5e6)};
    CLEANUP(mem_freep) char *text = NULL, *html = NULL;

    (void)state;
    f[1].operations = 1000;
    text = render(f, 3, HISTORY_TEXT);
    assert_int_equal(count(text, "FIGURES"), 2);
    expect(text, "w, time in ms");
    expect(text, "w, time of one operation");
    assert_int_equal(count(text, " 5.000000 us/op "), 1);
    assert_int_equal(count(text, " 5.000000 "), 3); /* of which two are ms */
    html = render(f, 3, HISTORY_HTML);
    assert_int_equal(count(html, "<svg"), 2);
    expect(html, "c after: 5.000000 ms at 2026-12-01T00:00Z");
    expect(html, "c after: 5000.000 ns of one operation at 2026-12-02T00:00Z");
    assert_null(strstr(html, "5000000"));
}

static void values_of_two_measures_are_not_mixed(void **state)
{
    struct history_figure f[] = {figure(0, "x", 3145728), figure(1, "x", 3145728)};
    CLEANUP(mem_freep) char *text = NULL;

    (void)state;
    f[0].value = f[1].value = "rss";
    f[0].measure = MEASURE_MEMORY;
    f[0].unit = "bytes";
    f[1].measure = MEASURE_COUNTERS;
    f[1].unit = "count";
    text = render(f, 2, HISTORY_TEXT);
    expect(text, "w, rss bytes");
    expect(text, "3.000 MiB");
    expect(text, "w, rss count");
    expect(text, "3,145,728");
}

static void families_are_numbered_by_when_they_began(void **state)
{
    struct history_figure f[] = {figure(2, "yyyyyyyyyyyyyyyyyy", 7e6),
                                 figure(0, "xxxxxxxxxxxxxxxxxx", 5e6)};
    CLEANUP(mem_freep) char *text = NULL;

    (void)state;
    f[1].of.label = NULL;
    text = render(f, 2, HISTORY_TEXT);
    expect_order(text, "2026-12-03T00:00Z", "2026-12-01T00:00Z");
    expect(text, "family 1: host bench, boot 0f9b8c1e, suite s xxxxxxxxxxxx\n");
    expect(text,
           "family 2: host bench, boot 0f9b8c1e, suite s yyyyyyyyyyyy, first measured as a <b>\n");
    expect(text, "figures of different families are not divided by each other");
}

static void what_is_left_out_is_said(void **state)
{
    struct history_figure f[] = {figure(0, "x", 5e6)};
    const struct history h = {.figures = f, .n_figures = 1}, none = {0};
    struct history_view v = {.h = &h, .workload = "w", .cut_rows = true};
    const struct report_style style = {.width = 100};
    struct buf out = {0};

    (void)state;
    history_render(&out, &v, HISTORY_TEXT, &style);
    expect(buf_str(&out), "raise --limit");
    assert_null(strstr(buf_str(&out), "not divided"));
    buf_clear(&out);
    v.cut_rows = false;
    v.cut_series = true;
    history_render(&out, &v, HISTORY_TEXT, &style);
    expect(buf_str(&out), "name one by --lane or --value");
    buf_clear(&out);
    v = (struct history_view){.h = &none};
    history_render(&out, &v, HISTORY_TEXT, &style);
    expect(buf_str(&out), "no figures yet");
    buf_deinit(&out);
}

static void texts_do_no_harm_anywhere(void **state)
{
    struct history_figure f[] = {figure(0, "x", 5e6), figure(1, "x", 5e6)};
    CLEANUP(mem_freep) char *csv = NULL, *html = NULL, *text = NULL, *json = NULL;

    (void)state;
    f[0].lane = "<script>&\"'";
    f[0].of.label = "=HYPERLINK(\"http://x\",\"y\")";
    f[1].lane = "c\x1b[31m";
    f[1].of.label = "@a,\nb";
    csv = render(f, 2, HISTORY_CSV);
    expect(csv, "\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\"");
    expect(csv, ",\"'@a,\nb\",");
    html = render(f, 2, HISTORY_HTML);
    assert_null(strstr(html, "<script"));
    expect(html, "&lt;script&gt;&amp;&quot;&#39;");
    assert_null(strchr(html, '\x1b'));
    text = render(f, 2, HISTORY_TEXT);
    assert_null(strchr(text, '\x1b'));
    json = render(f, 2, HISTORY_JSON);
    expect(json, "\"label\":\"=HYPERLINK(\\\"http://x\\\",\\\"y\\\")\"");
}

static void each_lane_has_a_plot_and_each_side_a_colour(void **state)
{
    struct history_figure f[] = {figure(0, "x", 5e6), figure(1, "x", 6e6), figure(0, "x", 1e9),
                                 figure(1, "x", 1e9)};
    CLEANUP(mem_freep) char *html = NULL;

    (void)state;
    f[1].side = "before";
    f[2].lane = f[3].lane = "cpython";
    f[2].control = f[3].control = true;
    f[3].grade = GRADE_DIAGNOSTIC;
    html = render(f, 4, HISTORY_HTML);
    assert_int_equal(count(html, "<svg"), 2);
    expect(html, "<h3>c</h3>");
    expect(html, "<h3>cpython (control)</h3>");
    assert_int_equal(count(html, "<circle class=\"hollow\""), 1);
    assert_int_equal(count(html, "<circle cx"), 3);
    assert_int_equal(count(html, "class=\"join\""), 1); /* cpython's two; c's are of two sides */
}

/* ---- plots */

static char *plot(const struct plot_point *points, size_t n, double line)
{
    static const char *series[] = {"one", "two"};
    const struct plot p = {.name = "n",
                           .unit = "ms",
                           .series = series,
                           .n_series = 2,
                           .points = points,
                           .n_points = n,
                           .line = line};
    struct buf out = {0};

    plot_svg(&out, &p);
    return buf_take(&out);
}

static struct plot_point point(int64_t ms, double y, size_t series, size_t family)
{
    return (struct plot_point){.ms = FIRST_MS + ms,
                               .y = y,
                               .low = NAN,
                               .high = NAN,
                               .series = series,
                               .family = family,
                               .solid = true,
                               .tip = "t"};
}

/* Two families in turn: each goes on where it was left. */
static void only_points_of_one_family_and_series_are_joined(void **state)
{
    const struct plot_point points[] = {
        point(0, 1, 0, 1),          point(1 * DAY_MS, 2, 0, 2), point(2 * DAY_MS, 1, 0, 1),
        point(3 * DAY_MS, 2, 0, 2), point(3 * DAY_MS, 5, 1, 1),
    };
    CLEANUP(mem_freep) char *svg = plot(points, 5, NAN);
    CLEANUP(mem_freep) char *apart = plot(points, 2, NAN);

    (void)state;
    assert_int_equal(count(svg, "class=\"join\""), 2);
    assert_int_equal(count(svg, "<circle"), 5);
    assert_int_equal(count(apart, "class=\"join\""), 0);
}

static void ticks_are_whole_days_or_times(void **state)
{
    const struct plot_point week[] = {point(3600000, 1, 0, 1), point(6 * DAY_MS, 2, 0, 1)};
    const struct plot_point hour[] = {point(0, 1, 0, 1), point(40 * 60000, 2, 0, 1)};
    const struct plot_point seconds[] = {point(0, 1, 0, 1), point(5000, 2, 0, 1)};
    const struct plot_point years[] = {point(0, 1, 0, 1), point(8000 * DAY_MS, 2, 0, 1)};
    CLEANUP(mem_freep) char *a = plot(week, 2, NAN), *b = plot(hour, 2, NAN);
    CLEANUP(mem_freep) char *c = plot(seconds, 2, NAN), *d = plot(years, 2, NAN);

    (void)state;
    for (int day = 2; day <= 7; day++) {
        CLEANUP(mem_freep) char *text = mem_printf(">2026-12-0%d<", day);
        assert_int_equal(count(a, text), 1);
    }
    expect(b, ">2026-12-01 00:15<");
    expect(b, ">2026-12-01 00:30<");
    for (int second = 0; second <= 5; second++) {
        CLEANUP(mem_freep) char *text = mem_printf(">2026-12-01 00:00:0%d<", second);
        assert_int_equal(count(c, text), 1);
    }
    assert_in_range(count(d, "text-anchor=\"middle\">20"), 3, 9);
}

/* One wild interval does not press the points together: it is cut. */
static void bars_are_held_within_the_plot(void **state)
{
    struct plot_point points[] = {point(0, 1.00, 0, 1), point(DAY_MS, 1.05, 0, 1)};
    double cy[2], y1, y2;

    (void)state;
    points[0].low = 0.9;
    points[0].high = 1e9;
    CLEANUP(mem_freep) char *svg = plot(points, 2, 1);
    const char *at = strstr(svg, "<title>t</title><line");
    assert_non_null(at);
    assert_int_equal(sscanf(strstr(at, "y1="), "y1=\"%lf\"", &y1), 1);
    assert_int_equal(sscanf(strstr(at, "y2="), "y2=\"%lf\"", &y2), 1);
    assert_int_equal(sscanf(strstr(at, "cy="), "cy=\"%lf\"", &cy[0]), 1);
    assert_int_equal(sscanf(strstr(strstr(at, "cy=") + 3, "cy="), "cy=\"%lf\"", &cy[1]), 1);
    assert_true(y2 < cy[1] && cy[1] < cy[0] && cy[0] < y1);
    assert_true(y2 >= 0 && y1 <= 280 && cy[0] - cy[1] > 40);
    assert_null(strstr(svg, "nan"));
    assert_null(strstr(svg, "inf"));
}

static void one_point_and_none_are_plots_too(void **state)
{
    const struct plot_point zero[] = {point(0, 0, 0, 1)};
    CLEANUP(mem_freep) char *one = plot(zero, 1, NAN);
    CLEANUP(mem_freep) char *none = plot(NULL, 0, NAN);

    (void)state;
    assert_int_equal(count(one, "<circle"), 1);
    assert_null(strstr(one, "nan"));
    assert_null(strstr(one, "inf"));
    assert_string_equal(none ? none : "", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_has_another_unit_has_another_section),
        cmocka_unit_test(values_of_two_measures_are_not_mixed),
        cmocka_unit_test(families_are_numbered_by_when_they_began),
        cmocka_unit_test(what_is_left_out_is_said),
        cmocka_unit_test(texts_do_no_harm_anywhere),
        cmocka_unit_test(each_lane_has_a_plot_and_each_side_a_colour),
        cmocka_unit_test(only_points_of_one_family_and_series_are_joined),
        cmocka_unit_test(ticks_are_whole_days_or_times),
        cmocka_unit_test(bars_are_held_within_the_plot),
        cmocka_unit_test(one_point_and_none_are_plots_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
