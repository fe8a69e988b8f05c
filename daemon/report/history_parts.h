/* What the forms of a history share. Internal to the report module. */
#pragma once

#include "base/arena.h"
#include "report/history.h"
#include "report/table.h"

/* The rows that can be held against each other, numbered from 1 by when the first of them began. */
struct family {
    const char *host, *boot, *suite, *suite_sha256;
    const char *label; /* of the first; NULL: none */
    int64_t first_ms;
};

/* A history in the order in which it is shown: by value and unit; then the latest first. */
struct ordered {
    const struct history_view *v;
    const struct history_figure **figures;
    const struct history_ratio **ratios;
    struct family *families;
    size_t n_families;
};
void history_order(struct arena *a, const struct history_view *v, struct ordered *out);
/* The number of the row's family. */
size_t history_family(const struct ordered *o, const struct history_origin *of);
/* How many rows from at on are of the same value, in the same unit. */
size_t history_same_figures(const struct ordered *o, size_t at);
size_t history_same_ratios(const struct ordered *o, size_t at);

/* "time", or the name of the value. */
const char *history_value(const char *value);

/* Fill an empty table; the first two with n rows from at on, and say what their unit is. */
const char *history_figures_table(const struct ordered *o, size_t from, size_t n, struct table *t);
const char *history_ratios_table(const struct ordered *o, size_t from, size_t n, struct table *t);
void history_names_table(const struct history *h, struct table *t);
/* Puts what stands below the tables, a sentence each. */
typedef void (*history_note_fn)(void *ctx, const char *note);
void history_notes(const struct ordered *o, history_note_fn put, void *ctx);

void history_text(struct buf *out, const struct ordered *o, bool markdown,
                  const struct report_style *style);
void history_csv(struct buf *out, const struct ordered *o);
void history_json(struct buf *out, const struct ordered *o);
void history_html(struct buf *out, const struct ordered *o);
