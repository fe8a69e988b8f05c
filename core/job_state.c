#include "core/job_state.h"

#include <errno.h>

#include "core/names.h"

static const char *const job_state_names[JOB_STATE_COUNT] = {
#define JOB_STATE(state, spelling) [JOB_##state] = (spelling),
#include "core/job_state.def"
};
NAMES(job_state, job_state);

static const char *const job_event_names[JOB_EVENT_COUNT] = {
#define JOB_EVENT(event, spelling) [JOB_##event] = (spelling),
#include "core/job_state.def"
};
NAMES(job_event, job_event);

static const char *const job_effect_names[JOB_EFFECT_COUNT] = {
#define JOB_EFFECT(effect, spelling) [JOB_EFFECT_##effect] = (spelling),
#include "core/job_state.def"
};
NAMES(job_effect, job_effect);

struct cell {
    bool legal;
    enum job_state to;
    enum job_effect effect;
};

static const struct cell cells[JOB_STATE_COUNT][JOB_EVENT_COUNT] = {
#define JOB_GOES(state, event, next, act)                                                          \
    [JOB_##state][JOB_##event] = {.legal = true, .to = JOB_##next, .effect = JOB_EFFECT_##act},
#define JOB_NEVER(state, event) [JOB_##state][JOB_##event] = {.legal = false, .to = JOB_##state},
#include "core/job_state.def"
};

/* A cell given twice does not compile, and the count proves that none is missing. */
enum {
#define JOB_GOES(state, event, next, act) GIVEN_##state##_##event,
#define JOB_NEVER(state, event) GIVEN_##state##_##event,
#include "core/job_state.def"
    CELLS_GIVEN
};
_Static_assert(CELLS_GIVEN == (int)JOB_STATE_COUNT * (int)JOB_EVENT_COUNT,
               "job_state.def gives every cell once");

int job_state_step(enum job_state state, enum job_event event, struct job_step *out)
{
    const struct cell *c = &cells[state][event];
    if (!c->legal)
        return -EINVAL;
    *out = (struct job_step){.from = state, .to = c->to, .event = event, .effect = c->effect};
    return 0;
}

bool job_state_is_final(enum job_state s)
{
    return s >= JOB_DONE;
}

bool job_state_is_running(enum job_state s)
{
    return s == JOB_PREPARING || s == JOB_MEASURING || s == JOB_VERIFYING;
}
