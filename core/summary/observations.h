/* Which observations count, and their figures as samples. Pure; all of it lives in the arena given.
 *
 * Counted is what is timed and valid ("ok"): never a warmup, and of the repetitions those that the
 * replacement rule chooses. The index is made once for a report,
 * so that no figure has to look at every observation; what it gives does not depend on the order of
 * the observations in the report.
 */
#pragma once

#include "base/arena.h"
#include "core/ledger/replacement.h"
#include "core/raw.h"
#include "core/stats/compare.h"

/* One lane on one side, by name. */
struct series {
    const char *workload, *lane, *side;
};

/* The observations that count, ascending by workload, lane, side and repetition. */
struct observation_index {
    const struct raw_observation **v;
    size_t n;
    struct replacement *replacements; /* by workload */
};
void observations_index(struct arena *a, const struct raw *raw, struct observation_index *out);
/* The same of the planned repetitions as they were observed, disturbed or not. */
void observations_index_planned(struct arena *a, const struct raw *raw,
                                struct observation_index *out);

/* The part of the index that is of one series: *n of them, ascending by repetition. */
const struct raw_observation *const *observations_of(const struct observation_index *index,
                                                     const struct series *of, size_t *n);

enum observed { OBSERVED_WALL_NS, OBSERVED_CPU_NS };
/* Values that are not known (negative) are left out. */
struct samples observations_collect(struct arena *a, const struct observation_index *index,
                                    const struct series *of, enum observed what);

/* Are two series of this report paired by repetition? Lanes of one side take turns in every order;
 * only the sides can run apart. */
bool raw_is_paired(const struct raw *raw, bool of_sides);

/* Is the figure of what it observed a time of the runner, which the ledger and the audit judge? */
bool observation_is_time(const struct raw *raw, const struct raw_observation *o);
/* The rules by which the samples of its profile were attributed; NULL: it has none. */
const struct attribution *observation_profile(const struct raw *raw,
                                              const struct raw_observation *o);
/* Is there a workload whose figures are times, the program's own among them? */
bool raw_has_times(const struct raw *raw);

/* Takes part: neither absent on this host nor left out by the job. */
bool lane_takes_part(const struct raw_lane *lane);
/* Is it the startup lane of another lane of its workload? */
bool lane_is_startup(const struct raw_workload *workload, const struct raw_lane *lane);
/* Does the suite say that the workload does not exist on this side? */
bool workload_is_absent(const struct raw_workload *workload, const char *side);
