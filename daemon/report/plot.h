/* A plot of points over time as SVG, for a page of its own: nothing but text, no script.
 *
 * Points of one series are joined where they can be held against each other (same family), never
 * beyond. What is uncertain stands as a bar; a point that is not contractual is hollow.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct plot_point {
    int64_t ms;          /* Unix time */
    double y, low, high; /* low and high: NaN, no bar */
    size_t series, family;
    bool solid;
    const char *tip; /* said where one points at it */
};

struct plot {
    const char *name;    /* for who cannot see it */
    const char *unit;    /* of y */
    const char **series; /* names, for the legend */
    size_t n_series;
    const struct plot_point *points; /* ascending by time within each series */
    size_t n_points;
    double line; /* NaN: none; else a line across, such as a ratio of 1 */
};

/* Appends the element, with its legend; nothing where there is no point. */
void plot_svg(struct buf *out, const struct plot *p);
