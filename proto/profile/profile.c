#include "proto/profile/profile.h"

int profile_read(enum profile_format format, const char *data, size_t len,
                 const struct profile_seen *seen, struct err *e)
{
    return format == PROFILE_CALLGRIND     ? profile_read_callgrind(data, len, seen, e)
           : format == PROFILE_PERF_SCRIPT ? profile_read_perf_script(data, len, seen, e)
                                           : profile_read_xctrace(data, len, seen, e);
}

struct counting {
    const struct attribution *rules;
    int64_t *counts;
};

static bool add(void *of, const struct profile_sample *sample)
{
    const struct counting *c = of;
    return attribution_add(c->rules, sample, c->counts);
}

int profile_attribute(const struct attribution *rules, const char *data, size_t len,
                      int64_t *counts, struct err *e)
{
    struct counting c = {rules, counts};
    const struct profile_seen seen = {add, &c};
    return profile_read(rules->format, data, len, &seen, e);
}
