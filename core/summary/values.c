#include "core/summary/values.h"

#include <math.h>
#include <string.h>

#include "core/names.h"
#include "core/stats/quantile.h"

__extension__ typedef unsigned __int128 wide;

static const char *const value_verdict_names[] = {
    [VALUE_EQUAL] = "EQUAL",           [VALUE_MORE] = "MORE",       [VALUE_LESS] = "LESS",
    [VALUE_UNRESOLVED] = "UNRESOLVED", [VALUE_INEXACT] = "INEXACT",
};
NAMES(value_verdict, value_verdict);

static const char *const memory_names[] = {
    [MEMORY_BASELINE] = "baseline_rss",
    [MEMORY_READY] = "ready_rss",
    [MEMORY_INCREMENTAL] = "incremental_rss",
    [MEMORY_PEAK] = "peak_rss",
};

static bool is_in_memory(size_t value, bool with_baseline)
{
    return with_baseline || value == MEMORY_READY || value == MEMORY_PEAK;
}

static const char *memory_name(size_t index, bool with_baseline)
{
    for (size_t i = 0; i < MEMORY_VALUES; i++)
        if (is_in_memory(i, with_baseline) && index-- == 0)
            return memory_names[i];
    return "";
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

void values_of_memory(bool with_baseline, int64_t baseline, int64_t ready, int64_t peak,
                      struct raw_value out[MEMORY_VALUES], size_t *n)
{
    const int64_t values[] = {
        [MEMORY_BASELINE] = baseline,
        [MEMORY_READY] = ready,
        [MEMORY_INCREMENTAL] = larger(ready - baseline, 0),
        [MEMORY_PEAK] = larger(peak, larger(ready, with_baseline ? baseline : 0)),
    };

    *n = 0;
    if (ready < 0 || peak < 0 || (with_baseline && baseline < 0))
        return;
    for (size_t i = 0; i < MEMORY_VALUES; i++)
        if (is_in_memory(i, with_baseline))
            out[(*n)++] = (struct raw_value){memory_names[i], values[i]};
}

int64_t values_share_ppm(int64_t cpu_ns, int64_t window_ns)
{
    if (cpu_ns < 0 || window_ns <= 0)
        return -1;
    wide ppm = (wide)cpu_ns * 1000000 / (wide)window_ns;
    return ppm <= QUANTILE_TOTAL_MAX ? (int64_t)ppm : -1;
}

/* In the order of the names. */
static bool profile_adds_up(const struct raw_workload *w, const struct raw_observation *o)
{
    int64_t counts[CATEGORIES_MAX + ATTRIBUTION_VALUES];
    size_t n = attribution_count(w->profile);

    if (n > NAMES_LEN(counts) || o->n_values != n)
        return false;
    for (size_t i = 0; i < n; i++)
        counts[i] = o->values[i].value;
    return attribution_adds_up(w->profile, counts);
}

/* The statistics of one phase stand together, ascending: nothing may contradict that. */
static const struct {
    const char *name;
    bool follows; /* is at least the one before it */
} kernel_values[KERNEL_VALUES] = {
    {"compile_first", false},  {"compile_min", false},  {"compile_p50", true},
    {"compile_p95", true},     {"compile_max", true},   {"decode_min", false},
    {"decode_p50", true},      {"decode_p95", true},    {"decode_max", true},
    {"dispatch_first", false}, {"dispatch_min", false}, {"dispatch_p50", true},
    {"dispatch_p95", true},    {"dispatch_max", true},  {"batch_wall", false},
};

static size_t put_ms(struct raw_value *out, size_t at, double ms)
{
    out[at] = (struct raw_value){kernel_values[at].name, (int64_t)llround(ms * 1e6)};
    return at + 1;
}

static size_t put_stats(struct raw_value *out, size_t at, const struct kernel_stats *s)
{
    const double ms[] = {s->min_ms, s->p50_ms, s->p95_ms, s->max_ms};

    for (size_t i = 0; i < sizeof ms / sizeof *ms; i++)
        at = put_ms(out, at, ms[i]);
    return at;
}

void values_of_kernel(const struct kernel_receipt *r, struct raw_value out[KERNEL_VALUES])
{
    size_t at = put_ms(out, 0, r->compile.first_ms);

    at = put_stats(out, at, &r->compile.repeated);
    at = put_stats(out, at, &r->decode);
    at = put_ms(out, at, r->dispatch.first_ms);
    at = put_stats(out, at, &r->dispatch.repeated);
    (void)put_ms(out, at, r->dispatch.batch_wall_ms);
}

static const char *kernel_fault(const struct raw_observation *o)
{
    for (size_t i = 1; i < KERNEL_VALUES; i++)
        if (kernel_values[i].follows && o->values[i].value < o->values[i - 1].value)
            return "has statistics of a phase that do not follow from each other";
    return NULL;
}

static const char *memory_fault(const struct raw_workload *w, const struct raw_observation *o)
{
    const struct raw_value *v = o->values;
    struct raw_value again[MEMORY_VALUES];
    size_t n, peak = w->baseline ? MEMORY_PEAK : 1;

    if (w->baseline)
        values_of_memory(true, v[MEMORY_BASELINE].value, v[MEMORY_READY].value, v[peak].value,
                         again, &n);
    else
        values_of_memory(false, -1, v[0].value, v[peak].value, again, &n);
    for (size_t i = 0; i < n; i++)
        if (again[i].value != v[i].value)
            return "has resident bytes that do not follow from each other";
    return NULL;
}

const char *values_follow(const struct raw_workload *w, const struct raw_observation *o)
{
    if (w->measure == MEASURE_MEMORY)
        return memory_fault(w, o);
    if (w->measure == MEASURE_ATTRIBUTION)
        return profile_adds_up(w, o) ? NULL
                                     : "has categories and exclusions that are not all its samples";
    if (w->measure == MEASURE_KERNEL)
        return kernel_fault(o);
    if (w->measure != MEASURE_CPU)
        return NULL;
    int64_t window_ns = o->done_ns - o->go_ns;
    if (window_ns < w->window_ms * 1000000)
        return "was not watched for the window of its workload";
    return values_share_ppm(o->interval_cpu_ns, window_ns) == o->values[0].value
               ? NULL
               : "has a share of the CPU that does not follow from its CPU time and its window";
}

size_t values_count(const struct raw_workload *w, const struct raw_lane *lane)
{
    return w->measure == MEASURE_COUNTERS       ? w->counters.n
           : w->measure == MEASURE_SIZE         ? lane->n_files
           : w->measure == MEASURE_INSTRUCTIONS ? 1
           : w->measure == MEASURE_CPU          ? 1
           : w->measure == MEASURE_ATTRIBUTION  ? attribution_count(w->profile)
           : w->measure == MEASURE_KERNEL       ? KERNEL_VALUES
           : w->measure == MEASURE_MEMORY       ? (w->baseline ? MEMORY_VALUES : 2)
                                                : 0;
}

const char *values_name(const struct raw_workload *w, const struct raw_lane *lane, size_t index)
{
    if (w->measure == MEASURE_INSTRUCTIONS)
        return "instructions";
    if (w->measure == MEASURE_CPU)
        return "cpu_ppm";
    if (w->measure == MEASURE_KERNEL)
        return kernel_values[index].name;
    if (w->measure == MEASURE_MEMORY)
        return memory_name(index, w->baseline);
    if (w->measure == MEASURE_ATTRIBUTION)
        return attribution_name(w->profile, index);
    return w->measure == MEASURE_SIZE ? lane->files[index].name : w->counters.v[index];
}

static const struct raw_value *find_value(const struct raw_observation *o, const char *name)
{
    for (size_t i = 0; i < o->n_values; i++)
        if (strcmp(o->values[i].name, name) == 0)
            return &o->values[i];
    return NULL;
}

/* values are ascending. */
static void fill_figures(const int64_t *values, size_t n, struct value_figures *out)
{
    out->n = n;
    out->median = quantile_median_ints(values, n);
    out->min = n > 0 ? values[0] : -1;
    out->max = n > 0 ? values[n - 1] : -1;
    out->total = quantile_total(values, n);
    out->exact = n > 0 && out->min == out->max;
}

/* Shares of all repetitions together: each sample counts once. */
static void fill_shares(const struct raw_workload *w, struct value_figures *out)
{
    int64_t counts[CATEGORIES_MAX + ATTRIBUTION_VALUES];
    size_t n = attribution_count(w->profile);

    if (n > NAMES_LEN(counts))
        return;
    for (size_t i = 0; i < n; i++)
        counts[i] = out[i].total;
    int64_t recovered = attribution_recovered(w->profile, counts);
    for (size_t i = 0; attribution_adds_up(w->profile, counts) &&
                       i <= w->profile->n_categories + ATTRIBUTION_OTHER;
         i++)
        out[i].share_pct = attribution_share_pct(counts[i], recovered);
}

struct samples values_samples(struct arena *a, const struct raw_observation *const *observations,
                              size_t n, const char *name)
{
    struct samples s = {.v = arena_array(a, n, sizeof *s.v)};
    for (size_t i = 0; i < n; i++) {
        const struct raw_value *v = find_value(observations[i], name);
        if (v)
            s.v[s.n++] = (struct sample){observations[i]->repetition, v->value};
    }
    return s;
}

void values_figures(struct arena *a, const struct raw_workload *w, const struct raw_lane *lane,
                    const struct raw_observation *const *observations, size_t n,
                    struct value_figures *out)
{
    for (size_t i = 0; i < values_count(w, lane); i++) {
        const char *name = values_name(w, lane, i);
        struct samples samples = values_samples(a, observations, n, name);
        out[i] = (struct value_figures){
            .name = name,
            .baseline = w->measure == MEASURE_SIZE ? lane->files[i].baseline_bytes : -1,
            .share_pct = (double)NAN};
        fill_figures(samples_values(a, &samples), samples.n, &out[i]);
    }
    if (w->measure == MEASURE_ATTRIBUTION)
        fill_shares(w, out);
}

static enum value_verdict verdict_of_difference(int64_t difference)
{
    return difference == 0 ? VALUE_EQUAL : difference > 0 ? VALUE_MORE : VALUE_LESS;
}

void values_compare(const struct value_figures *subject, const struct value_figures *reference,
                    struct value_comparison *out)
{
    out->subject = subject->median;
    out->reference = reference->median;
    out->ratio_of_medians = compare_ratio(subject->median, reference->median);
    out->change_pct = compare_change_pct(reference->median, subject->median);
    out->exact = subject->exact && reference->exact;
    out->difference = out->exact ? subject->min - reference->min : 0;
    out->verdict = out->exact ? verdict_of_difference(out->difference) : VALUE_INEXACT;
    out->undefined = subject->n == 0 || reference->n == 0 ? "a side has no value" : NULL;
}

void values_judge(const struct estimate *estimate, struct value_comparison *out)
{
    static const enum value_verdict by_interval[] = {
        [VERDICT_FASTER] = VALUE_LESS,
        [VERDICT_SLOWER] = VALUE_MORE,
        [VERDICT_SAME] = VALUE_UNRESOLVED,
        [VERDICT_UNRESOLVED] = VALUE_UNRESOLVED,
    };

    out->has_estimate = true;
    out->estimate = *estimate;
    out->verdict = estimate->interval.defined ? by_interval[estimate->verdict] : VALUE_INEXACT;
}

const struct value_row *values_row(const struct value_row *rows, size_t n, const char *workload,
                                   const char *lane, const char *side)
{
    for (size_t i = 0; i < n; i++)
        if (workload && lane && side && strcmp(rows[i].workload, workload) == 0 &&
            strcmp(rows[i].lane, lane) == 0 && strcmp(rows[i].side, side) == 0)
            return &rows[i];
    return NULL;
}

const struct value_figures *values_find(const struct value_row *row, const char *name)
{
    for (size_t i = 0; row && i < row->n_values; i++)
        if (strcmp(row->values[i].name, name) == 0)
            return &row->values[i];
    return NULL;
}
