/* One task against several: met and missed only where each condition holds, and each condition that
 * does not is the reason. */
#include "raw_fixture.h"

#include "unit.h"

#include <math.h>

#include "base/mem.h"
#include "core/summary/summarise.h"

/* The fixture, whose fib30 has a third lane: the work of c as four tasks, in this part of its time.
 */
static struct raw *with_scaling(struct arena *a, double part)
{
    struct raw *raw = raw_fixture(a);
    struct raw_workload *w = &raw->workloads[0];
    struct raw_lane *lanes = arena_array(a, w->n_lanes + 1, sizeof *lanes);
    memcpy(lanes, w->lanes, w->n_lanes * sizeof *lanes);
    lanes[w->n_lanes] =
        (struct raw_lane){.name = "four", .scaling = {.of = "c", .tasks = 4, .max_ratio = 0.5}};
    w->lanes = lanes;
    w->n_lanes++;
    raw->cpu_set = "0-3";
    raw_replan(a, raw);
    for (size_t i = 0; i < raw->n_observations; i++) {
        struct raw_observation *o = &raw->observations[i];
        if (strcmp(o->lane, "four") != 0)
            continue;
        double one = strcmp(o->side, "after") == 0 ? 20000 : 40000;
        o->elapsed_ns = (int64_t)(one * part * (1000 + o->repetition) / 1000);
        o->done_ns = o->go_ns + o->elapsed_ns;
    }
    return raw;
}

static const struct scaling_row *first(struct arena *a, const struct raw *raw)
{
    const struct summary *s = summarise(a, raw);
    assert_int_equal(s->n_scaling, 2);
    assert_string_equal(s->scaling[0].one, "c");
    assert_string_equal(s->scaling[0].lane, "four");
    return &s->scaling[0];
}

static enum tri predicate_of(struct arena *a, const struct raw *raw)
{
    const struct summary *s = summarise(a, raw);
    for (size_t i = 0; i < s->n_rows; i++)
        if (strcmp(s->rows[i].lane, "four") == 0)
            return s->rows[i].grade.predicates[ROW_SCALING_WITHIN].status;
    fail_msg("there is no such row");
    return TRI_UNKNOWN;
}

static void the_median_of_the_pairs_is_held_against_the_bound(void **state)
{
    static const struct {
        double part;
        enum scaling_status status;
        enum tri predicate;
    } rows[] = {
        {0.25, SCALING_MET, TRI_PASS},
        {0.5, SCALING_MET, TRI_PASS}, /* at most */
        {0.75, SCALING_MISSED, TRI_FAIL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        CLEANUP(arena_deinit) struct arena a = {0};
        struct raw *raw = with_scaling(&a, rows[i].part);
        const struct scaling_row *row = first(&a, raw);
        if (row->why)
            fail_msg("%s", row->why);
        assert_int_equal(row->status, rows[i].status);
        assert_int_equal(row->pairs, 11);
        assert_int_equal(row->cpus, 4);
        assert_true(fabs(row->ratio - rows[i].part) < 1e-3);
        assert_true(row->interval.defined);
        assert_int_equal(predicate_of(&a, raw), rows[i].predicate);
    }
}

static void expect_why(struct arena *a, const struct raw *raw, const char *words)
{
    const struct scaling_row *row = first(a, raw);
    assert_int_equal(row->status, SCALING_UNRESOLVED);
    assert_non_null(row->why);
    if (!strstr(row->why, words))
        fail_msg("%s, not %s", row->why, words);
    assert_int_equal(predicate_of(a, raw), TRI_UNKNOWN);
}

static void a_host_with_fewer_cpus_tells_nothing(void **state)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct raw *raw = with_scaling(&a, 0.25);

    (void)state;
    raw->cpu_set = "0-1";
    expect_why(&a, raw, "4 tasks need as many CPUs, the lanes have 2");
    raw->cpu_set = "0,2,4-5";
    assert_int_equal(first(&a, raw)->status, SCALING_MET);
    raw->cpu_set = NULL;
    expect_why(&a, raw, "not known how many CPUs");
}

static void every_repetition_needs_both(void **state)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct raw *raw = with_scaling(&a, 0.25);

    (void)state;
    raw_find(raw, "fib30", "c", "before", 5)->outcome = "lane.signal";
    expect_why(&a, raw, "not every repetition has both lanes");
}

static void what_was_disturbed_must_have_been_replaced(void **state)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct raw *raw = with_scaling(&a, 0.25);

    (void)state;
    raw_find(raw, "fib30", "c", "before", 5)->disturbed = -1;
    expect_why(&a, raw, "nothing else ran beside it");
}

static void the_one_task_must_have_computed(void **state)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct raw *raw = with_scaling(&a, 0.25);

    (void)state;
    for (int r = 0; r < 11; r++) {
        struct raw_observation *o = raw_find(raw, "fib30", "c", "before", r);
        o->interval_cpu_ns = o->elapsed_ns * 8 / 10;
    }
    expect_why(&a, raw, "c did not compute for 90 % of its time");
}

static void the_interval_must_lie_on_one_side(void **state)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct raw *raw = with_scaling(&a, 0.25);

    (void)state;
    for (int r = 0; r < 11; r += 2) {
        struct raw_observation *o = raw_find(raw, "fib30", "four", "before", r);
        o->elapsed_ns *= 3;
        o->done_ns = o->go_ns + o->elapsed_ns;
    }
    expect_why(&a, raw, "the interval reaches over the limit");
}

static void a_lane_that_took_no_time_has_no_ratio(void **state)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct raw *raw = with_scaling(&a, 0.25);

    (void)state;
    for (int r = 0; r < 11; r++) {
        struct raw_observation *o = raw_find(raw, "fib30", "c", "before", r);
        o->elapsed_ns = o->interval_cpu_ns = 0;
        o->done_ns = o->go_ns;
    }
    expect_why(&a, raw, "a pair has no ratio");
}

static void an_absent_lane_is_the_reason(void **state)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct raw *raw = with_scaling(&a, 0.25);

    (void)state;
    raw->workloads[0].lanes[0].absent = "c is not on this host";
    raw_replan(&a, raw);
    expect_why(&a, raw, "c: absent: c is not on this host");
    assert_true(isnan(first(&a, raw)->ratio));
}

static void cpus_are_counted_of_a_list(void **state)
{
    static const struct {
        const char *list;
        int64_t n;
    } rows[] = {
        {"0", 1},      {"0-3", 4}, {"0-3,8", 5}, {"2,4,6-7", 4}, {NULL, -1},
        {"", -1},      {"a", -1},  {"0-", -1},   {"3-1", -1},    {"0,0", -1},
        {"0-3,2", -1}, {"1,", -1}, {"1 2", -1},  {"-1", -1},     {"70000", -1},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (scaling_cpus(rows[i].list) != rows[i].n)
            fail_msg("%s", rows[i].list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_median_of_the_pairs_is_held_against_the_bound),
        cmocka_unit_test(a_host_with_fewer_cpus_tells_nothing),
        cmocka_unit_test(every_repetition_needs_both),
        cmocka_unit_test(what_was_disturbed_must_have_been_replaced),
        cmocka_unit_test(the_one_task_must_have_computed),
        cmocka_unit_test(the_interval_must_lie_on_one_side),
        cmocka_unit_test(a_lane_that_took_no_time_has_no_ratio),
        cmocka_unit_test(an_absent_lane_is_the_reason),
        cmocka_unit_test(cpus_are_counted_of_a_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
