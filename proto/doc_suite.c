#include "proto/documents.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "proto/doc_command.h"
#include "proto/doc_common.h"
#include "proto/doc_env.h"
#include "proto/doc_keys.h"

#define WORKLOADS_MAX 64
#define LANES_MAX 64
#define BUILD_STEPS_MAX 32
#define ENV_MAX 64
#define RECORD_MAX 511 /* with its newline a line of 512 bytes */
#define STDOUT_MAX 65536
#define WAIT_MAX_NS 60000000000

const char *const suite_keys[] = {"schema", "name",      "description", "build", "suite_build",
                                  "env",    "forbidden", "workloads",   NULL};
const char *const workload_keys[] = {"name",   "measure",          "ready",  "go",    "done",
                                     "stdout", "declared_wait_ns", "absent", "lanes", NULL};
const char *const lane_keys[] = {"command", "control", "optional", "cpus", "startup",
                                 "stdout",  "cwd",     "env",      NULL};

/* Members that the suite format will have; naming them beats calling them unknown. */
static const char *const later_keys[] = {"fixture", "operations", "baseline", "samples",
                                         "ack",     "phases",     "counters", "size",
                                         "memory",  "variants",   NULL};

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

static void check_control(struct json_in *in, const struct lane *lane, unsigned used)
{
    if (lane->control && (used & PLACE_SOURCE))
        json_fail(
            in, "command", "suite.control_source",
            "a control lane must not use {source}: it would change between the sides; build it "
            "by suite_build, or drop \"control\"");
}

static void decode_lane(struct json_in *in, const cJSON *obj, struct lane *lane)
{
    unsigned used;
    refuse_later(in, obj);
    if (!in->rc && cJSON_GetObjectItemCaseSensitive(obj, "declared_wait_ns"))
        json_fail(in, "declared_wait_ns", "suite.bad",
                  "a wait is declared for the whole workload; move it there");
    json_closed(in, obj, lane_keys);
    lane->command = doc_command(in, obj, "command", &used);
    lane->control = json_opt_bool(in, obj, "control", false);
    lane->optional = json_opt_bool(in, obj, "optional", false);
    lane->cpus = decode_cpus(in, obj);
    lane->startup = json_opt_str(in, obj, "startup", DOC_NAME_MAX, NULL);
    lane->stdout_text = json_opt_str(in, obj, "stdout", STDOUT_MAX, NULL);
    lane->cwd = json_opt_str(in, obj, "cwd", 4096, NULL);
    if (lane->cwd && lane->cwd[0] != '/')
        json_fail(in, "cwd", "suite.bad", "cwd must be an absolute path");
    lane->env = doc_opt_env(in, obj, "env", ENV_MAX, "suite.bad", &lane->n_env);
    check_control(in, lane, used);
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
    if (w->measure == MEASURE_PROTOCOL && lane->stdout_text)
        json_fail(in, "stdout", "suite.bad",
                  "a protocol lane says READY and DONE; \"stdout\" is for measure \"process\"");
    if (lane->startup && !in->rc)
        check_startup(in, w, lane);
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
        decode_lane(in, m, lane);
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

static void decode_by_measure(struct json_in *in, const cJSON *obj, struct workload *w)
{
    if (w->measure == MEASURE_PROTOCOL) {
        w->ready = decode_record(in, obj, "ready");
        w->go = decode_record(in, obj, "go");
        w->done = decode_record(in, obj, "done");
        refuse_member(in, obj, "stdout", w->measure);
        return;
    }
    refuse_member(in, obj, "ready", w->measure);
    refuse_member(in, obj, "go", w->measure);
    refuse_member(in, obj, "done", w->measure);
    w->stdout_text = json_opt_str(in, obj, "stdout", STDOUT_MAX, NULL);
}

/* The sides on which it does not exist. They are names of the jobs': a suite serves many. */
static struct args decode_absent(struct json_in *in, const cJSON *obj)
{
    struct args sides = json_opt_args(in, obj, "absent", JOB_SIDES_MAX);
    size_t mark = json_enter(in, "absent");
    for (size_t i = 0; i < sides.n && !in->rc; i++) {
        size_t at = json_enter_index(in, i);
        doc_check_name(in, NULL, sides.v[i], "suite.bad");
        for (size_t k = 0; k < i; k++)
            if (!strcmp(sides.v[k], sides.v[i]))
                json_fail(in, NULL, "suite.bad", "the side \"%s\" is named twice; remove one",
                          sides.v[i]);
        json_leave(in, at);
    }
    json_leave(in, mark);
    return sides;
}

static void decode_workload(struct json_in *in, const cJSON *obj, struct workload *w)
{
    refuse_later(in, obj);
    json_closed(in, obj, workload_keys);
    w->name = doc_name(in, obj, "name", "suite.bad");
    w->measure = (enum measure)json_enum_of(in, obj, "measure", measure_parse,
                                            "protocol, process (others come in later versions)");
    if (!in->rc)
        decode_by_measure(in, obj, w);
    w->declared_wait_ns = json_opt_int(in, obj, "declared_wait_ns", 0, WAIT_MAX_NS, 0);
    w->absent = decode_absent(in, obj);
    decode_lanes(in, obj, w);
}

static bool is_named_before(const struct suite *s, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (!strcmp(s->workloads[i].name, s->workloads[index].name))
            return true;
    return false;
}

static void decode_workloads(struct json_in *in, const cJSON *doc, struct suite *s)
{
    const cJSON *arr = json_arr(in, doc, "workloads", WORKLOADS_MAX, &s->n_workloads), *m;
    size_t i = 0, mark = json_enter(in, "workloads");
    s->workloads = arena_array(in->a, s->n_workloads, sizeof *s->workloads);
    if (!in->rc && s->n_workloads == 0)
        json_fail(in, NULL, "suite.bad", "a suite has at least one workload");
    cJSON_ArrayForEach (m, arr) {
        size_t at = json_enter_index(in, i);
        decode_workload(in, m, &s->workloads[i]);
        if (!in->rc && is_named_before(s, i))
            json_fail(in, "name", "suite.bad", "two workloads have the name \"%s\"; rename one",
                      s->workloads[i].name);
        json_leave(in, at);
        if (in->rc)
            return;
        i++;
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

static void decode_suite(struct json_in *in, const cJSON *doc, struct suite *s)
{
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
    struct json_in in;
    cJSON *doc;
    int rc = json_parse(data, len, &doc, e);
    if (rc)
        return rc;
    json_in_init(&in, a, e);
    struct suite *s = arena_alloc(a, sizeof *s);
    decode_suite(&in, doc, s);
    cJSON_Delete(doc);
    if (!in.rc)
        *out = s;
    return in.rc;
}
