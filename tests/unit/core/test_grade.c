/* Each predicate, in every value that it can take: the perfect report with one fact bent. */
#include "unit.h"

#include "base/mem.h"
#include "core/summary/summarise.h"

#include "calibrations.h"
#include "raw_fixture.h"

/* One world for each test: a perfect report that the test bends. */
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

/* The grade with the drifts that follow from the report. */
static struct grade_result graded(void)
{
    return summarise(&arena, raw)->grade;
}

static void expect(enum predicate p, enum tri status, const char *words)
{
    raw_expect(&arena, raw, p, status, words);
}

static void a_perfect_report_is_contractual(void **state)
{
    (void)state;
    struct grade_result g = graded();
    for (int p = 0; p < PRED_COUNT; p++) {
        bool absent =
            p == PRED_HOST_CONTRACT || p == PRED_CORRECTIONS_PROVEN || p == PRED_NO_PROFILE;
        enum tri expected = absent ? TRI_NOT_APPLICABLE : TRI_PASS;
        if (g.predicates[p].status != expected)
            fail_msg("%s: %s", predicate_name((enum predicate)p), g.predicates[p].fact);
        assert_non_null(g.predicates[p].fact);
    }
    assert_int_equal(g.value, GRADE_CONTRACTUAL);
    assert_string_equal(g.line, "contractual, policy standard");
}

static void the_line_names_waivers_and_what_failed_or_is_unknown(void **state)
{
    (void)state;
    raw->policy.name = "virtual";
    raw->policy.rules[COND_MAINS].mode = RULE_WAIVE;
    raw->policy.rules[COND_GOVERNOR].mode = RULE_WAIVE;
    raw->policy.rules[COND_SWAP].mode = RULE_RECORD; /* recorded is not waived */
    raw->job.allow_competing = true;
    raw->suspend_after_ms = -1;
    assert_string_equal(graded().line, "diagnostic, policy virtual, waived: mains, governor; "
                                       "failed: no_override; unknown: no_suspend");
}

static void a_void_attempt_is_void_and_names_why(void **state)
{
    (void)state;
    raw->void_code = "lane.done_wrong";
    raw->observations[3].outcome = "lane.done_wrong";
    struct grade_result g = graded();
    assert_int_equal(g.value, GRADE_VOID);
    assert_int_equal(g.predicates[PRED_PROTOCOL_EXACT].status, TRI_FAIL);
    assert_int_equal(strncmp(g.line, "void (lane.done_wrong), policy standard; failed: ", 49), 0);
    assert_non_null(strstr(g.line, "protocol_exact"));
}

static void each_inventory_is_judged_in_its_own_phase(void **state)
{
    (void)state;
    struct competitor burner = {.command = "burner", .share_pct = {99.5, 99}};
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        enum predicate p = (enum predicate)(PRED_INVENTORY_BEFORE_BUILD + phase);
        struct inventory *inv = raw->phases[phase].inventory;
        expect(p, TRI_PASS, "empty");
        inv->state = INVENTORY_BUSY;
        inv->competitors = &burner;
        inv->n_competitors = 1;
        expect(p, TRI_FAIL, "burner (99.5 % of a core)");
        inv->state = INVENTORY_PARTIAL;
        inv->partial_reason = "hidden processes";
        expect(p, TRI_UNKNOWN, "hidden processes");
        raw->phases[phase].inventory = NULL;
        expect(p, TRI_UNKNOWN, "no inventory was taken");
    }
}

static void inventories_complete(void **state)
{
    (void)state;
    expect(PRED_INVENTORIES_COMPLETE, TRI_PASS, "all three");
    raw->phases[PHASE_AFTER_TIMING].inventory->state = INVENTORY_BUSY; /* complete all the same */
    expect(PRED_INVENTORIES_COMPLETE, TRI_PASS, "all three");
    raw->phases[PHASE_AFTER_TIMING].inventory = NULL;
    expect(PRED_INVENTORIES_COMPLETE, TRI_UNKNOWN, "none was taken after timing");
    raw->phases[PHASE_BEFORE_BUILD].inventory->state = INVENTORY_PARTIAL;
    expect(PRED_INVENTORIES_COMPLETE, TRI_FAIL, "partial before build");
}

static void conditions_met(void **state)
{
    (void)state;
    struct condition_result *mains = &raw->phases[PHASE_BEFORE_TIMING].conditions[COND_MAINS];
    struct condition_result *swap = &raw->phases[PHASE_AFTER_TIMING].conditions[COND_SWAP];
    expect(PRED_CONDITIONS_MET, TRI_PASS, "in all phases");
    mains->status = TRI_NOT_APPLICABLE;
    expect(PRED_CONDITIONS_MET, TRI_PASS, "in all phases");
    mains->status = TRI_UNKNOWN;
    expect(PRED_CONDITIONS_MET, TRI_UNKNOWN, "before timing: mains not known");
    swap->status = TRI_FAIL;
    expect(PRED_CONDITIONS_MET, TRI_FAIL, "after timing: swap");
    raw->phases[PHASE_AFTER_TIMING].conditions[COND_MAINS] =
        (struct condition_result){COND_MAINS, TRI_FAIL, RULE_WAIVE, NULL, NULL};
    assert_string_equal(graded().predicates[PRED_CONDITIONS_MET].fact, "after timing: swap");
    swap->mode = mains->mode = RULE_WAIVE;
    expect(PRED_CONDITIONS_MET, TRI_PASS, "in all phases");
}

static void a_policy_that_requires_a_calibration_finds_it_in_the_report(void **state)
{
    (void)state;
    raw->policy.rules[COND_CALIBRATION].mode = RULE_REQUIRE;
    expect(PRED_CONDITIONS_MET, TRI_UNKNOWN, "no calibration of its boot");
    struct calibration *c = calibrate(&arena, raw, 0.001);
    expect(PRED_CONDITIONS_MET, TRI_PASS, "in all phases");
    c->boot = "another";
    expect(PRED_CONDITIONS_MET, TRI_UNKNOWN, "no calibration of its boot");
}

static void conditions_that_were_never_judged_are_unknown(void **state)
{
    (void)state;
    struct phase_record *record = &raw->phases[PHASE_AFTER_TIMING];
    memset(record->conditions, 0, sizeof record->conditions);
    expect(PRED_CONDITIONS_MET, TRI_UNKNOWN, "after timing: not judged");
    expect(PRED_HOST_CONTRACT, TRI_UNKNOWN, "after timing: not judged");
    record->inventory = NULL;
    expect(PRED_CONDITIONS_MET, TRI_UNKNOWN, "after timing: not judged");
}

static void host_contract(void **state)
{
    (void)state;
    expect(PRED_HOST_CONTRACT, TRI_NOT_APPLICABLE, "as it should be");
    struct condition_result *r = &raw->phases[PHASE_BEFORE_BUILD].conditions[COND_HOST_CONTRACT];
    r->status = TRI_PASS;
    expect(PRED_HOST_CONTRACT, TRI_PASS, "as it should be");
    r->status = TRI_UNKNOWN;
    expect(PRED_HOST_CONTRACT, TRI_UNKNOWN, "as it should be");
    r->status = TRI_FAIL;
    r->seen = "4 cores";
    expect(PRED_HOST_CONTRACT, TRI_FAIL, "4 cores");
    r->mode = RULE_WAIVE;
    expect(PRED_HOST_CONTRACT, TRI_PASS, "waived");
    r->mode = RULE_RECORD;
    expect(PRED_HOST_CONTRACT, TRI_NOT_APPLICABLE, "does not ask");
}

static void boot_unchanged(void **state)
{
    (void)state;
    expect(PRED_BOOT_UNCHANGED, TRI_PASS, "b007");
    raw->boot_id_after = "b008";
    expect(PRED_BOOT_UNCHANGED, TRI_FAIL, "b008 after");
    raw->boot_id_after = NULL;
    expect(PRED_BOOT_UNCHANGED, TRI_UNKNOWN, "not read after");
    raw->boot.id = NULL;
    expect(PRED_BOOT_UNCHANGED, TRI_UNKNOWN, "not read before");
}

static void no_suspend(void **state)
{
    (void)state;
    expect(PRED_NO_SUSPEND, TRI_PASS, "not suspended");
    raw->suspend_after_ms = raw->suspend_before_ms + 3; /* two readings cut to milliseconds */
    expect(PRED_NO_SUSPEND, TRI_PASS, "not suspended");
    raw->suspend_after_ms = raw->suspend_before_ms + 50;
    expect(PRED_NO_SUSPEND, TRI_FAIL, "50 ms");
    raw->suspend_after_ms = raw->suspend_before_ms - 50;
    expect(PRED_NO_SUSPEND, TRI_UNKNOWN, "went back");
    raw->suspend_after_ms = -1;
    expect(PRED_NO_SUSPEND, TRI_UNKNOWN, "not known");
    raw->suspend_before_ms = -1;
    expect(PRED_NO_SUSPEND, TRI_UNKNOWN, "not known");
}

static void no_override(void **state)
{
    (void)state;
    expect(PRED_NO_OVERRIDE, TRI_PASS, "none");
    raw->job.allow_competing = true;
    expect(PRED_NO_OVERRIDE, TRI_FAIL, "allowed by the job");
}

static void no_lane_excluded(void **state)
{
    (void)state;
    expect(PRED_NO_LANE_EXCLUDED, TRI_PASS, "every lane");
    raw->workloads[0].lanes[1].absent = "python3 is not on this host"; /* is no exclusion */
    expect(PRED_NO_LANE_EXCLUDED, TRI_PASS, "every lane");
    raw->job.n_exclude = 1;
    expect(PRED_NO_LANE_EXCLUDED, TRI_FAIL, "leaves out 1");
    raw->workloads[0].lanes[0].excluded = true;
    expect(PRED_NO_LANE_EXCLUDED, TRI_FAIL, "c of fib30");
}

static void controls_within_drift(void **state)
{
    (void)state;
    expect(PRED_CONTROLS_WITHIN_DRIFT, TRI_PASS, "3 controls drift by less than 5 %");
    for (int r = 0; r < 11; r++) {
        struct raw_observation *o = raw_find(raw, "fib30", "cpython", "after", r);
        o->elapsed_ns = o->elapsed_ns * 106 / 100;
    }
    expect(PRED_CONTROLS_WITHIN_DRIFT, TRI_FAIL, "fib30 cpython drifts by 6.00 %");
    for (int r = 0; r < 11; r++)
        raw_find(raw, "fib30", "cpython", "after", r)->outcome = "lane.done_wrong";
    expect(PRED_CONTROLS_WITHIN_DRIFT, TRI_UNKNOWN, "fib30 cpython: its drift is undefined");
    for (size_t w = 0; w < raw->n_workloads; w++)
        for (size_t l = 0; l < raw->workloads[w].n_lanes; l++)
            raw->workloads[w].lanes[l].control = false;
    expect(PRED_CONTROLS_WITHIN_DRIFT, TRI_UNKNOWN, "no control");
    raw->n_sides = 1;
    expect(PRED_CONTROLS_WITHIN_DRIFT, TRI_NOT_APPLICABLE, "one side");
}

static void cleanup_verified(void **state)
{
    (void)state;
    expect(PRED_CLEANUP_VERIFIED, TRI_PASS, "gone");
    raw->cleanup = "pid 4711 (fib30)";
    expect(PRED_CLEANUP_VERIFIED, TRI_FAIL, "pid 4711");
    raw->cleanup = NULL;
    expect(PRED_CLEANUP_VERIFIED, TRI_UNKNOWN, "nothing recorded");
}

/* The one observation whose counters are set; the others are silent. */
static struct raw_observation *audited(void)
{
    size_t i = raw->n_observations - 1;

    while (raw->observations[i].kind != OBS_TIMED)
        i--;
    return &raw->observations[i];
}

static void the_daemon_does_nothing_inside_a_timed_interval(void **state)
{
    (void)state;
    struct raw_observation *o = audited();
    expect(PRED_OBSERVER_SILENT, TRI_PASS, "the daemon ran for 0 us");
    o->daemon_switches = 1;
    expect(PRED_OBSERVER_SILENT, TRI_FAIL, "the daemon ran for 0 us, 1 times");
    o->daemon_switches = 0;
    o->daemon_cpu_ns = 7000;
    expect(PRED_OBSERVER_SILENT, TRI_FAIL, "the daemon ran for 7 us");
    o->daemon_switches = -1;
    expect(PRED_OBSERVER_SILENT, TRI_UNKNOWN, "not all of the counters");
}

static void in_a_long_interval_the_daemon_answers_and_is_counted_with_the_runner(void **state)
{
    (void)state;
    struct raw_observation *o = audited();
    o->elapsed_ns = 6000000000;
    o->daemon_switches = 2;
    o->daemon_cpu_ns = 5900000;
    expect(PRED_OBSERVER_SILENT, TRI_PASS, "the daemon ran for 5900 us");
    o->daemon_cpu_ns = 6000000;
    expect(PRED_OBSERVER_SILENT, TRI_FAIL, "the observer used 6009 us, 6000 are allowed");
}

static void the_runner_may_use_50_us_or_a_thousandth(void **state)
{
    (void)state;
    struct raw_observation *o = audited();
    o->elapsed_ns = 1000000;
    o->runner_cpu_ns = 50000;
    expect(PRED_OBSERVER_SILENT, TRI_PASS, "at most 50 us in one");
    o->runner_cpu_ns = 50001;
    expect(PRED_OBSERVER_SILENT, TRI_FAIL, "50 are allowed");
    o->elapsed_ns = 100000000;
    expect(PRED_OBSERVER_SILENT, TRI_PASS, "at most 50 us in one");
    o->runner_cpu_ns = -1;
    expect(PRED_OBSERVER_SILENT, TRI_UNKNOWN, "not all of the counters");
    o->runner_cpu_ns = 900000; /* too much; but of this host only half is known */
    o->daemon_cpu_ns = -1;
    expect(PRED_OBSERVER_SILENT, TRI_UNKNOWN, "not all of the counters");
}

static void warmups_and_what_is_not_valid_are_not_audited(void **state)
{
    (void)state;
    raw->observations[0].kind = OBS_WARMUP;
    raw->observations[0].daemon_switches = 1;
    expect(PRED_OBSERVER_SILENT, TRI_PASS, "the daemon ran for 0 us");
    raw->n_observations = 0;
    expect(PRED_OBSERVER_SILENT, TRI_UNKNOWN, "nothing was timed");
}

static void repetitions_enough(void **state)
{
    (void)state;
    expect(PRED_REPETITIONS_ENOUGH, TRI_PASS, "11 repetitions");
    raw->policy.repetitions_min = 12;
    expect(PRED_REPETITIONS_ENOUGH, TRI_FAIL, "the policy asks 12");
}

static void a_profiler_s_samples_are_never_contractual(void **state)
{
    (void)state;
    expect(PRED_NO_PROFILE, TRI_NOT_APPLICABLE, "no figure is of a profiler's samples");
    static const struct attribution rules = {.format = PROFILE_CALLGRIND};
    raw->workloads[0].measure = MEASURE_ATTRIBUTION;
    raw->workloads[0].profile = &rules;
    expect(PRED_NO_PROFILE, TRI_FAIL, "never contractual");
    assert_int_equal(graded().value, GRADE_DIAGNOSTIC);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(a_perfect_report_is_contractual),
        T(the_line_names_waivers_and_what_failed_or_is_unknown),
        T(a_void_attempt_is_void_and_names_why),
        T(each_inventory_is_judged_in_its_own_phase),
        T(inventories_complete),
        T(conditions_met),
        T(a_policy_that_requires_a_calibration_finds_it_in_the_report),
        T(conditions_that_were_never_judged_are_unknown),
        T(host_contract),
        T(boot_unchanged),
        T(no_suspend),
        T(no_override),
        T(no_lane_excluded),
        T(controls_within_drift),
        T(cleanup_verified),
        T(the_daemon_does_nothing_inside_a_timed_interval),
        T(in_a_long_interval_the_daemon_answers_and_is_counted_with_the_runner),
        T(the_runner_may_use_50_us_or_a_thousandth),
        T(warmups_and_what_is_not_valid_are_not_audited),
        T(repetitions_enough),
        T(a_profiler_s_samples_are_never_contractual),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
