/* What a host shows when nothing differs: one program measured against itself, and programs that do
 * nothing, through the runner that measures everything else.
 *
 * A calibration holds what was observed and nothing that follows from it: it is stored with every
 * attempt of its boot, so that whoever has the report can judge it again. What follows is here, one
 * definition each: the noise floor, the floors of the ways of measuring, the resolution, and what
 * change a run could find. Pure; values live in the arena that a calibration was made in.
 */
#pragma once

#include "base/arena.h"
#include "core/types.h"

/* As many as a job has repetitions by default: the noise floor speaks of medians of so many. */
#define CALIBRATION_GROUP_PAIRS 11
/* Below so many times the MAD of its floor a figure is below resolution. */
#define CALIBRATION_RESOLUTION 100
#define CALIBRATION_MEASURES 2

enum calibration_form {
    CALIBRATION_QUICK, /* by the daemon itself, once a boot */
    CALIBRATION_FULL
};
const char *calibration_form_name(enum calibration_form f); /* "quick", "full" */
int calibration_form_parse(const char *s);

struct calibration_values {
    int64_t *v;
    size_t n;
};

struct calibration_measure {
    enum measure measure;
    struct calibration_values floor_ns; /* of a program that does nothing */
    /* Of a program that does a little work, in pairs: v[2i] against v[2i + 1]. -1: unknown. */
    struct calibration_values pairs_ns, pairs_cpu_ns;
};

struct calibration {
    const char *id;   /* ULID */
    const char *boot; /* identity of the boot that it holds for */
    enum calibration_form form;
    int64_t wall_ms;       /* when it was complete */
    const char *version;   /* of the daemon */
    const char *clock;     /* the timing clock's name */
    int64_t clock_step_ns; /* the smallest difference above 0 that the clock showed */
    int cpu;               /* core of lane and runner; -1: not pinned */
    bool fifo;             /* the runner waited at SCHED_FIFO */
    struct calibration_measure measures[CALIBRATION_MEASURES]; /* by enum measure */
};

/* What follows for one measure; NaN: it cannot be told. */
struct calibration_figures {
    enum measure measure;
    size_t groups, floor_n;
    double noise_floor, cpu_noise_floor; /* f of wall and of CPU time, as fractions */
    double floor_median_ns, floor_mad_ns;
    double resolution_ns; /* smaller figures are below resolution */
    int64_t floor_total_ns, pairs_total_ns, pairs_cpu_total_ns; /* no value changes unseen */
};

/* f, as a fraction: each full group of pairs gives the median p of its ratios, as a comparison of
 * so many repetitions would; f is the 95th percentile, by nearest rank, of max(p, 1/p) - 1 over the
 * groups. Of equal programs so measured at most one in twenty looks farther apart. (Le Boudec,
 * "Performance Evaluation of Computer and Communication Systems", EPFL Press 2010, chapter 2:
 * prediction by order statistics, without a distribution.) NaN without a full group. */
double calibration_noise_floor(struct arena *a, const struct calibration_values *pairs);

void calibration_figures(struct arena *a, const struct calibration *c, enum measure measure,
                         struct calibration_figures *out);

/* What change, as a fraction, a comparison of n repetitions can find here: with k and n + 1 - k the
 * ranks of the interval of n pairs (core/stats/interval), its ends are expected at the quantiles
 * k/(n+1) and (n+1-k)/(n+1) of the ratios (David & Nagaraja, "Order Statistics", 3rd ed. 2003,
 * section 4.5), taken from all pairs that were measured; then as of a run: max(U/p, p/L) (1 +
 * max(m, f)) -
 * 1. NaN where n has no interval. */
double calibration_resolvable(struct arena *a, const struct calibration *c, enum measure measure,
                              size_t n, double margin);

/* The part of a figure that is the floor's; NaN: not calibrated, or no figure. */
double calibration_share(const struct calibration_figures *f, double median_ns);
