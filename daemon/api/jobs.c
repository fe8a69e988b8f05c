/* job.*: list, show, cancel, watch. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "api/internal.h"
#include "base/mem.h"
#include "proto/doc/doc_host.h"
#include "proto/wire/frame.h"

#define LIST_MAX 1000
/* What job.show tells must fit into one message however long a job has waited, and whatever it and
 * its host say: history comes last and has what is left, which is at least 256 KiB. */
#define HISTORY_SHOWN 200
#define SHOW_BYTES (FRAME_MAX - 4096)
#define ATTEMPTS_SHOWN 50
#define ATTEMPTS_BYTES ((size_t)128 << 10)
#define COMPETITORS_SHOWN 32
#define INVENTORY_BYTES ((size_t)96 << 10)
#define DOCUMENT_BYTES ((size_t)256 << 10)

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
    json_put_str(o, "why", api_why(c, job));
    json_put_int_or_null(o, "held_by", job->held_by);
    json_put_int(o, "blocked", job->blocked);
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
                              .before = json_opt_str(&c->in, p, "before", ULID_LEN, NULL),
                              .blocked = json_opt_bool(&c->in, p, "blocked", false)};
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
    size_t told = 0;
    json_begin_array(c->o, "jobs");
    for (; told < n && told < (size_t)limit && !api_page_is_full(c); told++)
        api_put_job(c, NULL, &jobs[told]);
    json_end_array(c->o);
    json_put_bool(c->o, "more", n > told);
    return 0;
}

/* ---- show */

struct history {
    const struct store_history *events;
    size_t n;
};

static void put_events(struct api_call *c, size_t shown, const void *ctx)
{
    const struct history *h = ctx;

    json_begin_array(c->o, "history");
    for (size_t i = h->n - shown; i < h->n; i++) {
        const struct store_history *event = &h->events[i];
        json_begin(c->o, NULL);
        json_put_int(c->o, "seq", event->seq);
        json_put_str(c->o, "from", job_state_name(event->from));
        json_put_str(c->o, "event", job_event_name(event->event));
        json_put_str(c->o, "to", job_state_name(event->to));
        json_put_int(c->o, "wall_ms", event->wall_ms);
        json_put_str(c->o, "text", event->text);
        json_put_str(c->o, "attempt", event->attempt);
        json_put_int_or_null(c->o, "peer_uid", event->peer_uid);
        json_end(c->o);
    }
    json_end_array(c->o);
}

static int put_history(struct api_call *c, const char *id)
{
    struct store_history *events;
    struct history h = {0};
    int rc = store_job_history(c->api->config.store, id, -HISTORY_SHOWN, &c->arena, &events, &h.n,
                               &c->e);

    if (rc < 0)
        return rc;
    h.events = events;
    size_t left = c->line.len < SHOW_BYTES ? SHOW_BYTES - c->line.len : 0;
    api_put_within(c, left, h.n, put_events, &h);
    return 0;
}

struct attempts {
    const struct store_attempt *v;
    size_t n;
};

static void put_tries(struct api_call *c, size_t shown, const void *ctx)
{
    const struct attempts *a = ctx;

    json_begin_array(c->o, "attempts");
    for (size_t i = a->n - shown; i < a->n; i++) {
        json_begin(c->o, NULL);
        json_put_str(c->o, "id", a->v[i].id);
        json_put_int(c->o, "number", a->v[i].number);
        json_put_int(c->o, "started_ms", a->v[i].started_ms);
        json_put_int_or_null(c->o, "ended_ms", a->v[i].ended_ms);
        json_put_str(c->o, "outcome", a->v[i].outcome);
        json_put_str(c->o, "reused_from", a->v[i].reused_from);
        put_report(c, "report", a->v[i].id);
        json_end(c->o);
    }
    json_end_array(c->o);
}

static int put_attempts(struct api_call *c, const char *id)
{
    struct store_attempt *v;
    struct attempts a = {0};
    int rc = store_job_attempts(c->api->config.store, id, &c->arena, &v, &a.n, &c->e);

    if (rc < 0)
        return rc;
    a.v = v;
    api_put_within(c, ATTEMPTS_BYTES, a.n < ATTEMPTS_SHOWN ? a.n : ATTEMPTS_SHOWN, put_tries, &a);
    return 0;
}

static void put_competitors(struct api_call *c, size_t shown, const void *ctx)
{
    const struct inventory *inv = ctx;
    struct inventory some = *inv;

    some.n_competitors = shown;
    inventory_encode(c->o, "inventory", &some);
    json_put_int(c->o, "competitors_left_out", (int64_t)(inv->n_competitors - shown));
}

void api_put_inventory(struct api_call *c, const struct inventory *inv)
{
    size_t most = inv->n_competitors < COMPETITORS_SHOWN ? inv->n_competitors : COMPETITORS_SHOWN;

    api_put_within(c, INVENTORY_BYTES, most, put_competitors, inv);
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
    if (strlen(job->document) <= DOCUMENT_BYTES)
        json_put_raw(c->o, "document", job->document);
    else
        json_put_null(c->o, "document");
    json_put_int_or_null(c->o, "peer_uid", job->peer_uid);
    put_refusal(c, id);
    rc = api_put_after(c, id);
    if (rc == 0)
        rc = put_attempts(c, id);
    if (rc == 0)
        rc = put_phases(c, job->attempt);
    if (rc == 0)
        rc = api_put_hooks_of_job(c, id);
    return rc < 0 ? rc : put_history(c, id);
}

/* One with long corrections is as long as the message that brought it. */
int api_job_document(struct api_call *c)
{
    int64_t offset = json_opt_int(&c->in, c->req.params, "offset", 0, JSON_INT_MAX, 0);
    char id[ULID_LEN + 1];
    struct store_job *job;

    int rc = c->in.rc < 0 ? c->in.rc : api_find_job(c, id);
    if (rc == 0)
        rc = store_job_get(c->api->config.store, id, &c->arena, &job, &c->e);
    if (rc < 0)
        return rc;
    api_put_chunk(c, job->document, strlen(job->document), offset);
    json_put_int(c->o, "total", (int64_t)strlen(job->document));
    return 0;
}

/* ---- cancel, watch */

int api_job_cancel(struct api_call *c)
{
    char id[ULID_LEN + 1];
    enum job_state state;

    int rc = api_find_job(c, id);
    if (rc == 0)
        rc = sched_cancel(c->api->config.sched, id,
                          arena_printf(&c->arena, "cancelled by %s", api_who(c)), api_uid(c),
                          &state, &c->e);
    if (rc < 0)
        return rc;
    json_put_str(c->o, "id", id);
    json_put_str(c->o, "state", job_state_name(state));
    return 0;
}

bool api_job_is_over(const struct api_call *c, const struct store_job *job)
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
    if (rc == 0 && !api_job_is_over(c, job))
        rc = api_watch_add(c->session, id, &c->e);
    if (rc == 0)
        api_put_job(c, "job", job);
    if (rc == 0)
        json_put_bool(c->o, "drained", api_is_drained(c->api));
    return rc;
}
