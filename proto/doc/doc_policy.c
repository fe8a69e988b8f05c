#include "proto/doc/doc_policy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/doc/doc_common.h"
#include "proto/doc/doc_keys.h"

#define CPU_NUMBER_MAX 4095
#define DAY_MS 86400000

const char *const policy_keys[] = {"schema",
                                   "name",
                                   "conditions",
                                   "host",
                                   "repetitions_min",
                                   "margin",
                                   "drift_limit_pct",
                                   "settle",
                                   "retry",
                                   "ready_timeout",
                                   "done_timeout",
                                   "build_timeout",
                                   "inventory",
                                   "forbidden",
                                   "path",
                                   "cpu_set",
                                   NULL};
const char *const policy_rule_keys[] = {"mode", "limit", "text", "reason", "by", NULL};
const char *const policy_host_keys[] = {"model", "os", "cores", NULL};
const char *const policy_retry_keys[] = {"every", "limit", NULL};
const char *const policy_inventory_keys[] = {"snapshot_gap",
                                             "sustained_pct",
                                             "aggregate_pct",
                                             "aggregate_all_pct",
                                             "lane_cpu_pct",
                                             "forks_per_second",
                                             NULL};

/* What a rule may carry beside its mode; a condition that is not listed carries nothing. */
static const struct {
    double limit_max; /* 0: it has no limit */
    enum { NO_TEXT, ANY_TEXT, ON_OR_OFF } text;
} shapes[COND_COUNT] = {
    [COND_GOVERNOR] = {.text = ANY_TEXT},
    [COND_BOOST] = {.text = ON_OR_OFF},
    [COND_STEAL] = {.limit_max = 100},
    [COND_MEMORY] = {.limit_max = 100},
    [COND_UPTIME] = {.limit_max = 366 * 86400.0},
};

static void decode_rule_text(struct json_in *in, const cJSON *obj, enum condition c,
                             struct rule *rule)
{
    rule->text = doc_opt_line(in, obj, "text", DOC_NAME_MAX, NULL);
    if (!rule->text)
        return;
    if (shapes[c].text == NO_TEXT)
        json_fail(in, "text", "policy.bad", "%s takes no text; remove it", condition_name(c));
    else if (shapes[c].text == ON_OR_OFF && strcmp(rule->text, "on") != 0 &&
             strcmp(rule->text, "off") != 0)
        json_fail(in, "text", "policy.bad", "the text of %s must be \"on\" or \"off\"",
                  condition_name(c));
}

static void decode_rule_waiver(struct json_in *in, const cJSON *obj, struct rule *rule)
{
    rule->reason = doc_opt_line(in, obj, "reason", DOC_LABEL_MAX, NULL);
    rule->by = doc_opt_line(in, obj, "by", DOC_LABEL_MAX, NULL);
    if (in->rc)
        return;
    bool complete = rule->reason && *rule->reason && rule->by && *rule->by;
    if (rule->mode == RULE_WAIVE && !complete)
        json_fail(in, "reason", "policy.waiver",
                  "a waiver needs \"reason\" and \"by\": why, and who says so");
    else if (rule->mode != RULE_WAIVE && (rule->reason || rule->by))
        json_fail(in, "reason", "policy.waiver",
                  "only a waiver has \"reason\" and \"by\"; remove them or set mode to \"waive\"");
}

/* A rule replaces the one of `standard` whole, but for the limit: that one is kept where none is
 * given. */
static void decode_rule(struct json_in *in, const cJSON *obj, enum condition c, struct rule *rule)
{
    size_t mark = json_enter(in, condition_name(c));
    json_closed(in, obj, policy_rule_keys);
    rule->mode =
        (enum rule_mode)json_enum_of(in, obj, "mode", rule_mode_parse, "require, waive, record");
    if (shapes[c].limit_max > 0)
        rule->limit = json_opt_num(in, obj, "limit", 0, shapes[c].limit_max, rule->limit);
    else if (!in->rc && cJSON_GetObjectItemCaseSensitive(obj, "limit"))
        json_fail(in, "limit", "policy.bad", "%s takes no limit; remove it", condition_name(c));
    decode_rule_text(in, obj, c, rule);
    decode_rule_waiver(in, obj, rule);
    json_leave(in, mark);
}

static void decode_conditions(struct json_in *in, const cJSON *doc, struct policy *p)
{
    const cJSON *obj = json_opt_obj(in, doc, "conditions"), *m;
    size_t mark = json_enter(in, "conditions");
    cJSON_ArrayForEach (m, obj) {
        int c = condition_parse(m->string);
        if (c < 0)
            json_fail(in, m->string, "json.unknown_key", "is no condition that this version knows");
        else
            decode_rule(in, m, (enum condition)c, &p->rules[c]);
    }
    json_leave(in, mark);
}

static void decode_host(struct json_in *in, const cJSON *doc, struct host_contract *h)
{
    const cJSON *obj = json_opt_obj(in, doc, "host");
    if (!obj)
        return;
    size_t mark = json_enter(in, "host");
    json_closed(in, obj, policy_host_keys);
    h->model = doc_opt_line(in, obj, "model", DOC_LABEL_MAX, h->model);
    h->os = doc_opt_line(in, obj, "os", DOC_LABEL_MAX, h->os);
    h->cores = (int)json_opt_int(in, obj, "cores", 0, CPU_NUMBER_MAX + 1, h->cores);
    json_leave(in, mark);
}

static void decode_retry(struct json_in *in, const cJSON *doc, struct policy *p)
{
    const cJSON *obj = json_opt_obj(in, doc, "retry");
    if (!obj)
        return;
    size_t mark = json_enter(in, "retry");
    json_closed(in, obj, policy_retry_keys);
    p->retry_every_ms = doc_opt_duration(in, obj, "every", 1, 7 * DAY_MS, p->retry_every_ms);
    p->retry_limit = (int)json_opt_int(in, obj, "limit", 0, 1000000, p->retry_limit);
    json_leave(in, mark);
}

static void decode_inventory(struct json_in *in, const cJSON *doc, struct policy *p)
{
    const cJSON *obj = json_opt_obj(in, doc, "inventory");
    if (!obj)
        return;
    size_t mark = json_enter(in, "inventory");
    json_closed(in, obj, policy_inventory_keys);
    p->snapshot_gap_ms = doc_opt_duration(in, obj, "snapshot_gap", 10, 10000, p->snapshot_gap_ms);
    p->sustained_pct = json_opt_num(in, obj, "sustained_pct", 0, 1e6, p->sustained_pct);
    p->aggregate_pct = json_opt_num(in, obj, "aggregate_pct", 0, 1e6, p->aggregate_pct);
    p->aggregate_all_pct = json_opt_num(in, obj, "aggregate_all_pct", 0, 100, p->aggregate_all_pct);
    p->lane_cpu_pct = json_opt_num(in, obj, "lane_cpu_pct", 0, 1e6, p->lane_cpu_pct);
    p->forks_per_second = json_opt_num(in, obj, "forks_per_second", 0, 1e6, p->forks_per_second);
    json_leave(in, mark);
}

/* An empty entry would mean the current folder. */
static void check_path(struct json_in *in, const char *path)
{
    for (const char *p = path; p; p = strchr(p, ':')) {
        p += *p == ':';
        if (*p != '/') {
            json_fail(in, "path", "policy.bad",
                      "path must be a list of absolute folders with ':' between them");
            return;
        }
    }
}

static void decode_cpu_set(struct json_in *in, const cJSON *doc, struct policy *p)
{
    char again[24];
    if (in->rc || !cJSON_GetObjectItemCaseSensitive(doc, "cpu_set"))
        return;
    p->cpu_set = json_opt_args(in, doc, "cpu_set", CPU_NUMBER_MAX + 1);
    for (size_t i = 0; i < p->cpu_set.n && !in->rc; i++) {
        long v = strtol(p->cpu_set.v[i], NULL, 10);
        snprintf(again, sizeof again, "%ld", v);
        if (v < 0 || v > CPU_NUMBER_MAX || strcmp(again, p->cpu_set.v[i]) != 0)
            json_fail(in, "cpu_set", "policy.bad",
                      "cpu_set lists CPU numbers as text, like [\"2\", \"3\"]");
    }
}

void policy_decode_over(struct json_in *in, const cJSON *doc, struct policy *p)
{
    json_closed(in, doc, policy_keys);
    doc_schema(in, doc, POLICY_SCHEMA);
    p->name = doc_name(in, doc, "name", "policy.bad");
    decode_conditions(in, doc, p);
    decode_host(in, doc, &p->contract);
    p->repetitions_min = (int)json_opt_int(in, doc, "repetitions_min", 1, 1000, p->repetitions_min);
    p->margin = json_opt_num(in, doc, "margin", 0, 1, p->margin);
    p->drift_limit_pct = json_opt_num(in, doc, "drift_limit_pct", 0, 10000, p->drift_limit_pct);
    p->settle_ms = doc_opt_duration(in, doc, "settle", 0, 3600000, p->settle_ms);
    decode_retry(in, doc, p);
    p->ready_timeout_ms =
        doc_opt_duration(in, doc, "ready_timeout", 1, DAY_MS, p->ready_timeout_ms);
    p->done_timeout_ms = doc_opt_duration(in, doc, "done_timeout", 1, DAY_MS, p->done_timeout_ms);
    p->build_timeout_ms =
        doc_opt_duration(in, doc, "build_timeout", 1, DAY_MS, p->build_timeout_ms);
    decode_inventory(in, doc, p);
    if (!in->rc && cJSON_GetObjectItemCaseSensitive(doc, "forbidden"))
        p->forbidden = doc_opt_programs(in, doc, "forbidden", "policy.bad");
    p->path = doc_opt_line(in, doc, "path", 4096, p->path);
    if (!in->rc)
        check_path(in, p->path);
    decode_cpu_set(in, doc, p);
}

bool policy_rule_has_limit(enum condition c)
{
    return shapes[c].limit_max > 0;
}
