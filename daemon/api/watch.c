/* Who watches which jobs, and what they are told. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/internal.h"
#include "base/mem.h"

/* With more than this on its way to a peer, it does not keep up. */
#define KEEPS_UP_BYTES ((size_t)64 << 10)

static void unwatch(struct api_session *s, size_t i)
{
    buf_deinit(&s->watched[i].late);
    s->n_watched--;
    memmove(&s->watched[i], &s->watched[i + 1], (s->n_watched - i) * sizeof *s->watched);
}

int api_watch_add(struct api_session *s, const char *job, struct err *e)
{
    for (size_t i = 0; i < s->n_watched; i++)
        if (strcmp(s->watched[i].job, job) == 0)
            return 0;
    if (s->n_watched == API_WATCH_MAX)
        return err_set(e, -EMFILE, "job.too_many_watched", "id",
                       "one connection can watch %d jobs; open another", API_WATCH_MAX);
    MEM_GROW(s->watched, s->n_watched, s->cap_watched);
    struct api_watch *w = &s->watched[s->n_watched++];
    *w = (struct api_watch){0};
    (void)snprintf(w->job, sizeof w->job, "%s", job); /* empty: the daemon's own events */
    return 0;
}

void api_watches_free(struct api_session *s)
{
    while (s->n_watched)
        unwatch(s, s->n_watched - 1);
    free(s->watched);
}

bool api_session_watches(const struct api_session *s)
{
    return s->n_watched > 0;
}

/* ---- telling */

/* Nothing more will be said of this job. */
static bool is_last(const struct sched_event *event)
{
    return job_state_is_final(event->state) && !event->step;
}

static void write_event(struct buf *line, const struct sched_event *event)
{
    struct rpc_out out;
    struct json_out *o = &out.o;

    rpc_begin_notification(&out, line, "job.event");
    json_begin(o, "params");
    json_put_str(o, "job", event->job);
    json_put_str(o, "state", job_state_name(event->state));
    json_put_str(o, "step", event->step);
    json_put_str(o, "text", event->text);
    json_put_int(o, "done", event->done);
    json_put_int(o, "total", event->total);
    json_put_int_or_null(o, "left_ms", event->left_ms);
    json_put_int_or_null(o, "next_try_ms", event->next_try_ms);
    json_put_int_or_null(o, "log_bytes", event->log_bytes > 0 ? event->log_bytes : -1);
    json_put_bool(o, "final", is_last(event));
    json_end(o);
    (void)rpc_end(&out, NULL); /* far below the limit */
}

static void send_watch(struct api_session *s, size_t i)
{
    CLEANUP(buf_deinit) struct buf line = s->watched[i].late;

    s->watched[i].late = (struct buf){0};
    if (s->watched[i].over)
        unwatch(s, i);
    s->peer.send(s->peer.conn, line.data, line.len);
}

static void send_or_keep(struct api_session *s, size_t i)
{
    if (s->peer.unwritten(s->peer.conn) <= KEEPS_UP_BYTES)
        send_watch(s, i);
}

static void tell(struct api_session *s, size_t i, const struct sched_event *event)
{
    struct api_watch *w = &s->watched[i];

    buf_clear(&w->late);
    write_event(&w->late, event);
    w->over = is_last(event);
    send_or_keep(s, i);
}

static void tell_of_daemon(struct api *api, struct api_session *s, size_t i)
{
    struct buf *line = &s->watched[i].late;
    struct rpc_out out;

    buf_clear(line);
    rpc_begin_notification(&out, line, "daemon.event");
    json_begin(&out.o, "params");
    api_put_state(api, &out.o);
    json_end(&out.o);
    (void)rpc_end(&out, NULL);
    send_or_keep(s, i);
}

void api_session_flush(struct api_session *s)
{
    /* From the end: what is over leaves the list. */
    for (size_t i = s->n_watched; i > 0; i--)
        if (s->watched[i - 1].late.len)
            send_watch(s, i - 1);
}

void api_watch_event(void *ctx, const struct sched_event *event)
{
    struct api *api = ctx;

    for (struct api_session *s = api->sessions; s; s = s->next)
        for (size_t i = 0; i < s->n_watched; i++)
            if (strcmp(s->watched[i].job, event->job) == 0) {
                tell(s, i, event);
                break;
            }
}

void api_watch_daemon(void *ctx)
{
    struct api *api = ctx;

    for (struct api_session *s = api->sessions; s; s = s->next)
        for (size_t i = 0; i < s->n_watched; i++)
            if (!s->watched[i].job[0]) {
                tell_of_daemon(api, s, i);
                break;
            }
}

/* ---- drain, as who watches a job is told of it */

static void tell_drain(struct api *api, struct api_session *s, size_t i, struct arena *a)
{
    struct store_job *job;
    int rc = store_job_get(api->config.store, s->watched[i].job, a, &job, NULL);

    if (rc < 0 || job_state_is_running(job->state) || job_state_is_final(job->state))
        return;
    const struct sched_event event = {.job = job->id,
                                      .state = job->state,
                                      .text = api_is_drained(api) ? API_DRAINED_TEXT
                                                                  : "the queue goes on",
                                      .left_ms = -1,
                                      .next_try_ms = job->next_try_ms};
    tell(s, i, &event);
}

void api_watch_drain(struct api *api)
{
    struct arena a = {0};

    for (struct api_session *s = api->sessions; s; s = s->next)
        for (size_t i = 0; i < s->n_watched; i++)
            if (s->watched[i].job[0])
                tell_drain(api, s, i, &a);
    arena_deinit(&a);
}
