#include "core/stats/compare.h"

#include <math.h>
#include <stdlib.h>

#include "core/stats/quantile.h"
#include "core/stats/shift.h"

#define NOTE_ZERO "a value of 0 has no ratio"

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

enum tri compare_growth(int64_t recorded, int64_t later, int pct)
{
    if (recorded < 0 || later < 0 || pct < 0)
        return TRI_UNKNOWN;
    /* floor(recorded * pct / 100) without the product of large numbers. */
    int64_t room = recorded / 100 * pct + recorded % 100 * pct / 100;
    return later - recorded <= room ? TRI_PASS : TRI_FAIL;
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

/* The paired ratios, ascending; NULL if any of them is undefined. */
static double *ratios_of(struct arena *a, const struct pair *pairs, size_t n)
{
    double *ratios = arena_array(a, n, sizeof *ratios);
    for (size_t i = 0; i < n; i++) {
        ratios[i] = compare_ratio((double)pairs[i].subject, (double)pairs[i].reference);
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
                                           const struct samples *reference,
                                           const struct verdict_rule *rule)
{
    return (struct estimate){
        .ratio_of_medians = compare_ratio(samples_median(a, subject), samples_median(a, reference)),
        .paired_median_ratio = NAN,
        .shift_ratio = NAN,
        .interval = {.low = NAN, .high = NAN, .coverage = NAN},
        .margin = compare_margin(rule),
        .verdict = VERDICT_UNRESOLVED,
        .resolvable = NAN,
        .note = why_no_samples(subject, reference),
    };
}

double estimate_ratio(const struct estimate *e)
{
    return e->unpaired ? e->shift_ratio : e->paired_median_ratio;
}

/* What follows from the ratio and its interval. */
static void judge(const struct verdict_rule *rule, struct estimate *e)
{
    e->verdict = compare_verdict(&e->interval, rule, &e->note);
    e->resolvable = compare_resolvable(&e->interval, estimate_ratio(e), e->margin);
    e->medians_outside = e->interval.defined && (e->ratio_of_medians < e->interval.low ||
                                                 e->ratio_of_medians > e->interval.high);
}

void compare_estimate(struct arena *a, const struct samples *subject,
                      const struct samples *reference, const struct verdict_rule *rule,
                      struct estimate *out)
{
    *out = estimate_of_medians(a, subject, reference, rule);
    struct pair *pairs = pairs_of(a, subject, reference, &out->pairs);
    double *ratios = out->pairs > 0 ? ratios_of(a, pairs, out->pairs) : NULL;
    if (!ratios) {
        if (!out->note)
            out->note =
                out->pairs > 0 ? NOTE_ZERO : "no repetition has a valid observation of both";
        return;
    }
    out->paired_median_ratio = quantile_median(ratios, out->pairs);
    interval_of_median(ratios, out->pairs, &out->interval);
    judge(rule, out);
}

void compare_unpaired(struct arena *a, const struct samples *subject,
                      const struct samples *reference, const struct verdict_rule *rule,
                      struct estimate *out)
{
    struct shift shift;
    *out = estimate_of_medians(a, subject, reference, rule);
    out->unpaired = true;
    if (out->note)
        return;
    shift_of(samples_values(a, subject), subject->n, samples_values(a, reference), reference->n,
             &shift);
    if (isnan(shift.ratio)) {
        out->note = NOTE_ZERO;
        return;
    }
    out->shift_ratio = shift.ratio;
    out->interval = shift.interval;
    judge(rule, out);
}

void compare_samples(struct arena *a, bool paired, const struct samples *subject,
                     const struct samples *reference, const struct verdict_rule *rule,
                     struct estimate *out)
{
    if (paired)
        compare_estimate(a, subject, reference, rule, out);
    else
        compare_unpaired(a, subject, reference, rule, out);
}

static struct samples samples_over(struct arena *a, const struct samples *s, int64_t wait_ns)
{
    struct samples over = {.v = arena_array(a, s->n, sizeof *over.v), .n = s->n};
    for (size_t i = 0; i < s->n; i++)
        over.v[i] = (struct sample){s->v[i].repetition, s->v[i].value - wait_ns};
    return over;
}

void compare_excess(struct arena *a, const struct samples *subject, const struct samples *reference,
                    int64_t wait_ns, const struct verdict_rule *rule, struct estimate *whole,
                    struct estimate *excess)
{
    struct samples s = samples_over(a, subject, wait_ns), r = samples_over(a, reference, wait_ns);
    compare_samples(a, !whole->unpaired, &s, &r, rule, excess);
    if (isnan(estimate_ratio(excess)) && !isnan(estimate_ratio(whole)))
        excess->note = "a value is not over the declared wait";
    if (whole->verdict != VERDICT_SAME || excess->verdict == VERDICT_SAME)
        return;
    whole->verdict = VERDICT_UNRESOLVED;
    whole->note = "the same as a whole, but not in what is over the declared wait";
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
