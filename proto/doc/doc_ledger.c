#include "proto/doc/doc_ledger.h"

/* A second: no counter that is coarser can say anything of an observation. */
#define RESOLUTION_MAX_NS 1000000000

#define COUNT(member)                                                                              \
    {                                                                                              \
        .key = #member, .kind = DOC_I64_OR_NULL, .offset = offsetof(struct ledger, member),        \
        .max = JSON_INT_MAX                                                                        \
    }

static const struct doc_field ledger_fields[] = {
    COUNT(span_ns),        COUNT(lane_cpu_ns), COUNT(observer_cpu_ns), COUNT(near_foreign_ns),
    COUNT(far_foreign_ns), COUNT(steal_ns),    COUNT(lane_delay_ns),   COUNT(lane_preemptions),
    COUNT(pressure_us),    COUNT(throttles),   COUNT(swapped_pages),
};
const struct doc_table raw_ledger_table = DOC_TABLE(ledger_fields, struct ledger);

#define NAME(member)                                                                               \
    {                                                                                              \
        .key = #member, .kind = DOC_STR_OR_NULL,                                                   \
        .offset = offsetof(struct ledger_sources, member), .max = FIELD_NAME_MAX                   \
    }
#define RESOLUTION(member)                                                                         \
    {                                                                                              \
        .key = #member, .kind = DOC_I64_OR_NULL,                                                   \
        .offset = offsetof(struct ledger_sources, member), .max = RESOLUTION_MAX_NS                \
    }

static const struct doc_field sources_fields[] = {
    NAME(busy),     RESOLUTION(busy_resolution_ns),
    NAME(lane),     NAME(delay),
    NAME(steal),    RESOLUTION(steal_resolution_ns),
    NAME(pressure), NAME(throttle),
    NAME(swap),     NAME(memory),
};
const struct doc_table raw_observer_table = DOC_TABLE(sources_fields, struct ledger_sources);

static bool has_sources(const struct ledger_sources *s)
{
    return s->busy || s->lane || s->delay || s->steal || s->pressure || s->throttle || s->swap ||
           s->memory;
}

void ledger_sources_encode(struct json_out *o, const char *key, const struct ledger_sources *s)
{
    if (!has_sources(s)) {
        json_put_null(o, key);
        return;
    }
    json_begin(o, key);
    doc_fields_encode(o, &raw_observer_table, s);
    json_end(o);
}

static void disturbed_encode(struct json_out *o, int bits)
{
    if (bits < 0) {
        json_put_null(o, "disturbed");
        return;
    }
    json_begin_array(o, "disturbed");
    for (int d = 0; d < DISTURBANCE_COUNT; d++)
        if (bits & 1 << d)
            json_put_str(o, NULL, disturbance_name((enum disturbance)d));
    json_end_array(o);
}

void ledger_encode(struct json_out *o, const struct raw_observation *observation)
{
    if (observation->ledger.span_ns < 0) {
        json_put_null(o, "ledger");
    } else {
        json_begin(o, "ledger");
        doc_fields_encode(o, &raw_ledger_table, &observation->ledger);
        json_end(o);
    }
    disturbed_encode(o, observation->disturbed);
}

static bool is_null(struct json_in *in, const cJSON *obj, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(obj, key);
    if (in->rc == 0 && !item)
        json_fail(in, key, "json.missing", "%s is missing; the report is not complete.", key);
    return in->rc != 0 || cJSON_IsNull(item);
}

/* Each reason once, in the order of the enum: one set of reasons has one spelling. */
static int disturbed_decode(struct json_in *in, const cJSON *obj)
{
    int bits = 0, last = -1;
    struct args words = json_opt_args(in, obj, "disturbed", DISTURBANCE_COUNT);
    for (size_t i = 0; i < words.n && in->rc == 0; i++) {
        int d = disturbance_parse(words.v[i]);
        if (d <= last)
            json_fail(in, "disturbed", "raw.disturbed",
                      "disturbed must name each reason once, in the order of the schema.");
        else
            bits |= 1 << d;
        last = d;
    }
    return bits;
}

void ledger_decode(struct json_in *in, const cJSON *obj, struct raw_observation *out)
{
    out->ledger = LEDGER_UNKNOWN;
    out->disturbed = -1;
    if (!is_null(in, obj, "ledger")) {
        size_t mark = json_enter(in, "ledger");
        doc_fields_decode(in, cJSON_GetObjectItemCaseSensitive(obj, "ledger"), &raw_ledger_table,
                          NULL, &out->ledger);
        if (in->rc == 0 && out->ledger.span_ns < 0)
            json_fail(in, "span_ns", "raw.ledger", "A ledger without span_ns must be null.");
        json_leave(in, mark);
    }
    if (!is_null(in, obj, "disturbed"))
        out->disturbed = disturbed_decode(in, obj);
}

void ledger_sources_decode(struct json_in *in, const cJSON *doc, const char *key,
                           struct ledger_sources *out)
{
    *out = LEDGER_NO_SOURCES;
    if (is_null(in, doc, key))
        return;
    size_t mark = json_enter(in, key);
    doc_fields_decode(in, cJSON_GetObjectItemCaseSensitive(doc, key), &raw_observer_table, NULL,
                      out);
    if (in->rc == 0 && !has_sources(out))
        json_fail(in, "busy", "raw.observer", "An observer without any source must be null.");
    json_leave(in, mark);
}
