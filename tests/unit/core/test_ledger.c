/* The ledger: what two readings make of it, and what is too much. */
#include "unit.h"

#include <stdlib.h>

#include "core/ledger/account.h"
#include "core/ledger/ledger_raw.h"

#define MS 1000000LL

/* A lane of one thread that ran for 100 ms on its core, with a silent daemon. */
static struct account quiet(void)
{
    return (struct account){
        .from = {.at_ns = 1000 * MS,
                 .near_busy_ns = 50 * MS,
                 .far_busy_ns = 70 * MS,
                 .near_ticks_ns = -1,
                 .far_ticks_ns = -1,
                 .group_ns = 10 * MS,
                 .lane_ns = 5 * MS,
                 .leader_ns = 5 * MS,
                 .leader_delay_ns = 2 * MS,
                 .runner_ns = 4 * MS,
                 .runner_switches = 7,
                 .daemon_ns = 9 * MS,
                 .daemon_switches = 3,
                 .steal_ns = 10 * MS,
                 .pressure_us = 100,
                 .throttles = 2,
                 .swapped_pages = 0},
        .to = {.at_ns = 1101 * MS,
               .near_busy_ns = 151 * MS,
               .far_busy_ns = 70 * MS,
               .near_ticks_ns = -1,
               .far_ticks_ns = -1,
               .group_ns = 111 * MS,
               .lane_ns = 105 * MS,
               .leader_ns = 105 * MS,
               .leader_delay_ns = 2 * MS,
               .runner_ns = 5 * MS,
               .runner_switches = 9,
               .daemon_ns = 9 * MS,
               .daemon_switches = 3,
               .steal_ns = 10 * MS,
               .pressure_us = 100,
               .throttles = 2,
               .swapped_pages = 0},
        .ticks_off_ns = 10 * MS,
        .pinned = true,
        .preemptions = -1,
    };
}

static struct ledger ledger_of(const struct account *a)
{
    struct ledger l;

    ledger_account(a, &l);
    return l;
}

static void what_is_not_the_lane_nor_the_observer_is_foreign(void **state)
{
    struct account a = quiet();
    struct ledger l = ledger_of(&a);

    (void)state;
    assert_int_equal(l.span_ns, 101 * MS);
    assert_int_equal(l.lane_cpu_ns, 100 * MS);
    assert_int_equal(l.observer_cpu_ns, MS);
    assert_int_equal(l.near_foreign_ns, 0);
    assert_int_equal(l.far_foreign_ns, 0);
    assert_int_equal(l.lane_delay_ns, 0);
    assert_int_equal(l.steal_ns, 0);
    a.to.near_busy_ns += 3 * MS;
    a.to.far_busy_ns += 20 * MS;
    a.to.leader_delay_ns += 3 * MS;
    a.to.steal_ns += 10 * MS;
    a.to.pressure_us += 5;
    a.to.throttles += 1;
    a.to.swapped_pages += 4;
    l = ledger_of(&a);
    assert_int_equal(l.near_foreign_ns, 3 * MS);
    assert_int_equal(l.far_foreign_ns, 20 * MS);
    assert_int_equal(l.lane_delay_ns, 3 * MS);
    assert_int_equal(l.steal_ns, 10 * MS);
    assert_int_equal(l.pressure_us, 5);
    assert_int_equal(l.throttles, 1);
    assert_int_equal(l.swapped_pages, 4);
}

static void the_lanes_children_are_the_lane(void **state)
{
    struct account a = quiet();

    (void)state;
    a.to.near_busy_ns += 30 * MS;
    a.to.group_ns += 30 * MS;
    struct ledger l = ledger_of(&a);
    assert_int_equal(l.lane_cpu_ns, 130 * MS);
    assert_int_equal(l.near_foreign_ns, 0);
    /* Its first thread waits for them: that says nothing of others. */
    a.to.leader_delay_ns += 25 * MS;
    assert_int_equal(ledger_of(&a).lane_delay_ns, -1);
}

static void without_a_group_children_that_have_ended_are_taken_off(void **state)
{
    struct account a = quiet();

    (void)state;
    a.from.group_ns = a.to.group_ns = -1;
    a.to.near_busy_ns += 30 * MS;
    assert_int_equal(ledger_of(&a).near_foreign_ns, 30 * MS);
    a.dead_ns = 28 * MS;
    assert_int_equal(ledger_of(&a).lane_cpu_ns, 128 * MS);
    assert_int_equal(ledger_of(&a).near_foreign_ns, 2 * MS);
    a.dead_ns = 40 * MS;
    assert_int_equal(ledger_of(&a).near_foreign_ns, 0);
    a.dead_ns = -1;
    assert_int_equal(ledger_of(&a).lane_cpu_ns, -1);
    assert_int_equal(ledger_of(&a).near_foreign_ns, -1);
}

static void the_daemons_time_makes_nothing_near_the_lane_smaller(void **state)
{
    struct account a = quiet();

    (void)state;
    a.to.daemon_ns += 6 * MS;
    a.to.near_busy_ns += 4 * MS;
    a.to.far_busy_ns += 6 * MS;
    struct ledger l = ledger_of(&a);
    assert_int_equal(l.near_foreign_ns, 4 * MS);
    assert_int_equal(l.far_foreign_ns, 0);
    assert_int_equal(l.observer_cpu_ns, 7 * MS);
    /* It was near the lane after all: the far CPUs had no such time. */
    a.to.far_busy_ns -= 6 * MS;
    a.to.near_busy_ns += 6 * MS;
    l = ledger_of(&a);
    assert_int_equal(l.near_foreign_ns, 4 * MS);
    assert_int_equal(l.far_foreign_ns, 0);
}

static void a_runner_that_is_not_pinned_may_have_been_anywhere(void **state)
{
    struct account a = quiet();

    (void)state;
    a.pinned = false;
    a.to.near_busy_ns -= MS;
    a.to.far_busy_ns += MS;
    assert_int_equal(ledger_of(&a).near_foreign_ns, 0);
    assert_int_equal(ledger_of(&a).far_foreign_ns, 0);
}

static void a_coarse_counter_finds_what_the_fine_one_has_not_been_charged_with(void **state)
{
    struct account a = quiet();

    (void)state;
    a.from.near_ticks_ns = a.from.far_ticks_ns = 0;
    a.to.near_ticks_ns = 110 * MS; /* within its error */
    a.to.far_ticks_ns = 90 * MS;
    assert_int_equal(ledger_of(&a).near_foreign_ns, 0);
    assert_int_equal(ledger_of(&a).far_foreign_ns, 80 * MS);
}

static void what_cannot_be_read_is_unknown_and_nothing_else(void **state)
{
    struct account a = quiet();

    (void)state;
    a.to.near_busy_ns = -1;
    struct ledger l = ledger_of(&a);
    assert_int_equal(l.near_foreign_ns, -1);
    assert_int_equal(l.far_foreign_ns, -1);
    assert_int_equal(l.lane_cpu_ns, 100 * MS);
    a.from = COUNTERS_UNKNOWN;
    assert_int_equal(ledger_of(&a).span_ns, -1);
    assert_int_equal(ledger_of(&a).lane_cpu_ns, -1);
    assert_int_equal(counted(5, 3), 0); /* it went backwards */
}

/* Whatever the counters say, time is given out once: foreign time is never more than what the CPUs
 * were busy, and never negative. */
static void foreign_time_is_bounded_by_busy_time(void **state)
{
    (void)state;
    for (int i = 0; i < 20000; i++) {
        struct account a = quiet();
        int64_t near_ns = rand() % 1000, far_ns = rand() % 1000;
        a.pinned = rand() % 2;
        a.from.near_busy_ns = a.from.far_busy_ns = a.from.group_ns = a.from.lane_ns = 0;
        a.from.runner_ns = a.from.daemon_ns = 0;
        a.to.near_busy_ns = near_ns;
        a.to.far_busy_ns = far_ns;
        a.to.lane_ns = rand() % 1000;
        a.to.runner_ns = rand() % 100;
        a.to.group_ns = rand() % 2 ? a.to.lane_ns + a.to.runner_ns + rand() % 100 : -1;
        a.to.daemon_ns = rand() % 100;
        a.dead_ns = rand() % 100;
        struct ledger l = ledger_of(&a);
        assert_in_range(l.near_foreign_ns + l.far_foreign_ns, 0, near_ns + far_ns);
        assert_true(l.near_foreign_ns >= 0 && l.far_foreign_ns >= 0);
        int64_t ours = l.lane_cpu_ns + l.observer_cpu_ns;
        if (near_ns + far_ns >= ours)
            assert_true(l.near_foreign_ns + l.far_foreign_ns >= near_ns + far_ns - ours);
    }
}

/* ---- judging */

static const struct ledger_sources cpuacct = {.busy = "cpuacct",
                                              .busy_resolution_ns = MS / 10,
                                              .steal = "stat",
                                              .steal_resolution_ns = 10 * MS};

static struct policy policy_of(enum rule_mode mode)
{
    struct policy p = {0};

    p.rules[COND_STEAL] = (struct rule){.mode = mode, .limit = 0.5};
    p.rules[COND_THERMAL].mode = p.rules[COND_SWAP].mode = mode;
    return p;
}

static int judged_after(const struct ledger *l, struct warmup warmup, enum rule_mode mode)
{
    const struct policy policy = policy_of(mode);
    struct ledger_limits limits;

    ledger_limits(&cpuacct, &policy, 2, &warmup, &limits);
    return ledger_judge(l, &limits);
}

static int judged(const struct ledger *l, int64_t warmup_ns, enum rule_mode mode)
{
    return judged_after(l, (struct warmup){.ns = warmup_ns}, mode);
}

static const struct ledger silent = {
    .span_ns = 200 * MS, .lane_cpu_ns = 200 * MS, .throttles = -1, .swapped_pages = -1};

static void each_reason_has_its_limit(void **state)
{
    static const struct {
        struct ledger l;
        int bit;
    } rows[] = {
        {{.near_foreign_ns = MS + 1}, DISTURBED_NEAR},
        {{.far_foreign_ns = 4 * MS + 1}, DISTURBED_FAR},
        {{.lane_delay_ns = MS + 1}, DISTURBED_DELAY},
        {{.steal_ns = 20 * MS}, DISTURBED_STEAL},
        {{.throttles = 1}, DISTURBED_THROTTLE},
        {{.swapped_pages = 1}, DISTURBED_SWAP},
    };

    (void)state;
    assert_int_equal(judged(&silent, 200 * MS, RULE_REQUIRE), 0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ledger l = rows[i].l;
        assert_int_equal(judged(&l, 200 * MS, RULE_REQUIRE), 1 << rows[i].bit);
    }
    struct ledger at = {
        .near_foreign_ns = MS, .far_foreign_ns = 4 * MS, .lane_delay_ns = MS, .steal_ns = 10 * MS};
    assert_int_equal(judged(&at, 200 * MS, RULE_REQUIRE), 0);
}

static void limits_are_never_finer_than_the_counters(void **state)
{
    struct ledger l = {
        .near_foreign_ns = MS / 5, .far_foreign_ns = MS / 5, .lane_delay_ns = MS / 2};

    (void)state;
    assert_int_equal(judged(&l, MS, RULE_REQUIRE), 0);
    l.near_foreign_ns++;
    assert_int_equal(judged(&l, MS, RULE_REQUIRE), 1 << DISTURBED_NEAR);
}

static void what_stood_beside_every_warmup_may_stand_beside_an_observation(void **state)
{
    const struct warmup beside = {200 * MS, 40 * MS, 80 * MS, false};
    struct ledger l = {.near_foreign_ns = 51 * MS, .far_foreign_ns = 104 * MS};

    (void)state;
    assert_int_equal(judged_after(&l, beside, RULE_REQUIRE), 0);
    l.near_foreign_ns++;
    assert_int_equal(judged_after(&l, beside, RULE_REQUIRE), 1 << DISTURBED_NEAR);
    l.far_foreign_ns++;
    assert_int_equal(judged_after(&l, beside, RULE_REQUIRE),
                     1 << DISTURBED_NEAR | 1 << DISTURBED_FAR);
}

static void near_a_lane_without_a_cpu_of_its_own_is_elsewhere(void **state)
{
    const struct warmup wide = {.ns = 200 * MS, .wide = true};
    struct ledger l = {.near_foreign_ns = 4 * MS};

    (void)state;
    assert_int_equal(judged_after(&l, wide, RULE_REQUIRE), 0);
    l.near_foreign_ns++;
    assert_int_equal(judged_after(&l, wide, RULE_REQUIRE), 1 << DISTURBED_NEAR);
}

static void what_the_observer_uses_beyond_its_share_disturbs(void **state)
{
    const struct ledger_limits limits = {MS, MS, MS, MS, 0, 0};
    struct raw_observation o = {.elapsed_ns = 10 * MS, .runner_cpu_ns = 50000, .ledger = silent};

    (void)state;
    assert_int_equal(observation_judge(&o, &limits), 0);
    o.runner_cpu_ns++;
    assert_int_equal(observation_judge(&o, &limits), 1 << DISTURBED_OBSERVER);
    o.elapsed_ns = 100 * MS; /* of which it may have one part in a thousand */
    assert_int_equal(observation_judge(&o, &limits), 0);
    o.runner_cpu_ns = 2 * MS;
    o.ledger.near_foreign_ns = 2 * MS;
    assert_int_equal(observation_judge(&o, &limits), 1 << DISTURBED_NEAR | 1 << DISTURBED_OBSERVER);
    o.runner_cpu_ns = -1;
    assert_int_equal(observation_judge(&o, &limits), 1 << DISTURBED_NEAR);
    o.runner_cpu_ns = 2 * MS;
    o.ledger = LEDGER_UNKNOWN;
    assert_int_equal(observation_judge(&o, &limits), -1);
    /* While a lane is long the daemon may answer, at the same cost. */
    o = (struct raw_observation){.elapsed_ns = OBSERVER_LONG_NS + 1, .ledger = silent};
    o.daemon_cpu_ns = OBSERVER_LONG_NS / 1000 + 1;
    assert_int_equal(observation_judge(&o, &limits), 1 << DISTURBED_OBSERVER);
}

static void what_the_policy_does_not_require_disturbs_nothing(void **state)
{
    struct ledger l = {.steal_ns = 90 * MS, .throttles = 5, .swapped_pages = 5};

    (void)state;
    assert_int_equal(judged(&l, 200 * MS, RULE_WAIVE), 0);
    assert_int_equal(judged(&l, 200 * MS, RULE_RECORD), 0);
}

static void without_a_warmup_or_a_counter_nothing_is_judged(void **state)
{
    struct ledger l = silent;

    (void)state;
    assert_int_equal(judged(&l, 0, RULE_REQUIRE), -1);
    l.far_foreign_ns = -1;
    assert_int_equal(judged(&l, 200 * MS, RULE_REQUIRE), -1);
    l.lane_delay_ns = 50 * MS; /* but this speaks for itself */
    assert_int_equal(judged(&l, 200 * MS, RULE_REQUIRE), 1 << DISTURBED_DELAY);
    l = LEDGER_UNKNOWN;
    assert_int_equal(judged(&l, 200 * MS, RULE_REQUIRE), -1);
}

static void assert_warmup(struct warmup w, int64_t ns, int64_t near_ns, int64_t far_ns)
{
    assert_int_equal(w.ns, ns);
    assert_int_equal(w.near_ns, near_ns);
    assert_int_equal(w.far_ns, far_ns);
}

static const size_t lanes[] = {2, 1};
static const struct plan_step before = {.workload = 0, .lane = 1, .side = 0};
static const struct plan_step after = {.workload = 0, .lane = 1, .side = 1};
static const struct plan_step other = {.workload = 1, .lane = 0, .side = 1};
static const struct plan_step outside = {.workload = 1, .lane = 1, .side = 0};

static void the_last_warmup_of_a_lane_and_side_counts(void **state)
{
    struct arena a = {0};
    struct warmups w;

    (void)state;
    warmups_init(&a, lanes, 2, 2, &w);
    assert_warmup(warmups_of(&w, &after, 1), 0, 0, 0);
    warmups_note(&w, &after, 5, &silent);
    warmups_note(&w, &after, 7, &silent);
    warmups_note(&w, &after, -1, &silent);
    warmups_note(&w, &outside, 9, &silent);
    assert_warmup(warmups_of(&w, &after, 1), 7, 0, 0);
    assert_warmup(warmups_of(&w, &before, 1), 0, 0, 0);
    assert_warmup(warmups_of(&w, &other, 1), 0, 0, 0);
    assert_warmup(warmups_of(&w, &outside, 1), 0, 0, 0);
    arena_deinit(&a);
}

/* A burst in one of them raises no limit, on neither side. */
static void only_what_every_warmup_of_a_lane_had_beside_it_counts(void **state)
{
    const struct ledger little = {.near_foreign_ns = 3, .far_foreign_ns = 40};
    const struct ledger burst = {.near_foreign_ns = 900, .far_foreign_ns = 30};
    const struct ledger unknown = LEDGER_UNKNOWN;
    struct arena a = {0};
    struct warmups w;

    (void)state;
    warmups_init(&a, lanes, 2, 2, &w);
    warmups_note(&w, &before, 5, &burst);
    assert_warmup(warmups_of(&w, &before, 1), 5, 900, 30);
    warmups_note(&w, &after, 6, &little);
    assert_warmup(warmups_of(&w, &before, 1), 5, 3, 30);
    assert_warmup(warmups_of(&w, &after, 1), 6, 3, 30);
    warmups_note(&w, &other, 6, &burst);
    assert_warmup(warmups_of(&w, &after, 1), 6, 3, 30);
    warmups_note(&w, &after, 7, &unknown);
    assert_warmup(warmups_of(&w, &before, 1), 5, 0, 0);
    arena_deinit(&a);
}

int main(void)
{
#define T(name) cmocka_unit_test(name)
    const struct CMUnitTest tests[] = {
        T(what_is_not_the_lane_nor_the_observer_is_foreign),
        T(the_lanes_children_are_the_lane),
        T(without_a_group_children_that_have_ended_are_taken_off),
        T(the_daemons_time_makes_nothing_near_the_lane_smaller),
        T(a_runner_that_is_not_pinned_may_have_been_anywhere),
        T(a_coarse_counter_finds_what_the_fine_one_has_not_been_charged_with),
        T(what_cannot_be_read_is_unknown_and_nothing_else),
        T(foreign_time_is_bounded_by_busy_time),
        T(each_reason_has_its_limit),
        T(limits_are_never_finer_than_the_counters),
        T(what_the_policy_does_not_require_disturbs_nothing),
        T(without_a_warmup_or_a_counter_nothing_is_judged),
        T(the_last_warmup_of_a_lane_and_side_counts),
        T(only_what_every_warmup_of_a_lane_had_beside_it_counts),
        T(near_a_lane_without_a_cpu_of_its_own_is_elsewhere),
        T(what_the_observer_uses_beyond_its_share_disturbs),
        T(what_stood_beside_every_warmup_may_stand_beside_an_observation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
