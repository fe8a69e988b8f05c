/* The interval of a median by order statistics: no assumption about the distribution but that the
 * values are independent draws of one. Thompson, "On Confidence Ranges for the Median and Other
 * Expectation Distributions for Populations of Unknown Distribution Form", Annals of Mathematical
 * Statistics 7 (1936) 122-128; it inverts the sign test, and its coverage follows from the binomial
 * distribution alone. Pure; nothing is owned.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define INTERVAL_COVERAGE_MIN 0.95

struct interval {
    bool defined; /* false: too few pairs; low, high and coverage are then NaN, the ranks 0 */
    double low, high;
    double coverage;         /* exact, 0.988... */
    int rank_low, rank_high; /* 1-based order statistics */
};

/* Coverage of the interval between the values at rank and at n + 1 - rank (1-based) for the
 * median: 1 - 2 P(X < rank), X binomial with n trials of 1/2. */
double interval_coverage(size_t n, size_t rank);

/* The larger rank gives the narrower interval; this is the largest whose coverage is at least
 * INTERVAL_COVERAGE_MIN, or 0 when n is too small for any (n < 6). */
size_t interval_rank(size_t n);

/* The interval of the median of n ascending values. */
void interval_of_median(const double *sorted, size_t n, struct interval *out);
