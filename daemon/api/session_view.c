#include "api/session_view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/doc/doc_schedule.h"

const char *session_view_state(const struct store_session *row, int64_t jobs, int64_t over)
{
    return row->closed_ms >= 0 ? "closed" : over < jobs ? "open" : "over";
}

/* ---- reading */

static void count_outcome(struct session_job_view *v, const char *outcome)
{
    const struct {
        const char *word;
        int *count;
    } rows[] = {{"refused", &v->refused},
                {"disturbed", &v->disturbed},
                {"drifted", &v->drifted},
                {"deferred", &v->deferred},
                {"lost", &v->lost}};

    for (size_t i = 0; outcome && i < ARRAY_LEN(rows); i++)
        *rows[i].count += strcmp(outcome, rows[i].word) == 0;
}

static int read_report(struct api_call *c, const struct session_view *v,
                       struct session_job_view *job)
{
    struct store *store = c->api->config.store;
    struct store_report *report;
    struct raw raw = {0};
    int rc = store_report_get(store, job->job->report, &c->arena, &report, &c->e);

    if (rc == 0)
        rc = store_load_attempt(store, job->job->report, &c->arena, &raw, &c->e);
    if (rc != 0)
        return rc;
    job->report = report;
    job->boot = raw.boot.id;
    job->started_ms = raw.started_wall_ms;
    job->ended_ms = raw.ended_wall_ms;
    job->post_reboot = session_is_post_reboot(v->row->opened_boot, &raw.boot, v->session->settle_ms,
                                              raw.started_wall_ms);
    rc = store_report_counts(store, job->job->report, &job->counts, &c->e);
    job->counted = rc == 0;
    return rc < 0 ? rc : 0;
}

/* A pair that was repeated, or an attempt that others disturbed, has a report too. */
static int add_sealed(struct api_call *c, struct session_job_view *job, const char *attempt)
{
    struct store_report *report;
    int rc = store_report_get(c->api->config.store, attempt, &c->arena, &report, &c->e);

    if (rc == 0)
        job->sealed[job->n_sealed++] = report;
    return rc < 0 ? rc : 0;
}

static int read_job(struct api_call *c, const struct session_view *v, struct session_job_view *job)
{
    struct store_attempt *attempts;
    size_t n = 0;
    int rc =
        store_job_attempts(c->api->config.store, job->job->id, &c->arena, &attempts, &n, &c->e);

    job->sealed = arena_array(&c->arena, n, sizeof *job->sealed);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        count_outcome(job, attempts[i].outcome);
        rc = attempts[i].raw_sha256 ? add_sealed(c, job, attempts[i].id) : 0;
    }
    job->started_ms = job->ended_ms = -1;
    return rc == 0 && job->job->report ? read_report(c, v, job) : rc;
}

static int by_start(const void *va, const void *vb)
{
    const struct session_job_view *a = *(const struct session_job_view *const *)va;
    const struct session_job_view *b = *(const struct session_job_view *const *)vb;

    return a->started_ms < b->started_ms ? -1 : a->started_ms > b->started_ms;
}

static bool has_boot(const struct session_view *v, const char *boot)
{
    for (size_t i = 0; i < v->n_boots; i++)
        if (strcmp(v->boots[i], boot) == 0)
            return true;
    return false;
}

static void list_boots(struct api_call *c, struct session_view *v)
{
    const struct session_job_view **sorted = arena_array(&c->arena, v->n_jobs + 1, sizeof *sorted);

    for (size_t i = 0; i < v->n_jobs; i++)
        sorted[i] = &v->jobs[i];
    qsort(sorted, v->n_jobs, sizeof(void *), by_start);
    v->boots = arena_array(&c->arena, v->n_jobs + 1, sizeof *v->boots);
    for (size_t i = 0; i < v->n_jobs; i++)
        if (sorted[i]->boot && !has_boot(v, sorted[i]->boot))
            v->boots[v->n_boots++] = sorted[i]->boot;
    v->split = v->session->boot == SESSION_BOOT_SAME && v->n_boots > 1;
}

int session_view_read(struct api_call *c, const char *id, struct session_view *out)
{
    struct store *store = c->api->config.store;
    struct store_job *jobs;

    *out = (struct session_view){0};
    int rc = api_session_read(c, id, &out->row, &out->session);
    if (rc == 0)
        rc = store_session_jobs(store, id, &c->arena, &jobs, &out->n_jobs, &c->e);
    if (rc < 0)
        return rc;
    out->stored = jobs;
    out->jobs = arena_array(&c->arena, out->n_jobs, sizeof *out->jobs);
    for (size_t i = 0; rc == 0 && i < out->n_jobs; i++) {
        out->jobs[i].job = &jobs[i];
        rc = read_job(c, out, &out->jobs[i]);
    }
    if (rc == 0)
        rc = store_session_noise(store, id, &c->arena, &out->noise, &out->n_noise, &c->e);
    if (rc == 0)
        list_boots(c, out);
    return rc;
}

/* ---- telling */

static void put_head(struct json_out *o, const struct session_view *v)
{
    int64_t over = 0;

    for (size_t i = 0; i < v->n_jobs; i++)
        over += job_state_is_final(v->stored[i].state);
    json_begin(o, "session");
    json_put_str(o, "id", v->row->id);
    json_put_int(o, "number", v->row->number);
    json_put_str(o, "label", v->row->label);
    json_put_str(o, "state", session_view_state(v->row, (int64_t)v->n_jobs, over));
    json_put_int(o, "opened_ms", v->row->opened_ms);
    json_put_str(o, "opened_boot", v->row->opened_boot);
    json_put_int_or_null(o, "closed_ms", v->row->closed_ms);
    json_put_str(o, "evidence", v->row->evidence);
    json_put_str(o, "sums_sha256", v->row->sums_sha256);
    json_put_bool(o, "split", v->split);
    json_end(o);
}

static void put_boots(struct json_out *o, const struct session_view *v)
{
    json_begin_array(o, "boots");
    for (size_t b = 0; b < v->n_boots; b++) {
        json_begin(o, NULL);
        json_put_str(o, "id", v->boots[b]);
        json_begin_array(o, "jobs");
        for (size_t i = 0; i < v->n_jobs; i++)
            if (v->jobs[i].boot && strcmp(v->jobs[i].boot, v->boots[b]) == 0)
                json_put_str(o, NULL, v->jobs[i].job->id);
        json_end_array(o);
        json_end(o);
    }
    json_end_array(o);
}

static void put_counts(struct json_out *o, const struct session_job_view *j)
{
    if (!j->counted) {
        json_put_null(o, "verdicts");
        json_put_null(o, "controls");
        return;
    }
    json_begin(o, "verdicts");
    json_put_int(o, "faster", j->counts.faster);
    json_put_int(o, "slower", j->counts.slower);
    json_put_int(o, "same", j->counts.same);
    json_put_int(o, "unresolved", j->counts.unresolved);
    json_end(o);
    json_begin(o, "controls");
    json_put_int(o, "compared", j->counts.controls);
    json_put_int(o, "drifted", j->counts.drifted);
    json_end(o);
}

static void put_tries(struct json_out *o, const struct session_job_view *j)
{
    json_begin(o, "tries");
    json_put_int(o, "attempts", j->job->attempts);
    json_put_int(o, "refused", j->refused);
    json_put_int(o, "disturbed", j->disturbed);
    json_put_int(o, "drifted", j->drifted);
    json_put_int(o, "deferred", j->deferred);
    json_put_int(o, "lost", j->lost);
    json_end(o);
}

static void put_report_of(struct json_out *o, const struct session_job_view *j)
{
    if (!j->report) {
        json_put_null(o, "report");
        return;
    }
    json_begin(o, "report");
    json_put_str(o, "attempt", j->report->attempt);
    json_put_str(o, "grade", grade_name(j->report->grade));
    json_put_str(o, "line", j->report->grade_line);
    json_put_str(o, "evidence", j->report->evidence);
    json_put_str(o, "raw_sha256", j->report->raw_sha256);
    json_put_str(o, "boot", j->boot);
    json_put_str(o, "boot_label", session_boot_label(j->post_reboot));
    json_put_int(o, "started_ms", j->started_ms);
    json_put_int_or_null(o, "ended_ms", j->ended_ms);
    json_end(o);
}

/* Every report there is, also of pairs that were repeated: what a sealed session holds. */
static void put_sealed(struct json_out *o, const struct session_job_view *j)
{
    json_begin_array(o, "sealed");
    for (size_t i = 0; i < j->n_sealed; i++) {
        json_begin(o, NULL);
        json_put_str(o, "attempt", j->sealed[i]->attempt);
        json_put_str(o, "raw_sha256", j->sealed[i]->raw_sha256);
        json_end(o);
    }
    json_end_array(o);
}

static void put_job(struct json_out *o, const struct session_job_view *j)
{
    json_begin(o, NULL);
    json_put_str(o, "id", j->job->id);
    json_put_str(o, "label", j->job->label);
    json_put_str(o, "state", job_state_name(j->job->state));
    json_put_int_or_null(o, "next_try_ms", j->job->next_try_ms);
    json_put_str(o, "waits_for", j->job->waits_for);
    json_put_str(o, "error", j->job->error_text);
    put_tries(o, j);
    put_report_of(o, j);
    put_sealed(o, j);
    put_counts(o, j);
    json_end(o);
}

static void put_noise(struct json_out *o, const struct session_view *v)
{
    json_begin_array(o, "noise");
    for (size_t i = 0; i < v->n_noise; i++) {
        json_begin(o, NULL);
        json_put_str(o, "command", v->noise[i].command);
        json_put_int(o, "refusals", v->noise[i].refusals);
        json_end(o);
    }
    json_end_array(o);
}

static void put_frame(struct json_out *o, const struct session_view *v)
{
    put_head(o, v);
    json_put_raw(o, "document", v->row->document);
    put_boots(o, v);
}

void session_view_encode(struct json_out *o, const struct session_view *v)
{
    put_frame(o, v);
    json_begin_array(o, "jobs");
    for (size_t i = 0; i < v->n_jobs; i++)
        put_job(o, &v->jobs[i]);
    json_end_array(o);
    put_noise(o, v);
}

/* ---- one page of it */

static void put_page(struct api_call *c, const struct session_view *v, size_t from, size_t limit)
{
    size_t i = from;

    put_frame(c->o, v);
    json_begin_array(c->o, "jobs");
    for (; i < v->n_jobs && i - from < limit && !api_page_is_full(c); i++)
        put_job(c->o, &v->jobs[i]);
    json_end_array(c->o);
    put_noise(c->o, v);
    json_put_bool(c->o, "more", i < v->n_jobs);
}

static int find_after(struct api_call *c, const struct session_view *v, const char *after,
                      size_t *from)
{
    *from = 0;
    if (!after)
        return 0;
    for (size_t i = 0; i < v->n_jobs; i++)
        if (strcmp(v->jobs[i].job->id, after) == 0) {
            *from = i + 1;
            return 0;
        }
    return err_set(&c->e, -ENOENT, "job.not_found", "after",
                   "session %s has no job %s; give the id of the last job of the page before",
                   v->row->label, after);
}

int api_sessions_show(struct api_call *c)
{
    const cJSON *p = c->req.params;
    int64_t limit = json_opt_int(&c->in, p, "limit", 1, SESSION_JOBS_MAX, SESSION_JOBS_MAX);
    const char *after = json_opt_str(&c->in, p, "after", ULID_LEN, NULL);
    struct session_view v;
    char id[ULID_LEN + 1];
    size_t from = 0;
    int rc = c->in.rc < 0 ? c->in.rc : api_find_session(c, id);

    if (rc == 0)
        rc = session_view_read(c, id, &v);
    if (rc == 0)
        rc = find_after(c, &v, after, &from);
    if (rc == 0)
        put_page(c, &v, from, (size_t)limit);
    return rc;
}

/* ---- sealing */

static const char *record_text(struct api_call *c, const struct session_view *v)
{
    struct buf text = {0}, canonical = {0};
    struct json_out o;

    json_out_init(&o, &text);
    json_begin(&o, NULL);
    json_put_str(&o, "schema", "aurabench.session_record.v1");
    session_view_encode(&o, v);
    json_end(&o);
    bool good = json_canonical(text.data, text.len, &canonical, NULL) == 0;
    const char *out = arena_strdup(&c->arena, buf_str(good ? &canonical : &text));
    buf_deinit(&text);
    buf_deinit(&canonical);
    return out;
}

struct evidence_session *session_view_evidence(struct api_call *c, const struct session_view *v)
{
    struct evidence_session *out = arena_alloc(&c->arena, sizeof *out);
    struct evidence_session_report *reports;
    size_t n = 0;

    for (size_t i = 0; i < v->n_jobs; i++)
        n += v->jobs[i].n_sealed;
    reports = arena_array(&c->arena, n, sizeof *reports);
    for (size_t i = 0; i < v->n_jobs; i++)
        for (size_t k = 0; k < v->jobs[i].n_sealed; k++)
            reports[out->n_reports++] = (struct evidence_session_report){
                v->jobs[i].sealed[k]->attempt, v->jobs[i].sealed[k]->evidence};
    out->id = v->row->id;
    out->session_json = record_text(c, v);
    out->reports = reports;
    return out;
}
