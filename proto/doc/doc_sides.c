#include "proto/doc/doc_sides.h"

#include <string.h>

#include "proto/doc/doc_common.h"
#include "proto/doc/doc_env.h"
#include "proto/doc/doc_keys.h"

const char *const job_variant_keys[] = {"env", NULL};
const char *const job_pair_keys[] = {"subject", "reference", NULL};

/* ---- variants */

void variant_decode(struct json_in *in, const cJSON *obj, struct job_source *s)
{
    const cJSON *variant = json_opt_obj(in, obj, "variant");
    if (!variant)
        return;
    size_t mark = json_enter(in, "variant");
    json_closed(in, variant, job_variant_keys);
    s->variant = doc_opt_env(in, variant, "env", JOB_VARIANT_MAX, "job.bad", &s->n_variant);
    for (size_t i = 0; i < s->n_variant; i++)
        if (doc_env_is_reserved(s->variant[i].name)) {
            size_t at = json_enter(in, "env");
            json_fail(in, s->variant[i].name, "job.bad",
                      "git's and the service manager's own variables never reach a build; remove "
                      "it");
            json_leave(in, at);
        }
    json_leave(in, mark);
}

void variant_encode(struct json_out *o, const struct job_source *s)
{
    if (s->n_variant == 0)
        return;
    json_begin(o, "variant");
    json_begin(o, "env");
    for (size_t i = 0; i < s->n_variant; i++)
        json_put_str(o, s->variant[i].name, s->variant[i].value);
    json_end(o);
    json_end(o);
}

/* ---- pairs */

static const char *decode_end(struct json_in *in, const cJSON *obj, const char *key,
                              const struct job *job)
{
    const char *side = doc_name(in, obj, key, "job.bad");
    for (size_t i = 0; side && i < job->n_sources; i++)
        if (strcmp(job->sources[i].side, side) == 0)
            return side;
    if (side)
        json_fail(in, key, "job.bad", "the job has no side \"%s\"; name one of its sources", side);
    return NULL;
}

static bool is_named_before(const struct job *job, size_t index)
{
    const struct job_pair *pair = &job->pairs[index];
    for (size_t i = 0; i < index; i++)
        if (strcmp(job->pairs[i].subject, pair->subject) == 0 &&
            strcmp(job->pairs[i].reference, pair->reference) == 0)
            return true;
    return false;
}

static void decode_pair(struct json_in *in, const cJSON *obj, struct job *job, size_t index)
{
    struct job_pair *pair = &job->pairs[index];
    json_closed(in, obj, job_pair_keys);
    pair->subject = decode_end(in, obj, "subject", job);
    pair->reference = decode_end(in, obj, "reference", job);
    if (in->rc)
        return;
    if (strcmp(pair->subject, pair->reference) == 0)
        json_fail(in, "reference", "job.bad", "a side is not compared with itself; name another");
    else if (is_named_before(job, index))
        json_fail(in, NULL, "job.bad", "this pair is named twice; remove one");
}

void pairs_decode(struct json_in *in, const cJSON *doc, struct job *job)
{
    size_t n = 0, i = 0;
    const cJSON *list = json_opt_arr(in, doc, "pairs", JOB_PAIRS_MAX, &n), *m;
    size_t mark = json_enter(in, "pairs");
    job->pairs = arena_array(in->a, n, sizeof *job->pairs);
    cJSON_ArrayForEach (m, list) {
        size_t at = json_enter_index(in, i);
        decode_pair(in, m, job, i++);
        json_leave(in, at);
    }
    json_leave(in, mark);
    job->n_pairs = in->rc ? 0 : n;
}

void pairs_encode(struct json_out *o, const struct job *job)
{
    json_begin_array(o, "pairs");
    for (size_t i = 0; i < job->n_pairs; i++) {
        json_begin(o, NULL);
        json_put_str(o, "subject", job->pairs[i].subject);
        json_put_str(o, "reference", job->pairs[i].reference);
        json_end(o);
    }
    json_end_array(o);
}
