#include "proto/doc/doc_correction.h"

#include <string.h>

#include "base/digest.h"
#include "proto/doc/doc_common.h"
#include "proto/doc/doc_keys.h"

#define REASON_MAX 500

const char *const job_correction_keys[] = {"base",        "base_commit", "diff", "diff_sha256",
                                           "approved_by", "reason",      NULL};
const char *const job_file_correction_keys[] = {"base", "diff", "approved_by", "reason", NULL};

bool correction_is_commit(const char *s)
{
    size_t n = strlen(s);
    return (n == 40 || n == 64) && strspn(s, "0123456789abcdef") == n;
}

/* One line that may not be left out or empty. */
static const char *need_line(struct json_in *in, const cJSON *obj, const char *key, size_t max,
                             const char *what)
{
    const char *s = doc_opt_line(in, obj, key, max, NULL);
    if (!s || !*s)
        json_fail(in, key, "json.missing", "%s must say %s", key, what);
    return s;
}

static void decode_resolved(struct json_in *in, const cJSON *obj, struct job_correction *c)
{
    char sha256[DIGEST_HEX];
    c->base_commit = json_str(in, obj, "base_commit", 128);
    c->diff = json_str(in, obj, "diff", JOB_DIFF_MAX);
    c->diff_sha256 = json_str(in, obj, "diff_sha256", JSON_STRING_MAX);
    if (in->rc)
        return;
    if (!correction_is_commit(c->base_commit))
        json_fail(in, "base_commit", "job.bad",
                  "base_commit must be a full commit id of 40 or 64 lower-case hex digits");
    if (!*c->diff)
        json_fail(in, "diff", "job.bad", "the allowed diff is empty; leave the correction out");
    digest_bytes(c->diff, strlen(c->diff), sha256);
    if (strcmp(sha256, c->diff_sha256) != 0)
        json_fail(in, "diff_sha256", "job.bad",
                  "diff_sha256 is not the SHA-256 of diff; send the diff unchanged");
}

struct job_correction *correction_decode(struct json_in *in, const cJSON *obj, bool wire)
{
    const cJSON *item = json_opt_obj(in, obj, "correction");
    if (!item)
        return NULL;
    struct job_correction *c = arena_alloc(in->a, sizeof *c);
    size_t mark = json_enter(in, "correction");
    json_closed(in, item, wire ? job_correction_keys : job_file_correction_keys);
    c->base = need_line(in, item, "base", 256, "which commit was corrected");
    if (wire)
        decode_resolved(in, item, c);
    else
        c->diff = need_line(in, item, "diff", 4096, "which file holds the allowed diff");
    c->approved_by = need_line(in, item, "approved_by", DOC_LABEL_MAX, "who allowed the diff");
    c->reason = need_line(in, item, "reason", REASON_MAX, "why the diff is allowed");
    json_leave(in, mark);
    return c;
}

void correction_encode(struct json_out *o, const struct job_correction *c)
{
    if (!c)
        return;
    json_begin(o, "correction");
    json_put_str(o, "base", c->base);
    json_put_str(o, "base_commit", c->base_commit);
    json_put_str(o, "diff", c->diff);
    json_put_str(o, "diff_sha256", c->diff_sha256);
    json_put_str(o, "approved_by", c->approved_by);
    json_put_str(o, "reason", c->reason);
    json_end(o);
}
