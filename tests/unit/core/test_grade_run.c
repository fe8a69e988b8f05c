/* protocol_exact, warmups_excluded and the predicates of rows: the perfect report with one
 * observation bent. */
#include "unit.h"

#include "base/mem.h"
#include "core/grade/grade.h"

#include "core/summary/observations.h"
#include "core/summary/summarise.h"

#include "calibrations.h"
#include "raw_fixture.h"

static struct arena arena;
static struct raw *raw;
static struct raw_observation *fib, *loop; /* one protocol and one process observation */

static int set_up(void **state)
{
    (void)state;
    raw = raw_fixture(&arena);
    fib = raw_find(raw, "fib30", "c", "after", 4);
    loop = raw_find(raw, "int32", "c", "before", 7);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_deinit(&arena);
    return 0;
}

static void expect(enum predicate p, enum tri status, const char *words)
{
    raw_expect(&arena, raw, p, status, words);
}

/* Bends one member of an observation, expects the fault, and puts it back. */
#define REFUSES(observation, member, value, words)                                                 \
    do {                                                                                           \
        struct raw_observation *o_ = (observation), kept_ = *o_;                                   \
        o_->member = (value);                                                                      \
        expect(PRED_PROTOCOL_EXACT, TRI_FAIL, (words));                                            \
        *o_ = kept_;                                                                               \
        expect(PRED_PROTOCOL_EXACT, TRI_PASS, "exact records");                                    \
    } while (0)

static void an_outcome_that_is_not_ok_is_named(void **state)
{
    (void)state;
    REFUSES(fib, outcome, "lane.done_wrong", "(fib30 c after): lane.done_wrong");
    REFUSES(fib, outcome, NULL, "no outcome");
    REFUSES(&raw->observations[0], outcome, "lane.timeout", "lane.timeout"); /* a warmup too */
}

static void an_exit_that_is_not_0_fails(void **state)
{
    (void)state;
    REFUSES(fib, exit_status, 3, "did not exit with 0");
    REFUSES(loop, exit_signal, 9, "did not exit with 0");
}

static void protocol_records_are_there_and_the_same_throughout_a_workload(void **state)
{
    (void)state;
    REFUSES(fib, ready, NULL, "no READY");
    REFUSES(fib, done, NULL, "no DONE");
    REFUSES(fib, ready, "READY fib30 31", "other records");
    REFUSES(fib, done, "DONE 832041", "other records");
    struct raw_observation *first =
        raw->observations; /* the one that the others are held against */
    while (strcmp(first->workload, "fib30") != 0)
        first++;
    REFUSES(first, done, "DONE 832041", "other records");
    REFUSES(fib, stderr_bytes, 12, "stderr");
}

static void a_process_lane_may_write_to_stderr(void **state)
{
    (void)state;
    loop->stderr_bytes = 12;
    expect(PRED_PROTOCOL_EXACT, TRI_PASS, "exact records");
}

static void figures_are_the_differences_of_their_stamps(void **state)
{
    (void)state;
    REFUSES(fib, elapsed_ns, fib->elapsed_ns - 1, "GO to DONE");
    REFUSES(loop, elapsed_ns, loop->elapsed_ns - 1, "spawn to exit");
    REFUSES(fib, go_ns, fib->start_ns - 1, "out of order");
    REFUSES(fib, done_ns, fib->go_ns - 1, "out of order");
    REFUSES(fib, exit_ns, fib->done_ns - 1, "out of order");
    REFUSES(loop, exit_ns, loop->start_ns - 1, "out of order");
}

static void every_observation_is_what_the_plan_has_under_its_number(void **state)
{
    (void)state;
    REFUSES(fib, workload, "fanout", "not what the plan has");
    REFUSES(fib, lane, "cpython", "not what the plan has");
    REFUSES(fib, side, "before", "not what the plan has");
    REFUSES(fib, repetition, 5, "not what the plan has");
    REFUSES(fib, position, fib->position + 1, "not what the plan has");
    REFUSES(fib, kind, OBS_WARMUP, "not what the plan has");
    REFUSES(fib, seq, -1, "not what the plan has");
    REFUSES(fib, seq, (int)raw->plan.n, "not what the plan has");
}

static void a_plan_that_points_outside_its_names_is_no_plan(void **state)
{
    (void)state;
    struct plan_step *step = &raw->plan.steps[fib->seq], kept = *step;
    step->workload = (int)raw->n_workloads;
    expect(PRED_PROTOCOL_EXACT, TRI_FAIL, "not what the plan has");
    *step = kept;
    step->lane = -1;
    expect(PRED_PROTOCOL_EXACT, TRI_FAIL, "not what the plan has");
    *step = kept;
    step->side = (int)raw->n_sides;
    expect(PRED_PROTOCOL_EXACT, TRI_FAIL, "not what the plan has");
}

static void a_step_observed_twice_or_not_at_all_fails(void **state)
{
    (void)state;
    struct raw_observation *last = &raw->observations[raw->n_observations - 1], kept = *last;
    *last = raw->observations[5];
    expect(PRED_PROTOCOL_EXACT, TRI_FAIL, "step 5 was observed twice");
    *last = kept;
    raw->n_observations--;
    expect(PRED_PROTOCOL_EXACT, TRI_FAIL, "was not observed");
    raw->n_observations = 0;
    expect(PRED_PROTOCOL_EXACT, TRI_FAIL, "nothing was observed");
}

static void the_order_of_observations_in_the_report_does_not_matter(void **state)
{
    (void)state;
    struct raw_observation first = raw->observations[0];
    raw->observations[0] = raw->observations[9];
    raw->observations[9] = first;
    expect(PRED_PROTOCOL_EXACT, TRI_PASS, "exact records");
}

static void warmups_are_as_many_as_asked_for_and_never_counted(void **state)
{
    (void)state;
    expect(PRED_WARMUPS_EXCLUDED, TRI_PASS, "1 per lane and side");
    fib->kind = OBS_WARMUP; /* a timed one passed off as a warmup */
    expect(PRED_WARMUPS_EXCLUDED, TRI_FAIL, "another kind than planned");
    fib->kind = OBS_TIMED;
    raw->observations[0].kind = OBS_TIMED; /* and a warmup that is counted */
    expect(PRED_WARMUPS_EXCLUDED, TRI_FAIL, "observation 0 is of another kind");
    raw->observations[0].kind = OBS_WARMUP;
    raw->job.warmups = 2;
    expect(PRED_WARMUPS_EXCLUDED, TRI_FAIL, "2 warmups asked for, 1 planned, 1 observed");
    raw->job.warmups = 1;
    expect(PRED_WARMUPS_EXCLUDED, TRI_PASS, "1 per lane and side");
}

static void a_warmup_that_was_not_observed_is_missed(void **state)
{
    (void)state;
    raw->observations++;
    raw->n_observations--;
    expect(PRED_WARMUPS_EXCLUDED, TRI_FAIL, "1 warmups asked for, 1 planned, 0 observed");
}

static void a_lane_that_takes_no_part_needs_no_warmup(void **state)
{
    (void)state;
    struct raw_lane more[] = {raw->workloads[0].lanes[0],
                              raw->workloads[0].lanes[1],
                              {.name = "rust", .absent = "cargo is not on this host"},
                              {.name = "go", .excluded = true}};
    raw->workloads[0].lanes = more;
    raw->workloads[0].n_lanes = 4;
    expect(PRED_WARMUPS_EXCLUDED, TRI_PASS, "1 per lane and side");
    more[2].absent = NULL;
    expect(PRED_WARMUPS_EXCLUDED, TRI_FAIL, "fib30 rust before");
}

static struct row_grade row(void)
{
    struct row_grade g;
    struct observation_index index;
    observations_index(&arena, raw, &index);
    grade_row(&arena, raw, &index, NULL, "fib30", "c", "after", &g);
    return g;
}

static void pairs_complete_counts_each_repetition_once(void **state)
{
    (void)state;
    struct predicate_result r = row().predicates[ROW_PAIRS_COMPLETE];
    assert_int_equal(r.status, TRI_PASS);
    assert_string_equal(r.fact, "11 of 11 repetitions");
    fib->outcome = "lane.timeout";
    r = row().predicates[ROW_PAIRS_COMPLETE];
    assert_int_equal(r.status, TRI_FAIL);
    assert_string_equal(r.fact, "10 of 11 repetitions");
    fib->outcome = "ok";
    fib->repetition = 5; /* one twice, one never */
    assert_string_equal(row().predicates[ROW_PAIRS_COMPLETE].fact, "9 of 11 repetitions");
    fib->repetition = 11; /* out of range */
    assert_string_equal(row().predicates[ROW_PAIRS_COMPLETE].fact, "10 of 11 repetitions");
    raw->n_observations = 0;
    raw->job.repetitions = 0;
    assert_int_equal(row().predicates[ROW_PAIRS_COMPLETE].status, TRI_FAIL);
}

static void a_row_is_diagnostic_without_a_ledger_and_a_calibration(void **state)
{
    (void)state;
    for (size_t i = 0; i < raw->n_observations; i++)
        raw->observations[i].disturbed = -1;
    struct row_grade g = row();
    assert_int_equal(g.value, GRADE_DIAGNOSTIC);
    assert_int_equal(g.predicates[ROW_DISTURBANCE_REPLACED].status, TRI_UNKNOWN);
    assert_string_equal(g.predicates[ROW_DISTURBANCE_REPLACED].fact,
                        "11 repetitions could not be judged");
    assert_int_equal(g.predicates[ROW_ABOVE_RESOLUTION].status, TRI_UNKNOWN);
    assert_string_equal(g.predicates[ROW_ABOVE_RESOLUTION].fact, "not calibrated");
}

static const struct predicate_result *resolution_of(const struct summary *s, const char *workload)
{
    for (size_t i = 0; i < s->n_rows; i++)
        if (strcmp(s->rows[i].workload, workload) == 0 && strcmp(s->rows[i].lane, "cpython") == 0)
            return &s->rows[i].grade.predicates[ROW_ABOVE_RESOLUTION];
    return NULL;
}

static void a_row_below_100_times_the_mad_of_its_floor_is_below_resolution(void **state)
{
    (void)state;
    struct calibration *c = calibrate(&arena, raw, 0.001);
    /* cpython takes 80 us and a little. */
    const struct predicate_result *r = resolution_of(summarise(&arena, raw), "fib30");
    assert_int_equal(r->status, TRI_PASS);
    c->measures[MEASURE_PROTOCOL].floor_ns.v[0] += 1000;
    c->measures[MEASURE_PROTOCOL].floor_ns.v[1] -= 1000;
    r = resolution_of(summarise(&arena, raw), "fib30");
    assert_int_equal(r->status, TRI_FAIL);
    assert_non_null(strstr(r->fact, "100 x the MAD of the protocol floor"));
    /* Each measure has a floor of its own. */
    assert_int_equal(resolution_of(summarise(&arena, raw), "int32")->status, TRI_PASS);
}

static void a_figure_just_at_the_resolution_is_resolved(void **state)
{
    (void)state;
    struct calibration *c = calibrate(&arena, raw, 0.001);
    int64_t *v = c->measures[MEASURE_PROTOCOL].floor_ns.v;
    for (int r = 0; r < 11; r++)
        raw_find(raw, "fib30", "cpython", "before", r)->elapsed_ns = 80000;
    v[0] = v[2] + 800;
    v[1] = v[2] - 800;
    assert_int_equal(resolution_of(summarise(&arena, raw), "fib30")->status, TRI_PASS);
    raw_find(raw, "fib30", "cpython", "before", 0)->elapsed_ns = 79999;
    for (int r = 1; r < 6; r++)
        raw_find(raw, "fib30", "cpython", "before", r)->elapsed_ns = 79999;
    assert_int_equal(resolution_of(summarise(&arena, raw), "fib30")->status, TRI_FAIL);
}

static void a_calibration_of_another_boot_says_nothing(void **state)
{
    (void)state;
    calibrate(&arena, raw, 0.001)->boot = "another";
    const struct summary *s = summarise(&arena, raw);
    assert_null(s->calibration);
    assert_nan(s->rows[0].floor_share);
    const struct predicate_result *r = resolution_of(s, "fib30");
    assert_int_equal(r->status, TRI_UNKNOWN);
    assert_string_equal(r->fact, "calibrated in another boot");
}

static void the_floors_share_stands_beside_each_row(void **state)
{
    (void)state;
    calibrate(&arena, raw, 0.001);
    const struct summary *s = summarise(&arena, raw);
    for (size_t i = 0; i < s->n_rows; i++)
        assert_near(s->rows[i].floor_share, 20 / s->rows[i].wall.median_ns, 1e-12);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(an_outcome_that_is_not_ok_is_named),
        T(an_exit_that_is_not_0_fails),
        T(protocol_records_are_there_and_the_same_throughout_a_workload),
        T(a_process_lane_may_write_to_stderr),
        T(figures_are_the_differences_of_their_stamps),
        T(every_observation_is_what_the_plan_has_under_its_number),
        T(a_plan_that_points_outside_its_names_is_no_plan),
        T(a_step_observed_twice_or_not_at_all_fails),
        T(the_order_of_observations_in_the_report_does_not_matter),
        T(warmups_are_as_many_as_asked_for_and_never_counted),
        T(a_warmup_that_was_not_observed_is_missed),
        T(a_lane_that_takes_no_part_needs_no_warmup),
        T(pairs_complete_counts_each_repetition_once),
        T(a_row_is_diagnostic_without_a_ledger_and_a_calibration),
        T(a_row_below_100_times_the_mad_of_its_floor_is_below_resolution),
        T(a_figure_just_at_the_resolution_is_resolved),
        T(a_calibration_of_another_boot_says_nothing),
        T(the_floors_share_stands_beside_each_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
