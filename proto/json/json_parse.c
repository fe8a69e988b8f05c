#include "proto/json/json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json_text.h"

/* Where the walk stands; spelled out only when a duplicate is found. */
struct place {
    const struct place *up;
    const char *key; /* NULL: an index */
    size_t index;
};

struct key_list {
    const char **v;
    size_t cap;
};

static size_t place_text(const struct place *at, char *out, size_t size)
{
    if (!at || !at->up)
        return 0;
    size_t used = place_text(at->up, out, size);
    if (used >= size)
        return used;
    int n = at->key ? snprintf(out + used, size - used, "%s%s", used ? "." : "", at->key)
                    : snprintf(out + used, size - used, "[%zu]", at->index);
    return used + (size_t)n;
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int check_object(struct key_list *keys, const cJSON *obj, const struct place *at,
                        struct err *e)
{
    size_t n = 0;
    for (const cJSON *m = obj->child; m; m = m->next) {
        MEM_GROW(keys->v, n, keys->cap);
        keys->v[n++] = m->string;
    }
    /* Sorting keeps a hostile object of 100,000 keys cheap. */
    if (n > 1)
        qsort(keys->v, n, sizeof *keys->v, compare_keys);
    for (size_t i = 1; i < n; i++) {
        if (strcmp(keys->v[i - 1], keys->v[i]) != 0)
            continue;
        char field[128] = "";
        struct place dup = {at, keys->v[i], 0};
        place_text(&dup, field, sizeof field);
        json_clean(field);
        return err_set(e, -EINVAL, "json.duplicate_key", field,
                       "%s appears twice in one object; keep one of them", field);
    }
    return 0;
}

static int check_duplicates(struct key_list *keys, const cJSON *node, const struct place *at,
                            struct err *e)
{
    size_t index = 0;
    if (cJSON_IsObject(node) && check_object(keys, node, at, e))
        return -EINVAL;
    for (const cJSON *m = node->child; m; m = m->next) {
        struct place place = {at, m->string, index++};
        if (m->child && check_duplicates(keys, m, &place, e))
            return -EINVAL;
    }
    return 0;
}

int json_parse_max(const char *data, size_t len, size_t string_max, cJSON **out, struct err *e)
{
    *out = NULL;
    if (json_check(data, len, string_max, e))
        return -EINVAL;
    cJSON *doc = cJSON_ParseWithLength(data, len);
    if (!doc)
        return err_set(e, -EINVAL, "json.bad", "", "the JSON text could not be read");
    struct key_list keys = {0};
    struct place root = {0};
    int rc = check_duplicates(&keys, doc, &root, e);
    free(keys.v);
    if (rc) {
        cJSON_Delete(doc);
        return rc;
    }
    *out = doc;
    return 0;
}

int json_parse(const char *data, size_t len, cJSON **out, struct err *e)
{
    return json_parse_max(data, len, JSON_STRING_MAX, out, e);
}
