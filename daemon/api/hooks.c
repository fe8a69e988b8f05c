/* What has become of the programs that are to be told of ends. */
#include "store/hooks.h"
#include "api/internal.h"
#include "base/mem.h"
#include "core/notify.h"

#define HOOKS_SHOWN 8

static void put_last_try(struct api_call *c, int64_t hook)
{
    struct store_hook_try *last;

    if (store_hook_last_try(c->api->config.store, hook, &c->arena, &last, NULL) != 0) {
        json_put_null(c->o, "last");
        return;
    }
    json_begin(c->o, "last");
    json_put_int(c->o, "started_ms", last->started_ms);
    json_put_int_or_null(c->o, "ended_ms", last->ended_ms);
    json_put_str(c->o, "outcome", last->outcome);
    json_put_int_or_null(c->o, "exit_status", last->exit_status);
    json_put_int_or_null(c->o, "exit_signal", last->exit_signal);
    json_put_str(c->o, "output", last->output);
    json_end(c->o);
}

static void put_hook(struct api_call *c, const struct store_hook *hook)
{
    json_begin(c->o, NULL);
    json_put_str(c->o, "id", hook->id);
    json_put_str(c->o, "event", notify_event_name(hook->event));
    json_put_str(c->o, "owner", hook->owner);
    json_put_raw(c->o, "command", hook->argv);
    json_put_str(c->o, "state", hook->state);
    json_put_int(c->o, "tries", hook->tries);
    json_put_int(c->o, "owed_ms", hook->owed_ms);
    json_put_int_or_null(c->o, "next_try_ms", hook->next_ms);
    put_last_try(c, hook->number);
    json_end(c->o);
}

int api_put_hooks_of_job(struct api_call *c, const char *job)
{
    struct store_hook *hooks;
    size_t n = 0;
    int rc = store_job_hooks(c->api->config.store, job, HOOKS_SHOWN, &c->arena, &hooks, &n, &c->e);

    if (rc < 0)
        return rc;
    json_begin_array(c->o, "hooks");
    for (size_t i = n; i > 0; i--)
        put_hook(c, &hooks[i - 1]);
    json_end_array(c->o);
    return 0;
}

int api_put_hooks_owed(struct api_call *c)
{
    int64_t owed, next_ms;
    int rc = store_hooks_owed(c->api->config.store, &owed, &next_ms, &c->e);

    if (rc < 0)
        return rc;
    json_begin(c->o, "hooks");
    json_put_int(c->o, "owed", owed);
    json_put_int_or_null(c->o, "next_try_ms", next_ms);
    json_end(c->o);
    return 0;
}
