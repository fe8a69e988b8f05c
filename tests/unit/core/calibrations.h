/* Calibrations of known figures, for tests of what follows from them. */
#pragma once

#include "base/arena.h"
#include "core/raw.h"
#include "core/summary/calibration.h"

/* Groups of pairs of which group g has the median ratio ratios[g], and a floor of this median and
 * MAD, by both measures alike. */
static inline struct calibration *calibration_of(struct arena *a, const char *boot,
                                                 const double *ratios, size_t groups,
                                                 int64_t floor_ns, int64_t mad_ns)
{
    struct calibration *c = arena_alloc(a, sizeof *c);
    size_t pairs = groups * CALIBRATION_GROUP_PAIRS;

    *c = (struct calibration){.id = "01M8QM95WEF9XJRRK5W0H1TN4V",
                              .boot = boot,
                              .form = CALIBRATION_FULL,
                              .wall_ms = 1,
                              .version = "0.1.0",
                              .clock = "CLOCK_MONOTONIC_RAW",
                              .clock_step_ns = 20,
                              .cpu = 1};
    for (int m = 0; m < CALIBRATION_MEASURES; m++) {
        struct calibration_measure *to = &c->measures[m];
        to->measure = (enum measure)m;
        to->pairs_ns.n = to->pairs_cpu_ns.n = 2 * pairs;
        to->pairs_ns.v = arena_array(a, 2 * pairs, sizeof(int64_t));
        to->pairs_cpu_ns.v = arena_array(a, 2 * pairs, sizeof(int64_t));
        for (size_t i = 0; i < pairs; i++) {
            /* Half of a group below its median and half above, so that each has a spread. */
            double part = ((double)(i % CALIBRATION_GROUP_PAIRS) - 5) / 1000;
            double ratio = ratios[i / CALIBRATION_GROUP_PAIRS] + part;
            to->pairs_ns.v[2 * i] = to->pairs_cpu_ns.v[2 * i] = (int64_t)(ratio * 1e6 + 0.5);
            to->pairs_ns.v[2 * i + 1] = to->pairs_cpu_ns.v[2 * i + 1] = 1000000;
        }
        to->floor_ns.n = 3;
        to->floor_ns.v = arena_array(a, 3, sizeof(int64_t));
        to->floor_ns.v[0] = floor_ns + mad_ns;
        to->floor_ns.v[1] = floor_ns - mad_ns;
        to->floor_ns.v[2] = floor_ns;
    }
    return c;
}

/* One in force for the report: noise floor f by both measures. */
static inline struct calibration *calibrate(struct arena *a, struct raw *raw, double f)
{
    const double ratios[] = {1, 1 + f};
    struct calibration *c = calibration_of(a, raw->boot.id, ratios, 2, 20, 2);

    raw->calibration = c;
    return c;
}
