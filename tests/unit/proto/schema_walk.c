#include "schema_walk.h"

#include "../unit.h"
#include "base/files.h"
#include "base/mem.h"
#include "proto/json/json.h"

static const char *const names[] = {"raw", "summary", "host"};

static const cJSON *get(const cJSON *node, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(node, key);
}

void schema_walk_init(struct schema_walk *w)
{
    *w = (struct schema_walk){0};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct buf text = {0};
        struct err e = {0};
        CLEANUP(mem_freep) char *path = mem_printf(PROTO_DIR "/schema/%s.json", names[i]);
        if (file_read(path, 1 << 20, &text, &e) ||
            json_parse(text.data, text.len, &w->schemas[i], &e))
            fail_msg("%s: %s", path, e.text);
        buf_deinit(&text);
    }
}

void schema_walk_deinit(struct schema_walk *w)
{
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        cJSON_Delete(w->schemas[i]);
    free(w->seen);
}

static bool was_seen(const struct schema_walk *w, const cJSON *property)
{
    for (size_t i = 0; i < w->n_seen; i++)
        if (w->seen[i] == property)
            return true;
    return false;
}

static void see(struct schema_walk *w, const cJSON *property)
{
    if (was_seen(w, property))
        return;
    MEM_GROW(w->seen, w->n_seen, w->cap_seen);
    w->seen[w->n_seen++] = property;
}

static size_t index_of(const char *name, size_t len)
{
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strlen(names[i]) == len && strncmp(names[i], name, len) == 0)
            return i;
    return ARRAY_LEN(names);
}

/* "#/$defs/row" of the same schema, or "aurabench.host.v1#/$defs/boot"; *in becomes the schema it
 * stands in. NULL for the documents that have tests of their own (job, policy). */
static const cJSON *resolve(const struct schema_walk *w, const char *ref, const cJSON **in)
{
    static const char prefix[] = "aurabench.", defs[] = "#/$defs/";
    if (strncmp(ref, prefix, strlen(prefix)) == 0) {
        const char *name = ref + strlen(prefix);
        size_t index = index_of(name, strcspn(name, "."));
        if (index == ARRAY_LEN(names))
            return NULL;
        *in = w->schemas[index];
        ref = strchr(name, '#');
        assert_non_null(ref);
    }
    assert_true(strncmp(ref, defs, strlen(defs)) == 0);
    const cJSON *found = get(get(*in, "$defs"), ref + strlen(defs));
    if (!found)
        fail_msg("%s leads nowhere", ref);
    return found;
}

static const char *type_of(const cJSON *value)
{
    if (cJSON_IsNumber(value))
        return "number";
    if (cJSON_IsString(value))
        return "string";
    if (cJSON_IsBool(value))
        return "boolean";
    if (cJSON_IsNull(value))
        return "null";
    return cJSON_IsArray(value) ? "array" : "object";
}

static bool is_type(const char *wanted, const cJSON *value)
{
    if (strcmp(wanted, "integer") == 0)
        return cJSON_IsNumber(value) && value->valuedouble == (double)(long long)value->valuedouble;
    return strcmp(wanted, type_of(value)) == 0;
}

static void check_type(const cJSON *schema, const cJSON *value, const char *path)
{
    const cJSON *type = get(schema, "type"), *one;
    bool fits = cJSON_IsString(type) && is_type(type->valuestring, value);
    if (cJSON_IsArray(type))
        cJSON_ArrayForEach (one, type)
            fits = fits || is_type(one->valuestring, value);
    if (type && !fits)
        fail_msg("%s: %s is not allowed", path, type_of(value));
}

static void check_words(const cJSON *schema, const cJSON *value, const char *path)
{
    const cJSON *words = get(schema, "enum"), *constant = get(schema, "const"), *one;
    bool fits = !words;
    if (words)
        cJSON_ArrayForEach (one, words)
            fits = fits || cJSON_Compare(one, value, true);
    if (!fits || (constant && !cJSON_Compare(constant, value, true)))
        fail_msg("%s: the word is not in the schema", path);
}

static void check_keywords(const cJSON *schema, const char *path)
{
    static const char *const known[] = {
        "$schema",   "$id",      "$defs",    "$ref",       "title",    "description",
        "type",      "enum",     "const",    "anyOf",      "required", "additionalProperties",
        "items",     "minItems", "maxItems", "properties", "minimum",  "maximum",
        "maxLength", "pattern"};
    const cJSON *m;
    cJSON_ArrayForEach (m, schema) {
        bool found = false;
        for (size_t i = 0; i < ARRAY_LEN(known); i++)
            found = found || strcmp(known[i], m->string) == 0;
        if (!found)
            fail_msg("%s: this walk does not know the keyword %s", path, m->string);
    }
}

static void visit(struct schema_walk *w, const cJSON *schema, const cJSON *in, const cJSON *value,
                  const char *path);

static void visit_object(struct schema_walk *w, const cJSON *schema, const cJSON *in,
                         const cJSON *value, const char *path)
{
    const cJSON *properties = get(schema, "properties"), *m;
    assert_true(cJSON_IsFalse(get(schema, "additionalProperties")));
    cJSON_ArrayForEach (m, value) {
        CLEANUP(mem_freep) char *inner = mem_printf("%s.%s", path, m->string);
        const cJSON *property = get(properties, m->string);
        if (!property)
            fail_msg("%s is written, but not in the schema", inner);
        see(w, property);
        visit(w, property, in, m, inner);
    }
    cJSON_ArrayForEach (m, get(schema, "required")) {
        if (!get(value, m->valuestring))
            fail_msg("%s.%s is required, but not written", path, m->valuestring);
    }
}

static void visit_array(struct schema_walk *w, const cJSON *schema, const cJSON *in,
                        const cJSON *value, const char *path)
{
    const cJSON *min = get(schema, "minItems"), *max = get(schema, "maxItems"), *m;
    int n = cJSON_GetArraySize(value);
    if ((min && n < min->valueint) || (max && n > max->valueint))
        fail_msg("%s: %d items", path, n);
    cJSON_ArrayForEach (m, value)
        visit(w, get(schema, "items"), in, m, path);
}

static const cJSON *alternative(const cJSON *any, const cJSON *value)
{
    const cJSON *m;
    cJSON_ArrayForEach (m, any) {
        const cJSON *type = get(m, "type");
        bool null = cJSON_IsString(type) && strcmp(type->valuestring, "null") == 0;
        if (null == (bool)cJSON_IsNull(value))
            return m;
    }
    return NULL;
}

static void visit(struct schema_walk *w, const cJSON *schema, const cJSON *in, const cJSON *value,
                  const char *path)
{
    const cJSON *ref = get(schema, "$ref"), *any = get(schema, "anyOf");
    assert_non_null(schema);
    check_keywords(schema, path);
    if (any || ref) {
        const cJSON *target = any ? alternative(any, value) : resolve(w, ref->valuestring, &in);
        if (any && !target)
            fail_msg("%s: no alternative fits", path);
        if (target)
            visit(w, target, in, value, path);
        return;
    }
    check_type(schema, value, path);
    check_words(schema, value, path);
    if (cJSON_IsObject(value))
        visit_object(w, schema, in, value, path);
    else if (cJSON_IsArray(value))
        visit_array(w, schema, in, value, path);
}

void schema_walk_check(struct schema_walk *w, const char *name, const char *json)
{
    const cJSON *schema = w->schemas[index_of(name, strlen(name))];
    struct err e = {0};
    cJSON *doc = NULL;
    if (json_parse(json, strlen(json), &doc, &e))
        fail_msg("%s: %s", name, e.text);
    visit(w, schema, schema, doc, name);
    cJSON_Delete(doc);
}

/* What stands under a reference to another document is that document's. */
static void expect_seen(const struct schema_walk *w, const cJSON *node, const char *path)
{
    const cJSON *properties = get(node, "properties"), *m;
    cJSON_ArrayForEach (m, properties) {
        if (!was_seen(w, m))
            fail_msg("%s.%s is in the schema, but was never written", path, m->string);
    }
    cJSON_ArrayForEach (m, node) {
        CLEANUP(mem_freep) char *inner = mem_printf("%s/%s", path, m->string ? m->string : "");
        if (cJSON_IsObject(m) || cJSON_IsArray(m))
            expect_seen(w, m, inner);
    }
}

void schema_walk_expect_all_seen(const struct schema_walk *w)
{
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        expect_seen(w, w->schemas[i], names[i]);
}
