/* job.*: find, hold, release, edit, rerun. */
#include <errno.h>
#include <stdio.h>

#include "api/internal.h"
#include "proto/doc/doc_edit.h"

#define FIND_MAX 64

/* ---- find */

int api_job_find(struct api_call *c)
{
    struct args texts = json_opt_args(&c->in, c->req.params, "ids", FIND_MAX);
    char id[ULID_LEN + 1];

    if (c->in.rc < 0)
        return c->in.rc;
    json_begin_array(c->o, "ids");
    for (size_t i = 0; i < texts.n; i++) {
        int rc = store_job_find(c->api->config.store, texts.v[i], id, &c->e);
        if (rc != 0) {
            (void)snprintf(c->e.field, sizeof c->e.field, "ids[%zu]", i);
            return rc > 0 ? -EINVAL : rc;
        }
        json_put_str(c->o, NULL, id);
    }
    json_end_array(c->o);
    return 0;
}

/* ---- what changes a job */

static int answer(struct api_call *c, const char *id, const struct sched_ordered *ordered)
{
    json_put_str(c->o, "id", id);
    json_put_str(c->o, "state", job_state_name(ordered->state));
    json_put_bool(c->o, "changed", ordered->changed);
    return 0;
}

static int order(struct api_call *c, int (*give)(struct sched *, const char *, int64_t,
                                                 struct sched_ordered *, struct err *))
{
    struct sched_ordered ordered = {0};
    char id[ULID_LEN + 1];
    int rc = api_find_job(c, id);

    if (rc == 0)
        rc = give(c->api->config.sched, id, api_uid(c), &ordered, &c->e);
    return rc < 0 ? rc : answer(c, id, &ordered);
}

int api_job_hold(struct api_call *c)
{
    return order(c, sched_hold_job);
}

int api_job_release(struct api_call *c)
{
    return order(c, sched_release_job);
}

/* *changes NULL: none are named. */
static int read_changes(struct api_call *c, bool needed, struct job_edit **changes)
{
    const cJSON *obj = needed ? json_obj(&c->in, c->req.params, "changes")
                              : json_opt_obj(&c->in, c->req.params, "changes");

    *changes = NULL;
    if (c->in.rc < 0 || !obj)
        return c->in.rc;
    *changes = arena_alloc(&c->arena, sizeof **changes);
    return job_edit_decode(&c->arena, "changes", obj, *changes, &c->e);
}

int api_job_edit(struct api_call *c)
{
    struct sched_ordered ordered = {0};
    struct job_edit *changes;
    char id[ULID_LEN + 1];
    int rc = read_changes(c, true, &changes);

    if (rc == 0)
        rc = api_find_job(c, id);
    if (rc == 0)
        rc = sched_edit_job(c->api->config.sched, id, changes, api_uid(c), &ordered, &c->e);
    return rc < 0 ? rc : answer(c, id, &ordered);
}

int api_job_rerun(struct api_call *c)
{
    bool held = json_opt_bool(&c->in, c->req.params, "hold", false);
    struct sched_ordered ordered = {0};
    struct job_edit *changes;
    char id[ULID_LEN + 1];
    int rc = read_changes(c, false, &changes);

    if (rc == 0)
        rc = api_find_job(c, id);
    if (rc == 0)
        rc = sched_rerun_job(c->api->config.sched, id, changes, held, api_uid(c), &ordered, &c->e);
    return rc < 0 ? rc : answer(c, id, &ordered);
}
