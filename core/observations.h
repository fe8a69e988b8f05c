/* Which observations count, and their figures as samples. Pure; samples live in the arena given.
 *
 * Counted is what is timed and valid ("ok"): never a warmup. The samples come back sorted by
 * repetition, so that the order of the observations in the report does not matter.
 */
#pragma once

#include "base/arena.h"
#include "core/compare.h"
#include "core/raw.h"

/* One lane on one side, by name. */
struct series {
    const char *workload, *lane, *side;
};

bool observation_counts(const struct raw_observation *o, const struct series *of);

enum observed { OBSERVED_WALL_NS, OBSERVED_CPU_NS };
/* Values that are not known (negative) are left out. */
struct samples observations_collect(struct arena *a, const struct raw *raw, const struct series *of,
                                    enum observed what);

/* Takes part: neither absent on this host nor left out by the job. */
bool lane_takes_part(const struct raw_lane *lane);
/* Is it the startup lane of another lane of its workload? */
bool lane_is_startup(const struct raw_workload *workload, const struct raw_lane *lane);
