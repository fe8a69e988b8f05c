/* The job document, on the wire and as a user writes it. */
#include "doc_test.h"

#include "proto/doc/doc_job.h"
#include "proto/doc/documents.h"

#define ID "01J9Z3K4M5N6P7Q8R9S0T1V2W3"
#define SHA "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define COMMIT "0123456789abcdef0123456789abcdef01234567"
#define SOURCE "{'repo':'/r','rev':'main','commit':'" COMMIT "'}"
#define SUITE "'suite':{'name':'s','sha256':'" SHA "'}"
#define JOB(members) "{'schema':'aurabench.job.v1','id':'" ID "'," SUITE members "}"
#define OTHER "01J9Z3K4M5N6P7Q8R9S0T1V2W4"
#define AFTER(items) JOB(",'after':[" items "]")
#define ONE(n) "{'job':'01J9Z3K4M5N6P7Q8R9S0T1V0" n "'}"
#define TEN(n)                                                                                     \
    ONE(n "0")                                                                                     \
    "," ONE(n "1") "," ONE(n "2") "," ONE(n "3") "," ONE(n "4") "," ONE(n "5") "," ONE(            \
        n "6") "," ONE(n "7") "," ONE(n "8") "," ONE(n "9")
#define SOURCES(sources) JOB(",'sources':{" sources "}")
#define FILE_JOB(members) "{'schema':'aurabench.job.v1','suite':{'path':'benchmarks'}" members "}"

static int decode(struct arena *a, const char *single_quoted, struct job **out, struct err *e)
{
    char *text = doc_text(single_quoted);
    cJSON *doc = NULL;
    int rc = json_parse(text, strlen(text), &doc, e);
    if (!rc)
        rc = job_decode(a, doc, out, e);
    cJSON_Delete(doc);
    free(text);
    return rc;
}

static int decode_file(struct arena *a, const char *single_quoted, struct job_file **out,
                       struct err *e)
{
    char *text = doc_text(single_quoted);
    int rc = job_file_decode(a, text, strlen(text), out, e);
    free(text);
    return rc;
}

static void a_short_job_takes_the_defaults(void **state)
{
    struct arena a = {0};
    struct err e = {0};
    struct job *job = NULL;
    assert_int_equal(decode(&a, JOB(""), &job, &e), 0);
    assert_string_equal(job->id, ID);
    assert_string_equal(job->suite_name, "s");
    assert_string_equal(job->suite_sha256, SHA);
    assert_string_equal(job->label, "");
    assert_int_equal(job->n_sources, 0);
    assert_int_equal(job->repetitions, 11);
    assert_int_equal(job->warmups, 1);
    assert_int_equal(job->order, ORDER_INTERLEAVED);
    assert_string_equal(job->policy, "standard");
    assert_int_equal(job->retry_every_ms, -1);
    assert_int_equal(job->retry_limit, -1);
    assert_int_equal(job->priority, 0);
    assert_false(job->allow_competing || job->is_run);
    arena_deinit(&a);
}

static void sides_stand_before_after_then_as_written(void **state)
{
    struct arena a = {0};
    struct err e = {0};
    struct job *job = NULL;
    static const char *const order[] = {"before", "after", "zoo", "air"};
    assert_int_equal(
        decode(&a, SOURCES("'zoo':" SOURCE ",'after':" SOURCE ",'air':" SOURCE ",'before':" SOURCE),
               &job, &e),
        0);
    assert_int_equal(job->n_sources, 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(job->sources[i].side, order[i]);
    assert_string_equal(job->sources[3].commit, COMMIT);
    arena_deinit(&a);
}

static void excluded_lanes_name_a_workload_or_all(void **state)
{
    struct arena a = {0};
    struct err e = {0};
    struct job *job = NULL;
    assert_int_equal(decode(&a, JOB(",'exclude':['fib30/cpython','rust']"), &job, &e), 0);
    assert_int_equal(job->n_exclude, 2);
    assert_string_equal(job->exclude[0].workload, "fib30");
    assert_string_equal(job->exclude[0].lane, "cpython");
    assert_null(job->exclude[1].workload);
    assert_string_equal(job->exclude[1].lane, "rust");
    arena_deinit(&a);
}

#define SOURCE_WITH(members) "{'repo':'/r','rev':'main','commit':'" COMMIT "'," members "}"
#define TWO_SIDES "'before':" SOURCE ",'after':" SOURCE
#define PAIRS(pairs) JOB(",'sources':{" TWO_SIDES ",'tuned':" SOURCE "},'pairs':[" pairs "]")
#define VARIANT(env) SOURCES("'before':" SOURCE_WITH("'variant':{'env':{" env "}}"))

static void pairs_name_sides_of_the_job_in_their_order(void **state)
{
    struct arena a = {0};
    struct err e = {0};
    struct job *job = NULL;
    assert_int_equal(decode(&a,
                            PAIRS("{'subject':'tuned','reference':'before'},"
                                  "{'reference':'tuned','subject':'before'}"),
                            &job, &e),
                     0);
    assert_int_equal(job->n_pairs, 2);
    assert_string_equal(job->pairs[0].subject, "tuned");
    assert_string_equal(job->pairs[0].reference, "before");
    assert_string_equal(job->pairs[1].subject, "before");
    assert_int_equal(decode(&a, SOURCES(TWO_SIDES), &job, &e), 0);
    assert_int_equal(job->n_pairs, 0);
    arena_deinit(&a);
}

static void a_variant_is_the_environment_of_one_sides_builds(void **state)
{
    struct arena a = {0};
    struct err e = {0};
    struct job *job = NULL;
    assert_int_equal(decode(&a, VARIANT("'CFLAGS':'-O3 -g','EMPTY':''"), &job, &e), 0);
    assert_int_equal(job->sources[0].n_variant, 2);
    assert_string_equal(job->sources[0].variant[0].name, "CFLAGS");
    assert_string_equal(job->sources[0].variant[0].value, "-O3 -g");
    assert_string_equal(job->sources[0].variant[1].value, "");
    assert_int_equal(decode(&a, SOURCES("'before':" SOURCE), &job, &e), 0);
    assert_int_equal(job->sources[0].n_variant, 0);
    arena_deinit(&a);
}

static void a_job_may_say_when_it_runs(void **state)
{
    struct arena a = {0};
    struct err e = {0};
    struct job *job = NULL;
    assert_int_equal(decode(&a,
                            JOB(",'window':{'days':'sat,sun','from':'23:30','to':'05:00',"
                                "'zone':'Europe/London'},'not_before':'2026-12-01T01:00:00Z',"
                                "'deadline':'2026-12-05T00:00:00Z','session':'0.3.4'"),
                            &job, &e),
                     0);
    assert_non_null(job->window);
    assert_int_equal(job->window->days, 3u << 5);
    assert_int_equal(job->window->from_min, 23 * 60 + 30);
    assert_int_equal(job->window->to_min, 300);
    assert_string_equal(job->window->zone, "Europe/London");
    assert_int_equal(job->not_before_ms, 1796086800000);
    assert_int_equal(job->deadline_ms, 1796428800000);
    assert_string_equal(job->session, "0.3.4");
    assert_int_equal(decode(&a, JOB(""), &job, &e), 0);
    assert_null(job->window);
    assert_null(job->session);
    assert_int_equal(job->not_before_ms, 0);
    assert_int_equal(job->deadline_ms, 0);
    arena_deinit(&a);
}

static void a_job_may_come_after_others(void **state)
{
    struct arena a = {0};
    struct err e = {0};
    struct job *job = NULL;
    assert_int_equal(
        decode(&a,
               AFTER("{'job':'" OTHER "'}," ONE("00") ",{'job':'7ZZZ3K4M5N6P7Q8R9S0T1V2W4Z',"
                                                      "'on':'any'}"),
               &job, &e),
        0);
    assert_int_equal(job->n_after, 3);
    assert_string_equal(job->after[0].job, OTHER);
    assert_int_equal(job->after[0].need, NEED_OK);
    assert_int_equal(job->after[2].need, NEED_ANY);
    assert_int_equal(decode(&a, AFTER(""), &job, &e), 0);
    assert_int_equal(job->n_after, 0);
    arena_deinit(&a);
}

static const char everything[] = JOB(
    ",'after':[{'job':'" OTHER
    "','on':'any'}],'window':{'days':'fri-mon','from':'01:00','to':'01:00','zone':'UTC'},"
    "'not_before':'2026-12-01T01:00:00Z','deadline':'2026-12-05T00:00:01Z','session':'x',"
    "'label':'a label','sources':{'before':" SOURCE ",'x':" SOURCE "},'repetitions':5,"
    "'warmups':0,'order':'sequential','policy':'mine','retry':{'every':'90s','limit':0},"
    "'notify':[{'command':['x','y']}],'allow_competing':true,'run':false,'exclude':['w/l','m'],'priority':-100");

static void put(const struct job *job, struct buf *out)
{
    struct json_out o;
    json_out_init(&o, out);
    job_encode(&o, NULL, job);
}

static void a_job_survives_encoding_and_decoding(void **state)
{
    static const char *const texts[] = {VARIANT("'A':'1','B':''"),
                                        PAIRS("{'subject':'tuned','reference':'after'}"),
                                        everything,
                                        JOB(""),
                                        JOB(",'run':true"),
                                        JOB(",'retry':{'limit':3}")};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct arena a = {0};
        struct err e = {0};
        struct job *first = NULL, *second = NULL;
        struct buf once = {0}, twice = {0};
        cJSON *doc = NULL;
        assert_int_equal(decode(&a, texts[i], &first, &e), 0);
        put(first, &once);
        assert_int_equal(json_parse(once.data, once.len, &doc, &e), 0);
        assert_int_equal(job_decode(&a, doc, &second, &e), 0);
        put(second, &twice);
        assert_string_equal(buf_str(&once), buf_str(&twice));
        assert_int_equal(second->retry_every_ms, first->retry_every_ms);
        assert_int_equal(second->retry_limit, first->retry_limit);
        cJSON_Delete(doc);
        buf_deinit(&once);
        buf_deinit(&twice);
        arena_deinit(&a);
    }
}

static const struct refusal refusals[] = {
    {"{'schema':'aurabench.job.v1'," SUITE "}", "json.missing", "id"},
    {"{'schema':'aurabench.job.v1','id':'" ID "'}", "json.missing", "suite"},
    {"{'schema':'aurabench.job.v9','id':'" ID "'," SUITE "}", "json.schema", "schema"},
    {"{'schema':'aurabench.job.v1','id':'nonsense'," SUITE "}", "job.bad", "id"},
    {"{'schema':'aurabench.job.v1','id':'" ID "','suite':{'path':'x'}}", "json.unknown_key",
     "suite.path"},
    {"{'schema':'aurabench.job.v1','id':'" ID "','suite':{'name':'s','sha256':'AB'}}", "job.bad",
     "suite.sha256"},
    {"{'schema':'aurabench.job.v1','id':'" ID "','suite':{'name':'S','sha256':'" SHA "'}}",
     "job.bad", "suite.name"},
    {JOB(",'colour':1"), "json.unknown_key", "colour"},
    {JOB(",'label':'a\\u001b[31m'"), "json.value", "label"},
    {JOB(",'repetitions':0"), "json.range", "repetitions"},
    {JOB(",'repetitions':1001"), "json.range", "repetitions"},
    {JOB(",'warmups':101"), "json.range", "warmups"},
    {JOB(",'order':'random'"), "json.value", "order"},
    {JOB(",'policy':'../x'"), "job.bad", "policy"},
    {JOB(",'priority':101"), "json.range", "priority"},
    {JOB(",'retry':{'every':'10'}"), "json.value", "retry.every"},
    {JOB(",'retry':{'every':600}"), "json.type", "retry.every"},
    {JOB(",'retry':{'every':'0s'}"), "json.range", "retry.every"},
    {JOB(",'retry':{'every':'8d'}"), "json.range", "retry.every"},
    {JOB(",'retry':{'limit':-1}"), "json.range", "retry.limit"},
    {JOB(",'retry':{'on_lost':true}"), "job.not_yet", "retry.on_lost"},
    {JOB(",'exclude':['a/b/c']"), "job.bad", "exclude[0]"},
    {JOB(",'exclude':['x','/c']"), "job.bad", "exclude[1]"},
    {JOB(",'exclude':['']"), "job.bad", "exclude[0]"},

    /* later versions have them; saying so beats "unknown" */
    {JOB(",'window':{}"), "json.missing", "window.from"},
    {JOB(",'window':{'days':'mon-fr','from':'01:00','to':'05:00','zone':'UTC'}"), "window.bad",
     "window.days"},
    {JOB(",'window':{'from':'25:00','to':'05:00','zone':'UTC'}"), "window.bad", "window.from"},
    {JOB(",'session':''"), "json.value", "session"},
    {JOB(",'not_before':'x'"), "json.value", "not_before"},
    {JOB(",'not_before':'2026-12-01T01:00:00+01:00'"), "json.value", "not_before"},
    {JOB(",'deadline':'2026-02-29T01:00:00Z'"), "json.value", "deadline"},
    {JOB(",'deadline':'1970-01-01T00:00:00Z'"), "json.value", "deadline"},
    {JOB(",'not_before':'2026-12-01T01:00:00Z','deadline':'2026-12-01T01:00:00Z'"), "job.bad",
     "deadline"},
    {AFTER("{'on':'ok'}"), "json.missing", "after[0].job"},
    {AFTER("{'job':'" OTHER "','on':'well'}"), "json.value", "after[0].on"},
    {AFTER("{'job':'" OTHER "','when':'ok'}"), "json.unknown_key", "after[0].when"},
    {AFTER("'" OTHER "'"), "json.type", "after[0]"},
    {AFTER("{'job':'V2W3'}"), "job.bad", "after[0].job"},
    {AFTER("{'job':'" OTHER "'},{'job':'" ID "'}"), "job.bad", "after[1].job"},
    {AFTER("{'job':'" OTHER "'},{'job':'" OTHER "','on':'any'}"), "job.bad", "after[1].job"},
    {AFTER(TEN("0") "," TEN("1") "," TEN("2") "," TEN("3")), "json.too_long", "after"},

    {JOB(",'notify':[{'command':['a/b']}]"), "job.bad", "notify[0].command"},

    {PAIRS("{'subject':'tuned'}"), "json.missing", "pairs[0].reference"},
    {PAIRS("{'subject':'tuned','reference':'nowhere'}"), "job.bad", "pairs[0].reference"},
    {PAIRS("{'subject':'tuned','reference':'tuned'}"), "job.bad", "pairs[0].reference"},
    {PAIRS("{'subject':'tuned','reference':'after'},{'subject':'tuned','reference':'after'}"),
     "job.bad", "pairs[1]"},
    {PAIRS("{'subject':'tuned','reference':'after','weight':1}"), "json.unknown_key",
     "pairs[0].weight"},
    {PAIRS("['tuned','after']"), "json.type", "pairs[0]"},
    {JOB(",'pairs':[{'subject':'a','reference':'b'}]"), "job.bad", "pairs[0].subject"},

    {VARIANT("'GIT_DIR':'x'"), "job.bad", "sources.before.variant.env.GIT_DIR"},
    {VARIANT("'LISTEN_FDS':'1'"), "job.bad", "sources.before.variant.env.LISTEN_FDS"},
    {VARIANT("'NOTIFY_SOCKET':'x'"), "job.bad", "sources.before.variant.env.NOTIFY_SOCKET"},
    {VARIANT("'AURABENCH_X':'1'"), "job.bad", "sources.before.variant.env.AURABENCH_X"},
    {VARIANT("'WATCHDOG_PID':'1'"), "job.bad", "sources.before.variant.env.WATCHDOG_PID"},
    {VARIANT("'A=B':'x'"), "job.bad", "sources.before.variant.env.A=B"},
    {VARIANT("'A':'{build}'"), "job.bad", "sources.before.variant.env.A"},
    {VARIANT("'A':1"), "json.type", "sources.before.variant.env.A"},
    {SOURCES("'before':" SOURCE_WITH("'variant':{'args':[]}")), "json.unknown_key",
     "sources.before.variant.args"},

    {SOURCES("'Before':" SOURCE), "job.bad", "sources.Before"},
    {SOURCES("'suite':" SOURCE), "job.bad", "sources.suite"},
    {SOURCES("'before':{'rev':'main','commit':'" COMMIT "'}"), "json.missing",
     "sources.before.repo"},
    {SOURCES("'before':{'repo':'/r','rev':'','commit':'" COMMIT "'}"), "json.missing",
     "sources.before.rev"},
    {SOURCES("'before':{'repo':'/r','rev':'main'}"), "json.missing", "sources.before.commit"},
    {SOURCES("'before':{'repo':'/r','rev':'main','commit':'0123456'}"), "job.bad",
     "sources.before.commit"},
    {SOURCES("'before':{'repo':'/r','rev':'main','commit':'" COMMIT "0'}"), "job.bad",
     "sources.before.commit"},
    {SOURCES(
         "'before':{'repo':'/r','rev':'m','commit':'ABCDEF6789abcdef0123456789abcdef01234567'}"),
     "job.bad", "sources.before.commit"},
    {SOURCES("'a':" SOURCE ",'b':" SOURCE ",'c':" SOURCE ",'d':" SOURCE ",'e':" SOURCE
             ",'f':" SOURCE ",'g':" SOURCE ",'h':" SOURCE ",'i':" SOURCE),
     "job.bad", "sources"},
    {JOB(",'run':true,'sources':{'before':" SOURCE "}"), "job.bad", "run"},
};

static void each_rule_refuses_what_breaks_it(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
        struct arena a = {0};
        struct err e = {0};
        struct job *job = NULL;
        assert_refused(decode(&a, refusals[i].text, &job, &e), &e, &refusals[i]);
        assert_null(job);
        arena_deinit(&a);
    }
}

static void a_users_job_file_names_paths_and_revisions(void **state)
{
    struct arena a = {0};
    struct err e = {0};
    struct job_file *file = NULL;
    assert_int_equal(decode_file(&a,
                                 FILE_JOB(",'label':'x','retry':{'every':'10m','limit':11},"
                                          "'after':[{'job':'t1v2','on':'any'}],"
                                          "'sources':{'after':{'repo':'/r','rev':'main'},"
                                          "'before':{'repo':'/r','rev':'v1'}}"),
                                 &file, &e),
                     0);
    assert_string_equal(file->suite_path, "benchmarks");
    assert_int_equal(file->job.n_after, 1);
    assert_string_equal(file->job.after[0].job, "t1v2");
    assert_null(file->job.id);
    assert_null(file->job.suite_sha256);
    assert_int_equal(file->job.retry_every_ms, 600000);
    assert_int_equal(file->job.n_sources, 2);
    assert_string_equal(file->job.sources[0].side, "before");
    assert_string_equal(file->job.sources[0].rev, "v1");
    assert_null(file->job.sources[0].commit);
    arena_deinit(&a);
}

static const struct refusal file_refusals[] = {
    {FILE_JOB(",'after':[{'job':'1v2'}]"), "job.bad", "after[0].job"},
    {FILE_JOB(",'after':[{'job':'v2%w'}]"), "job.bad", "after[0].job"},
    {FILE_JOB(",'after':[{'job':'V2W3'},{'job':'v2w3'}]"), "job.bad", "after[1].job"},
    {FILE_JOB(",'id':'" ID "'"), "json.unknown_key", "id"},
    {FILE_JOB(",'sources':{'before':" SOURCE "}"), "json.unknown_key", "sources.before.commit"},
    {FILE_JOB(",'sources':{'before':{'repo':'/r'}}"), "json.missing", "sources.before.rev"},
    {FILE_JOB(",'window':{'days':'mon-fri'}"), "json.missing", "window.from"},
    {FILE_JOB(",'repetitions':0"), "json.range", "repetitions"},
    {"{'schema':'aurabench.job.v1','suite':{'path':''}}", "job.bad", "suite.path"},
    {"{'schema':'aurabench.job.v1'," SUITE "}", "json.unknown_key", "suite.name"},
    {"{'schema':'aurabench.job.v1'", "json.bad", "offset 28"},
};

static void a_users_job_file_is_held_to_the_same_rules(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(file_refusals); i++) {
        struct arena a = {0};
        struct err e = {0};
        struct job_file *file = NULL;
        assert_refused(decode_file(&a, file_refusals[i].text, &file, &e), &e, &file_refusals[i]);
        assert_null(file);
        arena_deinit(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_short_job_takes_the_defaults),
        cmocka_unit_test(sides_stand_before_after_then_as_written),
        cmocka_unit_test(excluded_lanes_name_a_workload_or_all),
        cmocka_unit_test(pairs_name_sides_of_the_job_in_their_order),
        cmocka_unit_test(a_job_may_say_when_it_runs),
        cmocka_unit_test(a_job_may_come_after_others),
        cmocka_unit_test(a_variant_is_the_environment_of_one_sides_builds),
        cmocka_unit_test(a_job_survives_encoding_and_decoding),
        cmocka_unit_test(each_rule_refuses_what_breaks_it),
        cmocka_unit_test(a_users_job_file_names_paths_and_revisions),
        cmocka_unit_test(a_users_job_file_is_held_to_the_same_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
