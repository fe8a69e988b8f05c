/* What a report adds to the history of its figures: each that is defined, as the report says it. */
#include "../unit.h"

#include <math.h>

#include "base/mem.h"
#include "core/summary/history.h"
#include "sample.h"

static const struct history_figure *figure_of(const struct history *h, const char *workload,
                                              const char *value, const char *lane, const char *side)
{
    for (size_t i = 0; i < h->n_figures; i++) {
        const struct history_figure *f = &h->figures[i];
        if (!strcmp(f->workload, workload) && !strcmp(f->value, value) && !strcmp(f->lane, lane) &&
            !strcmp(f->side, side))
            return f;
    }
    return NULL;
}

static const struct history_ratio *ratio_of(const struct history *h, const char *workload,
                                            const char *subject, const char *reference,
                                            const char *side)
{
    for (size_t i = 0; i < h->n_ratios; i++) {
        const struct history_ratio *r = &h->ratios[i];
        if (!strcmp(r->workload, workload) && !strcmp(r->subject_lane, subject) &&
            !strcmp(r->reference_lane, reference) && !strcmp(r->subject_side, side))
            return r;
    }
    return NULL;
}

static void each_figure_is_that_of_its_row(void **state)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    const struct raw *raw = sample_raw(&a);
    const struct summary *s = summarise(&a, raw);
    const struct history *h = history_of(&a, raw, s);
    const struct history_figure *f = figure_of(h, "fib30", "", "c", "after");
    const struct row *row = summary_row(s, "fib30", "c", "after");

    (void)state;
    assert_int_equal(h->n_figures, s->n_rows);
    assert_non_null(f);
    assert_string_equal(f->of.attempt, raw->id);
    assert_int_equal(f->of.started_ms, raw->started_wall_ms);
    assert_string_equal(f->commit, SAMPLE_AFTER);
    assert_string_equal(figure_of(h, "fib30", "", "c", "before")->commit, SAMPLE_BEFORE);
    assert_string_equal(f->unit, "ns");
    assert_int_equal(f->measure, MEASURE_PROTOCOL);
    assert_int_equal(figure_of(h, "int32", "", "c", "after")->measure, MEASURE_PROCESS);
    assert_int_equal(f->operations, -1);
    assert_int_equal(f->n, 11);
    assert_true(f->median == row->wall.median_ns && f->mad == row->wall.mad_ns);
    assert_int_equal(f->low, row->wall.best_ns);
    assert_int_equal(f->high, row->wall.p95_ns);
    assert_true(f->cpu_median == row->cpu.median_ns);
    assert_false(f->control);
    assert_true(figure_of(h, "fib30", "", "cpython", "after")->control);
}

static void each_ratio_is_that_of_its_comparison(void **state)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    const struct raw *raw = sample_raw(&a);
    const struct summary *s = summarise(&a, raw);
    const struct history *h = history_of(&a, raw, s);
    const struct history_ratio *r = ratio_of(h, "fib30", "c", "c", "after");

    (void)state;
    assert_int_equal(h->n_ratios, s->n_comparisons);
    assert_non_null(r);
    assert_string_equal(r->verdict, "SLOWER");
    assert_string_equal(r->reference_side, "before");
    assert_string_equal(r->subject_commit, SAMPLE_AFTER);
    assert_string_equal(r->reference_commit, SAMPLE_BEFORE);
    assert_true(r->subject == summary_row(s, "fib30", "c", "after")->wall.median_ns);
    assert_true(r->reference == summary_row(s, "fib30", "c", "before")->wall.median_ns);
    assert_true(r->ratio_of_medians == r->subject / r->reference);
    assert_true(r->low <= r->ratio && r->ratio <= r->high && r->coverage > 0.95);
    assert_non_null(ratio_of(h, "fib30", "c", "cpython", "after"));
}

/* A contractual row of a diagnostic report is no contractual figure. */
static void no_grade_is_better_than_its_report(void **state)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct raw *raw = sample_raw(&a);
    struct summary *s = summarise(&a, raw);

    (void)state;
    s->rows[0].grade.value = GRADE_CONTRACTUAL;
    s->grade.value = GRADE_DIAGNOSTIC;
    assert_int_equal(history_of(&a, raw, s)->figures[0].grade, GRADE_DIAGNOSTIC);
    s->grade.value = GRADE_CONTRACTUAL;
    assert_int_equal(history_of(&a, raw, s)->figures[0].grade, GRADE_CONTRACTUAL);
    for (size_t i = 0; i < s->n_rows; i++)
        s->rows[i].grade.value = GRADE_CONTRACTUAL;
    assert_int_equal(history_of(&a, raw, s)->ratios[0].grade, GRADE_CONTRACTUAL);
    for (size_t i = 0; i < s->n_rows; i++)
        if (!strcmp(s->rows[i].side, "before"))
            s->rows[i].grade.value = GRADE_DIAGNOSTIC;
    const struct history_ratio *sides =
        ratio_of(history_of(&a, raw, s), "fib30", "c", "c", "after");
    const struct history_ratio *lanes =
        ratio_of(history_of(&a, raw, s), "fib30", "c", "cpython", "after");
    assert_int_equal(sides->grade, GRADE_DIAGNOSTIC);
    assert_int_equal(lanes->grade, GRADE_CONTRACTUAL);
}

static void a_void_attempt_adds_nothing(void **state)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct raw *raw = sample_raw(&a);

    (void)state;
    sample_void(raw);
    const struct history *h = history_of(&a, raw, summarise(&a, raw));
    assert_int_equal(h->n_figures, 0);
    assert_int_equal(h->n_ratios, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_figure_is_that_of_its_row),
        cmocka_unit_test(each_ratio_is_that_of_its_comparison),
        cmocka_unit_test(no_grade_is_better_than_its_report),
        cmocka_unit_test(a_void_attempt_adds_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
