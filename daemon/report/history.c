#include "report/history.h"

#include <stdlib.h>
#include <string.h>

#include "core/names.h"
#include "report/history_parts.h"
#include "report/sections.h"

static const char *const history_format_names[] = {
    [HISTORY_TEXT] = "text", [HISTORY_MARKDOWN] = "markdown", [HISTORY_CSV] = "csv",
    [HISTORY_JSON] = "json", [HISTORY_HTML] = "html",
};
NAMES(history_format, history_format);

const char *history_value(const char *value)
{
    return value[0] ? value : "time";
}

/* ---- order */

/* Of rows that began together the order in which they were found holds. */
static int by_order(const char *x_value, const struct history_origin *x, const char *y_value,
                    const struct history_origin *y, const void *x_at, const void *y_at)
{
    int order = strcmp(x_value, y_value);

    if (order == 0)
        order = (x->started_ms < y->started_ms) - (x->started_ms > y->started_ms);
    if (order == 0)
        order = strcmp(y->attempt, x->attempt);
    return order ? order : x_at < y_at ? -1 : x_at > y_at;
}

static int figure_order(const void *x, const void *y)
{
    const struct history_figure *a = *(const struct history_figure *const *)x;
    const struct history_figure *b = *(const struct history_figure *const *)y;
    return by_order(a->value, &a->of, b->value, &b->of, a, b);
}

static int ratio_order(const void *x, const void *y)
{
    const struct history_ratio *a = *(const struct history_ratio *const *)x;
    const struct history_ratio *b = *(const struct history_ratio *const *)y;
    return by_order(a->value, &a->of, b->value, &b->of, a, b);
}

size_t history_same_figures(const struct ordered *o, size_t at)
{
    size_t end = at;
    while (end < o->v->h->n_figures && strcmp(o->figures[end]->value, o->figures[at]->value) == 0)
        end++;
    return end - at;
}

size_t history_same_ratios(const struct ordered *o, size_t at)
{
    size_t end = at;
    while (end < o->v->h->n_ratios && strcmp(o->ratios[end]->value, o->ratios[at]->value) == 0)
        end++;
    return end - at;
}

/* ---- families */

static bool is_of(const struct family *f, const struct history_origin *of)
{
    return lookup_same(f->host, of->host) && lookup_same(f->boot, of->boot) &&
           lookup_same(f->suite_sha256, of->suite_sha256);
}

size_t history_family(const struct ordered *o, const struct history_origin *of)
{
    size_t i = 0;
    while (i < o->n_families && !is_of(&o->families[i], of))
        i++;
    return i + 1;
}

static void add_family(struct ordered *o, const struct history_origin *of)
{
    if (history_family(o, of) > o->n_families)
        o->families[o->n_families++] =
            (struct family){of->host, of->boot, of->suite, of->suite_sha256};
}

void history_order(struct arena *a, const struct history_view *v, struct ordered *out)
{
    const struct history *h = v->h;

    *out = (struct ordered){.v = v,
                            .figures = arena_array(a, h->n_figures, sizeof *out->figures),
                            .ratios = arena_array(a, h->n_ratios, sizeof *out->ratios),
                            .families =
                                arena_array(a, h->n_figures + h->n_ratios, sizeof *out->families)};
    for (size_t i = 0; i < h->n_figures; i++)
        out->figures[i] = &h->figures[i];
    for (size_t i = 0; i < h->n_ratios; i++)
        out->ratios[i] = &h->ratios[i];
    if (h->n_figures)
        qsort(out->figures, h->n_figures, sizeof(void *), figure_order);
    if (h->n_ratios)
        qsort(out->ratios, h->n_ratios, sizeof(void *), ratio_order);
    for (size_t i = h->n_figures; i-- > 0;)
        add_family(out, &out->figures[i]->of);
    for (size_t i = h->n_ratios; i-- > 0;)
        add_family(out, &out->ratios[i]->of);
}

/* ---- notes */

size_t history_count_notes(const struct ordered *o)
{
    return o->n_families + (o->n_families > 1) + o->v->cut;
}

void history_note(const struct ordered *o, size_t index, struct buf *out)
{
    const struct family *f = &o->families[index];

    if (index < o->n_families && f->suite)
        buf_printf(out, "family %zu: host %s, boot %.8s, suite %s %.12s", index + 1, f->host,
                   f->boot, f->suite, f->suite_sha256);
    else if (index < o->n_families)
        buf_printf(out, "family %zu: host %s, boot %.8s, two commands", index + 1, f->host,
                   f->boot);
    else if (index == o->n_families && o->n_families > 1)
        buf_puts(out, "figures of different families are not divided by each other");
    else
        buf_puts(out, "there are more: raise --limit, or ask for those --until a day");
}

/* ---- all forms */

void history_render(struct buf *out, const struct history_view *v, enum history_format format,
                    const struct report_style *style)
{
    struct arena a = {0};
    struct ordered o;

    history_order(&a, v, &o);
    switch (format) {
    case HISTORY_TEXT:
    case HISTORY_MARKDOWN:
        history_text(out, &o, format == HISTORY_MARKDOWN, style);
        break;
    case HISTORY_CSV:
        history_csv(out, &o);
        break;
    case HISTORY_JSON:
        history_json(out, &o);
        break;
    case HISTORY_HTML:
        history_html(out, &o);
        break;
    }
    arena_deinit(&a);
}
