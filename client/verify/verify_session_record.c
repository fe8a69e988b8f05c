/* session.json of a sealed session. */
#include <string.h>

#include "base/ids.h"
#include "base/mem.h"
#include "client/verify/verify_session.h"
#include "proto/doc/doc_session.h"
#include "proto/json/json.h"

#define RECORD_SCHEMA "aurabench.session_record.v1"
#define JOB_REPORTS_MAX 10000
#define TIME_MAX ((int64_t)1 << 53)

static const char *read_id(struct json_in *in, const cJSON *obj, const char *key)
{
    const char *id = json_str(in, obj, key, JSON_STRING_MAX);

    if (id && !ulid_valid(id))
        json_fail(in, key, "session.bad", "%s must be a ULID: 26 characters, upper case", key);
    return id;
}

static void read_head(struct json_in *in, const cJSON *doc, struct verify_session *s)
{
    const char *schema = json_str(in, doc, "schema", JSON_STRING_MAX);
    const cJSON *head = json_obj(in, doc, "session"), *asked = json_obj(in, doc, "document");
    struct session *document = NULL;

    if (schema && strcmp(schema, RECORD_SCHEMA) != 0)
        json_fail(in, "schema", "json.value", "schema must be " RECORD_SCHEMA);
    if (in->rc == 0)
        in->rc = session_decode(in->a, asked, &document, in->e);
    s->document = document;
    const char *id = read_id(in, head, "id"), *label = json_str(in, head, "label", JSON_STRING_MAX);
    s->opened_ms = json_int(in, head, "opened_ms", 0, TIME_MAX);
    s->opened_boot = json_opt_str(in, head, "opened_boot", JSON_STRING_MAX, NULL);
    if (in->rc == 0 && (strcmp(id, document->id) != 0 || strcmp(label, document->label) != 0))
        json_fail(in, "document", "session.bad", "session and document must be of one session");
}

/* ---- jobs */

static void read_shown(struct json_in *in, const cJSON *item, struct verify_session_job *job)
{
    const cJSON *report = json_opt_obj(in, item, "report");

    if (!report)
        return;
    job->attempt = read_id(in, report, "attempt");
    job->raw_sha256 = json_str(in, report, "raw_sha256", 64);
    job->grade = json_str(in, report, "grade", JSON_STRING_MAX);
    job->line = json_str(in, report, "line", JSON_STRING_MAX);
    job->boot = json_str(in, report, "boot", JSON_STRING_MAX);
    job->boot_label = json_str(in, report, "boot_label", JSON_STRING_MAX);
    job->started_ms = json_int(in, report, "started_ms", 0, TIME_MAX);
}

static void add_report(struct json_in *in, const cJSON *item, const struct verify_session_job *job,
                       struct verify_session *s)
{
    struct verify_session_report r = {.attempt = read_id(in, item, "attempt"),
                                      .raw_sha256 = json_str(in, item, "raw_sha256", 64),
                                      .job = job};

    if (in->rc == 0 && verify_session_find(s, r.attempt))
        json_fail(in, "attempt", "session.bad", "attempt must be named once only");
    if (in->rc == 0)
        s->reports[s->n_reports++] = r;
}

static void check_shown(struct json_in *in, const struct verify_session *s,
                        const struct verify_session_job *job)
{
    if (in->rc != 0 || !job->attempt)
        return;
    const struct verify_session_report *shown = verify_session_find(s, job->attempt);
    if (!shown || shown->job != job || strcmp(shown->raw_sha256, job->raw_sha256) != 0)
        json_fail(in, "report", "session.bad", "report must be one of the job's sealed ones");
}

static void read_job(struct json_in *in, const cJSON *item, struct verify_session_job *job,
                     struct verify_session *s)
{
    size_t n = 0;
    const cJSON *sealed = json_arr(in, item, "sealed", JOB_REPORTS_MAX, &n), *report;

    job->id = read_id(in, item, "id");
    job->label = json_opt_str(in, item, "label", JSON_STRING_MAX, "");
    read_shown(in, item, job);
    struct verify_session_report *more = arena_array(in->a, s->n_reports + n, sizeof *more);
    for (size_t i = 0; i < s->n_reports; i++)
        more[i] = s->reports[i];
    s->reports = more;
    cJSON_ArrayForEach (report, sealed)
        add_report(in, report, job, s);
    check_shown(in, s, job);
}

static void read_jobs(struct json_in *in, const cJSON *doc, struct verify_session *s)
{
    const cJSON *jobs = json_arr(in, doc, "jobs", SESSION_JOBS_MAX, &s->n_jobs), *item;
    size_t mark = json_enter(in, "jobs"), i = 0;

    s->jobs = arena_array(in->a, s->n_jobs, sizeof *s->jobs);
    cJSON_ArrayForEach (item, jobs) {
        size_t at = json_enter_index(in, i);
        if (in->rc == 0)
            read_job(in, item, &s->jobs[i++], s);
        json_leave(in, at);
    }
    json_leave(in, mark);
}

struct verify_session *verify_session_read(struct arena *a, const struct verify_text *text)
{
    struct verify_session *s = arena_alloc(a, sizeof *s);
    struct json_in in;
    cJSON *doc = NULL;

    s->text = *text;
    if (json_parse(text->data, text->len, &doc, &s->err) < 0)
        return s;
    json_in_init(&in, a, &s->err);
    read_head(&in, doc, s);
    read_jobs(&in, doc, s);
    s->read = in.rc == 0;
    if (!s->read)
        s->n_jobs = s->n_reports = 0;
    cJSON_Delete(doc);
    return s;
}

/* ---- asking */

const struct verify_session_report *verify_session_find(const struct verify_session *s,
                                                        const char *attempt)
{
    for (size_t i = 0; i < s->n_reports; i++)
        if (strcmp(s->reports[i].attempt, attempt) == 0)
            return &s->reports[i];
    return NULL;
}

bool verify_session_has(const struct verify_session *s, const char *path)
{
    static const char *const names[] = {"raw.json", "summary.json", "report.md"};
    static const char top[] = "reports/";
    char attempt[ULID_LEN + 1] = {0};

    if (strcmp(path, VERIFY_SESSION) == 0 || strcmp(path, "page.md") == 0)
        return true;
    if (strncmp(path, top, sizeof top - 1) != 0)
        return false;
    path += sizeof top - 1;
    if (strlen(path) <= ULID_LEN || path[ULID_LEN] != '/')
        return false;
    memcpy(attempt, path, ULID_LEN);
    if (s->read ? !verify_session_find(s, attempt) : !ulid_valid(attempt))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strcmp(path + ULID_LEN + 1, names[i]) == 0)
            return true;
    return false;
}
