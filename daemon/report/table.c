#include "report/table.h"

#include <stdarg.h>

#include "base/mem.h"
#include "report/text.h"

#define GAP 2
#define WRAP_MIN 20
#define CELL_MAX 1000 /* columns of one cell */

void table_deinit(struct table *t)
{
    for (size_t i = 0; i < t->n_columns; i++)
        free(t->columns[i].title);
    for (size_t i = 0; i < t->n_cells; i++)
        free(t->cells[i].text);
    free(t->columns);
    free(t->cells);
    *t = (struct table){0};
}

static char *cleaned(const char *s)
{
    struct buf b = {0};
    text_clean(&b, s, CELL_MAX);
    return buf_take(&b);
}

void table_column(struct table *t, const char *title, enum table_align align, int group)
{
    MEM_GROW(t->columns, t->n_columns, t->cap_columns);
    t->columns[t->n_columns++] =
        (struct table_column){.title = cleaned(title), .align = align, .group = group};
}

void table_cell(struct table *t, enum text_style style, const char *fmt, ...)
{
    CLEANUP(buf_deinit) struct buf b = {0};
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(&b, fmt, ap);
    va_end(ap);
    MEM_GROW(t->cells, t->n_cells, t->cap_cells);
    t->cells[t->n_cells++] = (struct table_cell){.text = cleaned(buf_str(&b)), .style = style};
}

void table_put(struct table *t, const char *s)
{
    table_cell(t, STYLE_PLAIN, "%s", s ? s : "unknown");
}

size_t table_rows(const struct table *t)
{
    return t->n_columns ? t->n_cells / t->n_columns : 0;
}

void style_put(struct buf *out, enum text_style style, bool colour, const char *s)
{
    static const char *const codes[] = {"",         "\x1b[1m",  "\x1b[32m",
                                        "\x1b[31m", "\x1b[33m", "\x1b[2m"};
    bool coloured = colour && style != STYLE_PLAIN && *s;
    if (coloured)
        buf_puts(out, codes[style]);
    buf_puts(out, s);
    if (coloured)
        buf_puts(out, "\x1b[0m");
}

/* ---- text */

struct layout {
    const struct table *t;
    size_t *widths;
    size_t indent, width;
    bool colour;
    size_t keys;     /* leading columns of group 0 */
    size_t from, to; /* the other columns of this block */
};

static const struct table_cell *cell_at(const struct table *t, size_t row, size_t column)
{
    return &t->cells[row * t->n_columns + column];
}

static size_t column_width(const struct table *t, size_t column)
{
    size_t width = t->headless ? 0 : text_width(t->columns[column].title);
    for (size_t row = 0; row < table_rows(t); row++) {
        size_t w = text_width(cell_at(t, row, column)->text);
        width = w > width ? w : width;
    }
    return width;
}

static bool in_block(const struct layout *l, size_t column)
{
    return column < l->keys || (column >= l->from && column < l->to);
}

static size_t keys_width(const struct layout *l)
{
    size_t width = l->indent;
    for (size_t c = 0; c < l->keys; c++)
        width += l->widths[c] + GAP;
    return width;
}

/* Where this block ends: behind as many whole groups as fit; if not even one does, behind as many
 * columns; at least one column. */
static size_t block_end(const struct layout *l)
{
    size_t used = keys_width(l), group_end = 0, c = l->from;
    for (; c < l->t->n_columns; c++) {
        size_t need = used + l->widths[c];
        if (c > l->from && l->t->columns[c].group != l->t->columns[c - 1].group)
            group_end = c;
        if (need > l->width && c > l->from)
            break;
        used = need + GAP;
    }
    return c == l->t->n_columns || group_end == 0 ? c : group_end;
}

/* A column of one cell, padded on its side; nothing is padded at the end of a line. */
static void put_aligned(struct buf *out, const struct layout *l, size_t column, const char *text,
                        enum text_style style, bool last)
{
    size_t width = text_width(text);
    size_t pad = l->widths[column] > width ? l->widths[column] - width : 0;
    if (l->t->columns[column].align == ALIGN_RIGHT)
        text_pad(out, pad);
    style_put(out, style, l->colour, text);
    if (l->t->columns[column].align != ALIGN_RIGHT && !last)
        text_pad(out, pad);
}

static void put_wrapped(struct buf *out, const struct layout *l, size_t at, const char *text)
{
    size_t room = l->width > at + WRAP_MIN ? l->width - at : WRAP_MIN;
    text_wrap(out, text, room, at, at + room);
}

static size_t last_column(const struct layout *l)
{
    size_t last = 0;
    for (size_t c = 0; c < l->t->n_columns; c++)
        last = in_block(l, c) ? c : last;
    return last;
}

static bool rest_is_empty(const struct layout *l, size_t row, size_t after)
{
    for (size_t c = after; c < l->t->n_columns; c++)
        if (in_block(l, c) && cell_at(l->t, row, c)->text[0])
            return false;
    return true;
}

static void put_row(struct buf *out, const struct layout *l, size_t row)
{
    size_t at = l->indent, last = last_column(l);
    text_pad(out, l->indent);
    for (size_t c = 0; c <= last; c++) {
        const struct table_cell *cell = cell_at(l->t, row, c);
        if (!in_block(l, c))
            continue;
        if (l->t->columns[c].align == ALIGN_WRAP)
            put_wrapped(out, l, at, cell->text);
        else
            put_aligned(out, l, c, cell->text, cell->style, rest_is_empty(l, row, c + 1));
        if (rest_is_empty(l, row, c + 1))
            break;
        text_pad(out, GAP);
        at += l->widths[c] + GAP;
    }
    buf_putc(out, '\n');
}

static void put_titles(struct buf *out, const struct layout *l)
{
    size_t last = last_column(l);
    text_pad(out, l->indent);
    for (size_t c = 0; c <= last; c++) {
        if (!in_block(l, c))
            continue;
        put_aligned(out, l, c, l->t->columns[c].title, STYLE_DIM, c == last);
        text_pad(out, c == last ? 0 : GAP);
    }
    buf_putc(out, '\n');
}

static void put_block(struct buf *out, const struct layout *l)
{
    if (!l->t->headless)
        put_titles(out, l);
    for (size_t row = 0; row < table_rows(l->t); row++)
        put_row(out, l, row);
}

static size_t count_keys(const struct table *t)
{
    size_t keys = 0;
    while (keys < t->n_columns && t->columns[keys].group == 0)
        keys++;
    return keys;
}

void table_text(struct buf *out, const struct table *t, size_t indent, size_t width, bool colour)
{
    CLEANUP(mem_freep) size_t *widths = mem_alloc((t->n_columns + 1) * sizeof *widths);
    struct layout l = {.t = t,
                       .widths = widths,
                       .indent = indent,
                       .width = width,
                       .colour = colour,
                       .keys = count_keys(t)};
    for (size_t c = 0; c < t->n_columns; c++)
        widths[c] = column_width(t, c);
    bool wraps = t->n_columns && t->columns[t->n_columns - 1].align == ALIGN_WRAP;
    for (l.from = l.keys; l.from == l.keys || l.from < t->n_columns; l.from = l.to) {
        l.to = wraps ? t->n_columns : block_end(&l);
        if (l.from > l.keys)
            buf_putc(out, '\n');
        put_block(out, &l);
        if (l.to == t->n_columns)
            break;
    }
}

/* ---- Markdown */

void table_markdown(struct buf *out, const struct table *t)
{
    for (size_t c = 0; c < t->n_columns; c++) {
        buf_puts(out, c ? " | " : "| ");
        text_markdown(out, t->columns[c].title);
    }
    buf_puts(out, " |\n");
    for (size_t c = 0; c < t->n_columns; c++)
        buf_puts(out, t->columns[c].align == ALIGN_RIGHT ? "|---:" : "|---");
    buf_puts(out, "|\n");
    for (size_t row = 0; row < table_rows(t); row++) {
        for (size_t c = 0; c < t->n_columns; c++) {
            const struct table_cell *cell = cell_at(t, row, c);
            bool strong = cell->style == STYLE_STRONG || cell->style == STYLE_BAD;
            buf_puts(out, c ? " | " : "| ");
            buf_puts(out, strong ? "**" : "");
            text_markdown(out, cell->text);
            buf_puts(out, strong ? "**" : "");
        }
        buf_puts(out, " |\n");
    }
}
