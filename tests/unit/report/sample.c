#include "sample.h"

#include <string.h>

#include "base/mem.h"

#define REPETITIONS 11
#define STARTED_MS 1796060152000 /* 2026-11-30T17:35:52Z */

/* Thousandths by which repetition r differs from its base; the median is 0. */
static const int jitter[REPETITIONS] = {3, -2, 0, 5, -1, 1, -4, 2, 0, -3, 4};

static const char *const sides[] = {"before", "after"};

/* ---- host, policy, phases */

static struct fact known(int64_t value, const char *source)
{
    return (struct fact){.state = FACT_KNOWN, .value = value, .source = source};
}

static void fill_phase(struct arena *a, struct raw *raw, enum phase phase)
{
    struct phase_record *p = &raw->phases[phase];
    struct inventory *v = arena_alloc(a, sizeof *v);
    *v = (struct inventory){.phase = phase,
                            .wall_ms = STARTED_MS + phase * 30000,
                            .window_ns = {250000000, 250000000},
                            .aggregate_pct = {1.2, 0.8},
                            .forks_per_second = 0.5,
                            .n_procs = 77,
                            .state = INVENTORY_QUIET};
    p->inventory = v;
    p->facts.wall_ms = v->wall_ms;
    p->facts.facts[FACT_MAINS] = (struct fact){.state = FACT_UNKNOWN, .text = "no power supply"};
    p->facts.facts[FACT_UPTIME] = known(3600000 + phase * 30000, "/proc/uptime");
    p->facts.facts[FACT_VIRTUAL] = known(1, "/proc/cpuinfo");
    for (int c = 0; c < COND_COUNT; c++)
        p->conditions[c] = (struct condition_result){.condition = (enum condition)c,
                                                     .status = TRI_PASS,
                                                     .mode = raw->policy.rules[c].mode,
                                                     .seen = "as it should be",
                                                     .needed = "what the policy asks"};
    p->conditions[COND_MAINS].status = TRI_UNKNOWN;
    p->conditions[COND_MAINS].seen = "no power supply is listed by a virtual machine";
    p->conditions[COND_HOST_CONTRACT].status = TRI_NOT_APPLICABLE;
    p->conditions[COND_HOST_CONTRACT].seen = "the policy names none";
}

static void fill_policy(struct policy *p)
{
    *p = (struct policy){.name = "virtual",
                         .repetitions_min = 11,
                         .margin = 0.01,
                         .drift_limit_pct = 5,
                         .settle_ms = 10000,
                         .snapshot_gap_ms = 250,
                         .retry_every_ms = 600000,
                         .retry_limit = 144,
                         .ready_timeout_ms = 120000,
                         .done_timeout_ms = 120000,
                         .build_timeout_ms = 3600000,
                         .sustained_pct = 50,
                         .aggregate_pct = 25,
                         .aggregate_all_pct = 1,
                         .lane_cpu_pct = 2,
                         .forks_per_second = 20,
                         .path = "/usr/bin:/bin"};
    p->rules[COND_MAINS] = (struct rule){.mode = RULE_WAIVE,
                                         .reason = "a guest does not see the power supply",
                                         .by = "the virtual policy"};
    p->rules[COND_GOVERNOR] = (struct rule){.mode = RULE_WAIVE,
                                            .reason = "a guest does not see the governor",
                                            .by = "the virtual policy"};
    p->rules[COND_BARE_METAL].mode = RULE_RECORD;
    p->rules[COND_STEAL].limit = 0.5;
}

static void fill_head(struct raw *raw)
{
    raw->id = SAMPLE_ID;
    raw->version = "0.1.0";
    raw->started_wall_ms = STARTED_MS;
    raw->ended_wall_ms = STARTED_MS + 252000;
    raw->host = (struct host_identity){
        .name = "bench1",
        .id = "5e8848981e29da7d6cc4bd3c9f2b4c7a0d9c1f6d3a2b1c0d9e8f7a6b5c4d3e2f",
        .model = "",
        .cpu = "AMD EPYC 7R13",
        .cores = 2,
        .memory_bytes = 8321499136,
        .os = "Debian GNU/Linux 12 (bookworm)",
        .kernel = "Linux 6.1.0-18-amd64",
        .arch = "x86_64",
        .tick_ns = 10000000};
    raw->boot =
        (struct boot_identity){"5b3c1d9e-6a77-4a53-9c38-0a3f2b7c1d11", STARTED_MS - 3600000};
    raw->boot_id_after = raw->boot.id;
    raw->suite_sha256 = "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0";
    raw->clock = "CLOCK_MONOTONIC_RAW";
    raw->cpu_set = "0-1";
    raw->fresh_worktrees = true;
    raw->cleanup = "verified";
}

/* ---- sources, builds, tools */

static struct args args_of(struct arena *a, const char *const *v)
{
    size_t n = 0;
    while (v[n])
        n++;
    struct args args = {.v = arena_array(a, n + 1, sizeof *args.v), .n = n};
    memcpy(args.v, v, n * sizeof *v);
    return args;
}

static void fill_sources(struct arena *a, struct raw *raw)
{
    static const char *const commits[] = {SAMPLE_BEFORE, SAMPLE_AFTER};
    static const char *const revs[] = {"v1.2", "HEAD"};
    static const char *const make[] = {"make", "-C", "{source}", "release", NULL};
    raw->n_sources = raw->n_builds = raw->n_artifacts = raw->job.n_sources = 2;
    raw->sources = arena_array(a, 2, sizeof *raw->sources);
    raw->builds = arena_array(a, 2, sizeof *raw->builds);
    raw->artifacts = arena_array(a, 2, sizeof *raw->artifacts);
    raw->job.sources = arena_array(a, 2, sizeof *raw->job.sources);
    for (int i = 0; i < 2; i++) {
        raw->job.sources[i] = (struct job_source){
            .side = sides[i], .repo = "/src/demo", .rev = revs[i], .commit = commits[i]};
        raw->sources[i] = (struct raw_source){.side = sides[i],
                                              .repo = "/src/demo",
                                              .rev = revs[i],
                                              .commit = commits[i],
                                              .head = commits[i],
                                              .detached = true,
                                              .clean = true,
                                              .path_bytes = 60,
                                              .files = 12,
                                              .tree_sha256 = raw->suite_sha256};
        raw->builds[i] = (struct raw_build){.side = sides[i],
                                            .argv = args_of(a, make),
                                            .wall_ns = 1500000000,
                                            .log = "logs/build-0.txt",
                                            .attempt = SAMPLE_ID};
        raw->artifacts[i] =
            (struct raw_artifact){sides[i], "out/fib30", 16384 + i * 512, raw->suite_sha256};
    }
}

static void fill_tools(struct arena *a, struct raw *raw)
{
    raw->n_tools = raw->n_rechecks = 1;
    raw->tools = arena_array(a, 1, sizeof *raw->tools);
    raw->tools[0] =
        (struct raw_tool){"python3", "/usr/bin/python3.11", "Python 3.11.2", raw->suite_sha256};
    raw->rechecks = arena_array(a, 1, sizeof *raw->rechecks);
    raw->rechecks[0] = (struct raw_recheck){RECHECK_TOOL, "/usr/bin/python3.11", raw->suite_sha256,
                                            raw->suite_sha256};
}

/* ---- workloads and observations */

static void add_workload(struct arena *a, struct raw *raw, const char *name, enum measure measure,
                         int64_t wait_ns, const struct raw_lane *lanes, size_t n)
{
    struct raw_workload *w = &raw->workloads[raw->n_workloads++];
    *w = (struct raw_workload){.name = name,
                               .measure = measure,
                               .declared_wait_ns = wait_ns,
                               .lanes = arena_array(a, n, sizeof *lanes),
                               .n_lanes = n};
    memcpy(w->lanes, lanes, n * sizeof *lanes);
}

static void fill_workloads(struct arena *a, struct raw *raw)
{
    static const char *const c[] = {"{source}/out/fib30", NULL};
    static const char *const py[] = {"python3", "{suite}/fib30.py", NULL};
    const struct raw_lane fib[] = {{.name = "c", .cpus = 1, .command = args_of(a, c)},
                                   {.name = "cpython", .control = true, .command = args_of(a, py)}};
    const struct raw_lane tcp[] = {{.name = "c", .command = args_of(a, c)}};
    const struct raw_lane loops[] = {
        {.name = "c", .cpus = 1, .startup = "startup", .command = args_of(a, c)},
        {.name = "startup", .cpus = 1, .command = args_of(a, c)}};
    raw->workloads = arena_array(a, 3, sizeof *raw->workloads);
    add_workload(a, raw, "fib30", MEASURE_PROTOCOL, 0, fib, 2);
    add_workload(a, raw, "tcp_fanout", MEASURE_PROTOCOL, 100000000, tcp, 1);
    add_workload(a, raw, "int32", MEASURE_PROCESS, 0, loops, 2);
}

/* What the observation lasts: the workload's time, with the repetition's jitter. */
static int64_t duration_ns(const char *workload, const char *lane, const char *side, int rep)
{
    bool after = strcmp(side, "after") == 0;
    int64_t base = strcmp(workload, "tcp_fanout") == 0 ? 104000000 : 12345678;
    if (strcmp(workload, "run") == 0)
        base = strcmp(lane, "b") == 0 ? 11500000 : 12345678;
    if (strcmp(workload, "fib30") == 0 && strcmp(lane, "c") == 0 && after)
        base *= 2;
    if (strcmp(lane, "cpython") == 0)
        base = 158321541 + after * 400000;
    if (strcmp(lane, "startup") == 0)
        base = rep == 3 || rep == 7 ? 13000000 : 2000000;
    return base + base / 1000 * jitter[(rep + after * 4) % REPETITIONS];
}

static void observe(struct raw *raw, const struct plan_step *step)
{
    const struct raw_workload *w = &raw->workloads[step->workload];
    struct raw_observation *o = &raw->observations[raw->n_observations++];
    bool process = w->measure == MEASURE_PROCESS;
    *o = (struct raw_observation){.seq = step->seq,
                                  .workload = w->name,
                                  .lane = w->lanes[step->lane].name,
                                  .side = raw->sides[step->side],
                                  .repetition = step->repetition,
                                  .position = step->position,
                                  .kind = step->kind,
                                  .outcome = "ok",
                                  RAW_OBSERVATION_NO_LEDGER,
                                  .start_ns = (int64_t)step->seq * 1000000000,
                                  .max_rss_bytes = 1 << 20,
                                  .cpu = w->lanes[step->lane].cpus ? 1 : -1,
                                  .fifo = true,
                                  .threads = process ? -1 : 1};
    o->elapsed_ns = duration_ns(o->workload, o->lane, o->side, o->repetition);
    o->go_ns = process ? -1 : o->start_ns + 1000000;
    o->done_ns = process ? -1 : o->go_ns + o->elapsed_ns;
    o->exit_ns = process ? o->start_ns + o->elapsed_ns : o->done_ns + 1000000;
    o->process_ns = o->exit_ns - o->start_ns;
    o->interval_cpu_ns = o->elapsed_ns - 1000;
    o->ready = process ? NULL : "READY demo";
    o->done = process ? NULL : "DONE demo 832040";
}

static void add_step(struct raw *raw, size_t w, size_t l, size_t s, int rep, enum obs_kind kind)
{
    struct plan_step *step = &raw->plan.steps[raw->plan.n];
    *step = (struct plan_step){.seq = (int)raw->plan.n,
                               .workload = (int)w,
                               .lane = (int)l,
                               .side = (int)s,
                               .repetition = rep,
                               .position = (int)(l * raw->n_sides + s),
                               .kind = kind};
    raw->plan.n++;
    observe(raw, step);
}

static void add_round(struct raw *raw, int rep, enum obs_kind kind)
{
    for (size_t w = 0; w < raw->n_workloads; w++)
        for (size_t l = 0; l < raw->workloads[w].n_lanes; l++)
            for (size_t s = 0; s < raw->n_sides; s++)
                add_step(raw, w, l, s, rep, kind);
}

static void fill_observations(struct arena *a, struct raw *raw)
{
    size_t lanes = 0;
    for (size_t w = 0; w < raw->n_workloads; w++)
        lanes += raw->workloads[w].n_lanes;
    size_t n = lanes * raw->n_sides * (REPETITIONS + 1);
    raw->plan.steps = arena_array(a, n, sizeof *raw->plan.steps);
    raw->observations = arena_array(a, n, sizeof *raw->observations);
    add_round(raw, 0, OBS_WARMUP);
    for (int rep = 0; rep < REPETITIONS; rep++)
        add_round(raw, rep, OBS_TIMED);
}

static struct raw *new_raw(struct arena *a, size_t n_sides, const char *const *names)
{
    struct raw *raw = arena_alloc(a, sizeof *raw);
    fill_policy(&raw->policy);
    fill_head(raw);
    raw->job = (struct job){.id = "01KB9XK3Q8Z4T1V7N5M2C0D6EE",
                            .label = "demo-after",
                            .suite_name = "release-performance",
                            .suite_sha256 = raw->suite_sha256,
                            .repetitions = REPETITIONS,
                            .warmups = 1,
                            .order = ORDER_INTERLEAVED,
                            .policy = "virtual",
                            .retry_every_ms = -1,
                            .retry_limit = -1};
    raw->sides = arena_array(a, n_sides, sizeof *raw->sides);
    memcpy(raw->sides, names, n_sides * sizeof *names);
    raw->n_sides = n_sides;
    for (int p = 0; p < PHASE_COUNT; p++)
        fill_phase(a, raw, (enum phase)p);
    return raw;
}

struct raw *sample_raw(struct arena *a)
{
    struct raw *raw = new_raw(a, 2, sides);
    fill_sources(a, raw);
    fill_tools(a, raw);
    fill_workloads(a, raw);
    fill_observations(a, raw);
    return raw;
}

struct raw *sample_run(struct arena *a)
{
    static const char *const one_side[] = {JOB_SIDE_SUITE};
    static const char *const sleep_a[] = {"./tool", "--input", "big file.txt", NULL};
    static const char *const sleep_b[] = {"./tool2", "--input", "big file.txt", NULL};
    struct raw *raw = new_raw(a, 1, one_side);
    const struct raw_lane lanes[] = {{.name = "a", .command = args_of(a, sleep_a)},
                                     {.name = "b", .command = args_of(a, sleep_b)}};
    raw->job.is_run = true;
    raw->job.label = "tool against tool2";
    raw->workloads = arena_array(a, 1, sizeof *raw->workloads);
    add_workload(a, raw, "run", MEASURE_PROCESS, 0, lanes, 2);
    fill_observations(a, raw);
    return raw;
}

void sample_disturb(struct arena *a, struct raw *raw, enum phase phase)
{
    struct inventory *v = raw->phases[phase].inventory;
    v->state = INVENTORY_BUSY;
    v->n_competitors = 1;
    v->competitors = arena_alloc(a, sizeof *v->competitors);
    *v->competitors = (struct competitor){.pid = 4711,
                                          .ppid = 1,
                                          .uid = 1000,
                                          .start_ticks = 123456,
                                          .command = "stress",
                                          .args = "stress --cpu 1 --timeout 600",
                                          .cwd = "/home/user",
                                          .share_pct = {98.2, 97.9},
                                          .reasons = COMPETE_SUSTAINED};
}

void sample_void(struct raw *raw)
{
    raw->n_observations = 11;
    struct raw_observation *o = &raw->observations[10];
    o->outcome = "lane.done_wrong";
    o->elapsed_ns = -1;
    o->done = "DONE demo 832041\x1b[31m";
    raw->void_code = "lane.done_wrong";
    raw->void_text = "fib30 c printed another DONE line than the suite expects; check its answer.";
    raw->phases[PHASE_AFTER_TIMING] = (struct phase_record){0};
}
