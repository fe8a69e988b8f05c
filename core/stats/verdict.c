#include <math.h>

#include "core/stats/compare.h"

#define NOTE_FEW "too few observations for an interval of 95 %"
#define NOTE_MARGIN "the noise floor is not calibrated: judged by the margin alone"
#define NOTE_NO_SAME "the noise floor is not calibrated: SAME cannot be said"
#define NOTE_NOISY "the noise floor is above the margin: SAME cannot be said"
#define NOTE_WITHIN_NOISE "past the margin, but within the noise floor of this host"
#define NOTE_WITHIN_DRIFT "past the policy's margin, but a control may have drifted as far"
#define NOTE_DRIFTED "a control may have drifted past the margin: SAME cannot be said"
#define NOTE_WIDE "the interval reaches across the margin"
#define NOTE_DRIFT                                                                                 \
    "no control shows how far the host drifted between the sides: judged by the margin alone"
#define NOTE_DRIFT_NO_SAME                                                                         \
    "no control shows how far the host drifted between the sides: SAME cannot be said"

static bool is_within(const struct interval *interval, double limit)
{
    return interval->low >= 1 / (1 + limit) && interval->high <= 1 + limit;
}

/* The word for an interval on one side of a limit; UNRESOLVED when it is on neither. */
static enum verdict beyond(const struct interval *interval, double limit)
{
    if (interval->high < 1 / (1 + limit))
        return VERDICT_FASTER;
    return interval->low > 1 + limit ? VERDICT_SLOWER : VERDICT_UNRESOLVED;
}

double compare_margin(const struct verdict_rule *rule)
{
    /* False for an unknown drift, which leaves the rule's own. */
    return rule->drift > rule->margin ? rule->drift : rule->margin;
}

/* Why an interval that lies beyond neither limit is not SAME either; NULL: it is. */
static const char *why_not_same(const struct interval *interval, const struct verdict_rule *rule)
{
    if (beyond(interval, compare_margin(rule)) != VERDICT_UNRESOLVED)
        return NOTE_WITHIN_NOISE;
    if (beyond(interval, rule->margin) != VERDICT_UNRESOLVED)
        return NOTE_WITHIN_DRIFT;
    if (!is_within(interval, rule->margin))
        return NOTE_WIDE;
    if (isnan(rule->drift))
        return NOTE_DRIFT_NO_SAME;
    if (rule->drift > rule->margin)
        return NOTE_DRIFTED;
    if (isnan(rule->noise_floor))
        return NOTE_NO_SAME;
    return rule->noise_floor > rule->margin ? NOTE_NOISY : NULL;
}

enum verdict compare_verdict(const struct interval *interval, const struct verdict_rule *rule,
                             const char **note)
{
    if (!interval->defined) {
        *note = NOTE_FEW;
        return VERDICT_UNRESOLVED;
    }
    double margin = compare_margin(rule);
    /* False for an unknown floor, which leaves the margin alone. */
    bool noisy = rule->noise_floor > margin;
    enum verdict verdict = beyond(interval, noisy ? rule->noise_floor : margin);
    if (verdict != VERDICT_UNRESOLVED) {
        *note = isnan(rule->drift) ? NOTE_DRIFT : isnan(rule->noise_floor) ? NOTE_MARGIN : NULL;
        return verdict;
    }
    *note = why_not_same(interval, rule);
    return *note ? VERDICT_UNRESOLVED : VERDICT_SAME;
}

double compare_resolvable(const struct interval *interval, double ratio, double margin)
{
    if (!interval->defined)
        return NAN;
    double up = interval->high / ratio;
    double down = ratio / interval->low;
    return (up > down ? up : down) * (1 + margin) - 1;
}
