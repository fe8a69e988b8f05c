/* Memory of the language: arenas, growing bytes, errors. */
#pragma once

#include "lang/pk.h"

#if defined(__GNUC__)
#define PK_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define PK_PRINTF(f, a)
#endif

/* Many small pieces that go together. Zeroed, with a limit in bytes, is ready. */
struct pk_arena {
    struct pk_block *first, *now;
    size_t used, limit; /* in bytes that were asked for */
};
/* Not zeroed, aligned for any type; NULL beyond the limit. */
void *pk_alloc(struct pk_arena *a, size_t bytes);
void *pk_zalloc(struct pk_arena *a, size_t bytes);
void pk_arena_reset(struct pk_arena *a); /* empties it, keeps its blocks */
void pk_arena_free(struct pk_arena *a);

void *pk_grow(void *p, size_t count, size_t size); /* realloc that cannot fail */
void pk_add(struct pk_bytes *b, const void *data, size_t n);
void pk_add_u8(struct pk_bytes *b, uint8_t v);
void pk_add_u32(struct pk_bytes *b, uint32_t v); /* little endian */
void pk_add_i64(struct pk_bytes *b, int64_t v);

/* Fills *e unless it is filled; -1. Line 0: there is no place. */
int pk_fail(struct pk_err *e, uint32_t line, uint32_t column, const char *fmt, ...) PK_PRINTF(4, 5);

/* A piece of text that somebody else owns. */
struct pk_text {
    const char *p;
    uint32_t n;
};
bool pk_text_is(struct pk_text a, struct pk_text b);
int pk_text_order(struct pk_text a, struct pk_text b); /* by bytes: < 0, 0, > 0 */
/* How many bytes are UTF-8 from the start: n where all are. */
size_t pk_utf8(const char *p, size_t n);
/* Decimal digits of v into out; how many. */
#define PK_INT_TEXT 21
size_t pk_int_text(int64_t v, char out[PK_INT_TEXT]);
