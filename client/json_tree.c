/* The functions of cJSON that the client uses, in place of the library: Debian has it as a shared
 * one only, and loading it is a twentieth of a submit (as digest_md.c is in place of libcrypto).
 *
 * Invariant: it is given what json_check has accepted, and nothing else (json_parse is the only
 * caller of cJSON_ParseWithLength), so it checks nothing again; the depth is bounded there, too.
 * tests/unit/client/test_json_tree.c and the fuzz target json hold it against the library.
 */
#include <cjson/cJSON.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json_text.h"

/* ---- reading */

struct place {
    const char *p, *end;
};

static cJSON *read_value(struct place *at);

static void skip_space(struct place *at)
{
    while (at->p < at->end && strchr(" \n\r\t", *at->p))
        at->p++;
}

static char *read_string(struct place *at)
{
    struct buf text = {0};

    at->p = json_unquote(at->p, &text);
    return buf_take(&text);
}

/* As cJSON does, whole numbers beyond an int stop at its ends. */
static int nearest_int(double v)
{
    return v >= INT_MAX ? INT_MAX : v <= (double)INT_MIN ? INT_MIN : (int)v;
}

static void read_number(struct place *at, cJSON *item)
{
    char text[JSON_NUMBER_MAX + 1];
    size_t n = 0;

    while (at->p < at->end && n < JSON_NUMBER_MAX && *at->p && strchr("0123456789+-.eE", *at->p))
        text[n++] = *at->p++;
    text[n] = '\0';
    item->type = cJSON_Number;
    item->valuedouble = strtod(text, NULL);
    item->valueint = nearest_int(item->valuedouble);
}

static void read_members(struct place *at, cJSON *item, char close)
{
    at->p++;
    skip_space(at);
    while (*at->p != close) {
        char *key = NULL;
        if (close == '}') {
            key = read_string(at);
            skip_space(at);
            at->p++; /* the colon */
        }
        cJSON *member = read_value(at);
        member->string = key;
        (void)cJSON_AddItemToArray(item, member);
        skip_space(at);
        at->p += *at->p == ',';
        skip_space(at);
    }
    at->p++;
}

static void read_word(struct place *at, cJSON *item)
{
    item->type = *at->p == 't' ? cJSON_True : *at->p == 'f' ? cJSON_False : cJSON_NULL;
    item->valueint = item->type == cJSON_True;
    at->p += *at->p == 'f' ? 5 : 4;
}

static cJSON *read_value(struct place *at)
{
    cJSON *item = mem_alloc(sizeof *item);

    skip_space(at);
    switch (*at->p) {
    case '{':
        item->type = cJSON_Object;
        read_members(at, item, '}');
        return item;
    case '[':
        item->type = cJSON_Array;
        read_members(at, item, ']');
        return item;
    case '"':
        item->type = cJSON_String;
        item->valuestring = read_string(at);
        return item;
    case 't':
    case 'f':
    case 'n':
        read_word(at, item);
        return item;
    default:
        read_number(at, item);
        return item;
    }
}

cJSON *cJSON_ParseWithLength(const char *text, size_t len)
{
    struct place at = {text, text + len};

    return read_value(&at);
}

void cJSON_Delete(cJSON *item)
{
    while (item) {
        cJSON *next = item->next;
        cJSON_Delete(item->child);
        free(item->valuestring);
        free(item->string);
        free(item);
        item = next;
    }
}

/* ---- looking */

static cJSON_bool is(const cJSON *item, int types)
{
    return item && (item->type & types);
}

cJSON_bool cJSON_IsArray(const cJSON *item)
{
    return is(item, cJSON_Array);
}

cJSON_bool cJSON_IsBool(const cJSON *item)
{
    return is(item, cJSON_True | cJSON_False);
}

cJSON_bool cJSON_IsNull(const cJSON *item)
{
    return is(item, cJSON_NULL);
}

cJSON_bool cJSON_IsNumber(const cJSON *item)
{
    return is(item, cJSON_Number);
}

cJSON_bool cJSON_IsObject(const cJSON *item)
{
    return is(item, cJSON_Object);
}

cJSON_bool cJSON_IsString(const cJSON *item)
{
    return is(item, cJSON_String);
}

cJSON_bool cJSON_IsTrue(const cJSON *item)
{
    return is(item, cJSON_True);
}

int cJSON_GetArraySize(const cJSON *array)
{
    int n = 0;

    for (const cJSON *item = array ? array->child : NULL; item; item = item->next)
        n++;
    return n;
}

cJSON *cJSON_GetArrayItem(const cJSON *array, int index)
{
    cJSON *item = array && index >= 0 ? array->child : NULL;

    while (item && index-- > 0)
        item = item->next;
    return item;
}

cJSON *cJSON_GetObjectItemCaseSensitive(const cJSON *object, const char *key)
{
    cJSON *item = object && key ? object->child : NULL;

    while (item && (!item->string || strcmp(item->string, key) != 0))
        item = item->next;
    return item;
}

/* ---- moving: the first of a list knows the last as its prev */

cJSON_bool cJSON_AddItemToArray(cJSON *array, cJSON *item)
{
    cJSON *first = array->child;

    if (first) {
        item->prev = first->prev;
        first->prev->next = item;
        first->prev = item;
    } else {
        item->prev = item;
        array->child = item;
    }
    item->next = NULL;
    return 1;
}

cJSON *cJSON_DetachItemViaPointer(cJSON *parent, cJSON *item)
{
    if (item != parent->child)
        item->prev->next = item->next;
    if (item->next)
        item->next->prev = item->prev;
    if (item == parent->child)
        parent->child = item->next;
    else if (!item->next)
        parent->child->prev = item->prev;
    item->prev = item->next = NULL;
    return item;
}

cJSON_bool cJSON_ReplaceItemInObjectCaseSensitive(cJSON *object, const char *key, cJSON *item)
{
    cJSON *old = cJSON_GetObjectItemCaseSensitive(object, key);

    if (!old)
        return 0;
    free(item->string);
    item->string = mem_strdup(key);
    bool is_first = old == object->child, is_last = !old->next;
    item->next = old->next;
    item->prev = is_first && is_last ? item : old->prev;
    if (is_first)
        object->child = item;
    else
        item->prev->next = item;
    if (is_last)
        object->child->prev = item;
    else
        item->next->prev = item;
    old->next = NULL; /* what is deleted takes those behind it along */
    cJSON_Delete(old);
    return 1;
}
