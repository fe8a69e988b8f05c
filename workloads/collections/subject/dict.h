/* A hash table from strings to values: open addressing, linear probing, at most half full. Keys and
 * texts are copied. A zeroed struct is an empty dict. */
#ifndef DICT_H
#define DICT_H

#include <stddef.h>
#include <stdint.h>

enum value_kind { VALUE_INT = 1, VALUE_TEXT };

struct value {
    enum value_kind kind;
    union {
        int64_t number;
        char *text;
    };
};

struct dict_slot {
    char *key; /* NULL: free */
    size_t length;
    uint64_t hash;
    struct value value;
};

struct dict {
    struct dict_slot *slots;
    size_t used, capacity; /* capacity: 0 or a power of two */
};

/* Both replace what the key had. */
void dict_put_int(struct dict *dict, const char *key, size_t length, int64_t number);
void dict_put_text(struct dict *dict, const char *key, size_t length, const char *text);

/* NULL where there is none; valid until the next put. */
const struct value *dict_get(const struct dict *dict, const char *key, size_t length);

void dict_free(struct dict *dict);

#endif
