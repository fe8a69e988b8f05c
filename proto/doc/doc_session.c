#include "proto/doc/doc_session.h"

#include <string.h>

#include "base/ids.h"
#include "proto/doc/doc_common.h"
#include "proto/doc/doc_keys.h"
#include "proto/doc/doc_schedule.h"

#define SESSION_SCHEMA "aurabench.session.v1"
#define SETTLE_MAX_MS ((int64_t)86400000)
#define SESSION_COMMON_KEYS "schema", "label", "window", "boot", "retry", "deadline", "settle"

const char *const session_keys[] = {SESSION_COMMON_KEYS, "id", NULL};
const char *const session_file_keys[] = {SESSION_COMMON_KEYS, "jobs", NULL};
const char *const session_file_job_keys[] = {"path", NULL};

static void decode_common(struct json_in *in, const cJSON *doc, const char *const *keys,
                          struct session *s)
{
    json_closed(in, doc, keys);
    doc_schema(in, doc, SESSION_SCHEMA);
    s->label = doc_opt_line(in, doc, "label", DOC_LABEL_MAX, "");
    if (!s->label || !*s->label)
        json_fail(in, "label", "json.missing", "label must name the session: a release, a night");
    s->window = window_decode(in, doc);
    s->boot = (enum session_boot)json_opt_enum_of(in, doc, "boot", session_boot_parse,
                                                  "any, same, fresh", SESSION_BOOT_ANY);
    retry_decode(in, doc, &s->retry_every_ms, &s->retry_limit);
    s->deadline_ms = doc_opt_instant(in, doc, "deadline");
    s->settle_ms = doc_opt_duration(in, doc, "settle", 0, SETTLE_MAX_MS, SESSION_SETTLE_MS);
}

int session_decode(struct arena *a, const cJSON *doc, struct session **out, struct err *e)
{
    struct json_in in;
    struct session *s = arena_alloc(a, sizeof *s);

    json_in_init(&in, a, e);
    decode_common(&in, doc, session_keys, s);
    s->id = json_str(&in, doc, "id", JSON_STRING_MAX);
    if (s->id && !ulid_valid(s->id))
        json_fail(&in, "id", "session.bad", "id must be a ULID: 26 characters, upper case");
    if (in.rc == 0)
        *out = s;
    return in.rc;
}

int session_decode_text(struct arena *a, const char *text, struct session **out, struct err *e)
{
    cJSON *doc = NULL;
    int rc = json_parse(text, strlen(text), &doc, e);

    if (rc == 0)
        rc = session_decode(a, doc, out, e);
    cJSON_Delete(doc);
    return rc;
}

void session_encode(struct json_out *o, const char *key, const struct session *s)
{
    json_begin(o, key);
    json_put_str(o, "schema", SESSION_SCHEMA);
    json_put_str(o, "id", s->id);
    json_put_str(o, "label", s->label);
    json_put_str(o, "boot", session_boot_name(s->boot));
    doc_put_duration(o, "settle", s->settle_ms);
    retry_encode(o, s->retry_every_ms, s->retry_limit);
    window_encode(o, "window", s->window);
    doc_put_instant(o, "deadline", s->deadline_ms);
    json_end(o);
}

/* ---- as a user writes it */

static void decode_job(struct json_in *in, const cJSON *item, struct session_file_job *job)
{
    if (cJSON_GetObjectItemCaseSensitive(item, "path")) {
        json_closed(in, item, session_file_job_keys);
        job->path = json_str(in, item, "path", 4096);
        return;
    }
    job->file = arena_alloc(in->a, sizeof *job->file);
    job_file_decode_node(in, item, job->file);
    if (job->file->job.session)
        json_fail(in, "session", "session.bad",
                  "a job inside a session file belongs to that session; leave \"session\" out");
}

static void decode_jobs(struct json_in *in, const cJSON *doc, struct session_file *file)
{
    const cJSON *jobs = json_arr(in, doc, "jobs", SESSION_JOBS_MAX, &file->n_jobs), *item;
    size_t mark = json_enter(in, "jobs"), i = 0;

    if (in->rc == 0 && file->n_jobs == 0)
        json_fail(in, NULL, "session.bad", "a session needs at least one job");
    file->jobs = arena_array(in->a, file->n_jobs, sizeof *file->jobs);
    cJSON_ArrayForEach (item, jobs) {
        size_t at = json_enter_index(in, i);
        if (in->rc == 0)
            decode_job(in, item, &file->jobs[i++]);
        json_leave(in, at);
    }
    json_leave(in, mark);
}

static void decode_file(struct json_in *in, const cJSON *doc, void *out)
{
    struct session_file *file = out;

    decode_common(in, doc, session_file_keys, &file->session);
    decode_jobs(in, doc, file);
}

int session_file_decode(struct arena *a, const char *data, size_t len, struct session_file **out,
                        struct err *e)
{
    struct session_file *file = arena_alloc(a, sizeof *file);
    int rc = doc_decode(a, data, len, decode_file, file, e);

    if (rc == 0)
        *out = file;
    return rc;
}
