#include "lang/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES ((size_t)16 << 10)
#define ALIGN ((size_t)16)

struct pk_block {
    struct pk_block *next;
    size_t cap, used;
};
#define BLOCK_HEAD ((sizeof(struct pk_block) + ALIGN - 1) & ~(ALIGN - 1))

static struct pk_block *block_new(size_t cap)
{
    struct pk_block *b = malloc(BLOCK_HEAD + cap);
    if (!b)
        abort();
    *b = (struct pk_block){NULL, cap, 0};
    return b;
}

/* The next block that has room: one that is kept, or a new one behind the present. */
static struct pk_block *block_with(struct pk_arena *a, size_t bytes)
{
    struct pk_block *next = a->now ? a->now->next : a->first;
    if (!next || next->cap < bytes) {
        struct pk_block *b = block_new(bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES);
        b->next = next;
        if (a->now)
            a->now->next = b;
        else
            a->first = b;
        next = b;
    }
    next->used = 0;
    a->now = next;
    return next;
}

void *pk_alloc(struct pk_arena *a, size_t bytes)
{
    if (bytes > a->limit)
        return NULL;
    bytes = (bytes + ALIGN - 1) & ~(ALIGN - 1);
    if (a->used > a->limit || bytes > a->limit - a->used)
        return NULL;
    struct pk_block *b = a->now;
    if (!b || b->cap - b->used < bytes)
        b = block_with(a, bytes);
    void *p = (char *)b + BLOCK_HEAD + b->used;
    b->used += bytes;
    a->used += bytes;
    return p;
}

void *pk_zalloc(struct pk_arena *a, size_t bytes)
{
    void *p = pk_alloc(a, bytes);
    if (p)
        memset(p, 0, bytes);
    return p;
}

void pk_arena_reset(struct pk_arena *a)
{
    a->now = NULL;
    a->used = 0;
}

void pk_arena_free(struct pk_arena *a)
{
    while (a->first) {
        struct pk_block *b = a->first;
        a->first = b->next;
        free(b);
    }
    pk_arena_reset(a);
}

void *pk_grow(void *p, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size)
        abort();
    const size_t bytes = count * size;
    void *q = realloc(p, bytes > 0 ? bytes : 1);
    if (!q)
        abort();
    return q;
}

/* ---- bytes */

void pk_bytes_free(struct pk_bytes *b)
{
    free(b->p);
    *b = (struct pk_bytes){0};
}

void pk_add(struct pk_bytes *b, const void *data, size_t n)
{
    if (n == 0)
        return;
    if (b->cap - b->n < n) {
        b->cap = b->cap * 2 > b->n + n ? b->cap * 2 : b->n + n + 64;
        b->p = pk_grow(b->p, b->cap, 1);
    }
    memcpy(b->p + b->n, data, n);
    b->n += n;
}

void pk_add_u8(struct pk_bytes *b, uint8_t v)
{
    pk_add(b, &v, 1);
}

void pk_add_u32(struct pk_bytes *b, uint32_t v)
{
    const uint8_t le[4] = {(uint8_t)v, (uint8_t)(v >> 8), (uint8_t)(v >> 16), (uint8_t)(v >> 24)};
    pk_add(b, le, sizeof le);
}

void pk_add_i64(struct pk_bytes *b, int64_t v)
{
    pk_add_u32(b, (uint32_t)(uint64_t)v);
    pk_add_u32(b, (uint32_t)((uint64_t)v >> 32));
}

/* ---- errors */

int pk_fail(struct pk_err *e, uint32_t line, uint32_t column, const char *fmt, ...)
{
    va_list ap;
    int n = 0;
    if (e->text[0])
        return -1;
    e->line = line;
    e->column = column;
    if (line)
        n = snprintf(e->text, sizeof e->text, "line %u, column %u: ", line, column);
    va_start(ap, fmt);
    (void)vsnprintf(e->text + n, sizeof e->text - (size_t)n, fmt, ap);
    va_end(ap);
    /* What was cut off in the middle of a character is no text any more. */
    size_t good = pk_utf8(e->text, strlen(e->text));
    e->text[good] = '\0';
    return -1;
}

/* ---- text */

bool pk_text_is(struct pk_text a, struct pk_text b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

int pk_text_order(struct pk_text a, struct pk_text b)
{
    uint32_t n = a.n < b.n ? a.n : b.n;
    int order = n ? memcmp(a.p, b.p, n) : 0;
    return order ? order : (a.n > b.n) - (a.n < b.n);
}

static size_t utf8_one(const unsigned char *p, size_t left)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (p[0] < 0x80)
        return 1;
    size_t n = (p[0] & 0xe0) == 0xc0   ? 2
               : (p[0] & 0xf0) == 0xe0 ? 3
               : (p[0] & 0xf8) == 0xf0 ? 4
                                       : 0;
    if (n == 0 || n > left)
        return 0;
    uint32_t c = p[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (p[i] & 0x3fu);
    }
    return c < least[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff) ? 0 : n;
}

size_t pk_utf8(const char *p, size_t n)
{
    size_t at = 0;
    while (at < n) {
        size_t one = utf8_one((const unsigned char *)p + at, n - at);
        if (one == 0)
            break;
        at += one;
    }
    return at;
}

size_t pk_int_text(int64_t v, char out[PK_INT_TEXT])
{
    char back[PK_INT_TEXT];
    uint64_t rest = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    size_t n = 0, at = 0;
    do {
        back[n++] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest);
    if (v < 0)
        out[at++] = '-';
    while (n)
        out[at++] = back[--n];
    return at;
}
