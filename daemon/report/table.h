/* A table, built once and drawn as aligned text or as Markdown.
 *
 * Columns of group 0 are the keys of a row. A text table that is wider than the page is drawn in
 * blocks: each repeats the keys and takes whole groups while they fit. Only the last column may
 * wrap; such a table stays in one block. Cells are cleaned when they are put in (see text.h). The
 * table owns its strings.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum text_style { STYLE_PLAIN, STYLE_STRONG, STYLE_GOOD, STYLE_BAD, STYLE_WARN, STYLE_DIM };

enum table_align { ALIGN_LEFT, ALIGN_RIGHT, ALIGN_WRAP /* left, wraps; the last column only */ };

struct table_column {
    char *title;
    enum table_align align;
    int group;
};

struct table_cell {
    char *text;
    enum text_style style;
};

struct table {
    struct table_column *columns;
    size_t n_columns, cap_columns;
    struct table_cell *cells; /* row by row; a row begins when the one before is full */
    size_t n_cells, cap_cells;
    bool headless; /* text without the line of titles */
};

/* A zeroed table is ready. All columns come before the first cell. */
void table_deinit(struct table *t);
void table_column(struct table *t, const char *title, enum table_align align, int group);
void table_cell(struct table *t, enum text_style style, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Nothing happens to s; NULL is shown as "unknown". */
void table_put(struct table *t, const char *s);
size_t table_rows(const struct table *t);

/* Draws with each line behind indent spaces and, where words can be broken, within width columns.
 */
void table_text(struct buf *out, const struct table *t, size_t indent, size_t width, bool colour);
void table_markdown(struct buf *out, const struct table *t);

/* Appends s in the style's colour, if asked for. */
void style_put(struct buf *out, enum text_style style, bool colour, const char *s);
