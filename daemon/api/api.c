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
    {"daemon.backup", api_daemon_backup, KEYS()},
    {"daemon.chunk", api_daemon_chunk, KEYS("offset")},
    {"daemon.drain", api_daemon_drain, KEYS("on")},
    {"daemon.watch", api_daemon_watch, KEYS()},
    {"job.submit", api_job_submit, KEYS("job", "policy", "hold")},
    {"job.list", api_job_list, KEYS("limit", "before", "states", "blocked")},
    {"job.find", api_job_find, KEYS("ids")},
    {"job.show", api_job_show, KEYS("id")},
    {"job.document", api_job_document, KEYS("id", "offset")},
    {"job.cancel", api_job_cancel, KEYS("id")},
    {"job.hold", api_job_hold, KEYS("id")},
    {"job.release", api_job_release, KEYS("id")},
    {"job.edit", api_job_edit, KEYS("id", "changes")},
    {"job.rerun", api_job_rerun, KEYS("id", "changes", "hold")},
    {"job.watch", api_job_watch, KEYS("id")},
    {"job.log", api_job_log, KEYS("id", "offset", "limit")},
    {"report.get", api_report_get, KEYS("id", "attempt", "format", "width", "colour", "offset")},
    {"report.page", api_report_page, KEYS("session", "jobs", "targets", "offset")},
    {"session.open", api_sessions_open, KEYS("session", "jobs")},
    {"session.add", api_sessions_add, KEYS("id", "job", "policy", "hold")},
    {"session.show", api_sessions_show, KEYS("id", "limit", "after")},
    {"session.list", api_sessions_list, KEYS("limit", "before")},
    {"session.close", api_sessions_close, KEYS("id")},
    {"session.report", api_sessions_report, KEYS("id", "offset")},
    {"host.show", api_host_show, KEYS()},
    {"host.quiet", api_host_quiet, KEYS("policy")},
    {"host.calibrate", api_host_calibrate, KEYS("on", "quick")},
    {"host.calibration", api_host_calibration, KEYS()},
    {"history.get", api_history_get,
     KEYS("workload", "value", "lane", "against", "changes", "side", "suite", "contractual",
          "since_ms", "until_ms", "limit", "format", "width", "colour", "offset")},
    {"kernel.put", api_kernel_put, KEYS("receipt", "machine")},
    {"kernel.list", api_kernel_list, KEYS("limit", "before")},
    {"kernel.show", api_kernel_show, KEYS("id")},
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
        api_group_answer(s, &c->line, rc < 0 ? NULL : c->req.id);
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
    static const cJSON none = {.type = cJSON_Object};
    const struct api_method *method = find_method(c->req.method);

    if (!method)
        return err_set(&c->e, -EINVAL, "rpc.unknown_method", "method",
                       "there is no method %s in this version", c->req.method);
    if (method->handler != api_job_submit)
        api_session_settle(c->session);
    json_in_init(&c->in, &c->arena, &c->e);
    if (!c->req.params) /* left out is empty */
        c->req.params = &none;
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
    api_group_answer(s, &line, NULL);
    buf_deinit(&line);
}

int64_t api_uid(const struct api_call *c)
{
    return c->session->peer.uid;
}

const char *api_who(struct api_call *c)
{
    int64_t uid = api_uid(c);

    return uid < 0 ? "an unknown user" : arena_printf(&c->arena, "user %lld", (long long)uid);
}

/* ---- answers that must fit into a message */

bool api_page_is_full(const struct api_call *c)
{
    return c->line.len > API_PAGE_BYTES;
}

void api_put_within(struct api_call *c, size_t max_bytes, size_t most, api_put_fn put,
                    const void *ctx)
{
    const struct json_out before = *c->o;
    const size_t start = c->line.len;

    for (size_t n = most;; n -= n / 4 + 1) {
        put(c, n, ctx);
        if (c->line.len - start <= max_bytes || n == 0)
            return;
        *c->o = before;
        c->line.len = start;
    }
}

/* ---- deferred calls */

static void on_work(uv_work_t *work)
{
    struct api_call *c = work->data;

    if (c->work_rc == 0)
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
    c->work_rc = c->begin_fn ? c->begin_fn(c) : 0;
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
    s->backup = API_BACKUP_NONE;
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

void api_session_close(struct api_session *s)
{
    struct api_call *c = s->running;

    api_session_settle(s);
    api_group_free(s->group);
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
    api_backup_drop(s);
    if (s->prev)
        s->prev->next = s->next;
    else
        s->api->sessions = s->next;
    if (s->next)
        s->next->prev = s->prev;
    api_watches_free(s);
    api_texts_forget(s->api, s);
    free(s);
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
    api->known = api_known_new();
    *out = api;
    rc = host_probe_identity(config->probe, &api->arena, &api->host, e);
    if (rc == 0)
        rc = host_probe_boot(config->probe, &api->arena, &api->boot, e);
    if (rc < 0)
        return rc;
    host_probe_facts(config->probe, &api->arena, &api->first);
    sched_listen(config->sched, api_watch_event, api);
    sched_listen_state(config->sched, api_watch_daemon, api);
    return 0;
}

void api_free(struct api *api)
{
    if (!api)
        return;
    arena_deinit(&api->arena);
    api_known_free(api->known);
    uv_mutex_destroy(&api->importing);
    free(api);
}
