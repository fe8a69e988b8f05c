/* Sessions as they travel and as users write them, instants. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/mem.h"
#include "proto/doc/doc_session.h"
#include "proto/form/instant.h"

#define ID "01ARZ3NDEKTSV4RRFFQ69G5FAV"
#define WINDOW "'window':{'days':'mon-fri','from':'01:00','to':'05:00','zone':'Europe/London'}"
#define JOB "{'schema':'aurabench.job.v1','suite':{'path':'s'}}"
#define WIRE(members) "{'schema':'aurabench.session.v1','id':'" ID "','label':'x'" members "}"
#define FILE_OF(members) "{'schema':'aurabench.session.v1','label':'x'" members "}"

/* Documents are written with single quotes here. */
static char *quoted(struct arena *a, const char *text)
{
    char *out = arena_strdup(a, text);
    for (char *p = out; *p; p++)
        if (*p == '\'')
            *p = '"';
    return out;
}

static int decode(struct arena *a, const char *text, struct session **out, struct err *e)
{
    const char *json = quoted(a, text);
    cJSON *doc = NULL;
    assert_int_equal(json_parse(json, strlen(json), &doc, e), 0);
    int rc = session_decode(a, doc, out, e);
    cJSON_Delete(doc);
    return rc;
}

static void a_session_has_defaults(void **ctx)
{
    struct arena a = {0};
    struct err e = {0};
    struct session *s = NULL;
    (void)ctx;
    assert_int_equal(decode(&a, WIRE(""), &s, &e), 0);
    assert_string_equal(s->id, ID);
    assert_string_equal(s->label, "x");
    assert_int_equal(s->boot, SESSION_BOOT_ANY);
    assert_null(s->window);
    assert_int_equal(s->deadline_ms, 0);
    assert_int_equal(s->retry_every_ms, -1);
    assert_int_equal(s->retry_limit, -1);
    assert_int_equal(s->settle_ms, 600000);
    arena_deinit(&a);
}

static void a_session_survives_encoding_and_decoding(void **ctx)
{
    static const char *const texts[] = {
        WIRE(""),
        WIRE("," WINDOW ",'boot':'fresh','settle':'0s','retry':{'every':'10m'},"
             "'deadline':'2026-12-05T06:00:00Z'"),
        WIRE(",'boot':'same','retry':{'limit':3}")};
    (void)ctx;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct arena a = {0};
        struct err e = {0};
        struct session *first = NULL, *second = NULL;
        struct buf once = {0}, twice = {0};
        struct json_out o;
        assert_int_equal(decode(&a, texts[i], &first, &e), 0);
        json_out_init(&o, &once);
        session_encode(&o, NULL, first);
        assert_int_equal(decode(&a, buf_str(&once), &second, &e), 0);
        json_out_init(&o, &twice);
        session_encode(&o, NULL, second);
        assert_string_equal(buf_str(&once), buf_str(&twice));
        assert_int_equal(first->deadline_ms, second->deadline_ms);
        assert_int_equal(first->boot, second->boot);
        buf_deinit(&once);
        buf_deinit(&twice);
        arena_deinit(&a);
    }
}

struct refusal {
    const char *text, *code, *field;
};

static const struct refusal wire_refusals[] = {
    {"{'schema':'aurabench.session.v1','label':'x'}", "json.missing", "id"},
    {"{'schema':'aurabench.session.v1','id':'x','label':'x'}", "session.bad", "id"},
    {"{'schema':'aurabench.session.v1','id':'" ID "'}", "json.missing", "label"},
    {"{'schema':'aurabench.job.v1','id':'" ID "','label':'x'}", "json.schema", "schema"},
    {WIRE(",'jobs':[]"), "json.unknown_key", "jobs"},
    {WIRE(",'settle':'2d'"), "json.range", "settle"},
    {WIRE(",'window':{'from':'01:00','to':'05:00'}"), "json.missing", "window.zone"},
    {WIRE(",'retry':{'every':'0s'}"), "json.range", "retry.every"},
};

static void what_breaks_a_rule_is_refused_by_its_field(void **ctx)
{
    (void)ctx;
    for (size_t i = 0; i < ARRAY_LEN(wire_refusals); i++) {
        struct arena a = {0};
        struct err e = {0};
        struct session *s = NULL;
        assert_int_not_equal(decode(&a, wire_refusals[i].text, &s, &e), 0);
        assert_string_equal(e.code, wire_refusals[i].code);
        assert_string_equal(e.field, wire_refusals[i].field);
        assert_null(s);
        arena_deinit(&a);
    }
}

static void jobs_of_a_file_are_documents_or_paths(void **ctx)
{
    struct arena a = {0};
    struct err e = {0};
    struct session_file *f = NULL;
    const char *text = quoted(&a, FILE_OF(",'jobs':[" JOB ",{'path':'b.json'}]"));
    (void)ctx;
    assert_int_equal(session_file_decode(&a, text, strlen(text), &f, &e), 0);
    assert_int_equal(f->n_jobs, 2);
    assert_string_equal(f->jobs[0].file->suite_path, "s");
    assert_null(f->jobs[0].path);
    assert_null(f->jobs[1].file);
    assert_string_equal(f->jobs[1].path, "b.json");
    arena_deinit(&a);
}

static const struct refusal file_refusals[] = {
    {FILE_OF(""), "json.missing", "jobs"},
    {FILE_OF(",'jobs':[]"), "session.bad", "jobs"},
    {FILE_OF(",'jobs':[{}]"), "json.missing", "jobs[0].schema"},
    {FILE_OF(",'jobs':[" JOB ",{'path':'x','label':'y'}]"), "json.unknown_key", "jobs[1].label"},
    {FILE_OF(",'jobs':[{'schema':'aurabench.job.v1','suite':{'path':'s'},'session':'y'}]"),
     "session.bad", "jobs[0].session"},
    {FILE_OF(",'id':'" ID "','jobs':[" JOB "]"), "json.unknown_key", "id"},
};

static void a_file_that_breaks_a_rule_is_refused_by_its_field(void **ctx)
{
    (void)ctx;
    for (size_t i = 0; i < ARRAY_LEN(file_refusals); i++) {
        struct arena a = {0};
        struct err e = {0};
        struct session_file *f = NULL;
        const char *text = quoted(&a, file_refusals[i].text);
        assert_int_not_equal(session_file_decode(&a, text, strlen(text), &f, &e), 0);
        assert_string_equal(e.code, file_refusals[i].code);
        assert_string_equal(e.field, file_refusals[i].field);
        arena_deinit(&a);
    }
}

/* ---- instants */

static void instants_read_back(void **ctx)
{
    static const struct {
        const char *text;
        int64_t ms;
    } rows[] = {{"1970-01-01T00:00:00Z", 0},
                {"2026-12-01T01:00:00Z", 1796086800000},
                {"2024-02-29T23:59:59Z", 1709251199000},
                {"9999-12-31T23:59:59Z", 253402300799000}};
    char text[INSTANT_TEXT];
    (void)ctx;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int64_t ms = -1;
        assert_true(instant_parse(rows[i].text, &ms));
        assert_int_equal(ms, rows[i].ms);
        assert_string_equal(instant_text(ms + 999, text), rows[i].text);
    }
    assert_string_equal(instant_short(1796086800000, text), "2026-12-01T01:00Z");
    assert_string_equal(instant_short(1709251199000, text), "2024-02-29T23:59:59Z");
}

static void other_texts_are_no_instants(void **ctx)
{
    static const char *const texts[] = {
        "",
        "2026-12-01",
        "2026-12-01T01:00Z",
        "2026-12-01 01:00:00Z",
        "2026-12-01T01:00:00",
        "2026-12-01T01:00:00z",
        "2026-12-01T01:00:00.5Z",
        "2026-12-01T01:00:00+01:00",
        "2026-13-01T01:00:00Z",
        "2026-02-29T01:00:00Z",
        "2026-12-00T01:00:00Z",
        "2026-12-01T24:00:00Z",
        "2026-12-01T01:60:00Z",
        "2026-12-01T01:00:60Z",
        "1969-12-31T23:59:59Z",
        "2O26-12-01T01:00:00Z",
    };
    (void)ctx;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        int64_t ms = 7;
        if (instant_parse(texts[i], &ms) || ms != 7)
            fail_msg("%s was taken", texts[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_has_defaults),
        cmocka_unit_test(a_session_survives_encoding_and_decoding),
        cmocka_unit_test(what_breaks_a_rule_is_refused_by_its_field),
        cmocka_unit_test(jobs_of_a_file_are_documents_or_paths),
        cmocka_unit_test(a_file_that_breaks_a_rule_is_refused_by_its_field),
        cmocka_unit_test(instants_read_back),
        cmocka_unit_test(other_texts_are_no_instants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
