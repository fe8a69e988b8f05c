#include "core/summary/calibration.h"

#include <math.h>
#include <string.h>

#include "core/names.h"
#include "core/stats/compare.h"
#include "core/stats/interval.h"
#include "core/stats/quantile.h"

static const char *const calibration_form_names[] = {
    [CALIBRATION_QUICK] = "quick",
    [CALIBRATION_FULL] = "full",
};
NAMES(calibration_form, calibration_form);

/* The ratios of pairs first to first + n - 1, ascending; *m how many are defined. */
static double *ratios_of(struct arena *a, const struct calibration_values *pairs, size_t first,
                         size_t n, size_t *m)
{
    double *ratios = arena_array(a, n, sizeof *ratios);

    *m = 0;
    for (size_t i = first; i < first + n; i++) {
        double ratio = compare_ratio((double)pairs->v[2 * i], (double)pairs->v[2 * i + 1]);
        if (!isnan(ratio))
            ratios[(*m)++] = ratio;
    }
    quantile_sort(ratios, *m);
    return ratios;
}

static size_t groups_of(const struct calibration_values *pairs)
{
    return pairs->n / 2 / CALIBRATION_GROUP_PAIRS;
}

double calibration_noise_floor(struct arena *a, const struct calibration_values *pairs)
{
    size_t groups = groups_of(pairs), n;
    double *apart = arena_array(a, groups, sizeof *apart);

    for (size_t g = 0; g < groups; g++) {
        const double *ratios =
            ratios_of(a, pairs, g * CALIBRATION_GROUP_PAIRS, CALIBRATION_GROUP_PAIRS, &n);
        if (n < CALIBRATION_GROUP_PAIRS)
            return NAN;
        double p = quantile_median(ratios, n);
        apart[g] = (p > 1 ? p : 1 / p) - 1;
    }
    quantile_sort(apart, groups);
    return groups > 0 ? apart[(95 * groups + 99) / 100 - 1] : NAN;
}

static int64_t total_of(const struct calibration_values *values)
{
    int64_t total = 0;

    for (size_t i = 0; i < values->n; i++)
        if (__builtin_add_overflow(total, values->v[i], &total))
            return -1;
    return values->n > 0 ? total : -1;
}

static void floor_figures(struct arena *a, const struct calibration *c,
                          const struct calibration_values *floor, struct calibration_figures *out)
{
    int64_t *sorted = arena_array(a, floor->n, sizeof *sorted);

    if (floor->n > 0)
        memcpy(sorted, floor->v, floor->n * sizeof *sorted);
    quantile_sort_ints(sorted, floor->n);
    out->floor_n = floor->n;
    out->floor_median_ns = quantile_median_ints(sorted, floor->n);
    out->floor_mad_ns = quantile_mad(sorted, floor->n);
    out->floor_total_ns = total_of(floor);
    /* A clock so coarse that all values are equal resolves no more than its step. */
    double least = out->floor_mad_ns;
    if (least < (double)c->clock_step_ns)
        least = (double)c->clock_step_ns;
    out->resolution_ns = CALIBRATION_RESOLUTION * least;
}

void calibration_figures(struct arena *a, const struct calibration *c, enum measure measure,
                         struct calibration_figures *out)
{
    const struct calibration_measure *m = &c->measures[measure];

    *out = (struct calibration_figures){
        .measure = measure,
        .groups = groups_of(&m->pairs_ns),
        .noise_floor = calibration_noise_floor(a, &m->pairs_ns),
        .cpu_noise_floor = calibration_noise_floor(a, &m->pairs_cpu_ns),
        .pairs_total_ns = total_of(&m->pairs_ns),
        .pairs_cpu_total_ns = total_of(&m->pairs_cpu_ns),
    };
    floor_figures(a, c, &m->floor_ns, out);
}

double calibration_resolvable(struct arena *a, const struct calibration *c, enum measure measure,
                              size_t n, double margin)
{
    const struct calibration_values *pairs = &c->measures[measure].pairs_ns;
    double floor = calibration_noise_floor(a, pairs);
    size_t rank = interval_rank(n), m;

    if (rank == 0 || isnan(floor))
        return NAN;
    const double *ratios = ratios_of(a, pairs, 0, pairs->n / 2, &m);
    const struct interval interval = {
        .defined = true,
        .low = quantile_r7(ratios, m, (double)rank / (double)(n + 1)),
        .high = quantile_r7(ratios, m, (double)(n + 1 - rank) / (double)(n + 1)),
    };
    return compare_resolvable(&interval, quantile_median(ratios, m),
                              floor > margin ? floor : margin);
}

double calibration_share(const struct calibration_figures *f, double median_ns)
{
    return f && median_ns > 0 ? f->floor_median_ns / median_ns : (double)NAN;
}
