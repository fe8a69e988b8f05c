#include "core/compare.h"

#include <math.h>
#include <stdlib.h>

#include "core/quantile.h"

double compare_ratio(double subject, double reference)
{
    return subject > 0 && reference > 0 ? subject / reference : NAN;
}

double compare_change_pct(double before, double after)
{
    return before > 0 ? (after - before) / before * 100 : NAN;
}

double compare_reduction_pct(double before, double after)
{
    return before > 0 ? (before - after) / before * 100 : NAN;
}

enum tri compare_size_gate(int64_t recorded_bytes, int64_t later_bytes)
{
    if (recorded_bytes <= 0 || later_bytes < 0)
        return TRI_UNKNOWN;
    /* For whole bytes, later <= recorded * 1.1 is later - recorded <= floor(recorded / 10). */
    return later_bytes - recorded_bytes <= recorded_bytes / 10 ? TRI_PASS : TRI_FAIL;
}

static int order_samples(const void *a, const void *b)
{
    const struct sample *x = a, *y = b;
    if (x->repetition != y->repetition)
        return x->repetition < y->repetition ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

void samples_sort(struct samples *s)
{
    if (s->n > 1)
        qsort(s->v, s->n, sizeof *s->v, order_samples);
}

int64_t *samples_values(struct arena *a, const struct samples *s)
{
    int64_t *values = arena_array(a, s->n, sizeof *values);
    for (size_t i = 0; i < s->n; i++)
        values[i] = s->v[i].value;
    quantile_sort_ints(values, s->n);
    return values;
}

double samples_median(struct arena *a, const struct samples *s)
{
    return quantile_median_ints(samples_values(a, s), s->n);
}

/* How many samples from i on are of the same repetition. */
static size_t run_length(const struct samples *s, size_t i)
{
    size_t n = 1;
    while (i + n < s->n && s->v[i + n].repetition == s->v[i].repetition)
        n++;
    return n;
}

size_t compare_pairs(const struct samples *subject, const struct samples *reference,
                     struct pair *out)
{
    size_t i = 0, j = 0, n = 0;
    while (i < subject->n && j < reference->n) {
        const struct sample *s = &subject->v[i], *r = &reference->v[j];
        size_t s_run = run_length(subject, i), r_run = run_length(reference, j);
        if (s->repetition == r->repetition && s_run == 1 && r_run == 1)
            out[n++] = (struct pair){s->repetition, s->value, r->value};
        if (s->repetition <= r->repetition)
            i += s_run;
        if (r->repetition <= s->repetition)
            j += r_run;
    }
    return n;
}

/* The pairs of two sets in a; *n is their number. */
static struct pair *pairs_of(struct arena *a, const struct samples *subject,
                             const struct samples *reference, size_t *n)
{
    size_t most = subject->n < reference->n ? subject->n : reference->n;
    struct pair *pairs = arena_array(a, most, sizeof *pairs);
    *n = compare_pairs(subject, reference, pairs);
    return pairs;
}

/* The paired ratios less off_ns on both sides, ascending; NULL if any of them is undefined. */
static double *ratios_of(struct arena *a, const struct pair *pairs, size_t n, int64_t off_ns)
{
    double *ratios = arena_array(a, n, sizeof *ratios);
    for (size_t i = 0; i < n; i++) {
        ratios[i] = compare_ratio((double)(pairs[i].subject - off_ns),
                                  (double)(pairs[i].reference - off_ns));
        if (isnan(ratios[i]))
            return NULL;
    }
    quantile_sort(ratios, n);
    return ratios;
}

/* Why there can be no ratio of any kind; NULL: there can. */
static const char *why_no_samples(const struct samples *subject, const struct samples *reference)
{
    if (subject->n == 0)
        return "no valid observation of the subject";
    return reference->n == 0 ? "no valid observation of the reference" : NULL;
}

/* All that there is before pairs are looked at. */
static struct estimate estimate_of_medians(struct arena *a, const struct samples *subject,
                                           const struct samples *reference)
{
    return (struct estimate){
        .ratio_of_medians = compare_ratio(samples_median(a, subject), samples_median(a, reference)),
        .paired_median_ratio = NAN,
        .interval = {.low = NAN, .high = NAN, .coverage = NAN},
        .verdict = VERDICT_UNRESOLVED,
        .resolvable = NAN,
        .note = why_no_samples(subject, reference),
    };
}

void compare_unpaired(struct arena *a, const struct samples *subject,
                      const struct samples *reference, struct estimate *out)
{
    *out = estimate_of_medians(a, subject, reference);
    if (!out->note)
        out->note = "the sides ran one after the other: this version has no unpaired interval";
}

void compare_estimate(struct arena *a, const struct samples *subject,
                      const struct samples *reference, const struct verdict_rule *rule,
                      struct estimate *out)
{
    *out = estimate_of_medians(a, subject, reference);
    struct pair *pairs = pairs_of(a, subject, reference, &out->pairs);
    double *ratios = out->pairs > 0 ? ratios_of(a, pairs, out->pairs, 0) : NULL;
    if (!ratios) {
        if (!out->note)
            out->note = out->pairs > 0 ? "a value of 0 has no ratio"
                                       : "no repetition has a valid observation of both";
        return;
    }
    out->paired_median_ratio = quantile_median(ratios, out->pairs);
    interval_of_median(ratios, out->pairs, &out->interval);
    out->verdict = compare_verdict(&out->interval, rule, &out->note);
    out->resolvable = compare_resolvable(&out->interval, out->paired_median_ratio, rule->margin);
    out->medians_outside = out->interval.defined && (out->ratio_of_medians < out->interval.low ||
                                                     out->ratio_of_medians > out->interval.high);
}

/* The rule of a wait by design: what is over it must be the same too. */
static void hold_same_for_excess(const struct interval *excess, const struct verdict_rule *rule,
                                 struct estimate *estimate)
{
    const char *note;
    if (estimate->verdict != VERDICT_SAME || compare_verdict(excess, rule, &note) == VERDICT_SAME)
        return;
    estimate->verdict = VERDICT_UNRESOLVED;
    estimate->note = "the same as a whole, but not in what is over the declared wait";
}

double compare_excess(struct arena *a, const struct samples *subject,
                      const struct samples *reference, int64_t wait_ns,
                      const struct verdict_rule *rule, struct estimate *estimate)
{
    size_t n;
    struct pair *pairs = pairs_of(a, subject, reference, &n);
    double *ratios = n > 0 ? ratios_of(a, pairs, n, wait_ns) : NULL;
    struct interval interval = {.defined = false};
    if (ratios)
        interval_of_median(ratios, n, &interval);
    hold_same_for_excess(&interval, rule, estimate);
    return ratios ? quantile_median(ratios, n) : NAN;
}

void compare_startup(struct arena *a, const struct samples *lane, const struct samples *startup,
                     struct startup_adjusted *out)
{
    *out = (struct startup_adjusted){.median_ns = NAN, .median_all_ns = NAN};
    struct pair *pairs = pairs_of(a, lane, startup, &out->n);
    int64_t *differences = arena_array(a, out->n, sizeof *differences);
    for (size_t i = 0; i < out->n; i++)
        differences[i] = pairs[i].subject - pairs[i].reference;
    quantile_sort_ints(differences, out->n);
    size_t first = 0;
    while (first < out->n && differences[first] <= 0)
        first++;
    out->valid = out->n - first;
    out->median_all_ns = quantile_median_ints(differences, out->n);
    if (out->valid > 0)
        out->median_ns = quantile_median_ints(differences + first, out->valid);
}
