/* raw.json, and everything that follows from it: written again from what was read, and compared
 * byte for byte. */
#include <string.h>

#include "base/digest.h"
#include "base/mem.h"
#include "client/verify/verify.h"
#include "client/view/json_diff.h"
#include "core/summary/summarise.h"
#include "proto/doc/doc_evidence.h"
#include "proto/doc/documents.h"
#include "proto/evidence/reproduce.h"

static bool text_is(const struct verify_text *t, const struct buf *b)
{
    return t->data && t->len == b->len && (t->len == 0 || memcmp(t->data, b->data, t->len) == 0);
}

/* A report of another version may follow other rules; then a difference need not be a lie. */
static const char *version_hint(const struct verify *v)
{
    if (v->raw && v->raw->version && strcmp(v->raw->version, AURABENCH_VERSION) == 0)
        return "";
    return " (made by another version than this " AURABENCH_VERSION "; verify it with that one)";
}

/* ---- raw.json */

static void check_raw(struct verify *v)
{
    const struct verify_text *t = &v->files[VERIFY_RAW];
    CLEANUP(buf_deinit) struct buf again = {0};

    if (evidence_raw_text(v->raw, &again, NULL) < 0 || !text_is(t, &again))
        verify_say(v, "raw", TRI_FAIL, "raw.json is not canonical: %s differs%s",
                   json_difference(&v->a, t->data, t->len, again.data, again.len), version_hint(v));
    else
        verify_say(v, "raw", TRI_PASS, "raw.json is canonical, attempt %s, %zu observations",
                   v->raw->id, v->raw->n_observations);
}

/* ---- summary.json */

static void say_grade(struct verify *v, const cJSON *doc, const struct summary *again)
{
    const cJSON *grade = cJSON_GetObjectItemCaseSensitive(doc, "grade");
    const cJSON *line = cJSON_GetObjectItemCaseSensitive(grade, "line");
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(grade, "value");
    bool same = cJSON_IsString(line) && strcmp(line->valuestring, again->grade.line) == 0 &&
                cJSON_IsString(value) &&
                strcmp(value->valuestring, grade_name(again->grade.value)) == 0;

    if (same)
        verify_say(v, "grade", TRI_PASS, "%s", again->grade.line);
    else
        verify_say(v, "grade", TRI_FAIL, "summary.json says %s, the raw report gives %s",
                   cJSON_IsString(line) ? line->valuestring : "nothing", again->grade.line);
}

static void say_link(struct verify *v, const cJSON *doc, const char *raw_sha256)
{
    const cJSON *link = cJSON_GetObjectItemCaseSensitive(doc, "raw_report");
    const cJSON *sha256 = cJSON_GetObjectItemCaseSensitive(link, "sha256");

    if (cJSON_IsString(sha256) && strcmp(sha256->valuestring, raw_sha256) == 0)
        verify_say(v, "link", TRI_PASS, "summary.json follows from this raw.json");
    else
        verify_say(v, "link", TRI_FAIL, "summary.json names the hash of another raw.json");
}

static void compare_summary(struct verify *v, const cJSON *doc)
{
    const struct verify_text *t = &v->files[VERIFY_SUMMARY];
    const struct summary *again = summarise(&v->a, v->raw);
    CLEANUP(buf_deinit) struct buf text = {0};
    char hex[DIGEST_HEX];

    digest_bytes(v->files[VERIFY_RAW].data, v->files[VERIFY_RAW].len, hex);
    v->summary = again;
    say_link(v, doc, hex);
    if (evidence_summary_text(v->raw, again, hex, &text, NULL) == 0 && text_is(t, &text))
        verify_say(v, "summary", TRI_PASS, "recomputed: %zu rows and %zu comparisons, all equal",
                   again->n_rows, again->n_comparisons);
    else
        verify_say(v, "summary", TRI_FAIL, "recomputed, %s differs%s",
                   json_difference(&v->a, t->data, t->len, text.data, text.len), version_hint(v));
    say_grade(v, doc, again);
}

static void check_summary(struct verify *v)
{
    const struct verify_text *t = &v->files[VERIFY_SUMMARY];
    struct err e = {0};
    cJSON *doc = NULL;

    if (v->raw->void_code) {
        verify_say(v, "summary", t->data ? TRI_FAIL : TRI_PASS, "%s",
                   t->data ? "a void attempt has no summary, and here is one"
                           : "none: the attempt is void");
    } else if (!t->data) {
        verify_say(v, "summary", TRI_FAIL, "summary.json is missing");
    } else if (json_parse(t->data, t->len, &doc, &e) < 0) {
        verify_say(v, "summary", TRI_FAIL, "summary.json: %s", e.text);
    } else {
        compare_summary(v, doc);
        cJSON_Delete(doc);
    }
}

/* ---- the files that repeat a part of raw.json */

static const struct {
    enum verify_file file;
    const char *check;
    int (*write)(const struct raw *raw, struct buf *out, struct err *e);
} copies[] = {
    {VERIFY_JOB, "job", evidence_job_text},
    {VERIFY_POLICY, "policy", evidence_policy_text},
    {VERIFY_HOST, "host", evidence_host_text},
    {VERIFY_REFUSALS, "refusals", evidence_refusals_text},
};

static void compare_copy(struct verify *v, enum verify_file file, const char *check,
                         const struct buf *again)
{
    const struct verify_text *t = &v->files[file];
    const char *name = verify_file_name(file);

    if (!t->data)
        verify_say(v, check, TRI_FAIL, "%s is missing", name);
    else if (text_is(t, again))
        verify_say(v, check, TRI_PASS, "%s says what raw.json says", name);
    else
        verify_say(v, check, TRI_FAIL, "%s does not say what raw.json says%s", name,
                   version_hint(v));
}

/* A person runs it: it must be exactly what this program would write. */
static void check_reproduce(struct verify *v)
{
    CLEANUP(buf_deinit) struct buf again = {0};
    bool has_bundle =
        v->has_sums ? manifest_find(&v->sums, "commits.bundle") != NULL : v->raw->n_sources > 0;

    (void)reproduce_script(v->raw, has_bundle, &again, NULL);
    compare_copy(v, VERIFY_REPRODUCE, "reproduce", &again);
}

void verify_figures(struct verify *v)
{
    if (!v->raw) {
        verify_say(v, "raw", TRI_FAIL, "raw.json%s%s: %s", v->raw_err.field[0] ? ", " : "",
                   v->raw_err.field, v->raw_err.text);
        return;
    }
    check_raw(v);
    check_summary(v);
}

void verify_documents(struct verify *v)
{
    verify_figures(v);
    if (!v->raw)
        return;
    for (size_t i = 0; i < ARRAY_LEN(copies); i++) {
        CLEANUP(buf_deinit) struct buf again = {0};
        (void)copies[i].write(v->raw, &again, NULL);
        compare_copy(v, copies[i].file, copies[i].check, &again);
    }
    check_reproduce(v);
}
