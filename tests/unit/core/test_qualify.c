/* Conditions: what each one asks, where it fails, when it is unknown, and when absence is proved;
 * and the decision that follows. */
#include "unit/unit.h"

#include "core/quiet/qualify.h"
#include "unit/core/policies.h"

struct bench {
    struct arena arena;
    struct policy policy;
    struct host_identity host;
    struct host_facts first, now;
    struct qualify_job job;
    struct condition_result results[COND_COUNT];
};

static struct bench bench;

static void set_fact(struct host_facts *f, enum fact_id id, int64_t value, const char *text)
{
    f->facts[id] = (struct fact){.state = FACT_KNOWN, .value = value, .text = text};
}

/* A good desktop on bare metal, half a second after its first facts. */
static int fresh_bench(void **state)
{
    bench = (struct bench){
        .policy = policy_standard(),
        .host = {.model = "T14", .os = "Debian GNU/Linux 12 (bookworm)", .cores = 8},
        .job = {.is_comparison = true, .control_everywhere = true},
    };
    struct host_facts *f = &bench.now;
    set_fact(f, FACT_MAINS, 1, NULL);
    set_fact(f, FACT_GOVERNOR, 0, "performance");
    set_fact(f, FACT_BOOST, 0, NULL);
    set_fact(f, FACT_ENERGY, 0, "performance");
    set_fact(f, FACT_MEMORY_AVAILABLE, 8000, NULL);
    set_fact(f, FACT_MEMORY_TOTAL, 16000, NULL);
    set_fact(f, FACT_UPTIME, 3600000, NULL);
    set_fact(f, FACT_PID_NAMESPACE, 1, NULL);
    set_fact(f, FACT_CALIBRATION, 1, NULL);
    set_fact(f, FACT_CPU_TICKS, 100000, NULL);
    const enum fact_id zero[] = {FACT_LOW_POWER,   FACT_THROTTLES, FACT_THERMAL_STATE,
                                 FACT_STEAL_TICKS, FACT_SWAP_IN,   FACT_SUSPEND,
                                 FACT_VIRTUAL};
    for (size_t i = 0; i < sizeof zero / sizeof zero[0]; i++)
        set_fact(f, zero[i], 0, NULL);
    bench.first = bench.now;
    bench.first.facts[FACT_CPU_TICKS].value -= 1000;
    *state = &bench;
    return 0;
}

static int drop_bench(void **state)
{
    struct bench *b = *state;
    arena_deinit(&b->arena);
    return 0;
}

static enum tri judged(struct bench *b, enum condition c)
{
    qualify_conditions(&b->arena, &b->policy, &b->host, &b->first, &b->now, &b->job, b->results);
    for (int i = 0; i < COND_COUNT; i++) {
        assert_int_equal(b->results[i].condition, i);
        assert_non_null(b->results[i].seen);
        assert_int_equal(b->results[i].needed != NULL, b->results[i].mode == RULE_REQUIRE);
    }
    return b->results[c].status;
}

static void expect(struct bench *b, enum condition c, enum tri status)
{
    assert_string_equal(tri_name(judged(b, c)), tri_name(status));
}

static struct fact *now(struct bench *b, enum fact_id id)
{
    return &b->now.facts[id];
}

static void a_good_host_meets_standard(void **state)
{
    struct bench *b = *state;
    expect(b, COND_MAINS, TRI_PASS);
    for (int c = 0; c < COND_COUNT; c++)
        if (b->results[c].mode == RULE_REQUIRE)
            assert_true(b->results[c].status == TRI_PASS ||
                        b->results[c].status == TRI_NOT_APPLICABLE);
    assert_int_equal(qualify_conditions_met(b->results), TRI_PASS);
}

static void flags_pass_on_their_good_value_only(void **state)
{
    static const struct {
        enum condition condition;
        enum fact_id fact;
        int64_t good;
    } flags[] = {
        {COND_MAINS, FACT_MAINS, 1},
        {COND_LOW_POWER, FACT_LOW_POWER, 0},
        {COND_PID_NAMESPACE, FACT_PID_NAMESPACE, 1},
        {COND_BARE_METAL, FACT_VIRTUAL, 0},
        {COND_CALIBRATION, FACT_CALIBRATION, 1},
    };
    struct bench *b = *state;
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        struct fact *f = now(b, flags[i].fact);
        f->value = flags[i].good;
        expect(b, flags[i].condition, TRI_PASS);
        f->value = !flags[i].good;
        expect(b, flags[i].condition, TRI_FAIL);
        f->state = FACT_ABSENT;
        expect(b, flags[i].condition, TRI_NOT_APPLICABLE);
        f->state = FACT_UNKNOWN;
        expect(b, flags[i].condition, TRI_UNKNOWN);
        f->state = FACT_KNOWN;
        f->value = flags[i].good;
    }
}

static void a_setting_must_not_change_between_phases(void **state)
{
    struct bench *b = *state;
    now(b, FACT_GOVERNOR)->text = "powersave";
    expect(b, COND_GOVERNOR, TRI_FAIL);
    assert_string_equal(b->results[COND_GOVERNOR].seen, "changed from performance to powersave");
    b->first.facts[FACT_GOVERNOR].text = "powersave";
    expect(b, COND_GOVERNOR, TRI_PASS);
    now(b, FACT_BOOST)->value = 1;
    expect(b, COND_BOOST, TRI_FAIL);
    now(b, FACT_ENERGY)->state = FACT_ABSENT;
    expect(b, COND_ENERGY, TRI_FAIL);
    b->first.facts[FACT_ENERGY].state = FACT_ABSENT;
    expect(b, COND_ENERGY, TRI_NOT_APPLICABLE);
    b->first.facts[FACT_ENERGY].state = FACT_UNKNOWN;
    expect(b, COND_ENERGY, TRI_UNKNOWN);
}

static void a_policy_may_name_the_setting(void **state)
{
    struct bench *b = *state;
    b->policy = policy_strict();
    expect(b, COND_GOVERNOR, TRI_PASS);
    expect(b, COND_BOOST, TRI_PASS);
    now(b, FACT_GOVERNOR)->text = b->first.facts[FACT_GOVERNOR].text = "performance,powersave";
    expect(b, COND_GOVERNOR, TRI_FAIL);
    now(b, FACT_BOOST)->value = b->first.facts[FACT_BOOST].value = 1;
    expect(b, COND_BOOST, TRI_FAIL);
    assert_string_equal(b->results[COND_BOOST].needed, "off, unchanged between phases");
}

static void thermal_needs_still_counters_and_a_nominal_state(void **state)
{
    struct bench *b = *state;
    now(b, FACT_THROTTLES)->value = 1;
    expect(b, COND_THERMAL, TRI_FAIL);
    now(b, FACT_THROTTLES)->value = 0;
    now(b, FACT_THERMAL_STATE)->value = 1;
    expect(b, COND_THERMAL, TRI_FAIL);
    now(b, FACT_THERMAL_STATE)->state = FACT_UNKNOWN;
    expect(b, COND_THERMAL, TRI_UNKNOWN);
    now(b, FACT_THERMAL_STATE)->state = FACT_ABSENT;
    expect(b, COND_THERMAL, TRI_PASS);
    now(b, FACT_THROTTLES)->state = FACT_ABSENT;
    expect(b, COND_THERMAL, TRI_NOT_APPLICABLE);
    b->first.facts[FACT_THROTTLES].value = 9;
    now(b, FACT_THROTTLES)->state = FACT_KNOWN;
    expect(b, COND_THERMAL, TRI_UNKNOWN);
}

static void steal_is_judged_in_a_guest_only(void **state)
{
    struct bench *b = *state;
    now(b, FACT_STEAL_TICKS)->value = 10; /* 1 % of the 1000 ticks since the first facts */
    expect(b, COND_STEAL, TRI_NOT_APPLICABLE);
    now(b, FACT_VIRTUAL)->value = 1;
    expect(b, COND_STEAL, TRI_FAIL);
    assert_string_equal(b->results[COND_STEAL].seen, "1.00 % stolen (10 of 1000 ticks)");
    now(b, FACT_STEAL_TICKS)->value = 5;
    expect(b, COND_STEAL, TRI_PASS);
    now(b, FACT_STEAL_TICKS)->value = 6;
    expect(b, COND_STEAL, TRI_FAIL);
    now(b, FACT_VIRTUAL)->state = FACT_UNKNOWN;
    expect(b, COND_STEAL, TRI_FAIL);
    now(b, FACT_STEAL_TICKS)->state = FACT_UNKNOWN;
    expect(b, COND_STEAL, TRI_UNKNOWN);
}

static void steal_without_an_interval_is_unknown(void **state)
{
    struct bench *b = *state;
    now(b, FACT_VIRTUAL)->value = 1;
    b->first = b->now;
    expect(b, COND_STEAL, TRI_UNKNOWN);
    b->first.facts[FACT_CPU_TICKS].value += 1;
    expect(b, COND_STEAL, TRI_UNKNOWN);
}

/* 50 ticks: one of them is 2 %, but no counter can say less than one. */
static void one_stolen_tick_is_within_the_counters_resolution(void **state)
{
    struct bench *b = *state;
    now(b, FACT_VIRTUAL)->value = 1;
    b->first.facts[FACT_CPU_TICKS].value = now(b, FACT_CPU_TICKS)->value - 50;
    now(b, FACT_STEAL_TICKS)->value = 1;
    expect(b, COND_STEAL, TRI_PASS);
    now(b, FACT_STEAL_TICKS)->value = 2;
    expect(b, COND_STEAL, TRI_FAIL);
}

static void nothing_may_be_swapped_in(void **state)
{
    struct bench *b = *state;
    expect(b, COND_SWAP, TRI_PASS);
    now(b, FACT_SWAP_IN)->value = 1;
    expect(b, COND_SWAP, TRI_FAIL);
    now(b, FACT_SWAP_IN)->state = FACT_UNKNOWN;
    expect(b, COND_SWAP, TRI_UNKNOWN);
    now(b, FACT_SWAP_IN)->state = FACT_KNOWN;
    b->first.facts[FACT_SWAP_IN].state = FACT_UNKNOWN;
    expect(b, COND_SWAP, TRI_UNKNOWN);
}

static void memory_and_uptime_have_limits(void **state)
{
    struct bench *b = *state;
    now(b, FACT_MEMORY_AVAILABLE)->value = 1600;
    expect(b, COND_MEMORY, TRI_PASS);
    now(b, FACT_MEMORY_AVAILABLE)->value = 1599;
    expect(b, COND_MEMORY, TRI_FAIL);
    now(b, FACT_MEMORY_TOTAL)->value = 0;
    expect(b, COND_MEMORY, TRI_UNKNOWN);
    now(b, FACT_MEMORY_TOTAL)->state = FACT_UNKNOWN;
    expect(b, COND_MEMORY, TRI_UNKNOWN);
    now(b, FACT_UPTIME)->value = 120000;
    expect(b, COND_UPTIME, TRI_PASS);
    now(b, FACT_UPTIME)->value = 119999;
    expect(b, COND_UPTIME, TRI_FAIL);
    now(b, FACT_UPTIME)->state = FACT_UNKNOWN;
    expect(b, COND_UPTIME, TRI_UNKNOWN);
}

static void a_suspend_fails_and_jitter_of_the_clocks_does_not(void **state)
{
    struct bench *b = *state;
    now(b, FACT_SUSPEND)->value = 2;
    expect(b, COND_SUSPEND, TRI_PASS);
    now(b, FACT_SUSPEND)->value = 1000;
    expect(b, COND_SUSPEND, TRI_FAIL);
    now(b, FACT_SUSPEND)->value = -1000;
    expect(b, COND_SUSPEND, TRI_UNKNOWN);
    now(b, FACT_SUSPEND)->state = FACT_UNKNOWN;
    expect(b, COND_SUSPEND, TRI_UNKNOWN);
}

static void a_named_host_must_be_this_one(void **state)
{
    struct bench *b = *state;
    expect(b, COND_HOST_CONTRACT, TRI_NOT_APPLICABLE);
    b->policy.contract = (struct host_contract){.model = "T14", .os = b->host.os, .cores = 8};
    expect(b, COND_HOST_CONTRACT, TRI_PASS);
    b->policy.contract.cores = 16;
    expect(b, COND_HOST_CONTRACT, TRI_FAIL);
    b->policy.contract = (struct host_contract){.model = "T15"};
    expect(b, COND_HOST_CONTRACT, TRI_FAIL);
    b->policy.contract = (struct host_contract){.os = "Debian GNU/Linux 13 (trixie)"};
    expect(b, COND_HOST_CONTRACT, TRI_FAIL);
    b->policy.contract = (struct host_contract){.model = "T14"};
    b->host.model = "";
    expect(b, COND_HOST_CONTRACT, TRI_UNKNOWN);
    b->policy.contract.cores = 16; /* a mismatch outweighs what is unknown */
    expect(b, COND_HOST_CONTRACT, TRI_FAIL);
}

static void control_lanes_are_asked_of_comparisons_only(void **state)
{
    struct bench *b = *state;
    b->policy = policy_virtual();
    expect(b, COND_CONTROL, TRI_PASS);
    b->job.control_everywhere = false;
    expect(b, COND_CONTROL, TRI_FAIL);
    b->job.is_comparison = false;
    expect(b, COND_CONTROL, TRI_NOT_APPLICABLE);
}

static void only_required_conditions_count(void **state)
{
    struct bench *b = *state;
    now(b, FACT_MAINS)->value = 0;
    for (int mode = RULE_REQUIRE; mode <= RULE_RECORD; mode++) {
        b->policy.rules[COND_MAINS].mode = (enum rule_mode)mode;
        expect(b, COND_MAINS, TRI_FAIL);
        assert_int_equal(b->results[COND_MAINS].mode, mode);
        assert_int_equal(qualify_conditions_met(b->results),
                         mode == RULE_REQUIRE ? TRI_FAIL : TRI_PASS);
        assert_int_equal(b->results[COND_MAINS].needed != NULL, mode == RULE_REQUIRE);
    }
}

static void unknown_is_never_a_pass_and_fail_outweighs_it(void **state)
{
    struct bench *b = *state;
    now(b, FACT_MAINS)->state = FACT_UNKNOWN;
    expect(b, COND_MAINS, TRI_UNKNOWN);
    assert_int_equal(qualify_conditions_met(b->results), TRI_UNKNOWN);
    now(b, FACT_UPTIME)->value = 0;
    expect(b, COND_UPTIME, TRI_FAIL);
    assert_int_equal(qualify_conditions_met(b->results), TRI_FAIL);
}

/* ---- the decision */

static struct phase_record phase_of(struct bench *b, struct inventory *inv)
{
    struct phase_record phase = {.inventory = inv, .facts = b->now};
    (void)judged(b, COND_MAINS);
    memcpy(phase.conditions, b->results, sizeof phase.conditions);
    return phase;
}

static struct competitor burner = {
    .pid = 4711,
    .command = "burner",
    .share_pct = {98, 100},
    .reasons = COMPETE_SUSTAINED,
};

static void a_quiet_host_that_meets_the_policy_goes_on(void **state)
{
    struct bench *b = *state;
    struct inventory quiet = {.state = INVENTORY_QUIET};
    struct phase_record phase = phase_of(b, &quiet);
    const char *reason = "untouched";
    assert_true(qualify_decide(&b->arena, &phase, false, &reason));
    assert_null(reason);
}

static void noise_refuses_unless_it_is_allowed(void **state)
{
    struct bench *b = *state;
    struct inventory busy = {.phase = PHASE_BEFORE_TIMING,
                             .state = INVENTORY_BUSY,
                             .competitors = &burner,
                             .n_competitors = 1};
    struct phase_record phase = phase_of(b, &busy);
    const char *reason = NULL;
    assert_false(qualify_decide(&b->arena, &phase, false, &reason));
    assert_string_equal(reason, "before timing, the host is not quiet: "
                                "burner (pid 4711) at 99 % of a core");
    assert_true(qualify_decide(&b->arena, &phase, true, &reason));
    assert_null(reason);
}

static void a_partial_or_missing_inventory_is_not_quiet(void **state)
{
    struct bench *b = *state;
    struct inventory partial = {.state = INVENTORY_PARTIAL, .partial_reason = "1 of 3 snapshots"};
    struct phase_record phase = phase_of(b, &partial);
    const char *reason = NULL;
    assert_false(qualify_decide(&b->arena, &phase, false, &reason));
    assert_non_null(strstr(reason, "1 of 3 snapshots"));
    phase.inventory = NULL;
    assert_false(qualify_decide(&b->arena, &phase, false, &reason));
    assert_non_null(strstr(reason, "no inventory"));
}

static void a_failed_condition_refuses_unless_overridden_and_an_unknown_one_does_not(void **state)
{
    struct bench *b = *state;
    struct inventory quiet = {.state = INVENTORY_QUIET};
    now(b, FACT_MAINS)->state = FACT_UNKNOWN;
    struct phase_record phase = phase_of(b, &quiet);
    const char *reason = NULL;
    assert_true(qualify_decide(&b->arena, &phase, false, &reason));
    set_fact(&b->now, FACT_MAINS, 0, NULL);
    phase = phase_of(b, &quiet);
    assert_true(qualify_decide(&b->arena, &phase, true, &reason));
    assert_null(reason);
    assert_false(qualify_decide(&b->arena, &phase, false, &reason));
    assert_string_equal(reason, "before build, the host does not meet the policy: mains power: on "
                                "battery (needed: on mains power)");
}

static void a_refusal_names_four_competitors_and_counts_the_rest(void **state)
{
    struct bench *b = *state;
    struct competitor many[6] = {burner, burner, burner, burner, burner, burner};
    many[1] = (struct competitor){
        .command = "(forks)", .args = "90 new processes a second", .reasons = COMPETE_FORKS};
    many[2] = (struct competitor){
        .command = "(unattributed)", .share_pct = {40, 42}, .reasons = COMPETE_AGGREGATE};
    many[3] = (struct competitor){.command = "(lane CPUs)",
                                  .args = "CPU 1, which the lanes will use",
                                  .share_pct = {3, 3},
                                  .reasons = COMPETE_LANE_CPUS};
    struct inventory busy = {.state = INVENTORY_BUSY, .competitors = many, .n_competitors = 6};
    struct phase_record phase = phase_of(b, &busy);
    const char *reason = NULL;
    assert_false(qualify_decide(&b->arena, &phase, false, &reason));
    assert_non_null(strstr(reason, "90 new processes a second"));
    assert_non_null(strstr(reason, "41 % of a core that no process explains"));
    assert_non_null(strstr(reason, "3.0 % foreign time on CPU 1"));
    assert_non_null(strstr(reason, "and 2 more"));
}

#define BENCH_TEST(name) cmocka_unit_test_setup_teardown(name, fresh_bench, drop_bench)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BENCH_TEST(a_good_host_meets_standard),
        BENCH_TEST(flags_pass_on_their_good_value_only),
        BENCH_TEST(a_setting_must_not_change_between_phases),
        BENCH_TEST(a_policy_may_name_the_setting),
        BENCH_TEST(thermal_needs_still_counters_and_a_nominal_state),
        BENCH_TEST(steal_is_judged_in_a_guest_only),
        BENCH_TEST(steal_without_an_interval_is_unknown),
        BENCH_TEST(one_stolen_tick_is_within_the_counters_resolution),
        BENCH_TEST(nothing_may_be_swapped_in),
        BENCH_TEST(memory_and_uptime_have_limits),
        BENCH_TEST(a_suspend_fails_and_jitter_of_the_clocks_does_not),
        BENCH_TEST(a_named_host_must_be_this_one),
        BENCH_TEST(control_lanes_are_asked_of_comparisons_only),
        BENCH_TEST(only_required_conditions_count),
        BENCH_TEST(unknown_is_never_a_pass_and_fail_outweighs_it),
        BENCH_TEST(a_quiet_host_that_meets_the_policy_goes_on),
        BENCH_TEST(noise_refuses_unless_it_is_allowed),
        BENCH_TEST(a_partial_or_missing_inventory_is_not_quiet),
        BENCH_TEST(a_failed_condition_refuses_unless_overridden_and_an_unknown_one_does_not),
        BENCH_TEST(a_refusal_names_four_competitors_and_counts_the_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
