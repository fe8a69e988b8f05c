/* Inside of the gate: the interval of a figure, the words of a row, recorded gaps. Each fills a
 * file of its own. Pure; all of it lives in the arena that is passed.
 */
#pragma once

#include "core/gate/gate.h"
#include "core/summary/observations.h"

struct gate_pair {
    const char *subject_lane, *subject_side;
    const char *reference_lane, *reference_side;
};

/* The interval of subject / reference: that of the report's comparisons, made of the same pairs (of
 * sides that ran one after the other, of the shift). Of exact values it is their one ratio, and the
 * coverage is NaN. Undefined: too few repetitions, or a value of 0. */
void gate_interval(struct arena *a, const struct gate_report *r, struct observation_index *index,
                   const struct target *t, const struct gate_pair *pair, struct interval *out);

/* "fib30: c / rust", "at most 8.000000" */
const char *gate_what(struct arena *a, const struct target *t);
const char *gate_limit(struct arena *a, const struct target *t);
/* "7.912345", "+1.2346 %"; "7.912345 to 8.012345" */
const char *gate_figure(struct arena *a, const struct target *t, double figure);
const char *gate_range(struct arena *a, const struct target *t, const struct interval *v);

/* Fills gaps and n_gaps of out. */
void gate_gaps(struct arena *a, const struct targets *targets, const struct gate_report *reports,
               size_t n_reports, struct gate_result *out);

/* No report of that host has the workload or file; names what they have instead. */
const char *gate_nothing_has(struct arena *a, const struct target *t,
                             const struct gate_report *reports, size_t n, const struct raw *host);
/* The report has no row of that lane; names the lanes that the workload has. */
const char *gate_no_lane(struct arena *a, const struct target *t, const char *lane,
                         const struct raw *raw);
/* Two reports of one host. */
bool gate_same_host(const struct raw *a, const struct raw *b);
