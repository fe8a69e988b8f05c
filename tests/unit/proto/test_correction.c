/* The member "correction" of a source: complete, bounded, and its diff is the one that was hashed.
 */
#include "doc_test.h"

#include <errno.h>

#include "base/digest.h"
#include "proto/doc/doc_job.h"
#include "proto/doc/documents.h"

#define SHA "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define COMMIT "0123456789abcdef0123456789abcdef01234567"
#define BASE "89abcdef0123456789abcdef0123456789abcdef"
#define DIFF_SHA                                                                                   \
    "be5a392951db0e477c12609c2788330a6963b56fc291090a62cd81e83c5ed78c" /* of "-a\n+b\n" */
#define SUITE "'suite':{'name':'s','sha256':'" SHA "'}"
#define WITH(correction)                                                                           \
    "{'schema':'aurabench.job.v1','id':'01J9Z3K4M5N6P7Q8R9S0T1V2W3'," SUITE                        \
    ",'sources':{'after':{'repo':'/r','rev':'fix','commit':'" COMMIT "','correction':" correction  \
    "}}}"
#define FILE_WITH(correction)                                                                      \
    "{'schema':'aurabench.job.v1','suite':{'path':'b'},'sources':{'after':{'repo':'/r',"           \
    "'rev':'fix','correction':" correction "}}}"
#define RESOLVED                                                                                   \
    "'base':'v1','base_commit':'" BASE "','diff':'-a\\n+b\\n','diff_sha256':'" DIFF_SHA "'"
#define ALLOWED "'approved_by':'Ada','reason':'does not compile'"

static int decode(struct arena *a, const char *text, struct job **out, struct err *e)
{
    cJSON *doc = NULL;
    int rc = json_parse(text, strlen(text), &doc, e);
    if (!rc)
        rc = job_decode(a, doc, out, e);
    cJSON_Delete(doc);
    return rc;
}

static void a_correction_survives_encoding_and_decoding(void **state)
{
    struct arena a = {0};
    struct err e = {0};
    struct job *first = NULL, *second = NULL;
    struct buf text = {0};
    struct json_out o;
    char *given = doc_text(WITH("{" RESOLVED "," ALLOWED "}"));

    assert_int_equal(decode(&a, given, &first, &e), 0);
    json_out_init(&o, &text);
    job_encode(&o, NULL, first);
    assert_int_equal(decode(&a, buf_str(&text), &second, &e), 0);
    const struct job_correction *c = second->sources[0].correction;
    assert_non_null(c);
    assert_string_equal(c->base, "v1");
    assert_string_equal(c->base_commit, BASE);
    assert_string_equal(c->diff, "-a\n+b\n");
    assert_string_equal(c->diff_sha256, DIFF_SHA);
    assert_string_equal(c->approved_by, "Ada");
    assert_string_equal(c->reason, "does not compile");
    buf_deinit(&text);
    free(given);
    arena_deinit(&a);
}

static void a_source_without_one_is_measured_as_it_is(void **state)
{
    struct arena a = {0};
    struct err e = {0};
    struct job *job = NULL;
    char *given = doc_text(WITH("null"));

    assert_int_equal(decode(&a, given, &job, &e), 0);
    assert_null(job->sources[0].correction);
    free(given);
    arena_deinit(&a);
}

#define AT "sources.after.correction"

static const struct refusal refusals[] = {
    {WITH("'x'"), "json.type", AT},
    {WITH("{" RESOLVED "," ALLOWED ",'colour':1}"), "json.unknown_key", AT ".colour"},
    {WITH("{" RESOLVED ",'reason':'r'}"), "json.missing", AT ".approved_by"},
    {WITH("{" RESOLVED ",'approved_by':'','reason':'r'}"), "json.missing", AT ".approved_by"},
    {WITH("{" RESOLVED ",'approved_by':'Ada'}"), "json.missing", AT ".reason"},
    {WITH("{" RESOLVED ",'approved_by':'Ada','reason':'a\\nb'}"), "json.value", AT ".reason"},
    {WITH("{'base_commit':'" BASE "','diff':'x','diff_sha256':'" SHA "'," ALLOWED "}"),
     "json.missing", AT ".base"},
    {WITH("{'base':'v1','base_commit':'v1','diff':'x','diff_sha256':'" SHA "'," ALLOWED "}"),
     "job.bad", AT ".base_commit"},
    {WITH("{'base':'v1','base_commit':'" BASE "','diff':'','diff_sha256':'" SHA "'," ALLOWED "}"),
     "job.bad", AT ".diff"},
    {WITH("{'base':'v1','base_commit':'" BASE "','diff':'-a\\n+c\\n','diff_sha256':'" DIFF_SHA
          "'," ALLOWED "}"),
     "job.bad", AT ".diff_sha256"},
};

static void each_rule_refuses_what_breaks_it(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
        struct arena a = {0};
        struct err e = {0};
        struct job *job = NULL;
        char *text = doc_text(refusals[i].text);
        assert_refused(decode(&a, text, &job, &e), &e, &refusals[i]);
        assert_null(job);
        free(text);
        arena_deinit(&a);
    }
}

/* What fits is accepted to the last byte; one byte more is no JSON string of ours. */
static void a_diff_is_bounded(void **state)
{
    for (size_t more = 0; more < 2; more++) {
        struct arena a = {0};
        struct err e = {0};
        struct job *job = NULL;
        char sha256[DIGEST_HEX];
        char *diff = arena_alloc(&a, JOB_DIFF_MAX + 2);
        memset(diff, 'x', JOB_DIFF_MAX + more);
        digest_bytes(diff, strlen(diff), sha256);
        char *given = doc_text(arena_printf(&a,
                                            WITH("{'base':'v1','base_commit':'" BASE
                                                 "','diff':'%s','diff_sha256':'%s'," ALLOWED "}"),
                                            diff, sha256));
        int rc = decode(&a, given, &job, &e);
        if (more)
            assert_int_equal(rc, -EINVAL);
        else
            assert_int_equal(rc, 0);
        free(given);
        arena_deinit(&a);
    }
}

static void a_users_file_names_the_diffs_file(void **state)
{
    struct arena a = {0};
    struct err e = {0};
    struct job_file *file = NULL;
    char *text = doc_text(FILE_WITH("{'base':'v1','diff':'allowed.diff'," ALLOWED "}"));

    assert_int_equal(job_file_decode(&a, text, strlen(text), &file, &e), 0);
    assert_string_equal(file->job.sources[0].correction->base, "v1");
    assert_string_equal(file->job.sources[0].correction->diff, "allowed.diff");
    assert_null(file->job.sources[0].correction->base_commit);
    free(text);
    arena_deinit(&a);
}

static const struct refusal file_refusals[] = {
    {FILE_WITH("{" RESOLVED "," ALLOWED "}"), "json.unknown_key", AT ".base_commit"},
    {FILE_WITH("{'base':'v1'," ALLOWED "}"), "json.missing", AT ".diff"},
    {FILE_WITH("{'diff':'x'," ALLOWED "}"), "json.missing", AT ".base"},
    {FILE_WITH("{'base':'v1','diff':'x','reason':'r'}"), "json.missing", AT ".approved_by"},
};

static void a_users_file_is_held_to_the_same_rules(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(file_refusals); i++) {
        struct arena a = {0};
        struct err e = {0};
        struct job_file *file = NULL;
        char *text = doc_text(file_refusals[i].text);
        assert_refused(job_file_decode(&a, text, strlen(text), &file, &e), &e, &file_refusals[i]);
        assert_null(file);
        free(text);
        arena_deinit(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_correction_survives_encoding_and_decoding),
        cmocka_unit_test(a_source_without_one_is_measured_as_it_is),
        cmocka_unit_test(each_rule_refuses_what_breaks_it),
        cmocka_unit_test(a_diff_is_bounded),
        cmocka_unit_test(a_users_file_names_the_diffs_file),
        cmocka_unit_test(a_users_file_is_held_to_the_same_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
