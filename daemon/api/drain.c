/* daemon.drain and daemon.watch: no further attempts, and when nothing runs any more. */
#include "api/internal.h"

bool api_is_drained(const struct api *api)
{
    struct sched_state state;

    sched_state(api->config.sched, &state);
    return state.drained_ms >= 0;
}

void api_put_state(const struct api *api, struct json_out *o)
{
    struct sched_state state;

    sched_state(api->config.sched, &state);
    json_put_int_or_null(o, "drained_ms", state.drained_ms);
    json_put_int_or_null(o, "drained_by", state.drained_by);
    json_put_str(o, "job", state.job);
    json_put_str(o, "hook", state.hook);
    json_put_bool(o, "idle", state.idle);
    api_put_calibration_state(api, o);
}

int api_daemon_drain(struct api_call *c)
{
    bool on = json_opt_bool(&c->in, c->req.params, "on", true);
    bool was = api_is_drained(c->api);

    if (c->in.rc < 0)
        return c->in.rc;
    int rc = sched_drain(c->api->config.sched, on, c->session->peer.uid, &c->e);
    if (rc < 0)
        return rc;
    if (was != on)
        api_watch_drain(c->api);
    api_put_state(c->api, c->o);
    return 0;
}

int api_daemon_watch(struct api_call *c)
{
    int rc = api_watch_add(c->session, "", &c->e);

    if (rc == 0)
        api_put_state(c->api, c->o);
    return rc;
}
