#include "core/drift.h"

#include <math.h>

#include "core/compare.h"

void drift_judge(struct control_drift *drift, double limit_pct)
{
    drift->drift_pct = compare_change_pct(drift->before_ns, drift->after_ns);
    if (isnan(drift->drift_pct))
        drift->within = TRI_UNKNOWN;
    else
        drift->within = fabs(drift->drift_pct) < limit_pct ? TRI_PASS : TRI_FAIL;
}
