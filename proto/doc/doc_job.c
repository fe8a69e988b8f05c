#include "proto/doc/doc_job.h"

#include <string.h>

#include "base/digest.h"
#include "base/ids.h"
#include "base/mem.h"
#include "proto/doc/doc_common.h"
#include "proto/doc/doc_correction.h"
#include "proto/doc/doc_keys.h"
#include "proto/doc/doc_notify.h"
#include "proto/doc/doc_schedule.h"
#include "proto/doc/doc_sides.h"
#include "proto/doc/documents.h"

#define JOB_SCHEMA "aurabench.job.v1"
#define EXCLUDE_MAX 4096

/* The rules that both forms share; what only one of them has stands last. */
#define JOB_COMMON_KEYS                                                                            \
    "schema", "label", "suite", "sources", "pairs", "repetitions", "warmups", "order", "policy",   \
        "retry", "allow_competing", "run", "exclude", "priority", "window", "not_before",          \
        "deadline", "session", "after", "notify"

const char *const job_keys[] = {JOB_COMMON_KEYS, "id", NULL};
const char *const job_suite_keys[] = {"name", "sha256", NULL};
const char *const job_source_keys[] = {"repo", "rev", "commit", "variant", "correction", NULL};
const char *const job_file_keys[] = {JOB_COMMON_KEYS, NULL};
const char *const job_file_suite_keys[] = {"path", NULL};
const char *const job_file_source_keys[] = {"repo", "rev", "variant", "correction", NULL};

/* Members that jobs will have; naming them beats calling them unknown. */
static const char *const later_keys[] = {"on_lost", "patch", NULL};

static void refuse_later(struct json_in *in, const cJSON *obj)
{
    const cJSON *m;
    cJSON_ArrayForEach (m, obj) {
        for (const char *const *later = later_keys; m->string && *later; later++)
            if (!strcmp(m->string, *later))
                json_fail(in, m->string, "job.not_yet",
                          "this version does not have \"%s\" yet; leave it out", *later);
    }
}

/* ---- sources */

static void decode_source(struct json_in *in, const cJSON *obj, const char *const *keys,
                          struct job_source *s)
{
    json_closed(in, obj, keys);
    s->repo = doc_opt_line(in, obj, "repo", 4096, NULL);
    s->rev = doc_opt_line(in, obj, "rev", 256, NULL);
    if (!s->repo || !*s->repo)
        json_fail(in, "repo", "json.missing", "repo must name the repository");
    if (!s->rev || !*s->rev)
        json_fail(in, "rev", "json.missing", "rev must name a revision of the repository");
    variant_decode(in, obj, s);
    s->correction = correction_decode(in, obj, keys == job_source_keys);
    if (keys != job_source_keys)
        return;
    s->commit = json_str(in, obj, "commit", 128);
    if (s->commit && !correction_is_commit(s->commit))
        json_fail(in, "commit", "job.bad",
                  "commit must be a full commit id of 40 or 64 lower-case hex digits");
}

static void add_source(struct json_in *in, const cJSON *obj, const char *const *keys,
                       struct job *job)
{
    struct job_source *s = &job->sources[job->n_sources++];
    s->side = arena_strdup(in->a, obj->string);
    doc_check_name(in, s->side, s->side, "job.bad");
    if (!strcmp(s->side, JOB_SIDE_SUITE))
        json_fail(in, s->side, "job.bad",
                  "the name \"" JOB_SIDE_SUITE
                  "\" is taken by jobs without sources; rename the side");
    size_t mark = json_enter(in, s->side);
    refuse_later(in, obj);
    decode_source(in, obj, keys, s);
    json_leave(in, mark);
}

/* "before" first, then "after", then the others as they stand: the order of the sides. */
static void decode_sources(struct json_in *in, const cJSON *doc, const char *const *keys,
                           struct job *job)
{
    static const char *const first[] = {"before", "after"};
    const cJSON *sources = json_opt_obj(in, doc, "sources"), *m;
    size_t count = (size_t)cJSON_GetArraySize(sources), mark = json_enter(in, "sources");
    if (count > JOB_SIDES_MAX)
        json_fail(in, NULL, "job.bad", "a job has at most %d sides", JOB_SIDES_MAX);
    if (in->rc)
        return;
    job->sources = arena_array(in->a, count, sizeof *job->sources);
    for (size_t i = 0; i < ARRAY_LEN(first); i++)
        if ((m = cJSON_GetObjectItemCaseSensitive(sources, first[i])) != NULL)
            add_source(in, m, keys, job);
    cJSON_ArrayForEach (m, sources) {
        if (strcmp(m->string, first[0]) != 0 && strcmp(m->string, first[1]) != 0)
            add_source(in, m, keys, job);
    }
    json_leave(in, mark);
}

/* ---- the rest */

static void decode_schedule(struct json_in *in, const cJSON *doc, struct job *job)
{
    const cJSON *retry = json_opt_obj(in, doc, "retry");
    size_t mark = json_enter(in, "retry");

    if (retry)
        refuse_later(in, retry);
    json_leave(in, mark);
    retry_decode(in, doc, &job->retry_every_ms, &job->retry_limit);
    job->window = window_decode(in, doc);
    job->not_before_ms = doc_opt_instant(in, doc, "not_before");
    job->deadline_ms = doc_opt_instant(in, doc, "deadline");
    job->session = doc_opt_line(in, doc, "session", DOC_LABEL_MAX, NULL);
    if (job->session && !*job->session)
        json_fail(in, "session", "json.value", "session must name a session, or be left out");
    if (job->deadline_ms > 0 && job->deadline_ms <= job->not_before_ms)
        json_fail(in, "deadline", "job.bad",
                  "the deadline is not after not_before, so the job could never run");
}

/* "workload/lane", or "lane" for all workloads. */
static void decode_lane_ref(struct json_in *in, const char *text, struct lane_ref *ref)
{
    const char *slash = strchr(text, '/');
    ref->lane = slash ? slash + 1 : text;
    ref->workload = slash ? arena_strndup(in->a, text, (size_t)(slash - text)) : NULL;
    if (!doc_is_name(ref->lane) || (ref->workload && !doc_is_name(ref->workload)))
        json_fail(in, NULL, "job.bad", "write \"workload/lane\", or \"lane\" for every workload");
}

static void decode_exclude(struct json_in *in, const cJSON *doc, struct job *job)
{
    struct args texts = json_opt_args(in, doc, "exclude", EXCLUDE_MAX);
    size_t mark = json_enter(in, "exclude");
    job->exclude = arena_array(in->a, texts.n, sizeof *job->exclude);
    job->n_exclude = texts.n;
    for (size_t i = 0; i < texts.n && !in->rc; i++) {
        size_t at = json_enter_index(in, i);
        decode_lane_ref(in, texts.v[i], &job->exclude[i]);
        json_leave(in, at);
    }
    json_leave(in, mark);
}

static void check_run(struct json_in *in, const struct job *job)
{
    if (job->is_run && job->n_sources > 0)
        json_fail(in, "run", "job.bad",
                  "a job of two commands has no sources; remove \"run\" or \"sources\"");
}

static void decode_common(struct json_in *in, const cJSON *doc, const char *const *keys,
                          const char *const *source_keys, struct job *job)
{
    refuse_later(in, doc);
    json_closed(in, doc, keys);
    doc_schema(in, doc, JOB_SCHEMA);
    job->label = doc_opt_line(in, doc, "label", DOC_LABEL_MAX, "");
    decode_sources(in, doc, source_keys, job);
    pairs_decode(in, doc, job);
    job->repetitions = (int)json_opt_int(in, doc, "repetitions", 1, 1000, 11);
    job->warmups = (int)json_opt_int(in, doc, "warmups", 0, 100, 1);
    job->order = (enum order)json_opt_enum_of(in, doc, "order", order_parse,
                                              "interleaved, sequential", ORDER_INTERLEAVED);
    job->policy = json_opt_str(in, doc, "policy", DOC_NAME_MAX, "standard");
    if (!in->rc)
        doc_check_name(in, "policy", job->policy, "job.bad");
    decode_schedule(in, doc, job);
    after_decode(in, doc, keys == job_keys, &job->after, &job->n_after);
    notify_decode(in, doc, &job->notify, &job->n_notify);
    job->allow_competing = json_opt_bool(in, doc, "allow_competing", false);
    job->is_run = json_opt_bool(in, doc, "run", false);
    decode_exclude(in, doc, job);
    job->priority = (int)json_opt_int(in, doc, "priority", JOB_PRIORITY_MIN, JOB_PRIORITY_MAX, 0);
    check_run(in, job);
}

static void check_after(struct json_in *in, const struct job *job)
{
    size_t mark = json_enter(in, "after");
    for (size_t i = 0; !in->rc && i < job->n_after; i++) {
        size_t at = json_enter_index(in, i);
        if (!strcmp(job->after[i].job, job->id))
            json_fail(in, "job", "job.bad", "a job cannot come after itself; name another");
        json_leave(in, at);
    }
    json_leave(in, mark);
}

static void decode_wire_only(struct json_in *in, const cJSON *doc, struct job *job)
{
    job->id = json_str(in, doc, "id", JSON_STRING_MAX);
    if (job->id && !ulid_valid(job->id))
        json_fail(in, "id", "job.bad", "id must be a ULID: 26 characters, upper case");
    const cJSON *suite = json_obj(in, doc, "suite");
    size_t mark = json_enter(in, "suite");
    json_closed(in, suite, job_suite_keys);
    job->suite_name = doc_name(in, suite, "name", "job.bad");
    job->suite_sha256 = json_str(in, suite, "sha256", JSON_STRING_MAX);
    if (job->suite_sha256 && !digest_valid(job->suite_sha256))
        json_fail(in, "sha256", "job.bad", "sha256 must be 64 lower-case hex digits");
    json_leave(in, mark);
    check_after(in, job);
}

int job_decode_text(struct arena *a, const char *text, struct job **out, struct err *e)
{
    cJSON *doc = NULL;
    int rc = json_parse(text, strlen(text), &doc, e);
    if (!rc)
        rc = job_decode(a, doc, out, e);
    cJSON_Delete(doc);
    return rc;
}

int job_decode(struct arena *a, const cJSON *doc, struct job **out, struct err *e)
{
    struct json_in in;
    struct job *job = arena_alloc(a, sizeof *job);
    json_in_init(&in, a, e);
    decode_common(&in, doc, job_keys, job_source_keys, job);
    decode_wire_only(&in, doc, job);
    if (!in.rc)
        *out = job;
    return in.rc;
}

void job_file_decode_node(struct json_in *in, const cJSON *doc, struct job_file *file)
{
    decode_common(in, doc, job_file_keys, job_file_source_keys, &file->job);
    const cJSON *suite = json_obj(in, doc, "suite");
    size_t mark = json_enter(in, "suite");
    json_closed(in, suite, job_file_suite_keys);
    file->suite_path = json_str(in, suite, "path", 4096);
    if (file->suite_path && !*file->suite_path)
        json_fail(in, "path", "job.bad", "path must name the suite's folder");
    json_leave(in, mark);
}

static void decode_file(struct json_in *in, const cJSON *doc, void *out)
{
    job_file_decode_node(in, doc, out);
}

int job_file_decode(struct arena *a, const char *data, size_t len, struct job_file **out,
                    struct err *e)
{
    struct job_file *file = arena_alloc(a, sizeof *file);
    int rc = doc_decode(a, data, len, decode_file, file, e);

    if (rc == 0)
        *out = file;
    return rc;
}

/* ---- writing */

static void encode_sources(struct json_out *o, const struct job *job)
{
    json_begin(o, "sources");
    for (size_t i = 0; i < job->n_sources; i++) {
        const struct job_source *s = &job->sources[i];
        json_begin(o, s->side);
        json_put_str(o, "repo", s->repo);
        json_put_str(o, "rev", s->rev);
        json_put_str(o, "commit", s->commit);
        variant_encode(o, s);
        correction_encode(o, s->correction);
        json_end(o);
    }
    json_end(o);
}

static void encode_exclude(struct json_out *o, const struct job *job)
{
    struct buf text = {0};
    json_begin_array(o, "exclude");
    for (size_t i = 0; i < job->n_exclude; i++) {
        const struct lane_ref *ref = &job->exclude[i];
        buf_clear(&text);
        buf_printf(&text, "%s%s%s", ref->workload ? ref->workload : "", ref->workload ? "/" : "",
                   ref->lane);
        json_put_str(o, NULL, buf_str(&text));
    }
    json_end_array(o);
    buf_deinit(&text);
}

void job_encode(struct json_out *o, const char *key, const struct job *job)
{
    json_begin(o, key);
    json_put_str(o, "schema", JOB_SCHEMA);
    json_put_str(o, "id", job->id);
    json_put_str(o, "label", job->label);
    json_begin(o, "suite");
    json_put_str(o, "name", job->suite_name);
    json_put_str(o, "sha256", job->suite_sha256);
    json_end(o);
    encode_sources(o, job);
    pairs_encode(o, job);
    json_put_int(o, "repetitions", job->repetitions);
    json_put_int(o, "warmups", job->warmups);
    json_put_str(o, "order", order_name(job->order));
    json_put_str(o, "policy", job->policy);
    retry_encode(o, job->retry_every_ms, job->retry_limit);
    json_put_bool(o, "allow_competing", job->allow_competing);
    json_put_bool(o, "run", job->is_run);
    encode_exclude(o, job);
    json_put_int(o, "priority", job->priority);
    window_encode(o, "window", job->window);
    doc_put_instant(o, "not_before", job->not_before_ms);
    doc_put_instant(o, "deadline", job->deadline_ms);
    if (job->session)
        json_put_str(o, "session", job->session);
    if (job->n_after) /* what says nothing of it reads as it always did */
        after_encode(o, job->after, job->n_after);
    notify_encode(o, job->notify, job->n_notify);
    json_end(o);
}
