#include "proto/doc/doc_evidence.h"

#include "base/mem.h"
#include "proto/doc/doc_host.h"
#include "proto/doc/documents.h"

int evidence_raw_text(const struct raw *raw, struct buf *out, struct err *e)
{
    CLEANUP(buf_deinit) struct buf json = {0};
    struct json_out o;
    json_out_init(&o, &json);
    raw_encode(&o, NULL, raw);
    return json_canonical(json.data, json.len, out, e);
}

int evidence_summary_text(const struct raw *raw, const struct summary *summary,
                          const char *raw_sha256, struct buf *out, struct err *e)
{
    CLEANUP(buf_deinit) struct buf json = {0};
    struct json_out o;
    json_out_init(&o, &json);
    summary_encode(&o, NULL, summary, raw, raw_sha256);
    return json_canonical(json.data, json.len, out, e);
}

int evidence_job_text(const struct raw *raw, struct buf *out, struct err *e)
{
    CLEANUP(buf_deinit) struct buf json = {0};
    struct json_out o;
    json_out_init(&o, &json);
    job_encode(&o, NULL, &raw->job);
    return json_canonical(json.data, json.len, out, e);
}

int evidence_policy_text(const struct raw *raw, struct buf *out, struct err *e)
{
    CLEANUP(buf_deinit) struct buf json = {0};
    struct json_out o;
    json_out_init(&o, &json);
    policy_encode(&o, NULL, &raw->policy);
    return json_canonical(json.data, json.len, out, e);
}

static const struct phase_record *latest_before_timing(const struct raw *raw)
{
    if (raw->phases[PHASE_BEFORE_TIMING].inventory)
        return &raw->phases[PHASE_BEFORE_TIMING];
    return raw->phases[PHASE_BEFORE_BUILD].inventory ? &raw->phases[PHASE_BEFORE_BUILD] : NULL;
}

int evidence_host_text(const struct raw *raw, struct buf *out, struct err *e)
{
    CLEANUP(buf_deinit) struct buf json = {0};
    struct json_out o;
    json_out_init(&o, &json);
    host_encode(&o, NULL, &raw->host, &raw->boot, latest_before_timing(raw));
    return json_canonical(json.data, json.len, out, e);
}

static int add_refusal(struct buf *lines, const struct raw_refusal *r, struct err *e)
{
    CLEANUP(buf_deinit) struct buf json = {0};
    struct json_out o;
    json_out_init(&o, &json);
    json_begin(&o, NULL);
    json_put_str(&o, "attempt", r->attempt);
    json_put_int_or_null(&o, "wall_ms", r->wall_ms);
    json_put_str(&o, "phase", phase_name(r->phase));
    json_put_str(&o, "reason", r->reason);
    json_end(&o);
    return json_canonical(json.data, json.len, lines, e);
}

int evidence_refusals_text(const struct raw *raw, struct buf *out, struct err *e)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < raw->n_refusals; i++)
        rc = add_refusal(out, &raw->refusals[i], e);
    return rc;
}
