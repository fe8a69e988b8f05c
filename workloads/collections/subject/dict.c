#include "dict.h"

#include "memory.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 8 };

/* FNV-1a, with its bits mixed once more: the low ones alone choose the slot. */
static uint64_t hash_of(const char *key, size_t length)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)key[i]) * UINT64_C(0x100000001b3);
    return hash ^ hash >> 29;
}

static struct dict_slot *find(const struct dict *dict, const char *key, size_t length,
                              uint64_t hash)
{
    size_t mask = dict->capacity - 1;
    size_t at = (size_t)hash & mask;

    for (; dict->slots[at].key != NULL; at = (at + 1) & mask) {
        const struct dict_slot *slot = &dict->slots[at];

        if (slot->hash == hash && slot->length == length && memcmp(slot->key, key, length) == 0)
            break;
    }
    return &dict->slots[at];
}

static void grow(struct dict *dict)
{
    struct dict old = *dict;

    dict->capacity = old.capacity > 0 ? 2 * old.capacity : FIRST_CAPACITY;
    dict->slots = allocate(dict->capacity, sizeof *dict->slots);
    for (size_t i = 0; i < old.capacity; i++)
        if (old.slots[i].key != NULL)
            *find(dict, old.slots[i].key, old.slots[i].length, old.slots[i].hash) = old.slots[i];
    free(old.slots);
}

static struct value *put(struct dict *dict, const char *key, size_t length)
{
    uint64_t hash = hash_of(key, length);
    struct dict_slot *slot;

    if (2 * dict->used >= dict->capacity)
        grow(dict);
    slot = find(dict, key, length, hash);
    if (slot->key == NULL) {
        slot->key = copy_text(key, length);
        slot->length = length;
        slot->hash = hash;
        dict->used++;
    } else if (slot->value.kind == VALUE_TEXT) {
        free(slot->value.text);
    }
    return &slot->value;
}

void dict_put_int(struct dict *dict, const char *key, size_t length, int64_t number)
{
    *put(dict, key, length) = (struct value){.kind = VALUE_INT, .number = number};
}

void dict_put_text(struct dict *dict, const char *key, size_t length, const char *text)
{
    char *copy = copy_text(text, strlen(text));

    *put(dict, key, length) = (struct value){.kind = VALUE_TEXT, .text = copy};
}

const struct value *dict_get(const struct dict *dict, const char *key, size_t length)
{
    const struct dict_slot *slot;

    if (dict->capacity == 0)
        return NULL;
    slot = find(dict, key, length, hash_of(key, length));
    return slot->key != NULL ? &slot->value : NULL;
}

void dict_free(struct dict *dict)
{
    for (size_t i = 0; i < dict->capacity; i++) {
        if (dict->slots[i].key != NULL && dict->slots[i].value.kind == VALUE_TEXT)
            free(dict->slots[i].value.text);
        free(dict->slots[i].key);
    }
    free(dict->slots);
    *dict = (struct dict){0};
}
