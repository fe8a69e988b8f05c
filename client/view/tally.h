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
};

void tally_deinit(struct tally *t);
void tally_add(struct tally *t, const char *text, size_t len, int64_t count);
/* Puts the entries in order, those seen most often first, equal ones by their text; nothing may be
 * added afterwards. */
void tally_sort(struct tally *t);
