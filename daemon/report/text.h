/* Text for a terminal of unknown owner: strings that users, programs or file systems supplied are
 * made harmless, and columns are counted the way a terminal draws them (UTF-8 in, whatever the
 * locale). Pure functions over strings.
 */
#pragma once

#include <stddef.h>

#include "base/buf.h"

/* Columns that s takes: 2 for wide East Asian characters and emoji, 0 for combining ones. */
size_t text_width(const char *s);

/* Appends s with every control character, direction override and byte that is not UTF-8 written
 * visibly ("\n", "\x1b", "\u202e"), cut with "..." after max columns (0: not cut). */
void text_clean(struct buf *out, const char *s, size_t max);

/* Appends s word by word. The first line has room for first columns, later ones, which begin after
 * indent spaces, for width - indent. A longer word is not broken. No newline at the end. */
void text_wrap(struct buf *out, const char *s, size_t first, size_t indent, size_t width);

/* Appends s so that Markdown shows exactly it, on one line, also inside a table. */
void text_markdown(struct buf *out, const char *s);

/* Appends n spaces. */
void text_pad(struct buf *out, size_t n);
