#include "core/observations.h"

#include <string.h>

bool observation_counts(const struct raw_observation *o, const struct series *of)
{
    return o->kind == OBS_TIMED && o->outcome && strcmp(o->outcome, "ok") == 0 &&
           strcmp(o->workload, of->workload) == 0 && strcmp(o->lane, of->lane) == 0 &&
           strcmp(o->side, of->side) == 0;
}

static int64_t value_of(const struct raw_observation *o, enum observed what)
{
    return what == OBSERVED_WALL_NS ? o->elapsed_ns : o->interval_cpu_ns;
}

struct samples observations_collect(struct arena *a, const struct raw *raw, const struct series *of,
                                    enum observed what)
{
    size_t n = 0;
    for (size_t i = 0; i < raw->n_observations; i++)
        n += observation_counts(&raw->observations[i], of);
    struct samples s = {.v = arena_array(a, n, sizeof *s.v)};
    for (size_t i = 0; i < raw->n_observations; i++) {
        const struct raw_observation *o = &raw->observations[i];
        if (observation_counts(o, of) && value_of(o, what) >= 0)
            s.v[s.n++] = (struct sample){o->repetition, value_of(o, what)};
    }
    samples_sort(&s);
    return s;
}

bool lane_takes_part(const struct raw_lane *lane)
{
    return !lane->absent && !lane->excluded;
}

bool lane_is_startup(const struct raw_workload *workload, const struct raw_lane *lane)
{
    for (size_t i = 0; i < workload->n_lanes; i++) {
        const char *startup = workload->lanes[i].startup;
        if (startup && strcmp(startup, lane->name) == 0)
            return true;
    }
    return false;
}
