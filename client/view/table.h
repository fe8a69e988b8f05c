/* A table of text for people: cells are added row by row, columns are as wide as their widest cell,
 * and columns that may give way do so, the widest first, where the terminal is too narrow. Owns
 * copies of its cells; their text is cleaned for terminals (term_clean). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "client/view/term.h"

struct table_column {
    const char *title; /* all NULL: no line of titles */
    bool right;        /* aligned to the right: numbers */
    bool gives_way;    /* cut with "..." where the line would be wider than the terminal */
};

struct table;

/* columns must outlive the table. */
struct table *table_new(const struct table_column *columns, size_t n);
void table_free(struct table *t);
/* Adds the next cell, in the order of reading. */
void table_cell(struct table *t, enum term_style style, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
size_t table_rows(const struct table *t); /* whole rows so far */
/* Appends the lines, each indented by indent columns. */
void table_print(const struct table *t, const struct term *term, size_t indent, struct buf *out);
