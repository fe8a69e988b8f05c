#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

#define BLOCK_BYTES 16384
#define ALIGN 16

struct arena_block {
    struct arena_block *next;
    size_t used, size;
    _Alignas(ALIGN) char data[];
};

void arena_deinit(struct arena *a)
{
    while (a->blocks) {
        struct arena_block *b = a->blocks;
        a->blocks = b->next;
        free(b);
    }
}

struct arena_mark arena_mark(const struct arena *a)
{
    struct arena_block *b = a->blocks;

    return (struct arena_mark){b, b ? b->next : NULL, b ? b->used : 0};
}

static struct arena_block *free_until(struct arena_block *b, const struct arena_block *end)
{
    while (b != end) {
        struct arena_block *next = b->next;
        free(b);
        b = next;
    }
    return b;
}

void arena_rewind(struct arena *a, const struct arena_mark *mark)
{
    struct arena_block *b = free_until(a->blocks, mark->block);

    a->blocks = b;
    if (!b)
        return;
    b->next = free_until(b->next, mark->next); /* large ones went in behind it */
    memset(b->data + mark->used, 0, b->used - mark->used);
    b->used = mark->used;
}

/* A large request gets a block of its own behind the current one, so that the room left in the
 * current block is not lost. */
static struct arena_block *block_add(struct arena *a, size_t bytes)
{
    size_t size = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
    struct arena_block *b = mem_alloc(sizeof *b + size);

    b->size = size;
    if (a->blocks && bytes > BLOCK_BYTES) {
        b->next = a->blocks->next;
        a->blocks->next = b;
    } else {
        b->next = a->blocks;
        a->blocks = b;
    }
    return b;
}

void *arena_alloc(struct arena *a, size_t bytes)
{
    struct arena_block *b = a->blocks;

    if (bytes > SIZE_MAX / 2)
        abort();
    bytes = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    if (!b || b->size - b->used < bytes)
        b = block_add(a, bytes);
    void *p = b->data + b->used;
    b->used += bytes;
    return p;
}

void *arena_array(struct arena *a, size_t count, size_t size)
{
    if (count == 0)
        return NULL;
    if (size && count > SIZE_MAX / 4 / size)
        abort();
    return arena_alloc(a, count * size);
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
    size_t len = strnlen(s, n);
    char *out = arena_alloc(a, len + 1);

    memcpy(out, s, len);
    return out;
}

char *arena_strdup(struct arena *a, const char *s)
{
    return s ? arena_strndup(a, s, strlen(s)) : NULL;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    char *text = NULL;
    va_list ap;

    va_start(ap, fmt);
    int n = vasprintf(&text, fmt, ap);
    va_end(ap);
    if (n < 0)
        abort();
    char *out = arena_strndup(a, text, (size_t)n);
    free(text);
    return out;
}
