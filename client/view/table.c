#include "client/view/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define GAP 2
#define COLUMN_MIN 8

struct cell {
    char *text;
    enum term_style style;
};

struct table {
    const struct table_column *columns;
    size_t n_columns;
    struct cell *cells;
    size_t n, cap;
};

struct table *table_new(const struct table_column *columns, size_t n)
{
    struct table *t = mem_alloc(sizeof *t);

    t->columns = columns;
    t->n_columns = n;
    return t;
}

void table_free(struct table *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->n; i++)
        free(t->cells[i].text);
    free(t->cells);
    free(t);
}

void table_cell(struct table *t, enum term_style style, const char *fmt, ...)
{
    CLEANUP(buf_deinit) struct buf raw = {0};
    struct buf clean = {0};
    va_list ap;

    va_start(ap, fmt);
    buf_vprintf(&raw, fmt, ap);
    va_end(ap);
    term_clean(&clean, buf_str(&raw), raw.len, 0);
    MEM_GROW(t->cells, t->n, t->cap);
    t->cells[t->n++] = (struct cell){buf_take(&clean), style};
}

size_t table_rows(const struct table *t)
{
    return t->n / t->n_columns;
}

static bool has_titles(const struct table *t)
{
    return t->columns[0].title != NULL;
}

static size_t natural_width(const struct table *t, size_t column)
{
    size_t width = has_titles(t) ? term_columns(t->columns[column].title) : 0;

    for (size_t i = column; i < t->n; i += t->n_columns) {
        size_t w = term_columns(t->cells[i].text);
        width = w > width ? w : width;
    }
    return width;
}

/* The widest column that gives way; n_columns when none can any more. */
static size_t widest(const struct table *t, const size_t *widths)
{
    size_t found = t->n_columns;

    for (size_t c = 0; c < t->n_columns; c++)
        if (t->columns[c].gives_way && widths[c] > COLUMN_MIN &&
            (found == t->n_columns || widths[c] > widths[found]))
            found = c;
    return found;
}

static void fit(const struct table *t, size_t *widths, size_t room)
{
    size_t total = GAP * (t->n_columns - 1), c;

    for (c = 0; c < t->n_columns; c++)
        total += widths[c] = natural_width(t, c);
    for (; room && total > room && (c = widest(t, widths)) < t->n_columns; total--)
        widths[c]--;
}

static void put_spaces(struct buf *out, size_t n)
{
    while (n-- > 0)
        buf_putc(out, ' ');
}

static void put_cell(const struct table *t, const struct term *term, const struct cell *cell,
                     size_t column, size_t width, struct buf *out)
{
    CLEANUP(buf_deinit) struct buf text = {0};
    bool last = column + 1 == t->n_columns;

    term_cut(&text, cell->text, width);
    size_t pad = width - term_columns(buf_str(&text));
    if (t->columns[column].right)
        put_spaces(out, pad);
    term_styled(term, out, cell->style, buf_str(&text));
    if (!t->columns[column].right && !last)
        put_spaces(out, pad);
    if (!last)
        put_spaces(out, GAP);
}

static void trim(struct buf *out)
{
    while (out->len && out->data[out->len - 1] == ' ')
        out->data[--out->len] = '\0';
    buf_putc(out, '\n');
}

void table_print(const struct table *t, const struct term *term, size_t indent, struct buf *out)
{
    size_t width = term->width > 0 ? (size_t)term->width : 0;
    CLEANUP(mem_freep) size_t *widths = mem_alloc(t->n_columns * sizeof *widths);

    fit(t, widths, width > indent ? width - indent : width);
    for (size_t c = 0; has_titles(t) && c < t->n_columns; c++) {
        struct cell title = {(char *)t->columns[c].title, TERM_DIM};
        if (c == 0)
            put_spaces(out, indent);
        put_cell(t, term, &title, c, widths[c], out);
    }
    if (has_titles(t))
        trim(out);
    for (size_t i = 0; i + t->n_columns <= t->n; i += t->n_columns) {
        put_spaces(out, indent);
        for (size_t c = 0; c < t->n_columns; c++)
            put_cell(t, term, &t->cells[i + c], c, widths[c], out);
        trim(out);
    }
}
