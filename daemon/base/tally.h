/* How often each text was seen. Owns copies of the texts. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct tally_entry {
    char *text; /* NULL: an empty place */
    int64_t count;
};

struct tally {
    struct tally_entry *entries; /* {0} is an empty one */
    size_t n, cap;
    size_t bytes; /* of all texts */
};

void tally_deinit(struct tally *t);
/* The text has no NUL. */
void tally_add(struct tally *t, const char *text, size_t len, int64_t count);

enum tally_order {
    TALLY_BY_COUNT, /* those seen most often first, equal ones by their text */
    TALLY_BY_TEXT   /* ascending by bytes */
};
/* Puts the n entries in order, at the beginning; nothing may be added afterwards. */
void tally_sort(struct tally *t, enum tally_order order);
