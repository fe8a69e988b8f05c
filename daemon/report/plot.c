#include "report/plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "proto/form/instant.h"
#include "report/html.h"

#define WIDTH 960.0
#define HEIGHT 280.0
#define LEFT 92.0
#define RIGHT 24.0
#define TOP 14.0
#define BOTTOM 40.0
#define DAY_MS 86400000.0
#define MINUTE_MS 60000.0
#define TICKS_X_MAX 8

/* Eight that people with any colour vision can tell apart: Okabe and Ito, "Color Universal Design"
 * (2008), with the yellow darkened for white paper. */
static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                      "#56b4e9", "#e69f00", "#8a7f00", "#555555"};

/* ---- scales */

struct scale {
    double from, to;       /* of what is shown */
    double at_from, at_to; /* where that lies */
};

static double place(const struct scale *s, double v)
{
    return s->at_from + (v - s->from) / (s->to - s->from) * (s->at_to - s->at_from);
}

static void widen(struct scale *s, double v)
{
    if (isnan(v))
        return;
    s->from = v < s->from ? v : s->from;
    s->to = v > s->to ? v : s->to;
}

/* 1, 2 or 5 times a power of ten, so that a range has three to seven of them. */
static double nice_step(double range)
{
    double step = pow(10, floor(log10(range / 3)));

    if (range / (step * 5) >= 3)
        return step * 5;
    return range / (step * 2) >= 3 ? step * 2 : step;
}

/* Where a bar ends in the plot: one may reach out further than the points do together. */
static double held(const struct scale *s, double v)
{
    double low = place(s, s->from), high = place(s, s->to), at = place(s, v);

    return at > low ? low : at < high ? high : at;
}

static void fit_x(const struct plot *p, struct scale *x)
{
    *x = (struct scale){INFINITY, -INFINITY, LEFT, WIDTH - RIGHT};
    for (size_t i = 0; i < p->n_points; i++)
        widen(x, (double)p->points[i].ms);
    double room = x->to - x->from > 0 ? (x->to - x->from) * 0.03 : DAY_MS / 2;
    x->from -= room;
    x->to += room;
}

/* Bars widen it by as much as the points need on either side, so that one wild interval does not
 * press all points together. */
static void fit_y(const struct plot *p, struct scale *y)
{
    struct scale points = {INFINITY, -INFINITY, HEIGHT - BOTTOM, TOP}, bars;

    for (size_t i = 0; i < p->n_points; i++)
        widen(&points, p->points[i].y);
    widen(&points, p->line);
    double least = fabs(points.to) * 0.02, range = points.to - points.from;
    range = range > least ? range : least > 0 ? least : 1;
    bars = points;
    for (size_t i = 0; i < p->n_points; i++) {
        widen(&bars, p->points[i].low);
        widen(&bars, p->points[i].high);
    }
    *y = points;
    y->from = fmax(bars.from, points.from - range) - range * 0.06;
    y->to = fmin(bars.to, points.to + range) + range * 0.06;
}

/* Series stand beside each other where they have points at the same time. */
static double beside(const struct plot *p, size_t series)
{
    double step = p->n_series > 6 ? 30.0 / (double)p->n_series : 5;
    return ((double)series - (double)(p->n_series - 1) / 2) * step;
}

/* ---- parts */

static void put_text_at(struct buf *out, double x, double y, const char *anchor, const char *text)
{
    buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    html_put(out, text);
    buf_puts(out, "</text>\n");
}

static void put_line(struct buf *out, const char *class, double x1, double y1, double x2, double y2)
{
    buf_printf(out, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", class,
               x1, y1, x2, y2);
}

static void put_y_axis(struct buf *out, const struct plot *p, const struct scale *y)
{
    double step = nice_step(y->to - y->from);
    int digits = step >= 1 ? 0 : (int)ceil(-log10(step) - 1e-9);
    char text[64];

    for (double v = ceil(y->from / step) * step; v <= y->to; v += step) {
        put_line(out, "grid", LEFT, place(y, v), WIDTH - RIGHT, place(y, v));
        (void)snprintf(text, sizeof text, "%.*f", digits, fabs(v) < step / 2 ? 0 : v);
        put_text_at(out, LEFT - 8, place(y, v) + 4, "end", text);
    }
    buf_printf(out, "<text transform=\"translate(16 %.1f) rotate(-90)\" text-anchor=\"middle\">",
               (TOP + HEIGHT - BOTTOM) / 2);
    html_put(out, p->unit);
    buf_puts(out, "</text>\n");
}

/* The shortest step that a calendar or a clock has, such that there are not too many ticks. */
static double time_step(double span)
{
    static const double minutes[] = {1.0 / 60, 0.25, 1,    5,     15,    60,    180,    360,
                                     720,      1440, 2880, 10080, 20160, 43200, 129600, 525600};
    size_t i = 0;

    while (i + 1 < ARRAY_LEN(minutes) && span / (minutes[i] * MINUTE_MS) > TICKS_X_MAX)
        i++;
    return ceil(span / (minutes[i] * MINUTE_MS) / TICKS_X_MAX) * minutes[i] * MINUTE_MS;
}

/* As much of an instant as differs from tick to tick. */
static void put_x_axis(struct buf *out, const struct scale *x)
{
    double step = time_step(x->to - x->from);
    char text[INSTANT_TEXT];

    for (double ms = ceil(x->from / step) * step; ms <= x->to; ms += step) {
        double at = place(x, ms);
        (void)instant_text((int64_t)ms, text);
        text[10] = step < DAY_MS ? ' ' : '\0';
        text[step < MINUTE_MS ? 19 : 16] = '\0';
        put_line(out, "grid", at, HEIGHT - BOTTOM, at, HEIGHT - BOTTOM + 5);
        put_text_at(out, at, HEIGHT - BOTTOM + 20, "middle", text);
    }
    put_text_at(out, WIDTH - RIGHT, HEIGHT - 4, "end", "UTC");
}

/* The latest point before this one of the same series and family; NULL: there is none. */
static const struct plot_point *before(const struct plot *p, size_t i)
{
    const struct plot_point *at = &p->points[i];

    while (i-- > 0)
        if (p->points[i].series == at->series && p->points[i].family == at->family)
            return &p->points[i];
    return NULL;
}

static void put_join(struct buf *out, const struct plot *p, size_t i, const struct scale *x,
                     const struct scale *y)
{
    const struct plot_point *at = &p->points[i], *from = before(p, i);

    if (from)
        buf_printf(out,
                   "<line class=\"join\" stroke=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" "
                   "y2=\"%.1f\"/>\n",
                   colours[at->series % ARRAY_LEN(colours)],
                   place(x, (double)from->ms) + beside(p, at->series), place(y, from->y),
                   place(x, (double)at->ms) + beside(p, at->series), place(y, at->y));
}

static void put_point(struct buf *out, const struct plot *p, const struct plot_point *at,
                      const struct scale *x, const struct scale *y)
{
    const char *colour = colours[at->series % ARRAY_LEN(colours)];
    double px = place(x, (double)at->ms) + beside(p, at->series);

    buf_printf(out, "<g stroke=\"%s\"><title>", colour);
    html_put(out, at->tip);
    buf_puts(out, "</title>");
    if (!isnan(at->low) && !isnan(at->high))
        buf_printf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>", px,
                   held(y, at->low), px, held(y, at->high));
    if (at->solid)
        buf_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"/></g>\n", px,
                   place(y, at->y), colour);
    else
        buf_printf(out, "<circle class=\"hollow\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/></g>\n", px,
                   place(y, at->y));
}

static void put_legend(struct buf *out, const struct plot *p)
{
    buf_puts(out, "<p class=\"legend\">");
    for (size_t i = 0; i < p->n_series; i++) {
        buf_printf(out, "<span><b style=\"background:%s\"></b>", colours[i % ARRAY_LEN(colours)]);
        html_put(out, p->series[i]);
        buf_puts(out, "</span>\n");
    }
    buf_puts(out, "</p>\n");
}

void plot_svg(struct buf *out, const struct plot *p)
{
    struct scale x, y;

    if (p->n_points == 0)
        return;
    fit_x(p, &x);
    fit_y(p, &y);
    put_legend(out, p);
    buf_printf(out, "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"", WIDTH, HEIGHT);
    html_put(out, p->name);
    buf_puts(out, "\">\n");
    put_y_axis(out, p, &y);
    put_x_axis(out, &x);
    put_line(out, "axis", LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - BOTTOM);
    if (!isnan(p->line))
        put_line(out, "level", LEFT, place(&y, p->line), WIDTH - RIGHT, place(&y, p->line));
    for (size_t i = 0; i < p->n_points; i++)
        put_join(out, p, i, &x, &y);
    for (size_t i = 0; i < p->n_points; i++)
        put_point(out, p, &p->points[i], &x, &y);
    buf_puts(out, "</svg>\n");
}
