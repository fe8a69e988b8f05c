/* Parameters: of each method what is missing, of the wrong type, out of range or unknown, and the
 * field that is named for it. Nothing of it changes anything. */
#include "world.h"

#define ID26 "\"01HZ0000000000000000000001\""
#define SHA "\"0000000000000000000000000000000000000000000000000000000000000000\""
#define COMMIT "\"0123456789012345678901234567890123456789\""

static const struct {
    const char *method, *params, *code, *field;
} wrong[] = {
    {"daemon.status", "{\"id\":1}", "json.unknown_key", "id"},

    {"job.submit", NULL, "json.missing", "job"},
    {"job.submit", "{\"job\":1}", "json.type", "job"},
    {"job.submit", "{\"job\":{}}", "json.missing", "schema"},
    {"job.submit", "{\"job\":{\"schema\":\"aurabench.job.v9\"}}", "json.schema", "schema"},

    {"job.list", "{\"limit\":0}", "json.range", "limit"},
    {"job.list", "{\"limit\":1000}", "json.range", "limit"},
    {"job.list", "{\"limit\":1.5}", "json.type", "limit"},
    {"job.list", "{\"limit\":\"1\"}", "json.type", "limit"},
    {"job.list", "{\"before\":1}", "json.type", "before"},
    {"job.list", "{\"before\":" ID26 "}", "job.not_found", "before"},
    {"job.list", "{\"states\":\"done\"}", "json.type", "states"},
    {"job.list", "{\"states\":[1]}", "json.type", "states[0]"},
    {"job.list", "{\"states\":[\"dead\"]}", "job.unknown_state", "states"},

    {"job.show", NULL, "json.missing", "id"},
    {"job.show", "{\"id\":1}", "json.type", "id"},
    {"job.show", "{\"id\":\"a\"}", "job.bad_id", "id"},
    {"job.show", "{\"id\":" ID26 "}", "job.not_found", "id"},
    {"job.document", NULL, "json.missing", "id"},
    {"job.document", "{\"id\":" ID26 "}", "job.not_found", "id"},
    {"job.document", "{\"id\":" ID26 ",\"offset\":-1}", "json.range", "offset"},
    {"job.cancel", NULL, "json.missing", "id"},
    {"job.cancel", "{\"id\":" ID26 "}", "job.not_found", "id"},
    {"job.watch", NULL, "json.missing", "id"},
    {"job.watch", "{\"id\":" ID26 "}", "job.not_found", "id"},
    {"job.log", NULL, "json.missing", "id"},
    {"job.log", "{\"id\":" ID26 "}", "job.not_found", "id"},
    {"job.log", "{\"id\":" ID26 ",\"offset\":-1}", "json.range", "offset"},
    {"job.log", "{\"id\":" ID26 ",\"limit\":0}", "json.range", "limit"},
    {"job.log", "{\"id\":" ID26 ",\"limit\":262145}", "json.range", "limit"},

    {"report.get", NULL, "json.missing", "format"},
    {"report.get", "{\"id\":" ID26 ",\"format\":\"html\"}", "json.value", "format"},
    {"report.get", "{\"id\":" ID26 ",\"format\":\"text\",\"width\":5}", "json.range", "width"},
    {"report.get", "{\"id\":" ID26 ",\"format\":\"text\",\"colour\":1}", "json.type", "colour"},
    {"report.get", "{\"id\":" ID26 ",\"format\":\"text\",\"offset\":-1}", "json.range", "offset"},
    {"report.get", "{\"id\":" ID26 ",\"format\":\"text\"}", "job.not_found", "id"},

    {"report.page", NULL, "rpc.params", "session"},
    {"report.page", "{\"session\":\"s\",\"jobs\":[]}", "rpc.params", "jobs"},
    {"report.page", "{\"session\":\"s\"}", "session.not_found", "id"},
    {"report.page", "{\"jobs\":[]}", "report.not_ready", "jobs"},
    {"report.page", "{\"jobs\":[" ID26 "]}", "job.not_found", "id"},
    {"report.page", "{\"jobs\":[" ID26 "],\"offset\":-1}", "json.range", "offset"},
    {"report.page", "{\"jobs\":[],\"targets\":{}}", "json.missing", "schema"},

    {"session.open", NULL, "json.missing", "session"},
    {"session.open", "{\"session\":{}}", "json.missing", "schema"},
    {"session.open",
     "{\"session\":{\"schema\":\"aurabench.session.v1\",\"id\":" ID26 ",\"label\":\"s\"}}",
     "json.missing", "jobs"},
    {"session.open",
     "{\"session\":{\"schema\":\"aurabench.session.v1\",\"id\":" ID26
     ",\"label\":\"s\"},\"jobs\":[{\"x\":1}]}",
     "json.unknown_key", "jobs[0].x"},
    {"session.open",
     "{\"session\":{\"schema\":\"aurabench.session.v1\",\"id\":" ID26
     ",\"label\":\"s\"},\"jobs\":[{\"job\":{}}]}",
     "json.missing", "jobs[0].schema"},
    {"session.add", NULL, "json.missing", "id"},
    {"session.add", "{\"id\":\"s\",\"job\":{}}", "session.not_found", "id"},
    {"session.show", NULL, "json.missing", "id"},
    {"session.show", "{\"id\":\"s\"}", "session.not_found", "id"},
    {"session.show", "{\"id\":\"s\",\"limit\":0}", "json.range", "limit"},
    {"session.show", "{\"id\":\"s\",\"limit\":201}", "json.range", "limit"},
    {"session.show", "{\"id\":\"s\",\"after\":1}", "json.type", "after"},
    {"session.list", "{\"limit\":0}", "json.range", "limit"},
    {"session.list", "{\"before\":1}", "json.type", "before"},
    {"session.list", "{\"before\":" ID26 "}", "session.not_found", "before"},
    {"session.close", NULL, "json.missing", "id"},
    {"session.close", "{\"id\":\"s\"}", "session.not_found", "id"},
    {"session.report", NULL, "json.missing", "id"},
    {"session.report", "{\"id\":\"s\"}", "session.not_found", "id"},

    {"host.show", "{\"x\":1}", "json.unknown_key", "x"},
    {"host.quiet", "{\"policy\":1}", "json.type", "policy"},
    {"host.quiet", "{\"policy\":\"none\"}", "policy.not_found", "policy"},
    {"host.quiet", "{\"policy\":{}}", "json.missing", "schema"},

    {"source.missing", "{\"commits\":1}", "json.type", "commits"},
    {"source.missing", "{\"commits\":[\"main\"]}", "source.unresolved", "commits"},

    {"upload.begin", NULL, "json.missing", "kind"},
    {"upload.begin", "{\"kind\":\"suite\"}", "json.missing", "sha256"},
    {"upload.begin", "{\"kind\":\"tar\",\"sha256\":" SHA ",\"bytes\":1}", "upload.kind", "kind"},
    {"upload.begin", "{\"kind\":\"suite\",\"sha256\":\"00\",\"bytes\":1}", "json.value", "sha256"},
    {"upload.begin", "{\"kind\":\"suite\",\"sha256\":" SHA ",\"bytes\":0}", "json.range", "bytes"},
    {"upload.begin", "{\"kind\":\"suite\",\"sha256\":" SHA ",\"bytes\":67108865}",
     "suite.too_large", "bytes"},
    {"upload.begin", "{\"kind\":\"bundle\",\"sha256\":" SHA ",\"bytes\":1,\"commits\":[\"main\"]}",
     "source.unresolved", "commits"},
    {"upload.chunk", NULL, "json.missing", "data"},
    {"upload.chunk", "{\"data\":\"\",\"offset\":-1}", "json.range", "offset"},
    {"upload.chunk", "{\"data\":\"\",\"offset\":0}", "upload.none", ""},
    {"upload.end", NULL, "upload.none", ""},
};

static void each_wrong_parameter_is_refused_by_its_name(void **state)
{
    struct world *w = *state;
    struct peer *p = world_peer(w);

    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        world_refused(w, p, wrong[i].method, wrong[i].params, wrong[i].code, wrong[i].field);
}

/* Every method of the table above once; what the api knows beyond it has no row here yet. */
static void every_method_refuses_a_parameter_that_it_does_not_know(void **state)
{
    struct world *w = *state;
    struct peer *p = world_peer(w);

    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        world_refused(w, p, wrong[i].method, "{\"surprise\":1}", "json.unknown_key", "surprise");
}

/* What would be stored if the rest were good. */
static void a_job_is_refused_by_the_field_that_is_wrong_and_is_not_stored(void **state)
{
    static const struct {
        const char *more, *code, *field;
    } rows[] = {
        {",\"repetitions\":0", "json.range", "repetitions"},
        {",\"x\":1", "json.unknown_key", "x"},
        {",\"policy\":\"none\"", "policy.not_found", "policy"},
        {",\"exclude\":[\"nobody\"]", "job.bad", "exclude[0]"},
        {",\"sources\":{\"before\":{\"repo\":\"/r\",\"rev\":\"main\",\"commit\":" COMMIT "}}",
         "source.missing_commit", "sources.before.commit"},
        {",\"session\":\"none\"", "session.not_found", "id"},
        {",\"deadline\":\"2001-01-01T00:00:00Z\"", "job.bad", "deadline"},
    };
    struct world *w = *state;
    struct peer *p = world_peer(w);
    const char *suite = world_suite(w, p);

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        world_refused(w, p, "job.submit",
                      arena_printf(&w->arena, "{\"job\":%s}", world_job(w, suite, 1, rows[i].more)),
                      rows[i].code, rows[i].field);
    world_refused(w, p, "job.submit",
                  arena_printf(&w->arena, "{\"job\":%s}",
                               world_job(w,
                                         "0000000000000000000000000000000000000000000000000000"
                                         "000000000000",
                                         1, NULL)),
                  "suite.not_here", "suite.sha256");
    const cJSON *jobs =
        cJSON_GetObjectItemCaseSensitive(world_result(w, p, "job.list", NULL), "jobs");
    assert_int_equal(cJSON_GetArraySize(jobs), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(each_wrong_parameter_is_refused_by_its_name),
        WORLD_TEST(every_method_refuses_a_parameter_that_it_does_not_know),
        WORLD_TEST(a_job_is_refused_by_the_field_that_is_wrong_and_is_not_stored),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
