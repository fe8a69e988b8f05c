#include "report/html.h"

#include <string.h>

#include "report/text.h"

static void escape(struct buf *out, const char *clean)
{
    static const char special[] = "&<>\"'";
    static const char *const written[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};

    for (const char *c = clean; *c; c++) {
        const char *at = strchr(special, *c);
        if (at)
            buf_puts(out, written[at - special]);
        else
            buf_putc(out, *c);
    }
}

void html_put(struct buf *out, const char *s)
{
    struct buf clean = {0};

    text_clean(&clean, s, 0);
    escape(out, buf_str(&clean));
    buf_deinit(&clean);
}

static void put_cell(struct buf *out, const char *tag, const struct table_column *c, const char *s)
{
    buf_printf(out, c->align == ALIGN_RIGHT ? "<%s class=\"n\">" : "<%s>", tag);
    escape(out, s); /* cells are clean already */
    buf_printf(out, "</%s>", tag);
}

void html_table(struct buf *out, const struct table *t)
{
    buf_puts(out, "<div><table>\n<tr>");
    for (size_t i = 0; i < t->n_columns; i++)
        put_cell(out, "th", &t->columns[i], t->columns[i].title);
    buf_puts(out, "</tr>\n");
    for (size_t i = 0; i < t->n_cells; i++) {
        size_t column = i % t->n_columns;
        buf_puts(out, column == 0 ? "<tr>" : "");
        put_cell(out, "td", &t->columns[column], t->cells[i].text);
        buf_puts(out, column + 1 == t->n_columns ? "</tr>\n" : "");
    }
    buf_puts(out, "</table></div>\n");
}
