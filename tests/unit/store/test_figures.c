/* Figures of reports: each report adds its own, series are read from the latest on. */
#include "tests/unit/store/unit.h"

#include <errno.h>
#include <math.h>

#include "store/figures.h"

#define EVER .since_ms = 0, .until_ms = INT64_MAX, .limit = 10

static struct history_figure figure(struct unit *u, int report, const char *lane, const char *side)
{
    return (struct history_figure){
        .of = {.attempt = unit_id(u, report), .started_ms = 1000 * report},
        .workload = "fib30",
        .value = "",
        .lane = lane,
        .side = side,
        .commit = "3f2a91c0de",
        .measure = MEASURE_OPERATION,
        .unit = "ns",
        .operations = 512,
        .n = 11,
        .median = 1e6 + report,
        .mad = 12.5,
        .low = 999000,
        .high = 1200000,
        .cpu_median = NAN,
        .grade = report % 2 ? GRADE_CONTRACTUAL : GRADE_DIAGNOSTIC};
}

static struct history_ratio ratio(struct unit *u, int report, const char *against)
{
    return (struct history_ratio){
        .of = {.attempt = unit_id(u, report), .started_ms = 1000 * report},
        .workload = "fib30",
        .value = "",
        .subject_lane = "c",
        .reference_lane = against,
        .subject_side = "after",
        .reference_side = strcmp(against, "c") ? "after" : "before",
        .reference_commit = "9ac01de29a",
        .measure = MEASURE_PROTOCOL,
        .unit = "ns",
        .operations = -1,
        .subject = 2,
        .reference = 1,
        .ratio_of_medians = 2,
        .ratio = 2.125,
        .low = 2.0,
        .high = NAN,
        .coverage = NAN,
        .verdict = "SLOWER",
        .grade = GRADE_CONTRACTUAL};
}

/* The attempt of this number, with a report that has these. */
static void put_report(struct unit *u, int number, const struct history *h)
{
    const struct store_report report = {.attempt = unit_id(u, number),
                                        .grade = GRADE_DIAGNOSTIC,
                                        .grade_line = "diagnostic",
                                        .evidence = "e",
                                        .raw_sha256 = "r",
                                        .summary_sha256 = "s",
                                        .created_ms = 1,
                                        .history = h};
    struct store_new_job job = unit_new_job(u, number - 100);
    job.label = number == 101 ? "first" : NULL;
    job.suite_sha256 = number == 103 ? NULL : UNIT_SUITE;
    ok(u, store_job_submit(u->s, &job, NULL, &u->e));
    unit_claim(u, number, 10);
    ok(u, store_report_put(u->s, &report, &u->e));
}

/* Three reports: both sides of c and one of cpython in each; c against both of them. */
static void put_three(struct unit *u)
{
    unit_boot(u);
    for (int n = 101; n <= 103; n++) {
        struct history_figure figures[] = {figure(u, n, "c", "before"), figure(u, n, "c", "after"),
                                           figure(u, n, "cpython", "after")};
        struct history_ratio ratios[] = {ratio(u, n, "c"), ratio(u, n, "cpython")};
        const struct history h = {.figures = figures,
                                  .n_figures = ARRAY_LEN(figures),
                                  .ratios = ratios,
                                  .n_ratios = ARRAY_LEN(ratios)};
        put_report(u, n, &h);
    }
    unit_reopen(u);
}

static size_t list(struct unit *u, const struct store_series *of, struct history_figure **rows)
{
    int may_read = 100;
    bool more;
    size_t n = 0;
    ok(u, store_figure_list(u->s, of, &may_read, &u->arena, rows, &n, &more, &u->e));
    assert_int_equal(more, n == (size_t)of->limit);
    return n;
}

static size_t list_ratios(struct unit *u, const struct store_series *of,
                          struct history_ratio **rows)
{
    int may_read = 100;
    bool more;
    size_t n = 0;
    ok(u, store_ratio_list(u->s, of, &may_read, &u->arena, rows, &n, &more, &u->e));
    assert_false(more);
    return n;
}

static void what_a_report_added_is_read_back(void **ctx)
{
    struct unit *u = *ctx;
    struct history_figure *f;
    put_three(u);
    const struct store_series of = {.workload = "fib30", .value = "", .lane = "c", EVER};
    assert_int_equal(list(u, &of, &f), 6);
    assert_string_equal(f[0].of.attempt, unit_id(u, 103));
    assert_int_equal(f[0].of.started_ms, 103000);
    assert_string_equal(f[0].of.job, unit_id(u, 3));
    assert_string_equal(f[0].of.boot, UNIT_BOOT);
    assert_string_equal(f[0].of.host, "bench");
    assert_null(f[0].of.suite);
    assert_null(f[0].of.label);
    assert_string_equal(f[0].side, "after");
    assert_string_equal(f[1].side, "before");
    assert_string_equal(f[5].of.attempt, unit_id(u, 101));
    assert_string_equal(f[5].of.label, "first");
    assert_string_equal(f[5].of.suite, "release-performance");
    assert_string_equal(f[5].of.suite_sha256, UNIT_SUITE);
    assert_string_equal(f[5].commit, "3f2a91c0de");
    assert_int_equal(f[5].measure, MEASURE_OPERATION);
    assert_int_equal(f[5].operations, 512);
    assert_int_equal(f[5].n, 11);
    assert_true(f[5].median == 1000101 && f[5].mad == 12.5 && isnan(f[5].cpu_median));
    assert_int_equal(f[5].low, 999000);
    assert_int_equal(f[5].high, 1200000);
    assert_int_equal(f[5].grade, GRADE_CONTRACTUAL);
    assert_int_equal(f[3].grade, GRADE_DIAGNOSTIC);
}

static void only_what_is_asked_for_comes(void **ctx)
{
    struct unit *u = *ctx;
    struct history_figure *f;
    put_three(u);
    struct store_series of = {.workload = "fib30", .value = "", .lane = "c", EVER};
    of.side = "before";
    assert_int_equal(list(u, &of, &f), 3);
    assert_string_equal(f[0].side, "before");
    of.contractual = true;
    assert_int_equal(list(u, &of, &f), 2);
    of.suite = "release-performance";
    assert_int_equal(list(u, &of, &f), 1);
    assert_string_equal(f[0].of.attempt, unit_id(u, 101));
    of = (struct store_series){.workload = "fib30", .value = "", .lane = "c", EVER};
    of.limit = 1;
    assert_int_equal(list(u, &of, &f), 1);
    of.limit = 10;
    of.since_ms = 102000; /* from then on */
    of.until_ms = 103000; /* and before then */
    assert_int_equal(list(u, &of, &f), 2);
    assert_string_equal(f[0].of.attempt, unit_id(u, 102));
    of.value = "allocations";
    assert_int_equal(list(u, &of, &f), 0);
}

static void ratios_are_of_one_lane_against_another(void **ctx)
{
    struct unit *u = *ctx;
    struct history_ratio *r;
    put_three(u);
    struct store_series of = {
        .workload = "fib30", .value = "", .lane = "c", .against = "cpython", EVER};
    assert_int_equal(list_ratios(u, &of, &r), 3);
    assert_string_equal(r[0].of.attempt, unit_id(u, 103));
    assert_string_equal(r[0].reference_side, "after");
    assert_null(r[0].subject_commit);
    assert_string_equal(r[0].reference_commit, "9ac01de29a");
    assert_int_equal(r[0].operations, -1);
    assert_true(r[0].ratio == 2.125 && r[0].low == 2 && isnan(r[0].high));
    assert_string_equal(r[0].verdict, "SLOWER");
    of.against = "c";
    of.side = "before"; /* the subject's */
    assert_int_equal(list_ratios(u, &of, &r), 0);
    of.side = "after";
    assert_int_equal(list_ratios(u, &of, &r), 3);
    assert_string_equal(r[0].reference_side, "before");
}

/* Also what is not wanted counts: a series may be long. */
static void no_more_is_read_than_may_be(void **ctx)
{
    struct unit *u = *ctx;
    const struct store_series of = {
        .workload = "fib30", .value = "", .lane = "c", .side = "before", EVER};
    struct history_figure *f;
    int may_read = 3;
    bool more;
    size_t n;
    put_three(u);
    ok(u, store_figure_list(u->s, &of, &may_read, &u->arena, &f, &n, &more, &u->e));
    assert_int_equal(n, 1);
    assert_int_equal(may_read, 0);
    assert_true(more);
    may_read = 7;
    ok(u, store_figure_list(u->s, &of, &may_read, &u->arena, &f, &n, &more, &u->e));
    assert_int_equal(n, 3);
    assert_int_equal(may_read, 1);
    assert_false(more);
}

static size_t names(struct unit *u, const char *workload, const char *value, const char *lane,
                    int limit, struct history_name **out, bool *more)
{
    const struct store_series of = {
        .workload = workload, .value = value, .lane = lane, .limit = limit};
    size_t n = 0;
    ok(u, store_series_list(u->s, &of, &u->arena, out, &n, more, &u->e));
    return n;
}

static void series_are_listed_by_skipping(void **ctx)
{
    struct unit *u = *ctx;
    struct history_name *n;
    bool more;
    put_three(u);
    assert_int_equal(names(u, NULL, NULL, NULL, 10, &n, &more), 2);
    assert_false(more);
    assert_string_equal(n[0].lane, "c");
    assert_int_equal(n[0].first_ms, 101000);
    assert_int_equal(n[0].latest_ms, 103000);
    assert_int_equal(n[0].measure, MEASURE_OPERATION);
    assert_string_equal(n[0].unit, "ns");
    assert_int_equal(n[0].n_against, 2);
    assert_false(n[0].more_against);
    assert_string_equal(n[0].against[0], "c");
    assert_string_equal(n[0].against[1], "cpython");
    assert_string_equal(n[1].lane, "cpython");
    assert_int_equal(n[1].n_against, 0);
    assert_int_equal(names(u, "fib30", NULL, NULL, 1, &n, &more), 1);
    assert_true(more);
    assert_int_equal(names(u, "fib3", NULL, NULL, 10, &n, &more), 0);
    assert_false(more);
}

/* What is not asked for does not count to the limit. */
static void series_are_chosen_by_value_and_lane(void **ctx)
{
    struct unit *u = *ctx;
    struct history_name *n;
    bool more;
    put_three(u);
    assert_int_equal(names(u, "fib30", NULL, "cpython", 1, &n, &more), 1);
    assert_string_equal(n[0].lane, "cpython");
    assert_int_equal(names(u, "fib30", HISTORY_TIME, "c", 1, &n, &more), 1);
    assert_string_equal(n[0].value, "");
    assert_int_equal(names(u, "fib30", "", NULL, 10, &n, &more), 2);
    assert_int_equal(names(u, "fib30", "allocations", NULL, 10, &n, &more), 0);
    assert_int_equal(names(u, "fib30", NULL, "rust", 10, &n, &more), 0);
}

/* A lane that is compared with very many: some are named, and that there are more. */
static void lanes_that_are_compared_have_a_bound(void **ctx)
{
    struct unit *u = *ctx;
    struct history_figure f = figure(u, 101, "c", "after");
    struct history_ratio ratios[33];
    struct history h = {.figures = &f, .n_figures = 1, .ratios = ratios, .n_ratios = 32};
    struct history_name *n;
    bool more;
    unit_boot(u);
    for (int i = 0; i < 33; i++)
        ratios[i] = ratio(u, 101, arena_printf(&u->arena, "lane%02d", i));
    put_report(u, 101, &h);
    assert_int_equal(names(u, "fib30", NULL, NULL, 10, &n, &more), 1);
    assert_int_equal(n[0].n_against, 32);
    for (int i = 0; i < 33; i++)
        ratios[i].of.attempt = unit_id(u, 102);
    f.of.attempt = unit_id(u, 102);
    h.n_ratios = 33;
    put_report(u, 102, &h);
    assert_int_equal(names(u, "fib30", NULL, NULL, 10, &n, &more), 1);
    assert_int_equal(n[0].n_against, 32);
    assert_true(n[0].more_against);
    assert_string_equal(n[0].against[31], "lane31");
}

static void pages_have_bounds(void **ctx)
{
    struct unit *u = *ctx;
    struct store_series of = {.workload = "w", .value = "", .lane = "l", .against = "l", EVER};
    struct history_name *found;
    struct history_figure *f;
    struct history_ratio *r;
    int may_read = 1;
    bool more;
    size_t n;
    of.limit = 0;
    refused(u, store_figure_list(u->s, &of, &may_read, &u->arena, &f, &n, &more, &u->e), -EINVAL,
            "store.bad_limit");
    refused(u, store_series_list(u->s, &of, &u->arena, &found, &n, &more, &u->e), -EINVAL,
            "store.bad_limit");
    of.limit = STORE_SERIES_MAX + 1;
    refused(u, store_ratio_list(u->s, &of, &may_read, &u->arena, &r, &n, &more, &u->e), -EINVAL,
            "store.bad_limit");
}

/* Neither without the other. */
static void a_report_and_its_figures_are_one(void **ctx)
{
    struct unit *u = *ctx;
    struct history_figure figures[] = {figure(u, 101, "c", "before"), figure(u, 101, "c", "after")};
    const struct history h = {.figures = figures, .n_figures = 2};
    const struct store_report report = {.attempt = unit_attempt(u),
                                        .grade = GRADE_DIAGNOSTIC,
                                        .grade_line = "diagnostic",
                                        .evidence = "e",
                                        .raw_sha256 = "r",
                                        .history = &h};
    figures[0].of.attempt = figures[1].of.attempt = report.attempt;
    figures[1].unit = NULL;
    refused(u, store_report_put(u->s, &report, &u->e), -EINVAL, "store.constraint");
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM figures"), 0);
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM reports"), 0);
    figures[1].unit = "ns";
    ok(u, store_report_put(u->s, &report, &u->e));
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM figures"), 2);
}

#define T(name) cmocka_unit_test_setup_teardown(name, unit_setup, unit_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(what_a_report_added_is_read_back),       T(only_what_is_asked_for_comes),
        T(ratios_are_of_one_lane_against_another), T(no_more_is_read_than_may_be),
        T(series_are_listed_by_skipping),          T(series_are_chosen_by_value_and_lane),
        T(lanes_that_are_compared_have_a_bound),   T(pages_have_bounds),
        T(a_report_and_its_figures_are_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
