/* job.*: list, show, cancel, watch, log. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "api/internal.h"
#include "base/files.h"
#include "base/mem.h"
#include "proto/doc_host.h"

#define LIST_MAX 1000
/* What job.show tells must fit into one message however long a job has waited. */
#define HISTORY_SHOWN 200
#define ATTEMPTS_SHOWN 50
#define COMPETITORS_SHOWN 32

/* ---- one job as others see it */

static void put_error(struct json_out *o, const struct store_job *job)
{
    if (!job->error_code) {
        json_put_null(o, "error");
        return;
    }
    json_begin(o, "error");
    json_put_str(o, "code", job->error_code);
    json_put_str(o, "field", job->error_field);
    json_put_str(o, "text", job->error_text);
    json_end(o);
}

static void put_report(struct api_call *c, const char *key, const char *attempt)
{
    struct store_report *report;

    if (!attempt ||
        store_report_get(c->api->config.store, attempt, &c->arena, &report, NULL) != 0) {
        json_put_null(c->o, key);
        return;
    }
    json_begin(c->o, key);
    json_put_str(c->o, "attempt", report->attempt);
    json_put_str(c->o, "grade", grade_name(report->grade));
    json_put_str(c->o, "line", report->grade_line);
    json_put_str(c->o, "evidence", report->evidence);
    json_put_str(c->o, "raw_sha256", report->raw_sha256);
    json_put_str(c->o, "summary_sha256", report->summary_sha256);
    json_end(c->o);
}

static void put_progress(struct api_call *c, const char *job)
{
    struct sched_event event;

    if (!sched_active(c->api->config.sched, &event) || strcmp(event.job, job) != 0) {
        json_put_null(c->o, "progress");
        return;
    }
    json_begin(c->o, "progress");
    json_put_str(c->o, "step", event.step);
    json_put_str(c->o, "text", event.text);
    json_put_int(c->o, "done", event.done);
    json_put_int(c->o, "total", event.total);
    json_put_int_or_null(c->o, "left_ms", event.left_ms);
    json_end(c->o);
}

void api_put_job(struct api_call *c, const char *key, const struct store_job *job)
{
    struct json_out *o = c->o;
    struct store_suite *suite = NULL;

    if (job->suite_sha256)
        (void)store_suite_get(c->api->config.store, job->suite_sha256, &c->arena, &suite, NULL);
    json_begin(o, key);
    json_put_str(o, "id", job->id);
    json_put_int(o, "number", job->number);
    json_put_str(o, "state", job_state_name(job->state));
    json_put_str(o, "label", job->label);
    json_put_int(o, "priority", job->priority);
    json_put_str(o, "suite", suite ? suite->name : NULL);
    json_put_int(o, "submitted_ms", job->submitted_ms);
    json_put_int(o, "changed_ms", job->changed_ms);
    json_put_int_or_null(o, "next_try_ms", job->next_try_ms);
    json_put_str(o, "waits_for", job->waits_for);
    json_put_str(o, "session", job->session);
    json_put_int(o, "refusals", job->refusals);
    json_put_int(o, "attempts", job->attempts);
    put_error(o, job);
    put_report(c, "report", job->report);
    put_progress(c, job->id);
    json_end(o);
}

int api_find_job(struct api_call *c, char id[ULID_LEN + 1])
{
    const char *text = json_str(&c->in, c->req.params, "id", 64);

    if (c->in.rc < 0)
        return c->in.rc;
    int rc = store_job_find(c->api->config.store, text, id, &c->e);
    return rc > 0 ? -EINVAL : rc;
}

/* ---- list */

static int read_states(struct api_call *c, unsigned *states)
{
    struct args words = json_opt_args(&c->in, c->req.params, "states", JOB_STATE_COUNT);

    *states = 0;
    for (size_t i = 0; i < words.n; i++) {
        int state = job_state_parse(words.v[i]);
        if (state < 0)
            return json_fail(&c->in, "states", "job.unknown_state", "there is no job state %.40s",
                             words.v[i]);
        *states |= STORE_STATE(state);
    }
    return c->in.rc;
}

int api_job_list(struct api_call *c)
{
    const cJSON *p = c->req.params;
    struct store_list list = {.limit = (int)json_opt_int(&c->in, p, "limit", 1, LIST_MAX - 1, 100),
                              .before = json_opt_str(&c->in, p, "before", ULID_LEN, NULL)};
    struct store_job *jobs;
    size_t n = 0;

    int rc = read_states(c, &list.states);
    int limit = list.limit++; /* one more, to know whether there are more */
    if (rc == 0)
        rc = store_job_list(c->api->config.store, &list, &c->arena, &jobs, &n, &c->e);
    if (rc == -ENOENT) /* the store says "id" */
        (void)snprintf(c->e.field, sizeof c->e.field, "before");
    if (rc < 0)
        return rc;
    json_begin_array(c->o, "jobs");
    for (size_t i = 0; i < n && i < (size_t)limit; i++)
        api_put_job(c, NULL, &jobs[i]);
    json_end_array(c->o);
    json_put_bool(c->o, "more", n > (size_t)limit);
    return 0;
}

/* ---- show */

static int put_history(struct api_call *c, const char *id)
{
    struct store_history *history;
    size_t n = 0;
    int rc =
        store_job_history(c->api->config.store, id, -HISTORY_SHOWN, &c->arena, &history, &n, &c->e);

    if (rc < 0)
        return rc;
    json_begin_array(c->o, "history");
    for (size_t i = 0; i < n; i++) {
        json_begin(c->o, NULL);
        json_put_int(c->o, "seq", history[i].seq);
        json_put_str(c->o, "from", job_state_name(history[i].from));
        json_put_str(c->o, "event", job_event_name(history[i].event));
        json_put_str(c->o, "to", job_state_name(history[i].to));
        json_put_int(c->o, "wall_ms", history[i].wall_ms);
        json_put_str(c->o, "text", history[i].text);
        json_put_str(c->o, "attempt", history[i].attempt);
        json_end(c->o);
    }
    json_end_array(c->o);
    return 0;
}

static int put_attempts(struct api_call *c, const char *id)
{
    struct store_attempt *attempts;
    size_t n = 0;
    int rc = store_job_attempts(c->api->config.store, id, &c->arena, &attempts, &n, &c->e);

    if (rc < 0)
        return rc;
    json_begin_array(c->o, "attempts");
    for (size_t i = n > ATTEMPTS_SHOWN ? n - ATTEMPTS_SHOWN : 0; i < n; i++) {
        json_begin(c->o, NULL);
        json_put_str(c->o, "id", attempts[i].id);
        json_put_int(c->o, "number", attempts[i].number);
        json_put_int(c->o, "started_ms", attempts[i].started_ms);
        json_put_int_or_null(c->o, "ended_ms", attempts[i].ended_ms);
        json_put_str(c->o, "outcome", attempts[i].outcome);
        json_put_str(c->o, "reused_from", attempts[i].reused_from);
        put_report(c, "report", attempts[i].id);
        json_end(c->o);
    }
    json_end_array(c->o);
    return 0;
}

void api_put_inventory(struct api_call *c, const struct inventory *inv)
{
    struct inventory shown = *inv;

    if (shown.n_competitors > COMPETITORS_SHOWN)
        shown.n_competitors = COMPETITORS_SHOWN;
    inventory_encode(c->o, "inventory", &shown);
    json_put_int(c->o, "competitors_left_out", (int64_t)(inv->n_competitors - shown.n_competitors));
}

static int put_phases(struct api_call *c, const char *attempt)
{
    struct raw raw = {0};
    int rc = attempt ? store_load_phases(c->api->config.store, attempt, &c->arena, &raw, &c->e) : 0;

    if (rc < 0)
        return rc;
    json_begin_array(c->o, "phases");
    for (int p = 0; p < PHASE_COUNT; p++) {
        if (!raw.phases[p].inventory)
            continue;
        json_begin(c->o, NULL);
        json_put_str(c->o, "phase", phase_name((enum phase)p));
        api_put_inventory(c, raw.phases[p].inventory);
        conditions_encode(c->o, "conditions", raw.phases[p].conditions);
        json_end(c->o);
    }
    json_end_array(c->o);
    return 0;
}

static void put_refusal(struct api_call *c, const char *id)
{
    struct raw_refusal *refusal;

    if (store_recent_refusal(c->api->config.store, id, &c->arena, &refusal, NULL) != 0) {
        json_put_null(c->o, "refusal");
        return;
    }
    json_begin(c->o, "refusal");
    json_put_str(c->o, "attempt", refusal->attempt);
    json_put_int(c->o, "wall_ms", refusal->wall_ms);
    json_put_str(c->o, "phase", phase_name(refusal->phase));
    json_put_str(c->o, "reason", refusal->reason);
    json_end(c->o);
}

int api_job_show(struct api_call *c)
{
    char id[ULID_LEN + 1];
    struct store_job *job;

    int rc = api_find_job(c, id);
    if (rc == 0)
        rc = store_job_get(c->api->config.store, id, &c->arena, &job, &c->e);
    if (rc < 0)
        return rc;
    api_put_job(c, "job", job);
    json_put_raw(c->o, "document", job->document);
    json_put_int_or_null(c->o, "peer_uid", job->peer_uid);
    rc = put_history(c, id);
    if (rc == 0)
        rc = put_attempts(c, id);
    if (rc == 0)
        rc = put_phases(c, job->attempt);
    put_refusal(c, id);
    return rc;
}

/* ---- cancel, watch, log */

int api_job_cancel(struct api_call *c)
{
    char id[ULID_LEN + 1];
    enum job_state state;

    int rc = api_find_job(c, id);
    if (rc == 0)
        rc = sched_cancel(c->api->config.sched, id, &state, &c->e);
    if (rc < 0)
        return rc;
    json_put_str(c->o, "id", id);
    json_put_str(c->o, "state", job_state_name(state));
    return 0;
}

static int add_watch(struct api_call *c, const char *id)
{
    struct api_session *s = c->session;

    for (size_t i = 0; i < s->n_watched; i++)
        if (strcmp(s->watched[i], id) == 0)
            return 0;
    if (s->n_watched == API_WATCH_MAX)
        return err_set(&c->e, -EMFILE, "job.too_many_watched", "id",
                       "one connection can watch %d jobs; open another", API_WATCH_MAX);
    memcpy(s->watched[s->n_watched++], id, ULID_LEN + 1);
    return 0;
}

/* Nothing more will be said of it. A cancelled job is over once its attempt is. */
static bool is_over(const struct api_call *c, const struct store_job *job)
{
    struct sched_event event;
    bool active = sched_active(c->api->config.sched, &event) && strcmp(event.job, job->id) == 0;

    return job_state_is_final(job->state) && !active;
}

int api_job_watch(struct api_call *c)
{
    char id[ULID_LEN + 1];
    struct store_job *job;

    int rc = api_find_job(c, id);
    if (rc == 0)
        rc = store_job_get(c->api->config.store, id, &c->arena, &job, &c->e);
    if (rc == 0 && !is_over(c, job))
        rc = add_watch(c, id);
    if (rc == 0)
        api_put_job(c, "job", job);
    return rc;
}

int api_job_log(struct api_call *c)
{
    int64_t offset = json_opt_int(&c->in, c->req.params, "offset", 0, JSON_INT_MAX, 0);
    int64_t limit =
        json_opt_int(&c->in, c->req.params, "limit", 1, API_CHUNK_BYTES, API_CHUNK_BYTES);
    struct store_job *job;
    struct buf text = {0};
    char id[ULID_LEN + 1];

    int rc = c->in.rc < 0 ? c->in.rc : api_find_job(c, id);
    if (rc == 0)
        rc = store_job_get(c->api->config.store, id, &c->arena, &job, &c->e);
    if (rc < 0)
        return rc;
    const char *path = arena_printf(&c->arena, "%s/logs/%s.log", c->api->config.state_dir, id);
    if (file_exists(path))
        rc = file_read(path, 64 << 20, &text, &c->e);
    if (rc == 0) {
        size_t len = text.len;
        if (offset + limit < (int64_t)len)
            len = (size_t)(offset + limit);
        api_put_chunk(c, buf_str(&text), len, offset);
        json_put_int(c->o, "total", (int64_t)text.len);
        json_put_bool(c->o, "ended", job_state_is_final(job->state));
    }
    buf_deinit(&text);
    return rc;
}
