/* A growing byte buffer, always NUL-terminated behind its length. Owned by its holder. */
#pragma once

#include <stdarg.h>
#include <stddef.h>

struct buf {
    char *data; /* NULL while empty; use buf_str() for a C string */
    size_t len;
    size_t cap;
};

void buf_deinit(struct buf *b);
void buf_reserve(struct buf *b, size_t more);
void buf_add(struct buf *b, const void *data, size_t len);
void buf_puts(struct buf *b, const char *s);
void buf_putc(struct buf *b, char c);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *fmt, va_list ap);
void buf_consume(struct buf *b, size_t n); /* drops the first n bytes */
void buf_clear(struct buf *b);
const char *buf_str(const struct buf *b); /* "" when empty */
char *buf_take(struct buf *b);            /* the string (malloc'd, never NULL); b is empty then */
