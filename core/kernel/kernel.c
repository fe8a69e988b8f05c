#include "core/kernel/kernel.h"

#include <math.h>
#include <string.h>

#include "core/names.h"
#include "core/stats/quantile.h"

static const char *const target_names[] = {"native", "browser"};
static const char *const entry_names[] = {"function", "pipeline"};
static const char *const profile_names[] = {"release", "debug"};

static int parse(const char *const *names, int n, const char *s)
{
    for (int i = 0; i < n; i++)
        if (strcmp(names[i], s) == 0)
            return i;
    return -1;
}

const char *kernel_target_name(enum kernel_target t)
{
    return target_names[t];
}

int kernel_target_parse(const char *s)
{
    return parse(target_names, 2, s);
}

const char *kernel_entry_name(enum kernel_entry k)
{
    return entry_names[k];
}

int kernel_entry_parse(const char *s)
{
    return parse(entry_names, 2, s);
}

const char *kernel_profile_name(enum kernel_profile p)
{
    return profile_names[p];
}

int kernel_profile_parse(const char *s)
{
    return parse(profile_names, 2, s);
}

/* ---- statistics */

#define MS 1e6

void kernel_stats_of(struct arena *a, int64_t *ns, size_t n, struct kernel_stats *out)
{
    double *v = arena_array(a, n, sizeof *v);
    int64_t total = 0;

    *out = (struct kernel_stats){0};
    if (n == 0)
        return;
    quantile_sort_ints(ns, n);
    for (size_t i = 0; i < n; i++) {
        v[i] = (double)ns[i];
        total += ns[i];
    }
    *out = (struct kernel_stats){
        .iterations = (int64_t)n,
        .min_ms = v[0] / MS,
        .mean_ms = quantile_mean(v, n) / MS,
        .p50_ms = quantile_r7(v, n, 0.5) / MS,
        .p95_ms = quantile_r7(v, n, 0.95) / MS,
        .max_ms = v[n - 1] / MS,
        .stddev_ms = quantile_stddev(v, n) / MS,
        .total_ms = (double)total / MS,
    };
}

/* ---- does it agree with itself? */

/* Other producers add up in another order. */
static bool near(double a, double b)
{
    double larger = fabs(a) > fabs(b) ? fabs(a) : fabs(b);
    return fabs(a - b) <= larger * 1e-6 + 1e-9;
}

static bool in_order(double a, double b)
{
    return a <= b || near(a, b);
}

static const char *check_stats(struct arena *a, const char *phase, const struct kernel_stats *s)
{
    const double n = (double)s->iterations;
    if (!in_order(s->min_ms, s->p50_ms) || !in_order(s->p50_ms, s->p95_ms) ||
        !in_order(s->p95_ms, s->max_ms))
        return arena_printf(a, "%s: min, p50, p95 and max are not in order", phase);
    if (!in_order(s->min_ms, s->mean_ms) || !in_order(s->mean_ms, s->max_ms))
        return arena_printf(a, "%s: the mean does not lie between min and max", phase);
    if (!near(s->total_ms, s->mean_ms * n))
        return arena_printf(a, "%s: the total is not the mean times the iterations", phase);
    /* The largest spread of values in a range is half of them at either end. */
    if (!in_order(s->stddev_ms, (s->max_ms - s->min_ms) / 2))
        return arena_printf(a, "%s: the standard deviation is more than min and max allow", phase);
    return NULL;
}

static const char *check_batch(struct arena *a, const struct kernel_receipt *r)
{
    const struct kernel_stats *s = &r->dispatch.repeated;
    if (s->iterations != r->iterations)
        return "dispatch: it repeats another number of times than iterations says";
    if (r->workers > r->iterations)
        return "there are more workers than iterations";
    if (!near(r->dispatch.throughput * r->dispatch.batch_wall_ms, (double)r->iterations * 1000))
        return "dispatch: the throughput is not the iterations by the wall time";
    /* All workers at once cannot take less than their share of the time that they took. */
    if (!in_order(s->total_ms, r->dispatch.batch_wall_ms * (double)r->workers))
        return arena_printf(a, "dispatch: %lld workers took more time together than the batch had",
                            (long long)r->workers);
    return NULL;
}

const char *kernel_check(struct arena *a, const struct kernel_receipt *r)
{
    const char *why = check_stats(a, "compile", &r->compile.repeated);
    if (!why && r->decode.iterations)
        why = check_stats(a, "decode", &r->decode);
    if (!why)
        why = check_stats(a, "dispatch", &r->dispatch.repeated);
    return why ? why : check_batch(a, r);
}

/* ---- two of them */

static bool equal(const char *x, const char *y)
{
    return x && y ? strcmp(x, y) == 0 : x == y;
}

static const char *differ(struct arena *a, const char *what, const char *x, const char *y)
{
    return equal(x, y) ? NULL
                       : arena_printf(a, "%s: %s and %s; only like is compared with like", what,
                                      x ? x : "none", y ? y : "none");
}

static const char *unlike_work(struct arena *a, const struct kernel_receipt *x,
                               const struct kernel_receipt *y)
{
    const char *why = differ(a, "the entries differ", x->entry, y->entry);
    if (!why)
        why = differ(a, "the kinds of entry differ", kernel_entry_name(x->entry_kind),
                     kernel_entry_name(y->entry_kind));
    if (!why && !equal(x->provenance.source_digest, y->provenance.source_digest))
        why = "the sources differ; only like is compared with like";
    if (!why && !equal(x->provenance.input_digest, y->provenance.input_digest))
        why = "the inputs differ; only like is compared with like";
    if (!why && !equal(x->terminal_digest, y->terminal_digest))
        why = "the terminal values differ: the two did not do the same work";
    if (!why && x->workers != y->workers)
        why = arena_printf(a,
                           "the numbers of workers differ: %lld and %lld; only like is compared "
                           "with like",
                           (long long)x->workers, (long long)y->workers);
    return why;
}

static const char *unlike_machine(struct arena *a, const char *x, const char *y)
{
    if (!x || !y)
        return arena_printf(a,
                            "%s not known on which machine it was made; import it with "
                            "--machine NAME",
                            !x && !y ? "of both receipts it is"
                            : !x     ? "of the first receipt it is"
                                     : "of the second receipt it is");
    return equal(x, y) ? NULL : "the machines differ; only like is compared with like";
}

const char *kernel_unlike(struct arena *a, const struct kernel_receipt *x, const char *machine_x,
                          const struct kernel_receipt *y, const char *machine_y)
{
    const struct kernel_provenance *p = &x->provenance, *q = &y->provenance;
    const char *why = differ(a, "the schemas differ", x->schema, y->schema);
    if (!why)
        why = differ(a, "the targets differ", kernel_target_name(x->target),
                     kernel_target_name(y->target));
    if (!why)
        why = differ(a, "the build profiles differ", kernel_profile_name(p->profile),
                     kernel_profile_name(q->profile));
    if (!why)
        why = differ(a, "the systems differ", p->os, q->os);
    if (!why)
        why = differ(a, "the architectures differ", p->arch, q->arch);
    if (!why)
        why = differ(a, "the drivers differ", p->driver, q->driver);
    if (!why)
        why = unlike_machine(a, p->machine ? p->machine : machine_x,
                             q->machine ? q->machine : machine_y);
    return why ? why : unlike_work(a, x, y);
}

static double of_stats(const struct kernel_stats *s, double value)
{
    return s->iterations ? value : NAN;
}

static void figures_of(const struct kernel_receipt *r, double out[KERNEL_FIGURES])
{
    const struct kernel_stats *c = &r->compile.repeated, *d = &r->decode,
                              *k = &r->dispatch.repeated;
    const double values[KERNEL_FIGURES] = {
        r->initialization_ms,    r->compile.first_ms,       of_stats(c, c->p50_ms),
        of_stats(c, c->p95_ms),  of_stats(d, d->p50_ms),    of_stats(d, d->p95_ms),
        r->dispatch.first_ms,    of_stats(k, k->p50_ms),    of_stats(k, k->p95_ms),
        of_stats(k, k->mean_ms), r->dispatch.batch_wall_ms, r->dispatch.throughput,
    };
    memcpy(out, values, sizeof values);
}

void kernel_figures(const struct kernel_receipt *x, const struct kernel_receipt *y,
                    struct kernel_figure out[KERNEL_FIGURES])
{
    static const struct {
        const char *phase, *name;
    } rows[KERNEL_FIGURES] = {
        {"initialization", "whole"}, {"compile", "first"}, {"compile", "p50"},
        {"compile", "p95"},          {"decode", "p50"},    {"decode", "p95"},
        {"dispatch", "first"},       {"dispatch", "p50"},  {"dispatch", "p95"},
        {"dispatch", "mean"},        {"batch", "wall"},    {"batch", "throughput"},
    };
    double of_x[KERNEL_FIGURES], of_y[KERNEL_FIGURES];
    figures_of(x, of_x);
    figures_of(y, of_y);
    for (int i = 0; i < KERNEL_FIGURES; i++)
        out[i] = (struct kernel_figure){.phase = rows[i].phase,
                                        .name = rows[i].name,
                                        .per_second = i == KERNEL_FIGURES - 1,
                                        .x = of_x[i],
                                        .y = of_y[i],
                                        .ratio = of_x[i] > 0 ? of_y[i] / of_x[i] : NAN};
}
