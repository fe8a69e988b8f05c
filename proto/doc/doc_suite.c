#include "proto/doc/documents.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "proto/doc/doc_attribution.h"
#include "proto/doc/doc_command.h"
#include "proto/doc/doc_common.h"
#include "proto/doc/doc_env.h"
#include "proto/doc/doc_keys.h"
#include "proto/doc/doc_suite_files.h"
#include "proto/doc/doc_suite_kernel.h"
#include "proto/doc/doc_suite_samples.h"
#include "proto/doc/doc_suite_steps.h"

#define WORKLOADS_MAX 64
#define LANES_MAX 64
#define BUILD_STEPS_MAX 32
#define ENV_MAX 64
#define RECORD_MAX 511 /* with its newline a line of 512 bytes */
#define WAIT_MAX_NS 60000000000
#define OPERATIONS_MAX 1000000000000
#define RESOLUTION_MAX_NS 1000000000
#define COUNTERS_MAX 64

const char *const suite_keys[] = {"schema", "name",      "description", "build", "suite_build",
                                  "env",    "forbidden", "workloads",   NULL};
const char *const workload_keys[] = {"name",
                                     "measure",
                                     "ready",
                                     "go",
                                     "done",
                                     "stdout",
                                     "declared_wait_ns",
                                     "operations",
                                     "resolution_ns",
                                     "absent",
                                     "lanes",
                                     "counters",
                                     "growth_pct",
                                     "baseline",
                                     "load",
                                     "window_ms",
                                     "ack",
                                     "samples",
                                     "steps",
                                     "reproducible",
                                     "profile",
                                     "kernel",
                                     NULL};
const char *const lane_keys[] = {"command",   "control",   "optional",      "needs",   "cpus",
                                 "startup",   "stdout",    "cwd",           "env",     "files",
                                 "baselines", "must_link", "must_not_link", "scaling", "prepare",
                                 "steps",     NULL};

/* Members that the suite format will have; naming them beats calling them unknown. */
static const char *const later_keys[] = {"fixture", "phases", "memory", "variants", NULL};

static void refuse_later(struct json_in *in, const cJSON *obj)
{
    const cJSON *m;
    cJSON_ArrayForEach (m, obj) {
        for (const char *const *later = later_keys; m->string && *later; later++)
            if (!strcmp(m->string, *later))
                json_fail(in, m->string, "suite.not_yet",
                          "this version does not have \"%s\" yet; leave it out", *later);
    }
}

/* ---- lanes */

static int decode_cpus(struct json_in *in, const cJSON *obj)
{
    int64_t cpus = json_opt_int(in, obj, "cpus", 0, JSON_INT_MAX, 0);
    bool given = !in->rc && cJSON_GetObjectItemCaseSensitive(obj, "cpus");
    if (given && cpus != 1)
        json_fail(in, "cpus", "suite.bad",
                  "cpus can only be 1 (pinned to one core); leave it out to use the policy's set");
    return (int)cpus;
}

static void decode_needs(struct json_in *in, const cJSON *obj, struct lane *lane)
{
    unsigned used = 0;
    if (in->rc || !cJSON_GetObjectItemCaseSensitive(obj, "needs"))
        return;
    lane->needs = doc_command(in, obj, "needs", &used);
    if (!lane->optional)
        json_fail(in, "needs", "suite.bad",
                  "only an optional lane can be absent; say \"optional\", or leave \"needs\" out");
    if (lane->control && (used & PLACE_SOURCE))
        json_fail(in, "needs", "suite.control_source",
                  "a control lane must not use {source}: it would change between the sides");
}

static void check_control(struct json_in *in, const struct lane *lane, unsigned used)
{
    if (lane->control && (used & PLACE_SOURCE))
        json_fail(
            in, "command", "suite.control_source",
            "a control lane must not use {source}: it would change between the sides; build it "
            "by suite_build, or drop \"control\"");
}

static void refuse_in_lane(struct json_in *in, const cJSON *obj, const char *key, const char *what)
{
    if (!in->rc && cJSON_GetObjectItemCaseSensitive(obj, key))
        json_fail(in, key, "suite.bad", "%s for the whole workload; move it there", what);
}

/* What a lane of one measure has no use for. */
static void refuse_members(struct json_in *in, const cJSON *obj, enum measure measure,
                           const char *const *keys)
{
    for (; *keys && !in->rc; keys++)
        if (cJSON_GetObjectItemCaseSensitive(obj, *keys))
            json_fail(in, *keys, "suite.bad", "a lane of measure \"%s\" has no \"%s\"; remove it",
                      measure_name(measure), *keys);
}

/* Of every lane in which something runs. */
static void decode_run(struct json_in *in, const cJSON *obj, struct lane *lane)
{
    lane->control = json_opt_bool(in, obj, "control", false);
    lane->optional = json_opt_bool(in, obj, "optional", false);
    decode_needs(in, obj, lane);
    lane->cpus = decode_cpus(in, obj);
    lane->env = doc_opt_env(in, obj, "env", ENV_MAX, "suite.bad", &lane->n_env);
}

static void decode_command(struct json_in *in, const cJSON *obj, struct lane *lane)
{
    unsigned used;

    lane->command = doc_command(in, obj, "command", &used);
    lane->startup = json_opt_str(in, obj, "startup", DOC_NAME_MAX, NULL);
    lane->stdout_text = json_opt_str(in, obj, "stdout", SUITE_STDOUT_MAX, NULL);
    lane->cwd = json_opt_str(in, obj, "cwd", 4096, NULL);
    if (lane->cwd && lane->cwd[0] != '/')
        json_fail(in, "cwd", "suite.bad", "cwd must be an absolute path");
    decode_run(in, obj, lane);
    check_control(in, lane, used);
}

/* What the lanes of a measure have no use for. */
static const char *const *foreign_members(enum measure measure)
{
    static const char *const size[] = {"command", "optional", "needs",   "cpus",
                                       "startup", "stdout",   "cwd",     "env",
                                       "prepare", "steps",    "scaling", NULL};
    static const char *const build[] = {"command", "startup",   "stdout",    "cwd",
                                        "files",   "baselines", "must_link", "must_not_link",
                                        "scaling", NULL};
    static const char *const others[] = {"files",   "baselines", "must_link", "must_not_link",
                                         "prepare", "steps",     NULL};

    return measure == MEASURE_SIZE ? size : measure == MEASURE_BUILD ? build : others;
}

/* What every observation of a kernel tells of, beside its times. */
static const struct args kernel_outputs = {(const char *[]){"artifact", "terminal", NULL}, 2};

static void decode_lane(struct json_in *in, const cJSON *obj, enum measure measure,
                        struct lane *lane)
{
    refuse_later(in, obj);
    refuse_in_lane(in, obj, "declared_wait_ns", "a wait is declared");
    refuse_in_lane(in, obj, "operations", "operations are counted");
    refuse_in_lane(in, obj, "resolution_ns", "a timer is declared");
    json_closed(in, obj, lane_keys);
    refuse_members(in, obj, measure, foreign_members(measure));
    if (measure == MEASURE_SIZE) {
        lane->control = json_opt_bool(in, obj, "control", false);
        doc_lane_files(in, obj, lane);
    } else if (measure == MEASURE_BUILD) {
        decode_run(in, obj, lane);
        doc_lane_prepare(in, obj, lane); /* its steps come when all lanes are known */
    } else {
        decode_command(in, obj, lane);
        if (measure == MEASURE_KERNEL)
            lane->outputs = kernel_outputs;
        doc_lane_scaling(in, obj, measure, lane);
    }
}

static const struct lane *find_lane(const struct workload *w, const char *name)
{
    for (size_t i = 0; i < w->n_lanes; i++)
        if (!strcmp(w->lanes[i].name, name))
            return &w->lanes[i];
    return NULL;
}

static void check_startup(struct json_in *in, const struct workload *w, const struct lane *lane)
{
    const struct lane *startup = find_lane(w, lane->startup);
    if (w->measure != MEASURE_PROCESS)
        json_fail(in, "startup", "suite.startup",
                  "only a workload that measures the whole process can subtract a startup lane");
    else if (!startup)
        json_fail(in, "startup", "suite.startup", "the startup lane \"%s\" is not in this workload",
                  lane->startup);
    else if (startup == lane || startup->startup)
        json_fail(in, "startup", "suite.startup",
                  "the startup lane \"%s\" must not itself have a startup lane", lane->startup);
    else if (startup->control != lane->control)
        json_fail(in, "startup", "suite.startup",
                  "the startup lane \"%s\" must be a control exactly if this lane is one",
                  lane->startup);
}

static void check_lane(struct json_in *in, const struct workload *w, const struct lane *lane)
{
    if (measure_has_records(w->measure) && lane->stdout_text)
        json_fail(in, "stdout", "suite.bad",
                  "a lane of this measure says READY and DONE; \"stdout\" is for measure "
                  "\"process\"");
    if ((w->measure == MEASURE_COUNTERS || w->measure == MEASURE_KERNEL) && lane->stdout_text)
        json_fail(in, "stdout", "suite.bad",
                  "a lane of measure \"%s\" prints what its measure says; remove \"stdout\"",
                  measure_name(w->measure));
    if (w->measure == MEASURE_ATTRIBUTION && lane->cwd)
        json_fail(in, "cwd", "suite.bad",
                  "a lane of measure \"attribution\" runs in the folder where it leaves its "
                  "profile; remove \"cwd\"");
    if (lane->startup && !in->rc)
        check_startup(in, w, lane);
    if (lane->scaling.of)
        doc_check_scaling(in, lane, find_lane(w, lane->scaling.of));
}

static void decode_lanes(struct json_in *in, const cJSON *obj, struct workload *w)
{
    const cJSON *lanes = json_obj(in, obj, "lanes"), *m;
    size_t count = (size_t)cJSON_GetArraySize(lanes), mark = json_enter(in, "lanes");
    if (count < 1 || count > LANES_MAX)
        json_fail(in, NULL, "suite.bad", "a workload has 1 to %d lanes", LANES_MAX);
    if (in->rc)
        return;
    w->lanes = arena_array(in->a, count, sizeof *w->lanes);
    cJSON_ArrayForEach (m, lanes) {
        struct lane *lane = &w->lanes[w->n_lanes++];
        lane->name = arena_strdup(in->a, m->string);
        doc_check_name(in, lane->name, lane->name, "suite.bad");
        size_t at = json_enter(in, lane->name);
        decode_lane(in, m, w->measure, lane);
        json_leave(in, at);
    }
    for (size_t i = 0; i < w->n_lanes && !in->rc; i++) {
        size_t at = json_enter(in, w->lanes[i].name);
        check_lane(in, w, &w->lanes[i]);
        json_leave(in, at);
    }
    json_leave(in, mark);
}

/* ---- workloads */

static const char *decode_record(struct json_in *in, const cJSON *obj, const char *key)
{
    const char *record = json_str(in, obj, key, JSON_STRING_MAX);
    if (!record)
        return NULL;
    if (!*record || strlen(record) > RECORD_MAX)
        json_fail(in, key, "suite.record", "%s must be a line of 1 to %d bytes", key, RECORD_MAX);
    for (const char *p = record; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            json_fail(in, key, "suite.record",
                      "%s is one line and its newline is added; remove control characters", key);
    return record;
}

static void refuse_member(struct json_in *in, const cJSON *obj, const char *key,
                          enum measure measure)
{
    if (!in->rc && cJSON_GetObjectItemCaseSensitive(obj, key))
        json_fail(in, key, "suite.bad", "a workload of measure \"%s\" has no \"%s\"; remove it",
                  measure_name(measure), key);
}

/* How many are done, and by which timer, is told of operations alone. */
static void decode_operations(struct json_in *in, const cJSON *obj, struct workload *w)
{
    if (w->measure != MEASURE_OPERATION) {
        refuse_member(in, obj, "operations", w->measure);
        refuse_member(in, obj, "resolution_ns", w->measure);
        return;
    }
    w->operations = json_int(in, obj, "operations", 1, OPERATIONS_MAX);
    w->resolution_ns = json_opt_int(in, obj, "resolution_ns", 1, RESOLUTION_MAX_NS, 0);
}

static struct args decode_counters(struct json_in *in, const cJSON *obj)
{
    struct args names = json_opt_args(in, obj, "counters", COUNTERS_MAX);
    if (!in->rc && names.n == 0)
        json_fail(in, "counters", "suite.bad",
                  "counters must name 1 to %d counters that each lane prints", COUNTERS_MAX);
    doc_check_names(in, "counters", "counter", &names);
    return names;
}

/* A record before READY, and what is answered to it: both, or none. */
static void decode_memory(struct json_in *in, const cJSON *obj, struct workload *w)
{
    bool baseline = cJSON_GetObjectItemCaseSensitive(obj, "baseline") != NULL;
    bool load = cJSON_GetObjectItemCaseSensitive(obj, "load") != NULL;

    if (w->measure != MEASURE_MEMORY) {
        refuse_member(in, obj, "baseline", w->measure);
        refuse_member(in, obj, "load", w->measure);
        return;
    }
    if (baseline != load && !in->rc)
        json_fail(in, baseline ? "load" : "baseline", "suite.record",
                  "\"baseline\" is what the lane prints before its load and \"load\" what is "
                  "written to it then; name both, or neither");
    if (baseline && load) {
        w->baseline = decode_record(in, obj, "baseline");
        w->load = decode_record(in, obj, "load");
    }
}

static void check_baseline(struct json_in *in, const struct workload *w)
{
    if (!in->rc && w->baseline && !strcmp(w->baseline, w->ready))
        json_fail(
            in, "baseline", "suite.record",
            "the BASELINE line must differ from the READY line, or a missing one is not seen");
}

static void decode_build(struct json_in *in, const cJSON *obj, struct workload *w)
{
    if (w->measure == MEASURE_BUILD) {
        w->reproducible = json_opt_bool(in, obj, "reproducible", false);
        return;
    }
    refuse_member(in, obj, "steps", w->measure);
    refuse_member(in, obj, "reproducible", w->measure);
}

static const struct attribution *decode_profile(struct json_in *in, const cJSON *obj)
{
    const cJSON *profile = json_obj(in, obj, "profile");
    size_t mark = json_enter(in, "profile");
    const struct attribution *rules = in->rc ? NULL : doc_attribution(in, profile);

    json_leave(in, mark);
    return rules;
}

static void decode_by_measure(struct json_in *in, const cJSON *obj, struct workload *w)
{
    decode_operations(in, obj, w);
    if (w->measure != MEASURE_COUNTERS)
        refuse_member(in, obj, "counters", w->measure);
    if (w->measure != MEASURE_SIZE)
        refuse_member(in, obj, "growth_pct", w->measure);
    decode_memory(in, obj, w);
    if (w->measure == MEASURE_ATTRIBUTION)
        w->profile = decode_profile(in, obj);
    else
        refuse_member(in, obj, "profile", w->measure);
    if (w->measure == MEASURE_CPU)
        w->window_ms = json_opt_int(in, obj, "window_ms", WINDOW_MIN_MS, WINDOW_MAX_MS, WINDOW_MS);
    else
        refuse_member(in, obj, "window_ms", w->measure);
    decode_build(in, obj, w);
    if (w->measure == MEASURE_KERNEL)
        doc_suite_kernel(in, obj, w);
    else
        refuse_member(in, obj, "kernel", w->measure);
    if (measure_has_values(w->measure) || w->measure == MEASURE_BUILD)
        refuse_member(in, obj, "declared_wait_ns", w->measure);
    if (measure_has_records(w->measure)) {
        w->ready = decode_record(in, obj, "ready");
        w->go = decode_record(in, obj, "go");
        w->done = decode_record(in, obj, "done");
        refuse_member(in, obj, "stdout", w->measure);
        check_baseline(in, w);
        if (cJSON_GetObjectItemCaseSensitive(obj, "ack"))
            w->ack = decode_record(in, obj, "ack");
        return;
    }
    refuse_member(in, obj, "ready", w->measure);
    refuse_member(in, obj, "go", w->measure);
    refuse_member(in, obj, "done", w->measure);
    refuse_member(in, obj, "ack", w->measure);
    if (w->measure == MEASURE_SIZE) {
        refuse_member(in, obj, "stdout", w->measure);
        w->growth_pct = (int)json_opt_int(in, obj, "growth_pct", 0, GROWTH_PCT_MAX, GROWTH_PCT);
        return;
    }
    if (w->measure == MEASURE_KERNEL) {
        refuse_member(in, obj, "stdout", w->measure);
        return;
    }
    if (w->measure == MEASURE_COUNTERS) {
        refuse_member(in, obj, "stdout", w->measure);
        w->counters = decode_counters(in, obj);
        return;
    }
    w->stdout_text = json_opt_str(in, obj, "stdout", SUITE_STDOUT_MAX, NULL);
}

/* The sides on which it does not exist. They are names of the jobs': a suite serves many. */
static struct args decode_absent(struct json_in *in, const cJSON *obj)
{
    struct args sides = json_opt_args(in, obj, "absent", JOB_SIDES_MAX);
    doc_check_names(in, "absent", "side", &sides);
    return sides;
}

static void decode_workload(struct json_in *in, const cJSON *obj, struct workload *w)
{
    refuse_later(in, obj);
    json_closed(in, obj, workload_keys);
    w->name = doc_name(in, obj, "name", "suite.bad");
    w->measure = (enum measure)json_enum_of(
        in, obj, "measure", measure_parse,
        "protocol, process, operation, counters, size, "
        "instructions, memory, cpu, build, attribution, kernel (others come in later versions)");
    if (!in->rc)
        decode_by_measure(in, obj, w);
    doc_suite_samples(in, obj, w);
    w->declared_wait_ns = json_opt_int(in, obj, "declared_wait_ns", 0, WAIT_MAX_NS, 0);
    w->absent = decode_absent(in, obj);
    decode_lanes(in, obj, w);
}

static bool is_named_before(const struct suite *s, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (!strcmp(workload_written_name(&s->workloads[i]),
                    workload_written_name(&s->workloads[index])))
            return true;
    return false;
}

/* One, or as many as a build has steps. */
static void take_workload(struct json_in *in, const cJSON *obj, struct suite *s)
{
    struct workload *at = &s->workloads[s->n_workloads];

    decode_workload(in, obj, at);
    if (!in->rc && at->measure == MEASURE_BUILD) {
        const struct workload written = *at;
        doc_expand_steps(in, obj, &written, at);
    }
    if (!in->rc && is_named_before(s, s->n_workloads))
        json_fail(in, "name", "suite.bad", "two workloads have the name \"%s\"; rename one",
                  workload_written_name(at));
    s->n_workloads += doc_count_steps(obj);
}

static void decode_workloads(struct json_in *in, const cJSON *doc, struct suite *s)
{
    size_t n = 0, total = 0, i = 0, mark;
    const cJSON *arr = json_arr(in, doc, "workloads", WORKLOADS_MAX, &n), *m;

    mark = json_enter(in, "workloads");
    cJSON_ArrayForEach (m, arr)
        total += doc_count_steps(m);
    s->workloads = arena_array(in->a, total, sizeof *s->workloads);
    if (!in->rc && n == 0)
        json_fail(in, NULL, "suite.bad", "a suite has at least one workload");
    cJSON_ArrayForEach (m, arr) {
        size_t at = json_enter_index(in, i++);
        if (!in->rc)
            take_workload(in, m, s);
        json_leave(in, at);
        if (in->rc)
            return;
    }
    json_leave(in, mark);
}

static void decode_builds(struct json_in *in, const cJSON *doc, struct suite *s)
{
    unsigned used = 0;
    s->build = doc_opt_commands(in, doc, "build", BUILD_STEPS_MAX, &s->n_build, NULL);
    s->suite_build =
        doc_opt_commands(in, doc, "suite_build", BUILD_STEPS_MAX, &s->n_suite_build, &used);
    if (used & PLACE_SOURCE)
        json_fail(in, "suite_build", "suite.control_source",
                  "suite_build runs once for all sides and must not use {source}; put what a side "
                  "needs into \"build\"");
}

static void decode_suite(struct json_in *in, const cJSON *doc, void *out)
{
    struct suite *s = out;

    refuse_later(in, doc);
    json_closed(in, doc, suite_keys);
    doc_schema(in, doc, "aurabench.suite.v1");
    s->name = doc_name(in, doc, "name", "suite.bad");
    s->description = doc_opt_line(in, doc, "description", 4096, "");
    decode_builds(in, doc, s);
    s->env = doc_opt_env(in, doc, "env", ENV_MAX, "suite.bad", &s->n_env);
    s->forbidden = doc_opt_programs(in, doc, "forbidden", "suite.bad");
    decode_workloads(in, doc, s);
}

int suite_decode(struct arena *a, const char *data, size_t len, struct suite **out, struct err *e)
{
    struct suite *s = arena_alloc(a, sizeof *s);
    int rc = doc_decode(a, data, len, decode_suite, s, e);

    if (rc == 0)
        *out = s;
    return rc;
}
