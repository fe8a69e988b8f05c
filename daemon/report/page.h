/* The page a report is written on: headings, sentences, lists and tables, in one of two forms. The
 * sections of a report are written once, against this, so that text and Markdown say the same.
 * Every string is cleaned on its way in.
 */
#pragma once

#include "report/table.h"

enum page_form { PAGE_TEXT, PAGE_MARKDOWN };

struct page {
    struct buf *out;
    enum page_form form;
    size_t width;
    bool colour;
};

void page_title(const struct page *p, const char *s);
/* A heading, and beside it (text) or below it (Markdown) what it covers; note may be NULL. */
void page_section(const struct page *p, const char *title, const char *note);
/* A line of the head: a word, and what it says; the word is coloured. */
void page_lead(const struct page *p, enum text_style style, const char *word, const char *s);
void page_say(const struct page *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void page_item(const struct page *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Draws the table, unless it has no rows, and empties it. */
void page_table(const struct page *p, struct table *t);
/* An empty line where the form needs one between two parts. */
void page_gap(const struct page *p);
