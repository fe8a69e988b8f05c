#include "proto/doc/documents.h"

#include "proto/doc/doc_common.h"
#include "proto/doc/doc_policy.h"

static void encode_rules(struct json_out *o, const struct policy *p)
{
    json_begin(o, "conditions");
    for (int c = 0; c < COND_COUNT; c++) {
        const struct rule *rule = &p->rules[c];
        json_begin(o, condition_name((enum condition)c));
        json_put_str(o, "mode", rule_mode_name(rule->mode));
        if (policy_rule_has_limit((enum condition)c))
            json_put_num(o, "limit", rule->limit);
        if (rule->text)
            json_put_str(o, "text", rule->text);
        if (rule->mode == RULE_WAIVE) {
            json_put_str(o, "reason", rule->reason);
            json_put_str(o, "by", rule->by);
        }
        json_end(o);
    }
    json_end(o);
}

static void encode_host(struct json_out *o, const struct host_contract *h)
{
    json_begin(o, "host");
    if (h->model)
        json_put_str(o, "model", h->model);
    if (h->os)
        json_put_str(o, "os", h->os);
    if (h->cores)
        json_put_int(o, "cores", h->cores);
    json_end(o);
}

static void encode_inventory(struct json_out *o, const struct policy *p)
{
    json_begin(o, "inventory");
    doc_put_duration(o, "snapshot_gap", p->snapshot_gap_ms);
    json_put_num(o, "sustained_pct", p->sustained_pct);
    json_put_num(o, "aggregate_pct", p->aggregate_pct);
    json_put_num(o, "aggregate_all_pct", p->aggregate_all_pct);
    json_put_num(o, "lane_cpu_pct", p->lane_cpu_pct);
    json_put_num(o, "forks_per_second", p->forks_per_second);
    json_end(o);
}

void policy_encode(struct json_out *o, const char *key, const struct policy *p)
{
    json_begin(o, key);
    json_put_str(o, "schema", POLICY_SCHEMA);
    json_put_str(o, "name", p->name);
    encode_rules(o, p);
    encode_host(o, &p->contract);
    json_put_int(o, "repetitions_min", p->repetitions_min);
    json_put_num(o, "margin", p->margin);
    json_put_num(o, "drift_limit_pct", p->drift_limit_pct);
    doc_put_duration(o, "settle", p->settle_ms);
    json_begin(o, "retry");
    doc_put_duration(o, "every", p->retry_every_ms);
    json_put_int(o, "limit", p->retry_limit);
    json_end(o);
    doc_put_duration(o, "ready_timeout", p->ready_timeout_ms);
    doc_put_duration(o, "done_timeout", p->done_timeout_ms);
    doc_put_duration(o, "build_timeout", p->build_timeout_ms);
    encode_inventory(o, p);
    json_put_args(o, "forbidden", &p->forbidden);
    json_put_str(o, "path", p->path);
    json_put_args(o, "cpu_set", &p->cpu_set);
    json_end(o);
}
