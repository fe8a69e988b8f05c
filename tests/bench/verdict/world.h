/* The model of a host on which the truth is known.
 *
 * A program needs CPU time, and so much wall time where nobody else runs; each run differs by a
 * normal share of 0.4 % and, one time of twenty, by an exponential one of 1 % more (pages and
 * caches as they fell). Conditions:
 *   quiet   nothing else.
 *   burner  another process alternates between running and sleeping, 30 % of the time running, in
 *           bursts of 60 ms on average. Half of it is on the lane's core, where both get half of
 *           it, in turns of 3 ms, of which one had up to half a turn more when the lane is done;
 *           elsewhere it slows the lane by 2 %, and CPU time with it, as shared caches do.
 *   same    the same, always on the lane's core.
 *   always  it runs all the time, on the lane's core.
 *   drift   the speed walks up to 10 % away and back over the comparison, wall and CPU time alike.
 * The counters see the foreign time with a resolution of 20 us and an error of that size. Whoever
 * calibrates waits until no burner is there; a drift cannot be waited for.
 */
#pragma once

#include "core/raw.h"

enum noise { NOISE_QUIET, NOISE_BURNER, NOISE_SAME, NOISE_ALWAYS, NOISE_DRIFT, NOISE_COUNT };
int noise_parse(const char *s); /* -1: none of them */

struct world {
    uint64_t seed;
    enum noise noise;
    double now_ns, burst_end_ns, pause_end_ns; /* the burner runs until burst_end */
    bool near;                                 /* the burst is on the lane's core */
    double drift_period_ns, drift_phase;
};

void world_init(struct world *w, uint64_t seed, enum noise noise);
/* One observation of a program that needs work_ns: its times, its ledger, and that it went well. */
void world_observe(struct world *w, double work_ns, struct raw_observation *out);
/* What the counters of this host can tell. */
extern const struct ledger_sources world_sources;
#define WORLD_CORES 4

/* A quick calibration, as sched/calibrating_run makes one, in a boot of the given name. Lives in a.
 */
const struct calibration *world_calibrate(struct arena *a, uint64_t seed, enum noise noise,
                                          const char *boot);
