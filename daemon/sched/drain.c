/* Drain: what runs goes to its end, and nothing else is begun until it is ended. */
#include "base/log.h"
#include "sched/calendar.h"
#include "sched/calibrating.h"
#include "sched/hooks.h"
#include "sched/sched_internal.h"
#include "store/hooks.h"

void sched_listen_state(struct sched *s, void (*fn)(void *ctx), void *ctx)
{
    s->state_listener = fn;
    s->state_listener_ctx = ctx;
}

void sched_tell_state(const struct sched *s)
{
    if (s->state_listener)
        s->state_listener(s->state_listener_ctx);
}

void sched_state(const struct sched *s, struct sched_state *out)
{
    *out = (struct sched_state){.drained_ms = s->drained_ms,
                                .drained_by = s->drained_by,
                                .job = s->active ? s->active->job_id : NULL,
                                .hook = hooks_running(s)};
    /* Between two of them the next one may be about to begin. */
    out->idle = !out->job && !out->hook && !calibrating_running(s) &&
                !uv_is_active((const uv_handle_t *)&s->kick);
}

int drain_load(struct sched *s, struct err *e)
{
    return store_drained(s->config.store, &s->drained_ms, &s->drained_by, e);
}

int sched_drain(struct sched *s, bool on, int64_t peer_uid, struct err *e)
{
    bool was = s->drained_ms >= 0;
    int rc = on ? store_drain(s->config.store, sched_now_ms(s), peer_uid, e)
                : store_drain_end(s->config.store, e);

    if (rc == 0)
        rc = drain_load(s, e);
    if (rc < 0 || was == on)
        return rc;
    if (on)
        log_info("drained by user %lld: nothing is begun any more", (long long)peer_uid);
    else
        log_info("the drain was ended by user %lld", (long long)peer_uid);
    sched_kick(s);
    sched_tell_state(s);
    return 0;
}

/* Deadlines pass all the same. */
int64_t drain_turn(struct sched *s)
{
    struct err e = {0};
    int64_t due_ms = -1;
    int rc = calendar_expire(s, &e);

    if (rc == 0)
        rc = store_next_deadline_ms(s->config.store, &due_ms, &e);
    if (rc < 0)
        log_err("looking for deadlines", rc, &e);
    return due_ms;
}
