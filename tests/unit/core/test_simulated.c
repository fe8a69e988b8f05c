/* Whole summaries of simulated reports, with fixed seeds: what is the same is called FASTER or
 * SLOWER no more often than the coverage says, and what differs is found. */
#include "unit.h"

#include "base/mem.h"
#include "core/summary/summarise.h"

#include "prng.h"
#include "raw_fixture.h"

#define TRIALS 1500

/* How a host and its programs behave. */
struct world {
    enum order order;
    double margin;
    double noise;  /* of one observation, as a fraction; skewed */
    double wander; /* of a whole repetition, the same for all that runs in it */
    double drift;  /* of the host between the sides: all that runs on `after` */
    double change; /* of the subject between the sides */
};

static double uniform(struct prng *p)
{
    return (double)(prng_next(p) >> 11) * 0x1p-53;
}

static void observe(struct prng *p, const struct world *w, struct raw *raw)
{
    double wander[16];
    for (int r = 0; r < 16; r++)
        wander[r] = 1 + w->wander * uniform(p);
    for (size_t i = 0; i < raw->n_observations; i++) {
        struct raw_observation *o = &raw->observations[i];
        bool after = strcmp(o->side, "after") == 0;
        double u = uniform(p), v = uniform(p);
        double ns = 10000000 * wander[o->repetition] * (1 + w->noise * (u + 5 * v * v * v * v * v));
        ns *= after ? 1 + w->drift : 1;
        ns *= after && strcmp(o->lane, "c") == 0 ? 1 + w->change : 1;
        o->elapsed_ns = (int64_t)ns;
        o->interval_cpu_ns = o->elapsed_ns - 1000;
    }
}

/* One workload, c and its control. */
static struct raw *simulated(struct arena *a, const struct world *w)
{
    struct raw *raw = raw_fixture(a);
    raw->n_workloads = 1;
    raw->job.order = w->order;
    raw->policy.margin = w->margin;
    raw_replan(a, raw);
    return raw;
}

struct tally {
    size_t said[VERDICT_UNRESOLVED + 1]; /* by wall time */
    size_t cpu[VERDICT_UNRESOLVED + 1];
    double coverage;
};

static struct tally run(const struct world *w, uint64_t seed)
{
    struct prng p = {seed};
    struct tally t = {0};
    for (int i = 0; i < TRIALS; i++) {
        CLEANUP(arena_deinit) struct arena a = {0};
        struct raw *raw = simulated(&a, w);
        observe(&p, w, raw);
        const struct comparison *c = &summarise(&a, raw)->comparisons[0];
        assert_string_equal(c->subject_lane, "c");
        assert_int_equal(c->kind, COMPARE_SIDES);
        t.said[c->wall.verdict]++;
        t.cpu[c->cpu.verdict]++;
        t.coverage = c->wall.interval.coverage;
    }
    return t;
}

static double share(const size_t *said)
{
    return (double)(said[VERDICT_FASTER] + said[VERDICT_SLOWER]) / TRIALS;
}

/* With five standard deviations of so many trials for the luck of the seed. */
static void assert_rate(const struct tally *t)
{
    double rate = 1 - t->coverage, luck = 5 * sqrt(rate * (1 - rate) / TRIALS);
    assert_true(share(t->said) <= rate + luck);
    assert_true(share(t->cpu) <= rate + luck);
}

static void pairs_of_the_same_differ_no_more_often_than_the_coverage_says(void **state)
{
    (void)state;
    const struct world no_margin = {ORDER_INTERLEAVED, 0, 0.02, 0.1, 0, 0};
    struct tally t = run(&no_margin, 1);
    assert_rate(&t);
    assert_true(share(t.said) > 0); /* without a margin the rule is as sharp as it may be */
    const struct world usual = {ORDER_INTERLEAVED, 0.01, 0.02, 0.1, 0, 0};
    t = run(&usual, 2);
    assert_true(share(t.said) <= 0.005);
}

static void unpaired_sides_of_the_same_differ_no_more_often_than_the_coverage_says(void **state)
{
    (void)state;
    const struct world no_margin = {ORDER_SEQUENTIAL, 0, 0.02, 0, 0, 0};
    struct tally t = run(&no_margin, 3);
    assert_rate(&t);
    const struct world usual = {ORDER_SEQUENTIAL, 0.01, 0.02, 0, 0, 0};
    t = run(&usual, 4);
    assert_true(share(t.said) <= 0.005);
}

static void a_host_that_drifts_between_unpaired_sides_is_held_by_its_control(void **state)
{
    (void)state;
    const struct world drifting = {ORDER_SEQUENTIAL, 0.01, 0.005, 0, 0.04, 0};
    struct tally t = run(&drifting, 5);
    assert_rate(&t);
    assert_true(t.said[VERDICT_UNRESOLVED] > TRIALS * 9 / 10);
}

static void a_change_of_5_percent_is_found_when_noise_is_small(void **state)
{
    (void)state;
    const struct world worlds[] = {
        {ORDER_INTERLEAVED, 0.01, 0.005, 0.1, 0, 0.05},
        {ORDER_INTERLEAVED, 0.01, 0.005, 0.1, 0, -0.05},
        {ORDER_SEQUENTIAL, 0.01, 0.005, 0, 0, 0.05},
        {ORDER_SEQUENTIAL, 0.01, 0.005, 0, 0, -0.05},
        {ORDER_SEQUENTIAL, 0.01, 0.005, 0, 0.01, 0.05},
    };
    for (size_t i = 0; i < ARRAY_LEN(worlds); i++) {
        struct tally t = run(&worlds[i], 10 + i);
        enum verdict expected = worlds[i].change > 0 ? VERDICT_SLOWER : VERDICT_FASTER;
        assert_true(t.said[expected] >= TRIALS * 99 / 100);
        assert_true(t.cpu[expected] >= TRIALS * 99 / 100);
    }
}

static void assert_same_estimate(const struct estimate *x, const struct estimate *y)
{
    assert_same(estimate_ratio(x), estimate_ratio(y));
    assert_same(x->interval.low, y->interval.low);
    assert_same(x->interval.high, y->interval.high);
    assert_same(x->margin, y->margin);
    assert_int_equal(x->verdict, y->verdict);
}

static void the_order_of_observations_in_the_report_changes_nothing(void **state)
{
    (void)state;
    const struct world worlds[] = {{ORDER_SEQUENTIAL, 0.01, 0.02, 0, 0.01, 0.05},
                                   {ORDER_INTERLEAVED, 0.01, 0.02, 0.1, 0, 0.05}};
    struct prng p = {99};
    for (int i = 0; i < 60; i++) {
        CLEANUP(arena_deinit) struct arena a = {0};
        struct raw *raw = simulated(&a, &worlds[i % 2]);
        observe(&p, &worlds[i % 2], raw);
        const struct summary *x = summarise(&a, raw);
        for (size_t k = raw->n_observations; k > 1; k--) {
            size_t j = prng_below(&p, k);
            struct raw_observation o = raw->observations[k - 1];
            raw->observations[k - 1] = raw->observations[j];
            raw->observations[j] = o;
        }
        const struct summary *y = summarise(&a, raw);
        assert_int_equal(x->n_comparisons, y->n_comparisons);
        for (size_t c = 0; c < x->n_comparisons; c++) {
            assert_same_estimate(&x->comparisons[c].wall, &y->comparisons[c].wall);
            assert_same_estimate(&x->comparisons[c].cpu, &y->comparisons[c].cpu);
        }
        assert_string_equal(x->grade.line, y->grade.line);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_of_the_same_differ_no_more_often_than_the_coverage_says),
        cmocka_unit_test(unpaired_sides_of_the_same_differ_no_more_often_than_the_coverage_says),
        cmocka_unit_test(a_host_that_drifts_between_unpaired_sides_is_held_by_its_control),
        cmocka_unit_test(a_change_of_5_percent_is_found_when_noise_is_small),
        cmocka_unit_test(the_order_of_observations_in_the_report_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
