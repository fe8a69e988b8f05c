#include "api/api.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/internal.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"

#define KEYS(...) ((const char *const[]){__VA_ARGS__ __VA_OPT__(, ) NULL})

static const struct api_method METHODS[] = {
    {"daemon.status", api_daemon_status, KEYS()},
    {"job.submit", api_job_submit, KEYS("job", "policy")},
    {"job.list", api_job_list, KEYS("limit", "before", "states")},
    {"job.show", api_job_show, KEYS("id")},
    {"job.cancel", api_job_cancel, KEYS("id")},
    {"job.watch", api_job_watch, KEYS("id")},
    {"job.log", api_job_log, KEYS("id", "offset", "limit")},
    {"report.get", api_report_get, KEYS("id", "format", "width", "colour", "offset")},
    {"report.page", api_report_page, KEYS("session", "jobs", "targets", "offset")},
    {"session.open", api_sessions_open, KEYS("session", "jobs")},
    {"session.add", api_sessions_add, KEYS("id", "job", "policy")},
    {"session.show", api_sessions_show, KEYS("id")},
    {"session.list", api_sessions_list, KEYS("limit")},
    {"session.close", api_sessions_close, KEYS("id")},
    {"session.report", api_sessions_report, KEYS("id", "offset")},
    {"host.show", api_host_show, KEYS()},
    {"host.quiet", api_host_quiet, KEYS("policy")},
    {"source.missing", api_source_missing, KEYS("commits")},
    {"upload.begin", api_upload_begin, KEYS("kind", "bytes", "sha256", "commits")},
    {"upload.chunk", api_upload_chunk, KEYS("offset", "data")},
    {"upload.end", api_upload_end, KEYS()},
};

/* ---- calls */

static void call_free(struct api_call *c)
{
    if (c->at_end)
        c->at_end(c);
    api_upload_free(c->upload);
    rpc_request_deinit(&c->req);
    buf_deinit(&c->line);
    arena_deinit(&c->arena);
    free(c);
}

/* Sends the answer, or the error in its place, and frees the call. */
static void call_finish(struct api_call *c, int rc)
{
    struct api_session *s = c->session;

    if (rc == 0) {
        json_end(c->o);
        rc = rpc_end(&c->out, &c->e);
    }
    if (rc < 0) {
        if (!err_is_set(&c->e))
            (void)err_set(&c->e, rc, "rpc.internal", NULL, "%s failed: %s; see the daemon's log",
                          c->req.method ? c->req.method : "the request", strerror(-rc));
        buf_clear(&c->line);
        rpc_put_error(&c->line, c->req.id, &c->e);
    }
    /* Before the answer: whoever has it finds nothing left of what was sent. */
    api_upload_free(MEM_STEAL(c->upload));
    if (s) {
        s->running = NULL;
        s->peer.send(s->peer.conn, c->line.data, c->line.len);
    }
    bool was_deferred = c->is_deferred;
    if (was_deferred)
        c->api->deferred--;
    call_free(c);
    if (s && was_deferred)
        s->peer.idle(s->peer.conn);
}

static const struct api_method *find_method(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(METHODS); i++)
        if (strcmp(METHODS[i].name, name) == 0)
            return &METHODS[i];
    return NULL;
}

static int call_dispatch(struct api_call *c)
{
    const struct api_method *method = find_method(c->req.method);

    if (!method)
        return err_set(&c->e, -EINVAL, "rpc.unknown_method", "method",
                       "there is no method %s in this version", c->req.method);
    json_in_init(&c->in, &c->arena, &c->e);
    if (c->req.params)
        json_closed(&c->in, c->req.params, method->params);
    if (c->in.rc < 0)
        return c->in.rc;
    rpc_begin_result(&c->out, &c->line, c->req.id);
    c->o = &c->out.o;
    json_begin(c->o, "result");
    return method->handler(c);
}

void api_session_line(struct api_session *s, const char *line, size_t len)
{
    struct api_call *c = mem_alloc(sizeof *c);

    c->api = s->api;
    c->session = s;
    int rc = rpc_request_decode(&c->arena, line, len, &c->req, &c->e);
    if (rc == 0)
        rc = call_dispatch(c);
    if (rc == 0 && c->is_deferred)
        return;
    call_finish(c, rc);
}

void api_session_bad_line(struct api_session *s, const struct err *e)
{
    struct buf line = {0};

    rpc_put_error(&line, "null", e);
    s->peer.send(s->peer.conn, line.data, line.len);
    buf_deinit(&line);
}

/* ---- deferred calls */

static void on_work(uv_work_t *work)
{
    struct api_call *c = work->data;

    c->work_rc = c->work_fn(c);
}

static void on_work_done(uv_work_t *work, int status)
{
    struct api_call *c = work->data;
    struct api *api = c->api;
    bool in_between = c->in_between;
    int rc = status < 0 ? status : c->work_rc;

    if (rc == 0)
        rc = c->answer_fn(c);
    call_finish(c, rc);
    if (in_between)
        sched_between_done(api->config.sched);
}

static void start_work(void *ctx)
{
    struct api_call *c = ctx;

    c->work.data = c;
    (void)uv_queue_work(c->api->config.loop, &c->work, on_work, on_work_done);
}

int api_defer(struct api_call *c, bool exclusive, int (*work)(struct api_call *),
              int (*answer)(struct api_call *))
{
    c->is_deferred = true;
    c->in_between = exclusive;
    c->work_fn = work;
    c->answer_fn = answer;
    c->session->running = c;
    c->api->deferred++;
    if (exclusive)
        sched_between(c->api->config.sched, start_work, c);
    else
        start_work(c);
    return 0;
}

/* ---- sessions */

struct api_session *api_session_open(struct api *api, const struct api_peer *peer)
{
    struct api_session *s = mem_alloc(sizeof *s);
    struct buf line = {0};
    const struct hello hello = {.protocol = HELLO_VERSION,
                                .version = AURABENCH_VERSION,
                                .host = api->host.name,
                                .boot = api->boot.id};

    s->api = api;
    s->peer = *peer;
    s->next = api->sessions;
    if (s->next)
        s->next->prev = s;
    api->sessions = s;
    hello_put(&line, &hello);
    peer->send(peer->conn, line.data, line.len);
    buf_deinit(&line);
    return s;
}

bool api_session_busy(const struct api_session *s)
{
    return s->running != NULL;
}

bool api_session_watches(const struct api_session *s)
{
    return s->n_watched > 0;
}

void api_session_close(struct api_session *s)
{
    struct api_call *c = s->running;

    if (c) {
        c->session = NULL;
        if (c->in_between && sched_between_withdraw(s->api->config.sched, c)) {
            s->api->deferred--;
            call_free(c);
            c = NULL;
        }
    }
    /* An upload that upload.end took belongs to its call: a worker may still read it. */
    api_upload_free(s->upload);
    if (s->prev)
        s->prev->next = s->next;
    else
        s->api->sessions = s->next;
    if (s->next)
        s->next->prev = s->prev;
    free(s);
}

/* ---- events */

/* Nothing more will be said of this job. */
static bool is_last(const struct sched_event *event)
{
    return job_state_is_final(event->state) && !event->step;
}

static void unwatch(struct api_session *s, size_t i)
{
    s->n_watched--;
    memmove(s->watched[i], s->watched[i + 1], (s->n_watched - i) * sizeof s->watched[0]);
}

static void notify(struct api_session *s, const struct sched_event *event)
{
    struct buf line = {0};
    struct rpc_out out;
    struct json_out *o = &out.o;

    rpc_begin_notification(&out, &line, "job.event");
    json_begin(o, "params");
    json_put_str(o, "job", event->job);
    json_put_str(o, "state", job_state_name(event->state));
    json_put_str(o, "step", event->step);
    json_put_str(o, "text", event->text);
    json_put_int(o, "done", event->done);
    json_put_int(o, "total", event->total);
    json_put_int_or_null(o, "left_ms", event->left_ms);
    json_put_int_or_null(o, "next_try_ms", event->next_try_ms);
    json_put_bool(o, "final", is_last(event));
    json_end(o);
    if (rpc_end(&out, NULL) == 0)
        s->peer.send(s->peer.conn, line.data, line.len);
    buf_deinit(&line);
}

static void on_event(void *ctx, const struct sched_event *event)
{
    struct api *api = ctx;

    for (struct api_session *s = api->sessions, *next; s; s = next) {
        next = s->next; /* sending may end the session */
        for (size_t i = 0; i < s->n_watched; i++)
            if (strcmp(s->watched[i], event->job) == 0) {
                if (is_last(event))
                    unwatch(s, i);
                notify(s, event);
                break;
            }
    }
}

/* ---- life */

int api_new(const struct api_config *config, struct api **out, struct err *e)
{
    struct api *api = mem_alloc(sizeof *api);

    int rc = uv_mutex_init(&api->importing);
    if (rc < 0) {
        free(api);
        return err_sys(e, rc, "make", "a lock");
    }
    api->config = *config;
    api->started_ms = clock_wall_ms();
    *out = api;
    rc = host_probe_identity(config->probe, &api->arena, &api->host, e);
    if (rc == 0)
        rc = host_probe_boot(config->probe, &api->arena, &api->boot, e);
    if (rc < 0)
        return rc;
    host_probe_facts(config->probe, &api->arena, &api->first);
    sched_listen(config->sched, on_event, api);
    return 0;
}

void api_free(struct api *api)
{
    if (!api)
        return;
    arena_deinit(&api->arena);
    uv_mutex_destroy(&api->importing);
    free(api);
}
