/* The order of everything, computed before the first observation and stored.
 *
 * Rules: interleaved, round r visits the workloads rotated by r, inside a workload the lanes
 * rotated by r; a lane's sides are adjacent, the first side first in even repetitions and last in
 * odd ones. Warmup rounds come before, by the same rule (kind warmup, repetitions -warmups .. -1).
 * Sequential: all of one side, then all of the other. */
#pragma once

#include "base/arena.h"
#include "core/suite.h"
#include "core/types.h"

struct plan_step {
    int seq;        /* 0.. in execution order */
    int workload;   /* index into the suite */
    int lane;       /* index into the workload's lanes */
    int side;       /* index into the sides */
    int repetition; /* timed: 0..n-1; warmup: 0..warmups-1 */
    int position;   /* 0.. within (kind, repetition, workload) */
    enum obs_kind kind;
};

struct plan {
    struct plan_step *steps;
    size_t n;
};

/* present[w][lane * n_sides + side] says whether that lane of workload w runs on that side (false:
 * excluded, absent on this host, or a workload that is absent on the side); NULL: all do. */
struct plan *plan_make(struct arena *a, const struct suite *suite, size_t n_sides, int repetitions,
                       int warmups, enum order order, const bool *const *present);
