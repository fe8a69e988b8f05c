/* Text and tables as HTML. */
#pragma once

#include "report/table.h"

/* Appends s as text of an HTML or SVG element or attribute, cleaned (text.h). */
void html_put(struct buf *out, const char *s);
/* Numbers to the right; scrolls where it is too wide. */
void html_table(struct buf *out, const struct table *t);
