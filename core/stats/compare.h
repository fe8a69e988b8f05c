/* Two things measured against each other: ratios, pairs, the estimate with its verdict.
 *
 * Pairs are matched by repetition, never by array position; sides that ran one after the other have
 * none and are compared as two samples (core/stats/shift). Every definition is the contract's
 * (statistics); undefined is NaN with a note that says why, never 0, 1 or infinite. Pure: results
 * and scratch live in the arena that is passed, notes are literals.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "core/stats/interval.h"
#include "core/types.h"

/* subject / reference; NaN unless both are positive: a duration of 0 was not resolved. */
double compare_ratio(double subject, double reference);
/* (after - before) / before, in percent; NaN unless before is positive. */
double compare_change_pct(double before, double after);
/* (before - after) / before, in percent; NaN unless before is positive. */
double compare_reduction_pct(double before, double after);

/* The size gate: at most recorded * 1.10, in whole bytes without rounding. UNKNOWN unless recorded
 * is positive and later is not negative. */
enum tri compare_size_gate(int64_t recorded_bytes, int64_t later_bytes);

/* The same for values with another bound: at most recorded + pct percent of it, in whole numbers.
 * Recorded 0 may not grow at all. UNKNOWN unless neither is negative. */
enum tri compare_growth(int64_t recorded, int64_t later, int pct);

/* The samples of one lane on one side, sorted by repetition. */
struct sample {
    int repetition;
    int64_t value; /* ns */
};
struct samples {
    struct sample *v;
    size_t n;
};
void samples_sort(struct samples *s);
/* The values alone, ascending, in a; NULL when there are none. */
int64_t *samples_values(struct arena *a, const struct samples *s);
/* Median in ns; NaN when there are none. */
double samples_median(struct arena *a, const struct samples *s);

struct pair {
    int repetition;
    int64_t subject, reference; /* ns */
};
/* Fills out (room for the smaller n) with one pair for each repetition that both have exactly once,
 * and returns their number. A repetition that one side has twice is ambiguous and gives none. */
size_t compare_pairs(const struct samples *subject, const struct samples *reference,
                     struct pair *out);

struct estimate {
    double ratio_of_medians;    /* subject / reference */
    bool unpaired;              /* the sides ran one after the other */
    double paired_median_ratio; /* NaN for unpaired sides */
    double shift_ratio;         /* unpaired sides: the Hodges-Lehmann ratio; else NaN */
    size_t pairs;
    struct interval interval; /* of the one ratio of the two that is defined */
    double margin;            /* in force: the rule's, or the drift that is larger */
    enum verdict verdict;
    double resolvable;    /* smallest change this run could have resolved (0.02 = 2 %); NaN */
    bool medians_outside; /* the ratio of medians lies outside the interval */
    const char *note;     /* why UNRESOLVED, or what limits it; NULL: nothing */
};

/* The ratio that the verdict speaks of: paired, or of unpaired sides. */
double estimate_ratio(const struct estimate *e);

struct verdict_rule {
    double margin;      /* m: what counts as no change, 0.01 */
    double noise_floor; /* f: what this host shows for one program against itself; NaN: unknown */
    double drift;       /* d, unpaired sides: how far a control may have drifted between them, as a
                           fraction (0.03); NaN: no control shows it. 0 for pairs, which drift together */
};

/* The margin in force: m, or d where that is larger. */
double compare_margin(const struct verdict_rule *rule);

/* FASTER: the interval lies below 1 / (1 + max(m, f, d)). SLOWER: above 1 + max(m, f, d). SAME:
 * inside [1 / (1 + m), 1 + m] and f <= m and d <= m: a host that moves does not make SAME easier.
 * Else UNRESOLVED. An unknown f or d leaves FASTER and SLOWER to what is known and makes SAME
 * impossible. *note says what limits the verdict; NULL: nothing. */
enum verdict compare_verdict(const struct interval *interval, const struct verdict_rule *rule,
                             const char **note);

/* The smallest change that a run with this interval (L, U) around the ratio p could have resolved:
 * max(U / p, p / L) (1 + m) - 1. NaN without an interval. */
double compare_resolvable(const struct interval *interval, double ratio, double margin);

/* All of it for two lanes or sides, by pairs. */
void compare_estimate(struct arena *a, const struct samples *subject,
                      const struct samples *reference, const struct verdict_rule *rule,
                      struct estimate *out);

/* The same for sides that ran one after the other, where nothing is paired: the shift of
 * core/stats/shift and its interval, judged by a margin of at least rule->drift. */
void compare_unpaired(struct arena *a, const struct samples *subject,
                      const struct samples *reference, const struct verdict_rule *rule,
                      struct estimate *out);

/* One of the two. */
void compare_samples(struct arena *a, bool paired, const struct samples *subject,
                     const struct samples *reference, const struct verdict_rule *rule,
                     struct estimate *out);

/* For a workload that waits wait_ns by design: excess is the estimate of what is over the wait,
 * made as whole was (undefined unless every value of it is over the wait). SAME must hold for the
 * excess too: otherwise whole becomes UNRESOLVED. */
void compare_excess(struct arena *a, const struct samples *subject, const struct samples *reference,
                    int64_t wait_ns, const struct verdict_rule *rule, struct estimate *whole,
                    struct estimate *excess);

/* Lane minus startup lane, per repetition. Nonpositive differences are left out of the estimate and
 * counted; the median of all n stands beside it, as leaving values out biases upward. */
struct startup_adjusted {
    size_t valid, n;
    double median_ns;     /* of the valid ones; NaN: none */
    double median_all_ns; /* of all n; NaN: none */
};
void compare_startup(struct arena *a, const struct samples *lane, const struct samples *startup,
                     struct startup_adjusted *out);
