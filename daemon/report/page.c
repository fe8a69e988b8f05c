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

/* Markdown needs the empty line (a list behind a table would be a row of it); people like it. */
static bool needs_gap(const struct page *p, enum page_part part)
{
    if (p->last == PART_START)
        return false;
    if (p->form == PAGE_MARKDOWN)
        return !(p->last == PART_ITEM && part == PART_ITEM);
    if (p->last == PART_SECTION)
        return part == PART_SECTION;
    return p->last != part || part == PART_TABLE || part == PART_SECTION;
}

static void begin(struct page *p, enum page_part part)
{
    if (needs_gap(p, part))
        buf_putc(p->out, '\n');
    p->last = part;
}

static void put(const struct page *p, const char *s, size_t first, size_t indent)
{
    if (p->form == PAGE_MARKDOWN)
        text_markdown(p->out, s);
    else
        text_wrap(p->out, s, first, indent, p->width);
}

void page_title(struct page *p, const char *s)
{
    CLEANUP(mem_freep) char *text = take_clean(s);
    begin(p, PART_TITLE);
    buf_puts(p->out, p->form == PAGE_MARKDOWN ? "# " : "");
    if (p->form == PAGE_MARKDOWN)
        text_markdown(p->out, text);
    else
        style_put(p->out, STYLE_STRONG, p->colour, text);
    buf_putc(p->out, '\n');
}

void page_lead(struct page *p, const char *word, enum text_style style, const char *value,
               const char *rest)
{
    CLEANUP(mem_freep) char *clean = take_clean(rest);
    size_t used = LEAD + text_width(value);
    begin(p, PART_LEAD);
    if (p->form == PAGE_MARKDOWN) {
        buf_printf(p->out, "**%s:%s%s**%s", word, *value ? " " : "", value, *value ? "" : " ");
    } else {
        style_put(p->out, STYLE_STRONG, p->colour, word);
        text_pad(p->out, LEAD > text_width(word) ? LEAD - text_width(word) : 1);
        style_put(p->out, style, p->colour, value);
    }
    put(p, clean, p->width > used ? p->width - used : 1, LEAD);
    buf_putc(p->out, '\n');
}

static void put_heading(const struct page *p, const char *title)
{
    CLEANUP(mem_freep) char *upper = mem_strdup(title);
    for (char *c = upper; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    style_put(p->out, STYLE_STRONG, p->colour, upper);
}

static void put_caption(const struct page *p, const char *note, size_t used)
{
    if (p->form == PAGE_MARKDOWN) {
        buf_puts(p->out, "\n\n*");
        text_markdown(p->out, note);
        buf_putc(p->out, '*');
        return;
    }
    text_pad(p->out, 2);
    text_wrap(p->out, note, p->width > used ? p->width - used : 1, INDENT, p->width);
}

void page_section(struct page *p, const char *title, const char *note)
{
    CLEANUP(mem_freep) char *clean = take_clean(note ? note : "");
    begin(p, PART_SECTION);
    if (p->form == PAGE_MARKDOWN)
        buf_printf(p->out, "## %s", title);
    else
        put_heading(p, title);
    if (*clean)
        put_caption(p, clean, text_width(title) + 2);
    buf_putc(p->out, '\n');
}

static void put_named(struct page *p, const char *level, const char *title, const char *note)
{
    CLEANUP(mem_freep) char *text = take_clean(title);
    CLEANUP(mem_freep) char *clean = take_clean(note ? note : "");
    begin(p, PART_SECTION);
    buf_puts(p->out, level);
    text_markdown(p->out, text);
    if (*clean)
        put_caption(p, clean, 0);
    buf_putc(p->out, '\n');
}

void page_named_section(struct page *p, const char *title, const char *note)
{
    put_named(p, "## ", title, note);
}

void page_subsection(struct page *p, const char *title, const char *note)
{
    put_named(p, "### ", title, note);
}

void page_code(struct page *p, const char *lines)
{
    begin(p, PART_CODE);
    buf_puts(p->out, "```sh\n");
    while (*lines) {
        size_t len = strcspn(lines, "\n");
        CLEANUP(mem_freep) char *line = mem_printf("%.*s", (int)len, lines);
        text_clean(p->out, line, 0);
        buf_putc(p->out, '\n');
        lines += len + (lines[len] == '\n');
    }
    buf_puts(p->out, "```\n");
}

void page_say(struct page *p, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    CLEANUP(mem_freep) char *clean = clean_printf(fmt, ap);
    va_end(ap);
    begin(p, PART_SAY);
    text_pad(p->out, p->form == PAGE_MARKDOWN ? 0 : INDENT);
    put(p, clean, p->width - INDENT, INDENT);
    buf_putc(p->out, '\n');
}

void page_item(struct page *p, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    CLEANUP(mem_freep) char *clean = clean_printf(fmt, ap);
    va_end(ap);
    begin(p, PART_ITEM);
    buf_puts(p->out, p->form == PAGE_MARKDOWN ? "- " : "  - ");
    put(p, clean, p->width - INDENT - 2, INDENT + 2);
    buf_putc(p->out, '\n');
}

void page_table(struct page *p, struct table *t)
{
    if (table_rows(t)) {
        begin(p, PART_TABLE);
        if (p->form == PAGE_MARKDOWN)
            table_markdown(p->out, t);
        else
            table_text(p->out, t, INDENT, p->width, p->colour);
    }
    table_deinit(t);
}
