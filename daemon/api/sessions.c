/* session.*: open, add, list, close, report. What show tells is in session_view.c. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "api/session_view.h"
#include "base/fault.h"
#include "base/files.h"
#include "base/mem.h"
#include "proto/doc/doc_session.h"

#define LIST_MAX 1000
#define PAGE_BYTES_MAX ((size_t)64 << 20)

int api_find_session(struct api_call *c, char id[ULID_LEN + 1])
{
    const char *text = json_str(&c->in, c->req.params, "id", 200);

    if (c->in.rc < 0)
        return c->in.rc;
    int rc = store_session_find(c->api->config.store, text, id, &c->e);
    return rc > 0 ? -EINVAL : rc;
}

/* ---- open, add */

static const char *document_of(struct api_call *c, const struct session *session)
{
    struct buf text = {0};
    struct json_out o;

    json_out_init(&o, &text);
    session_encode(&o, NULL, session);
    const char *document = arena_strdup(&c->arena, buf_str(&text));
    buf_deinit(&text);
    return document;
}

/* The boot in which a session is opened may be one that no job has run in. */
static int put_boot(struct api_call *c, struct boot_identity *boot)
{
    struct host_identity host;
    struct host_probe *probe = c->api->config.probe;
    int rc = host_probe_identity(probe, &c->arena, &host, &c->e);

    if (rc == 0)
        rc = host_probe_boot(probe, &c->arena, boot, &c->e);
    if (rc == 0)
        rc = store_boot_put(c->api->config.store, &host, boot, sched_now_ms(c->api->config.sched),
                            &c->e);
    return rc;
}

static void in_job(struct api_call *c, size_t i)
{
    char field[sizeof c->e.field];

    if (!err_is_set(&c->e))
        return;
    (void)snprintf(field, sizeof field, "jobs[%zu]%s%.100s", i, c->e.field[0] ? "." : "",
                   c->e.field);
    memcpy(c->e.field, field, sizeof field);
}

static int prepare_jobs(struct api_call *c, const struct session *session,
                        struct store_new_job **rows, size_t *n)
{
    static const char *const keys[] = {"job", "policy", NULL};
    const cJSON *jobs = json_arr(&c->in, c->req.params, "jobs", SESSION_JOBS_MAX, n), *item;
    size_t i = 0;

    *rows = arena_array(&c->arena, *n, sizeof **rows);
    cJSON_ArrayForEach (item, jobs) {
        json_closed(&c->in, item, keys);
        const cJSON *doc = json_obj(&c->in, item, "job");
        int rc = c->in.rc;
        if (rc == 0)
            rc = api_prepare_job(c, doc, cJSON_GetObjectItemCaseSensitive(item, "policy"), session,
                                 arena_printf(&c->arena, "jobs[%zu]", i), &(*rows)[i]);
        if (rc < 0) {
            in_job(c, i);
            return rc;
        }
        i++;
    }
    return c->in.rc;
}

struct opening {
    struct session *session;
    struct store_new_job *jobs;
    size_t n;
    int64_t peer_uid; /* the connection may be gone when it is stored */
};

static int open_in_store(struct api_call *c, bool *duplicate)
{
    const struct opening *o = c->data;
    struct boot_identity boot;
    int rc = put_boot(c, &boot);

    if (rc < 0)
        return rc;
    const struct store_session row = {.id = o->session->id,
                                      .label = o->session->label,
                                      .document = document_of(c, o->session),
                                      .peer_uid = o->peer_uid,
                                      .opened_ms = sched_now_ms(c->api->config.sched),
                                      .opened_boot = boot.id};
    return store_session_open(c->api->config.store, &row, o->jobs, o->n, duplicate, &c->e);
}

static int answer_open(struct api_call *c)
{
    const struct opening *o = c->data;
    bool duplicate = false;
    int rc = open_in_store(c, &duplicate);

    if (rc < 0)
        return rc;
    json_put_str(c->o, "id", o->session->id);
    json_put_bool(c->o, "duplicate", duplicate);
    json_begin_array(c->o, "jobs");
    for (size_t i = 0; i < o->n; i++)
        json_put_str(c->o, NULL, o->jobs[i].id);
    json_end_array(c->o);
    sched_kick(c->api->config.sched);
    return 0;
}

int api_sessions_open(struct api_call *c)
{
    const cJSON *doc = json_obj(&c->in, c->req.params, "session");
    struct opening *o = arena_alloc(&c->arena, sizeof *o);

    if (c->in.rc < 0)
        return c->in.rc;
    c->data = o;
    o->peer_uid = c->session->peer.uid;
    int rc = session_decode(&c->arena, doc, &o->session, &c->e);
    if (rc == 0)
        rc = prepare_jobs(c, o->session, &o->jobs, &o->n);
    return rc < 0 ? rc : api_after_proofs(c, answer_open);
}

int api_sessions_add(struct api_call *c)
{
    struct store_session *row;
    struct session *session;
    char id[ULID_LEN + 1];
    int rc = api_find_session(c, id);

    if (rc == 0)
        rc = api_session_read(c, id, &row, &session);
    return rc < 0 ? rc : api_submit(c, session);
}

/* ---- list */

static int put_listed(struct api_call *c, const struct store_session *row)
{
    int64_t jobs = 0, over = 0;
    int rc = store_session_counts(c->api->config.store, row->id, &jobs, &over, &c->e);

    if (rc < 0)
        return rc;
    json_begin(c->o, NULL);
    json_put_str(c->o, "id", row->id);
    json_put_int(c->o, "number", row->number);
    json_put_str(c->o, "label", row->label);
    json_put_str(c->o, "state", session_view_state(row, jobs, over));
    json_put_int(c->o, "opened_ms", row->opened_ms);
    json_put_int_or_null(c->o, "closed_ms", row->closed_ms);
    json_put_int(c->o, "jobs", jobs);
    json_put_int(c->o, "over", over);
    json_put_str(c->o, "evidence", row->evidence);
    json_end(c->o);
    return 0;
}

int api_sessions_list(struct api_call *c)
{
    const cJSON *p = c->req.params;
    int limit = (int)json_opt_int(&c->in, p, "limit", 1, LIST_MAX - 1, 100);
    const char *before = json_opt_str(&c->in, p, "before", ULID_LEN, NULL);
    struct store_session *rows;
    size_t n = 0, told = 0;
    int rc = c->in.rc;

    if (rc == 0) /* one more, to know whether there are more */
        rc = store_session_list(c->api->config.store, limit + 1, before, &c->arena, &rows, &n,
                                &c->e);
    if (rc == -ENOENT) /* the store says "id" */
        (void)snprintf(c->e.field, sizeof c->e.field, "before");
    if (rc < 0)
        return rc;
    json_begin_array(c->o, "sessions");
    for (; rc == 0 && told < n && told < (size_t)limit && !api_page_is_full(c); told++)
        rc = put_listed(c, &rows[told]);
    json_end_array(c->o);
    json_put_bool(c->o, "more", n > told);
    return rc;
}

/* ---- close */

struct closing {
    struct closing *next; /* of those under way */
    char id[ULID_LEN + 1];
    int cancelled;
    struct evidence_session *evidence;
    struct page_call *page;
    char sums_sha256[DIGEST_HEX];
    const char *folder;
};

/* Nothing of it may run: what is being measured is not thrown away by closing. */
static int check_idle(struct api_call *c, const struct store_job *jobs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (job_state_is_running(jobs[i].state))
            return err_set(&c->e, -EBUSY, "session.busy", "id",
                           "job %s of the session is %s; wait for it (aurabench wait %s) or cancel "
                           "it, then close the session",
                           jobs[i].id, job_state_name(jobs[i].state), jobs[i].id);
    return 0;
}

/* Two that make one folder would spoil it for each other. */
static int begin_closing(struct api_call *c, struct closing *closing)
{
    for (const struct closing *x = c->api->closings; x; x = x->next)
        if (strcmp(x->id, closing->id) == 0)
            return err_set(&c->e, -EBUSY, "session.busy", "id",
                           "session %s is being closed already; ask again in a moment",
                           closing->id);
    closing->next = c->api->closings;
    c->api->closings = closing;
    return 0;
}

static void end_closing(struct api_call *c)
{
    struct closing **at = &c->api->closings;

    while (*at && *at != c->data)
        at = &(*at)->next;
    if (*at)
        *at = (*at)->next;
}

/* Closed first: no job can join while the folder is made. */
static int close_with_rest(struct api_call *c, struct closing *closing,
                           const struct store_job *jobs, size_t n)
{
    const char *why =
        arena_printf(&c->arena, "cancelled by %s, who closed its session", api_who(c));
    const char **rest = arena_array(&c->arena, n, sizeof *rest);
    size_t n_rest = 0;

    for (size_t i = 0; i < n; i++)
        if (!job_state_is_final(jobs[i].state))
            rest[n_rest++] = jobs[i].id;
    closing->cancelled = (int)n_rest;
    return sched_close_session(c->api->config.sched, closing->id, rest, n_rest, why, api_uid(c),
                               &c->e);
}

/* On a worker thread: reads and writes files only. */
static int seal(struct api_call *c)
{
    struct closing *closing = c->data;
    struct buf page = {0};
    int rc = closing->page ? api_page_render(c, closing->page, &page) : 0;

    if (rc == 0) {
        closing->evidence->page = closing->page ? buf_str(&page) : NULL;
        rc = sched_seal_session(c->api->config.sched, closing->evidence, closing->sums_sha256,
                                &c->e);
    }
    buf_deinit(&page);
    return rc;
}

static int answer_close(struct api_call *c)
{
    const struct closing *closing = c->data;
    struct store *store = c->api->config.store;
    int rc = 0;

    FAULT_POINT("session.sealed");
    if (closing->evidence)
        rc = store_session_sealed(store, closing->id, closing->folder, closing->sums_sha256, &c->e);
    if (rc < 0)
        return rc;
    json_put_str(c->o, "id", closing->id);
    json_put_int(c->o, "cancelled", closing->cancelled);
    json_put_str(c->o, "evidence", closing->folder);
    json_put_str(c->o, "sums_sha256", closing->sums_sha256);
    return 0;
}

static int prepare_seal(struct api_call *c, struct closing *closing)
{
    struct session_view view;
    int rc = session_view_read(c, closing->id, &view);

    if (rc < 0)
        return rc;
    closing->folder =
        arena_printf(&c->arena, "%s/evidence/%s", c->api->config.state_dir, closing->id);
    closing->evidence = session_view_evidence(c, &view);
    return closing->evidence->n_reports ? api_page_of_session(c, closing->id, &closing->page) : 0;
}

int api_sessions_close(struct api_call *c)
{
    struct closing *closing = arena_alloc(&c->arena, sizeof *closing);
    struct store *store = c->api->config.store;
    struct store_session *row;
    struct store_job *jobs;
    size_t n = 0;
    int rc = api_find_session(c, closing->id);

    if (rc == 0)
        rc = store_session_get(store, closing->id, &c->arena, &row, &c->e);
    if (rc < 0)
        return rc;
    c->data = closing;
    if (row->evidence) {
        closing->folder = row->evidence;
        (void)snprintf(closing->sums_sha256, DIGEST_HEX, "%s", row->sums_sha256);
        return answer_close(c);
    }
    c->at_end = end_closing;
    rc = begin_closing(c, closing);
    if (rc == 0)
        rc = store_session_jobs(store, closing->id, &c->arena, &jobs, &n, &c->e);
    if (rc == 0)
        rc = check_idle(c, jobs, n);
    if (rc == 0)
        rc = close_with_rest(c, closing, jobs, n);
    FAULT_POINT("session.closed");
    if (rc == 0)
        rc = prepare_seal(c, closing);
    return rc < 0 ? rc : api_defer(c, true, seal, answer_close);
}

/* ---- report: the page as it was sealed, or as it would be now */

struct sealed_page {
    const char *path;
    struct api_text text;
};

static int read_page(struct api_call *c)
{
    struct sealed_page *p = c->data;
    int rc = file_read(p->path, PAGE_BYTES_MAX, &p->text.out, &c->e);

    if (rc == 0)
        api_text_finish(&p->text);
    return rc;
}

static int answer_page(struct api_call *c)
{
    struct sealed_page *p = c->data;

    api_text_put(c, &p->text);
    return 0;
}

static void free_page(struct api_call *c)
{
    struct sealed_page *p = c->data;

    buf_deinit(&p->text.out);
}

static int put_sealed_page(struct api_call *c, const char *path)
{
    struct sealed_page *p = arena_alloc(&c->arena, sizeof *p);

    p->path = path;
    p->text.offset = json_opt_int(&c->in, c->req.params, "offset", 0, JSON_INT_MAX, 0);
    p->text.key = api_question(c);
    if (c->in.rc < 0 || api_text_put_kept(c, &p->text))
        return c->in.rc;
    c->data = p;
    c->at_end = free_page;
    return api_defer(c, true, read_page, answer_page);
}

int api_sessions_report(struct api_call *c)
{
    struct store_session *row;
    char id[ULID_LEN + 1];
    int rc = api_find_session(c, id);

    if (rc == 0)
        rc = store_session_get(c->api->config.store, id, &c->arena, &row, &c->e);
    if (rc < 0)
        return rc;
    const char *sealed =
        row->evidence ? arena_printf(&c->arena, "%s/page.md", row->evidence) : NULL;
    return sealed && file_exists(sealed) ? put_sealed_page(c, sealed) : api_page_answer(c, id);
}
