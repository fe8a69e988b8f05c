/* Targets: each kind as it is written, and each rule with a document that it refuses. */
#include "doc_test.h"

#include <math.h>

#include "base/files.h"
#include "proto/doc/doc_targets.h"

#define TARGETS(list) "{'schema':'aurabench.targets.v1','name':'release','targets':[" list "]}"
#define GAPS(list)                                                                                 \
    "{'schema':'aurabench.targets.v1','targets':[{'bytes':1,'file':'a'}],'gaps':[" list "]}"
#define RATIO "'workload':'fib30','lane':'c','reference':'rust'"

static int decode(struct arena *a, const char *single_quoted, struct targets **out, struct err *e)
{
    char *text = doc_text(single_quoted);
    int rc = targets_decode(a, text, strlen(text), out, e);
    free(text);
    return rc;
}

static struct targets *accepted(struct arena *a, const char *single_quoted)
{
    struct targets *t = NULL;
    struct err e = {0};
    if (decode(a, single_quoted, &t, &e))
        fail_msg("%s: %s: %s", single_quoted, e.field, e.text);
    return t;
}

static void a_target_is_told_by_its_limit(void **state)
{
    struct arena a = {0};
    const struct targets *t = accepted(
        &a,
        TARGETS(
            "{'max_ratio':8," RATIO "},"
            "{'max_slowdown_pct':-2.5,'workload':'fib30','lane':'c','time':'cpu',"
            "'before':'v1','side':'v2'},"
            "{'bytes':973016,'file':'out/hello world','arch':'x86_64','system':'Linux','diagnostic':true},"
            "{'max_p99':5000000,'workload':'timers','lane':'c','sample':'late','side':'v1'}"));
    assert_string_equal(t->name, "release");
    assert_int_equal(t->n, 4);
    assert_int_equal(t->v[3].kind, TARGET_SAMPLE);
    assert_int_equal(t->v[3].max_p99, 5000000);
    assert_string_equal(t->v[3].sample, "late");
    assert_string_equal(t->v[3].side, "v1");
    assert_int_equal(t->v[0].kind, TARGET_RATIO);
    assert_true(t->v[0].max == 8);
    assert_string_equal(t->v[0].reference, "rust");
    assert_null(t->v[0].side);
    assert_int_equal(t->v[0].time, TARGET_WALL);
    assert_false(t->v[0].diagnostic);
    assert_int_equal(t->v[1].kind, TARGET_CHANGE);
    assert_true(t->v[1].max == -2.5);
    assert_int_equal(t->v[1].time, TARGET_CPU);
    assert_string_equal(t->v[1].before, "v1");
    assert_string_equal(t->v[1].side, "v2");
    assert_int_equal(t->v[2].kind, TARGET_SIZE);
    assert_int_equal(t->v[2].bytes, 973016);
    assert_string_equal(t->v[2].file, "out/hello world");
    assert_string_equal(t->v[2].arch, "x86_64");
    assert_string_equal(t->v[2].system, "Linux");
    assert_true(t->v[2].diagnostic);
    arena_deinit(&a);
}

static void what_breaks_a_rule_is_refused_with_its_place(void **state)
{
    static const struct {
        const char *doc, *code, *field;
    } rows[] = {
        {"[]", "json.type", ""},
        {"{'schema':'aurabench.targets.v2','targets':[]}", "json.schema", "schema"},
        {"{'schema':'aurabench.targets.v1'}", "json.missing", "targets"},
        {"{'schema':'aurabench.targets.v1','targets':[],'x':1}", "json.unknown_key", "x"},
        {TARGETS(""), "target.bad", "targets"},
        {TARGETS("7"), "json.type", "targets[0]"},
        {TARGETS("{" RATIO "}"), "target.bad", "targets[0]"},
        {TARGETS("{'max_ratio':8,'bytes':7," RATIO "}"), "target.bad", "targets[0]"},
        {TARGETS("{'max_ratio':8,'file':'a'," RATIO "}"), "json.unknown_key", "targets[0].file"},
        {TARGETS("{'max_ratio':0," RATIO "}"), "json.range", "targets[0].max_ratio"},
        {TARGETS("{'max_ratio':-1," RATIO "}"), "json.range", "targets[0].max_ratio"},
        {TARGETS("{'max_ratio':'8'," RATIO "}"), "json.type", "targets[0].max_ratio"},
        {TARGETS("{'max_ratio':8,'workload':'fib30','lane':'c'}"), "json.missing",
         "targets[0].reference"},
        {TARGETS("{'max_ratio':8,'workload':'fib30','lane':'c','reference':'c'}"), "target.bad",
         "targets[0].reference"},
        {TARGETS("{'max_ratio':8,'workload':'Fib 30','lane':'c','reference':'r'}"), "target.bad",
         "targets[0].workload"},
        {TARGETS("{'max_ratio':8,'time':'user'," RATIO "}"), "json.value", "targets[0].time"},
        {TARGETS("{'max_ratio':8,'time':'cpu','value':'v'," RATIO "}"), "target.bad",
         "targets[0].time"},
        {TARGETS("{'max_ratio':8,'host':'a\\nb'," RATIO "}"), "json.value", "targets[0].host"},
        {TARGETS("{'max_slowdown_pct':-101,'workload':'f','lane':'c'}"), "json.range",
         "targets[0].max_slowdown_pct"},
        {TARGETS("{'max_p99':-1,'workload':'f','lane':'c','sample':'s'}"), "json.range",
         "targets[0].max_p99"},
        {TARGETS("{'max_p99':1,'workload':'f','lane':'c'}"), "json.missing", "targets[0].sample"},
        {TARGETS("{'max_p99':1,'workload':'f','lane':'c','sample':'s','time':'cpu'}"),
         "json.unknown_key", "targets[0].time"},
        {TARGETS("{'max_p99':1,'workload':'f','lane':'c','sample':'s'},"
                 "{'max_p99':2,'workload':'f','lane':'c','sample':'s'}"),
         "target.bad", "targets[1]"},
        {TARGETS("{'bytes':0,'file':'a'}"), "json.range", "targets[0].bytes"},
        {TARGETS("{'bytes':1,'file':''}"), "target.bad", "targets[0].file"},
        {TARGETS("{'bytes':1,'file':'a'},{'bytes':1.5,'file':'a'}"), "json.type",
         "targets[1].bytes"},
        {TARGETS("{'max_ratio':8," RATIO "},{'bytes':1,'file':'a'},{'max_ratio':5," RATIO "}"),
         "target.bad", "targets[2]"},
        {GAPS("7"), "json.type", "gaps[0]"},
        {GAPS("{'workload':'f','lane':'c','reference':'rust'}"), "json.missing", "gaps[0].ratio"},
        {GAPS("{'ratio':0," RATIO "}"), "json.range", "gaps[0].ratio"},
        {GAPS("{'ratio':1,'max_ratio':2," RATIO "}"), "json.unknown_key", "gaps[0].max_ratio"},
        {GAPS("{'ratio':1,'workload':'f','lane':'c','reference':'c'}"), "target.bad",
         "gaps[0].reference"},
        {GAPS("{'ratio':1," RATIO "},{'ratio':2," RATIO ",'on':'x'},{'ratio':3," RATIO "}"),
         "target.bad", "gaps[2]"},
        {TARGETS("{'bytes':1,'file':'a','arch':'x'},{'bytes':1,'file':'a','arch':'x'}"),
         "target.bad", "targets[1]"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena a = {0};
        struct targets *t = NULL;
        struct err e = {0};
        assert_true(decode(&a, rows[i].doc, &t, &e) < 0);
        assert_null(t);
        if (strcmp(e.code, rows[i].code) || strcmp(e.field, rows[i].field))
            fail_msg("%s: %s at \"%s\", not %s at \"%s\": %s", rows[i].doc, e.code, e.field,
                     rows[i].code, rows[i].field, e.text);
        arena_deinit(&a);
    }
}

static void one_thing_may_have_a_target_for_each_place(void **state)
{
    struct arena a = {0};
    const struct targets *t =
        accepted(&a, TARGETS("{'max_ratio':8," RATIO "},{'max_ratio':5," RATIO ",'arch':'arm64'},"
                             "{'max_ratio':5," RATIO ",'system':'Darwin'},"
                             "{'max_ratio':5," RATIO ",'host':'bench1'},"
                             "{'max_ratio':5," RATIO ",'time':'cpu'},"
                             "{'max_ratio':5," RATIO ",'side':'v1'},"
                             "{'max_ratio':5," RATIO ",'suite':'release'}"));
    assert_int_equal(t->n, 7);
    arena_deinit(&a);
}

static void gaps_stand_beside_the_targets(void **state)
{
    struct arena a = {0};
    const struct targets *t =
        accepted(&a, GAPS("{'ratio':5.8," RATIO ",'on':'Linux x86-64','suite':'release'},"
                          "{'ratio':14.5," RATIO ",'on':'macOS arm64'}"));
    assert_int_equal(t->n_gaps, 2);
    assert_true(t->gaps[0].ratio == 5.8);
    assert_string_equal(t->gaps[0].on, "Linux x86-64");
    assert_string_equal(t->gaps[0].suite, "release");
    assert_null(t->gaps[1].suite);
    assert_string_equal(t->gaps[1].reference, "rust");
    arena_deinit(&a);
}

static void the_targets_that_ship_are_those_of_the_published_table(void **state)
{
    static const struct {
        const char *workload;
        double max;
    } rows[] = {{"fib30", 8},          {"int_list_sum", 5},        {"string_list_scan", 10},
                {"dict_build_get", 8}, {"set_insert_contains", 5}, {"record_field_reads", 8}};
    struct arena a = {0};
    struct buf text = {0};
    struct targets *t = NULL;
    struct err e = {0};
    assert_int_equal(file_read(PROTO_DIR "/../workloads/targets/phase-1.json", 1 << 20, &text, &e),
                     0);
    if (targets_decode(&a, buf_str(&text), text.len, &t, &e))
        fail_msg("%s: %s", e.field, e.text);
    assert_string_equal(t->name, "phase 1");
    assert_int_equal(t->n, ARRAY_LEN(rows));
    for (size_t i = 0; i < t->n; i++) {
        assert_string_equal(t->v[i].workload, rows[i].workload);
        assert_string_equal(t->v[i].reference, "rust");
        assert_true(t->v[i].max == rows[i].max);
    }
    assert_int_equal(t->n_gaps, 21);
    assert_string_equal(t->gaps[0].workload, "fib30");
    assert_true(t->gaps[0].ratio == 29.664884);
    buf_deinit(&text);
    arena_deinit(&a);
}

static void the_result_says_each_row_and_the_counts(void **state)
{
    struct target ratio = {.kind = TARGET_RATIO}, gone = {.kind = TARGET_RATIO};
    struct gate_row rows[] = {{.target = &ratio,
                               .what = "fib30: c / rust",
                               .limit = "at most 8.000000",
                               .found = "7.500000",
                               .figure = 7.5,
                               .to_go = 0.9375,
                               .interval = {true, 7.25, 7.75, 0.9375, 2, 9},
                               .host = "bench1",
                               .report = "after",
                               .status = GATE_MET},
                              {.target = &gone,
                               .what = "x: c / rust",
                               .limit = "at most 1.000000",
                               .figure = NAN,
                               .to_go = NAN,
                               .status = GATE_UNDEFINED,
                               .why = "no report is of a host that the target is for"}};
    const struct recorded_gap gap = {NULL, "fib30", "c", "rust", 14.5, "macOS arm64"};
    struct gap_row gaps[] = {{&gap, 7.5, "bench1", "after"}, {.gap = &gap, .now = NAN}};
    const struct gate_result gate = {.rows = rows,
                                     .n_rows = 2,
                                     .gaps = gaps,
                                     .n_gaps = 2,
                                     .count = {[GATE_MET] = 1, [GATE_UNDEFINED] = 1}};
    struct buf b = {0};
    struct json_out o;
    json_out_init(&o, &b);
    json_begin(&o, NULL);
    gate_encode(&o, &gate);
    json_end(&o);
    assert_string_equal(
        buf_str(&b),
        "{\"schema\":\"aurabench.gate.v1\",\"targets\":[{\"target\":\"fib30: c / rust\",\"host\":\"bench1\",\"report\":\"after\","
        "\"limit\":\"at most 8.000000\",\"figure\":7.5,\"interval\":{\"low\":7.25,\"high\":7.75,"
        "\"coverage\":0.9375},\"to_go\":0.9375,\"status\":\"met\",\"why\":null},"
        "{\"target\":\"x: c / rust\",\"host\":null,\"report\":null,\"limit\":\"at most 1.000000\","
        "\"figure\":null,\"interval\":null,\"to_go\":null,\"status\":\"undefined\",\"why\":\"no report is of a host that the target "
        "is for\"}],\"gaps\":[{\"workload\":\"fib30\",\"lane\":\"c\",\"reference\":\"rust\","
        "\"recorded\":14.5,\"on\":\"macOS arm64\",\"now\":7.5,\"host\":\"bench1\",\"report\":\"after\"},"
        "{\"workload\":\"fib30\",\"lane\":\"c\",\"reference\":\"rust\",\"recorded\":14.5,"
        "\"on\":\"macOS arm64\",\"now\":null,\"host\":null,\"report\":null}],\"met\":1,\"missed\":0,\"undefined\":1,\"diagnostic\":0,\"unclear\":0,\"passed\":false}");
    buf_deinit(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_target_is_told_by_its_limit),
        cmocka_unit_test(what_breaks_a_rule_is_refused_with_its_place),
        cmocka_unit_test(one_thing_may_have_a_target_for_each_place),
        cmocka_unit_test(gaps_stand_beside_the_targets),
        cmocka_unit_test(the_targets_that_ship_are_those_of_the_published_table),
        cmocka_unit_test(the_result_says_each_row_and_the_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
