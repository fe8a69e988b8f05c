/* The replacement rule: what runs again, what counts, and that it leans to neither side. */
#include "unit.h"

#include <math.h>

#include "base/mem.h"
#include "core/grade/check.h"
#include "core/ledger/replacement.h"
#include "core/summary/summarise.h"

#include "prng.h"
#include "raw_fixture.h"

enum { ASKED = 11, TRIALS = 3000 };

static void note(struct replacement *r, int repetition, int disturbed)
{
    replacement_note(r, repetition, disturbed);
}

static void there_is_room_for_as_many_again_and_for_five_at_least(void **state)
{
    (void)state;
    assert_int_equal(replacement_room(1), 5);
    assert_int_equal(replacement_room(5), 5);
    assert_int_equal(replacement_room(11), 11);
}

static void a_repetition_is_as_bad_as_its_worst_observation(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    struct replacement r;
    replacement_init(&a, 3, &r);
    note(&r, 0, 0);
    note(&r, 1, 0);
    note(&r, 1, -1);
    note(&r, 2, 1 << DISTURBED_STEAL);
    note(&r, 2, 0);
    note(&r, 99, 1); /* out of range: ignored */
    note(&r, -1, 1);
    assert_int_equal(r.state[0], REPETITION_CLEAN);
    assert_int_equal(r.state[1], REPETITION_UNJUDGED);
    assert_int_equal(r.state[2], REPETITION_DISTURBED);
    assert_int_equal(replacement_due(&r), 2);
}

static void a_disturbed_replacement_consumes_another_until_the_room_is_used_up(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    struct replacement r;
    replacement_init(&a, 2, &r);
    note(&r, 0, 1);
    note(&r, 1, 0);
    for (int i = 0; i < 5; i++) {
        int due = replacement_due(&r);
        assert_int_equal(due, 0);
        int number = replacement_begin(&r, due);
        assert_int_equal(number, 2 + i);
        note(&r, number, 1);
    }
    assert_int_equal(replacement_due(&r), -1);
    struct replacement_count count;
    replacement_count(&r, &count);
    assert_true(count.as_observed);
    assert_int_equal(count.clean, 1);
    assert_int_equal(count.disturbed, 6);
    bool chosen[7];
    replacement_choose(&r, chosen);
    assert_true(chosen[0] && chosen[1]);
    for (int i = 2; i < 7; i++)
        assert_false(chosen[i]);
}

static void the_first_n_that_were_not_disturbed_count(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    struct replacement r;
    bool chosen[10];
    replacement_init(&a, 5, &r);
    for (int i = 0; i < 5; i++)
        note(&r, i, i == 1 || i == 3);
    note(&r, replacement_begin(&r, replacement_due(&r)), 0);
    assert_int_equal(replacement_due(&r), 3);
    note(&r, replacement_begin(&r, 3), 0);
    assert_int_equal(replacement_due(&r), -1);
    replacement_choose(&r, chosen);
    for (int i = 0; i < 10; i++)
        assert_int_equal(chosen[i], i < 7 && i != 1 && i != 3);
}

static void what_no_ledger_judges_is_used_and_never_replaced(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    struct replacement r;
    bool chosen[8];
    replacement_init(&a, 3, &r);
    for (int i = 0; i < 3; i++)
        note(&r, i, -1);
    assert_int_equal(replacement_due(&r), -1);
    replacement_choose(&r, chosen);
    assert_true(chosen[0] && chosen[1] && chosen[2] && !chosen[3]);
}

static void random_rounds_end_and_choose_what_the_rule_says(void **state)
{
    (void)state;
    struct prng p = prng_seeded("replacement rounds");
    for (int t = 0; t < 2000; t++) {
        CLEANUP(arena_deinit) struct arena a = {0};
        int asked = 1 + (int)prng_below(&p, 20), replaces[2], number, rounds = 0;
        unsigned odds = (unsigned)prng_below(&p, 100);
        struct replacement list[2];
        for (int w = 0; w < 2; w++) {
            replacement_init(&a, asked, &list[w]);
            for (int i = 0; i < asked; i++)
                note(&list[w], i, prng_below(&p, 100) < odds);
        }
        while (replacement_round(list, 2, replaces, &number)) {
            assert_int_equal(number, asked + rounds++);
            for (int w = 0; w < 2; w++)
                if (replaces[w] >= 0) {
                    assert_int_equal(list[w].state[replaces[w]], REPETITION_DISTURBED);
                    note(&list[w], number, prng_below(&p, 100) < odds);
                }
        }
        assert_true(rounds <= replacement_room(asked));
        for (int w = 0; w < 2; w++) {
            struct replacement_count count;
            bool chosen[40];
            int n = 0;
            replacement_count(&list[w], &count);
            replacement_choose(&list[w], chosen);
            for (int i = 0; i < asked + list[w].room; i++) {
                n += chosen[i];
                assert_false(chosen[i] && !count.as_observed &&
                             list[w].state[i] != REPETITION_CLEAN);
            }
            assert_int_equal(n, asked);
            assert_int_equal(count.as_observed,
                             list[w].used == list[w].room && count.clean < asked);
        }
    }
}

/* ---- in a report */

static struct raw *report(struct arena *a)
{
    struct raw *raw = raw_fixture(a);
    raw_find(raw, "fib30", "cpython", "before", 4)->disturbed = 1 << DISTURBED_NEAR;
    raw_replace(a, raw);
    return raw;
}

static void all_lanes_and_sides_of_the_repetition_run_again_at_the_end(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    size_t planned = raw_fixture(&a)->plan.n;
    struct raw *raw = report(&a);
    assert_int_equal(raw->plan.n, planned + 4);
    for (size_t i = planned; i < raw->plan.n; i++) {
        assert_int_equal(raw->plan.steps[i].repetition, 11);
        assert_int_equal(raw->plan.steps[i].replaces, 4);
        assert_string_equal(raw->observations[i].workload, "fib30");
    }
    assert_null(check_plan(&a, raw));
    assert_null(check_observations(&a, raw));
}

static void figures_are_of_the_replacement_and_the_planned_ones_stand_beside_them(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    struct raw *raw = report(&a);
    raw_find(raw, "fib30", "cpython", "before", 4)->elapsed_ns *= 40;
    const struct summary *s = summarise(&a, raw);
    assert_int_equal(s->repetitions[0].disturbed, 1);
    assert_int_equal(s->repetitions[0].clean, 11);
    for (size_t i = 0; i < s->n_rows; i++) {
        const struct row *row = &s->rows[i];
        assert_int_equal(row->wall.n, 11);
        assert_int_equal(row->grade.predicates[ROW_PAIRS_COMPLETE].status, TRI_PASS);
        assert_int_equal(row->grade.predicates[ROW_DISTURBANCE_REPLACED].status, TRI_PASS);
        if (strcmp(row->lane, "cpython") == 0 && strcmp(row->workload, "fib30") == 0)
            assert_true(row->wall.p95_ns < 100000); /* the disturbed one is not in it */
    }
    for (size_t i = 0; i < s->n_comparisons; i++)
        assert_int_equal(s->comparisons[i].has_observed,
                         strcmp(s->comparisons[i].workload, "fib30") == 0);
}

static void too_few_clean_repetitions_make_diagnostic_rows_as_observed(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    struct raw *raw = raw_fixture(&a);
    for (int i = 0; i < 11; i++)
        raw_find(raw, "fib30", "c", "after", i)->disturbed = 1 << DISTURBED_FAR;
    raw_replace_as(&a, raw, 1 << DISTURBED_FAR);
    assert_null(check_plan(&a, raw));
    const struct summary *s = summarise(&a, raw);
    assert_true(s->repetitions[0].as_observed);
    assert_int_equal(s->repetitions[0].disturbed, 22);
    const struct row *row = &s->rows[0];
    assert_int_equal(row->wall.n, 11);
    assert_int_equal(row->grade.predicates[ROW_DISTURBANCE_REPLACED].status, TRI_FAIL);
    assert_int_equal(row->grade.value, GRADE_DIAGNOSTIC);
}

static void opposite_verdicts_are_unresolved(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    struct raw *raw = raw_fixture(&a);
    for (int i = 0; i < 11; i++) { /* as observed, c is slower after in every repetition */
        struct raw_observation *o = raw_find(raw, "fib30", "c", "after", i);
        o->elapsed_ns = 90000;
        o->disturbed = 1 << DISTURBED_NEAR;
    }
    raw_replace(&a, raw); /* the replacements are faster, as the fixture says */
    const struct comparison *c = &summarise(&a, raw)->comparisons[0];
    assert_string_equal(c->subject_lane, "c");
    assert_int_equal(c->observed.verdict, VERDICT_SLOWER);
    assert_true(c->wall.paired_median_ratio < 0.6);
    assert_int_equal(c->wall.verdict, VERDICT_UNRESOLVED);
    assert_non_null(strstr(c->wall.note, "opposite"));
}

static void a_plan_that_leaves_out_or_adds_a_replacement_is_refused(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    struct raw *raw = report(&a);
    raw->plan.n -= 4; /* none was run */
    raw->n_observations -= 4;
    assert_non_null(check_plan(&a, raw));
    raw = report(&a);
    raw_find(raw, "fib30", "cpython", "before", 4)->disturbed = 0; /* for nothing */
    assert_non_null(check_plan(&a, raw));
    raw = report(&a);
    raw->plan.steps[raw->plan.n - 1].replaces = 5; /* of another */
    assert_non_null(check_plan(&a, raw));
    raw = report(&a);
    raw->observations[raw->n_observations - 1].replaces = -1; /* says it is none */
    assert_non_null(check_observations(&a, raw));
}

/* ---- it leans to neither side */

static double uniform(struct prng *p)
{
    return (double)(prng_next(p) >> 11) * 0x1p-53;
}

/* One observation of 200 ms on a host whose bursts hit `after` three times as often. Bursts of 5 ms
 * and more are found 49 times of 50; shorter ones never. */
static void run_once(struct prng *p, struct raw_observation *o, double odds)
{
    bool hit = uniform(p) < odds * (strcmp(o->side, "after") == 0 ? 3 : 1);
    double burst = hit ? exp(log(1e6) + uniform(p) * log(100)) : 0; /* 1 to 100 ms */

    o->elapsed_ns = (int64_t)(2e8 * (1 + 0.004 * (uniform(p) - 0.5)) + burst);
    o->interval_cpu_ns = o->elapsed_ns - (int64_t)burst;
    o->disturbed = burst >= 5e6 && uniform(p) < 0.98 ? 1 << DISTURBED_NEAR : 0;
}

struct balance {
    int above, below, within, wrong, as_observed;
};

static struct balance same_programs(struct prng *p, double odds)
{
    struct balance b = {0};
    for (int t = 0; t < TRIALS; t++) {
        CLEANUP(arena_deinit) struct arena a = {0};
        struct raw *raw = raw_fixture(&a);
        raw->n_workloads = 1;
        raw_replan(&a, raw);
        for (size_t i = 0; i < raw->n_observations; i++)
            run_once(p, &raw->observations[i], odds);
        for (size_t from = raw->n_observations; raw_replace_round(&a, raw);
             from = raw->n_observations)
            for (size_t i = from; i < raw->n_observations; i++)
                run_once(p, &raw->observations[i], odds);
        const struct summary *s = summarise(&a, raw);
        const struct estimate *e = &s->comparisons[0].wall;
        b.above += e->paired_median_ratio > 1;
        b.below += e->paired_median_ratio < 1;
        b.within += e->interval.low <= 1 && e->interval.high >= 1;
        b.wrong += e->verdict == VERDICT_FASTER || e->verdict == VERDICT_SLOWER;
        b.as_observed += s->repetitions[0].as_observed;
    }
    return b;
}

/* Four standard deviations of a fair coin. */
static void assert_centred(const struct balance *b)
{
    int n = b->above + b->below, off = abs(b->above - b->below);
    if (off > 4 * sqrt(n))
        fail_msg("%d above 1, %d below", b->above, b->below);
    if (b->within < 0.95 * TRIALS)
        fail_msg("1 lies in %d intervals of %d", b->within, TRIALS);
}

static void equal_programs_stay_centred_on_1_when_noise_hits_one_side_more(void **state)
{
    (void)state;
    struct prng p = {20260131};
    struct balance b = same_programs(&p, 0.04);
    assert_centred(&b);
    assert_true(b.wrong * 100 <= TRIALS);
    assert_true(b.as_observed * 50 <= TRIALS);
}

static void without_noise_nothing_changes(void **state)
{
    (void)state;
    struct prng p = {20260201};
    struct balance b = same_programs(&p, 0);
    assert_centred(&b);
    assert_int_equal(b.as_observed, 0);
    assert_true(b.wrong * 100 <= TRIALS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_is_room_for_as_many_again_and_for_five_at_least),
        cmocka_unit_test(a_repetition_is_as_bad_as_its_worst_observation),
        cmocka_unit_test(a_disturbed_replacement_consumes_another_until_the_room_is_used_up),
        cmocka_unit_test(the_first_n_that_were_not_disturbed_count),
        cmocka_unit_test(what_no_ledger_judges_is_used_and_never_replaced),
        cmocka_unit_test(random_rounds_end_and_choose_what_the_rule_says),
        cmocka_unit_test(all_lanes_and_sides_of_the_repetition_run_again_at_the_end),
        cmocka_unit_test(figures_are_of_the_replacement_and_the_planned_ones_stand_beside_them),
        cmocka_unit_test(too_few_clean_repetitions_make_diagnostic_rows_as_observed),
        cmocka_unit_test(opposite_verdicts_are_unresolved),
        cmocka_unit_test(a_plan_that_leaves_out_or_adds_a_replacement_is_refused),
        cmocka_unit_test(equal_programs_stay_centred_on_1_when_noise_hits_one_side_more),
        cmocka_unit_test(without_noise_nothing_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
