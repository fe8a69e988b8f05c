/* One figure through many reports, as text, Markdown, CSV, JSON, or a page with plots.
 *
 * Times are shown as reports show them; CSV and JSON have the numbers of whole intervals in the
 * unit that they name, undivided. Rows of one family (host, boot, suite) can be held against each
 * other, others cannot: each row says which it is of, and nothing here divides one row by another.
 */
#pragma once

#include "core/summary/history.h"
#include "report/report.h"

enum history_format { HISTORY_TEXT, HISTORY_MARKDOWN, HISTORY_CSV, HISTORY_JSON, HISTORY_HTML };
const char *history_format_name(enum history_format f); /* "text", "markdown", "csv", ... */
int history_format_parse(const char *s);

struct history_view {
    const struct history *h;
    const char *workload; /* NULL: which series there are, and nothing else */
    const char *against;  /* ratios; NULL: figures */
    bool changes;         /* ratios, of sides */
    bool cut_rows;        /* series have more rows than these */
    bool cut_series;      /* there are more series */
};

/* Appends it; all but the style of text is the same for everybody. */
void history_render(struct buf *out, const struct history_view *v, enum history_format format,
                    const struct report_style *style);
