/* Plan and observations: read back equal, whole batches, nothing that was not planned. */
#include "tests/unit/store/random.h"

#include <errno.h>

enum { SIDES = 2, STEPS = 24, POINTS_MIGRATION = 11 };

static const char *const sides[SIDES] = {"before", "after"};

static const struct suite *unit_suite(void)
{
    static struct lane lanes[] = {{.name = "c"}, {.name = "cpython"}};
    static struct workload workloads[] = {{.name = "fib30", .lanes = lanes, .n_lanes = 2},
                                          {.name = "tasks", .lanes = lanes, .n_lanes = 1}};
    static const struct suite suite = {.name = "s", .workloads = workloads, .n_workloads = 2};
    return &suite;
}

static struct plan unit_plan(struct unit *u)
{
    struct plan plan = {arena_array(&u->arena, STEPS, sizeof(struct plan_step)), STEPS, STEPS};
    for (int i = 0; i < STEPS; i++)
        plan.steps[i] = (struct plan_step){i,
                                           i % 3 == 2,
                                           i % 3 == 1,
                                           i / 3 % 2,
                                           i / 6,
                                           i % 3,
                                           i < 6 ? OBS_WARMUP : OBS_TIMED,
                                           i % 5 ? -1 : i};
    return plan;
}

static void put_plan(struct unit *u, const char *attempt)
{
    const struct plan plan = unit_plan(u);
    ok(u, store_put_plan(u->s, attempt, &plan, 0, unit_suite(), sides, SIDES, &u->e));
}

static void a_plan_reads_back_equal_and_is_stored_with_names(void **ctx)
{
    struct unit *u = *ctx;
    struct raw raw = {0};
    const char *attempt = unit_attempt(u);
    const struct plan plan = unit_plan(u);
    put_plan(u, attempt);
    ok(u, store_load_plan(u->s, attempt, &u->arena, &raw, &u->e));
    assert_int_equal(raw.plan.n, STEPS);
    for (int i = 0; i < STEPS; i++) {
        const struct plan_step *x = &plan.steps[i], *y = &raw.plan.steps[i];
        SAME_INT(seq)
        SAME_INT(workload)
        SAME_INT(lane)
        SAME_INT(side)
        SAME_INT(repetition)
        SAME_INT(position)
        SAME_INT(kind)
        SAME_INT(replaces)
    }
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM plan_steps WHERE workload = 'fib30'"
                                        " AND lane = 'cpython' AND side = 'after'"),
                     STEPS / 6);
}

static void a_plan_beyond_its_suite_is_refused(void **ctx)
{
    struct unit *u = *ctx;
    const char *attempt = unit_attempt(u);
    const struct plan_step bad[] = {
        {.workload = 2}, {.workload = 1, .lane = 1}, {.side = 2}, {.side = -1}};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct plan plan = unit_plan(u);
        plan.steps[STEPS - 1] = bad[i];
        refused(u, store_put_plan(u->s, attempt, &plan, 0, unit_suite(), sides, SIDES, &u->e),
                -EINVAL, "store.bad_plan");
    }
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM plan_steps"), 0);
}

#define OBS_TEXTS(X) X(workload) X(lane) X(side) X(outcome)
#define OBS_TEXTS_OR_NULL(X) X(ready) X(done)
/* clang-format off */
#define OBS_INT64S(X) \
    X(start_ns) \
    X(go_ns) \
    X(done_ns) \
    X(exit_ns) \
    X(elapsed_ns) \
    X(process_ns) \
    X(interval_cpu_ns) \
    X(user_us) \
    X(system_us) \
    X(max_rss_bytes) \
    X(minor_faults) \
    X(major_faults) \
    X(voluntary_switches) \
    X(involuntary_switches) \
    X(stdout_bytes) \
    X(stderr_bytes) \
    X(runner_cpu_ns) \
    X(runner_delay_ns) \
    X(ledger.span_ns) \
    X(ledger.lane_cpu_ns) \
    X(ledger.observer_cpu_ns) \
    X(ledger.near_foreign_ns) \
    X(ledger.far_foreign_ns) \
    X(ledger.steal_ns) \
    X(ledger.lane_delay_ns) \
    X(ledger.lane_preemptions) \
    X(ledger.pressure_us) \
    X(ledger.throttles) \
    X(ledger.swapped_pages)
/* clang-format on */
#define OBS_INTS(X) X(replaces) X(exit_status) X(exit_signal) X(cpu) X(threads) X(leftovers)

/* None, or up to three. */
static void fill_values(struct unit *u, struct raw_observation *x)
{
    x->n_values = (size_t)rnd(4);
    x->values = arena_array(&u->arena, x->n_values, sizeof *x->values);
    for (size_t i = 0; i < x->n_values; i++)
        x->values[i] = (struct raw_value){rnd_text(u), rnd_int64()};
}

static void fill_outputs(struct unit *u, struct raw_observation *x)
{
    x->n_outputs = (size_t)rnd(3);
    x->outputs = arena_array(&u->arena, x->n_outputs, sizeof *x->outputs);
    for (size_t i = 0; i < x->n_outputs; i++)
        x->outputs[i] = (struct raw_output){rnd_text(u), rnd_int64(), rnd_text(u)};
}

static void fill_samples(struct unit *u, struct raw_observation *x)
{
    x->n_samples = (size_t)rnd(3);
    x->samples = arena_array(&u->arena, x->n_samples, sizeof *x->samples);
    for (size_t i = 0; i < x->n_samples; i++) {
        struct raw_samples *s = &x->samples[i];
        *s = (struct raw_samples){.name = rnd_text(u), .n = (size_t)rnd(5)};
        s->v = arena_array(&u->arena, s->n, sizeof *s->v);
        for (size_t k = 0; k < s->n; k++)
            s->v[k] = k == 0 ? 9007199254740991 : (int64_t)rnd(1000);
    }
}

static void fill_observation(struct unit *u, struct raw_observation *x, int seq)
{
    x->seq = seq;
    x->repetition = (int)rnd(11);
    x->position = (int)rnd(6);
    x->kind = rnd(2) ? OBS_TIMED : OBS_WARMUP;
    x->fifo = rnd(2) == 0;
    x->disturbed = (int)rnd(1 + (1 << DISTURBANCE_COUNT)) - 1;
    OBS_TEXTS(FILL_TEXT)
    OBS_TEXTS_OR_NULL(FILL_TEXT_OR_NULL)
    OBS_INT64S(FILL_INT64)
    OBS_INTS(FILL_INT)
    fill_values(u, x);
    fill_outputs(u, x);
    fill_samples(u, x);
}

static void same_outputs(const struct raw_observation *a, const struct raw_observation *b)
{
    assert_int_equal(a->n_outputs, b->n_outputs);
    for (size_t i = 0; i < a->n_outputs; i++) {
        assert_string_equal(a->outputs[i].name, b->outputs[i].name);
        assert_string_equal(a->outputs[i].sha256, b->outputs[i].sha256);
        assert_true(a->outputs[i].bytes == b->outputs[i].bytes);
    }
}

static void same_values(const struct raw_observation *a, const struct raw_observation *b)
{
    assert_int_equal(a->n_values, b->n_values);
    for (size_t i = 0; i < a->n_values; i++) {
        const struct raw_value *x = &a->values[i], *y = &b->values[i];
        SAME_TEXT(name)
        SAME_INT(value)
    }
}

static void same_samples(const struct raw_observation *a, const struct raw_observation *b)
{
    assert_int_equal(a->n_samples, b->n_samples);
    for (size_t i = 0; i < a->n_samples; i++) {
        const struct raw_samples *x = &a->samples[i], *y = &b->samples[i];
        SAME_TEXT(name)
        SAME_INT(n)
        assert_true(x->n == 0 || memcmp(x->v, y->v, x->n * sizeof *x->v) == 0);
    }
}

static void same_observation(const struct raw_observation *x, const struct raw_observation *y)
{
    SAME_INT(seq)
    SAME_INT(repetition)
    SAME_INT(position)
    SAME_INT(kind)
    SAME_INT(fifo)
    SAME_INT(disturbed)
    OBS_TEXTS(SAME_TEXT)
    OBS_TEXTS_OR_NULL(SAME_TEXT)
    OBS_INT64S(SAME_INT)
    OBS_INTS(SAME_INT)
    same_values(x, y);
    same_outputs(x, y);
    same_samples(x, y);
}

static void observations_read_back_equal_over_several_batches(void **ctx)
{
    struct unit *u = *ctx;
    struct raw raw = {0};
    struct raw_observation in[STEPS] = {0};
    const char *attempt = unit_attempt(u);
    put_plan(u, attempt);
    for (int i = 0; i < STEPS; i++)
        fill_observation(u, &in[i], i);
    for (int i = 0; i < STEPS; i += 6)
        ok(u, store_put_observations(u->s, attempt, &in[i], 6, &u->e));
    unit_reopen(u);
    ok(u, store_load_observations(u->s, attempt, &u->arena, &raw, &u->e));
    assert_int_equal(raw.n_observations, STEPS);
    for (int i = 0; i < STEPS; i++)
        same_observation(&in[i], &raw.observations[i]);
}

static void samples_that_are_no_numbers_are_refused(void **ctx)
{
    static const char *const texts[] = {"x", "1 ", "1  2", " 1", "-1", "1,2", "12345678901234567"};
    struct unit *u = *ctx;
    struct raw_observation o = {0};
    const char *attempt = unit_attempt(u);
    int64_t one = 1;

    put_plan(u, attempt);
    fill_observation(u, &o, 0);
    o.samples = &(struct raw_samples){"late", &one, 1};
    o.n_samples = 1;
    ok(u, store_put_observations(u->s, attempt, &o, 1, &u->e));
    unit_raw_exec(u, "DROP TRIGGER observation_samples_no_update");
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct raw raw = {0};
        unit_raw_exec(
            u, arena_printf(&u->arena, "UPDATE observation_samples SET samples = '%s'", texts[i]));
        refused(u, store_load_observations(u->s, attempt, &u->arena, &raw, &u->e), -EBADMSG,
                "store.corrupt");
    }
}

static void a_batch_is_stored_whole_or_not_at_all(void **ctx)
{
    struct unit *u = *ctx;
    struct raw_observation in[2] = {0};
    const char *attempt = unit_attempt(u);
    put_plan(u, attempt);
    fill_observation(u, &in[0], 0);
    fill_observation(u, &in[1], 0); /* the same step twice */
    refused(u, store_put_observations(u->s, attempt, in, 2, &u->e), -EINVAL, "store.constraint");
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM observations"), 0);
}

static void what_the_plan_does_not_name_is_never_observed(void **ctx)
{
    struct unit *u = *ctx;
    struct raw_observation in = {0};
    const char *attempt = unit_attempt(u);
    fill_observation(u, &in, 0);
    refused(u, store_put_observations(u->s, attempt, &in, 1, &u->e), -EINVAL, "store.constraint");
    put_plan(u, attempt);
    in.seq = STEPS;
    refused(u, store_put_observations(u->s, attempt, &in, 1, &u->e), -EINVAL, "store.constraint");
}

/* Two attempts of observations in two lanes, which end in turn when they shall. */
static void observe_two_lanes(struct unit *u, bool end)
{
    unit_boot(u);
    for (int k = 0; k < 2; k++) {
        const char *attempt = unit_id(u, 900 + k);
        struct raw_observation in[STEPS] = {0};
        unit_submit(u, k, 0);
        unit_claim(u, 900 + k, 1);
        put_plan(u, attempt);
        for (int i = 0; i < STEPS; i++) {
            fill_observation(u, &in[i], i);
            in[i].workload = "fib30";
            in[i].lane = i % 2 ? "c" : "cpython";
            in[i].elapsed_ns = 1000 * k + i;
            /* An older database has no table for them. */
            in[i].n_values = in[i].n_outputs = in[i].n_samples = 0;
        }
        ok(u, store_put_observations(u->s, attempt, in, STEPS, &u->e));
        if (end)
            ok(u, store_attempt_end(u->s, attempt, "done", 30, &u->e));
    }
}

static void check_latest(struct unit *u)
{
    struct store_point *points;
    size_t n;
    ok(u, store_lane_latest(u->s, "fib30", "c", 20, &u->arena, &points, &n, &u->e));
    assert_int_equal(n, 20);
    for (int i = 0; i < 20; i++) {
        int k = i < 12 ? 1 : 0, seq = STEPS - 1 - 2 * (i % 12);
        assert_string_equal(points[i].attempt, unit_id(u, 900 + k));
        assert_int_equal(points[i].seq, seq);
        assert_int_equal(points[i].elapsed_ns, 1000 * k + seq);
    }
}

static void the_latest_of_a_lane_come_newest_first_over_all_attempts(void **ctx)
{
    struct unit *u = *ctx;
    struct store_point *points;
    size_t n;
    observe_two_lanes(u, true);
    check_latest(u);
    refused(u, store_lane_latest(u->s, "fib30", "c", 0, &u->arena, &points, &n, &u->e), -EINVAL,
            "store.bad_limit");
}

static void the_latest_of_a_lane_are_those_of_attempts_that_ended(void **ctx)
{
    struct unit *u = *ctx;
    struct store_point *points;
    size_t n;
    observe_two_lanes(u, false);
    ok(u, store_lane_latest(u->s, "fib30", "c", 20, &u->arena, &points, &n, &u->e));
    assert_int_equal(n, 0);
    ok(u, store_attempt_end(u->s, unit_id(u, 900), "lost", 30, &u->e));
    ok(u, store_attempt_end(u->s, unit_id(u, 901), "done", 30, &u->e));
    check_latest(u);
}

/* The index that was dropped held all rows; what replaced it has to begin with those that ended. */
static void points_of_attempts_that_ended_before_it_are_made_by_the_migration(void **ctx)
{
    struct unit *u = *ctx;
    struct open_options options = open_defaults();
    options.n_migrations = POINTS_MIGRATION - 1;
    ok(u, open_store(u->path, &options, &u->s, &u->e));
    observe_two_lanes(u, false);
    ok(u, store_attempt_end(u->s, unit_id(u, 900), "done", 30, &u->e));
    unit_reopen(u);
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM lane_points"), STEPS);
    ok(u, store_attempt_end(u->s, unit_id(u, 901), "done", 30, &u->e));
    check_latest(u);
}

static void the_latest_of_a_lane_are_read_in_the_order_in_which_they_lie(void **ctx)
{
    struct unit *u = *ctx;
    sqlite3_stmt *st = NULL;
    const char *sql = "EXPLAIN QUERY PLAN SELECT attempt, seq, side, kind, outcome, elapsed_ns,"
                      " interval_cpu_ns FROM lane_points WHERE workload = 'w' AND lane = 'l'"
                      " ORDER BY attempt DESC, seq DESC LIMIT 10";
    assert_int_equal(sqlite3_prepare_v2(u->s->db, sql, -1, &st, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(st), SQLITE_ROW);
    assert_non_null(strstr((const char *)sqlite3_column_text(st, 3), "USING PRIMARY KEY"));
    assert_int_equal(sqlite3_step(st), SQLITE_DONE); /* and without sorting */
    (void)sqlite3_finalize(st);
}

/* What a person sees with sqlite3: each observation with boot, commit and order. */
static void the_view_shows_each_observation_with_boot_and_commit(void **ctx)
{
    struct unit *u = *ctx;
    struct raw_observation in = {0};
    const struct raw_source source = {.side = "before", .commit = "c0ffee", .tree_sha256 = "ab"};
    const char *first = unit_attempt(u), *second = unit_id(u, 901);
    ok(u, store_put_sources(u->s, first, &source, 1, &u->e));
    unit_event(u, unit_id(u, 1), JOB_REFUSE);
    unit_claim(u, 901, 100);
    ok(u, store_attempt_reuse(u->s, second, NULL, first, &u->e));
    put_plan(u, second);
    fill_observation(u, &in, 0);
    in.side = "before";
    ok(u, store_put_observations(u->s, second, &in, 1, &u->e));
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM measured WHERE boot = '" UNIT_BOOT
                                        "' AND commit_id = 'c0ffee' AND host = 'bench'"
                                        " AND attempt_number = 2 AND seq = 0"),
                     1);
}

#define T(name) cmocka_unit_test_setup_teardown(name, unit_setup, unit_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_plan_reads_back_equal_and_is_stored_with_names),
        T(a_plan_beyond_its_suite_is_refused),
        T(observations_read_back_equal_over_several_batches),
        T(samples_that_are_no_numbers_are_refused),
        T(a_batch_is_stored_whole_or_not_at_all),
        T(what_the_plan_does_not_name_is_never_observed),
        T(the_latest_of_a_lane_come_newest_first_over_all_attempts),
        T(the_latest_of_a_lane_are_those_of_attempts_that_ended),
        cmocka_unit_test_setup_teardown(
            points_of_attempts_that_ended_before_it_are_made_by_the_migration, unit_setup_closed,
            unit_teardown),
        T(the_latest_of_a_lane_are_read_in_the_order_in_which_they_lie),
        T(the_view_shows_each_observation_with_boot_and_commit),
    };
    return cmocka_run_group_tests(tests, start_seed, NULL);
}
