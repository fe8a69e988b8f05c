/* A set of integers: open addressing, linear probing, at most half full. A zeroed struct is empty.
 */
#ifndef SET_H
#define SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct set {
    int64_t *elements;
    bool *used;
    size_t count, capacity; /* capacity: 0 or a power of two */
};

void set_insert(struct set *set, int64_t element);
bool set_contains(const struct set *set, int64_t element);
void set_free(struct set *set);

#endif
