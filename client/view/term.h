/* What a person sees: whether a stream is a terminal, how wide, whether it may be coloured, and
 * text that is safe to show there. Width is counted in characters; one character is taken for one
 * column.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct term {
    int fd;
    bool tty;
    bool colour; /* a terminal that is not dumb, and NO_COLOR is not set */
    int width;   /* columns; 0 when it is no terminal: no limit */
};

void term_init(struct term *t, int fd);

enum term_style { TERM_PLAIN, TERM_BOLD, TERM_DIM, TERM_RED, TERM_GREEN, TERM_YELLOW };
/* Appends text in that style where colours are allowed. */
void term_styled(const struct term *t, struct buf *out, enum term_style style, const char *text);

enum term_keep { TERM_KEEP_LINES = 1 /* newline and tab */, TERM_KEEP_STYLES = 2 /* ESC [ .. m */ };
/* Appends text with everything that could steer a terminal (control characters, C1 ones and marks
 * that reorder text too) and every byte that is not UTF-8 replaced by '?'. keep: of enum term_keep.
 */
void term_clean(struct buf *out, const char *text, size_t len, unsigned keep);

/* Characters of clean text. */
size_t term_columns(const char *text);
/* Appends at most columns characters of clean text; cut text ends in "...". */
void term_cut(struct buf *out, const char *text, size_t columns);
/* Appends clean text in lines of at most width columns (0: one line), broken at spaces; the first
 * line begins at column indent already, the others are indented so far. Ends with a newline. */
void term_wrap(struct buf *out, const char *text, size_t indent, size_t width);
