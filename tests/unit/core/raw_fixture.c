#include "raw_fixture.h"

#include "unit.h"

#include "base/mem.h"
#include "core/ledger/replacement.h"
#include "core/summary/observations.h"
#include "core/summary/summarise.h"
#include "core/summary/values.h"

#define SHA(digit) "000000000000000000000000000000000000000000000000000000000000000" digit

/* What a lane takes, in ns: c takes half as long after; nothing else changes. */
static int64_t base_ns(const char *lane, const char *side)
{
    if (strcmp(lane, "c") == 0)
        return strcmp(side, "after") == 0 ? 20000 : 40000;
    if (strcmp(lane, "c-startup") == 0)
        return 5000;
    if (strcmp(lane, "a") == 0 || strcmp(lane, "b") == 0)
        return strcmp(lane, "b") == 0 ? 20000 : 10000;
    return 80000;
}

/* A little more in each repetition, the same for every lane and side. */
static int64_t elapsed_ns(const struct raw_workload *w, const struct raw_observation *o)
{
    return w->declared_wait_ns + base_ns(o->lane, o->side) * (1000 + o->repetition) / 1000;
}

/* 100 of the first, 200 of the second, on every side. */
static void give_values(struct arena *a, const struct raw_workload *w, const struct raw_lane *lane,
                        struct raw_observation *o)
{
    size_t n = values_count(w, lane);

    if (!measure_has_values(w->measure))
        return;
    if (!measure_runs(w->measure)) {
        o->start_ns = o->exit_ns = o->process_ns = o->interval_cpu_ns = -1;
        o->exit_status = -1;
        o->stdout_bytes = o->stderr_bytes = -1;
    }
    o->elapsed_ns = -1;
    o->disturbed = -1;
    o->n_values = n;
    o->values = arena_array(a, n, sizeof *o->values);
    for (size_t i = 0; i < n; i++)
        o->values[i] = (struct raw_value){values_name(w, lane, i), 100 * ((int64_t)i + 1)};
}

static void stamp(const struct raw_workload *w, struct raw_observation *o)
{
    o->start_ns = 1000000 * (int64_t)o->seq;
    o->elapsed_ns = elapsed_ns(w, o);
    o->go_ns = w->measure == MEASURE_PROTOCOL ? o->start_ns + 700 : -1;
    o->done_ns = w->measure == MEASURE_PROTOCOL ? o->go_ns + o->elapsed_ns : -1;
    o->exit_ns = w->measure == MEASURE_PROTOCOL ? o->done_ns + 300 : o->start_ns + o->elapsed_ns;
    o->process_ns = o->exit_ns - o->start_ns;
    o->interval_cpu_ns = o->elapsed_ns - w->declared_wait_ns;
}

void raw_add_values(struct arena *a, struct raw *raw, enum measure measure)
{
    struct raw_workload *workloads = arena_array(a, raw->n_workloads + 1, sizeof *workloads);
    struct raw_lane *lanes = arena_array(a, 2, sizeof *lanes);

    lanes[0].name = "c";
    lanes[1].name = "cpython";
    lanes[1].control = true;
    memcpy(workloads, raw->workloads, raw->n_workloads * sizeof *workloads);
    workloads[raw->n_workloads++] =
        (struct raw_workload){.name = "heap", .measure = measure, .lanes = lanes, .n_lanes = 2};
    raw->workloads = workloads;
}

/* Keeps what was observed of an earlier, shorter plan. */
static void observe(struct arena *a, struct raw *raw)
{
    struct raw_observation *earlier = raw->observations;
    size_t from = raw->n_observations;

    raw->n_observations = raw->plan.n;
    raw->observations = arena_array(a, raw->plan.n, sizeof *raw->observations);
    if (from > 0)
        memcpy(raw->observations, earlier, from * sizeof *earlier);
    for (size_t i = from; i < raw->plan.n; i++) {
        const struct plan_step *step = &raw->plan.steps[i];
        const struct raw_workload *w = &raw->workloads[step->workload];
        struct raw_observation *o = &raw->observations[i];
        *o = (struct raw_observation){
            .seq = step->seq,
            .workload = w->name,
            .lane = w->lanes[step->lane].name,
            .side = raw->sides[step->side],
            .repetition = step->repetition,
            .position = step->position,
            .kind = step->kind,
            .outcome = "ok",
            .ready = w->measure == MEASURE_PROTOCOL ? "READY" : NULL,
            .done = w->measure == MEASURE_PROTOCOL ? "DONE" : NULL,
            .cpu = -1,
            .threads = -1,
            .runner_cpu_ns = 9000,
            .runner_delay_ns = -1,
            .runner_switches = 2,
            .ledger = LEDGER_UNKNOWN,
            .disturbed = 0,
            .replaces = step->replaces,
        };
        stamp(w, o);
        give_values(a, w, &w->lanes[step->lane], o);
    }
}

static struct suite suite_of(struct arena *a, const struct raw *raw)
{
    struct suite suite = {.n_workloads = raw->n_workloads};
    suite.workloads = arena_array(a, raw->n_workloads, sizeof *suite.workloads);
    for (size_t w = 0; w < raw->n_workloads; w++) {
        suite.workloads[w].measure = raw->workloads[w].measure;
        suite.workloads[w].n_lanes = raw->workloads[w].n_lanes;
    }
    return suite;
}

static const bool *const *lanes_present(struct arena *a, const struct raw *raw)
{
    const bool **present = arena_array(a, raw->n_workloads, sizeof *present);
    for (size_t w = 0; w < raw->n_workloads; w++) {
        size_t n = raw->workloads[w].n_lanes * raw->n_sides;
        bool *lanes = arena_array(a, n, sizeof *lanes);
        for (size_t i = 0; i < n; i++)
            lanes[i] = lane_takes_part(&raw->workloads[w].lanes[i / raw->n_sides]) &&
                       !workload_is_absent(&raw->workloads[w], raw->sides[i % raw->n_sides]);
        present[w] = lanes;
    }
    return present;
}

static void plan(struct arena *a, struct raw *raw)
{
    struct suite suite = suite_of(a, raw);
    raw->plan = *plan_make(a, &suite, raw->n_sides, raw->job.repetitions, raw->job.warmups,
                           raw->job.order, lanes_present(a, raw));
}

bool raw_replace_round(struct arena *a, struct raw *raw)
{
    struct suite suite = suite_of(a, raw);
    struct replacement *list = replacements_of(a, raw);
    int *replaces = arena_array(a, raw->n_workloads, sizeof *replaces), number;

    if (!replacement_round(list, raw->n_workloads, replaces, &number))
        return false;
    plan_replace(a, &raw->plan, &suite, raw->n_sides, number, replaces, lanes_present(a, raw));
    observe(a, raw);
    return true;
}

void raw_replace_as(struct arena *a, struct raw *raw, int disturbed)
{
    for (size_t from = raw->n_observations; raw_replace_round(a, raw); from = raw->n_observations)
        for (size_t i = from; i < raw->n_observations; i++)
            raw->observations[i].disturbed = disturbed;
}

void raw_replace(struct arena *a, struct raw *raw)
{
    raw_replace_as(a, raw, 0);
}

static void fill_phases(struct arena *a, struct raw *raw)
{
    for (int p = 0; p < PHASE_COUNT; p++) {
        struct phase_record *record = &raw->phases[p];
        record->inventory = arena_alloc(a, sizeof *record->inventory);
        record->inventory->phase = (enum phase)p;
        record->inventory->state = INVENTORY_QUIET;
        for (int c = 0; c < COND_COUNT; c++)
            record->conditions[c] = (struct condition_result){
                .condition = (enum condition)c, .status = TRI_PASS, .seen = "as it should be"};
        record->conditions[COND_HOST_CONTRACT].status = TRI_NOT_APPLICABLE;
    }
}

static void *copy(struct arena *a, const void *items, size_t n, size_t size)
{
    return memcpy(arena_array(a, n, size), items, n * size);
}

#define COPY(a, array) copy((a), (array), ARRAY_LEN(array), sizeof *(array))

static void fill_common(struct arena *a, struct raw *raw)
{
    raw->id = "01HF0000000000000000000000";
    raw->boot.id = raw->boot_id_after = "b007";
    raw->suspend_before_ms = raw->suspend_after_ms = 1234;
    raw->job.repetitions = 11;
    raw->job.warmups = 1;
    raw->policy = (struct policy){
        .name = "standard", .repetitions_min = 11, .margin = 0.01, .drift_limit_pct = 5};
    raw->policy.rules[COND_CALIBRATION].mode = RULE_RECORD;
    raw->suite_sha256 = SHA("5");
    raw->cleanup = "verified";
    fill_phases(a, raw);
    plan(a, raw);
    observe(a, raw);
}

static void fill_workloads(struct arena *a, struct raw *raw)
{
    const struct raw_lane two[] = {{.name = "c"}, {.name = "cpython", .control = true}};
    const struct raw_lane three[] = {{.name = "c", .startup = "c-startup"},
                                     {.name = "c-startup"},
                                     {.name = "cpython", .control = true}};
    const struct raw_workload workloads[] = {
        {.name = "fib30", .lanes = COPY(a, two), .n_lanes = 2},
        {.name = "fanout",
         .lanes = COPY(a, two),
         .n_lanes = 2,
         .declared_wait_ns = FIXTURE_WAIT_NS},
        {.name = "int32", .measure = MEASURE_PROCESS, .lanes = COPY(a, three), .n_lanes = 3},
    };
    raw->workloads = COPY(a, workloads);
    raw->n_workloads = ARRAY_LEN(workloads);
}

static void fill_sources(struct arena *a, struct raw *raw)
{
    const char *sides[] = {"before", "after"};
    const struct job_source asked[] = {{.side = "before", .commit = FIXTURE_COMMIT_BEFORE},
                                       {.side = "after", .commit = FIXTURE_COMMIT_AFTER}};
    const struct raw_source sources[] = {{.side = "before",
                                          .repo = "r",
                                          .rev = "v1",
                                          .commit = FIXTURE_COMMIT_BEFORE,
                                          .head = FIXTURE_COMMIT_BEFORE,
                                          .detached = true,
                                          .clean = true,
                                          .path_bytes = 30,
                                          .files = 9,
                                          .tree_sha256 = SHA("1")},
                                         {.side = "after",
                                          .repo = "r",
                                          .rev = "v2",
                                          .commit = FIXTURE_COMMIT_AFTER,
                                          .head = FIXTURE_COMMIT_AFTER,
                                          .detached = true,
                                          .clean = true,
                                          .path_bytes = 30,
                                          .files = 9,
                                          .tree_sha256 = SHA("2")}};
    raw->sides = COPY(a, sides);
    raw->n_sides = ARRAY_LEN(sides);
    raw->job.sources = COPY(a, asked);
    raw->job.n_sources = ARRAY_LEN(asked);
    raw->sources = COPY(a, sources);
    raw->n_sources = ARRAY_LEN(sources);
    raw->fresh_worktrees = true;
}

static void fill_hashes(struct arena *a, struct raw *raw)
{
    const struct raw_build builds[] = {{.side = "before"}, {.side = "after"}};
    const struct raw_artifact artifacts[] = {{"before", "fib30", 100, SHA("3")},
                                             {"after", "fib30", 100, SHA("4")}};
    const struct raw_tool tools[] = {{"python3", "/usr/bin/python3", "3.11", SHA("6")}};
    const struct raw_recheck rechecks[] = {{RECHECK_SOURCE, "before", SHA("1"), SHA("1")},
                                           {RECHECK_SOURCE, "after", SHA("2"), SHA("2")},
                                           {RECHECK_ARTIFACT, "before:fib30", SHA("3"), SHA("3")},
                                           {RECHECK_ARTIFACT, "after:fib30", SHA("4"), SHA("4")},
                                           {RECHECK_SUITE, "suite", SHA("5"), SHA("5")},
                                           {RECHECK_TOOL, "/usr/bin/python3", SHA("6"), SHA("6")}};
    raw->builds = COPY(a, builds);
    raw->n_builds = ARRAY_LEN(builds);
    raw->artifacts = COPY(a, artifacts);
    raw->n_artifacts = ARRAY_LEN(artifacts);
    raw->tools = COPY(a, tools);
    raw->n_tools = ARRAY_LEN(tools);
    raw->rechecks = COPY(a, rechecks);
    raw->n_rechecks = ARRAY_LEN(rechecks);
}

struct raw *raw_fixture(struct arena *a)
{
    struct raw *raw = arena_alloc(a, sizeof *raw);
    fill_workloads(a, raw);
    fill_sources(a, raw);
    fill_hashes(a, raw);
    fill_common(a, raw);
    return raw;
}

void raw_replan(struct arena *a, struct raw *raw)
{
    raw->n_observations = 0;
    plan(a, raw);
    observe(a, raw);
}

struct raw *raw_fixture_run(struct arena *a)
{
    struct raw *raw = arena_alloc(a, sizeof *raw);
    const struct raw_lane lanes[] = {{.name = "a"}, {.name = "b"}};
    const struct raw_workload workloads[] = {
        {.name = "run", .measure = MEASURE_PROCESS, .lanes = COPY(a, lanes), .n_lanes = 2}};
    const char *sides[] = {JOB_SIDE_SUITE};
    const struct raw_recheck rechecks[] = {{RECHECK_SUITE, "suite", SHA("5"), SHA("5")}};
    raw->workloads = COPY(a, workloads);
    raw->n_workloads = 1;
    raw->sides = COPY(a, sides);
    raw->n_sides = 1;
    raw->rechecks = COPY(a, rechecks);
    raw->n_rechecks = 1;
    raw->job.is_run = true;
    fill_common(a, raw);
    return raw;
}

struct raw_observation *raw_find(struct raw *raw, const char *workload, const char *lane,
                                 const char *side, int repetition)
{
    for (size_t i = 0; i < raw->n_observations; i++) {
        struct raw_observation *o = &raw->observations[i];
        if (o->kind == OBS_TIMED && o->repetition == repetition &&
            strcmp(o->workload, workload) == 0 && strcmp(o->lane, lane) == 0 &&
            strcmp(o->side, side) == 0)
            return o;
    }
    fail_msg("no observation of %s %s %s %d", workload, lane, side, repetition);
    return NULL;
}

void raw_expect(struct arena *a, const struct raw *raw, enum predicate p, enum tri status,
                const char *words)
{
    const struct grade_result *g = &summarise(a, raw)->grade;
    const struct predicate_result *r = &g->predicates[p];
    if (r->status != status || !strstr(r->fact, words))
        fail_msg("%s is %s (%s), not %s (%s)", predicate_name(p), tri_name(r->status), r->fact,
                 tri_name(status), words);
    if (status == TRI_FAIL || status == TRI_UNKNOWN)
        assert_int_not_equal(g->value, GRADE_CONTRACTUAL);
}
