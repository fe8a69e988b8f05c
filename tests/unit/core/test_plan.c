#include "unit.h"

#include "base/mem.h"
#include "core/plan.h"

#include "prng.h"

/* A suite of n_workloads with lanes[w] lanes each: the plan looks at nothing else. */
static struct suite *suite_of(struct arena *a, const size_t *lanes, size_t n_workloads)
{
    struct suite *s = arena_alloc(a, sizeof *s);
    s->n_workloads = n_workloads;
    s->workloads = arena_array(a, n_workloads, sizeof *s->workloads);
    for (size_t w = 0; w < n_workloads; w++) {
        s->workloads[w].n_lanes = lanes[w];
        s->workloads[w].lanes = arena_array(a, lanes[w], sizeof(struct lane));
    }
    return s;
}

static void assert_step(const struct plan_step *s, enum obs_kind kind, int repetition, int workload,
                        int lane, int side, int position)
{
    assert_int_equal(s->kind, kind);
    assert_int_equal(s->repetition, repetition);
    assert_int_equal(s->workload, workload);
    assert_int_equal(s->lane, lane);
    assert_int_equal(s->side, side);
    assert_int_equal(s->position, position);
}

static void interleaved_rotates_workloads_and_lanes_and_turns_the_sides(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    struct suite *s = suite_of(&a, (size_t[]){2, 1}, 2);
    struct plan *p = plan_make(&a, s, 2, 2, 1, ORDER_INTERLEAVED, NULL);
    assert_int_equal(p->n, 18);
    const struct plan_step *step = p->steps;
    /* The warmup round goes before round 0, so it is round -1: rotated by one, after first. */
    assert_step(step++, OBS_WARMUP, 0, 1, 0, 1, 0);
    assert_step(step++, OBS_WARMUP, 0, 1, 0, 0, 1);
    assert_step(step++, OBS_WARMUP, 0, 0, 1, 1, 0);
    assert_step(step++, OBS_WARMUP, 0, 0, 1, 0, 1);
    assert_step(step++, OBS_WARMUP, 0, 0, 0, 1, 2);
    assert_step(step++, OBS_WARMUP, 0, 0, 0, 0, 3);
    assert_step(step++, OBS_TIMED, 0, 0, 0, 0, 0);
    assert_step(step++, OBS_TIMED, 0, 0, 0, 1, 1);
    assert_step(step++, OBS_TIMED, 0, 0, 1, 0, 2);
    assert_step(step++, OBS_TIMED, 0, 0, 1, 1, 3);
    assert_step(step++, OBS_TIMED, 0, 1, 0, 0, 0);
    assert_step(step++, OBS_TIMED, 0, 1, 0, 1, 1);
    assert_step(step++, OBS_TIMED, 1, 1, 0, 1, 0);
    assert_step(step++, OBS_TIMED, 1, 1, 0, 0, 1);
    assert_step(step++, OBS_TIMED, 1, 0, 1, 1, 0);
}

static void sequential_runs_one_side_after_the_other(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    struct suite *s = suite_of(&a, (size_t[]){2}, 1);
    struct plan *p = plan_make(&a, s, 2, 2, 1, ORDER_SEQUENTIAL, NULL);
    assert_int_equal(p->n, 12);
    for (size_t i = 0; i < p->n; i++)
        assert_int_equal(p->steps[i].side, i < 6 ? 0 : 1);
    assert_step(&p->steps[0], OBS_WARMUP, 0, 0, 1, 0, 0);
    assert_step(&p->steps[2], OBS_TIMED, 0, 0, 0, 0, 0);
    assert_step(&p->steps[6], OBS_WARMUP, 0, 0, 1, 1, 2);
    assert_step(&p->steps[8], OBS_TIMED, 0, 0, 0, 1, 2);
    assert_step(&p->steps[11], OBS_TIMED, 1, 0, 0, 1, 3);
}

static void one_side_and_no_warmup_is_a_plan_too(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    struct suite *s = suite_of(&a, (size_t[]){1}, 1);
    struct plan *p = plan_make(&a, s, 1, 3, 0, ORDER_INTERLEAVED, NULL);
    assert_int_equal(p->n, 3);
    for (size_t i = 0; i < p->n; i++)
        assert_step(&p->steps[i], OBS_TIMED, (int)i, 0, 0, 0, 0);
}

static void nothing_present_is_an_empty_plan(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    struct suite *s = suite_of(&a, (size_t[]){1}, 1);
    const bool none[] = {false, false};
    const bool *present[] = {none};
    assert_int_equal(plan_make(&a, s, 2, 11, 1, ORDER_INTERLEAVED, present)->n, 0);
    struct suite *empty = suite_of(&a, NULL, 0);
    assert_int_equal(plan_make(&a, empty, 2, 11, 1, ORDER_INTERLEAVED, NULL)->n, 0);
}

/* A random suite of up to 5 workloads of up to 5 lanes, some absent, on all sides or on some. */
struct world {
    struct arena arena;
    struct suite *suite;
    bool **present;
    size_t n_sides;
    int repetitions, warmups;
    struct plan *plan;
};

static void world_init(struct world *w, struct prng *p, enum order order)
{
    *w = (struct world){0};
    size_t lanes[5], n = 1 + prng_below(p, 5);
    for (size_t i = 0; i < n; i++)
        lanes[i] = 1 + prng_below(p, 5);
    w->suite = suite_of(&w->arena, lanes, n);
    w->present = arena_array(&w->arena, n, sizeof *w->present);
    w->n_sides = 1 + prng_below(p, 3);
    for (size_t i = 0; i < n; i++) {
        w->present[i] = arena_array(&w->arena, lanes[i] * w->n_sides, sizeof **w->present);
        for (size_t l = 0; l < lanes[i] * w->n_sides; l++)
            w->present[i][l] = prng_below(p, 5) > 0;
    }
    w->repetitions = 1 + (int)prng_below(p, 13);
    w->warmups = (int)prng_below(p, 3);
    w->plan = plan_make(&w->arena, w->suite, w->n_sides, w->repetitions, w->warmups, order,
                        (const bool *const *)w->present);
}

static size_t count_steps(const struct world *w, struct plan_step like)
{
    size_t n = 0;
    for (size_t i = 0; i < w->plan->n; i++) {
        const struct plan_step *s = &w->plan->steps[i];
        n += s->workload == like.workload && s->lane == like.lane && s->side == like.side &&
             s->repetition == like.repetition && s->kind == like.kind;
    }
    return n;
}

static void check_rounds_of_lane(const struct world *w, size_t workload, size_t lane, size_t side)
{
    struct plan_step like = {
        .workload = (int)workload, .lane = (int)lane, .side = (int)side, .kind = OBS_TIMED};
    size_t expected = w->present[workload][lane * w->n_sides + side] ? 1 : 0;
    for (like.repetition = 0; like.repetition < w->repetitions; like.repetition++)
        assert_int_equal(count_steps(w, like), expected);
    assert_int_equal(count_steps(w, like), 0); /* none past the last */
    like.kind = OBS_WARMUP;
    for (like.repetition = 0; like.repetition < w->warmups; like.repetition++)
        assert_int_equal(count_steps(w, like), expected);
    assert_int_equal(count_steps(w, like), 0);
}

static void every_present_lane_runs_exactly_once_per_side_and_repetition(void **state)
{
    (void)state;
    struct prng p = prng_seeded("plan: once");
    for (int i = 0; i < 60; i++) {
        struct world w;
        world_init(&w, &p, prng_below(&p, 2) ? ORDER_SEQUENTIAL : ORDER_INTERLEAVED);
        for (size_t k = 0; k < w.suite->n_workloads; k++)
            for (size_t l = 0; l < w.suite->workloads[k].n_lanes; l++)
                for (size_t s = 0; s < w.n_sides; s++)
                    check_rounds_of_lane(&w, k, l, s);
        for (size_t k = 0; k < w.plan->n; k++)
            assert_int_equal(w.plan->steps[k].seq, k);
        arena_deinit(&w.arena);
    }
}

/* Of the same lane in the same repetition. */
static bool goes_with(const struct plan_step *x, const struct plan_step *y)
{
    return x->workload == y->workload && x->lane == y->lane && x->repetition == y->repetition &&
           x->kind == y->kind;
}

static void check_sides_from(const struct world *w, size_t k)
{
    const struct plan_step *steps = w->plan->steps;
    int turn = steps[k].kind == OBS_TIMED ? steps[k].repetition : steps[k].repetition - w->warmups;
    bool apart = false;
    for (size_t later = k + 1; later < w->plan->n; later++) {
        bool together = goes_with(&steps[k], &steps[later]);
        assert_false(together && apart);
        apart = apart || !together;
        if (together)
            assert_true(turn % 2 ? steps[later].side < steps[k].side
                                 : steps[later].side > steps[k].side);
    }
}

static void a_lanes_sides_are_adjacent_and_their_order_follows_parity(void **state)
{
    (void)state;
    struct prng p = prng_seeded("plan: sides");
    for (int i = 0; i < 60; i++) {
        struct world w;
        world_init(&w, &p, ORDER_INTERLEAVED);
        for (size_t k = 0; k < w.plan->n; k++)
            check_sides_from(&w, k);
        arena_deinit(&w.arena);
    }
}

static void a_workload_absent_on_one_side_runs_on_the_other(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    struct suite *s = suite_of(&a, (size_t[]){2, 2}, 2);
    const bool both[] = {true, true, true, true}, after[] = {false, true, false, true};
    const bool *present[] = {both, after};
    struct plan *p = plan_make(&a, s, 2, 2, 0, ORDER_INTERLEAVED, present);
    assert_int_equal(p->n, 2 * (4 + 2));
    assert_step(&p->steps[4], OBS_TIMED, 0, 1, 0, 1, 0);
    assert_step(&p->steps[5], OBS_TIMED, 0, 1, 1, 1, 1);
    assert_step(&p->steps[6], OBS_TIMED, 1, 1, 1, 1, 0);
    p = plan_make(&a, s, 2, 1, 0, ORDER_SEQUENTIAL, present);
    assert_int_equal(p->n, 4 + 2);
    assert_step(&p->steps[2], OBS_TIMED, 0, 0, 0, 1, 2);
    assert_step(&p->steps[4], OBS_TIMED, 0, 1, 0, 1, 0);
}

static void warmups_come_before_everything_timed(void **state)
{
    (void)state;
    struct prng p = prng_seeded("plan: warmups");
    for (int i = 0; i < 300; i++) {
        struct world w;
        world_init(&w, &p, ORDER_INTERLEAVED);
        for (size_t k = 1; k < w.plan->n; k++)
            assert_false(w.plan->steps[k].kind == OBS_WARMUP &&
                         w.plan->steps[k - 1].kind == OBS_TIMED);
        arena_deinit(&w.arena);
    }
}

static void positions_count_up_within_kind_repetition_and_workload(void **state)
{
    (void)state;
    struct prng p = prng_seeded("plan: positions");
    for (int i = 0; i < 300; i++) {
        struct world w;
        world_init(&w, &p, prng_below(&p, 2) ? ORDER_SEQUENTIAL : ORDER_INTERLEAVED);
        int next[2][16][5] = {0};
        for (size_t k = 0; k < w.plan->n; k++) {
            const struct plan_step *s = &w.plan->steps[k];
            assert_int_equal(s->position, next[s->kind][s->repetition][s->workload]++);
        }
        arena_deinit(&w.arena);
    }
}

/* As often as any other, give or take one: with rounds a multiple of the lanes, equally often. */
static void each_lane_stands_at_each_place_equally_often(void **state)
{
    (void)state;
    struct prng p = prng_seeded("plan: balance");
    for (int i = 0; i < 100; i++) {
        CLEANUP(arena_deinit) struct arena a = {0};
        size_t lanes = 1 + prng_below(&p, 6), turns = 1 + prng_below(&p, 3);
        struct suite *s = suite_of(&a, &lanes, 1);
        struct plan *plan = plan_make(&a, s, 2, (int)(lanes * turns), 0, ORDER_INTERLEAVED, NULL);
        size_t at[6][6] = {0};
        for (size_t k = 0; k < plan->n; k++)
            at[plan->steps[k].lane][plan->steps[k].position / 2]++;
        for (size_t l = 0; l < lanes; l++)
            for (size_t place = 0; place < lanes; place++)
                assert_int_equal(at[l][place], 2 * turns);
    }
}

static void each_workload_opens_a_round_equally_often(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    struct suite *s = suite_of(&a, (size_t[]){1, 1, 1}, 3);
    struct plan *plan = plan_make(&a, s, 1, 9, 0, ORDER_INTERLEAVED, NULL);
    int opened[3] = {0};
    for (size_t k = 0; k < plan->n; k += 3)
        opened[plan->steps[k].workload]++;
    for (int w = 0; w < 3; w++)
        assert_int_equal(opened[w], 3);
}

static void what_is_not_run_is_looked_at_once(void **state)
{
    (void)state;
    for (int order = ORDER_INTERLEAVED; order <= ORDER_SEQUENTIAL; order++) {
        CLEANUP(arena_deinit) struct arena a = {0};
        struct suite *s = suite_of(&a, (size_t[]){1, 2}, 2);
        s->workloads[1].measure = MEASURE_SIZE;
        struct plan *p = plan_make(&a, s, 2, 3, 2, (enum order)order, NULL);
        size_t n = 0;
        assert_int_equal(p->n, 2 * (3 + 2) + 2 * 2);
        for (size_t i = 0; i < p->n; i++) {
            const struct plan_step *step = &p->steps[i];
            if (step->workload != 1)
                continue;
            assert_int_equal(step->kind, OBS_TIMED);
            assert_int_equal(step->repetition, 0);
            assert_int_equal(step->position, (int)n++);
        }
        assert_int_equal(n, 4);
    }
    assert_int_equal(plan_repetitions(MEASURE_SIZE, 11), 1);
    assert_int_equal(plan_warmups(MEASURE_SIZE, 1), 0);
    assert_int_equal(plan_repetitions(MEASURE_COUNTERS, 11), 11);
}

/* Workload 0 alone, 1 to 3 the steps of one build with two lanes. */
static struct suite *suite_with_steps(struct arena *a)
{
    struct suite *s = suite_of(a, (size_t[]){1, 2, 2, 2}, 4);
    for (int w = 1; w < 4; w++) {
        s->workloads[w].measure = MEASURE_BUILD;
        s->workloads[w].steps_of = "hello";
    }
    return s;
}

static void steps_of_a_build_are_visited_as_one_workload(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    struct plan *p = plan_make(&a, suite_with_steps(&a), 2, 2, 0, ORDER_INTERLEAVED, NULL);
    const struct plan_step *step = p->steps;
    assert_int_equal(p->n, 2 * (2 + 3 * 4));
    assert_step(step++, OBS_TIMED, 0, 0, 0, 0, 0);
    assert_step(step++, OBS_TIMED, 0, 0, 0, 1, 1);
    for (int position = 0; position < 4; position++)
        for (int w = 1; w < 4; w++)
            assert_step(step++, OBS_TIMED, 0, w, position / 2, position % 2, position);
    /* Round 1 begins with the build, its second lane, and the later side. */
    for (int position = 0; position < 4; position++)
        for (int w = 1; w < 4; w++)
            assert_step(step++, OBS_TIMED, 1, w, 1 - position / 2, 1 - position % 2, position);
}

static void steps_of_a_build_are_replaced_together(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    struct suite *s = suite_with_steps(&a);
    struct plan *p = plan_make(&a, s, 1, 1, 0, ORDER_INTERLEAVED, NULL);
    size_t from = p->n;
    plan_replace(&a, p, s, 1, 1, (int[]){-1, 0, 0, 0}, NULL);
    assert_int_equal(p->n - from, 6);
    for (size_t i = from; i < p->n; i++) {
        assert_int_equal(p->steps[i].workload, 1 + (i - from) % 3);
        assert_int_equal(p->steps[i].replaces, 0);
    }
}

/* A report can say of steps what no suite can: one lane fewer, and not side by side. */
static void steps_with_other_lanes_stay_within_theirs(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    struct suite *s = suite_with_steps(&a);
    s->workloads[2].n_lanes = 1;
    s->workloads[3].steps_of = "other";
    assert_int_equal(plan_end_of_steps(s, 1), 3);
    bool yes[] = {true, true};
    const bool *present[] = {yes, yes, yes, yes};
    struct plan *p = plan_make(&a, s, 1, 1, 0, ORDER_INTERLEAVED, present);
    assert_int_equal(p->n, 1 + 2 + 1 + 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interleaved_rotates_workloads_and_lanes_and_turns_the_sides),
        cmocka_unit_test(sequential_runs_one_side_after_the_other),
        cmocka_unit_test(one_side_and_no_warmup_is_a_plan_too),
        cmocka_unit_test(nothing_present_is_an_empty_plan),
        cmocka_unit_test(every_present_lane_runs_exactly_once_per_side_and_repetition),
        cmocka_unit_test(a_lanes_sides_are_adjacent_and_their_order_follows_parity),
        cmocka_unit_test(a_workload_absent_on_one_side_runs_on_the_other),
        cmocka_unit_test(warmups_come_before_everything_timed),
        cmocka_unit_test(positions_count_up_within_kind_repetition_and_workload),
        cmocka_unit_test(each_lane_stands_at_each_place_equally_often),
        cmocka_unit_test(each_workload_opens_a_round_equally_often),
        cmocka_unit_test(what_is_not_run_is_looked_at_once),
        cmocka_unit_test(steps_of_a_build_are_visited_as_one_workload),
        cmocka_unit_test(steps_of_a_build_are_replaced_together),
        cmocka_unit_test(steps_with_other_lanes_stay_within_theirs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
