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
    return value[0] ? value : HISTORY_TIME;
}

/* ---- order */

/* By what a row has its place: sections hold what has one unit, the latest first. */
struct key {
    const char *value, *unit;
    enum measure measure;
    bool counted; /* by operations */
    const struct history_origin *of;
    const void *at; /* of rows that began together the order in which they were found holds */
};

static struct key figure_key(const struct history_figure *f)
{
    return (struct key){f->value, f->unit, f->measure, f->operations > 0, &f->of, f};
}

static struct key ratio_key(const struct history_ratio *r)
{
    return (struct key){r->value, r->unit, r->measure, r->operations > 0, &r->of, r};
}

static int section_order(const struct key *x, const struct key *y)
{
    int order = strcmp(x->value, y->value);

    order = order ? order : strcmp(x->unit, y->unit);
    order = order ? order : (int)x->measure - (int)y->measure;
    return order ? order : (int)x->counted - (int)y->counted;
}

static int key_order(struct key x, struct key y)
{
    int order = section_order(&x, &y);

    if (order == 0)
        order = (x.of->started_ms < y.of->started_ms) - (x.of->started_ms > y.of->started_ms);
    if (order == 0)
        order = strcmp(y.of->attempt, x.of->attempt);
    return order ? order : x.at < y.at ? -1 : x.at > y.at;
}

static int figure_order(const void *x, const void *y)
{
    return key_order(figure_key(*(const struct history_figure *const *)x),
                     figure_key(*(const struct history_figure *const *)y));
}

static int ratio_order(const void *x, const void *y)
{
    return key_order(ratio_key(*(const struct history_ratio *const *)x),
                     ratio_key(*(const struct history_ratio *const *)y));
}

size_t history_same_figures(const struct ordered *o, size_t at)
{
    struct key first = figure_key(o->figures[at]), next = first;
    size_t end = at;
    while (section_order(&first, &next) == 0 && ++end < o->v->h->n_figures)
        next = figure_key(o->figures[end]);
    return end - at;
}

size_t history_same_ratios(const struct ordered *o, size_t at)
{
    struct key first = ratio_key(o->ratios[at]), next = first;
    size_t end = at;
    while (section_order(&first, &next) == 0 && ++end < o->v->h->n_ratios)
        next = ratio_key(o->ratios[end]);
    return end - at;
}

/* ---- families */

static bool is_of(const struct family *f, const struct history_origin *of)
{
    return text_equal(f->host, of->host) && text_equal(f->boot, of->boot) &&
           text_equal(f->suite_sha256, of->suite_sha256);
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
    size_t i = history_family(o, of) - 1;

    if (i == o->n_families)
        o->families[o->n_families++] = (struct family){of->host,         of->boot,  of->suite,
                                                       of->suite_sha256, of->label, of->started_ms};
    if (of->started_ms < o->families[i].first_ms) {
        o->families[i].first_ms = of->started_ms;
        o->families[i].label = of->label;
    }
}

static int family_order(const void *x, const void *y)
{
    const struct family *a = x, *b = y;
    return (a->first_ms > b->first_ms) - (a->first_ms < b->first_ms);
}

void history_order(struct arena *a, const struct history_view *v, struct ordered *out)
{
    const struct history *h = v->h;
    size_t n = h->n_figures + h->n_ratios;

    *out = (struct ordered){.v = v,
                            .figures = arena_array(a, h->n_figures, sizeof *out->figures),
                            .ratios = arena_array(a, h->n_ratios, sizeof *out->ratios),
                            .families = arena_array(a, n, sizeof *out->families)};
    for (size_t i = 0; i < h->n_figures; i++) {
        out->figures[i] = &h->figures[i];
        add_family(out, &h->figures[i].of);
    }
    for (size_t i = 0; i < h->n_ratios; i++) {
        out->ratios[i] = &h->ratios[i];
        add_family(out, &h->ratios[i].of);
    }
    if (h->n_figures)
        qsort(out->figures, h->n_figures, sizeof(void *), figure_order);
    if (h->n_ratios)
        qsort(out->ratios, h->n_ratios, sizeof(void *), ratio_order);
    if (out->n_families)
        qsort(out->families, out->n_families, sizeof *out->families, family_order);
}

/* ---- notes */

static void put_family(const struct ordered *o, size_t i, struct buf *out)
{
    const struct family *f = &o->families[i];

    buf_printf(out, "family %zu: host %s, boot %.8s", i + 1, f->host, f->boot);
    if (f->suite)
        buf_printf(out, ", suite %s %.12s", f->suite, f->suite_sha256);
    if (f->label)
        buf_printf(out, ", first measured as %s", f->label);
}

void history_notes(const struct ordered *o, history_note_fn put, void *ctx)
{
    struct buf line = {0};

    for (size_t i = 0; i < o->n_families; i++) {
        buf_clear(&line);
        put_family(o, i, &line);
        put(ctx, buf_str(&line));
    }
    buf_deinit(&line);
    if (o->n_families > 1)
        put(ctx, "figures of different families are not divided by each other");
    if (o->v->cut_rows)
        put(ctx, "there are older rows: raise --limit, or ask for those --until a day");
    if (o->v->cut_series)
        put(ctx, o->v->workload ? "not all lanes and values are here: name one by --lane or --value"
                                : "there are more workloads than are listed: name one");
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
