/* A comparison as a job makes it, of one lane on two sides: planned, warmed up, judged by the
 * ledger, with disturbed repetitions run again at the end. What comes out is a raw report for
 * core/summary/summarise, as the daemon has one. Who observes is the caller's: the runner, or a
 * simulation. Plan, limits, judge and replacement rule are those of core; their order is that of
 * sched/steps_measure and sched/replacements, without a store and a loop of events.
 */
#pragma once

#include "core/raw.h"

#define TRIAL_REPETITIONS 11

enum { TRIAL_BEFORE, TRIAL_AFTER, TRIAL_SIDES };

struct trial {
    const struct policy *policy;
    const struct ledger_sources *sources;  /* of what the observations say */
    const struct calibration *calibration; /* of the same boot */
    int cores;
    void *context;
    /* Fills *out with the figures and the ledger of step->side; its place in the plan and what
     * follows from it are filled in afterwards. Strings live in a. */
    void (*observe)(void *context, struct arena *a, const struct plan_step *step,
                    struct raw_observation *out);
};

/* Lives in a. */
const struct raw *trial_make(struct arena *a, const struct trial *t);
