#include "core/stats/drift.h"

#include <math.h>

#include "core/stats/compare.h"

void drift_judge(struct control_drift *drift, double limit_pct)
{
    drift->drift_pct = compare_change_pct(drift->before_ns, drift->after_ns);
    if (isnan(drift->drift_pct))
        drift->within = TRI_UNKNOWN;
    else
        drift->within = fabs(drift->drift_pct) < limit_pct ? TRI_PASS : TRI_FAIL;
}

void drift_bound(struct control_drift *drift, const struct interval *interval)
{
    drift->bound_pct = NAN;
    if (!interval->defined || isnan(drift->drift_pct))
        return;
    double up = interval->high - 1, down = 1 / interval->low - 1, own = fabs(drift->drift_pct);
    double bound = (up > down ? up : down) * 100;
    drift->bound_pct = bound > own ? bound : own;
}
