/* Whether a report is of its suite: each single member that is not the suite's is named. */
#include "unit.h"

#include "check_fixture.h"

static void each_difference_from_the_suite_is_named(void **state)
{
    struct arena a = {0};
    struct raw *raw = consistent(&a);
    struct suite *suite = suite_for(&a, raw);
    struct raw_observation *printed = raw_find(raw, "fib30", "c", "before", 0);

    (void)state;
    print_as_the_suite_asks(&a, raw);
#define EXPECT(change, undo, words)                                                                \
    do {                                                                                           \
        change;                                                                                    \
        const char *fault = check_suite(&a, raw, suite);                                           \
        if (!fault || !strstr(fault, words))                                                       \
            fail_msg("%s: %s", words, fault ? fault : "not seen");                                 \
        undo;                                                                                      \
        assert_null(check_suite(&a, raw, suite));                                                  \
    } while (0)
    EXPECT(suite->name = "other", suite->name = "suite", "the suite is called other");
    EXPECT(suite->n_workloads--, suite->n_workloads++, "has 2 workloads, the report 3");
    EXPECT(suite->workloads[1].declared_wait_ns++, suite->workloads[1].declared_wait_ns--,
           "workload fanout");
    EXPECT(suite->workloads[0].operations++, suite->workloads[0].operations--, "workload fib30");
    EXPECT(raw->workloads[0].resolution_ns++, raw->workloads[0].resolution_ns--, "workload fib30");
    EXPECT(suite->workloads[0].lanes[1].control = false,
           suite->workloads[0].lanes[1].control = true, "lane cpython of fib30");
    EXPECT(raw->workloads[0].lanes[0].absent = "gone", raw->workloads[0].lanes[0].absent = NULL,
           "lane c of fib30");
    EXPECT(raw->workloads[0].lanes[0].excluded = true, raw->workloads[0].lanes[0].excluded = false,
           "lane c of fib30");
    EXPECT(suite->workloads[0].done = "DONE 1", suite->workloads[0].done = "DONE", "did not print");
    EXPECT(printed->stdout_bytes++, printed->stdout_bytes--, "did not print");
    EXPECT(raw->builds[1].argv.v[0] = "mv", raw->builds[1].argv.v[0] = "cp", "build step 1");
    EXPECT(raw->builds[1].argv.v[2] = "/w/y", raw->builds[1].argv.v[2] = "/w/b1/x.s",
           "build step 1");
    EXPECT(raw->n_builds--, raw->n_builds++, "build step 1");
    EXPECT(suite->n_build = 0, suite->n_build = 1, "has 2 build steps, the suite asks for 0");
    EXPECT(raw->builds[1].argv.n--, raw->builds[1].argv.n++, "build step 1");
    suite->suite_build = suite->build;
    EXPECT(suite->n_suite_build = 1, suite->n_suite_build = 0,
           "build step 0 is not the one that the suite asks for (suite, cp)");
    arena_deinit(&a);
}

/* ---- a suite with every member that a report repeats, and a report that has one otherwise */

static struct category categories[] = {
    {.name = "parse",
     .symbols = {(const char *[]){"parse_*", NULL}, 1},
     .objects = {(const char *[]){"libparse.so", NULL}, 1}},
};
static const struct attribution rules = {.format = PROFILE_PERF_SCRIPT,
                                         .categories = categories,
                                         .n_categories = 1,
                                         .process = "hello",
                                         .from_ms = 10,
                                         .to_ms = 20};
static const struct sample_series one_series = {
    .name = "late", .unit = SAMPLE_NS, .min = 5, .max = 10, .p99_max = 1000};
static const struct lane_file one_file = {
    .name = "hello", .path = "{build}/hello", .baseline_bytes = 100};

static const struct args names = {(const char *[]){"one", NULL}, 1};

/* The same in both. */
static void declare_everything(struct arena *a, struct suite *s, struct raw *raw)
{
    static const struct scaling scaling = {.of = "cpython", .tasks = 4, .max_ratio = 0.5};
    struct workload *w = &s->workloads[0];
    struct raw_workload *r = &raw->workloads[0];
    struct lane *lane = &w->lanes[0];
    struct raw_lane *raw_lane = &r->lanes[0];

    w->absent = r->absent_sides = w->counters = r->counters = names;
    w->growth_pct = r->growth_pct = 7;
    w->window_ms = r->window_ms = 200;
    w->baseline = "BASELINE";
    w->ack = "ACK";
    r->baseline = r->ack = true;
    w->steps_of = r->steps_of = "fib";
    w->reproducible = r->reproducible = true;
    w->profile = &rules;
    r->profile = arena_alloc(a, sizeof rules);
    memcpy((void *)(uintptr_t)r->profile, &rules, sizeof rules);
    w->n_samples = r->n_samples = 1;
    w->samples = arena_alloc(a, sizeof one_series);
    r->samples = arena_alloc(a, sizeof one_series);
    *w->samples = *r->samples = one_series;
    lane->command = raw_lane->command = lane->outputs = raw_lane->outputs = names;
    lane->scaling = raw_lane->scaling = scaling;
    lane->n_files = raw_lane->n_files = 1;
    lane->files = arena_alloc(a, sizeof one_file);
    raw_lane->files = arena_alloc(a, sizeof one_file);
    *lane->files = *raw_lane->files = one_file;
    /* What was printed is another check's matter. */
    raw->n_observations = 0;
}

static const struct args other_names = {(const char *[]){"other", NULL}, 1};

#define BEND(name, change)                                                                         \
    static void name(struct raw_workload *w, struct raw_lane *l, struct attribution *p)            \
    {                                                                                              \
        (void)w, (void)l, (void)p;                                                                 \
        change;                                                                                    \
    }
BEND(nothing, (void)0)
BEND(workload_name, w->name = "fib31")
BEND(workload_measure, w->measure = MEASURE_OPERATION)
BEND(workload_lanes, w->n_lanes--)
BEND(workload_absent, w->absent_sides = other_names)
BEND(workload_counters, w->counters.n = 0)
BEND(workload_growth, w->growth_pct++)
BEND(workload_window, w->window_ms++)
BEND(workload_baseline, w->baseline = false)
BEND(workload_ack, w->ack = false)
BEND(workload_steps, w->steps_of = "other")
BEND(workload_no_steps, w->steps_of = NULL)
BEND(workload_reproducible, w->reproducible = false)
BEND(samples_none, w->n_samples = 0)
BEND(samples_name, w->samples->name = "early")
BEND(samples_unit, w->samples->unit = SAMPLE_COUNT)
BEND(samples_min, w->samples->min--)
BEND(samples_max, w->samples->max++)
BEND(samples_bound, w->samples->p99_max = -1)
BEND(profile_none, w->profile = NULL)
BEND(profile_format, p->format = PROFILE_CALLGRIND)
BEND(profile_process, p->process = NULL)
BEND(profile_thread, p->thread = "main")
BEND(profile_kernel, p->kernel = true)
BEND(profile_from, p->from_ms = -1)
BEND(profile_to, p->to_ms++)
BEND(profile_categories, p->n_categories = 0)
BEND(lane_name, l->name = "c2")
BEND(lane_cpus, l->cpus = 1)
BEND(lane_startup, l->startup = "other")
BEND(lane_command, l->command = other_names)
BEND(lane_outputs, l->outputs = other_names)
BEND(lane_no_outputs, l->outputs.n = 0)
BEND(scaling_of, l->scaling.of = NULL)
BEND(scaling_tasks, l->scaling.tasks--)
BEND(scaling_looser, l->scaling.max_ratio = 0.6)
BEND(scaling_tighter, l->scaling.max_ratio = 0.4)
BEND(files_none, l->n_files = 0)
BEND(files_name, l->files->name = "other")
BEND(files_path, l->files->path = "{build}/other")
BEND(files_baseline, l->files->baseline_bytes++)

static const struct {
    void (*bend)(struct raw_workload *w, struct raw_lane *l, struct attribution *p);
    const char *words; /* NULL: nothing is wrong */
} members[] = {
#define WORKLOAD(name)                                                                             \
    {                                                                                              \
        name, "workload fib30 is not that of the suite"                                            \
    }
#define LANE(name)                                                                                 \
    {                                                                                              \
        name, "lane c of fib30 is not that of the suite"                                           \
    }
    {nothing, NULL},
    {workload_name, "workload fib31 is not that of the suite"},
    WORKLOAD(workload_measure),
    WORKLOAD(workload_lanes),
    WORKLOAD(workload_absent),
    WORKLOAD(workload_counters),
    WORKLOAD(workload_growth),
    WORKLOAD(workload_window),
    WORKLOAD(workload_baseline),
    WORKLOAD(workload_ack),
    WORKLOAD(workload_steps),
    WORKLOAD(workload_no_steps),
    WORKLOAD(workload_reproducible),
    WORKLOAD(samples_none),
    WORKLOAD(samples_name),
    WORKLOAD(samples_unit),
    WORKLOAD(samples_min),
    WORKLOAD(samples_max),
    WORKLOAD(samples_bound),
    WORKLOAD(profile_none),
    WORKLOAD(profile_format),
    WORKLOAD(profile_process),
    WORKLOAD(profile_thread),
    WORKLOAD(profile_kernel),
    WORKLOAD(profile_from),
    WORKLOAD(profile_to),
    WORKLOAD(profile_categories),
    {lane_name, "lane c2 of fib30 is not that of the suite"},
    LANE(lane_cpus),
    LANE(lane_startup),
    LANE(lane_command),
    LANE(lane_outputs),
    LANE(lane_no_outputs),
    LANE(scaling_of),
    LANE(scaling_tasks),
    LANE(scaling_looser),
    LANE(scaling_tighter),
    LANE(files_none),
    LANE(files_name),
    LANE(files_path),
    LANE(files_baseline),
};

static void each_member_is_held_against_the_suite(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        struct arena a = {0};
        struct raw *raw = consistent(&a);
        struct suite *suite = suite_for(&a, raw);
        print_as_the_suite_asks(&a, raw);
        declare_everything(&a, suite, raw);
        struct raw_workload *w = &raw->workloads[0];
        members[i].bend(w, &w->lanes[0], (struct attribution *)(uintptr_t)w->profile);
        const char *fault = check_suite(&a, raw, suite);
        if (members[i].words ? !fault || strcmp(fault, members[i].words) != 0 : fault != NULL)
            fail_msg("member %zu: %s", i, fault ? fault : "not seen");
        arena_deinit(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_difference_from_the_suite_is_named),
        cmocka_unit_test(each_member_is_held_against_the_suite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
