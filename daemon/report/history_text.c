/* A history for a terminal, or as Markdown. */
#include <stdio.h>

#include "report/history_parts.h"
#include "report/sections.h"

/* "RATIOS  fib30, time in ms, against rust" */
static void put_heading(struct page *p, const struct history_view *v, const char *value,
                        const char *unit)
{
    char note[512];
    (void)snprintf(note, sizeof note, "%.120s, %.120s %.40s%s%.120s", v->workload,
                   history_value(value), unit,
                   v->changes   ? ", side against side"
                   : v->against ? ", against "
                                : "",
                   v->against && !v->changes ? v->against : "");
    page_section(p, v->against || v->changes ? "Ratios" : "Figures", note);
}

static void put_note(void *ctx, const char *note)
{
    page_item(ctx, "%s", note);
}

void history_text(struct buf *out, const struct ordered *o, bool markdown,
                  const struct report_style *style)
{
    struct page p = {.out = out,
                     .form = markdown ? PAGE_MARKDOWN : PAGE_TEXT,
                     .width = (size_t)style->width,
                     .colour = style->colour};
    const struct history *h = o->v->h;
    struct table t = {0};

    if (!o->v->workload)
        history_names_table(h, &t);
    page_table(&p, &t);
    for (size_t i = 0, n; i < h->n_figures; i += n) {
        n = history_same_figures(o, i);
        put_heading(&p, o->v, o->figures[i]->value, history_figures_table(o, i, n, &t));
        page_table(&p, &t);
    }
    for (size_t i = 0, n; i < h->n_ratios; i += n) {
        n = history_same_ratios(o, i);
        put_heading(&p, o->v, o->ratios[i]->value, history_ratios_table(o, i, n, &t));
        page_table(&p, &t);
    }
    if (h->n_names + h->n_figures + h->n_ratios == 0)
        page_say(&p, "%s",
                 o->v->workload
                     ? "no report of these days, sides, suites and grades has it"
                     : "no figures yet: they are kept of what is measured from now on, not of "
                       "reports that older versions sealed");
    history_notes(o, put_note, &p);
}
