#include "proto/doc/doc_targets.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "proto/doc/doc_common.h"
#include "proto/doc/doc_keys.h"

#define FILE_MAX 4096
#define RATIO_MAX 1e9
#define PCT_MIN (-100)
#define PCT_MAX 1e9

const char *const targets_keys[] = {"schema", "name", "targets", "gaps", NULL};
const char *const target_gap_keys[] = {"suite", "workload", "lane", "reference",
                                       "ratio", "on",       NULL};
const char *const target_ratio_keys[] = {"max_ratio", "workload", "lane", "reference", "side",
                                         "time",      "suite",    "host", "arch",      "diagnostic",
                                         "value",     "system",   NULL};
const char *const target_change_keys[] = {
    "max_slowdown_pct", "workload", "lane",   "before", "side", "time", "suite", "host", "arch",
    "diagnostic",       "value",    "system", NULL};
const char *const target_size_keys[] = {"bytes", "file",       "side",   "suite", "host",
                                        "arch",  "diagnostic", "system", NULL};

const char *const target_sample_keys[] = {"max_p99", "workload",   "lane", "sample",
                                          "side",    "suite",      "host", "arch",
                                          "system",  "diagnostic", NULL};

/* The one member by which a target says what it is. */
static const struct {
    const char *limit;
    const char *const *keys;
} kinds[] = {
    [TARGET_RATIO] = {"max_ratio", target_ratio_keys},
    [TARGET_CHANGE] = {"max_slowdown_pct", target_change_keys},
    [TARGET_SIZE] = {"bytes", target_size_keys},
    [TARGET_SAMPLE] = {"max_p99", target_sample_keys},
};

static enum target_kind decode_kind(struct json_in *in, const cJSON *obj)
{
    size_t found = 0, kind = 0;
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
        if (cJSON_GetObjectItemCaseSensitive(obj, kinds[k].limit)) {
            kind = k;
            found++;
        }
    if (found != 1)
        json_fail(in, NULL, "target.bad",
                  "a target has one limit: \"max_ratio\", \"max_slowdown_pct\", \"bytes\" or "
                  "\"max_p99\"");
    return (enum target_kind)kind;
}

static const char *opt_name(struct json_in *in, const cJSON *obj, const char *key)
{
    const char *name = json_opt_str(in, obj, key, JSON_STRING_MAX, NULL);
    if (name)
        doc_check_name(in, key, name, "target.bad");
    return in->rc ? NULL : name;
}

/* Of a suite, or a step of one of its builds: "hello.check". */
static const char *decode_workload(struct json_in *in, const cJSON *obj)
{
    const char *name = json_str(in, obj, "workload", JSON_STRING_MAX);
    const char *dot = in->rc ? NULL : strchr(name, '.');

    if (dot && strlen(name) <= DOC_NAME_MAX) {
        doc_check_name(in, "workload", arena_strndup(in->a, name, (size_t)(dot - name)),
                       "target.bad");
        doc_check_name(in, "workload", dot + 1, "target.bad");
    } else if (!in->rc) {
        doc_check_name(in, "workload", name, "target.bad");
    }
    return in->rc ? NULL : name;
}

static void decode_time(struct json_in *in, const cJSON *obj, struct target *t)
{
    t->workload = decode_workload(in, obj);
    t->lane = doc_name(in, obj, "lane", "target.bad");
    t->time = (enum target_time)json_opt_enum_of(in, obj, "time", target_time_parse, "wall, cpu",
                                                 TARGET_WALL);
    t->value = opt_name(in, obj, "value");
    if (t->value && !in->rc && cJSON_IsString(cJSON_GetObjectItemCaseSensitive(obj, "time")))
        json_fail(in, "time", "target.bad",
                  "a target is of a time or of a value; remove \"time\" or \"value\"");
}

static void decode_ratio(struct json_in *in, const cJSON *obj, struct target *t)
{
    decode_time(in, obj, t);
    t->reference = doc_name(in, obj, "reference", "target.bad");
    t->max = json_num(in, obj, "max_ratio", 0, RATIO_MAX);
    if (in->rc)
        return;
    if (t->max <= 0)
        json_fail(in, "max_ratio", "json.range", "max_ratio must be more than 0");
    else if (strcmp(t->lane, t->reference) == 0)
        json_fail(in, "reference", "target.bad",
                  "a lane is not measured against itself; name another lane as the reference");
}

static void decode_change(struct json_in *in, const cJSON *obj, struct target *t)
{
    decode_time(in, obj, t);
    t->before = opt_name(in, obj, "before");
    t->max = json_num(in, obj, "max_slowdown_pct", PCT_MIN, PCT_MAX);
}

static void decode_size(struct json_in *in, const cJSON *obj, struct target *t)
{
    t->file = json_str(in, obj, "file", FILE_MAX);
    t->bytes = json_int(in, obj, "bytes", 1, JSON_INT_MAX);
    if (!in->rc && !*t->file)
        json_fail(in, "file", "target.bad", "file must name a built file as the report lists it");
}

static void decode_sample(struct json_in *in, const cJSON *obj, struct target *t)
{
    t->workload = doc_name(in, obj, "workload", "target.bad");
    t->lane = doc_name(in, obj, "lane", "target.bad");
    t->sample = doc_name(in, obj, "sample", "target.bad");
    t->max_p99 = json_int(in, obj, "max_p99", 0, JSON_INT_MAX);
}

static void decode_target(struct json_in *in, const cJSON *obj, struct target *t)
{
    t->kind = decode_kind(in, obj);
    if (in->rc)
        return;
    json_closed(in, obj, kinds[t->kind].keys);
    if (t->kind == TARGET_RATIO)
        decode_ratio(in, obj, t);
    else if (t->kind == TARGET_CHANGE)
        decode_change(in, obj, t);
    else if (t->kind == TARGET_SAMPLE)
        decode_sample(in, obj, t);
    else
        decode_size(in, obj, t);
    t->side = opt_name(in, obj, "side");
    t->suite = opt_name(in, obj, "suite");
    t->host = doc_opt_line(in, obj, "host", DOC_LABEL_MAX, NULL);
    t->arch = doc_opt_line(in, obj, "arch", DOC_NAME_MAX, NULL);
    t->system = doc_opt_line(in, obj, "system", DOC_NAME_MAX, NULL);
    t->diagnostic = json_opt_bool(in, obj, "diagnostic", false);
}

/* Whatever their limits: of two for one thing, one would be forgotten. */
static bool same_thing(const struct target *x, const struct target *y)
{
    return x->kind == y->kind && x->time == y->time && text_equal(x->workload, y->workload) &&
           text_equal(x->lane, y->lane) && text_equal(x->reference, y->reference) &&
           text_equal(x->before, y->before) && text_equal(x->side, y->side) &&
           text_equal(x->value, y->value) && text_equal(x->file, y->file) &&
           text_equal(x->sample, y->sample) && text_equal(x->suite, y->suite) &&
           text_equal(x->host, y->host) && text_equal(x->arch, y->arch) &&
           text_equal(x->system, y->system);
}

static void check_once(struct json_in *in, const struct target *list, size_t index)
{
    for (size_t i = 0; !in->rc && i < index; i++)
        if (same_thing(&list[i], &list[index]))
            json_fail(in, NULL, "target.bad",
                      "targets[%zu] is for the same thing; keep one of the two", i);
}

static void decode_list(struct json_in *in, const cJSON *doc, struct targets *out)
{
    const cJSON *list = json_arr(in, doc, "targets", TARGETS_MAX, &out->n), *item;
    size_t mark = json_enter(in, "targets"), i = 0;
    if (!in->rc && out->n == 0)
        json_fail(in, NULL, "target.bad", "there is no target; a gate without one passes nothing");
    out->v = arena_array(in->a, out->n, sizeof *out->v);
    cJSON_ArrayForEach (item, list) {
        if (in->rc)
            break;
        size_t one = json_enter_index(in, i);
        if (!cJSON_IsObject(item))
            json_fail(in, NULL, "json.type", "a target is an object");
        else
            decode_target(in, item, &out->v[i]);
        check_once(in, out->v, i++);
        json_leave(in, one);
    }
    json_leave(in, mark);
}

/* ---- recorded gaps */

static void decode_gap(struct json_in *in, const cJSON *obj, struct recorded_gap *gap)
{
    json_closed(in, obj, target_gap_keys);
    gap->suite = opt_name(in, obj, "suite");
    gap->workload = decode_workload(in, obj);
    gap->lane = doc_name(in, obj, "lane", "target.bad");
    gap->reference = doc_name(in, obj, "reference", "target.bad");
    gap->ratio = json_num(in, obj, "ratio", 0, RATIO_MAX);
    gap->on = doc_opt_line(in, obj, "on", DOC_LABEL_MAX, NULL);
    if (!in->rc && gap->ratio <= 0)
        json_fail(in, "ratio", "json.range", "ratio must be more than 0");
    if (!in->rc && text_equal(gap->lane, gap->reference))
        json_fail(in, "reference", "target.bad",
                  "a lane is not measured against itself; name another lane as the reference");
}

static void check_gap_once(struct json_in *in, const struct recorded_gap *list, size_t index)
{
    const struct recorded_gap *y = &list[index];
    for (size_t i = 0; !in->rc && i < index; i++)
        if (text_equal(list[i].workload, y->workload) && text_equal(list[i].lane, y->lane) &&
            text_equal(list[i].reference, y->reference) && text_equal(list[i].suite, y->suite) &&
            text_equal(list[i].on, y->on))
            json_fail(in, NULL, "target.bad",
                      "gaps[%zu] is of the same thing; keep one of the two, or say in \"on\" what "
                      "each was recorded on",
                      i);
}

static void decode_gaps(struct json_in *in, const cJSON *doc, struct targets *out)
{
    const cJSON *list = json_opt_arr(in, doc, "gaps", TARGETS_MAX, &out->n_gaps), *item;
    size_t mark = json_enter(in, "gaps"), i = 0;
    out->gaps = arena_array(in->a, out->n_gaps, sizeof *out->gaps);
    cJSON_ArrayForEach (item, list) {
        if (in->rc)
            break;
        size_t one = json_enter_index(in, i);
        if (!cJSON_IsObject(item))
            json_fail(in, NULL, "json.type", "a gap is an object");
        else
            decode_gap(in, item, &out->gaps[i]);
        check_gap_once(in, out->gaps, i++);
        json_leave(in, one);
    }
    json_leave(in, mark);
}

int targets_decode_node(struct arena *a, const cJSON *doc, struct targets **out, struct err *e)
{
    struct json_in in;
    struct targets *targets = arena_alloc(a, sizeof *targets);
    json_in_init(&in, a, e);
    json_closed(&in, doc, targets_keys);
    doc_schema(&in, doc, TARGETS_SCHEMA);
    targets->name = doc_opt_line(&in, doc, "name", DOC_LABEL_MAX, NULL);
    decode_list(&in, doc, targets);
    decode_gaps(&in, doc, targets);
    *out = in.rc ? NULL : targets;
    return in.rc;
}

int targets_decode(struct arena *a, const char *data, size_t len, struct targets **out,
                   struct err *e)
{
    cJSON *doc = NULL;
    *out = NULL;
    int rc = json_parse(data, len, &doc, e);
    if (rc == 0)
        rc = targets_decode_node(a, doc, out, e);
    cJSON_Delete(doc);
    return rc;
}

/* ---- the result */

static void row_encode(struct json_out *o, const struct gate_row *row)
{
    json_begin(o, NULL);
    json_put_str(o, "target", row->what);
    json_put_str(o, "host", row->host);
    json_put_str(o, "report", row->report);
    json_put_str(o, "limit", row->limit);
    json_put_num(o, "figure", row->figure);
    doc_put_interval(o, &row->interval, false);
    json_put_num(o, "to_go", row->to_go);
    json_put_str(o, "status", gate_status_name(row->status));
    json_put_str(o, "why", row->why);
    json_end(o);
}

static void gap_encode(struct json_out *o, const struct gap_row *row)
{
    json_begin(o, NULL);
    json_put_str(o, "workload", row->gap->workload);
    json_put_str(o, "lane", row->gap->lane);
    json_put_str(o, "reference", row->gap->reference);
    json_put_num(o, "recorded", row->gap->ratio);
    json_put_str(o, "on", row->gap->on);
    json_put_num(o, "now", row->now);
    json_put_str(o, "host", row->host);
    json_put_str(o, "report", row->report);
    json_end(o);
}

void gate_encode(struct json_out *o, const struct gate_result *gate)
{
    json_put_str(o, "schema", GATE_SCHEMA);
    json_begin_array(o, "targets");
    for (size_t i = 0; i < gate->n_rows; i++)
        row_encode(o, &gate->rows[i]);
    json_end_array(o);
    json_begin_array(o, "gaps");
    for (size_t i = 0; i < gate->n_gaps; i++)
        gap_encode(o, &gate->gaps[i]);
    json_end_array(o);
    for (int s = GATE_MET; s < GATE_STATUS_COUNT; s++)
        json_put_int(o, gate_status_name((enum gate_status)s), (int64_t)gate->count[s]);
    json_put_bool(o, "passed", gate->passed);
}
