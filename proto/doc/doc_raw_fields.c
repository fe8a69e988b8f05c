#include "proto/doc/doc_raw_fields.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

_Static_assert(sizeof(enum tri) == sizeof(int), "DOC_ENUM members are read and written as int");

static int read_int(const void *at)
{
    int v;
    memcpy(&v, at, sizeof v);
    return v;
}

static int64_t read_i64(const void *at)
{
    int64_t v;
    memcpy(&v, at, sizeof v);
    return v;
}

static void encode_field(struct json_out *o, const struct doc_field *f, const void *at)
{
    switch (f->kind) {
    case DOC_STR:
    case DOC_STR_OR_NULL:
        json_put_str(o, f->key, *(const char *const *)at);
        return;
    case DOC_INT:
        json_put_int(o, f->key, read_int(at));
        return;
    case DOC_INT_OR_NULL:
        json_put_int_or_null(o, f->key, read_int(at));
        return;
    case DOC_I64:
        json_put_int(o, f->key, read_i64(at));
        return;
    case DOC_I64_OR_NULL:
        json_put_int_or_null(o, f->key, read_i64(at));
        return;
    case DOC_SIZE:
        json_put_int(o, f->key, (int64_t) * (const size_t *)at);
        return;
    case DOC_NUM:
        json_put_num(o, f->key, *(const double *)at);
        return;
    case DOC_BOOL:
        json_put_bool(o, f->key, *(const bool *)at);
        return;
    case DOC_ENUM:
        json_put_str(o, f->key, f->words->name(read_int(at)));
        return;
    case DOC_ARGS:
        json_put_args(o, f->key, at);
        return;
    }
}

void doc_fields_encode(struct json_out *o, const struct doc_table *t, const void *rec)
{
    for (size_t i = 0; i < t->n; i++)
        encode_field(o, &t->fields[i], (const char *)rec + t->fields[i].offset);
}

/* A key that may be null must still be there: an absent member is a damaged report. */
static void require_key(struct json_in *in, const cJSON *obj, const struct doc_field *f)
{
    if (in->rc == 0 && !cJSON_GetObjectItemCaseSensitive(obj, f->key))
        json_fail(in, f->key, "json.missing", "%s is missing; the report is not complete.", f->key);
}

static void decode_number(struct json_in *in, const cJSON *obj, const struct doc_field *f, void *at)
{
    switch (f->kind) {
    case DOC_INT:
        *(int *)at = (int)json_int(in, obj, f->key, -f->max, f->max);
        return;
    case DOC_INT_OR_NULL:
        require_key(in, obj, f);
        *(int *)at = (int)json_opt_int(in, obj, f->key, 0, f->max, -1);
        return;
    case DOC_I64:
        *(int64_t *)at = json_int(in, obj, f->key, -f->max, f->max);
        return;
    case DOC_I64_OR_NULL:
        require_key(in, obj, f);
        *(int64_t *)at = json_opt_int(in, obj, f->key, 0, f->max, -1);
        return;
    case DOC_SIZE:
        *(size_t *)at = (size_t)json_int(in, obj, f->key, 0, f->max);
        return;
    default: /* DOC_NUM */
        require_key(in, obj, f);
        *(double *)at = cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(obj, f->key))
                            ? (double)NAN
                            : json_num(in, obj, f->key, -(double)f->max, (double)f->max);
        return;
    }
}

static void decode_field(struct json_in *in, const cJSON *obj, const struct doc_field *f, void *at)
{
    switch (f->kind) {
    case DOC_STR:
        *(const char **)at = json_str(in, obj, f->key, (size_t)f->max);
        return;
    case DOC_STR_OR_NULL:
        require_key(in, obj, f);
        *(const char **)at = json_opt_str(in, obj, f->key, (size_t)f->max, NULL);
        return;
    case DOC_BOOL:
        *(bool *)at = json_bool(in, obj, f->key);
        return;
    case DOC_ENUM: {
        int v = json_enum(in, obj, f->key, f->words->parse);
        if (in->rc == 0)
            memcpy(at, &v, sizeof v);
        return;
    }
    case DOC_ARGS:
        require_key(in, obj, f);
        *(struct args *)at = json_opt_args(in, obj, f->key, (size_t)f->max);
        return;
    default:
        decode_number(in, obj, f, at);
    }
}

void doc_fields_decode(struct json_in *in, const cJSON *obj, const struct doc_table *t,
                       const char *const *more, void *rec)
{
    const char *keys[DOC_FIELDS_MAX + 1];
    size_t n = 0;
    for (size_t i = 0; i < t->n && n < DOC_FIELDS_MAX; i++)
        keys[n++] = t->fields[i].key;
    for (; more && *more && n < DOC_FIELDS_MAX; more++)
        keys[n++] = *more;
    keys[n] = NULL;
    json_closed(in, obj, keys);
    for (size_t i = 0; i < t->n && in->rc == 0; i++)
        decode_field(in, obj, &t->fields[i], (char *)rec + t->fields[i].offset);
}

void doc_records_encode(struct json_out *o, const char *key, const struct doc_table *t,
                        const void *records, size_t n)
{
    json_begin_array(o, key);
    for (size_t i = 0; i < n; i++) {
        json_begin(o, NULL);
        doc_fields_encode(o, t, (const char *)records + i * t->size);
        json_end(o);
    }
    json_end_array(o);
}

void *doc_records_decode(struct json_in *in, const cJSON *obj, const char *key,
                         const struct doc_table *t, size_t max, size_t *n)
{
    *n = 0;
    size_t count = 0;
    const cJSON *array = json_arr(in, obj, key, max, &count);
    if (in->rc)
        return NULL;
    char *records = arena_array(in->a, count, t->size);
    size_t mark = json_enter(in, key);
    size_t i = 0;
    const cJSON *item;
    cJSON_ArrayForEach (item, array) {
        size_t inner = json_enter_index(in, i);
        doc_fields_decode(in, item, t, NULL, records + i * t->size);
        json_leave(in, inner);
        i++;
    }
    json_leave(in, mark);
    *n = in->rc ? 0 : count;
    return records;
}
