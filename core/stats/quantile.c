#include "core/stats/quantile.h"

#include <math.h>
#include <stdlib.h>

static int order_ints(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int order_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void quantile_sort_ints(int64_t *values, size_t n)
{
    if (n > 1)
        qsort(values, n, sizeof *values, order_ints);
}

void quantile_sort(double *values, size_t n)
{
    if (n > 1)
        qsort(values, n, sizeof *values, order_doubles);
}

double quantile_median_ints(const int64_t *sorted, size_t n)
{
    if (n == 0)
        return NAN;
    size_t middle = n / 2;
    if (n % 2)
        return (double)sorted[middle];
    return ((double)sorted[middle - 1] + (double)sorted[middle]) / 2;
}

double quantile_median(const double *sorted, size_t n)
{
    if (n == 0)
        return NAN;
    size_t middle = n / 2;
    if (n % 2)
        return sorted[middle];
    return (sorted[middle - 1] + sorted[middle]) / 2;
}

/* The deviation at rank k (from 0). In sorted samples the deviations grow from the middle outwards
 * on both sides, so the k smallest are found by walking from there: no second array to sort. */
static double nth_deviation(const int64_t *sorted, size_t n, double median, size_t k)
{
    size_t below = (n - 1) / 2 + 1; /* one past the next value at or below the median */
    size_t above = below;           /* the next value above it */
    double deviation = 0;
    for (size_t taken = 0; taken <= k; taken++) {
        double down = below > 0 ? median - (double)sorted[below - 1] : INFINITY;
        double up = above < n ? (double)sorted[above] - median : INFINITY;
        deviation = down <= up ? down : up;
        if (down <= up)
            below--;
        else
            above++;
    }
    return deviation;
}

double quantile_mad(const int64_t *sorted, size_t n)
{
    if (n == 0)
        return NAN;
    double median = quantile_median_ints(sorted, n);
    double upper = nth_deviation(sorted, n, median, n / 2);
    if (n % 2)
        return upper;
    return (nth_deviation(sorted, n, median, n / 2 - 1) + upper) / 2;
}

static int64_t nearest_rank(const int64_t *sorted, size_t n, size_t percent)
{
    if (n == 0)
        return -1;
    /* ceil(percent n / 100) without the product: no n overflows it. */
    size_t rank = n / 100 * percent + (n % 100 * percent + 99) / 100;
    return sorted[rank - 1];
}

int64_t quantile_p95(const int64_t *sorted, size_t n)
{
    return nearest_rank(sorted, n, 95);
}

int64_t quantile_p99(const int64_t *sorted, size_t n)
{
    return nearest_rank(sorted, n, 99);
}

int64_t quantile_best(const int64_t *sorted, size_t n)
{
    return n == 0 ? -1 : sorted[0];
}

int64_t quantile_total(const int64_t *values, size_t n)
{
    int64_t total = 0;

    for (size_t i = 0; i < n; i++)
        if (__builtin_add_overflow(total, values[i], &total) || total > QUANTILE_TOTAL_MAX)
            return -1;
    return n > 0 ? total : -1;
}

double quantile_r7(const double *sorted, size_t n, double p)
{
    if (n == 0 || !(p >= 0 && p <= 1))
        return NAN;
    double h = (double)(n - 1) * p;
    size_t below = (size_t)h;
    if (below + 1 >= n)
        return sorted[n - 1];
    return sorted[below] + (h - (double)below) * (sorted[below + 1] - sorted[below]);
}

double quantile_mean(const double *values, size_t n)
{
    if (n == 0)
        return NAN;
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    return sum / (double)n;
}

double quantile_stddev(const double *values, size_t n)
{
    if (n == 0)
        return NAN;
    double mean = quantile_mean(values, n);
    double squares = 0;
    for (size_t i = 0; i < n; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    return sqrt(squares / (double)n);
}
