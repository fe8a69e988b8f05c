/* What a person reads: one report as text for a terminal or as Markdown.
 *
 * Both say the same, by the same rules: the grade first, then the verdicts, then everything a
 * verdict rests on. A void attempt is shown with what made it void and without any figure. An
 * undefined figure is called undefined; NaN and infinity never appear. Strings that come from
 * users or measured programs cannot break a line, a table or the terminal.
 */
#pragma once

#include "base/buf.h"
#include "core/raw.h"
#include "core/summary/summarise.h"

#define REPORT_WIDTH_MIN 60
#define REPORT_WIDTH_MAX 400

struct report_style {
    int width;   /* columns; 80 to 120 read best; held to MIN..MAX. Only a name that cannot be
                    broken makes a longer line */
    bool colour; /* ANSI colours; nothing but colour depends on it */
};

/* Appends the report; out ends with a newline. s is what summarise() made of raw. */
void report_text(struct buf *out, const struct raw *raw, const struct summary *s,
                 const struct report_style *style);
void report_markdown(struct buf *out, const struct raw *raw, const struct summary *s);
