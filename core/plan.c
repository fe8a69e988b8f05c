#include "core/plan.h"

#include <string.h>

struct planner {
    const struct suite *suite;
    const bool *const *present;
    struct plan *plan;
    size_t n_sides;
    int *lanes;          /* scratch: the lanes of the workload at hand that run in this round */
    const int *replaces; /* by workload; NULL: this round replaces nothing */
    size_t *visits;      /* the workloads that are visited alone, or with those behind them */
    size_t n_visits;
};

/* One pass over all workloads for some of the sides. turn rotates and decides which side is first;
 * it goes on from the warmups to the timed rounds and is negative before the first of these. */
struct round {
    enum obs_kind kind;
    int repetition;
    int turn;
    size_t side_first, side_count;
};

static size_t rotated(size_t i, int turn, size_t n)
{
    int whole = (int)n;
    return (i + (size_t)((turn % whole + whole) % whole)) % n;
}

int plan_repetitions(enum measure m, int asked)
{
    return measure_runs(m) || asked < 1 ? asked : 1;
}

int plan_warmups(enum measure m, int asked)
{
    return measure_runs(m) ? asked : 0;
}

static bool is_present(const struct planner *p, size_t w, size_t lane, size_t side)
{
    return !p->present || p->present[w][lane * p->n_sides + side];
}

/* How many of the round's sides a lane runs on. */
static size_t sides_of(const struct planner *p, const struct round *round, size_t w, size_t lane)
{
    size_t n = 0;
    for (size_t side = 0; side < round->side_count; side++)
        n += is_present(p, w, lane, round->side_first + side);
    return n;
}

/* Fills the scratch list with the lanes that run on one of the round's sides. */
static size_t present_lanes(struct planner *p, const struct round *round, size_t w)
{
    size_t n = 0;
    for (size_t l = 0; l < p->suite->workloads[w].n_lanes; l++)
        if (sides_of(p, round, w, l) > 0)
            p->lanes[n++] = (int)l;
    return n;
}

/* Sequential sides come in several rounds of one repetition: a later one counts on. */
static int first_position(const struct planner *p, const struct round *round, size_t w)
{
    const struct round earlier = {.side_first = 0, .side_count = round->side_first};
    size_t n = 0;
    for (size_t l = 0; l < p->suite->workloads[w].n_lanes; l++)
        n += sides_of(p, &earlier, w, l);
    return (int)n;
}

bool plan_is_one_build(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

size_t plan_end_of_steps(const struct suite *suite, size_t first)
{
    size_t end = first + 1;

    while (end < suite->n_workloads &&
           plan_is_one_build(suite->workloads[first].steps_of, suite->workloads[end].steps_of))
        end++;
    return end;
}

/* The observations of one lane on one side: one, or one of each step of a build. */
static void plan_lane(struct planner *p, const struct plan_step *at, size_t end)
{
    struct plan_step step = *at;

    for (size_t w = (size_t)at->workload; w < end; w++) {
        bool has_lane = (size_t)step.lane < p->suite->workloads[w].n_lanes;
        if (!has_lane || !is_present(p, w, (size_t)step.lane, (size_t)step.side))
            continue;
        step.workload = (int)w;
        step.seq = (int)p->plan->n;
        p->plan->steps[p->plan->n++] = step;
    }
}

/* w is the first of those that are visited together, end what comes behind them. */
static void plan_workload(struct planner *p, const struct round *round, size_t w, size_t end)
{
    bool is_once = !measure_runs(p->suite->workloads[w].measure);
    if (is_once && (round->kind == OBS_WARMUP || round->repetition > 0))
        return;
    size_t n = present_lanes(p, round, w);
    int position = first_position(p, round, w);
    for (size_t i = 0; i < n * round->side_count; i++) {
        int lane = p->lanes[rotated(i / round->side_count, round->turn, n)];
        size_t turn_of_side = i % round->side_count;
        size_t side = round->side_first +
                      (round->turn % 2 ? round->side_count - 1 - turn_of_side : turn_of_side);
        if (!is_present(p, w, (size_t)lane, side))
            continue;
        const struct plan_step at = {
            .workload = (int)w,
            .lane = lane,
            .side = (int)side,
            .repetition = round->repetition,
            .position = position++,
            .kind = round->kind,
            .replaces = p->replaces ? p->replaces[w] : -1,
        };
        plan_lane(p, &at, end);
    }
}

static void plan_round(struct planner *p, const struct round *round)
{
    for (size_t i = 0; i < p->n_visits; i++) {
        size_t w = p->visits[rotated(i, round->turn, p->n_visits)];
        if (!p->replaces || p->replaces[w] >= 0)
            plan_workload(p, round, w, plan_end_of_steps(p->suite, w));
    }
}

static void plan_sides(struct planner *p, int repetitions, int warmups, size_t side_first,
                       size_t side_count)
{
    struct round round = {.side_first = side_first, .side_count = side_count};
    for (round.turn = -warmups; round.turn < repetitions; round.turn++) {
        bool warmup = round.turn < 0;
        round.kind = warmup ? OBS_WARMUP : OBS_TIMED;
        round.repetition = warmup ? round.turn + warmups : round.turn;
        plan_round(p, &round);
    }
}

/* Room for every step and for the longest list of lanes. */
static void planner_reserve(struct planner *p, struct arena *a, int rounds)
{
    const struct round all = {.side_first = 0, .side_count = p->n_sides};
    struct plan *plan = p->plan;
    size_t lanes = 0, steps_of_round = 0;
    for (size_t w = 0; w < p->suite->n_workloads; w++) {
        lanes += p->suite->workloads[w].n_lanes;
        for (size_t l = 0; l < p->suite->workloads[w].n_lanes; l++)
            steps_of_round += sides_of(p, &all, w, l);
    }
    p->lanes = arena_array(a, lanes, sizeof *p->lanes);
    p->visits = arena_array(a, p->suite->n_workloads, sizeof *p->visits);
    p->n_visits = 0;
    for (size_t w = 0; w < p->suite->n_workloads; w = plan_end_of_steps(p->suite, w))
        p->visits[p->n_visits++] = w;
    size_t needed = plan->n + steps_of_round * (size_t)rounds;
    if (needed <= plan->cap)
        return;
    /* Half as much again, so that many rounds of replacements do not copy it each time. */
    plan->cap = plan->n > 0 ? needed + needed / 2 : needed;
    struct plan_step *steps = arena_array(a, plan->cap, sizeof *steps);
    if (plan->n > 0)
        memcpy(steps, plan->steps, plan->n * sizeof *steps);
    plan->steps = steps;
}

struct plan *plan_make(struct arena *a, const struct suite *suite, size_t n_sides, int repetitions,
                       int warmups, enum order order, const bool *const *present)
{
    struct planner p = {
        .suite = suite,
        .present = present,
        .plan = arena_alloc(a, sizeof(struct plan)),
        .n_sides = n_sides,
    };
    planner_reserve(&p, a, repetitions + warmups);
    if (order == ORDER_INTERLEAVED)
        plan_sides(&p, repetitions, warmups, 0, n_sides);
    else
        for (size_t side = 0; side < n_sides; side++)
            plan_sides(&p, repetitions, warmups, side, 1);
    return p.plan;
}

void plan_replace(struct arena *a, struct plan *plan, const struct suite *suite, size_t n_sides,
                  int repetition, const int *replaces, const bool *const *present)
{
    struct planner p = {
        .suite = suite,
        .present = present,
        .plan = plan,
        .n_sides = n_sides,
        .replaces = replaces,
    };
    const struct round round = {.kind = OBS_TIMED,
                                .repetition = repetition,
                                .turn = repetition,
                                .side_first = 0,
                                .side_count = n_sides};
    planner_reserve(&p, a, 1);
    plan_round(&p, &round);
}
