/* Why a job does not run now, and the jobs that it comes after or that come after it. */
#include <string.h>

#include "api/internal.h"

#define FOLLOWERS_SHOWN 50
#define SHORT_ID 8 /* of the end of an id, which is taken for the id everywhere */

static const char *short_id(const char *id)
{
    size_t len = strlen(id);

    return len > SHORT_ID ? id + len - SHORT_ID : id;
}

static const char *why_held(struct api_call *c, const struct store_job *job)
{
    return job->held_by < 0 ? "held"
                            : arena_printf(&c->arena, "held by user %lld", (long long)job->held_by);
}

static const char *why_blocked(struct api_call *c, const struct store_job *job)
{
    struct store_after *first;

    if (store_job_blocker(c->api->config.store, job->id, &c->arena, &first, NULL) != 0)
        return NULL;
    const char *more =
        job->blocked > 1 ? arena_printf(&c->arena, "; and %d more", job->blocked - 1) : "";
    return arena_printf(&c->arena, "after job %s%s, which is %s%s", short_id(first->job),
                        first->need == NEED_ANY ? " (any end)" : "", job_state_name(first->state),
                        more);
}

static const char *why_queued(struct api_call *c)
{
    struct sched_calibration calibration;
    struct sched_event active;
    const char *trouble = sched_blocked(c->api->config.sched);

    if (trouble)
        return trouble;
    if (sched_active(c->api->config.sched, &active))
        return arena_printf(&c->arena, "job %s runs", short_id(active.job));
    sched_calibration(c->api->config.sched, &calibration);
    return calibration.running ? "the host is being calibrated" : NULL;
}

const char *api_why(struct api_call *c, const struct store_job *job)
{
    if (job->state == JOB_HELD)
        return why_held(c, job);
    if (job->state != JOB_QUEUED && job->state != JOB_WAITING)
        return NULL;
    if (job->blocked > 0)
        return why_blocked(c, job);
    return job->state == JOB_WAITING ? job->waits_for : why_queued(c);
}

static void put_list(struct api_call *c, const char *key, const struct store_after *list, size_t n)
{
    json_begin_array(c->o, key);
    for (size_t i = 0; i < n; i++) {
        json_begin(c->o, NULL);
        json_put_str(c->o, "job", list[i].job);
        json_put_str(c->o, "on", job_need_name(list[i].need));
        json_put_bool(c->o, "open", list[i].open);
        json_put_str(c->o, "state", job_state_name(list[i].state));
        json_put_str(c->o, "label", list[i].label);
        json_end(c->o);
    }
    json_end_array(c->o);
}

int api_put_after(struct api_call *c, const char *job)
{
    struct store *store = c->api->config.store;
    struct store_after *list;
    size_t n = 0;
    int rc = store_job_after(store, job, &c->arena, &list, &n, &c->e);

    if (rc < 0)
        return rc;
    put_list(c, "after", list, n);
    rc = store_job_followers(store, job, FOLLOWERS_SHOWN + 1, &c->arena, &list, &n, &c->e);
    if (rc < 0)
        return rc;
    put_list(c, "followers", list, n > FOLLOWERS_SHOWN ? FOLLOWERS_SHOWN : n);
    json_put_bool(c->o, "followers_more", n > FOLLOWERS_SHOWN);
    return 0;
}
