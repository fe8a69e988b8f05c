/* Whether what the ledger says is too much: limits fixed before the first repetition, and the
 * verdict on one observation. Pure. */
#pragma once

#include "base/arena.h"
#include "core/ledger/ledger.h"
#include "core/plan.h"
#include "core/policy.h"

/* What an observation may have had beside it. -1: that is not judged. */
struct ledger_limits {
    int64_t near_ns, far_ns, delay_ns, steal_ns, throttles, swapped_pages;
};

/* What warmups say of one lane on one side. */
struct warmup {
    int64_t ns;              /* its last one took; 0: there was none */
    int64_t near_ns, far_ns; /* foreign time that every warmup of the lane, on either side, had
                                beside it: the least of them, 0 when one of them cannot tell */
    bool wide;               /* the lane has no CPU of its own, but all that jobs may use */
};

/* The contract's limits for a lane of that warmup (ledger_judge.c has the numbers): shares of its
 * duration, which is fixed before the first repetition, never of the duration that is being judged;
 * and never finer than the counters. Near a lane that has many CPUs is where other lanes have
 * "elsewhere": its limit is the same. What the kernel's threads do for a lane counts as foreign, as
 * nobody can tell it apart; it stands beside every warmup too, and so much more may stand beside an
 * observation. Steal, throttling and swap only where the policy requires them. */
void ledger_limits(const struct ledger_sources *sources, const struct policy *policy, int cores,
                   const struct warmup *warmup, struct ledger_limits *out);

/* Bits 1 << enum disturbance; -1: the ledger does not say what others did near the lane or
 * elsewhere, and nothing else speaks against it. */
int ledger_judge(const struct ledger *l, const struct ledger_limits *limits);

/* The warmups of all lanes. */
struct warmups {
    struct warmup *v; /* by workload, lane, side */
    size_t *base;
    size_t n_workloads, n_sides;
};
/* n_lanes: of each workload. */
void warmups_init(struct arena *a, const size_t *n_lanes, size_t n_workloads, size_t n_sides,
                  struct warmups *out);
/* Takes in a good warmup. A step that is not of these lanes is ignored. */
void warmups_note(struct warmups *w, const struct plan_step *step, int64_t elapsed_ns,
                  const struct ledger *l);
/* Of the step's lane, which has so many CPUs of its own (0: none). All 0 for a step that is not of
 * these lanes. */
struct warmup warmups_of(const struct warmups *w, const struct plan_step *step, int lane_cpus);
