/* report.page: the page of a session, or of several jobs, rendered from their evidence. */
#include <errno.h>
#include <string.h>

#include "api/internal.h"
#include "base/files.h"
#include "base/mem.h"
#include "core/session.h"
#include "proto/doc/doc_targets.h"
#include "proto/evidence/manifest.h"
#include "report/page_files.h"

#define REPORTS_MAX 100
#define RAW_BYTES_MAX ((size_t)512 << 20) /* of all reports of one page */
#define SUMS_BYTES_MAX ((size_t)64 << 20)

/* Gathered on the loop, rendered on a worker thread. */
struct page_call {
    struct page_input in;
    struct page_report *reports;
    const struct store_report **stored; /* beside reports */
    size_t room;
    struct page_missing *missing;
    size_t raw_bytes; /* read so far */
    struct api_text text;
};

/* ---- which reports */

static int add_report(struct api_call *c, struct page_call *p, const char *attempt)
{
    struct store_report *report;
    int rc = store_report_get(c->api->config.store, attempt, &c->arena, &report, &c->e);

    if (rc != 0)
        return rc < 0 ? rc
                      : err_set(&c->e, -ENOENT, "report.not_ready", "jobs",
                                "attempt %s has no report", attempt);
    p->stored[p->in.n_reports++] = report;
    return 0;
}

static int add_job(struct api_call *c, struct page_call *p, const char *text)
{
    struct store *store = c->api->config.store;
    struct store_job *job;
    char id[ULID_LEN + 1];

    int rc = store_job_find(store, text, id, &c->e);
    if (rc == 0)
        rc = store_job_get(store, id, &c->arena, &job, &c->e);
    if (rc != 0)
        return rc > 0 ? -EINVAL : rc;
    if (!job->report)
        return err_set(&c->e, -ENOENT, "report.not_ready", "jobs",
                       "job %s is %s and has no report; see `aurabench show %s`", id,
                       job_state_name(job->state), id);
    return add_report(c, p, job->report);
}

static void make_room(struct api_call *c, struct page_call *p, size_t n)
{
    p->room = n;
    p->reports = arena_array(&c->arena, n, sizeof *p->reports);
    p->stored = arena_array(&c->arena, n, sizeof *p->stored);
    p->missing = arena_array(&c->arena, n, sizeof *p->missing);
    p->in.reports = p->reports;
    p->in.missing = p->missing;
}

static int add_jobs(struct api_call *c, struct page_call *p)
{
    struct args jobs = json_opt_args(&c->in, c->req.params, "jobs", REPORTS_MAX);
    int rc = c->in.rc;

    make_room(c, p, jobs.n);
    for (size_t i = 0; rc == 0 && i < jobs.n; i++)
        rc = add_job(c, p, jobs.v[i]);
    return rc;
}

/* ---- of a session */

static int add_session_job(struct api_call *c, struct page_call *p, const struct store_job *job)
{
    if (job->report)
        return add_report(c, p, job->report);
    p->missing[p->in.n_missing++] = (struct page_missing){
        .label = job->label ? job->label : job->id,
        .state = job_state_name(job->state),
        .why = job->error_text,
    };
    return 0;
}

static int read_session(struct api_call *c, struct page_call *p, const char *id)
{
    struct store_session *row;
    struct session *session;
    int rc = api_session_read(c, id, &row, &session);

    if (rc < 0)
        return rc;
    p->in.session = row->id;
    p->in.label = row->label;
    p->in.opened_wall_ms = row->opened_ms;
    p->in.opened_boot = row->opened_boot;
    p->in.settle_ms = session->settle_ms;
    return 0;
}

static struct page_call *page_new(struct api_call *c)
{
    struct page_call *p = arena_alloc(&c->arena, sizeof *p);

    p->in.opened_wall_ms = -1;
    return p;
}

static int add_session(struct api_call *c, struct page_call *p, const char *id)
{
    struct store_job *jobs;
    size_t n = 0;
    int rc = read_session(c, p, id);

    if (rc == 0)
        rc = store_session_jobs(c->api->config.store, id, &c->arena, &jobs, &n, &c->e);
    if (rc != 0)
        return rc;
    make_room(c, p, n);
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = add_session_job(c, p, &jobs[i]);
    return rc;
}

int api_page_of_session(struct api_call *c, const char *id, struct page_call **out)
{
    *out = page_new(c);
    return add_session(c, *out, id);
}

/* ---- the work */

static int read_raw(struct api_call *c, struct page_call *p, size_t index)
{
    struct buf json = {0};
    struct raw *raw = NULL;
    int rc = file_read(arena_printf(&c->arena, "%s/raw.json", p->stored[index]->evidence),
                       RAW_BYTES_MAX - p->raw_bytes, &json, &c->e);

    if (rc == 0)
        rc = raw_decode(&c->arena, json.data, json.len, &raw, &c->e);
    p->raw_bytes += json.len;
    buf_deinit(&json);
    if (rc < 0)
        return rc;
    p->reports[index].raw = raw;
    p->reports[index].repeats = raw->repeats ? raw->repeats->attempt : NULL;
    p->reports[index].s = summarise(&c->arena, raw);
    return 0;
}

static int read_sums(struct api_call *c, struct page_call *p, size_t index)
{
    struct page_report *r = &p->reports[index];
    struct buf text = {0};
    int rc = file_read(arena_printf(&c->arena, "%s/%s", p->stored[index]->evidence, MANIFEST_NAME),
                       SUMS_BYTES_MAX, &text, &c->e);

    if (rc == 0)
        rc = page_files(&c->arena, r->raw->id, text.data, text.len, r, &c->e);
    buf_deinit(&text);
    return rc;
}

int api_page_render(struct api_call *c, struct page_call *p, struct buf *out)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < p->in.n_reports; i++) {
        rc = read_raw(c, p, i);
        if (rc == 0)
            rc = read_sums(c, p, i);
    }
    if (rc == 0)
        report_page(out, &p->in);
    return rc;
}

static int render(struct api_call *c)
{
    struct page_call *p = c->data;
    int rc = api_page_render(c, p, &p->text.out);

    if (rc == 0)
        api_text_finish(&p->text);
    return rc;
}

static int answer(struct api_call *c)
{
    struct page_call *p = c->data;

    api_text_put(c, &p->text);
    return 0;
}

static void free_text(struct api_call *c)
{
    struct page_call *p = c->data;

    buf_deinit(&p->text.out);
}

const char *api_question(struct api_call *c)
{
    const char *text = c->req.method;
    const cJSON *param;

    cJSON_ArrayForEach (param, c->req.params) {
        if (strcmp(param->string, "offset") == 0)
            continue;
        char *value = cJSON_PrintUnformatted(param);
        text = arena_printf(&c->arena, "%s %s %s", text, param->string, value);
        cJSON_free(value);
    }
    return text;
}

/* Rendering is work: between two observations, on a worker thread. */
static int defer(struct api_call *c, struct page_call *p, const char *field)
{
    if (p->in.n_reports == 0)
        return err_set(&c->e, -ENOENT, "report.not_ready", field,
                       "none of the jobs has a report yet");
    c->data = p;
    c->at_end = free_text;
    return api_defer(c, true, render, answer);
}

/* 1: the piece was kept and is put. */
static int read_text(struct api_call *c, struct page_call *p)
{
    p->text.offset = json_opt_int(&c->in, c->req.params, "offset", 0, JSON_INT_MAX, 0);
    if (c->in.rc < 0)
        return c->in.rc;
    p->text.key = api_question(c);
    return api_text_put_kept(c, &p->text);
}

int api_page_answer(struct api_call *c, const char *id)
{
    struct page_call *p = page_new(c);
    int rc = read_text(c, p);

    if (rc != 0)
        return rc < 0 ? rc : 0;
    rc = add_session(c, p, id);
    return rc < 0 ? rc : defer(c, p, "id");
}

/* ---- the call */

static int read_targets(struct api_call *c, struct page_call *p)
{
    const cJSON *doc = json_opt_obj(&c->in, c->req.params, "targets");
    struct targets *targets = NULL;
    int rc = c->in.rc;

    if (rc == 0 && doc)
        rc = targets_decode_node(&c->arena, doc, &targets, &c->e);
    p->in.targets = targets;
    return rc;
}

static int gather(struct api_call *c, struct page_call *p, const char *session)
{
    char id[ULID_LEN + 1];

    if (!session)
        return add_jobs(c, p);
    int rc = store_session_find(c->api->config.store, session, id, &c->e);
    return rc > 0 ? -EINVAL : rc < 0 ? rc : add_session(c, p, id);
}

int api_report_page(struct api_call *c)
{
    struct page_call *p = page_new(c);
    const char *session = json_opt_str(&c->in, c->req.params, "session", 200, NULL);
    bool has_jobs = cJSON_GetObjectItemCaseSensitive(c->req.params, "jobs") != NULL;

    int rc = c->in.rc < 0 ? c->in.rc : read_targets(c, p);
    if (rc == 0 && !session == !has_jobs)
        rc = json_fail(&c->in, session ? "jobs" : "session", "rpc.params",
                       "name a session or a list of jobs, not both and not neither");
    if (rc == 0)
        rc = read_text(c, p);
    if (rc != 0)
        return rc < 0 ? rc : 0;
    rc = gather(c, p, session);
    return rc < 0 ? rc : defer(c, p, session ? "session" : "jobs");
}
