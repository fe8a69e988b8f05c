/* The ledgers of observations, judged where they are made and again by whoever checks or shows
 * them. Pure. */
#pragma once

#include "core/ledger/ledger_judge.h"
#include "core/raw.h"

/* The step of the plan that a good observation stands for; NULL: it was not good, or not planned.
 */
const struct plan_step *ledger_step(const struct raw *raw, const struct raw_observation *o);
/* What the warmups of a whole report say. All of them come before the first timed observation. */
void warmups_from(struct arena *a, const struct raw *raw, struct warmups *out);
/* The limits of the step's lane and side. */
void ledger_limits_of(const struct raw *raw, const struct warmups *warmups,
                      const struct plan_step *step, struct ledger_limits *out);

/* A lane that takes longer lets the daemon answer waiting clients (Silence); that work then counts
 * as the runner's does. */
#define OBSERVER_LONG_NS 5000000000LL
/* What the observer may use inside the interval, and what it used, in ns; used is -1: unknown. */
int64_t observer_allowed_ns(const struct raw_observation *o);
int64_t observer_used_ns(const struct raw_observation *o);

/* Bits 1 << enum disturbance, as ledger_judge(), and the observer's own excess among them: an
 * interrupt that meets the runner between GO and DONE is a disturbance like any other. Where the
 * host has no counters nothing is judged. */
int observation_judge(const struct raw_observation *o, const struct ledger_limits *limits);
