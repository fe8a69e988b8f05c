#include "random_raw.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/digest.h"
#include "base/mem.h"
#include "proto/doc/doc_calibration.h"
#include "proto/doc/doc_host.h"
#include "proto/doc/doc_ledger.h"
#include "proto/doc/doc_raw.h"
#include "proto/doc/documents.h"

#define SHA "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define COMMIT "0123456789abcdef0123456789abcdef01234567"

static const char *const strings[] = {
    "",
    "plain",
    "two words",
    "quote\"back\\slash",
    "new\nline\ttab",
    "\x1b[31mred\x01",
    "über|pipe",
    "日本語",
    "a/b:c",
    "\xe2\x80\xae reversed",
    "*star* _under_ `tick` <b>",
    "{source}",
};

static bool chance(struct prng *p, size_t one_in)
{
    return prng_below(p, one_in) == 0;
}

static int64_t random_int(struct prng *p, int64_t max)
{
    size_t bits = prng_below(p, 64);
    int64_t v = (int64_t)(prng_next(p) >> 1) & (int64_t)((UINT64_C(1) << bits) - 1);
    return v % (max == INT64_MAX ? max : max + 1);
}

static const char *random_string(struct prng *p)
{
    return strings[prng_below(p, ARRAY_LEN(strings))];
}

static double random_double(struct prng *p)
{
    if (chance(p, 8))
        return (double)NAN;
    return (double)random_int(p, 1000000) / (double)(1 + random_int(p, 1000));
}

static struct args random_args(struct arena *a, struct prng *p)
{
    struct args args = {.n = prng_below(p, 4)};
    args.v = arena_array(a, args.n + 1, sizeof *args.v);
    for (size_t i = 0; i < args.n; i++)
        args.v[i] = random_string(p);
    return args;
}

static int random_word(struct prng *p, const struct doc_enum *words)
{
    int n = 0;
    while (words->parse(words->name(n)) == n)
        n++;
    return (int)prng_below(p, (size_t)n);
}

static void random_field(struct arena *a, struct prng *p, const struct doc_field *f, void *at)
{
    bool unknown = chance(p, 5);
    switch (f->kind) {
    case DOC_STR:
    case DOC_STR_OR_NULL:
        *(const char **)at = f->kind == DOC_STR_OR_NULL && unknown ? NULL : random_string(p);
        return;
    case DOC_INT:
        *(int *)at = (int)random_int(p, f->max);
        return;
    case DOC_INT_OR_NULL:
        *(int *)at = unknown ? -1 : (int)random_int(p, f->max);
        return;
    case DOC_I64:
        *(int64_t *)at = random_int(p, f->max);
        return;
    case DOC_I64_OR_NULL:
        *(int64_t *)at = unknown ? -1 : random_int(p, f->max);
        return;
    case DOC_SIZE:
        *(size_t *)at = (size_t)random_int(p, f->max);
        return;
    case DOC_NUM:
        *(double *)at = random_double(p);
        return;
    case DOC_BOOL:
        *(bool *)at = chance(p, 2);
        return;
    case DOC_ENUM: {
        int v = random_word(p, f->words);
        memcpy(at, &v, sizeof v);
        return;
    }
    case DOC_ARGS:
        *(struct args *)at = random_args(a, p);
        return;
    }
}

static void random_record(struct arena *a, struct prng *p, const struct doc_table *t, void *rec)
{
    for (size_t i = 0; i < t->n; i++)
        random_field(a, p, &t->fields[i], (char *)rec + t->fields[i].offset);
}

static void *random_records(struct arena *a, struct prng *p, const struct doc_table *t, size_t max,
                            size_t *n)
{
    *n = prng_below(p, max + 1);
    char *records = arena_array(a, *n, t->size);
    for (size_t i = 0; i < *n; i++)
        random_record(a, p, t, records + i * t->size);
    return records;
}

/* ---- host and phases */

static void random_host(struct prng *p, struct raw *raw)
{
    raw->host = (struct host_identity){.name = random_string(p),
                                       .id = SHA,
                                       .model = random_string(p),
                                       .cpu = random_string(p),
                                       .cores = (int)random_int(p, 256),
                                       .memory_bytes = random_int(p, JSON_INT_MAX),
                                       .os = random_string(p),
                                       .kernel = random_string(p),
                                       .arch = chance(p, 3) ? NULL : random_string(p),
                                       .tick_ns = random_int(p, 10000000)};
    raw->boot = (struct boot_identity){random_string(p), random_int(p, JSON_INT_MAX)};
}

static struct competitor *random_competitors(struct arena *a, struct prng *p, size_t *n)
{
    *n = prng_below(p, 4);
    struct competitor *c = arena_array(a, *n, sizeof *c);
    for (size_t i = 0; i < *n; i++)
        c[i] = (struct competitor){.pid = (int)random_int(p, INT32_MAX),
                                   .ppid = (int)random_int(p, INT32_MAX),
                                   .uid = chance(p, 4) ? -1 : random_int(p, UINT32_MAX),
                                   .start_ticks = random_int(p, JSON_INT_MAX),
                                   .command = random_string(p),
                                   .args = chance(p, 3) ? NULL : random_string(p),
                                   .cwd = chance(p, 3) ? NULL : random_string(p),
                                   .share_pct = {random_double(p), random_double(p)},
                                   .reasons = (unsigned)prng_below(p, 32)};
    return c;
}

static void random_phase(struct arena *a, struct prng *p, enum phase phase,
                         struct phase_record *out)
{
    conditions_unknown(out->conditions);
    if (chance(p, 4))
        return;
    struct inventory *v = out->inventory = arena_alloc(a, sizeof *v);
    *v = (struct inventory){.phase = phase,
                            .wall_ms = random_int(p, JSON_INT_MAX),
                            .window_ns = {random_int(p, JSON_INT_MAX), chance(p, 3) ? -1 : 250},
                            .aggregate_pct = {random_double(p), random_double(p)},
                            .forks_per_second = random_double(p),
                            .n_procs = prng_below(p, 100000),
                            .state = (enum inventory_state)prng_below(p, 3),
                            .partial_reason = chance(p, 2) ? NULL : random_string(p)};
    v->competitors = random_competitors(a, p, &v->n_competitors);
    v->hints = random_competitors(a, p, &v->n_hints);
    out->facts.wall_ms = random_int(p, JSON_INT_MAX);
    for (int f = 0; f < FACT_COUNT; f++)
        out->facts.facts[f] = (struct fact){.state = (enum fact_state)prng_below(p, 3),
                                            .value = random_int(p, JSON_INT_MAX) - 1000,
                                            .text = chance(p, 2) ? NULL : random_string(p),
                                            .source = chance(p, 2) ? NULL : random_string(p)};
    for (int c = 0; c < COND_COUNT; c++) {
        out->conditions[c].status = (enum tri)prng_below(p, 4);
        out->conditions[c].mode = (enum rule_mode)prng_below(p, 3);
        out->conditions[c].seen = chance(p, 3) ? NULL : random_string(p);
        out->conditions[c].needed = chance(p, 3) ? NULL : random_string(p);
    }
}

/* ---- job and policy: their own rules allow less */

static struct job_correction *random_correction(struct arena *a, struct prng *p)
{
    static const char diff[] = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-f(\t1)\r\n+f(1 as \"int\")\r\n";
    struct job_correction *c = arena_alloc(a, sizeof *c);
    char *sha256 = arena_alloc(a, DIGEST_HEX);
    digest_bytes(diff, strlen(diff), sha256);
    *c = (struct job_correction){"v0.3", COMMIT, diff, sha256, "Ada L.", "checked as int32"};
    return chance(p, 3) ? c : NULL;
}

/* Of a job with sources: a pair and a variant, sometimes. */
static void random_sides(struct arena *a, struct prng *p, struct job *j)
{
    static struct env_var variant[] = {{"CFLAGS", "-O3 \"x\""}, {"EMPTY", ""}};
    if (j->n_sources < 2)
        return;
    j->n_pairs = prng_below(p, 3);
    j->pairs = arena_array(a, j->n_pairs, sizeof *j->pairs);
    for (size_t i = 0; i < j->n_pairs; i++)
        j->pairs[i] = (struct job_pair){j->sources[i].side, j->sources[1 - i].side};
    j->sources[0].variant = variant;
    j->sources[0].n_variant = prng_below(p, 3);
}

/* When it may run, and the session that it belongs to. */
static void random_schedule(struct arena *a, struct prng *p, struct raw *raw)
{
    static struct job_after after[] = {{"01KB9XK3Q8Z4T1V7N5M2C0D6EA", NEED_OK},
                                       {"01KB9XK3Q8Z4T1V7N5M2C0D6EB", NEED_ANY}};
    struct window *w = arena_alloc(a, sizeof *w);
    struct raw_session *s = arena_alloc(a, sizeof *s);
    *w = (struct window){.days = 1 + (unsigned)prng_below(p, 127),
                         .from_min = (int)prng_below(p, 1440),
                         .to_min = (int)prng_below(p, 1440),
                         .zone = "Europe/London"};
    *s = (struct raw_session){.id = "01KB9XK3Q8Z4T1V7N5M2C0D6EF",
                              .label = "0.3.4",
                              .boot = (enum session_boot)prng_below(p, 3),
                              .opened_ms = random_int(p, JSON_INT_MAX),
                              .opened_boot = "4f0c6e9e-6d0c-4a5e-8f57-2d3a2f6a7c11",
                              .settle_ms = random_int(p, JSON_INT_MAX),
                              .post_reboot = chance(p, 2)};
    raw->job.window = chance(p, 2) ? w : NULL;
    raw->job.not_before_ms = chance(p, 2) ? 1796086800000 : 0;
    raw->job.deadline_ms = chance(p, 2) ? 1796428800000 : 0;
    raw->session = chance(p, 2) ? s : NULL;
    raw->job.session = raw->session ? s->id : NULL;
    raw->job.n_after = prng_below(p, 3);
    raw->job.after = after;
}

static void random_job(struct arena *a, struct prng *p, struct raw *raw)
{
    struct job *j = &raw->job;
    *j = (struct job){.id = "01KB9XK3Q8Z4T1V7N5M2C0D6EE",
                      .label = chance(p, 3) ? "" : "a label, über",
                      .suite_name = "release-performance",
                      .suite_sha256 = SHA,
                      .repetitions = 1 + (int)prng_below(p, 20),
                      .warmups = (int)prng_below(p, 3),
                      .order = (enum order)prng_below(p, 2),
                      .policy = "standard",
                      .allow_competing = chance(p, 2),
                      .retry_every_ms = chance(p, 2) ? -1 : 60000,
                      .retry_limit = chance(p, 2) ? -1 : 7,
                      .priority = (int)prng_below(p, 201) - 100};
    j->is_run = raw->n_sides == 1 && chance(p, 2);
    j->n_sources = raw->n_sides == 1 ? 0 : raw->n_sides;
    j->sources = arena_array(a, j->n_sources, sizeof *j->sources);
    for (size_t i = 0; i < j->n_sources; i++)
        j->sources[i] = (struct job_source){.side = raw->sides[i],
                                            .repo = "/src/demo",
                                            .rev = "main",
                                            .commit = COMMIT,
                                            .correction = random_correction(a, p)};
    j->n_exclude = prng_below(p, 3);
    j->exclude = arena_array(a, j->n_exclude, sizeof *j->exclude);
    for (size_t i = 0; i < j->n_exclude; i++)
        j->exclude[i] = (struct lane_ref){chance(p, 2) ? NULL : "w0", "lane0"};
    random_sides(a, p, j);
    random_schedule(a, p, raw);
}

static void random_policy(struct arena *a, struct prng *p, struct raw *raw)
{
    const char *const *names = policy_shipped_names();
    struct policy *policy = NULL;
    size_t n = 0;
    while (names[n])
        n++;
    if (policy_shipped(a, names[prng_below(p, n)], &policy, NULL) == 0)
        raw->policy = *policy;
}

/* ---- workloads, plan, observations */

static void random_samples_of(struct arena *a, struct prng *p, struct raw_workload *w)
{
    bool has_records = measure_has_records(w->measure);
    w->ack = has_records && chance(p, 2);
    w->samples = NULL;
    w->n_samples = 0;
    if (!w->ack || measure_has_values(w->measure))
        return;
    w->samples = random_records(a, p, &raw_series_table, 3, &w->n_samples);
    for (size_t i = 0; i < w->n_samples; i++)
        w->samples[i].name = arena_printf(a, "series%zu", i);
}

static void random_samples(struct arena *a, struct prng *p, const struct raw_workload *w,
                           struct raw_observation *o)
{
    o->n_samples = w->n_samples;
    o->samples = arena_array(a, o->n_samples, sizeof *o->samples);
    for (size_t i = 0; i < o->n_samples; i++) {
        struct raw_samples *s = &o->samples[i];
        *s = (struct raw_samples){.name = w->samples[i].name, .n = prng_below(p, 5)};
        s->v = arena_array(a, s->n, sizeof *s->v);
        for (size_t k = 0; k < s->n; k++)
            s->v[k] = random_int(p, JSON_INT_MAX);
    }
}

static void random_scaling(struct prng *p, struct raw_lane *lane)
{
    if (chance(p, 2))
        lane->scaling = (struct scaling){.of = "lane0",
                                         .tasks = 2 + (int64_t)prng_below(p, 6),
                                         .max_ratio = (double)(1 + prng_below(p, 9)) / 8};
}

static const struct attribution *random_profile(struct arena *a, struct prng *p)
{
    static const char *patterns[] = {"*", "a?b", "*über|*"};
    struct attribution *rules = arena_alloc(a, sizeof *rules);

    rules->format = (enum profile_format)prng_below(p, PROFILE_XCTRACE + 1);
    rules->n_categories = 1 + prng_below(p, 3);
    rules->categories = arena_array(a, rules->n_categories, sizeof *rules->categories);
    for (size_t i = 0; i < rules->n_categories; i++)
        rules->categories[i] = (struct category){
            .name = arena_printf(a, "category%zu", i),
            .symbols = {patterns, prng_below(p, ARRAY_LEN(patterns) + 1)},
            .objects = {patterns, 1},
        };
    bool is_bare = rules->format == PROFILE_CALLGRIND;
    rules->process = is_bare || chance(p, 2) ? NULL : patterns[0];
    rules->thread = is_bare || chance(p, 2) ? NULL : patterns[1];
    rules->kernel = !is_bare && chance(p, 2);
    rules->from_ms = is_bare || chance(p, 2) ? -1 : random_int(p, 1000);
    rules->to_ms = is_bare || chance(p, 2) ? -1 : 1001 + random_int(p, 1000);
    return rules;
}

static void random_workloads(struct arena *a, struct prng *p, struct raw *raw)
{
    raw->n_workloads = 1 + prng_below(p, 3);
    raw->workloads = arena_array(a, raw->n_workloads, sizeof *raw->workloads);
    for (size_t w = 0; w < raw->n_workloads; w++) {
        struct raw_workload *workload = &raw->workloads[w];
        random_record(a, p, &raw_workload_table, workload);
        workload->name = arena_printf(a, "w%zu", w);
        if (chance(p, 4))
            workload->absent_sides = (struct args){raw->sides, 1};
        workload->counters =
            workload->measure == MEASURE_COUNTERS ? random_args(a, p) : (struct args){0};
        bool is_size = workload->measure == MEASURE_SIZE;
        workload->tool =
            workload->measure >= MEASURE_INSTRUCTIONS && !chance(p, 4) ? random_string(p) : NULL;
        if (workload->measure == MEASURE_ATTRIBUTION) {
            workload->tool = NULL;
            workload->profile = random_profile(a, p);
        }
        workload->baseline = workload->measure == MEASURE_MEMORY && chance(p, 2);
        workload->window_ms =
            workload->measure == MEASURE_CPU ? (int64_t)prng_below(p, WINDOW_MAX_MS) : 0;
        random_samples_of(a, p, workload);
        workload->growth_pct = is_size ? (int)prng_below(p, GROWTH_PCT_MAX) : 0;
        bool is_build = workload->measure == MEASURE_BUILD;
        workload->steps_of = is_build ? random_string(p) : NULL;
        workload->reproducible = is_build && chance(p, 2);
        workload->n_lanes = 1 + prng_below(p, 3);
        workload->lanes = arena_array(a, workload->n_lanes, sizeof *workload->lanes);
        for (size_t l = 0; l < workload->n_lanes; l++) {
            struct raw_lane *lane = &workload->lanes[l];
            random_record(a, p, &raw_lane_table, lane);
            lane->name = arena_printf(a, "lane%zu", l);
            lane->startup = chance(p, 2) ? NULL : "lane0";
            lane->absent = chance(p, 4) ? random_string(p) : NULL;
            lane->excluded = chance(p, 6);
            random_scaling(p, lane);
            lane->files = random_records(a, p, &raw_file_table, is_size ? 3 : 0, &lane->n_files);
            lane->outputs = is_build ? random_args(a, p) : (struct args){0};
        }
    }
}

static void random_step(struct arena *a, struct prng *p, const struct raw *raw,
                        struct plan_step *step, int seq)
{
    random_record(a, p, &raw_step_table, step);
    step->seq = seq;
    step->repetition = (int)prng_below(p, 20);
    step->workload = (int)prng_below(p, raw->n_workloads);
    step->lane = (int)prng_below(p, raw->workloads[step->workload].n_lanes);
    step->side = (int)prng_below(p, raw->n_sides);
}

static void observe(struct arena *a, struct prng *p, struct raw *raw, const struct plan_step *step)
{
    struct raw_observation *o = &raw->observations[raw->n_observations++];
    random_record(a, p, &raw_observation_table, o);
    o->ledger = LEDGER_UNKNOWN;
    if (!chance(p, 3)) {
        random_record(a, p, &raw_ledger_table, &o->ledger);
        o->ledger.span_ns = random_int(p, JSON_INT_MAX);
    }
    o->values = random_records(a, p, &raw_value_table, 3, &o->n_values);
    random_samples(a, p, &raw->workloads[step->workload], o);
    o->outputs = random_records(a, p, &raw_output_table, 3, &o->n_outputs);
    o->disturbed = chance(p, 3) ? -1 : (int)prng_below(p, 1 << DISTURBANCE_COUNT);
    o->seq = step->seq;
    o->workload = raw->workloads[step->workload].name;
    o->lane = raw->workloads[step->workload].lanes[step->lane].name;
    o->side = raw->sides[step->side];
    o->repetition = step->repetition;
    o->kind = step->kind;
    if (!chance(p, 10))
        o->outcome = "ok";
}

static void random_observations(struct arena *a, struct prng *p, struct raw *raw)
{
    raw->plan.n = prng_below(p, 200);
    raw->plan.steps = arena_array(a, raw->plan.n, sizeof *raw->plan.steps);
    raw->observations = arena_array(a, raw->plan.n, sizeof *raw->observations);
    for (size_t i = 0; i < raw->plan.n; i++) {
        random_step(a, p, raw, &raw->plan.steps[i], (int)i);
        if (!chance(p, 10))
            observe(a, p, raw, &raw->plan.steps[i]);
    }
}

static void random_values(struct arena *a, struct prng *p, size_t n, struct calibration_values *out)
{
    *out = (struct calibration_values){arena_array(a, n, sizeof(int64_t)), n};
    for (size_t i = 0; i < n; i++)
        out->v[i] = chance(p, 100) ? -1 : random_int(p, CALIBRATION_VALUE_MAX);
}

static void random_calibration(struct arena *a, struct prng *p, struct raw *raw)
{
    if (chance(p, 2))
        return;
    struct calibration *c = arena_alloc(a, sizeof *c);
    random_record(a, p, &calibration_table, c);
    if (!chance(p, 4))
        c->boot = raw->boot.id;
    for (int m = 0; m < CALIBRATION_MEASURES; m++) {
        size_t pairs = prng_below(p, 40);
        c->measures[m].measure = (enum measure)m;
        random_values(a, p, prng_below(p, 30), &c->measures[m].floor_ns);
        random_values(a, p, 2 * pairs, &c->measures[m].pairs_ns);
        random_values(a, p, 2 * pairs, &c->measures[m].pairs_cpu_ns);
    }
    raw->calibration = c;
}

static void random_repeats(struct arena *a, struct prng *p, struct raw *raw)
{
    if (chance(p, 2))
        return;
    struct raw_pair *pair = arena_alloc(a, sizeof *pair);
    pair->attempt = "01M8PTEGD5W2KNJFSMY7B24KY2";
    pair->raw_sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    pair->rows = random_records(a, p, &raw_pair_row_table, 4, &pair->n_rows);
    raw->repeats = pair;
}

struct raw *random_raw(struct arena *a, struct prng *p)
{
    static const char *const two[] = {"before", "after"};
    static const char *const one[] = {JOB_SIDE_SUITE};
    struct raw *raw = arena_alloc(a, sizeof *raw);
    bool single = chance(p, 4);
    raw->n_sides = single ? 1 : 2;
    raw->sides = arena_array(a, raw->n_sides, sizeof *raw->sides);
    memcpy(raw->sides, single ? one : two, raw->n_sides * sizeof *raw->sides);
    random_record(a, p, &raw_head_table, raw);
    raw->observer = LEDGER_NO_SOURCES;
    if (!chance(p, 3)) {
        random_record(a, p, &raw_observer_table, &raw->observer);
        raw->observer.lane = "process";
    }
    raw->void_code = chance(p, 5) ? "lane.done_wrong" : NULL;
    random_host(p, raw);
    random_job(a, p, raw);
    random_policy(a, p, raw);
    random_workloads(a, p, raw);
    raw->sources = random_records(a, p, &raw_source_table, 2, &raw->n_sources);
    for (size_t i = 0; i < raw->n_sources; i++)
        if (chance(p, 2)) {
            struct raw_correction *c = arena_alloc(a, sizeof *c);
            random_record(a, p, &raw_correction_table, c);
            raw->sources[i].correction = c;
        }
    raw->builds = random_records(a, p, &raw_build_table, 3, &raw->n_builds);
    raw->artifacts = random_records(a, p, &raw_artifact_table, 3, &raw->n_artifacts);
    raw->tools = random_records(a, p, &raw_tool_table, 3, &raw->n_tools);
    raw->refusals = random_records(a, p, &raw_refusal_table, 5, &raw->n_refusals);
    raw->rechecks = random_records(a, p, &raw_recheck_table, 5, &raw->n_rechecks);
    for (int i = 0; i < PHASE_COUNT; i++)
        random_phase(a, p, (enum phase)i, &raw->phases[i]);
    random_observations(a, p, raw);
    random_repeats(a, p, raw);
    random_calibration(a, p, raw);
    return raw;
}
