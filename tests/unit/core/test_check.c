/* Whether a report agrees with itself: the whole one passes, and each single change is named. */
#include "unit.h"

#include "base/mem.h"
#include "core/grade/check.h"
#include "core/quiet/qualify.h"
#include "raw_fixture.h"

/* The fixture, with what only these checks ask for. */
static struct raw *consistent(struct arena *a)
{
    struct raw *raw = raw_fixture(a);
    raw->job.policy = raw->policy.name;
    raw->job.suite_sha256 = raw->suite_sha256;
    raw->job.suite_name = "suite";
    raw->policy.sustained_pct = 50;
    raw->policy.aggregate_pct = 25;
    raw->policy.forks_per_second = 20;
    raw->host.cores = 2;
    for (size_t i = 0; i < raw->n_sources; i++) {
        raw->job.sources[i].repo = raw->sources[i].repo;
        raw->job.sources[i].rev = raw->sources[i].rev;
        raw->builds[i].attempt = raw->id;
        raw->builds[i].log = arena_printf(a, "logs/build-%s-0.txt", raw->builds[i].side);
    }
    for (int p = 0; p < PHASE_COUNT; p++) {
        const struct qualify_job job = {.is_comparison = true, .control_everywhere = true};
        qualify_conditions(a, &raw->policy, &raw->host, &raw->phases[0].facts,
                           &raw->phases[p].facts, &job, raw->phases[p].conditions);
    }
    return raw;
}

/* A suite that the report could be of. */
static struct suite *suite_for(struct arena *a, const struct raw *raw)
{
    static const char *const words[] = {"cp", "{source}/x", "{build}/x.{suite}", NULL};
    struct suite *s = arena_alloc(a, sizeof *s);
    s->name = "suite";
    s->n_workloads = raw->n_workloads;
    s->workloads = arena_array(a, raw->n_workloads, sizeof *s->workloads);
    for (size_t w = 0; w < raw->n_workloads; w++) {
        const struct raw_workload *r = &raw->workloads[w];
        struct workload *out = &s->workloads[w];
        *out = (struct workload){.name = r->name,
                                 .measure = r->measure,
                                 .ready = "READY",
                                 .done = "DONE",
                                 .declared_wait_ns = r->declared_wait_ns,
                                 .operations = r->operations,
                                 .resolution_ns = r->resolution_ns,
                                 .n_lanes = r->n_lanes};
        out->lanes = arena_array(a, r->n_lanes, sizeof *out->lanes);
        for (size_t l = 0; l < r->n_lanes; l++)
            out->lanes[l] = (struct lane){.name = r->lanes[l].name,
                                          .control = r->lanes[l].control,
                                          .startup = r->lanes[l].startup};
    }
    s->n_build = 1;
    s->build = arena_alloc(a, sizeof *s->build);
    s->build->n = 3;
    s->build->v = arena_array(a, 4, sizeof *s->build->v);
    memcpy(s->build->v, words, sizeof words);
    return s;
}

static void print_as_the_suite_asks(struct arena *a, struct raw *raw)
{
    static const char *const built[] = {"cp", "/w/s0/x", "/w/b0/x./w/suite", NULL};
    for (size_t i = 0; i < raw->n_observations; i++)
        raw->observations[i].stdout_bytes = raw->observations[i].ready ? 11 : 0;
    for (size_t i = 0; i < raw->n_builds; i++) {
        raw->builds[i].argv.n = 3;
        raw->builds[i].argv.v = arena_array(a, 4, sizeof *raw->builds[i].argv.v);
        memcpy(raw->builds[i].argv.v, built, sizeof built);
    }
}

typedef const char *(*check_fn)(struct arena *a, const struct raw *raw);

static const check_fn every_check[] = {check_names,   check_plan,        check_observations,
                                       check_sources, check_inventories, check_conditions};

static void the_whole_report_passes_every_check(void **state)
{
    struct arena a = {0};
    struct raw *raw = consistent(&a);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(every_check); i++) {
        const char *fault = every_check[i](&a, raw);
        if (fault)
            fail_msg("%s", fault);
    }
    print_as_the_suite_asks(&a, raw);
    const char *fault = check_suite(&a, raw, suite_for(&a, raw));
    if (fault)
        fail_msg("%s", fault);
    arena_deinit(&a);
}

/* ---- one change each */

static void no_inventory(struct arena *a, struct raw *r)
{
    r->phases[PHASE_AFTER_TIMING].inventory = NULL;
}
static void a_reason_without_void(struct arena *a, struct raw *r)
{
    r->void_text = "why";
}
static void another_policy(struct arena *a, struct raw *r)
{
    r->job.policy = "strict";
}
static void more_warmups(struct arena *a, struct raw *r)
{
    r->job.warmups = 2;
}
/* As many lanes as a document may have: the plan of them would take gigabytes. */
static void a_plan_that_no_memory_holds(struct arena *a, struct raw *r)
{
    struct raw_workload *w = &r->workloads[r->n_workloads - 1];
    size_t n = 1000000;
    struct raw_lane *lanes = arena_array(a, n, sizeof *lanes);
    for (size_t i = 0; i < n; i++)
        lanes[i] = w->lanes[0];
    w->lanes = lanes;
    w->n_lanes = n;
    r->job.repetitions = 1000;
}
static void two_steps_swapped(struct arena *a, struct raw *r)
{
    struct plan_step s = r->plan.steps[4];
    r->plan.steps[4] = r->plan.steps[5];
    r->plan.steps[5] = s;
}
static void a_failed_exit(struct arena *a, struct raw *r)
{
    r->observations[3].exit_status = 1;
}
static void overlap(struct arena *a, struct raw *r)
{
    struct raw_observation *o = &r->observations[3];
    int64_t back = o->start_ns - r->observations[2].exit_ns + 1;
    o->start_ns -= back;
    o->exit_ns -= back;
    o->go_ns -= o->go_ns < 0 ? 0 : back;
    o->done_ns -= o->done_ns < 0 ? 0 : back;
}
static void a_fault_in_the_middle(struct arena *a, struct raw *r)
{
    r->observations[3].outcome = "lane.done_wrong";
}
static void void_for_another_reason(struct arena *a, struct raw *r)
{
    r->n_observations = 4;
    r->observations[3].outcome = "lane.done_wrong";
    r->void_code = "attempt.suspended";
}
static void pinned_elsewhere(struct arena *a, struct raw *r)
{
    r->observations[3].cpu = 1;
}
static void build_numbers(struct arena *a, struct raw *r)
{
    r->builds[1].step = 1;
}
static void a_failed_build(struct arena *a, struct raw *r)
{
    r->builds[1].exit_status = 2;
}
static void a_build_of_nowhere(struct arena *a, struct raw *r)
{
    r->builds[1].attempt = "01HF0000000000000000000009";
}
static void a_variant(struct arena *a, struct raw *r)
{
    static const char *const v[] = {"CFLAGS=-O3", NULL};
    r->sources[1].variant = (struct args){(const char **)(uintptr_t)v, 1};
}
static void a_correction(struct arena *a, struct raw *r)
{
    r->sources[1].correction = arena_alloc(a, sizeof(struct raw_correction));
}
static void a_recheck_too_many(struct arena *a, struct raw *r)
{
    r->n_tools = 0;
}
static void a_recheck_too_few(struct arena *a, struct raw *r)
{
    r->n_rechecks--;
}
static void another_time(struct arena *a, struct raw *r)
{
    r->phases[0].inventory->wall_ms = 1;
}
static void partial_without_reason(struct arena *a, struct raw *r)
{
    r->phases[0].inventory->state = INVENTORY_PARTIAL;
}
static void a_quiet_competitor(struct arena *a, struct raw *r)
{
    r->phases[0].inventory->n_competitors = 1;
    r->phases[0].inventory->competitors = arena_alloc(a, sizeof(struct competitor));
}
static void a_competitor_without_reason(struct arena *a, struct raw *r)
{
    a_quiet_competitor(a, r);
    r->phases[0].inventory->state = INVENTORY_BUSY;
}
static void a_sustained_hint(struct arena *a, struct raw *r)
{
    struct competitor *c = arena_alloc(a, sizeof *c);
    c->share_pct[0] = c->share_pct[1] = 50;
    r->phases[0].inventory->n_hints = 1;
    r->phases[0].inventory->hints = c;
}
static void a_waiver_after_the_fact(struct arena *a, struct raw *r)
{
    r->policy.rules[COND_MAINS].mode = RULE_WAIVE;
}
static void a_proved_absence(struct arena *a, struct raw *r)
{
    r->phases[0].facts.facts[COND_MAINS].state = FACT_UNKNOWN;
    r->phases[0].conditions[COND_SWAP].status = TRI_NOT_APPLICABLE;
}

static const struct {
    check_fn check;
    void (*bend)(struct arena *a, struct raw *raw);
    const char *words;
} lies[] = {
    {check_names, no_inventory, "no inventory after timing"},
    {check_names, a_reason_without_void, "void_code and void_text"},
    {check_names, another_policy, "the job asks for policy strict"},
    {check_plan, more_warmups, "steps, the job makes"},
    {check_plan, a_plan_that_no_memory_holds, "steps, the job makes"},
    {check_plan, two_steps_swapped, "step 4 of the plan"},
    {check_observations, a_failed_exit, "did not exit with 0"},
    {check_observations, overlap, "before the one before it has ended"},
    {check_observations, a_fault_in_the_middle, "and the report went on"},
    {check_observations, void_for_another_reason, "void for attempt.suspended"},
    {check_observations, pinned_elsewhere, "pinned although its lane is not"},
    {check_sources, build_numbers, "not numbered in order"},
    {check_sources, a_failed_build, "build step 0 of after failed"},
    {check_sources, a_build_of_nowhere, "attempt that is not on record"},
    {check_sources, a_variant, "the build variant of after"},
    {check_sources, a_correction, "the correction of after"},
    {check_sources, a_recheck_too_many, "without need"},
    {check_sources, a_recheck_too_few, "was not hashed again"},
    {check_inventories, another_time, "different times"},
    {check_inventories, partial_without_reason, "why it is partial"},
    {check_inventories, a_quiet_competitor, "called quiet and lists competitors"},
    {check_inventories, a_competitor_without_reason, "has no reason"},
    {check_inventories, a_sustained_hint, "a hint that is a competitor"},
    {check_conditions, a_waiver_after_the_fact, "mains power"},
    {check_conditions, a_proved_absence, "swap"},
};

static void each_change_is_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(lies); i++) {
        struct arena a = {0};
        struct raw *raw = consistent(&a);
        lies[i].bend(&a, raw);
        const char *fault = lies[i].check(&a, raw);
        if (!fault || !strstr(fault, lies[i].words))
            fail_msg("lie %zu (%s): %s", i, lies[i].words, fault ? fault : "not seen");
        arena_deinit(&a);
    }
}

static void a_void_report_may_end_in_the_middle(void **state)
{
    struct arena a = {0};
    struct raw *raw = consistent(&a);

    (void)state;
    raw->n_observations = 4;
    raw->observations[3].outcome = raw->void_code = "lane.done_wrong";
    raw->void_text = "why";
    raw->n_rechecks = 0;
    raw->phases[PHASE_AFTER_TIMING].inventory = NULL;
    for (size_t i = 0; i < ARRAY_LEN(every_check); i++)
        assert_null(every_check[i](&a, raw));
    arena_deinit(&a);
}

/* ---- against the suite */

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
        cmocka_unit_test(the_whole_report_passes_every_check),
        cmocka_unit_test(each_change_is_named),
        cmocka_unit_test(a_void_report_may_end_in_the_middle),
        cmocka_unit_test(each_difference_from_the_suite_is_named),
        cmocka_unit_test(each_member_is_held_against_the_suite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
