#include "proto/doc/doc_kernel.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"

#define TEXT_MAX 4096

/* ---- the table */

#define WORDS(prefix, type, allowed_)                                                              \
    static const char *prefix##_word(int value)                                                    \
    {                                                                                              \
        return prefix##_name((enum type)value);                                                    \
    }                                                                                              \
    static const struct kernel_words prefix##_words = {prefix##_word, prefix##_parse, allowed_, 2}
WORDS(kernel_target, kernel_target, "native, browser");
WORDS(kernel_entry, kernel_entry, "function, pipeline");
WORDS(kernel_profile, kernel_profile, "release, debug");

#define FIELD(key_, kind_, type, member)                                                           \
    .key = (key_), .kind = (kind_), .offset = offsetof(type, member)
#define PART(fields_)                                                                              \
    {                                                                                              \
        .fields = (fields_), .n = ARRAY_LEN(fields_)                                               \
    }

#define STATS(type_max)                                                                            \
    {                                                                                              \
        {FIELD("iterations", KERNEL_F_COUNT, struct kernel_stats, iterations), .max = (type_max)}, \
            {FIELD("min_ms", KERNEL_F_MS, struct kernel_stats, min_ms)},                           \
            {FIELD("mean_ms", KERNEL_F_MS, struct kernel_stats, mean_ms)},                         \
            {FIELD("p50_ms", KERNEL_F_MS, struct kernel_stats, p50_ms)},                           \
            {FIELD("p95_ms", KERNEL_F_MS, struct kernel_stats, p95_ms)},                           \
            {FIELD("max_ms", KERNEL_F_MS, struct kernel_stats, max_ms)},                           \
            {FIELD("stddev_ms", KERNEL_F_MS, struct kernel_stats, stddev_ms)},                     \
        {                                                                                          \
            FIELD("total_ms", KERNEL_F_MS, struct kernel_stats, total_ms)                          \
        }                                                                                          \
    }
static const struct kernel_field compile_stats[] = STATS(KERNEL_COMPILES_MAX);
static const struct kernel_field dispatch_stats[] = STATS(KERNEL_DISPATCHES_MAX);
static const struct kernel_part compile_stats_part = PART(compile_stats);
static const struct kernel_part dispatch_stats_part = PART(dispatch_stats);

/* Members of parts without a name of their own: offsets from the receipt's compile and dispatch. */
#define WITHIN(key_, kind_, part_, member)                                                         \
    .key = (key_), .kind = (kind_),                                                                \
    .offset =                                                                                      \
        offsetof(struct kernel_receipt, part_.member) - offsetof(struct kernel_receipt, part_)
static const struct kernel_field compile_fields[] = {
    {WITHIN("firstMs", KERNEL_F_MS, compile, first_ms)},
    {WITHIN("repeated", KERNEL_F_PART, compile, repeated), .part = &compile_stats_part},
};
static const struct kernel_field dispatch_fields[] = {
    {WITHIN("firstMs", KERNEL_F_MS, dispatch, first_ms)},
    {WITHIN("repeated", KERNEL_F_PART, dispatch, repeated), .part = &dispatch_stats_part},
    {WITHIN("batchWallMs", KERNEL_F_POSITIVE, dispatch, batch_wall_ms)},
    {WITHIN("throughputPerSecond", KERNEL_F_POSITIVE, dispatch, throughput)},
};
static const struct kernel_part compile_part = PART(compile_fields);
static const struct kernel_part dispatch_part = PART(dispatch_fields);

#define P struct kernel_provenance
#define PROVENANCE_SHARED                                                                          \
    {FIELD("kernelVersion", KERNEL_F_TEXT, P, kernel_version)},                                    \
        {FIELD("artifactFormatVersion", KERNEL_F_COUNT, P, format_version), .max = JSON_INT_MAX},  \
        {FIELD("semanticAbiFingerprint", KERNEL_F_DIGEST, P, semantic)},                           \
        {FIELD("opcodeAbiFingerprint", KERNEL_F_DIGEST, P, opcode)},                               \
        {FIELD("buildProfile", KERNEL_F_WORD, P, profile), .words = &kernel_profile_words},        \
        {FIELD("os", KERNEL_F_TEXT, P, os)},                                                       \
    {                                                                                              \
        FIELD("arch", KERNEL_F_TEXT, P, arch)                                                      \
    }
static const struct kernel_field provenance_ours[] = {
    {FIELD("aurabenchVersion", KERNEL_F_TEXT, P, version)},
    {FIELD("driver", KERNEL_F_TEXT, P, driver)},
    {FIELD("driverVersion", KERNEL_F_TEXT, P, driver_version)},
    PROVENANCE_SHARED,
    {FIELD("machine", KERNEL_F_DIGEST, P, machine), .or_null = true},
    {FIELD("sourceDigest", KERNEL_F_DIGEST, P, source_digest)},
    {FIELD("inputDigest", KERNEL_F_DIGEST, P, input_digest)},
};
static const struct kernel_field provenance_harn[] = {
    {FIELD("harnVersion", KERNEL_F_TEXT, P, version)},
    PROVENANCE_SHARED,
};
static const struct kernel_part provenance_ours_part = PART(provenance_ours);
static const struct kernel_part provenance_harn_part = PART(provenance_harn);

#define R struct kernel_receipt
#define RECEIPT(provenance_part)                                                                   \
    {                                                                                              \
        {FIELD("schemaVersion", KERNEL_F_SCHEMA, R, schema)},                                      \
            {FIELD("target", KERNEL_F_WORD, R, target), .words = &kernel_target_words},            \
            {FIELD("source", KERNEL_F_TEXT, R, source)},                                           \
            {FIELD("entry", KERNEL_F_TEXT, R, entry)},                                             \
            {FIELD("entryKind", KERNEL_F_WORD, R, entry_kind), .words = &kernel_entry_words},      \
            {FIELD("artifactBytes", KERNEL_F_COUNT, R, artifact_bytes), .max = JSON_INT_MAX},      \
            {FIELD("artifactDigest", KERNEL_F_DIGEST, R, artifact_digest)},                        \
            {FIELD("iterations", KERNEL_F_COUNT, R, iterations), .max = KERNEL_DISPATCHES_MAX},    \
            {FIELD("workers", KERNEL_F_COUNT, R, workers), .max = KERNEL_WORKERS_MAX},             \
            {FIELD("provenance", KERNEL_F_PART, R, provenance), .part = (provenance_part)},        \
            {FIELD("initializationMs", KERNEL_F_MS, R, initialization_ms), .or_null = true},       \
            {FIELD("compile", KERNEL_F_PART, R, compile), .part = &compile_part},                  \
            {FIELD("decode", KERNEL_F_PART, R, decode), .or_null = true,                           \
             .part = &compile_stats_part},                                                         \
            {FIELD("dispatch", KERNEL_F_PART, R, dispatch), .part = &dispatch_part},               \
        {                                                                                          \
            FIELD("terminalDigest", KERNEL_F_DIGEST, R, terminal_digest)                           \
        }                                                                                          \
    }
static const struct kernel_field receipt_ours[] = RECEIPT(&provenance_ours_part);
static const struct kernel_field receipt_harn[] = RECEIPT(&provenance_harn_part);
const struct kernel_part kernel_part_ours = PART(receipt_ours);
const struct kernel_part kernel_part_harn = PART(receipt_harn);

static const struct kernel_part *part_of(const char *schema)
{
    return strcmp(schema, KERNEL_SCHEMA_HARN) == 0 ? &kernel_part_harn : &kernel_part_ours;
}

/* ---- writing */

static void part_encode(struct json_out *o, const char *key, const struct kernel_part *part,
                        const void *record);

static bool is_null(const struct kernel_field *f, const void *at)
{
    if (!f->or_null)
        return false;
    if (f->kind == KERNEL_F_PART)
        return *(const int64_t *)at == 0;
    return f->kind == KERNEL_F_MS ? isnan(*(const double *)at) != 0
                                  : *(const char *const *)at == NULL;
}

static void field_encode(struct json_out *o, const struct kernel_field *f, const void *at)
{
    if (is_null(f, at)) {
        json_put_null(o, f->key);
        return;
    }
    switch (f->kind) {
    case KERNEL_F_SCHEMA:
    case KERNEL_F_TEXT:
    case KERNEL_F_DIGEST:
        json_put_str(o, f->key, *(const char *const *)at);
        return;
    case KERNEL_F_WORD:
        json_put_str(o, f->key, f->words->name(*(const int *)at));
        return;
    case KERNEL_F_COUNT:
        json_put_int(o, f->key, *(const int64_t *)at);
        return;
    case KERNEL_F_MS:
    case KERNEL_F_POSITIVE:
        json_put_num(o, f->key, *(const double *)at);
        return;
    case KERNEL_F_PART:
        part_encode(o, f->key, f->part, at);
        return;
    }
}

static void part_encode(struct json_out *o, const char *key, const struct kernel_part *part,
                        const void *record)
{
    json_begin(o, key);
    for (size_t i = 0; i < part->n; i++)
        field_encode(o, &part->fields[i], (const char *)record + part->fields[i].offset);
    json_end(o);
}

void kernel_receipt_encode(struct json_out *o, const char *key, const struct kernel_receipt *r)
{
    part_encode(o, key, part_of(r->schema), r);
}

/* ---- reading */

static void part_decode(struct json_in *in, const cJSON *obj, const struct kernel_part *part,
                        void *record);

static const char *text_decode(struct json_in *in, const cJSON *obj, const struct kernel_field *f)
{
    const char *s = json_str(in, obj, f->key, TEXT_MAX);
    if (in->rc == 0 && !s[0])
        json_fail(in, f->key, "json.value", "%s must not be empty", f->key);
    if (in->rc == 0 && f->kind == KERNEL_F_DIGEST &&
        (strlen(s) != 64 || strspn(s, "0123456789abcdef") != 64))
        json_fail(in, f->key, "json.value", "%s must be 64 lower-case hex digits", f->key);
    return s;
}

static double number_decode(struct json_in *in, const cJSON *obj, const struct kernel_field *f)
{
    double v = json_num(in, obj, f->key, 0, 1e15);
    if (in->rc == 0 && f->kind == KERNEL_F_POSITIVE && !(v > 0))
        json_fail(in, f->key, "json.range", "%s must be larger than 0", f->key);
    return v;
}

static void nested_decode(struct json_in *in, const cJSON *obj, const struct kernel_field *f,
                          void *at)
{
    const cJSON *nested = json_obj(in, obj, f->key);
    size_t mark = json_enter(in, f->key);
    if (in->rc == 0)
        part_decode(in, nested, f->part, at);
    json_leave(in, mark);
}

/* Null where it may be: the record keeps what means null. True when it was. */
static bool null_decode(struct json_in *in, const cJSON *obj, const struct kernel_field *f,
                        void *at)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(obj, f->key);
    if (!f->or_null || !item || !cJSON_IsNull(item))
        return false;
    (void)in;
    if (f->kind == KERNEL_F_MS)
        *(double *)at = NAN;
    return true;
}

static void field_decode(struct json_in *in, const cJSON *obj, const struct kernel_field *f,
                         void *at)
{
    if (null_decode(in, obj, f, at))
        return;
    switch (f->kind) {
    case KERNEL_F_SCHEMA:
    case KERNEL_F_TEXT:
    case KERNEL_F_DIGEST:
        *(const char **)at = text_decode(in, obj, f);
        return;
    case KERNEL_F_WORD:
        *(int *)at = json_enum_of(in, obj, f->key, f->words->parse, f->words->allowed);
        return;
    case KERNEL_F_COUNT:
        *(int64_t *)at = json_int(in, obj, f->key, 1, f->max);
        return;
    case KERNEL_F_MS:
    case KERNEL_F_POSITIVE:
        *(double *)at = number_decode(in, obj, f);
        return;
    case KERNEL_F_PART:
        nested_decode(in, obj, f, at);
        return;
    }
}

#define FIELDS_MAX 24

static void part_decode(struct json_in *in, const cJSON *obj, const struct kernel_part *part,
                        void *record)
{
    const char *keys[FIELDS_MAX + 1] = {0};
    for (size_t i = 0; i < part->n; i++)
        keys[i] = part->fields[i].key;
    json_closed(in, obj, keys);
    for (size_t i = 0; i < part->n && in->rc == 0; i++)
        field_decode(in, obj, &part->fields[i], (char *)record + part->fields[i].offset);
}

static int receipt_decode(struct json_in *in, const cJSON *doc, struct kernel_receipt *r)
{
    const char *schema = json_str(in, doc, "schemaVersion", 128);
    if (in->rc == 0 && strcmp(schema, KERNEL_SCHEMA) != 0 &&
        strcmp(schema, KERNEL_SCHEMA_HARN) != 0)
        json_fail(in, "schemaVersion", "json.schema",
                  "schemaVersion must be \"%s\" or \"%s\"; this is another document or another "
                  "version",
                  KERNEL_SCHEMA, KERNEL_SCHEMA_HARN);
    if (in->rc == 0)
        part_decode(in, doc, part_of(schema), r);
    const char *why = in->rc == 0 ? kernel_check(in->a, r) : NULL;
    if (why)
        json_fail(in, NULL, "kernel.receipt", "the receipt contradicts itself: %s", why);
    return in->rc;
}

int kernel_receipt_decode(struct arena *a, const char *data, size_t len,
                          struct kernel_receipt **out, struct err *e)
{
    struct kernel_receipt *r = arena_alloc(a, sizeof *r);
    struct json_in in;
    cJSON *doc = NULL;
    int rc = json_parse(data, len, &doc, e);

    if (rc < 0)
        return rc;
    json_in_init(&in, a, e);
    rc = receipt_decode(&in, doc, r);
    cJSON_Delete(doc);
    *out = rc == 0 ? r : NULL;
    return rc;
}

/* ---- the schema */

static void part_schema(struct json_out *o, const struct kernel_part *part, const char *schema);

static void put_type(struct json_out *o, const char *type, bool or_null)
{
    if (!or_null) {
        json_put_str(o, "type", type);
        return;
    }
    json_begin_array(o, "type");
    json_put_str(o, NULL, type);
    json_put_str(o, NULL, "null");
    json_end_array(o);
}

static void word_schema(struct json_out *o, const struct kernel_words *words)
{
    json_begin_array(o, "enum");
    for (int i = 0; i < words->n; i++)
        json_put_str(o, NULL, words->name(i));
    json_end_array(o);
}

static void text_schema(struct json_out *o, const struct kernel_field *f)
{
    put_type(o, "string", f->or_null);
    if (f->kind == KERNEL_F_DIGEST) {
        json_put_str(o, "pattern", "^[0-9a-f]{64}$");
    } else {
        json_put_int(o, "minLength", 1);
        json_put_int(o, "maxLength", TEXT_MAX);
    }
}

static void nested_schema(struct json_out *o, const struct kernel_field *f, const char *schema)
{
    if (!f->or_null) {
        part_schema(o, f->part, schema);
        return;
    }
    json_begin_array(o, "anyOf");
    json_begin(o, NULL);
    part_schema(o, f->part, schema);
    json_end(o);
    json_begin(o, NULL);
    json_put_str(o, "type", "null");
    json_end(o);
    json_end_array(o);
}

static void field_schema(struct json_out *o, const struct kernel_field *f, const char *schema)
{
    json_begin(o, f->key);
    if (f->kind == KERNEL_F_SCHEMA)
        json_put_str(o, "const", schema);
    else if (f->kind == KERNEL_F_WORD)
        word_schema(o, f->words);
    else if (f->kind == KERNEL_F_PART)
        nested_schema(o, f, schema);
    else if (f->kind == KERNEL_F_TEXT || f->kind == KERNEL_F_DIGEST)
        text_schema(o, f);
    else
        put_type(o, f->kind == KERNEL_F_COUNT ? "integer" : "number", f->or_null);
    if (f->kind == KERNEL_F_COUNT) {
        json_put_int(o, "minimum", 1);
        json_put_int(o, "maximum", f->max);
    } else if (f->kind == KERNEL_F_MS || f->kind == KERNEL_F_POSITIVE) {
        json_put_int(o, f->kind == KERNEL_F_MS ? "minimum" : "exclusiveMinimum", 0);
    }
    json_end(o);
}

/* The members of an object's schema, into the one that is open. */
static void part_schema(struct json_out *o, const struct kernel_part *part, const char *schema)
{
    json_put_str(o, "type", "object");
    json_put_bool(o, "additionalProperties", false);
    json_begin_array(o, "required");
    for (size_t i = 0; i < part->n; i++)
        json_put_str(o, NULL, part->fields[i].key);
    json_end_array(o);
    json_begin(o, "properties");
    for (size_t i = 0; i < part->n; i++)
        field_schema(o, &part->fields[i], schema);
    json_end(o);
}

void kernel_schema_encode(struct json_out *o, bool harn)
{
    json_begin(o, NULL);
    json_put_str(o, "$schema", "https://json-schema.org/draft/2020-12/schema");
    json_put_str(o, "$id", harn ? KERNEL_SCHEMA_HARN : KERNEL_SCHEMA);
    json_put_str(o, "title",
                 harn ? "A receipt of Harn's portable kernel"
                      : "The receipt of one portable-kernel benchmark");
    part_schema(o, harn ? &kernel_part_harn : &kernel_part_ours,
                harn ? KERNEL_SCHEMA_HARN : KERNEL_SCHEMA);
    json_end(o);
}
