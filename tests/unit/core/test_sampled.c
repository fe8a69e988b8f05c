/* Samples: figures over all repetitions that count, the bound of their p99, and what a report with
 * them may not say. */
#include "raw_fixture.h"

#include "unit.h"

#include <math.h>

#include "base/mem.h"
#include "core/grade/check.h"
#include "core/summary/summarise.h"

static struct sample_series series[] = {
    {.name = "late", .unit = SAMPLE_NS, .min = 10, .max = 10, .p99_max = 1000},
};

/* The fixture, whose fanout prints ten samples in each observation: 0, 10, ... 90, and the
 * repetition on top. */
static struct raw *with_samples(struct arena *a)
{
    struct raw *raw = raw_fixture(a);
    raw->workloads[1].ack = true;
    raw->workloads[1].samples = series;
    raw->workloads[1].n_samples = 1;
    for (size_t i = 0; i < raw->n_observations; i++) {
        struct raw_observation *o = &raw->observations[i];
        if (strcmp(o->workload, raw->workloads[1].name) != 0)
            continue;
        o->n_samples = 1;
        o->samples = arena_array(a, 1, sizeof *o->samples);
        o->samples[0] =
            (struct raw_samples){.name = "late", .n = 10, .v = arena_array(a, 10, sizeof(int64_t))};
        for (int64_t k = 0; k < 10; k++)
            o->samples[0].v[k] = 10 * k + o->repetition;
    }
    return raw;
}

static const struct row *row_of(const struct summary *s, const char *lane, const char *side)
{
    for (size_t i = 0; i < s->n_rows; i++)
        if (strcmp(s->rows[i].workload, "fanout") == 0 && strcmp(s->rows[i].lane, lane) == 0 &&
            strcmp(s->rows[i].side, side) == 0)
            return &s->rows[i];
    fail_msg("no row of %s on %s", lane, side);
    return NULL;
}

static void figures_are_of_all_samples_together(void **state)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    const struct summary *s = summarise(&a, with_samples(&a));
    const struct row *row = row_of(s, "c", "after");
    const struct sample_figures *f = sampled_find(row->samples, row->n_samples, "late");

    (void)state;
    assert_non_null(f);
    assert_null(sampled_find(row->samples, row->n_samples, "other"));
    assert_int_equal(f->n, 110); /* no warmup is in it */
    assert_true(f->median == 50);
    assert_int_equal(f->p99, 99); /* rank ceil(0.99 * 110) = 109 of 110: 100 is the largest */
    assert_int_equal(f->max, 100);
    assert_int_equal(f->total, 11 * 450 + 10 * 55);
    assert_int_equal(sampled_within(f), TRI_PASS);
    assert_int_equal(row->grade.predicates[ROW_SAMPLES_WITHIN].status, TRI_PASS);
    assert_int_equal(s->rows[0].n_samples, 0);
    assert_null(s->rows[0].grade.predicates[ROW_SAMPLES_WITHIN].fact);
}

static void a_p99_over_its_bound_makes_the_row_diagnostic(void **state)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct raw *raw = with_samples(&a);
    struct sample_series *tight = arena_alloc(&a, sizeof *tight);

    (void)state;
    *tight = series[0];
    tight->p99_max = 98;
    raw->workloads[1].samples = tight;
    const struct summary *s = summarise(&a, raw);
    const struct row *row = row_of(s, "c", "before");
    assert_int_equal(row->grade.value, GRADE_DIAGNOSTIC);
    assert_int_equal(row->grade.predicates[ROW_SAMPLES_WITHIN].status, TRI_FAIL);
    assert_non_null(strstr(row->grade.predicates[ROW_SAMPLES_WITHIN].fact, "p99 of late is 99 ns"));
    /* A control has no bound. */
    row = row_of(s, "cpython", "before");
    assert_int_equal(row->samples[0].p99_max, -1);
    assert_int_equal(row->grade.predicates[ROW_SAMPLES_WITHIN].status, TRI_NOT_APPLICABLE);
}

static void a_disturbed_repetition_takes_its_samples_with_it(void **state)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct raw *raw = with_samples(&a);
    struct raw_observation *o = raw_find(raw, "fanout", "c", "after", 3);

    (void)state;
    o->disturbed = 1;
    o->samples[0].v[9] = 1000000;
    raw_replace(&a, raw);
    /* That which came in its place has none here. */
    const struct row *row = row_of(summarise(&a, raw), "c", "after");
    assert_int_equal(row->samples[0].n, 100);
    assert_int_equal(row->samples[0].max, 100);
}

static void without_samples_nothing_passes(void **state)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct raw *raw = with_samples(&a);

    (void)state;
    for (size_t i = 0; i < raw->n_observations; i++)
        raw->observations[i].n_samples = 0;
    const struct row *row = row_of(summarise(&a, raw), "c", "after");
    assert_true(isnan(row->samples[0].median));
    assert_int_equal(row->samples[0].p99, -1);
    assert_int_equal(row->samples[0].total, -1);
    assert_int_equal(sampled_within(&row->samples[0]), TRI_UNKNOWN);
    assert_non_null(
        strstr(row->grade.predicates[ROW_SAMPLES_WITHIN].fact, "there are no samples of"));
    assert_int_equal(row->grade.value, GRADE_DIAGNOSTIC);
}

static void samples_are_those_that_are_declared(void **state)
{
    static const char *const words = "has not the samples that its workload declares";

    (void)state;
    for (int which = 0; which < 5; which++) {
        CLEANUP(arena_deinit) struct arena a = {0};
        struct raw *raw = with_samples(&a);
        struct raw_observation *o = raw_find(raw, "fanout", "c", "after", 3);
        if (which == 1)
            o->n_samples = 0;
        if (which == 2)
            o->samples[0].n = 9;
        if (which == 3)
            o->samples[0].name = "later";
        if (which == 4)
            raw_find(raw, "fib30", "c", "after", 3)->samples = o->samples,
                                                 raw_find(raw, "fib30", "c", "after", 3)
                                                     ->n_samples = 1;
        const char *fault = check_observations(&a, raw);
        if (which == 0)
            assert_null(fault);
        else
            assert_non_null(strstr(fault, words));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_of_all_samples_together),
        cmocka_unit_test(a_p99_over_its_bound_makes_the_row_diagnostic),
        cmocka_unit_test(a_disturbed_repetition_takes_its_samples_with_it),
        cmocka_unit_test(without_samples_nothing_passes),
        cmocka_unit_test(samples_are_those_that_are_declared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
