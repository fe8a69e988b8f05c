#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "proto/doc/doc_attribution.h"
#include "proto/doc/doc_calibration.h"
#include "proto/doc/doc_common.h"
#include "proto/doc/doc_host.h"
#include "proto/doc/doc_ledger.h"
#include "proto/doc/doc_raw.h"
#include "proto/doc/documents.h"

/* ---- names back to indexes */

static const struct raw_workload *find_workload(const struct raw *raw, const char *name, int *index)
{
    for (size_t i = 0; name && i < raw->n_workloads; i++)
        if (strcmp(raw->workloads[i].name, name) == 0) {
            *index = (int)i;
            return &raw->workloads[i];
        }
    return NULL;
}

static int find_lane(const struct raw_workload *w, const char *name)
{
    for (size_t i = 0; name && i < w->n_lanes; i++)
        if (strcmp(w->lanes[i].name, name) == 0)
            return (int)i;
    return -1;
}

static int find_side(const struct raw *raw, const char *name)
{
    for (size_t i = 0; name && i < raw->n_sides; i++)
        if (strcmp(raw->sides[i], name) == 0)
            return (int)i;
    return -1;
}

struct place {
    int workload, lane, side;
};

/* Where (workload, lane, side) lies in the report's own tables; a name outside them fails. */
static void place_resolve(struct json_in *in, const struct raw *raw, const char *workload,
                          const char *lane, const char *side, struct place *out)
{
    if (in->rc)
        return;
    const struct raw_workload *w = find_workload(raw, workload, &out->workload);
    if (!w) {
        json_fail(in, "workload", "raw.name", "The report lists no workload %s.", workload);
        return;
    }
    out->lane = find_lane(w, lane);
    out->side = find_side(raw, side);
    if (out->lane < 0)
        json_fail(in, "lane", "raw.name", "Workload %s lists no lane %s.", workload, lane);
    else if (out->side < 0)
        json_fail(in, "side", "raw.name", "The report lists no side %s.", side);
}

/* ---- parts */

static void lane_decode(struct json_in *in, const cJSON *item, struct raw_lane *lane)
{
    static const char *const more[] = {"files", "scaling", "outputs", NULL};
    doc_fields_decode(in, item, &raw_lane_table, more, lane);
    if (cJSON_GetObjectItemCaseSensitive(item, "files"))
        lane->files =
            doc_records_decode(in, item, "files", &raw_file_table, RAW_VALUES_MAX, &lane->n_files);
    lane->outputs = json_opt_args(in, item, "outputs", RAW_VALUES_MAX);
    const cJSON *scaling = json_opt_obj(in, item, "scaling");
    if (!scaling)
        return;
    size_t mark = json_enter(in, "scaling");
    doc_fields_decode(in, scaling, &raw_scaling_table, NULL, &lane->scaling);
    json_leave(in, mark);
}

static void lanes_decode(struct json_in *in, const cJSON *obj, struct raw_workload *w)
{
    size_t n = 0, i = 0;
    const cJSON *array = json_arr(in, obj, "lanes", RAW_LANES_MAX, &n), *item;
    if (in->rc)
        return;
    w->lanes = arena_array(in->a, n, sizeof *w->lanes);
    w->n_lanes = n;
    size_t mark = json_enter(in, "lanes");
    cJSON_ArrayForEach (item, array) {
        size_t inner = json_enter_index(in, i);
        lane_decode(in, item, &w->lanes[i++]);
        json_leave(in, inner);
    }
    json_leave(in, mark);
}

static const struct attribution *profile_decode(struct json_in *in, const cJSON *item,
                                                enum measure measure)
{
    const cJSON *profile = json_opt_obj(in, item, "profile");
    bool is_asked = measure == MEASURE_ATTRIBUTION;

    if (in->rc == 0 && is_asked != (profile != NULL))
        json_fail(in, "profile", "raw.conflict", "A profile belongs to measure attribution alone.");
    if (in->rc || !profile)
        return NULL;
    size_t mark = json_enter(in, "profile");
    const struct attribution *rules = doc_attribution(in, profile);
    json_leave(in, mark);
    return in->rc ? NULL : rules;
}

static void workloads_decode(struct json_in *in, const cJSON *doc, struct raw *raw)
{
    static const char *const more[] = {"lanes",    "counters",     "growth_pct", "tool",
                                       "baseline", "window_ms",    "ack",        "samples",
                                       "steps_of", "reproducible", "profile",    NULL};
    size_t n = 0, i = 0;
    const cJSON *array = json_arr(in, doc, "workloads", RAW_WORKLOADS_MAX, &n);
    if (in->rc)
        return;
    raw->workloads = arena_array(in->a, n, sizeof *raw->workloads);
    raw->n_workloads = n;
    size_t mark = json_enter(in, "workloads");
    const cJSON *item;
    cJSON_ArrayForEach (item, array) {
        size_t inner = json_enter_index(in, i);
        doc_fields_decode(in, item, &raw_workload_table, more, &raw->workloads[i]);
        raw->workloads[i].counters = json_opt_args(in, item, "counters", RAW_VALUES_MAX);
        raw->workloads[i].tool = json_opt_str(in, item, "tool", FIELD_NAME_MAX, NULL);
        raw->workloads[i].baseline = json_opt_bool(in, item, "baseline", false);
        raw->workloads[i].window_ms = json_opt_int(in, item, "window_ms", 0, WINDOW_MAX_MS, 0);
        raw->workloads[i].ack = json_opt_bool(in, item, "ack", false);
        if (cJSON_GetObjectItemCaseSensitive(item, "samples"))
            raw->workloads[i].samples =
                doc_records_decode(in, item, "samples", &raw_series_table, SAMPLE_SERIES_MAX,
                                   &raw->workloads[i].n_samples);
        if (raw->workloads[i].measure == MEASURE_BUILD) {
            raw->workloads[i].steps_of = json_str(in, item, "steps_of", FIELD_NAME_MAX);
            raw->workloads[i].reproducible = json_bool(in, item, "reproducible");
        }
        raw->workloads[i].growth_pct =
            (int)json_opt_int(in, item, "growth_pct", 0, GROWTH_PCT_MAX, 0);
        raw->workloads[i].profile = profile_decode(in, item, raw->workloads[i].measure);
        lanes_decode(in, item, &raw->workloads[i++]);
        json_leave(in, inner);
    }
    json_leave(in, mark);
}

static void sides_decode(struct json_in *in, const cJSON *doc, struct raw *raw)
{
    struct args sides = json_opt_args(in, doc, "sides", JOB_SIDES_MAX);
    raw->sides = sides.v;
    raw->n_sides = sides.n;
    if (in->rc == 0 && sides.n == 0)
        json_fail(in, "sides", "json.missing", "sides must name at least one side.");
}

static void step_decode(struct json_in *in, const cJSON *item, const struct raw *raw,
                        struct plan_step *step)
{
    static const char *const more[] = {"workload", "lane", "side", NULL};
    doc_fields_decode(in, item, &raw_step_table, more, step);
    const char *workload = json_str(in, item, "workload", FIELD_NAME_MAX);
    const char *lane = json_str(in, item, "lane", FIELD_NAME_MAX);
    const char *side = json_str(in, item, "side", FIELD_NAME_MAX);
    struct place at = {0};
    place_resolve(in, raw, workload, lane, side, &at);
    step->workload = at.workload;
    step->lane = at.lane;
    step->side = at.side;
}

static void plan_decode(struct json_in *in, const cJSON *doc, struct raw *raw)
{
    size_t n = 0, i = 0;
    const cJSON *array = json_arr(in, doc, "plan", RAW_STEPS_MAX, &n);
    if (in->rc)
        return;
    raw->plan.steps = arena_array(in->a, n, sizeof *raw->plan.steps);
    raw->plan.n = n;
    size_t mark = json_enter(in, "plan");
    const cJSON *item;
    cJSON_ArrayForEach (item, array) {
        size_t inner = json_enter_index(in, i);
        step_decode(in, item, raw, &raw->plan.steps[i++]);
        json_leave(in, inner);
    }
    json_leave(in, mark);
}

static int64_t sample_decode(struct json_in *in, const cJSON *item)
{
    double v = cJSON_IsNumber(item) ? item->valuedouble : -1;
    if (in->rc == 0 && !(v >= 0 && v <= (double)JSON_INT_MAX && v == (double)(int64_t)v))
        json_fail(in, NULL, "json.range", "A sample is a whole number of 0 to 2^53 - 1.");
    return in->rc ? -1 : (int64_t)v;
}

static void series_decode(struct json_in *in, const cJSON *item, struct raw_samples *out)
{
    static const char *const keys[] = {"name", "values", NULL};
    size_t i = 0;
    json_closed(in, item, keys);
    out->name = json_str(in, item, "name", FIELD_NAME_MAX);
    const cJSON *array = json_arr(in, item, "values", SAMPLES_MAX, &out->n), *value;
    if (in->rc)
        return;
    out->v = arena_array(in->a, out->n, sizeof *out->v);
    size_t mark = json_enter(in, "values");
    cJSON_ArrayForEach (value, array) {
        size_t inner = json_enter_index(in, i);
        out->v[i++] = sample_decode(in, value);
        json_leave(in, inner);
    }
    json_leave(in, mark);
}

static void samples_decode(struct json_in *in, const cJSON *obj, struct raw_observation *out)
{
    size_t n = 0, i = 0;
    if (!cJSON_GetObjectItemCaseSensitive(obj, "samples"))
        return;
    const cJSON *array = json_arr(in, obj, "samples", SAMPLE_SERIES_MAX, &n), *item;
    if (in->rc)
        return;
    out->samples = arena_array(in->a, n, sizeof *out->samples);
    out->n_samples = n;
    size_t mark = json_enter(in, "samples");
    cJSON_ArrayForEach (item, array) {
        size_t inner = json_enter_index(in, i);
        series_decode(in, item, &out->samples[i++]);
        json_leave(in, inner);
    }
    json_leave(in, mark);
}

static void observation_decode(struct json_in *in, const cJSON *item, const struct raw *raw,
                               struct raw_observation *out)
{
    static const char *const more[] = {"ledger", "disturbed", "values", "samples", "outputs", NULL};
    doc_fields_decode(in, item, &raw_observation_table, more, out);
    ledger_decode(in, item, out);
    if (cJSON_GetObjectItemCaseSensitive(item, "values"))
        out->values = doc_records_decode(in, item, "values", &raw_value_table, RAW_VALUES_MAX,
                                         &out->n_values);
    samples_decode(in, item, out);
    if (cJSON_GetObjectItemCaseSensitive(item, "outputs"))
        out->outputs = doc_records_decode(in, item, "outputs", &raw_output_table, RAW_VALUES_MAX,
                                          &out->n_outputs);
    struct place at = {0};
    place_resolve(in, raw, out->workload, out->lane, out->side, &at);
}

static void observations_decode(struct json_in *in, const cJSON *doc, struct raw *raw)
{
    size_t n = 0, i = 0;
    const cJSON *array = json_arr(in, doc, "observations", RAW_OBSERVATIONS_MAX, &n);
    if (in->rc)
        return;
    raw->observations = arena_array(in->a, n, sizeof *raw->observations);
    raw->n_observations = n;
    size_t mark = json_enter(in, "observations");
    const cJSON *item;
    cJSON_ArrayForEach (item, array) {
        size_t inner = json_enter_index(in, i);
        observation_decode(in, item, raw, &raw->observations[i]);
        if (in->rc == 0 && i > 0 && raw->observations[i].seq <= raw->observations[i - 1].seq)
            json_fail(in, "seq", "raw.order", "Observations must stand in ascending seq.");
        json_leave(in, inner);
        i++;
    }
    json_leave(in, mark);
}

/* ---- the three phases */

static void inventory_part_decode(struct json_in *in, const cJSON *obj, enum phase phase,
                                  struct inventory *out)
{
    size_t mark = json_enter(in, phase_name(phase));
    inventory_decode(in, obj, out);
    if (in->rc == 0 && out->phase != phase)
        json_fail(in, "phase", "raw.phase", "This inventory must be the one %s.",
                  phase_title(phase));
    json_leave(in, mark);
}

static void facts_part_decode(struct json_in *in, const cJSON *facts, enum phase phase,
                              struct host_facts *out)
{
    const cJSON *obj = json_obj(in, facts, phase_name(phase));
    size_t mark = json_enter(in, phase_name(phase));
    host_facts_decode(in, obj, out);
    json_leave(in, mark);
}

/* The three members that hold something for each phase. */
struct phase_parts {
    const cJSON *inventories, *facts, *conditions;
};

/* A phase without an inventory was not taken: it has neither facts nor conditions. */
static void phase_decode(struct json_in *in, const struct phase_parts *parts, enum phase phase,
                         struct phase_record *out)
{
    const cJSON *inventory = json_opt_obj(in, parts->inventories, phase_name(phase));
    conditions_unknown(out->conditions);
    if (!inventory || in->rc)
        return;
    out->inventory = arena_alloc(in->a, sizeof *out->inventory);
    size_t mark = json_enter(in, "inventories");
    inventory_part_decode(in, inventory, phase, out->inventory);
    json_leave(in, mark);
    mark = json_enter(in, "facts");
    facts_part_decode(in, parts->facts, phase, &out->facts);
    json_leave(in, mark);
    mark = json_enter(in, "conditions");
    conditions_decode(in, parts->conditions, phase_name(phase), out->conditions);
    json_leave(in, mark);
}

static void phases_decode(struct json_in *in, const cJSON *doc, struct raw *raw)
{
    const char *keys[PHASE_COUNT + 1] = {NULL};
    for (int p = 0; p < PHASE_COUNT; p++)
        keys[p] = phase_name((enum phase)p);
    const struct phase_parts parts = {json_obj(in, doc, "inventories"), json_obj(in, doc, "facts"),
                                      json_obj(in, doc, "conditions")};
    json_closed(in, parts.inventories, keys);
    json_closed(in, parts.facts, keys);
    json_closed(in, parts.conditions, keys);
    for (int p = 0; in->rc == 0 && p < PHASE_COUNT; p++)
        phase_decode(in, &parts, (enum phase)p, &raw->phases[p]);
}

/* ---- job, policy and what repeats them */

/* The nested document names its field from its own root; put the member's name in front. */
static void nested_failed(struct json_in *in, const char *key)
{
    if (in->e) {
        char field[sizeof in->e->field];
        snprintf(field, sizeof field, "%s.%.100s", key, in->e->field);
        memcpy(in->e->field, field, sizeof field);
    }
    in->rc = -EINVAL;
}

static void job_part_decode(struct json_in *in, const cJSON *doc, struct raw *raw)
{
    const cJSON *obj = json_obj(in, doc, "job");
    struct job *job = NULL;
    if (in->rc)
        return;
    if (job_decode(in->a, obj, &job, in->e)) {
        nested_failed(in, "job");
        return;
    }
    raw->job = *job;
    const char *label = json_opt_str(in, doc, "label", FIELD_TEXT_MAX, "");
    if (in->rc == 0 && strcmp(label, job->label ? job->label : "") != 0)
        json_fail(in, "label", "raw.conflict", "label must be the label of the job.");
}

static void policy_part_decode(struct json_in *in, const cJSON *doc, struct raw *raw)
{
    const cJSON *obj = json_obj(in, doc, "policy");
    struct policy *policy = NULL;
    if (in->rc)
        return;
    if (policy_decode_node(in->a, obj, &policy, in->e)) {
        nested_failed(in, "policy");
        return;
    }
    raw->policy = *policy;
}

/* overrides repeats the job: it may not say anything else. */
static void overrides_decode(struct json_in *in, const cJSON *doc, const struct job *job)
{
    static const char *const keys[] = {"allow_competing", "excluded", NULL};
    static const char *const refs[] = {"workload", "lane", NULL};
    const cJSON *obj = json_obj(in, doc, "overrides");
    size_t n = 0, i = 0;
    json_closed(in, obj, keys);
    bool same = json_bool(in, obj, "allow_competing") == job->allow_competing;
    const cJSON *array = json_arr(in, obj, "excluded", RAW_RECORDS_MAX, &n);
    same = same && n == job->n_exclude;
    const cJSON *item;
    cJSON_ArrayForEach (item, array) {
        json_closed(in, item, refs);
        same = same &&
               text_equal(json_opt_str(in, item, "workload", FIELD_NAME_MAX, NULL),
                          job->exclude[i].workload) &&
               text_equal(json_str(in, item, "lane", FIELD_NAME_MAX), job->exclude[i].lane);
        i++;
    }
    if (in->rc == 0 && !same)
        json_fail(in, "overrides", "raw.conflict", "overrides must say what the job says.");
}

/* ---- the whole */

static void closed_decode(struct json_in *in, const cJSON *doc, struct raw *raw)
{
    static const char *const more[] = {
        "schema",    "label",      "host",      "boot",         "job",
        "policy",    "sides",      "workloads", "sources",      "builds",
        "artifacts", "tools",      "plan",      "calibration",  "inventories",
        "facts",     "conditions", "refusals",  "observations", "rechecks",
        "observer",  "overrides",  "session",   "repeats",      NULL};
    const char *schema = json_str(in, doc, "schema", FIELD_NAME_MAX);
    if (in->rc == 0 && strcmp(schema, RAW_SCHEMA) != 0)
        json_fail(in, "schema", "raw.schema", "schema must be %s, not %s.", RAW_SCHEMA, schema);
    doc_fields_decode(in, doc, &raw_head_table, more, raw);
}

static void identity_decode(struct json_in *in, const cJSON *doc, struct raw *raw)
{
    const cJSON *host = json_obj(in, doc, "host");
    size_t mark = json_enter(in, "host");
    host_identity_decode(in, host, &raw->host);
    json_leave(in, mark);
    const cJSON *boot = json_obj(in, doc, "boot");
    mark = json_enter(in, "boot");
    boot_identity_decode(in, boot, &raw->boot);
    json_leave(in, mark);
}

static void session_decode_of(struct json_in *in, const cJSON *doc, struct raw *raw)
{
    const cJSON *obj = json_opt_obj(in, doc, "session");
    if (!obj)
        return;
    struct raw_session *session = arena_alloc(in->a, sizeof *session);
    size_t mark = json_enter(in, "session");
    doc_fields_decode(in, obj, &raw_session_table, NULL, session);
    json_leave(in, mark);
    raw->session = session;
}

static void repeats_decode(struct json_in *in, const cJSON *doc, struct raw *raw)
{
    static const char *const keys[] = {"attempt", "raw_sha256", "rows", NULL};
    const cJSON *obj = json_opt_obj(in, doc, "repeats");
    if (!obj)
        return;
    struct raw_pair *pair = arena_alloc(in->a, sizeof *pair);
    size_t mark = json_enter(in, "repeats");
    json_closed(in, obj, keys);
    pair->attempt = json_str(in, obj, "attempt", FIELD_NAME_MAX);
    pair->raw_sha256 = json_str(in, obj, "raw_sha256", FIELD_NAME_MAX);
    pair->rows =
        doc_records_decode(in, obj, "rows", &raw_pair_row_table, RAW_RECORDS_MAX, &pair->n_rows);
    json_leave(in, mark);
    raw->repeats = pair;
}

static void records_decode(struct json_in *in, const cJSON *doc, struct raw *raw)
{
    raw_sources_decode(in, doc, raw);
    raw->builds =
        doc_records_decode(in, doc, "builds", &raw_build_table, RAW_RECORDS_MAX, &raw->n_builds);
    raw->artifacts = doc_records_decode(in, doc, "artifacts", &raw_artifact_table, RAW_FILES_MAX,
                                        &raw->n_artifacts);
    raw->tools =
        doc_records_decode(in, doc, "tools", &raw_tool_table, RAW_RECORDS_MAX, &raw->n_tools);
    raw->refusals = doc_records_decode(in, doc, "refusals", &raw_refusal_table, RAW_RECORDS_MAX,
                                       &raw->n_refusals);
    raw->rechecks = doc_records_decode(in, doc, "rechecks", &raw_recheck_table, RAW_FILES_MAX,
                                       &raw->n_rechecks);
}

static void raw_read(struct json_in *in, const cJSON *doc, void *out)
{
    struct raw *raw = out;

    closed_decode(in, doc, raw);
    raw->calibration = calibration_decode(in, doc, "calibration");
    ledger_sources_decode(in, doc, "observer", &raw->observer);
    identity_decode(in, doc, raw);
    job_part_decode(in, doc, raw);
    policy_part_decode(in, doc, raw);
    session_decode_of(in, doc, raw);
    repeats_decode(in, doc, raw);
    sides_decode(in, doc, raw);
    workloads_decode(in, doc, raw);
    records_decode(in, doc, raw);
    phases_decode(in, doc, raw);
    plan_decode(in, doc, raw);
    observations_decode(in, doc, raw);
    if (in->rc == 0)
        overrides_decode(in, doc, &raw->job);
}

int raw_decode(struct arena *a, const char *data, size_t len, struct raw **out, struct err *e)
{
    struct raw *raw = arena_alloc(a, sizeof *raw);
    int rc = doc_decode(a, data, len, raw_read, raw, e);

    if (rc == 0)
        *out = raw;
    return rc;
}
