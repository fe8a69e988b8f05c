#include "base/tally.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void tally_deinit(struct tally *t)
{
    for (size_t i = 0; i < t->cap; i++)
        free(t->entries[i].text);
    free(t->entries);
    *t = (struct tally){0};
}

/* FNV-1a. */
static uint64_t hash(const char *text, size_t len)
{
    uint64_t h = 0xcbf29ce484222325ULL;

    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)text[i]) * 0x100000001b3ULL;
    return h;
}

/* Where the text is, or would be; cap is a power of two and never full. */
static struct tally_entry *place(struct tally_entry *entries, size_t cap, const char *text,
                                 size_t len)
{
    size_t i = (size_t)hash(text, len) & (cap - 1);

    while (entries[i].text &&
           (strncmp(entries[i].text, text, len) != 0 || entries[i].text[len] != '\0'))
        i = (i + 1) & (cap - 1);
    return &entries[i];
}

static void grow(struct tally *t)
{
    size_t cap = t->cap ? t->cap * 2 : 64;
    struct tally_entry *entries = mem_alloc(cap * sizeof *entries);

    for (size_t i = 0; i < t->cap; i++)
        if (t->entries[i].text)
            *place(entries, cap, t->entries[i].text, strlen(t->entries[i].text)) = t->entries[i];
    free(t->entries);
    t->entries = entries;
    t->cap = cap;
}

void tally_add(struct tally *t, const char *text, size_t len, int64_t count)
{
    if (t->n * 2 >= t->cap)
        grow(t);
    struct tally_entry *entry = place(t->entries, t->cap, text, len);
    if (!entry->text) {
        entry->text = mem_alloc(len + 1);
        memcpy(entry->text, text, len);
        t->n++;
        t->bytes += len;
    }
    entry->count += count;
}

static int by_text(const void *a, const void *b)
{
    const struct tally_entry *x = a, *y = b;

    return strcmp(x->text, y->text);
}

static int by_count(const void *a, const void *b)
{
    const struct tally_entry *x = a, *y = b;

    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return by_text(a, b);
}

void tally_sort(struct tally *t, enum tally_order order)
{
    size_t n = 0;

    for (size_t i = 0; i < t->cap; i++) {
        struct tally_entry entry = t->entries[i];
        t->entries[i] = (struct tally_entry){0};
        if (entry.text)
            t->entries[n++] = entry;
    }
    if (n > 0)
        qsort(t->entries, n, sizeof *t->entries, order == TALLY_BY_TEXT ? by_text : by_count);
}
