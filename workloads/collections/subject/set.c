#include "set.h"

#include "memory.h"

#include <stdlib.h>

enum { FIRST_CAPACITY = 8 };

/* Where the element is, or the free place that it would get. */
static size_t find(const struct set *set, int64_t element)
{
    uint64_t hash = (uint64_t)element * UINT64_C(0x9e3779b97f4a7c15);
    size_t mask = set->capacity - 1;
    size_t at = (size_t)(hash >> 32) & mask;

    while (set->used[at] && set->elements[at] != element)
        at = (at + 1) & mask;
    return at;
}

static void place(struct set *set, int64_t element)
{
    size_t at = find(set, element);

    set->count += set->used[at] ? 0 : 1;
    set->elements[at] = element;
    set->used[at] = true;
}

static void grow(struct set *set)
{
    struct set old = *set;

    set->capacity = old.capacity > 0 ? 2 * old.capacity : FIRST_CAPACITY;
    set->elements = allocate(set->capacity, sizeof *set->elements);
    set->used = allocate(set->capacity, sizeof *set->used);
    set->count = 0;
    for (size_t i = 0; i < old.capacity; i++)
        if (old.used[i])
            place(set, old.elements[i]);
    set_free(&old);
}

void set_insert(struct set *set, int64_t element)
{
    if (2 * set->count >= set->capacity)
        grow(set);
    place(set, element);
}

bool set_contains(const struct set *set, int64_t element)
{
    return set->capacity > 0 && set->used[find(set, element)];
}

void set_free(struct set *set)
{
    free(set->elements);
    free(set->used);
    *set = (struct set){0};
}
