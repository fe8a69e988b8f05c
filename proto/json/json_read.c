#include "proto/json/json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/json/json_text.h"

void json_in_init(struct json_in *in, struct arena *a, struct err *e)
{
    *in = (struct json_in){.a = a, .e = e};
}

/* Appends to the path, as much as fits. */
static void path_add(char *path, size_t size, const char *key)
{
    size_t used = strlen(path);
    snprintf(path + used, size - used, "%s%s", used ? "." : "", key);
    json_clean(path + used);
}

static void field_text(const struct json_in *in, const char *key, char out[sizeof in->path])
{
    memcpy(out, in->path, sizeof in->path);
    if (key)
        path_add(out, sizeof in->path, key);
}

int json_fail(struct json_in *in, const char *key, const char *code, const char *fmt, ...)
{
    char field[sizeof in->path];
    va_list ap;
    if (in->rc)
        return in->rc;
    field_text(in, key, field);
    in->rc = -EINVAL;
    va_start(ap, fmt);
    err_setv(in->e, -EINVAL, code, field, fmt, ap);
    va_end(ap);
    return in->rc;
}

/* The sentence begins with the member's path: "lanes.c.cpus must be ...". */
static void fail(struct json_in *in, const char *key, const char *code, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
static void fail(struct json_in *in, const char *key, const char *code, const char *fmt, ...)
{
    char field[sizeof in->path];
    struct buf text = {0};
    va_list ap;
    field_text(in, key, field);
    va_start(ap, fmt);
    buf_vprintf(&text, fmt, ap);
    va_end(ap);
    json_fail(in, key, code, "%s %s", *field ? field : "the document", buf_str(&text));
    buf_deinit(&text);
}

static const char *kind_name(const cJSON *item)
{
    if (cJSON_IsObject(item))
        return "an object";
    if (cJSON_IsArray(item))
        return "an array";
    if (cJSON_IsString(item))
        return "a string";
    if (cJSON_IsNumber(item))
        return "a number";
    if (cJSON_IsBool(item))
        return "true or false";
    return cJSON_IsNull(item) ? "null" : "nothing";
}

static void fail_type(struct json_in *in, const char *key, const cJSON *item, const char *wanted)
{
    fail(in, key, "json.type", "must be %s, not %s", wanted, kind_name(item));
}

/* The member or NULL; also NULL, failing, when obj is no object. */
static const cJSON *find(struct json_in *in, const cJSON *obj, const char *key)
{
    if (in->rc)
        return NULL;
    if (!cJSON_IsObject(obj)) {
        fail_type(in, NULL, obj, "an object");
        return NULL;
    }
    return cJSON_GetObjectItemCaseSensitive(obj, key);
}

static const cJSON *need(struct json_in *in, const cJSON *obj, const char *key)
{
    const cJSON *item = find(in, obj, key);
    if (!item)
        fail(in, key, "json.missing", "is missing; add it");
    return item;
}

static const cJSON *find_not_null(struct json_in *in, const cJSON *obj, const char *key)
{
    const cJSON *item = find(in, obj, key);
    return cJSON_IsNull(item) ? NULL : item;
}

static bool listed(const char *const *keys, const char *key)
{
    for (; *keys; keys++)
        if (!strcmp(*keys, key))
            return true;
    return false;
}

static void fail_unknown(struct json_in *in, const char *key, const char *const *keys)
{
    struct buf known = {0};
    for (; *keys; keys++)
        buf_printf(&known, "%s%s", known.len ? ", " : "", *keys);
    fail(in, key, "json.unknown_key", "is not known here; known are: %s", buf_str(&known));
    buf_deinit(&known);
}

void json_closed(struct json_in *in, const cJSON *obj, const char *const *keys)
{
    const cJSON *m;
    if (in->rc)
        return;
    if (!cJSON_IsObject(obj)) {
        fail_type(in, NULL, obj, "an object");
        return;
    }
    cJSON_ArrayForEach (m, obj) {
        if (!listed(keys, m->string)) {
            fail_unknown(in, m->string, keys);
            return;
        }
    }
}

static const char *take_str(struct json_in *in, const char *key, const cJSON *item, size_t max_len)
{
    if (!cJSON_IsString(item)) {
        fail_type(in, key, item, "a string");
        return NULL;
    }
    if (strlen(item->valuestring) > max_len) {
        fail(in, key, "json.too_long", "is longer than %zu bytes", max_len);
        return NULL;
    }
    return arena_strdup(in->a, item->valuestring);
}

const char *json_str(struct json_in *in, const cJSON *obj, const char *key, size_t max_len)
{
    const cJSON *item = need(in, obj, key);
    return item ? take_str(in, key, item, max_len) : NULL;
}

const char *json_opt_str(struct json_in *in, const cJSON *obj, const char *key, size_t max_len,
                         const char *fallback)
{
    const cJSON *item = find_not_null(in, obj, key);
    const char *s = item ? take_str(in, key, item, max_len) : fallback;
    return in->rc ? fallback : s;
}

/* True for the one form in which json_put_int writes what is beyond 2^53 - 1. */
static bool big_int(const char *text, int64_t *out)
{
    char again[24];
    errno = 0;
    *out = strtoll(text, NULL, 10);
    snprintf(again, sizeof again, "%" PRId64, *out);
    return !errno && !strcmp(text, again) && (*out > JSON_INT_MAX || *out < -JSON_INT_MAX);
}

static int64_t take_int(struct json_in *in, const char *key, const cJSON *item, int64_t min,
                        int64_t max)
{
    int64_t v = 0;
    bool whole = cJSON_IsString(item) && big_int(item->valuestring, &v);
    if (cJSON_IsNumber(item) && fabs(item->valuedouble) <= (double)JSON_INT_MAX) {
        v = (int64_t)item->valuedouble;
        whole = (double)v == item->valuedouble;
    }
    if (!whole) {
        if (cJSON_IsNumber(item))
            fail(in, key, "json.type", "must be a whole number within 2^53 - 1");
        else
            fail_type(in, key, item, "a whole number");
        return 0;
    }
    if (v < min || v > max) {
        fail(in, key, "json.range", "must be from %" PRId64 " to %" PRId64 ", not %" PRId64, min,
             max, v);
        return 0;
    }
    return v;
}

int64_t json_int(struct json_in *in, const cJSON *obj, const char *key, int64_t min, int64_t max)
{
    const cJSON *item = need(in, obj, key);
    return item ? take_int(in, key, item, min, max) : 0;
}

int64_t json_opt_int(struct json_in *in, const cJSON *obj, const char *key, int64_t min,
                     int64_t max, int64_t fallback)
{
    const cJSON *item = find_not_null(in, obj, key);
    int64_t v = item ? take_int(in, key, item, min, max) : fallback;
    return in->rc ? fallback : v;
}

static double take_num(struct json_in *in, const char *key, const cJSON *item, double min,
                       double max)
{
    if (!cJSON_IsNumber(item)) {
        fail_type(in, key, item, "a number");
        return 0;
    }
    if (item->valuedouble < min || item->valuedouble > max) {
        fail(in, key, "json.range", "must be from %g to %g, not %g", min, max, item->valuedouble);
        return 0;
    }
    return item->valuedouble;
}

double json_num(struct json_in *in, const cJSON *obj, const char *key, double min, double max)
{
    const cJSON *item = need(in, obj, key);
    return item ? take_num(in, key, item, min, max) : 0;
}

double json_opt_num(struct json_in *in, const cJSON *obj, const char *key, double min, double max,
                    double fallback)
{
    const cJSON *item = find_not_null(in, obj, key);
    double v = item ? take_num(in, key, item, min, max) : fallback;
    return in->rc ? fallback : v;
}

static bool take_bool(struct json_in *in, const char *key, const cJSON *item)
{
    if (!cJSON_IsBool(item)) {
        fail_type(in, key, item, "true or false");
        return false;
    }
    return cJSON_IsTrue(item);
}

bool json_bool(struct json_in *in, const cJSON *obj, const char *key)
{
    const cJSON *item = need(in, obj, key);
    return item ? take_bool(in, key, item) : false;
}

bool json_opt_bool(struct json_in *in, const cJSON *obj, const char *key, bool fallback)
{
    const cJSON *item = find(in, obj, key);
    bool v = item ? take_bool(in, key, item) : fallback;
    return in->rc ? fallback : v;
}

static int take_enum(struct json_in *in, const char *key, const cJSON *item,
                     int (*parse)(const char *), const char *allowed)
{
    if (!cJSON_IsString(item)) {
        fail_type(in, key, item, "a string");
        return 0;
    }
    int v = parse(item->valuestring);
    if (v >= 0)
        return v;
    if (allowed)
        fail(in, key, "json.value", "must be one of: %s", allowed);
    else
        fail(in, key, "json.value", "is not one of the words that are allowed here");
    return 0;
}

int json_enum_of(struct json_in *in, const cJSON *obj, const char *key, int (*parse)(const char *),
                 const char *allowed)
{
    const cJSON *item = need(in, obj, key);
    return item ? take_enum(in, key, item, parse, allowed) : 0;
}

int json_enum(struct json_in *in, const cJSON *obj, const char *key, int (*parse)(const char *))
{
    return json_enum_of(in, obj, key, parse, NULL);
}

int json_opt_enum_of(struct json_in *in, const cJSON *obj, const char *key,
                     int (*parse)(const char *), const char *allowed, int fallback)
{
    const cJSON *item = find(in, obj, key);
    int v = item ? take_enum(in, key, item, parse, allowed) : fallback;
    return in->rc ? fallback : v;
}

static const cJSON *take_obj(struct json_in *in, const char *key, const cJSON *item)
{
    if (cJSON_IsObject(item))
        return item;
    fail_type(in, key, item, "an object");
    return NULL;
}

const cJSON *json_obj(struct json_in *in, const cJSON *obj, const char *key)
{
    const cJSON *item = need(in, obj, key);
    return item ? take_obj(in, key, item) : NULL;
}

const cJSON *json_opt_obj(struct json_in *in, const cJSON *obj, const char *key)
{
    const cJSON *item = find_not_null(in, obj, key);
    return item ? take_obj(in, key, item) : NULL;
}

static const cJSON *take_arr(struct json_in *in, const char *key, const cJSON *item, size_t max,
                             size_t *n)
{
    size_t count = 0;
    if (!cJSON_IsArray(item)) {
        fail_type(in, key, item, "an array");
        return NULL;
    }
    for (const cJSON *m = item->child; m; m = m->next)
        count++;
    if (count > max) {
        fail(in, key, "json.too_long", "has %zu items; %zu are allowed", count, max);
        return NULL;
    }
    *n = count;
    return item;
}

const cJSON *json_arr(struct json_in *in, const cJSON *obj, const char *key, size_t max, size_t *n)
{
    *n = 0;
    const cJSON *item = need(in, obj, key);
    return item ? take_arr(in, key, item, max, n) : NULL;
}

const cJSON *json_opt_arr(struct json_in *in, const cJSON *obj, const char *key, size_t max,
                          size_t *n)
{
    *n = 0;
    const cJSON *item = find(in, obj, key);
    return item ? take_arr(in, key, item, max, n) : NULL;
}

struct args json_take_args(struct json_in *in, const cJSON *arr)
{
    size_t n = 0, i = 0;
    const cJSON *m;
    for (m = cJSON_IsArray(arr) ? arr->child : NULL; m; m = m->next)
        n++;
    struct args args = {arena_array(in->a, n + 1, sizeof(char *)), 0};
    if (!in->rc && !cJSON_IsArray(arr))
        fail_type(in, NULL, arr, "an array of strings");
    for (m = n ? arr->child : NULL; m && !in->rc; m = m->next, i++) {
        size_t mark = json_enter_index(in, i);
        args.v[i] = take_str(in, NULL, m, JSON_STRING_MAX);
        json_leave(in, mark);
    }
    args.n = in->rc ? 0 : n;
    return args;
}

struct args json_opt_args(struct json_in *in, const cJSON *obj, const char *key, size_t max)
{
    size_t n;
    const cJSON *arr = json_opt_arr(in, obj, key, max, &n);
    if (!arr)
        return (struct args){arena_array(in->a, 1, sizeof(char *)), 0};
    size_t mark = json_enter(in, key);
    struct args args = json_take_args(in, arr);
    json_leave(in, mark);
    return args;
}

size_t json_enter(struct json_in *in, const char *key)
{
    size_t mark = strlen(in->path);
    path_add(in->path, sizeof in->path, key);
    return mark;
}

size_t json_enter_index(struct json_in *in, size_t index)
{
    size_t mark = strlen(in->path);
    snprintf(in->path + mark, sizeof in->path - mark, "[%zu]", index);
    return mark;
}

void json_leave(struct json_in *in, size_t mark)
{
    in->path[mark] = '\0';
}
