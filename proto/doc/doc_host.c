#include "proto/doc/doc_host.h"

#include <string.h>

#include "base/mem.h"
#include "proto/doc/doc_raw_fields.h"
#include "proto/doc/documents.h"

#define PCT_MAX 1000000000LL

DOC_WORDS(phase, enum phase);
DOC_WORDS(inventory_state, enum inventory_state);
DOC_WORDS(fact_state, enum fact_state);
DOC_WORDS(condition, enum condition);
DOC_WORDS(rule_mode, enum rule_mode);
DOC_WORDS(tri, enum tri);

static const struct doc_field host_fields[] = {
    DOC_FIELD(struct host_identity, name, DOC_STR_OR_NULL, FIELD_TEXT_MAX),
    DOC_FIELD(struct host_identity, id, DOC_STR_OR_NULL, FIELD_NAME_MAX),
    DOC_FIELD(struct host_identity, model, DOC_STR_OR_NULL, FIELD_TEXT_MAX),
    DOC_FIELD(struct host_identity, cpu, DOC_STR_OR_NULL, FIELD_TEXT_MAX),
    DOC_FIELD(struct host_identity, cores, DOC_INT_OR_NULL, INT32_MAX),
    DOC_FIELD(struct host_identity, memory_bytes, DOC_I64_OR_NULL, JSON_INT_MAX),
    DOC_FIELD(struct host_identity, os, DOC_STR_OR_NULL, FIELD_TEXT_MAX),
    DOC_FIELD(struct host_identity, kernel, DOC_STR_OR_NULL, FIELD_TEXT_MAX),
    DOC_FIELD(struct host_identity, arch, DOC_STR_OR_NULL, FIELD_TEXT_MAX),
    DOC_FIELD(struct host_identity, tick_ns, DOC_I64_OR_NULL, JSON_INT_MAX),
};
static const struct doc_table host_table = DOC_TABLE(host_fields, struct host_identity);

static const struct doc_field boot_fields[] = {
    DOC_FIELD(struct boot_identity, id, DOC_STR_OR_NULL, FIELD_TEXT_MAX),
    DOC_FIELD(struct boot_identity, boot_wall_ms, DOC_I64_OR_NULL, JSON_INT_MAX),
};
static const struct doc_table boot_table = DOC_TABLE(boot_fields, struct boot_identity);

static const struct doc_field competitor_fields[] = {
    DOC_FIELD(struct competitor, pid, DOC_INT, INT32_MAX),
    DOC_FIELD(struct competitor, ppid, DOC_INT, INT32_MAX),
    DOC_FIELD(struct competitor, uid, DOC_I64_OR_NULL, JSON_INT_MAX),
    DOC_FIELD(struct competitor, start_ticks, DOC_I64_OR_NULL, JSON_INT_MAX),
    DOC_FIELD(struct competitor, command, DOC_STR, FIELD_TEXT_MAX),
    DOC_FIELD(struct competitor, args, DOC_STR_OR_NULL, FIELD_TEXT_MAX),
    DOC_FIELD(struct competitor, cwd, DOC_STR_OR_NULL, FIELD_TEXT_MAX),
};
static const struct doc_table competitor_table = DOC_TABLE(competitor_fields, struct competitor);

static const struct doc_field inventory_fields[] = {
    DOC_FIELD_ENUM(struct inventory, phase, &phase_words),
    DOC_FIELD(struct inventory, wall_ms, DOC_I64_OR_NULL, JSON_INT_MAX),
    DOC_FIELD(struct inventory, forks_per_second, DOC_NUM, PCT_MAX),
    DOC_FIELD(struct inventory, n_procs, DOC_SIZE, INT32_MAX),
    DOC_FIELD_ENUM(struct inventory, state, &inventory_state_words),
    DOC_FIELD(struct inventory, partial_reason, DOC_STR_OR_NULL, FIELD_TEXT_MAX),
};
static const struct doc_table inventory_table = DOC_TABLE(inventory_fields, struct inventory);

static const struct doc_field fact_fields[] = {
    DOC_FIELD_ENUM(struct fact, state, &fact_state_words),
    DOC_FIELD(struct fact, text, DOC_STR_OR_NULL, FIELD_TEXT_MAX),
    DOC_FIELD(struct fact, source, DOC_STR_OR_NULL, FIELD_TEXT_MAX),
};
static const struct doc_table fact_table = DOC_TABLE(fact_fields, struct fact);

static const struct doc_field condition_fields[] = {
    DOC_FIELD_ENUM(struct condition_result, condition, &condition_words),
    DOC_FIELD_ENUM(struct condition_result, status, &tri_words),
    DOC_FIELD_ENUM(struct condition_result, mode, &rule_mode_words),
    DOC_FIELD(struct condition_result, seen, DOC_STR_OR_NULL, FIELD_TEXT_MAX),
    DOC_FIELD(struct condition_result, needed, DOC_STR_OR_NULL, FIELD_TEXT_MAX),
};
static const struct doc_table condition_table =
    DOC_TABLE(condition_fields, struct condition_result);

void host_identity_encode(struct json_out *o, const char *key, const struct host_identity *h)
{
    json_begin(o, key);
    doc_fields_encode(o, &host_table, h);
    json_end(o);
}

void host_identity_decode(struct json_in *in, const cJSON *obj, struct host_identity *out)
{
    doc_fields_decode(in, obj, &host_table, NULL, out);
}

void boot_identity_encode(struct json_out *o, const char *key, const struct boot_identity *b)
{
    json_begin(o, key);
    doc_fields_encode(o, &boot_table, b);
    json_end(o);
}

void boot_identity_decode(struct json_in *in, const cJSON *obj, struct boot_identity *out)
{
    doc_fields_decode(in, obj, &boot_table, NULL, out);
}

/* ---- facts */

static void fact_encode(struct json_out *o, const char *key, const struct fact *f)
{
    json_begin(o, key);
    doc_fields_encode(o, &fact_table, f);
    if (f->state == FACT_KNOWN)
        json_put_int(o, "value", f->value);
    else
        json_put_null(o, "value");
    json_end(o);
}

void host_facts_encode(struct json_out *o, const char *key, const struct host_facts *f)
{
    json_begin(o, key);
    json_put_int_or_null(o, "wall_ms", f->wall_ms);
    for (int i = 0; i < FACT_COUNT; i++)
        fact_encode(o, fact_name((enum fact_id)i), &f->facts[i]);
    json_end(o);
}

static void fact_decode(struct json_in *in, const cJSON *obj, struct fact *out)
{
    static const char *const value[] = {"value", NULL};
    doc_fields_decode(in, obj, &fact_table, value, out);
    if (out->state == FACT_KNOWN)
        out->value = json_int(in, obj, "value", -JSON_INT_MAX, JSON_INT_MAX);
}

void host_facts_decode(struct json_in *in, const cJSON *obj, struct host_facts *out)
{
    const char *keys[FACT_COUNT + 2] = {"wall_ms"};
    for (int i = 0; i < FACT_COUNT; i++)
        keys[i + 1] = fact_name((enum fact_id)i);
    json_closed(in, obj, keys);
    out->wall_ms = json_opt_int(in, obj, "wall_ms", 0, JSON_INT_MAX, -1);
    for (int i = 0; i < FACT_COUNT; i++) {
        const cJSON *fact = json_opt_obj(in, obj, keys[i + 1]);
        if (!fact)
            continue;
        size_t mark = json_enter(in, keys[i + 1]);
        fact_decode(in, fact, &out->facts[i]);
        json_leave(in, mark);
    }
}

/* ---- inventories */

static void reasons_encode(struct json_out *o, unsigned reasons)
{
    char word[64];
    json_begin_array(o, "reasons");
    for (unsigned bit = COMPETE_SUSTAINED; bit <= COMPETE_LANE_CPUS; bit <<= 1)
        if (reasons & bit)
            json_put_str(o, NULL, compete_reasons_text(bit, word));
    json_end_array(o);
}

static void pair_encode(struct json_out *o, const char *key, const double v[INVENTORY_WINDOWS])
{
    json_begin_array(o, key);
    for (int i = 0; i < INVENTORY_WINDOWS; i++)
        json_put_num(o, NULL, v[i]);
    json_end_array(o);
}

static void competitors_encode(struct json_out *o, const char *key, const struct competitor *c,
                               size_t n)
{
    json_begin_array(o, key);
    for (size_t i = 0; i < n; i++) {
        json_begin(o, NULL);
        doc_fields_encode(o, &competitor_table, &c[i]);
        pair_encode(o, "share_pct", c[i].share_pct);
        reasons_encode(o, c[i].reasons);
        json_end(o);
    }
    json_end_array(o);
}

void inventory_encode(struct json_out *o, const char *key, const struct inventory *inv)
{
    if (!inv) {
        json_put_null(o, key);
        return;
    }
    json_begin(o, key);
    doc_fields_encode(o, &inventory_table, inv);
    json_begin_array(o, "window_ns");
    for (int i = 0; i < INVENTORY_WINDOWS; i++)
        json_put_int_or_null(o, NULL, inv->window_ns[i]);
    json_end_array(o);
    pair_encode(o, "aggregate_pct", inv->aggregate_pct);
    competitors_encode(o, "competitors", inv->competitors, inv->n_competitors);
    competitors_encode(o, "hints", inv->hints, inv->n_hints);
    json_end(o);
}

/* The two numbers of the two windows; null is NaN. */
static void pair_decode(struct json_in *in, const cJSON *obj, const char *key,
                        double out[INVENTORY_WINDOWS])
{
    size_t n = 0;
    const cJSON *array = json_arr(in, obj, key, INVENTORY_WINDOWS, &n);
    if (in->rc == 0 && n != INVENTORY_WINDOWS)
        json_fail(in, key, "json.range", "%s must hold one number for each of the %d windows.", key,
                  INVENTORY_WINDOWS);
    for (int i = 0; in->rc == 0 && i < INVENTORY_WINDOWS; i++) {
        const cJSON *item = cJSON_GetArrayItem(array, i);
        if (!cJSON_IsNumber(item) && !cJSON_IsNull(item))
            json_fail(in, key, "json.type", "%s must hold numbers or null.", key);
        out[i] = cJSON_IsNumber(item) ? item->valuedouble : __builtin_nan("");
    }
}

static void windows_decode(struct json_in *in, const cJSON *obj, int64_t out[INVENTORY_WINDOWS])
{
    double values[INVENTORY_WINDOWS] = {0};
    pair_decode(in, obj, "window_ns", values);
    for (int i = 0; in->rc == 0 && i < INVENTORY_WINDOWS; i++) {
        bool known = values[i] >= 0 && values[i] <= (double)JSON_INT_MAX;
        if (known && values[i] != (double)(int64_t)values[i])
            json_fail(in, "window_ns", "json.type", "window_ns must hold whole nanoseconds.");
        out[i] = known ? (int64_t)values[i] : -1;
    }
}

static unsigned reasons_decode(struct json_in *in, const cJSON *obj)
{
    unsigned reasons = 0;
    size_t n = 0;
    const cJSON *array = json_arr(in, obj, "reasons", 8, &n);
    const cJSON *item;
    cJSON_ArrayForEach (item, array) {
        int bit = cJSON_IsString(item) ? compete_reasons_parse(item->valuestring) : -1;
        if (bit <= 0)
            json_fail(in, "reasons", "json.value", "reasons holds a word that is no reason.");
        else
            reasons |= (unsigned)bit;
    }
    return reasons;
}

static struct competitor *competitors_decode(struct json_in *in, const cJSON *obj, const char *key,
                                             size_t *n)
{
    static const char *const more[] = {"share_pct", "reasons", NULL};
    size_t count = 0;
    const cJSON *array = json_arr(in, obj, key, DOC_COMPETITORS_MAX, &count);
    *n = 0;
    if (in->rc)
        return NULL;
    struct competitor *out = arena_array(in->a, count, sizeof *out);
    size_t mark = json_enter(in, key);
    const cJSON *item;
    cJSON_ArrayForEach (item, array) {
        struct competitor *c = &out[*n];
        size_t inner = json_enter_index(in, (*n)++);
        doc_fields_decode(in, item, &competitor_table, more, c);
        pair_decode(in, item, "share_pct", c->share_pct);
        c->reasons = reasons_decode(in, item);
        json_leave(in, inner);
    }
    json_leave(in, mark);
    return out;
}

void inventory_decode(struct json_in *in, const cJSON *obj, struct inventory *out)
{
    static const char *const more[] = {"window_ns", "aggregate_pct", "competitors", "hints", NULL};
    doc_fields_decode(in, obj, &inventory_table, more, out);
    windows_decode(in, obj, out->window_ns);
    pair_decode(in, obj, "aggregate_pct", out->aggregate_pct);
    out->competitors = competitors_decode(in, obj, "competitors", &out->n_competitors);
    out->hints = competitors_decode(in, obj, "hints", &out->n_hints);
}

/* ---- conditions */

void conditions_encode(struct json_out *o, const char *key,
                       const struct condition_result results[COND_COUNT])
{
    doc_records_encode(o, key, &condition_table, results, COND_COUNT);
}

void conditions_unknown(struct condition_result out[COND_COUNT])
{
    memset(out, 0, COND_COUNT * sizeof out[0]);
    for (int i = 0; i < COND_COUNT; i++) {
        out[i].condition = (enum condition)i;
        out[i].status = TRI_UNKNOWN;
        out[i].mode = RULE_REQUIRE;
    }
}

void conditions_decode(struct json_in *in, const cJSON *obj, const char *key,
                       struct condition_result out[COND_COUNT])
{
    size_t n = 0;
    const struct condition_result *read =
        doc_records_decode(in, obj, key, &condition_table, COND_COUNT, &n);
    bool seen[COND_COUNT] = {false};
    conditions_unknown(out);
    for (size_t i = 0; in->rc == 0 && i < n; i++) {
        enum condition c = read[i].condition;
        if (seen[c])
            json_fail(in, key, "json.duplicate", "%s names %s twice.", key, condition_name(c));
        seen[c] = true;
        out[c] = read[i];
    }
}

/* ---- host.json */

void host_encode(struct json_out *o, const char *key, const struct host_identity *host,
                 const struct boot_identity *boot, const struct phase_record *phase)
{
    json_begin(o, key);
    json_put_str(o, "schema", "aurabench.host.v1");
    host_identity_encode(o, "host", host);
    boot_identity_encode(o, "boot", boot);
    if (phase) {
        host_facts_encode(o, "facts", &phase->facts);
        conditions_encode(o, "conditions", phase->conditions);
        inventory_encode(o, "inventory", phase->inventory);
    } else {
        json_put_null(o, "facts");
        json_put_null(o, "conditions");
        json_put_null(o, "inventory");
    }
    json_end(o);
}
