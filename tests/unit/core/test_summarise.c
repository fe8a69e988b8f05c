#include "unit.h"

#include "base/mem.h"
#include "core/summary/summarise.h"

#include "calibrations.h"
#include "prng.h"
#include "raw_fixture.h"

static struct arena arena;
static struct raw *raw;

static int set_up(void **state)
{
    (void)state;
    raw = raw_fixture(&arena);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_deinit(&arena);
    return 0;
}

static const struct row *row_of(const struct summary *s, const char *workload, const char *lane,
                                const char *side)
{
    for (size_t i = 0; i < s->n_rows; i++)
        if (strcmp(s->rows[i].workload, workload) == 0 && strcmp(s->rows[i].lane, lane) == 0 &&
            strcmp(s->rows[i].side, side) == 0)
            return &s->rows[i];
    fail_msg("no row %s %s %s", workload, lane, side);
    return NULL;
}

static void set_all(const char *workload, const char *lane, const char *side, int64_t elapsed_ns)
{
    for (int r = 0; r < 11; r++)
        raw_find(raw, workload, lane, side, r)->elapsed_ns = elapsed_ns;
}

static void operations_divide_the_figures_and_leave_ratios_as_they_are(void **state)
{
    (void)state;
    double ratio = summarise(&arena, raw)->comparisons[0].wall.paired_median_ratio;
    struct raw_workload *w = &raw->workloads[0];
    w->measure = MEASURE_OPERATION;
    w->operations = 8;
    const struct summary *s = summarise(&arena, raw);
    const struct row *r = row_of(s, "fib30", "c", "before");
    assert_same(r->wall.median_ns, 40200);
    assert_int_equal(r->per_operation.operations, 8);
    assert_same(r->per_operation.median_ns, 5025);
    assert_same(r->per_operation.mad_ns, 15);
    assert_same(r->per_operation.p95_ns, 5050);
    assert_same(r->per_operation.best_ns, 5000);
    assert_same(s->comparisons[0].wall.paired_median_ratio, ratio);
    assert_int_equal(row_of(s, "fanout", "c", "before")->per_operation.operations, 0);
    assert_int_equal(r->grade.predicates[ROW_PAIRS_COMPLETE].status, TRI_PASS);
    assert_int_equal(s->grade.predicates[PRED_PROTOCOL_EXACT].status, TRI_PASS);
}

static bool is_coarse(int64_t declared_ns, int64_t clock_ns)
{
    static const double ratios[] = {1};
    struct calibration *c =
        clock_ns > 0 ? calibration_of(&arena, raw->boot.id, ratios, 1, 1000, 1) : NULL;
    if (c)
        c->clock_step_ns = clock_ns;
    raw->calibration = c;
    raw->workloads[0].measure = MEASURE_OPERATION;
    raw->workloads[0].operations = 8;
    raw->workloads[0].resolution_ns = declared_ns;
    return row_of(summarise(&arena, raw), "fib30", "c", "before")->per_operation.coarse;
}

static void an_operation_is_coarse_where_a_step_of_the_timer_is_over_one_percent(void **state)
{
    (void)state;
    assert_false(is_coarse(0, 0)); /* nothing is known of the clock */
    assert_false(is_coarse(402, 0));
    assert_true(is_coarse(403, 0));
    assert_false(is_coarse(0, 402));
    assert_true(is_coarse(0, 403));
    assert_true(is_coarse(1, 403)); /* the coarser of both counts */
    assert_true(is_coarse(403, 1));
    assert_same(row_of(summarise(&arena, raw), "fib30", "c", "before")->per_operation.timer_step_ns,
                403);
}

static void a_row_has_the_figures_of_its_timed_observations(void **state)
{
    (void)state;
    const struct row *r = row_of(summarise(&arena, raw), "fib30", "c", "before");
    /* 40000 * (1000 + repetition) / 1000 */
    assert_int_equal(r->wall.n, 11);
    assert_same(r->wall.median_ns, 40200);
    assert_same(r->wall.mad_ns, 120);
    assert_int_equal(r->wall.p95_ns, 40400);
    assert_int_equal(r->wall.best_ns, 40000);
    assert_same(r->cpu.median_ns, 40200);
    assert_false(r->control);
    assert_null(r->undefined);
    assert_int_equal(r->grade.predicates[ROW_PAIRS_COMPLETE].status, TRI_PASS);
    assert_nan(r->excess_ns);
    assert_nan(r->startup_adjusted_ns);
    assert_int_equal(r->adjusted_n, 0);
}

static void every_lane_has_a_row_on_every_side(void **state)
{
    (void)state;
    const struct summary *s = summarise(&arena, raw);
    assert_int_equal(s->n_rows, 14);
    assert_true(row_of(s, "int32", "cpython", "after")->control);
    assert_false(row_of(s, "int32", "c-startup", "after")->control);
}

static void neither_a_warmup_nor_an_invalid_observation_counts(void **state)
{
    (void)state;
    for (size_t i = 0; i < raw->n_observations; i++)
        if (raw->observations[i].kind == OBS_WARMUP)
            raw->observations[i].elapsed_ns = 1;
    struct raw_observation *bad = raw_find(raw, "fib30", "c", "before", 0);
    bad->outcome = "lane.timeout";
    bad->elapsed_ns = 2;
    raw_find(raw, "fib30", "c", "before", 1)->elapsed_ns = -1;
    const struct row *r = row_of(summarise(&arena, raw), "fib30", "c", "before");
    assert_int_equal(r->wall.n, 9);
    assert_int_equal(r->wall.best_ns, 40080);
}

static void a_row_without_figures_says_why(void **state)
{
    (void)state;
    raw->workloads[0].lanes[1].absent = "python3 is not on this host";
    raw->workloads[1].lanes[1].excluded = true;
    for (int i = 0; i < 11; i++)
        raw_find(raw, "fib30", "c", "after", i)->outcome = "lane.timeout";
    const struct summary *s = summarise(&arena, raw);
    assert_string_equal(row_of(s, "fib30", "cpython", "after")->undefined,
                        "absent: python3 is not on this host");
    assert_string_equal(row_of(s, "fanout", "cpython", "after")->undefined, "left out by the job");
    const struct row *r = row_of(s, "fib30", "c", "after");
    assert_string_equal(r->undefined, "no valid observation");
    assert_nan(r->wall.median_ns);
    assert_nan(r->wall.mad_ns);
    assert_int_equal(r->wall.p95_ns, -1);
    assert_int_equal(r->wall.best_ns, -1);
    assert_int_equal(r->wall.n, 0);
    assert_null(row_of(s, "fib30", "c", "before")->undefined); /* the other rows stand */
}

static void unknown_cpu_time_is_no_sample_and_not_zero(void **state)
{
    (void)state;
    for (int i = 0; i < 11; i++)
        raw_find(raw, "fib30", "c", "after", i)->interval_cpu_ns = -1;
    const struct summary *s = summarise(&arena, raw);
    assert_int_equal(row_of(s, "fib30", "c", "after")->cpu.n, 0);
    assert_nan(row_of(s, "fib30", "c", "after")->cpu.median_ns);
}

static void startup_is_subtracted_and_the_valid_pairs_are_counted(void **state)
{
    (void)state;
    const struct row *r = row_of(summarise(&arena, raw), "int32", "c", "before");
    assert_same(r->startup_adjusted_ns, 40200 - 5025);
    assert_same(r->adjusted_all_ns, 40200 - 5025);
    assert_int_equal(r->adjusted_valid, 11);
    raw_find(raw, "int32", "c-startup", "before", 3)->elapsed_ns = 99999;
    raw_find(raw, "int32", "c-startup", "before", 4)->elapsed_ns = 99999;
    r = row_of(summarise(&arena, raw), "int32", "c", "before");
    assert_int_equal(r->adjusted_valid, 9);
    assert_int_equal(r->adjusted_n, 11);
    assert_true(r->adjusted_all_ns < r->startup_adjusted_ns);
}

static void a_row_has_its_excess_over_the_declared_wait(void **state)
{
    (void)state;
    assert_same(row_of(summarise(&arena, raw), "fanout", "c", "after")->excess_ns, 20100);
}

static void controls_drift_between_the_first_two_sides(void **state)
{
    (void)state;
    set_all("fib30", "cpython", "before", 100000);
    set_all("fib30", "cpython", "after", 104000);
    const struct summary *s = summarise(&arena, raw);
    assert_int_equal(s->n_controls, 3);
    assert_string_equal(s->controls[0].workload, "fib30");
    assert_string_equal(s->controls[0].lane, "cpython");
    assert_same(s->controls[0].before_ns, 100000);
    assert_same(s->controls[0].after_ns, 104000);
    assert_same(s->controls[0].drift_pct, 4);
    assert_int_equal(s->controls[0].within, TRI_PASS);
    set_all("fib30", "cpython", "after", 105000);
    assert_int_equal(summarise(&arena, raw)->controls[0].within, TRI_FAIL);
}

static void a_void_attempt_has_a_grade_and_no_figures(void **state)
{
    (void)state;
    raw->void_code = "lane.done_wrong";
    const struct summary *s = summarise(&arena, raw);
    assert_int_equal(s->n_rows, 0);
    assert_int_equal(s->n_comparisons, 0);
    assert_int_equal(s->n_controls, 0);
    assert_int_equal(s->grade.value, GRADE_VOID);
}

static void assert_alike(double x, double y)
{
    assert_true((isnan(x) && isnan(y)) || (x >= y && x <= y));
}

static void assert_same_estimate(const struct estimate *x, const struct estimate *y)
{
    assert_alike(x->ratio_of_medians, y->ratio_of_medians);
    assert_alike(x->paired_median_ratio, y->paired_median_ratio);
    assert_alike(x->interval.low, y->interval.low);
    assert_alike(x->interval.high, y->interval.high);
    assert_alike(x->resolvable, y->resolvable);
    assert_int_equal(x->pairs, y->pairs);
    assert_int_equal(x->verdict, y->verdict);
    assert_int_equal(x->medians_outside, y->medians_outside);
}

static void assert_same_summary(const struct summary *x, const struct summary *y)
{
    assert_int_equal(x->n_rows, y->n_rows);
    for (size_t i = 0; i < x->n_rows; i++) {
        assert_alike(x->rows[i].wall.median_ns, y->rows[i].wall.median_ns);
        assert_alike(x->rows[i].wall.mad_ns, y->rows[i].wall.mad_ns);
        assert_int_equal(x->rows[i].wall.p95_ns, y->rows[i].wall.p95_ns);
        assert_alike(x->rows[i].cpu.median_ns, y->rows[i].cpu.median_ns);
        assert_alike(x->rows[i].startup_adjusted_ns, y->rows[i].startup_adjusted_ns);
        assert_int_equal(x->rows[i].adjusted_valid, y->rows[i].adjusted_valid);
    }
    assert_int_equal(x->n_comparisons, y->n_comparisons);
    for (size_t i = 0; i < x->n_comparisons; i++) {
        assert_same_estimate(&x->comparisons[i].wall, &y->comparisons[i].wall);
        assert_same_estimate(&x->comparisons[i].cpu, &y->comparisons[i].cpu);
        assert_alike(x->comparisons[i].excess_ratio, y->comparisons[i].excess_ratio);
    }
    assert_int_equal(x->n_controls, y->n_controls);
    for (size_t i = 0; i < x->n_controls; i++)
        assert_alike(x->controls[i].drift_pct, y->controls[i].drift_pct);
    assert_string_equal(x->grade.line, y->grade.line);
}

static void shuffled_observations_give_the_same_summary(void **state)
{
    (void)state;
    struct prng p = prng_seeded("summarise");
    for (size_t i = 0; i < raw->n_observations; i++) {
        struct raw_observation *o = &raw->observations[i];
        o->elapsed_ns = 10000 + (int64_t)prng_below(&p, 5000);
        o->interval_cpu_ns = 9000 + (int64_t)prng_below(&p, 5000);
        if (prng_below(&p, 20) == 0)
            o->outcome = "lane.timeout";
    }
    const struct summary *straight = summarise(&arena, raw);
    for (int round = 0; round < 20; round++) {
        for (size_t i = raw->n_observations; i > 1; i--) {
            size_t j = prng_below(&p, i);
            struct raw_observation t = raw->observations[i - 1];
            raw->observations[i - 1] = raw->observations[j];
            raw->observations[j] = t;
        }
        assert_same_summary(straight, summarise(&arena, raw));
    }
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(operations_divide_the_figures_and_leave_ratios_as_they_are),
        T(an_operation_is_coarse_where_a_step_of_the_timer_is_over_one_percent),
        T(a_row_has_the_figures_of_its_timed_observations),
        T(every_lane_has_a_row_on_every_side),
        T(neither_a_warmup_nor_an_invalid_observation_counts),
        T(a_row_without_figures_says_why),
        T(unknown_cpu_time_is_no_sample_and_not_zero),
        T(startup_is_subtracted_and_the_valid_pairs_are_counted),
        T(a_row_has_its_excess_over_the_declared_wait),
        T(controls_drift_between_the_first_two_sides),
        T(a_void_attempt_has_a_grade_and_no_figures),
        T(shuffled_observations_give_the_same_summary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
