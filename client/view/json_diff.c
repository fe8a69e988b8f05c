#include "client/view/json_diff.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "proto/json/json.h"

static bool differ(const cJSON *a, const cJSON *b, struct buf *path);

/* Looks at one pair of children; the path keeps their place when they differ. */
static bool child_differs(const cJSON *a, const cJSON *b, struct buf *path, const char *key,
                          size_t index)
{
    size_t len = path->len;

    if (key)
        buf_printf(path, "%s%s", len ? "." : "", key);
    else
        buf_printf(path, "[%zu]", index);
    if (differ(a, b, path))
        return true;
    path->len = len;
    path->data[len] = '\0';
    return false;
}

static bool objects_differ(const cJSON *a, const cJSON *b, struct buf *path)
{
    const cJSON *m;

    cJSON_ArrayForEach (m, a)
        if (child_differs(m, cJSON_GetObjectItemCaseSensitive(b, m->string), path, m->string, 0))
            return true;
    cJSON_ArrayForEach (m, b)
        if (child_differs(cJSON_GetObjectItemCaseSensitive(a, m->string), m, path, m->string, 0))
            return true;
    return false;
}

static bool arrays_differ(const cJSON *a, const cJSON *b, struct buf *path)
{
    const cJSON *x = a->child, *y = b->child;

    for (size_t i = 0; x || y; i++, x = x ? x->next : NULL, y = y ? y->next : NULL)
        if (child_differs(x, y, path, NULL, i))
            return true;
    return false;
}

static bool differ(const cJSON *a, const cJSON *b, struct buf *path)
{
    if (!a || !b || a->type != b->type)
        return true;
    if (cJSON_IsObject(a))
        return objects_differ(a, b, path);
    if (cJSON_IsArray(a))
        return arrays_differ(a, b, path);
    if (cJSON_IsString(a))
        return strcmp(a->valuestring, b->valuestring) != 0;
    return cJSON_IsNumber(a) && memcmp(&a->valuedouble, &b->valuedouble, sizeof(double)) != 0;
}

const char *json_difference(struct arena *a, const char *one, size_t one_len, const char *other,
                            size_t other_len)
{
    CLEANUP(buf_deinit) struct buf path = {0};
    cJSON *x = NULL, *y = NULL;
    const char *where = "all of it";

    if (one && other && json_parse(one, one_len, &x, NULL) == 0 &&
        json_parse(other, other_len, &y, NULL) == 0)
        where = differ(x, y, &path) ? arena_strdup(a, path.len ? path.data : "the kind")
                                    : "the spelling";
    cJSON_Delete(x);
    cJSON_Delete(y);
    return where;
}
