#include "core/stats/shift.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

/* ---- the null distribution of U, counted */

__extension__ typedef unsigned __int128 count;

/* Room above it for one more factor of the binomial coefficient. */
#define COUNTED_MAX 0x1p110
#define TAIL_SHARE 40 /* 1 / ((1 - INTERVAL_COVERAGE_MIN) / 2) */

/* C(m + n, m), by which all arrangements are counted. */
static double arrangements(size_t m, size_t n)
{
    double all = 1;
    for (size_t i = 1; i <= m && all < COUNTED_MAX; i++)
        all = all * (double)(n + i) / (double)i;
    return all;
}

static bool is_counted(size_t m, size_t n)
{
    return n < (1 << 16) && arrangements(m, n) < COUNTED_MAX;
}

static count arrangements_exact(size_t m, size_t n)
{
    count all = 1;
    for (size_t i = 1; i <= m; i++)
        all = all * (n + i) / i;
    return all;
}

/* How many arrangements have U = 0 .. size - 1: the coefficients of the Gaussian binomial, the
 * product over i = 1..m of (1 - q^(n + i)) / (1 - q^i). Wrapping is exact: each product up to i has
 * coefficients that fit. */
static count *counts_of(size_t m, size_t n, size_t size)
{
    count *c = mem_alloc(size * sizeof *c);
    c[0] = 1;
    for (size_t i = 1; i <= m; i++) {
        for (size_t u = size; u-- > n + i;)
            c[u] -= c[u - n - i];
        for (size_t u = i; u < size; u++)
            c[u] += c[u - i];
    }
    return c;
}

/* Arrangements with U < rank. */
static count counted_below(size_t m, size_t n, size_t rank)
{
    count *c = counts_of(m, n, rank), below = 0;
    for (size_t u = 0; u < rank; u++)
        below += c[u];
    free(c);
    return below;
}

static size_t counted_rank(size_t m, size_t n)
{
    size_t half = m * n / 2, rank = 0;
    count *c = counts_of(m, n, half + 1), below = 0, most = arrangements_exact(m, n) / TAIL_SHARE;
    while (rank < half && below + c[rank] <= most)
        below += c[rank++];
    free(c);
    return rank;
}

/* ---- the null distribution of U, by its cumulants */

/* U plus a uniform part of the width of one step is continuous, and has at k + 1/2 the distribution
 * function that U has at k: no correction for continuity is left to make. */
struct cumulants {
    double sd, g4, g6; /* standard deviation; 4th and 6th cumulant over its power */
};

/* From log of the Gaussian binomial: cumulant 2r of U is B_2r / 2r times the sum over i = 1..m of
 * (n + i)^2r - i^2r, B the Bernoulli numbers 1/6, -1/30, 1/42; that of the uniform part B_2r / 2r.
 */
static struct cumulants cumulants_of(size_t m, size_t n)
{
    double s2 = 1, s4 = 1, s6 = 1;
    for (size_t i = 1; i <= m; i++) {
        double low = (double)i * (double)i, high = (double)(n + i) * (double)(n + i);
        s2 += high - low;
        s4 += high * high - low * low;
        s6 += high * high * high - low * low * low;
    }
    double variance = s2 / 12;
    return (struct cumulants){.sd = sqrt(variance),
                              .g4 = -s4 / 120 / (variance * variance),
                              .g6 = s6 / 252 / (variance * variance * variance)};
}

/* exp(-x) for x >= 0 by its series, so that every machine gets the same bits: the C library's may
 * differ in the last place. */
static double exp_minus(double x)
{
    double term = 1, sum = 1, part = x / 64;
    for (int i = 1; i < 60; i++) {
        term *= -part / i;
        sum += term;
    }
    for (int i = 0; i < 6; i++)
        sum *= sum;
    return sum;
}

/* Density and distribution function of the standard normal: Phi(z) = 1/2 + phi(z) (z + z^3 / 3 +
 * z^5 / (3 5) + ...), Abramowitz & Stegun 26.2.11. */
static double normal_density(double z)
{
    return exp_minus(z * z / 2) * 0.39894228040143267794;
}

static double normal_below(double z)
{
    double term = z, sum = z;
    for (int i = 3; i < 400; i += 2) {
        term *= z * z / i;
        sum += term;
    }
    return 0.5 + normal_density(z) * sum;
}

/* P(U < rank): Edgeworth's series, as far as Fix & Hodges, "Significance Probabilities of the
 * Wilcoxon Test", Annals of Mathematical Statistics 26 (1955) 301-312, take it. */
static double series_below(const struct cumulants *k, size_t m, size_t n, size_t rank)
{
    double z = ((double)rank - 0.5 - (double)m * (double)n / 2) / k->sd, y = z * z;
    if (z < -8)
        return 0;
    double h3 = z * (y - 3), h5 = z * (y * (y - 10) + 15),
           h7 = z * (y * (y * (y - 21) + 105) - 105);
    return normal_below(z) -
           normal_density(z) * (k->g4 / 24 * h3 + k->g6 / 720 * h5 + k->g4 * k->g4 / 1152 * h7);
}

static size_t series_rank(size_t m, size_t n)
{
    const struct cumulants k = cumulants_of(m, n);
    const double outside = (1 - INTERVAL_COVERAGE_MIN - SHIFT_SERIES_ERROR) / 2;
    size_t fits = 0, over = m * n / 2 + 1;
    while (over - fits > 1) {
        size_t rank = fits + (over - fits) / 2;
        if (series_below(&k, m, n, rank) <= outside)
            fits = rank;
        else
            over = rank;
    }
    return fits;
}

/* ---- both */

double shift_coverage(size_t m, size_t n, size_t rank)
{
    if (m > n)
        return shift_coverage(n, m, rank);
    if (m == 0 || rank == 0 || rank > m * n / 2)
        return NAN;
    if (is_counted(m, n))
        return 1 - 2 * ((double)counted_below(m, n, rank) / (double)arrangements_exact(m, n));
    const struct cumulants k = cumulants_of(m, n);
    return 1 - 2 * series_below(&k, m, n, rank);
}

size_t shift_rank(size_t m, size_t n)
{
    if (m > n)
        return shift_rank(n, m);
    if (m == 0)
        return 0;
    return is_counted(m, n) ? counted_rank(m, n) : series_rank(m, n);
}

/* ---- the ordered ratios, without making them all */

struct ratios {
    const int64_t *subject, *reference; /* ascending */
    size_t m, n;
};

static double ratio_at(const struct ratios *r, size_t i, size_t j)
{
    return (double)r->subject[i] / (double)r->reference[j];
}

/* How many ratios are at most limit. A larger subject needs a larger reference to stay below, so
 * one pass over both is enough; rounding keeps the order. */
static size_t count_up_to(const struct ratios *r, double limit)
{
    size_t total = 0, j = 0;
    for (size_t i = 0; i < r->m; i++) {
        while (j < r->n && ratio_at(r, i, j) > limit)
            j++;
        total += r->n - j;
    }
    return total;
}

/* Positive doubles are ordered as their bits are, which makes them countable. */
static uint64_t bits_of(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static double value_of(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* The ratio at this rank (1-based): the smallest number that so many are not above. */
static double ratio_of_rank(const struct ratios *r, size_t rank)
{
    uint64_t low = bits_of(ratio_at(r, 0, r->n - 1)), high = bits_of(ratio_at(r, r->m - 1, 0));
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (count_up_to(r, value_of(middle)) >= rank)
            high = middle;
        else
            low = middle + 1;
    }
    return value_of(low);
}

static double median_ratio(const struct ratios *r)
{
    size_t all = r->m * r->n;
    double low = ratio_of_rank(r, (all + 1) / 2);
    return all % 2 ? low : sqrt(low * ratio_of_rank(r, all / 2 + 1));
}

void shift_of(const int64_t *subject, size_t m, const int64_t *reference, size_t n,
              struct shift *out)
{
    const struct ratios r = {subject, reference, m, n};
    *out = (struct shift){.ratio = NAN, .interval = {.low = NAN, .high = NAN, .coverage = NAN}};
    if (m == 0 || n == 0 || subject[0] <= 0 || reference[0] <= 0)
        return;
    out->ratio = median_ratio(&r);
    size_t rank = shift_rank(m, n);
    if (rank == 0)
        return;
    out->interval = (struct interval){.defined = true,
                                      .low = ratio_of_rank(&r, rank),
                                      .high = ratio_of_rank(&r, m * n + 1 - rank),
                                      .coverage = shift_coverage(m, n, rank),
                                      .rank_low = (int)rank,
                                      .rank_high = (int)(m * n + 1 - rank)};
}
