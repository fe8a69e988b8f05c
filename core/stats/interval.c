#include "core/stats/interval.h"

#include <math.h>

/* The sum of C(n, 0) .. C(n, i), kept as sum * 2^shift so that no n overflows it. Multiplication by
 * a power of two is exact, and the integers are too while they fit in 53 bits (n up to 50); beyond
 * that the error is a few units of the last place. */
struct tail {
    size_t n, i;
    double term; /* C(n, i) */
    double sum;
    int shift;
};

static void tail_init(struct tail *t, size_t n)
{
    *t = (struct tail){.n = n, .term = 1, .sum = 1};
}

static void tail_next(struct tail *t)
{
    t->term = t->term * (double)(t->n - t->i) / (double)(t->i + 1);
    t->sum += t->term;
    t->i++;
    if (t->sum > 0x1p500) {
        t->term *= 0x1p-500;
        t->sum *= 0x1p-500;
        t->shift += 500;
    }
}

/* P(X <= i) for X binomial with n trials of probability 1/2. */
static double tail_probability(const struct tail *t)
{
    double p = t->sum;
    int halves = (int)t->n - t->shift; /* never negative: the sum is at most 2^n */

    for (; halves >= 500; halves -= 500)
        p *= 0x1p-500;
    for (; halves > 0; halves--)
        p /= 2;
    return p;
}

double interval_coverage(size_t n, size_t rank)
{
    if (n == 0 || rank == 0 || rank > n / 2)
        return NAN;
    struct tail t;
    tail_init(&t, n);
    while (t.i + 1 < rank)
        tail_next(&t);
    return 1 - 2 * tail_probability(&t);
}

size_t interval_rank(size_t n)
{
    const double outside = (1 - INTERVAL_COVERAGE_MIN) / 2;
    size_t rank = 0;
    struct tail t;
    tail_init(&t, n);
    while (rank < n / 2 && tail_probability(&t) <= outside) {
        rank++;
        tail_next(&t);
    }
    return rank;
}

void interval_of_median(const double *sorted, size_t n, struct interval *out)
{
    *out = (struct interval){.low = NAN, .high = NAN, .coverage = NAN};
    size_t rank = interval_rank(n);
    if (rank == 0)
        return;
    out->defined = true;
    out->low = sorted[rank - 1];
    out->high = sorted[n - rank];
    out->coverage = interval_coverage(n, rank);
    out->rank_low = (int)rank;
    out->rank_high = (int)(n + 1 - rank);
}
