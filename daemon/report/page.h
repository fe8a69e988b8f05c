/* The page a report is written on: headings, sentences, lists and tables, in one of two forms. The
 * sections of a report are written once, against this, so that text and Markdown say the same.
 *
 * The page keeps what it wrote last and leaves an empty line between parts of different kinds.
 * Every string is cleaned on its way in.
 */
#pragma once

#include "report/table.h"

enum page_form { PAGE_TEXT, PAGE_MARKDOWN };

enum page_part {
    PART_START,
    PART_TITLE,
    PART_LEAD,
    PART_SECTION,
    PART_SAY,
    PART_ITEM,
    PART_TABLE,
    PART_CODE
};

struct page {
    struct buf *out;
    enum page_form form;
    size_t width; /* text only */
    bool colour;  /* text only */
    enum page_part last;
};

void page_title(struct page *p, const char *s);
/* A line of the head: a word, a coloured value (may be empty), and the rest of what it says. */
void page_lead(struct page *p, const char *word, enum text_style style, const char *value,
               const char *rest);
/* A heading, and beside it (text) or below it (Markdown) what it covers; note may be NULL. */
void page_section(struct page *p, const char *title, const char *note);
/* The same with a title that may hold anything; and a heading below it. Markdown only. */
void page_named_section(struct page *p, const char *title, const char *note);
void page_subsection(struct page *p, const char *title, const char *note);
/* Commands or the like as they are, each line cleaned; Markdown only. No line may begin with a
 * backquote. */
void page_code(struct page *p, const char *lines);
void page_say(struct page *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void page_item(struct page *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Draws the table, unless it has no rows, and empties it. */
void page_table(struct page *p, struct table *t);
