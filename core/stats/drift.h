/* Control drift: how far a lane that did not change moved between the two sides. It guards every
 * before/after: a control that drifts says that the host changed, not the program. Pure.
 */
#pragma once

#include "core/stats/interval.h"
#include "core/types.h"

struct control_drift {
    const char *workload, *lane;
    const char *before_side, *after_side; /* the reference and the subject of a pair */
    double before_ns, after_ns;           /* medians */
    double drift_pct;                     /* NaN: undefined */
    double bound_pct; /* sides one after the other: how far it may have drifted; else NaN */
    enum tri within;
};

/* Fills drift_pct, (after - before) / before in percent, and within from the two medians: PASS
 * below limit_pct in absolute value, FAIL at or above it, UNKNOWN where the drift is undefined. */
void drift_judge(struct control_drift *drift, double limit_pct);

/* Fills bound_pct: the far end of the unpaired interval (core/stats/shift) of after / before, or
 * the drift itself where that is larger. A drift is a figure like any other, and its own noise
 * would let through what the host did. NaN without an interval. */
void drift_bound(struct control_drift *drift, const struct interval *interval);
