/* Two samples without pairs: the ratio by which one differs from the other, and its interval.
 *
 * The Mann-Whitney shift on logarithms. A shift of logarithms is a ratio, and logarithms keep the
 * order, so the work is done on the m n ratios subject_i / reference_j themselves: only division
 * and sqrt() are used, which give the same bits on every machine. The interval assumes that both
 * samples are independent draws of distributions that differ by that factor alone. Pure.
 *
 * Estimate: Hodges & Lehmann, "Estimates of Location Based on Rank Tests", Annals of Mathematical
 * Statistics 34 (1963) 598-611. Interval: Hollander & Wolfe, "Nonparametric Statistical Methods",
 * 2nd ed. (1999), sections 4.2 and 4.3 (due to Moses). Null distribution of U: Mann & Whitney,
 * "On a Test of Whether one of Two Random Variables is Stochastically Larger than the Other",
 * Annals of Mathematical Statistics 18 (1947) 50-60.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "core/stats/interval.h"

/* P(U >= rank and U <= m n - rank): the coverage of the interval between the ratios at rank and at
 * m n + 1 - rank (1-based) of the m n ascending ones. Exact, counted in integers, up to about 2^110
 * arrangements (58 and 58, 17 and 1000 observations); beyond that by an Edgeworth series whose
 * error is below SHIFT_SERIES_ERROR. NaN unless 1 <= rank <= m n / 2. */
double shift_coverage(size_t m, size_t n, size_t rank);

/* The largest rank whose coverage is at least INTERVAL_COVERAGE_MIN, 0 when there is none (3 and 4
 * observations). Where the coverage comes from the series, its error is added to what is asked. */
size_t shift_rank(size_t m, size_t n);
#define SHIFT_SERIES_ERROR 1e-6

struct shift {
    double ratio;             /* the median of the m n ratios; for even m n the geometric mean of
                                 the two middle ones. NaN: undefined */
    struct interval interval; /* closed, so that ties can only raise its coverage (Noether 1967) */
};

/* Both ascending. Undefined unless every value is positive and there is one of each. */
void shift_of(const int64_t *subject, size_t m, const int64_t *reference, size_t n,
              struct shift *out);
