/* Targets: each kind as it is written, and each rule with a document that it refuses. */
#include "doc_test.h"

#include <math.h>

#include "proto/doc_targets.h"

#define TARGETS(list) "{'schema':'aurabench.targets.v1','name':'release','targets':[" list "]}"
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
        &a, TARGETS("{'max_ratio':8," RATIO "},"
                    "{'max_slowdown_pct':-2.5,'workload':'fib30','lane':'c','time':'cpu',"
                    "'before':'v1','side':'v2'},"
                    "{'bytes':973016,'file':'out/hello world','arch':'x86_64','diagnostic':true}"));
    assert_string_equal(t->name, "release");
    assert_int_equal(t->n, 3);
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
        {TARGETS("{'max_ratio':8,'host':'a\\nb'," RATIO "}"), "json.value", "targets[0].host"},
        {TARGETS("{'max_slowdown_pct':-101,'workload':'f','lane':'c'}"), "json.range",
         "targets[0].max_slowdown_pct"},
        {TARGETS("{'bytes':0,'file':'a'}"), "json.range", "targets[0].bytes"},
        {TARGETS("{'bytes':1,'file':''}"), "target.bad", "targets[0].file"},
        {TARGETS("{'bytes':1,'file':'a'},{'bytes':1.5,'file':'a'}"), "json.type",
         "targets[1].bytes"},
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

static void the_result_says_each_row_and_the_counts(void **state)
{
    struct target ratio = {.kind = TARGET_RATIO}, gone = {.kind = TARGET_RATIO};
    struct gate_row rows[] = {{.target = &ratio,
                               .what = "fib30: c / rust",
                               .limit = "at most 8.000000",
                               .found = "7.500000",
                               .figure = 7.5,
                               .host = "bench1",
                               .report = "after",
                               .status = GATE_MET},
                              {.target = &gone,
                               .what = "x: c / rust",
                               .limit = "at most 1.000000",
                               .figure = NAN,
                               .status = GATE_UNDEFINED,
                               .why = "no report is of a host that the target is for"}};
    const struct gate_result gate = {rows, 2, {[GATE_MET] = 1, [GATE_UNDEFINED] = 1}, false};
    struct buf b = {0};
    struct json_out o;
    json_out_init(&o, &b);
    json_begin(&o, NULL);
    gate_encode(&o, &gate);
    json_end(&o);
    assert_string_equal(
        buf_str(&b),
        "{\"targets\":[{\"target\":\"fib30: c / rust\",\"host\":\"bench1\",\"report\":\"after\","
        "\"limit\":\"at most 8.000000\",\"figure\":7.5,\"status\":\"met\",\"why\":null},"
        "{\"target\":\"x: c / rust\",\"host\":null,\"report\":null,\"limit\":\"at most 1.000000\","
        "\"figure\":null,\"status\":\"undefined\",\"why\":\"no report is of a host that the target "
        "is for\"}],\"met\":1,\"missed\":0,\"undefined\":1,\"diagnostic\":0,\"passed\":false}");
    buf_deinit(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_target_is_told_by_its_limit),
        cmocka_unit_test(what_breaks_a_rule_is_refused_with_its_place),
        cmocka_unit_test(the_result_says_each_row_and_the_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
