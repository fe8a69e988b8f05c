/* The part of the store that follows figures through many reports, the latest first. Rows are
 * written with their report and never changed. The rules are those of store.h.
 */
#pragma once

#include "core/summary/history.h"
#include "store/store.h"

#define STORE_SERIES_MAX 1000 /* rows, or series, that one question is answered with */

/* Which rows of one series; or which series, where value and lane may be NULL: all. HISTORY_TIME
 * means the time, too. */
struct store_series {
    const char *workload, *value, *lane;
    const char *against;        /* of ratios: the reference's lane; the same as lane: of sides */
    const char *side, *suite;   /* NULL: of all; side is the subject's */
    bool contractual;           /* no others */
    int64_t since_ms, until_ms; /* of the attempt's start: from, and before */
    int limit;                  /* 1 to STORE_SERIES_MAX */
};
/* The latest come first. *may_read: rows that may still be looked at, wanted or not, which are
 * taken off it. *more: there are others, or may be. -EINVAL "store.bad_limit". */
int store_figure_list(struct store *s, const struct store_series *of, int *may_read,
                      struct arena *a, struct history_figure **out, size_t *n, bool *more,
                      struct err *e);
int store_ratio_list(struct store *s, const struct store_series *of, int *may_read, struct arena *a,
                     struct history_ratio **out, size_t *n, bool *more, struct err *e);

/* The series that there are, in the order of workload, value and lane; workload NULL: of all. At
 * most of->limit; more: there are others behind them. */
int store_series_list(struct store *s, const struct store_series *of, struct arena *a,
                      struct history_name **out, size_t *n, bool *more, struct err *e);
