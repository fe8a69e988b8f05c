#include "report/page.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

#include "base/mem.h"
#include "report/text.h"

#define INDENT 2
#define LEAD 8 /* columns of the word that begins a line of the head */
#define SAY_MAX 4000

static char *take_clean(const char *s)
{
    struct buf b = {0};
    text_clean(&b, s, SAY_MAX);
    return buf_take(&b);
}

static char *clean_printf(const char *fmt, va_list ap)
{
    CLEANUP(buf_deinit) struct buf b = {0};
    buf_vprintf(&b, fmt, ap);
    return take_clean(buf_str(&b));
}

void page_gap(const struct page *p)
{
    size_t len = p->out->len;
    if (len && !(len >= 2 && p->out->data[len - 1] == '\n' && p->out->data[len - 2] == '\n'))
        buf_putc(p->out, '\n');
}

void page_title(const struct page *p, const char *s)
{
    CLEANUP(mem_freep) char *text = take_clean(s);
    if (p->form == PAGE_MARKDOWN) {
        buf_puts(p->out, "# ");
        text_markdown(p->out, text);
    } else {
        style_put(p->out, STYLE_STRONG, p->colour, text);
    }
    buf_putc(p->out, '\n');
}

static void section_text(const struct page *p, const char *title, const char *note)
{
    CLEANUP(mem_freep) char *upper = mem_strdup(title);
    for (char *c = upper; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    style_put(p->out, STYLE_STRONG, p->colour, upper);
    size_t at = text_width(title) + 2;
    if (note) {
        text_pad(p->out, 2);
        text_wrap(p->out, note, p->width > at ? p->width - at : 1, INDENT, p->width);
    }
    buf_putc(p->out, '\n');
}

void page_section(const struct page *p, const char *title, const char *note)
{
    CLEANUP(mem_freep) char *clean = note ? take_clean(note) : NULL;
    page_gap(p);
    if (p->form == PAGE_TEXT) {
        section_text(p, title, clean);
        return;
    }
    buf_puts(p->out, "## ");
    text_markdown(p->out, title);
    buf_puts(p->out, "\n\n");
    if (clean) {
        text_markdown(p->out, clean);
        buf_puts(p->out, "\n\n");
    }
}

void page_lead(const struct page *p, enum text_style style, const char *word, const char *s)
{
    CLEANUP(mem_freep) char *clean = take_clean(s);
    if (p->form == PAGE_MARKDOWN) {
        page_gap(p);
        buf_printf(p->out, "**%s:** ", word);
        text_markdown(p->out, clean);
    } else {
        size_t width = text_width(word);
        style_put(p->out, style, p->colour, word);
        text_pad(p->out, width < LEAD ? LEAD - width : 1);
        text_wrap(p->out, clean, p->width - LEAD, LEAD, p->width);
    }
    buf_putc(p->out, '\n');
}

void page_say(const struct page *p, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    CLEANUP(mem_freep) char *clean = clean_printf(fmt, ap);
    va_end(ap);
    if (p->form == PAGE_MARKDOWN) {
        page_gap(p);
        text_markdown(p->out, clean);
    } else {
        text_pad(p->out, INDENT);
        text_wrap(p->out, clean, p->width - INDENT, INDENT, p->width);
    }
    buf_putc(p->out, '\n');
}

void page_item(const struct page *p, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    CLEANUP(mem_freep) char *clean = clean_printf(fmt, ap);
    va_end(ap);
    if (p->form == PAGE_MARKDOWN) {
        buf_puts(p->out, "- ");
        text_markdown(p->out, clean);
    } else {
        text_pad(p->out, INDENT);
        buf_puts(p->out, "- ");
        text_wrap(p->out, clean, p->width - INDENT - 2, INDENT + 2, p->width);
    }
    buf_putc(p->out, '\n');
}

void page_table(const struct page *p, struct table *t)
{
    if (table_rows(t) && p->form == PAGE_MARKDOWN) {
        page_gap(p);
        table_markdown(p->out, t);
    } else if (table_rows(t)) {
        table_text(p->out, t, INDENT, p->width, p->colour);
    }
    table_deinit(t);
}
