/* Receipts of portable-kernel benchmarks: what one says, whether it agrees with itself, whether two
 * may be held against each other. Pure.
 *
 * Phases are never summed and never divided by each other. Times are in ms, as receipts have them;
 * samples come in ns. NaN, NULL and a count of 0 are what the document calls null.
 */
#pragma once

#include "base/arena.h"
#include "core/types.h"

#define KERNEL_COMPILES_MAX 100000
#define KERNEL_DISPATCHES_MAX 1000000
#define KERNEL_WORKERS_MAX 256

#define KERNEL_SCHEMA "aurabench.kernel.v1"
#define KERNEL_SCHEMA_HARN "harn.portable_kernel.benchmark.v1"

enum kernel_target { KERNEL_NATIVE, KERNEL_BROWSER };
const char *kernel_target_name(enum kernel_target t); /* "native", "browser" */
int kernel_target_parse(const char *s);

enum kernel_entry { KERNEL_FUNCTION, KERNEL_PIPELINE };
const char *kernel_entry_name(enum kernel_entry k); /* "function", "pipeline" */
int kernel_entry_parse(const char *s);

enum kernel_profile { KERNEL_RELEASE, KERNEL_DEBUG };
const char *kernel_profile_name(enum kernel_profile p); /* "release", "debug" */
int kernel_profile_parse(const char *s);

/* Percentiles by R-7, the population standard deviation (core/stats/quantile.h). */
struct kernel_stats {
    int64_t iterations; /* 0: there are none */
    double min_ms, mean_ms, p50_ms, p95_ms, max_ms, stddev_ms, total_ms;
};
/* Of n samples in ns; n 0 gives the empty ones. Sorts them. */
void kernel_stats_of(struct arena *a, int64_t *ns, size_t n, struct kernel_stats *out);

struct kernel_provenance {
    const char *version;                 /* of aurabench, or of harn */
    const char *driver, *driver_version; /* ours only */
    const char *kernel_version;
    int64_t format_version;
    const char *semantic, *opcode; /* fingerprints */
    enum kernel_profile profile;
    const char *os, *arch;
    const char *machine;                      /* hash of its id; NULL: unknown. Ours only */
    const char *source_digest, *input_digest; /* SHA-256; ours only */
};

struct kernel_receipt {
    const char *schema;
    enum kernel_target target;
    const char *source, *entry;
    enum kernel_entry entry_kind;
    int64_t artifact_bytes;
    const char *artifact_digest;
    int64_t iterations, workers;
    struct kernel_provenance provenance;
    double initialization_ms; /* NaN: the target has no such boundary */
    struct {
        double first_ms;
        struct kernel_stats repeated;
    } compile;
    struct kernel_stats decode; /* empty: not measurable by itself */
    struct {
        double first_ms;
        struct kernel_stats repeated;
        double batch_wall_ms, throughput; /* dispatches in a second */
    } dispatch;
    const char *terminal_digest;
};

/* NULL, or what in it contradicts itself, as a sentence. */
const char *kernel_check(struct arena *a, const struct kernel_receipt *r);

/* NULL where the two may be compared: same schema, target, build profile, machine, work and
 * workers; else why not, as one sentence. An unknown machine is none. machine_a and machine_b stand
 * in for what the receipts do not say; NULL: nothing does. */
const char *kernel_unlike(struct arena *a, const struct kernel_receipt *x, const char *machine_x,
                          const struct kernel_receipt *y, const char *machine_y);

/* The figures that are compared, each by itself: in the order of the receipt. */
struct kernel_figure {
    const char *phase, *name; /* "compile", "p50" */
    bool per_second;          /* larger is faster; else ms */
    double x, y;              /* NaN: the receipt has none */
    double ratio;             /* y / x; NaN when x is 0 or one is missing */
};
#define KERNEL_FIGURES 12
void kernel_figures(const struct kernel_receipt *x, const struct kernel_receipt *y,
                    struct kernel_figure out[KERNEL_FIGURES]);
