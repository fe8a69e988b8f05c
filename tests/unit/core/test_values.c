/* Figures that are no times: what follows from them, that nothing is averaged unseen, and what a
 * report with them may not say. */
#include "raw_fixture.h"

#include "unit.h"

#include <math.h>

#include "base/mem.h"
#include "core/grade/check.h"
#include "core/summary/summarise.h"

static const char *names_v[] = {"allocations", "retains", NULL};
static const struct args names = {names_v, 2};

static struct raw *with_counters(struct arena *a)
{
    struct raw *raw = raw_fixture(a);
    raw_add_values(a, raw, MEASURE_COUNTERS);
    raw->workloads[raw->n_workloads - 1].counters = names;
    raw_replan(a, raw);
    return raw;
}

static const struct value_row *row_of(const struct summary *s, const char *lane, const char *side)
{
    const struct value_row *row = values_row(s->values, s->n_values, "heap", lane, side);
    assert_non_null(row);
    return row;
}

static const struct value_comparison *comparison_of(const struct summary *s, const char *name)
{
    for (size_t i = 0; i < s->n_value_comparisons; i++)
        if (s->value_comparisons[i].of_sides &&
            strcmp(s->value_comparisons[i].subject_lane, "c") == 0 &&
            strcmp(s->value_comparisons[i].name, name) == 0)
            return &s->value_comparisons[i];
    fail_msg("no comparison of %s", name);
    return NULL;
}

/* The value of one name in every repetition of a lane on a side. */
static void set_all(struct raw *raw, const char *lane, const char *side, size_t which,
                    int64_t value)
{
    for (int r = 0; r < raw->job.repetitions; r++)
        raw_find(raw, "heap", lane, side, r)->values[which].value = value;
}

static void exact_values_are_that_number_and_their_difference_is_exact(void **state)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct raw *raw = with_counters(&a);

    (void)state;
    set_all(raw, "c", "after", 0, 90);
    const struct summary *s = summarise(&a, raw);
    assert_int_equal(s->n_values, 4);
    const struct value_figures *v = values_find(row_of(s, "c", "after"), "allocations");
    assert_int_equal(v->n, 11);
    assert_true(v->exact && v->median == 90 && v->min == 90 && v->max == 90);
    assert_int_equal(v->total, 990);
    assert_string_equal(row_of(s, "c", "after")->unit, "count");
    const struct value_comparison *c = comparison_of(s, "allocations");
    assert_int_equal(c->verdict, VALUE_LESS);
    assert_int_equal(c->difference, -10);
    assert_true(c->ratio_of_medians == 0.9);
    assert_int_equal(comparison_of(s, "retains")->verdict, VALUE_EQUAL);
    assert_int_equal(comparison_of(s, "retains")->difference, 0);
}

static void a_value_that_changes_is_named_and_its_row_is_diagnostic(void **state)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct raw *raw = with_counters(&a);

    (void)state;
    raw_find(raw, "heap", "c", "after", 7)->values[1].value = 205;
    const struct summary *s = summarise(&a, raw);
    const struct value_row *row = row_of(s, "c", "after");
    const struct predicate_result *p = &row->grade.predicates[ROW_VALUES_EXACT];
    assert_int_equal(p->status, TRI_FAIL);
    assert_non_null(strstr(p->fact, "retains changes between repetitions, 200 to 205"));
    assert_int_equal(row->grade.value, GRADE_DIAGNOSTIC);
    assert_int_equal(row_of(s, "c", "before")->grade.value, GRADE_CONTRACTUAL);
    const struct value_comparison *c = comparison_of(s, "retains");
    assert_int_equal(c->verdict, VALUE_UNRESOLVED);
    assert_true(c->ratio_of_medians == 1);
    assert_int_equal(comparison_of(s, "allocations")->verdict, VALUE_EQUAL);
}

static void warmups_do_not_count(void **state)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct raw *raw = with_counters(&a);

    (void)state;
    for (size_t i = 0; i < raw->n_observations; i++)
        if (raw->observations[i].kind == OBS_WARMUP && raw->observations[i].n_values)
            raw->observations[i].values[0].value = 1;
    assert_true(values_find(row_of(summarise(&a, raw), "c", "after"), "allocations")->exact);
}

static void values_have_no_rows_comparisons_or_drift_of_times(void **state)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    const struct summary *s = summarise(&a, with_counters(&a));

    (void)state;
    for (size_t i = 0; i < s->n_rows; i++)
        assert_string_not_equal(s->rows[i].workload, "heap");
    for (size_t i = 0; i < s->n_comparisons; i++)
        assert_string_not_equal(s->comparisons[i].workload, "heap");
    for (size_t i = 0; i < s->n_controls; i++)
        assert_string_not_equal(s->controls[i].workload, "heap");
    assert_int_equal(summary_count_graded(s), s->n_rows + s->n_values);
    assert_string_equal(summary_graded(s, s->n_rows).workload, "heap");
    /* Of the row predicates those that speak of times are not judged. */
    const struct row_grade *g = summary_graded(s, s->n_rows).grade;
    assert_null(g->predicates[ROW_ABOVE_RESOLUTION].fact);
    assert_null(g->predicates[ROW_DISTURBANCE_REPLACED].fact);
    assert_null(s->rows[0].grade.predicates[ROW_VALUES_EXACT].fact);
}

static void a_report_of_values_alone_needs_no_silence_and_no_control(void **state)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct raw *raw = with_counters(&a);

    (void)state;
    raw->workloads = &raw->workloads[raw->n_workloads - 1];
    raw->n_workloads = 1;
    raw_replan(&a, raw);
    raw_expect(&a, raw, PRED_OBSERVER_SILENT, TRI_NOT_APPLICABLE, "no figure is a time");
    raw_expect(&a, raw, PRED_CONTROLS_WITHIN_DRIFT, TRI_NOT_APPLICABLE, "no figure is a time");
    raw_expect(&a, raw, PRED_PROTOCOL_EXACT, TRI_PASS, "each as planned");
}

/* They are values, but a busy host is in them, and nothing says whether it was busy. */
static void times_that_a_program_takes_itself_are_never_contractual(void **state)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct raw *raw = with_counters(&a);

    (void)state;
    raw->workloads = &raw->workloads[raw->n_workloads - 1];
    raw->n_workloads = 1;
    raw->workloads[0].measure = MEASURE_KERNEL;
    raw_replan(&a, raw);
    raw_expect(&a, raw, PRED_OBSERVER_SILENT, TRI_UNKNOWN, "nothing was timed");
    raw_expect(&a, raw, PRED_CONTROLS_WITHIN_DRIFT, TRI_UNKNOWN, "has no control lane");
    const struct row_grade *g = &row_of(summarise(&a, raw), "c", "after")->grade;
    assert_int_equal(g->predicates[ROW_DISTURBANCE_REPLACED].status, TRI_UNKNOWN);
    assert_int_equal(g->value, GRADE_DIAGNOSTIC);
}

static void a_value_of_zero_has_no_ratio_but_a_difference(void **state)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct raw *raw = with_counters(&a);

    (void)state;
    set_all(raw, "c", "before", 0, 0);
    const struct value_comparison *c = comparison_of(summarise(&a, raw), "allocations");
    assert_true(isnan(c->ratio_of_medians) && isnan(c->change_pct));
    assert_int_equal(c->verdict, VALUE_MORE);
    assert_int_equal(c->difference, 100);
}

static void without_observations_nothing_is_equal(void **state)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct raw *raw = with_counters(&a);

    (void)state;
    raw->n_observations = 0;
    const struct summary *s = summarise(&a, raw);
    const struct value_row *row = row_of(s, "c", "after");
    assert_string_equal(row->undefined, "no valid observation");
    assert_true(isnan(row->values[0].median));
    assert_int_equal(row->grade.predicates[ROW_VALUES_EXACT].status, TRI_UNKNOWN);
    assert_int_equal(comparison_of(s, "retains")->verdict, VALUE_INEXACT);
    assert_string_equal(comparison_of(s, "retains")->undefined, "a side has no value");
    assert_false(comparison_of(s, "retains")->has_estimate);
}

/* ---- sizes */

static void expect_fault(struct arena *a, const struct raw *raw, const char *words)
{
    const char *fault = check_observations(a, raw);
    if (!words && fault)
        fail_msg("%s", fault);
    if (words && (!fault || !strstr(fault, words)))
        fail_msg("%s, not %s", fault ? fault : "no fault", words);
}

/* The fixture with a workload "heap" of measure size instead: one file, 100 bytes, of c. */
static struct raw *with_sizes(struct arena *a, int64_t baseline)
{
    struct raw *raw = with_counters(a);
    struct raw_workload *w = &raw->workloads[raw->n_workloads - 1];
    struct lane_file *file = arena_alloc(a, sizeof *file);

    *file = (struct lane_file){"program", "{build}/fib30", baseline};
    *w = (struct raw_workload){
        .name = "heap", .measure = MEASURE_SIZE, .growth_pct = 10, .lanes = w->lanes, .n_lanes = 1};
    w->lanes[0].files = file;
    w->lanes[0].n_files = 1;
    raw_replan(a, raw);
    return raw;
}

static void a_size_is_taken_once_on_each_side(void **state)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct raw *raw = with_sizes(&a, -1);
    size_t n = 0;

    (void)state;
    for (size_t i = 0; i < raw->n_observations; i++)
        n += strcmp(raw->observations[i].workload, "heap") == 0;
    assert_int_equal(n, 2);
    assert_null(check_plan(&a, raw));
    expect_fault(&a, raw, NULL);
    const struct summary *s = summarise(&a, raw);
    const struct row_grade *g = &row_of(s, "c", "after")->grade;
    assert_int_equal(g->predicates[ROW_PAIRS_COMPLETE].status, TRI_PASS);
    assert_int_equal(g->predicates[ROW_GROWTH_WITHIN].status, TRI_NOT_APPLICABLE);
    assert_null(g->predicates[ROW_VALUES_EXACT].fact);
    assert_int_equal(g->value, GRADE_CONTRACTUAL);
    assert_int_equal(comparison_of(s, "program")->verdict, VALUE_EQUAL);
    raw_expect(&a, raw, PRED_PROTOCOL_EXACT, TRI_PASS, "each as planned");
    raw_expect(&a, raw, PRED_WARMUPS_EXCLUDED, TRI_PASS, "kept and not counted");
}

static void growth_is_held_against_its_baseline(void **state)
{
    static const struct {
        int64_t baseline;
        enum tri status;
    } cases[] = {{100, TRI_PASS}, {91, TRI_PASS}, {90, TRI_FAIL}, {1, TRI_FAIL}, {1000, TRI_PASS}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CLEANUP(arena_deinit) struct arena a = {0};
        const struct summary *s = summarise(&a, with_sizes(&a, cases[i].baseline));
        const struct row_grade *g = &row_of(s, "c", "after")->grade;
        assert_int_equal(g->predicates[ROW_GROWTH_WITHIN].status, cases[i].status);
        assert_int_equal(g->value,
                         cases[i].status == TRI_PASS ? GRADE_CONTRACTUAL : GRADE_DIAGNOSTIC);
    }
}

static void a_size_is_that_of_the_product_and_nothing_ran(void **state)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct raw *raw = with_sizes(&a, -1);
    struct raw_observation *o = raw_find(raw, "heap", "c", "after", 0), kept = *o;

    (void)state;
    raw->artifacts[1].bytes = 101;
    expect_fault(&a, raw, "another size than the product");
    raw->artifacts[1].bytes = 100;
    expect_fault(&a, raw, NULL);
    o->exit_status = 0;
    expect_fault(&a, raw, "although nothing was run");
    *o = kept;
    o->process_ns = 5;
    expect_fault(&a, raw, "although nothing was run");
}

/* ---- the report against itself */

static void an_observation_has_exactly_the_values_that_are_declared(void **state)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct raw *raw = with_counters(&a);
    struct raw_observation *o = raw_find(raw, "heap", "c", "after", 3);
    struct raw_observation kept = *o;
    struct raw_value one = o->values[0];

    (void)state;
    expect_fault(&a, raw, NULL);
    o->n_values = 1;
    expect_fault(&a, raw, "has not the values");
    *o = kept;
    o->values[0].name = "another";
    expect_fault(&a, raw, "has not the values");
    o->values[0] = one;
    o->values[0].value = -1;
    expect_fault(&a, raw, "has not the values");
    o->values[0] = one;
    o->elapsed_ns = o->process_ns;
    expect_fault(&a, raw, "although its figures are values");
    *o = kept;
    struct raw_observation *time = raw_find(raw, "fib30", "c", "after", 3);
    time->values = &one;
    time->n_values = 1;
    expect_fault(&a, raw, "has not the values");
}

static void no_ledger_judges_a_value(void **state)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct raw *raw = with_counters(&a);

    (void)state;
    for (size_t i = 0; i < raw->n_observations; i++)
        raw->observations[i].disturbed = -1;
    assert_null(check_ledgers(&a, raw));
    raw_find(raw, "heap", "c", "after", 3)->disturbed = 0;
    assert_non_null(check_ledgers(&a, raw));
}

static void a_value_verdict_has_one_spelling(void **state)
{
    (void)state;
    for (int v = VALUE_EQUAL; v <= VALUE_INEXACT; v++)
        assert_int_equal(value_verdict_parse(value_verdict_name((enum value_verdict)v)), v);
    assert_int_equal(value_verdict_parse("SAME"), -1);
}

/* ---- memory and CPU */

static void resident_bytes_follow_from_each_other(void **state)
{
    static const struct {
        bool baseline;
        int64_t values[4];
        bool good;
    } cases[] = {
        {true, {100, 300, 200, 300}, true},  {true, {100, 300, 200, 900}, true},
        {true, {300, 100, 0, 300}, true}, /* what shrank has no increment */
        {true, {100, 300, 201, 300}, false}, {true, {100, 300, 200, 299}, false},
        {true, {300, 100, 0, 299}, false},   {false, {100, 100}, true},
        {false, {100, 99}, false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct raw_workload w = {.measure = MEASURE_MEMORY, .baseline = cases[i].baseline};
        struct raw_value values[4];
        size_t n = values_count(&w, NULL);
        assert_int_equal(n, cases[i].baseline ? 4 : 2);
        for (size_t k = 0; k < n; k++)
            values[k] = (struct raw_value){values_name(&w, NULL, k), cases[i].values[k]};
        assert_string_equal(values[n - 1].name, "peak_rss");
        struct raw_observation o = {.values = values, .n_values = n};
        assert_int_equal(values_follow(&w, &o) == NULL, cases[i].good);
    }
}

static void what_is_not_known_of_memory_has_no_values(void **state)
{
    struct raw_value out[MEMORY_VALUES];
    size_t n;

    (void)state;
    values_of_memory(true, -1, 300, 300, out, &n);
    assert_int_equal(n, 0);
    values_of_memory(true, 100, 300, -1, out, &n);
    assert_int_equal(n, 0);
    values_of_memory(false, -1, -1, 300, out, &n);
    assert_int_equal(n, 0);
    values_of_memory(false, -1, 300, 200, out, &n);
    assert_int_equal(n, 2);
    assert_int_equal(out[1].value, 300); /* the peak is not below what was seen */
}

static void a_share_follows_from_its_window(void **state)
{
    struct raw_workload w = {.measure = MEASURE_CPU, .window_ms = 500};
    struct raw_value value = {"cpu_ppm", 20000};
    struct raw_observation o = {.go_ns = 1000,
                                .done_ns = 500001000,
                                .interval_cpu_ns = 10000000,
                                .values = &value,
                                .n_values = 1};

    (void)state;
    assert_null(values_follow(&w, &o));
    value.value++;
    assert_non_null(strstr(values_follow(&w, &o), "does not follow"));
    value.value--;
    o.done_ns--;
    assert_non_null(strstr(values_follow(&w, &o), "not watched"));
    assert_int_equal(values_share_ppm(3, 2), 1500000);
    assert_int_equal(values_share_ppm(0, 2), 0);
    assert_int_equal(values_share_ppm(-1, 2), -1);
    assert_int_equal(values_share_ppm(1, 0), -1);
    assert_int_equal(values_share_ppm(INT64_MAX, 1), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_values_are_that_number_and_their_difference_is_exact),
        cmocka_unit_test(a_value_that_changes_is_named_and_its_row_is_diagnostic),
        cmocka_unit_test(warmups_do_not_count),
        cmocka_unit_test(values_have_no_rows_comparisons_or_drift_of_times),
        cmocka_unit_test(a_report_of_values_alone_needs_no_silence_and_no_control),
        cmocka_unit_test(a_value_of_zero_has_no_ratio_but_a_difference),
        cmocka_unit_test(without_observations_nothing_is_equal),
        cmocka_unit_test(an_observation_has_exactly_the_values_that_are_declared),
        cmocka_unit_test(no_ledger_judges_a_value),
        cmocka_unit_test(a_size_is_taken_once_on_each_side),
        cmocka_unit_test(growth_is_held_against_its_baseline),
        cmocka_unit_test(a_size_is_that_of_the_product_and_nothing_ran),
        cmocka_unit_test(a_value_verdict_has_one_spelling),
        cmocka_unit_test(resident_bytes_follow_from_each_other),
        cmocka_unit_test(what_is_not_known_of_memory_has_no_values),
        cmocka_unit_test(a_share_follows_from_its_window),
        cmocka_unit_test(times_that_a_program_takes_itself_are_never_contractual),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
