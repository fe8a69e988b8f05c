/* A history as a page with a plot and a table for each value: one file, no script, nothing that is
 * loaded from elsewhere. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "proto/form/instant.h"
#include "report/history_parts.h"
#include "report/html.h"
#include "report/plot.h"

static const char head[] =
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<style>\n"
    ":root{color-scheme:light dark;--ink:#1c1c1c;--soft:#666;--line:#ddd;--paper:#fff}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e8e8e8;--soft:#a0a0a0;--line:#3a3a3a;"
    "--paper:#161616}}\n"
    "body{font:15px/1.45 system-ui,sans-serif;color:var(--ink);background:var(--paper);"
    "max-width:72rem;margin:2rem auto;padding:0 1rem}\n"
    "h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2.2rem}h3{font-size:1rem;margin:1.2rem 0 0}\n"
    "svg{width:100%;height:auto;font-size:12px}svg text{fill:var(--soft)}\n"
    ".grid{stroke:var(--line)}.axis{stroke:var(--soft)}\n"
    ".level{stroke:var(--soft);stroke-dasharray:5 4}.join{stroke-width:1.5;opacity:.55}\n"
    ".hollow{fill:var(--paper)}g{stroke-width:1.6}\n"
    ".legend{display:flex;flex-wrap:wrap;gap:.3rem 1.2rem;margin:.4rem 0}\n"
    ".legend b{display:inline-block;width:.8em;height:.8em;border-radius:50%;margin-right:.4em}\n"
    "div{overflow-x:auto}table{border-collapse:collapse;font-size:13px;width:100%}\n"
    "td,th{padding:.25rem .6rem;border-bottom:1px solid var(--line);text-align:left;"
    "white-space:nowrap}\n"
    ".n{text-align:right;font-variant-numeric:tabular-nums}\n"
    "ul{color:var(--soft);padding-left:1.2rem}\n"
    "</style>\n";

static const char key[] =
    "<p>Filled points are contractual, hollow ones diagnostic. Bars reach from the best to the 95th "
    "percentile of times, from the least to the greatest of values, and over the interval of "
    "ratios; what reaches beyond the plot is cut. Lines join what can be held against each other: "
    "one host, one boot, one suite.</p>\n";

/* ---- what is plotted */

struct drawing {
    struct arena *a;
    const struct ordered *o;
    struct plot plot;
    struct plot_point *points;
    double scale; /* from what is stored to what is shown */
    int digits;
};

/* Its place among the series, which it joins if it is not there. */
static size_t series_of(struct drawing *d, const char *name)
{
    size_t i = 0;

    while (i < d->plot.n_series && strcmp(d->plot.series[i], name) != 0)
        i++;
    if (i == d->plot.n_series)
        d->plot.series[d->plot.n_series++] = name;
    return i;
}

/* In what people read: ms of a time, ns of one operation, MiB of memory, percent of a core. */
static void choose_unit(struct drawing *d, enum measure m, const char *value, const char *unit,
                        int64_t operations)
{
    static const struct {
        enum measure measure;
        const char *unit;
        double scale;
        int digits;
    } values[] = {{MEASURE_MEMORY, "MiB", 1 / 1048576.0, 3}, {MEASURE_CPU, "% of a core", 1e-4, 4}};

    d->plot.unit = unit;
    d->scale = 1;
    d->digits = 0;
    if (!value[0]) {
        d->plot.unit = operations > 0 ? "ns of one operation" : "ms";
        d->scale = operations > 0 ? 1 : 1e-6;
        d->digits = operations > 0 ? 3 : 6;
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        if (values[i].measure == m) {
            d->plot.unit = values[i].unit;
            d->scale = values[i].scale;
            d->digits = values[i].digits;
        }
}

static void add_figure(struct drawing *d, const struct history_figure *f)
{
    double scale = f->operations > 0 ? d->scale / (double)f->operations : d->scale;
    struct plot_point *at = &d->points[d->plot.n_points++];
    char when[INSTANT_TEXT];

    *at = (struct plot_point){.ms = f->of.started_ms,
                              .y = f->median * scale,
                              .low = f->low < 0 ? (double)NAN : (double)f->low * scale,
                              .high = f->high < 0 ? (double)NAN : (double)f->high * scale,
                              .series = series_of(d, f->side),
                              .family = history_family(d->o, &f->of),
                              .solid = f->grade == GRADE_CONTRACTUAL};
    at->tip = arena_printf(d->a, "%s %s: %.*f %s at %s, commit %.10s, %s", f->lane, f->side,
                           d->digits, at->y, d->plot.unit, instant_short(f->of.started_ms, when),
                           f->commit ? f->commit : "none", grade_name(f->grade));
}

static void add_ratio(struct drawing *d, const struct history_ratio *r)
{
    struct plot_point *at = &d->points[d->plot.n_points];
    double ratio = isnan(r->ratio) ? r->ratio_of_medians : r->ratio;
    char when[INSTANT_TEXT];

    if (isnan(ratio))
        return;
    d->plot.n_points++;
    *at = (struct plot_point){
        .ms = r->of.started_ms,
        .y = ratio,
        .low = r->low,
        .high = r->high,
        .series =
            series_of(d, d->o->v->changes
                             ? arena_printf(d->a, "%s / %s", r->subject_side, r->reference_side)
                             : arena_printf(d->a, "/ %s, %s", r->reference_lane, r->subject_side)),
        .family = history_family(d->o, &r->of),
        .solid = r->grade == GRADE_CONTRACTUAL};
    at->tip = arena_printf(d->a, "%.6f %s at %s, commit %.10s, %s", ratio, r->verdict,
                           instant_short(r->of.started_ms, when),
                           r->subject_commit ? r->subject_commit : "none", grade_name(r->grade));
}

static struct drawing drawing_new(struct arena *a, const struct ordered *o, size_t n)
{
    struct drawing d = {.a = a, .o = o, .points = arena_array(a, n, sizeof *d.points)};

    d.plot.series = arena_array(a, n, sizeof *d.plot.series);
    d.plot.points = d.points;
    d.plot.line = NAN;
    return d;
}

static bool is_first(const char *lane, const char *const *drawn, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(drawn[i], lane) == 0)
            return false;
    return true;
}

static void put_lane(struct buf *out, const char *lane, const char *rest)
{
    buf_puts(out, "<h3>");
    html_put(out, lane);
    buf_printf(out, "%s</h3>\n", rest);
}

/* A plot for each lane: what changes little in one would not be seen beside a slower one. The
 * latest come first in a history, and last in a plot. */
static void draw_figures(struct buf *out, struct arena *a, const struct ordered *o, size_t from,
                         size_t n)
{
    const char **drawn = arena_array(a, n, sizeof *drawn);
    size_t n_drawn = 0;

    for (size_t k = from; k < from + n; k++) {
        const struct history_figure *of = o->figures[k];
        if (!is_first(of->lane, drawn, n_drawn))
            continue;
        struct drawing d = drawing_new(a, o, n);
        drawn[n_drawn++] = of->lane;
        choose_unit(&d, of->measure, of->value, of->unit, of->operations);
        d.plot.name = arena_printf(a, "%s of %s: %s over time", o->v->workload, of->lane,
                                   history_value(of->value));
        for (size_t i = from + n; i-- > from;)
            if (strcmp(o->figures[i]->lane, of->lane) == 0)
                add_figure(&d, o->figures[i]);
        put_lane(out, of->lane, of->control ? " (control)" : "");
        plot_svg(out, &d.plot);
    }
}

static void draw_ratios(struct buf *out, struct arena *a, const struct ordered *o, size_t from,
                        size_t n)
{
    const char **drawn = arena_array(a, n, sizeof *drawn);
    size_t n_drawn = 0;

    for (size_t k = from; k < from + n; k++) {
        const struct history_ratio *of = o->ratios[k];
        if (!is_first(of->subject_lane, drawn, n_drawn))
            continue;
        struct drawing d = drawing_new(a, o, n);
        drawn[n_drawn++] = of->subject_lane;
        d.plot.unit = "ratio";
        d.plot.line = 1;
        d.plot.name = arena_printf(a, "%s of %s: ratio of %s over time", o->v->workload,
                                   of->subject_lane, history_value(of->value));
        for (size_t i = from + n; i-- > from;)
            if (strcmp(o->ratios[i]->subject_lane, of->subject_lane) == 0)
                add_ratio(&d, o->ratios[i]);
        put_lane(out, of->subject_lane, "");
        plot_svg(out, &d.plot);
    }
}

/* ---- the page */

static void put_title(struct buf *out, const struct ordered *o)
{
    const struct history_view *v = o->v;

    html_put(out, v->workload ? v->workload : "What there is");
    if (v->against && !v->changes) {
        buf_puts(out, " against ");
        html_put(out, v->against);
    }
    buf_puts(out, v->changes ? ", side against side" : "");
}

/* The table as it stands, emptied; what it is of in front of it. */
static void put_section(struct buf *out, const char *value, const char *unit)
{
    buf_puts(out, "<h2>");
    html_put(out, history_value(value));
    buf_putc(out, ' ');
    html_put(out, unit);
    buf_puts(out, "</h2>\n");
}

static void put_table(struct buf *out, struct table *t)
{
    html_table(out, t);
    table_deinit(t);
}

static void put_note(void *ctx, const char *note)
{
    struct buf *out = ctx;

    buf_puts(out, "<li>");
    html_put(out, note);
    buf_puts(out, "</li>\n");
}

static void put_sections(struct buf *out, struct arena *a, const struct ordered *o)
{
    const struct history *h = o->v->h;
    struct table t = {0};

    for (size_t i = 0, n; i < h->n_figures; i += n) {
        n = history_same_figures(o, i);
        put_section(out, o->figures[i]->value, history_figures_table(o, i, n, &t));
        draw_figures(out, a, o, i, n);
        put_table(out, &t);
    }
    for (size_t i = 0, n; i < h->n_ratios; i += n) {
        n = history_same_ratios(o, i);
        put_section(out, o->ratios[i]->value, history_ratios_table(o, i, n, &t));
        draw_ratios(out, a, o, i, n);
        put_table(out, &t);
    }
    if (!o->v->workload) {
        history_names_table(h, &t);
        put_table(out, &t);
    }
}

void history_html(struct buf *out, const struct ordered *o)
{
    struct arena a = {0};

    buf_puts(out, head);
    buf_puts(out, "<title>");
    put_title(out, o);
    buf_puts(out, "</title>\n</head>\n<body>\n<h1>");
    put_title(out, o);
    buf_puts(out, "</h1>\n");
    if (o->v->workload)
        buf_puts(out, key);
    put_sections(out, &a, o);
    buf_puts(out, "<ul>\n");
    history_notes(o, put_note, out);
    buf_puts(out, "</ul>\n");
    buf_puts(out, "</body>\n</html>\n");
    arena_deinit(&a);
}
