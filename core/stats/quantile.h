/* Order statistics and moments: one definition each, with its source.
 *
 * Every function is pure and allocates nothing. Samples are sorted by the caller where the
 * parameter says so. Integers are at most 2^53 in magnitude (the largest that a document carries),
 * so that a double holds each exactly. Only the four operations and sqrt() are used, and
 * contraction is off (core/meson.build): another machine gets the same bits.
 * Undefined is NaN for a double and -1 for an integer, never 0.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Ascending, in place. Doubles must not be NaN. */
void quantile_sort_ints(int64_t *values, size_t n);
void quantile_sort(double *values, size_t n);

/* The middle value; for even n the mean of the two middle ones. NaN when n is 0.
 * Hyndman & Fan, "Sample Quantiles in Statistical Packages", The American Statistician 50 (1996)
 * 361-365: every definition there that is symmetric gives this value at p = 1/2. */
double quantile_median_ints(const int64_t *sorted, size_t n);
double quantile_median(const double *sorted, size_t n);

/* Median of the absolute deviations from the median, unscaled (no factor 1.4826). NaN when n is 0.
 * Hampel, "The Influence Curve and its Role in Robust Estimation", JASA 69 (1974) 383-393. */
double quantile_mad(const int64_t *sorted, size_t n);

/* Nearest rank: the value at rank ceil(0.95 n), the rank computed in integers; -1 when n is 0.
 * Definition 1 of Hyndman & Fan (1996). */
int64_t quantile_p95(const int64_t *sorted, size_t n);
/* The same at rank ceil(0.99 n): up to 99 samples it is the largest. */
int64_t quantile_p99(const int64_t *sorted, size_t n);

/* The minimum; -1 when n is 0. */
int64_t quantile_best(const int64_t *sorted, size_t n);

/* Beyond it a document holds no exact number. */
#define QUANTILE_TOTAL_MAX ((INT64_C(1) << 53) - 1)
/* The sum of values in any order; -1 when n is 0 or the sum is beyond that. */
int64_t quantile_total(const int64_t *values, size_t n);

/* Percentile with 0 <= p <= 1 by linear interpolation at h = (n - 1) p, counted from 0. NaN when n
 * is 0 or p lies outside. Definition 7 of Hyndman & Fan (1996), the R-7 of receipts. */
double quantile_r7(const double *sorted, size_t n, double p);

/* Arithmetic mean and population standard deviation (divisor n), in two passes: Chan, Golub &
 * LeVeque, "Algorithms for Computing the Sample Variance", The American Statistician 37 (1983)
 * 242-247. NaN when n is 0. */
double quantile_mean(const double *values, size_t n);
double quantile_stddev(const double *values, size_t n);
