/* suite.json: a whole document becomes its struct, and every rule refuses what breaks it. */
#include "doc_test.h"

#include "base/files.h"
#include "proto/doc/documents.h"

#define HEAD "{'schema':'aurabench.suite.v1','name':'s',"
#define PROTOCOL "'name':'w','measure':'protocol','ready':'R','go':'G','done':'D',"
#define OPERATION "'name':'w','measure':'operation','ready':'R','go':'G','done':'D',"
#define MEMORY "'name':'w','measure':'memory','ready':'R','go':'G','done':'D',"
#define CPU "'name':'w','measure':'cpu','ready':'R','go':'G','done':'D',"
#define LANE "'c':{'command':['true']}"
#define BUILD "'name':'w','measure':'build','steps':['check','build'],"
#define SAMPLES_OF(series) PROTOCOL "'ack':'A','samples':[" series "],"
#define LATE "'name':'late','unit':'ns','max':9"
#define KERNEL(members) WORKLOAD("'name':'w','measure':'kernel','kernel':{" members "},")
#define KERNEL_FILES "'program':'{suite}/p','input':'{suite}/i'"
/* Documents around the part that a row is about. */
#define TOP(members) HEAD members "'workloads':[{" PROTOCOL "'lanes':{" LANE "}}]}"
#define WORKLOAD(members) HEAD "'workloads':[{" members "'lanes':{" LANE "}}]}"
#define LANES(lanes) HEAD "'workloads':[{" PROTOCOL "'lanes':{" lanes "}}]}"
#define COMMAND(args) LANES("'c':{'command':[" args "]}")
#define LANE_WITH(members) LANES("'c':{'command':['true']," members "}")
#define COUNTERS(names) "'name':'w','measure':'counters','counters':[" names "],"
#define COUNTERS_LANES(lanes) HEAD "'workloads':[{" COUNTERS("'a'") "'lanes':{" lanes "}}]}"
#define SIZE(lanes) HEAD "'workloads':[{'name':'w','measure':'size','lanes':{" lanes "}}]}"
#define SIZE_WITH(members) SIZE("'c':{'files':{'a':'{build}/x'}," members "}")
#define STEP(members) "{'command':['x']," members "}"
#define BUILD_LANES(lanes) HEAD "'workloads':[{" BUILD "'lanes':{" lanes "}}]}"
#define BUILD_STEPS(check)                                                                         \
    BUILD_LANES("'c':{'steps':{'check':" check ",'build':{'command':['x']}}}")
#define STEPS_NAMED(names)                                                                         \
    HEAD "'workloads':[{'name':'w','measure':'build','steps':[" names "],'lanes':{'c':{'steps':{"  \
         "'check':{'command':['x']}}}}}]}"
#define SCALING(members, more)                                                                     \
    LANES("'four':{'command':['x'],'scaling':{" members "}},'one':{'command':['x']" more "}")
#define PROCESS(lanes) HEAD "'workloads':[{'name':'w','measure':'process','lanes':{" lanes "}}]}"

static int decode(struct arena *a, const char *single_quoted, struct suite **out, struct err *e)
{
    char *text = doc_text(single_quoted);
    int rc = suite_decode(a, text, strlen(text), out, e);
    free(text);
    return rc;
}

static const char whole[] =
    "{'schema':'aurabench.suite.v1','name':'whole','description':'all members',"
    "'build':[['make','-C','{source}','OUT={build}'],['true']],"
    "'suite_build':[['sh','{suite}/build.sh','{build}']],"
    "'env':{'A_1':'x y'},'forbidden':['cc'],"
    "'workloads':["
    "{'name':'p','measure':'protocol','ready':'READY p','go':'GO p','done':'DONE p 7',"
    "'declared_wait_ns':100,'absent':['before','old_1'],'lanes':{"
    "'c':{'command':['{build}/p'],'cpus':1,'env':{'B':''}},"
    "'py':{'command':['python3','{suite}/p.py'],'control':true,'optional':true,'cwd':'/tmp',"
    "'needs':['cargo','{build}/x']}}},"
    "{'name':'o','measure':'operation','ready':'R','go':'G','done':'D','operations':512,"
    "'resolution_ns':1000000,'lanes':{'c':{'command':['{build}/o']}}},"
    "{'name':'q','measure':'process','stdout':'1\\n','lanes':{"
    "'c':{'command':['{build}/q'],'startup':'c_startup','stdout':'2\\n'},"
    "'c_startup':{'command':['{build}/s']}}}]}";

static void a_whole_suite_becomes_its_struct(void **state)
{
    struct arena a = {0};
    struct err e = {0};
    struct suite *s = NULL;
    assert_int_equal(decode(&a, whole, &s, &e), 0);
    assert_string_equal(s->name, "whole");
    assert_int_equal(s->n_build, 2);
    assert_int_equal(s->build[0].n, 4);
    assert_string_equal(s->build[0].v[2], "{source}");
    assert_null(s->build[0].v[4]);
    assert_int_equal(s->n_suite_build, 1);
    assert_int_equal(s->n_env, 1);
    assert_string_equal(s->env[0].value, "x y");
    assert_string_equal(s->forbidden.v[0], "cc");
    assert_int_equal(s->n_workloads, 3);

    const struct workload *p = &s->workloads[0], *o = &s->workloads[1], *q = &s->workloads[2];
    assert_int_equal(p->measure, MEASURE_PROTOCOL);
    assert_string_equal(p->done, "DONE p 7");
    assert_int_equal(p->declared_wait_ns, 100);
    assert_int_equal(p->absent.n, 2);
    assert_string_equal(p->absent.v[1], "old_1");
    assert_int_equal(q->absent.n, 0);
    assert_int_equal(p->lanes[0].cpus, 1);
    assert_string_equal(p->lanes[0].env[0].name, "B");
    assert_false(p->lanes[0].control);
    assert_string_equal(p->lanes[1].name, "py");
    assert_true(p->lanes[1].control && p->lanes[1].optional);
    assert_string_equal(p->lanes[1].cwd, "/tmp");
    assert_int_equal(p->lanes[0].needs.n, 0);
    assert_int_equal(p->lanes[1].needs.n, 2);
    assert_string_equal(p->lanes[1].needs.v[1], "{build}/x");
    assert_int_equal(p->lanes[1].cpus, 0);
    assert_int_equal(p->operations, 0);
    assert_int_equal(o->measure, MEASURE_OPERATION);
    assert_string_equal(o->ready, "R");
    assert_int_equal(o->operations, 512);
    assert_int_equal(o->resolution_ns, 1000000);
    assert_int_equal(q->measure, MEASURE_PROCESS);
    assert_string_equal(q->stdout_text, "1\n");
    assert_string_equal(q->lanes[0].startup, "c_startup");
    assert_string_equal(q->lanes[0].stdout_text, "2\n");
    assert_null(q->lanes[1].startup);
    arena_deinit(&a);
}

static void the_shipped_suites_are_accepted(void **state)
{
    static const char *const names[] = {"build-times",     "collections",         "document-db",
                                        "executable-size", "instructions",        "numeric-arrays",
                                        "portable-kernel", "release-performance", "representation",
                                        "scalable-runtime"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct arena a = {0};
        struct err e = {0};
        struct buf text = {0};
        struct suite *s = NULL;
        CLEANUP(mem_freep)
        char *path = mem_printf(PROTO_DIR "/../workloads/%s/suite.json", names[i]);
        assert_int_equal(file_read(path, 1 << 20, &text, &e), 0);
        if (suite_decode(&a, text.data, text.len, &s, &e))
            fail_msg("%s: %s: %s", names[i], e.field, e.text);
        assert_string_equal(s->name, names[i]);
        buf_deinit(&text);
        arena_deinit(&a);
    }
}

static const struct refusal refusals[] = {
    {"[]", "json.type", ""},
    {"{'schema':'aurabench.suite.v2','name':'s','workloads':[]}", "json.schema", "schema"},
    {"{'schema':'aurabench.suite.v1','name':'s'}", "json.missing", "workloads"},
    {HEAD "'workloads':[]}", "suite.bad", "workloads"},
    {TOP("'colour':1,"), "json.unknown_key", "colour"},
    {TOP("'Build':[],"), "json.unknown_key", "Build"},
    {TOP("'fixture':{},"), "suite.not_yet", "fixture"},
    {"{'schema':'aurabench.suite.v1','name':'Not A Name','workloads':[]}", "suite.bad", "name"},
    {"{'schema':'aurabench.suite.v1','name':'','workloads':[]}", "suite.bad", "name"},
    {TOP("'description':'two\\nlines',"), "json.value", "description"},
    {TOP("'forbidden':['/usr/bin/cc'],"), "suite.bad", "forbidden[0]"},
    {TOP("'forbidden':['cc',''],"), "suite.bad", "forbidden[1]"},

    /* builds */
    {TOP("'build':['make'],"), "json.type", "build[0]"},
    {TOP("'build':[[]],"), "suite.bad", "build[0]"},
    {TOP("'build':[['true'],['cd','x','&&','make']],"), "suite.shell_operator", "build[1][2]"},
    {TOP("'suite_build':[['make','-C','{source}']],"), "suite.control_source", "suite_build"},

    /* environment */
    {TOP("'env':{'1A':'x'},"), "suite.bad", "env.1A"},
    {TOP("'env':{'A=B':'x'},"), "suite.bad", "env.A=B"},
    {TOP("'env':{'':'x'},"), "suite.bad", "env."},
    {TOP("'env':{'A':1},"), "json.type", "env.A"},
    {TOP("'env':{'A':'{build}/lib'},"), "suite.bad", "env.A"},

    /* workloads */
    {WORKLOAD(PROTOCOL "'absent':['Before'],"), "suite.bad", "workloads[0].absent[0]"},
    {WORKLOAD(PROTOCOL "'absent':['a','b','a'],"), "suite.bad", "workloads[0].absent[2]"},
    {WORKLOAD(PROTOCOL "'absent':'before',"), "json.type", "workloads[0].absent"},
    {WORKLOAD(PROTOCOL "'absent':['a','b','c','d','e','f','g','h','i'],"), "json.too_long",
     "workloads[0].absent"},
    {TOP("'absent':['before'],"), "json.unknown_key", "absent"},
    {HEAD "'workloads':[{" PROTOCOL "'lanes':{" LANE "}},{" PROTOCOL "'lanes':{" LANE "}}]}",
     "suite.bad", "workloads[1].name"},
    {WORKLOAD("'name':'a/b','measure':'process',"), "suite.bad", "workloads[0].name"},
    /* So no workload can be called as a step of a build is: "w.check". */
    {WORKLOAD("'name':'w.check','measure':'process',"), "suite.bad", "workloads[0].name"},
    {WORKLOAD("'name':'w','measure':'later',"), "json.value", "workloads[0].measure"},
    {WORKLOAD("'name':'w',"), "json.missing", "workloads[0].measure"},
    {WORKLOAD("'name':'w','measure':'protocol','go':'G','done':'D',"), "json.missing",
     "workloads[0].ready"},
    {WORKLOAD("'name':'w','measure':'protocol','ready':'R','done':'D',"), "json.missing",
     "workloads[0].go"},
    {WORKLOAD("'name':'w','measure':'protocol','ready':'R','go':'G',"), "json.missing",
     "workloads[0].done"},
    {WORKLOAD("'name':'w','measure':'protocol','ready':'R\\n','go':'G','done':'D',"),
     "suite.record", "workloads[0].ready"},
    {WORKLOAD("'name':'w','measure':'protocol','ready':'','go':'G','done':'D',"), "suite.record",
     "workloads[0].ready"},
    {WORKLOAD(PROTOCOL "'stdout':'x',"), "suite.bad", "workloads[0].stdout"},
    {WORKLOAD("'name':'w','measure':'process','ready':'R',"), "suite.bad", "workloads[0].ready"},
    {WORKLOAD("'name':'w','measure':'process','go':'G',"), "suite.bad", "workloads[0].go"},
    {WORKLOAD("'name':'w','measure':'process','done':'D',"), "suite.bad", "workloads[0].done"},
    {WORKLOAD(COUNTERS("")), "suite.bad", "workloads[0].counters"},
    {WORKLOAD("'name':'w','measure':'counters',"), "suite.bad", "workloads[0].counters"},
    {WORKLOAD(COUNTERS("'a','b','a'")), "suite.bad", "workloads[0].counters[2]"},
    {WORKLOAD(COUNTERS("'A'")), "suite.bad", "workloads[0].counters[0]"},
    {WORKLOAD(COUNTERS("7")), "json.type", "workloads[0].counters[0]"},
    {WORKLOAD(COUNTERS("'a'") "'stdout':'x',"), "suite.bad", "workloads[0].stdout"},
    {WORKLOAD(COUNTERS("'a'") "'ready':'x',"), "suite.bad", "workloads[0].ready"},
    {WORKLOAD(COUNTERS("'a'") "'declared_wait_ns':5,"), "suite.bad",
     "workloads[0].declared_wait_ns"},
    {WORKLOAD(PROTOCOL "'counters':['a'],"), "suite.bad", "workloads[0].counters"},
    {WORKLOAD("'name':'w','measure':'process','counters':['a'],"), "suite.bad",
     "workloads[0].counters"},
    {COUNTERS_LANES("'c':{'command':['x'],'startup':'d'},'d':{'command':['x']}"), "suite.startup",
     "workloads[0].lanes.c.startup"},
    {COUNTERS_LANES("'c':{'command':['x'],'stdout':'1'}"), "suite.bad",
     "workloads[0].lanes.c.stdout"},
    {SIZE("'c':{}"), "json.missing", "workloads[0].lanes.c.files"},
    {SIZE("'c':{'files':{}}"), "suite.bad", "workloads[0].lanes.c.files"},
    {SIZE("'c':{'files':{'a':'/usr/bin/cc'}}"), "suite.bad", "workloads[0].lanes.c.files.a"},
    {SIZE("'c':{'files':{'a':'{source}/x'}}"), "suite.bad", "workloads[0].lanes.c.files.a"},
    {SIZE("'c':{'files':{'a':'{build}/../x'}}"), "suite.bad", "workloads[0].lanes.c.files.a"},
    {SIZE("'c':{'files':{'a':'{build}/{suite}'}}"), "suite.bad", "workloads[0].lanes.c.files.a"},
    {SIZE("'c':{'files':{'a':'{build}/'}}"), "suite.bad", "workloads[0].lanes.c.files.a"},
    {SIZE("'c':{'files':{'A':'{build}/x'}}"), "suite.bad", "workloads[0].lanes.c.files.A"},
    {SIZE("'c':{'files':{'a':7}}"), "json.type", "workloads[0].lanes.c.files.a"},
    {SIZE_WITH("'baselines':{'b':1}"), "suite.bad", "workloads[0].lanes.c.baselines.b"},
    {SIZE_WITH("'baselines':{'a':0}"), "json.range", "workloads[0].lanes.c.baselines.a"},
    {SIZE_WITH("'must_link':['']"), "suite.bad", "workloads[0].lanes.c.must_link[0]"},
    {SIZE_WITH("'must_not_link':'x'"), "json.type", "workloads[0].lanes.c.must_not_link"},
    {SIZE_WITH("'command':['x']"), "suite.bad", "workloads[0].lanes.c.command"},
    {SIZE_WITH("'cpus':1"), "suite.bad", "workloads[0].lanes.c.cpus"},
    {SIZE_WITH("'env':{}"), "suite.bad", "workloads[0].lanes.c.env"},
    {SIZE_WITH("'startup':'d'"), "suite.bad", "workloads[0].lanes.c.startup"},
    {WORKLOAD("'name':'w','measure':'size','ready':'R',"), "suite.bad", "workloads[0].ready"},
    {WORKLOAD("'name':'w','measure':'size','growth_pct':-1,"), "json.range",
     "workloads[0].growth_pct"},
    {WORKLOAD(PROTOCOL "'growth_pct':5,"), "suite.bad", "workloads[0].growth_pct"},
    {LANE_WITH("'files':{'a':'{build}/x'}"), "suite.bad", "workloads[0].lanes.c.files"},
    {WORKLOAD(PROTOCOL "'declared_wait_ns':-1,"), "json.range", "workloads[0].declared_wait_ns"},

    /* operations */
    {WORKLOAD(OPERATION), "json.missing", "workloads[0].operations"},
    {WORKLOAD(OPERATION "'operations':0,"), "json.range", "workloads[0].operations"},
    {WORKLOAD(OPERATION "'operations':1000000000001,"), "json.range", "workloads[0].operations"},
    {WORKLOAD(OPERATION "'operations':1.5,"), "json.type", "workloads[0].operations"},
    {WORKLOAD(OPERATION "'operations':2,'resolution_ns':0,"), "json.range",
     "workloads[0].resolution_ns"},
    {WORKLOAD(OPERATION "'operations':2,'stdout':'x',"), "suite.bad", "workloads[0].stdout"},
    {WORKLOAD("'name':'w','measure':'operation','operations':2,'go':'G','done':'D',"),
     "json.missing", "workloads[0].ready"},
    {WORKLOAD(PROTOCOL "'operations':2,"), "suite.bad", "workloads[0].operations"},
    {WORKLOAD(PROTOCOL "'resolution_ns':2,"), "suite.bad", "workloads[0].resolution_ns"},
    {WORKLOAD("'name':'w','measure':'process','operations':2,"), "suite.bad",
     "workloads[0].operations"},
    {LANE_WITH("'operations':5"), "suite.bad", "workloads[0].lanes.c.operations"},
    {LANE_WITH("'resolution_ns':5"), "suite.bad", "workloads[0].lanes.c.resolution_ns"},

    /* steps of builds; their names have no dot, so that none is called as another workload */
    {STEPS_NAMED(""), "suite.bad", "workloads[0].steps"},
    {STEPS_NAMED("'check','check'"), "suite.bad", "workloads[0].steps[1]"},
    {STEPS_NAMED("'a.b'"), "suite.bad", "workloads[0].steps[0]"},
    {STEPS_NAMED("'check','a23456789-123456789-123456789-123456789-123456789-123456789-123'"),
     "suite.bad", "workloads[0].steps"},
    {STEPS_NAMED("'build'"), "suite.bad", "workloads[0].lanes.c.steps.check"},
    {STEPS_NAMED("'check','build'"), "json.missing", "workloads[0].lanes.c.steps.build"},
    {HEAD "'workloads':[{" BUILD "'lanes':{'c':{'steps':{'check':{'command':['x']},"
          "'build':{'command':['x']}}}}},{" PROTOCOL "'lanes':{" LANE "}}]}",
     "suite.bad", "workloads[1].name"},
    {BUILD_STEPS("{'command':['x'],'startup':'c'}"), "json.unknown_key",
     "workloads[0].lanes.c.steps.check.startup"},
    {BUILD_STEPS(STEP("'outputs':['/x']")), "suite.bad",
     "workloads[0].lanes.c.steps.check.outputs[0]"},
    {BUILD_STEPS(STEP("'outputs':['../x']")), "suite.bad",
     "workloads[0].lanes.c.steps.check.outputs[0]"},
    {BUILD_STEPS(STEP("'outputs':['{build}/x']")), "suite.bad",
     "workloads[0].lanes.c.steps.check.outputs[0]"},
    {BUILD_STEPS(STEP("'outputs':['x','y','x']")), "suite.bad",
     "workloads[0].lanes.c.steps.check.outputs[2]"},
    {BUILD_LANES("'c':{'control':true,'steps':{'check':{'command':['{source}/x']},"
                 "'build':{'command':['x']}}}"),
     "suite.control_source", "workloads[0].lanes.c.steps.check.command"},
    {BUILD_LANES(
         "'c':{'control':true,'prepare':[['{source}/x']],'steps':{'check':{'command':['x']},"
         "'build':{'command':['x']}}}"),
     "suite.control_source", "workloads[0].lanes.c.prepare"},
    {LANE_WITH("'prepare':[['x']]"), "suite.bad", "workloads[0].lanes.c.prepare"},
    {WORKLOAD(PROTOCOL "'steps':['a'],"), "suite.bad", "workloads[0].steps"},
    {WORKLOAD(PROTOCOL "'reproducible':true,"), "suite.bad", "workloads[0].reproducible"},

    /* samples */
    {WORKLOAD(SAMPLES_OF("")), "suite.bad", "workloads[0].samples"},
    {WORKLOAD(SAMPLES_OF("7")), "json.type", "workloads[0].samples[0]"},
    {WORKLOAD(SAMPLES_OF("{" LATE ",'min':10}")), "suite.bad", "workloads[0].samples[0].min"},
    {WORKLOAD(SAMPLES_OF("{" LATE "},{" LATE "}")), "suite.bad", "workloads[0].samples[1].name"},
    {WORKLOAD(SAMPLES_OF("{" LATE "},{'name':'b','unit':'ns','max':8184}")), "suite.bad",
     "workloads[0].samples[1].max"},
    {WORKLOAD(SAMPLES_OF("{'name':'late','unit':'ms','max':9}")), "json.value",
     "workloads[0].samples[0].unit"},
    {WORKLOAD(SAMPLES_OF("{" LATE ",'mean_max':10}")), "json.unknown_key",
     "workloads[0].samples[0].mean_max"},
    {WORKLOAD(PROTOCOL "'samples':[{" LATE "}],"), "suite.record", "workloads[0].samples"},
    {WORKLOAD("'name':'w','measure':'process','samples':[{" LATE "}],"), "suite.bad",
     "workloads[0].samples"},

    /* lanes of several tasks */
    {SCALING("'of':'one','tasks':4,'max_ratio':0", ""), "json.range",
     "workloads[0].lanes.four.scaling.max_ratio"},
    {SCALING("'of':'one','tasks':1,'max_ratio':0.5", ""), "json.range",
     "workloads[0].lanes.four.scaling.tasks"},
    {SCALING("'of':'two','tasks':4,'max_ratio':0.5", ""), "suite.scaling",
     "workloads[0].lanes.four.scaling.of"},
    {SCALING("'of':'four','tasks':4,'max_ratio':0.5", ""), "suite.scaling",
     "workloads[0].lanes.four.scaling.of"},
    {SCALING("'of':'one','tasks':4,'max_ratio':0.5",
             ",'scaling':{'of':'four','tasks':2,'max_ratio':1}"),
     "suite.scaling", "workloads[0].lanes.four.scaling.of"},
    {SCALING("'of':'one','tasks':4,'max_ratio':0.5", ",'control':true"), "suite.scaling",
     "workloads[0].lanes.four.scaling.of"},
    {SCALING("'of':'one','tasks':4,'max_ratio':0.5", ",'cpus':1"), "suite.scaling",
     "workloads[0].lanes.four.scaling.of"},
    {COUNTERS_LANES("'c':{'command':['x'],'scaling':{'of':'d','tasks':2,'max_ratio':1}},"
                    "'d':{'command':['x']}"),
     "suite.bad", "workloads[0].lanes.c.scaling"},

    /* kernels */
    {KERNEL("'program':'p','input':'{suite}/i','entry':'e'"), "suite.bad",
     "workloads[0].kernel.program"},
    {KERNEL("'program':'{suite}/p','input':'{suite}/../i','entry':'e'"), "suite.bad",
     "workloads[0].kernel.input"},
    {KERNEL("'program':'{suite}/{build}','input':'{suite}/i','entry':'e'"), "suite.bad",
     "workloads[0].kernel.program"},
    {KERNEL(KERNEL_FILES ",'entry':''"), "suite.bad", "workloads[0].kernel.entry"},
    {KERNEL(KERNEL_FILES ",'entry':'-x'"), "suite.bad", "workloads[0].kernel.entry"},
    {KERNEL(KERNEL_FILES ",'entry':'e','dispatches':2,'workers':3"), "suite.bad",
     "workloads[0].kernel.workers"},
    {KERNEL(KERNEL_FILES ",'entry':'e','entry_kind':'main'"), "json.value",
     "workloads[0].kernel.entry_kind"},
    {WORKLOAD(PROTOCOL "'kernel':{},"), "suite.bad", "workloads[0].kernel"},

    /* profiles */
    {WORKLOAD("'name':'w','measure':'attribution',"), "json.missing", "workloads[0].profile"},
    {WORKLOAD(PROTOCOL "'profile':{},"), "suite.bad", "workloads[0].profile"},
    {HEAD "'workloads':[{'name':'w','measure':'attribution','profile':{'format':'callgrind',"
          "'categories':[{'name':'a','symbols':['*']}]},"
          "'lanes':{'c':{'command':['x'],'cwd':'/tmp'}}}]}",
     "suite.bad", "workloads[0].lanes.c.cwd"},

    /* memory, cpu */
    {WORKLOAD(MEMORY "'baseline':'B',"), "suite.record", "workloads[0].load"},
    {WORKLOAD(MEMORY "'load':'L',"), "suite.record", "workloads[0].baseline"},
    {WORKLOAD(MEMORY "'baseline':'R','load':'L',"), "suite.record", "workloads[0].baseline"},
    {WORKLOAD(MEMORY "'baseline':'','load':'L',"), "suite.record", "workloads[0].baseline"},
    {WORKLOAD(MEMORY "'baseline':'B','load':7,"), "json.type", "workloads[0].load"},
    {WORKLOAD(MEMORY "'window_ms':200,"), "suite.bad", "workloads[0].window_ms"},
    {WORKLOAD(MEMORY "'stdout':'x',"), "suite.bad", "workloads[0].stdout"},
    {WORKLOAD(MEMORY "'declared_wait_ns':5,"), "suite.bad", "workloads[0].declared_wait_ns"},
    {WORKLOAD("'name':'w','measure':'memory','go':'G','done':'D',"), "json.missing",
     "workloads[0].ready"},
    {WORKLOAD(CPU "'window_ms':99,"), "json.range", "workloads[0].window_ms"},
    {WORKLOAD(CPU "'window_ms':600001,"), "json.range", "workloads[0].window_ms"},
    {WORKLOAD(CPU "'baseline':'B','load':'L',"), "suite.bad", "workloads[0].baseline"},
    {WORKLOAD(CPU "'declared_wait_ns':5,"), "suite.bad", "workloads[0].declared_wait_ns"},
    {WORKLOAD(PROTOCOL "'load':'L',"), "suite.bad", "workloads[0].load"},
    {WORKLOAD(PROTOCOL "'window_ms':200,"), "suite.bad", "workloads[0].window_ms"},
    {LANE_WITH("'baseline':'B'"), "json.unknown_key", "workloads[0].lanes.c.baseline"},

    /* lanes */
    {LANES(""), "suite.bad", "workloads[0].lanes"},
    {LANES("'C':{'command':['x']}"), "suite.bad", "workloads[0].lanes.C"},
    {LANES("'c':{'command':['x']},'c':{'command':['x']}"), "json.duplicate_key",
     "workloads[0].lanes.c"},
    {LANES("'c':[]"), "json.type", "workloads[0].lanes.c"},
    {LANES("'c':{}"), "json.missing", "workloads[0].lanes.c.command"},
    {LANE_WITH("'cpus':2"), "suite.bad", "workloads[0].lanes.c.cpus"},
    {LANE_WITH("'cpus':0"), "suite.bad", "workloads[0].lanes.c.cpus"},
    {LANE_WITH("'cwd':'tmp'"), "suite.bad", "workloads[0].lanes.c.cwd"},
    {LANE_WITH("'stdout':'x'"), "suite.bad", "workloads[0].lanes.c.stdout"},
    {LANE_WITH("'needs':['x']"), "suite.bad", "workloads[0].lanes.c.needs"},
    {LANE_WITH("'optional':true,'needs':[]"), "suite.bad", "workloads[0].lanes.c.needs"},
    {LANE_WITH("'optional':true,'needs':['{home}/x']"), "suite.unknown_placeholder",
     "workloads[0].lanes.c.needs[0]"},
    {LANE_WITH("'optional':true,'control':true,'needs':['{source}/x']"), "suite.control_source",
     "workloads[0].lanes.c.needs"},
    {LANE_WITH("'fixture':['x']"), "suite.not_yet", "workloads[0].lanes.c.fixture"},
    {LANE_WITH("'declared_wait_ns':5"), "suite.bad", "workloads[0].lanes.c.declared_wait_ns"},
    {LANE_WITH("'control':'yes'"), "json.type", "workloads[0].lanes.c.control"},

    /* commands */
    {COMMAND(""), "suite.bad", "workloads[0].lanes.c.command"},
    {COMMAND("''"), "suite.bad", "workloads[0].lanes.c.command"},
    {LANES("'c':{'command':'ls -l'}"), "json.type", "workloads[0].lanes.c.command"},
    {COMMAND("'x',7"), "json.type", "workloads[0].lanes.c.command[1]"},
    {COMMAND("'{home}/x'"), "suite.unknown_placeholder", "workloads[0].lanes.c.command[0]"},
    {COMMAND("'x','{Source}'"), "suite.unknown_placeholder", "workloads[0].lanes.c.command[1]"},
    {COMMAND("'{{source}}'"), "suite.unknown_placeholder", "workloads[0].lanes.c.command[0]"},
    {COMMAND("'{source}','{'"), "suite.unknown_placeholder", "workloads[0].lanes.c.command[1]"},
    {COMMAND("'{build'"), "suite.unknown_placeholder", "workloads[0].lanes.c.command[0]"},
    {COMMAND("'x','|','y'"), "suite.shell_operator", "workloads[0].lanes.c.command[1]"},
    {COMMAND("'x','&&','y'"), "suite.shell_operator", "workloads[0].lanes.c.command[1]"},
    {COMMAND("'x','>','y'"), "suite.shell_operator", "workloads[0].lanes.c.command[1]"},
    {COMMAND("'x','2>&1'"), "suite.shell_operator", "workloads[0].lanes.c.command[1]"},
    {COMMAND("'x',';','y'"), "suite.shell_operator", "workloads[0].lanes.c.command[1]"},
    {COMMAND("'x','&'"), "suite.shell_operator", "workloads[0].lanes.c.command[1]"},

    /* controls and startup lanes */
    {LANES("'c':{'command':['{source}/x'],'control':true}"), "suite.control_source",
     "workloads[0].lanes.c.command"},
    {LANES("'c':{'command':['x'],'startup':'d'},'d':{'command':['x']}"), "suite.startup",
     "workloads[0].lanes.c.startup"}, /* not for measure protocol */
    {PROCESS("'c':{'command':['x'],'startup':'d'}"), "suite.startup",
     "workloads[0].lanes.c.startup"},
    {PROCESS("'c':{'command':['x'],'startup':'c'}"), "suite.startup",
     "workloads[0].lanes.c.startup"},
    {PROCESS("'c':{'command':['x'],'startup':'d'},'d':{'command':['x'],'startup':'e'},"
             "'e':{'command':['x']}"),
     "suite.startup", "workloads[0].lanes.c.startup"},
    {PROCESS("'c':{'command':['x'],'startup':'d'},'d':{'command':['x'],'control':true}"),
     "suite.startup", "workloads[0].lanes.c.startup"},
    {PROCESS("'c':{'command':['x'],'control':true,'startup':'d'},'d':{'command':['x']}"),
     "suite.startup", "workloads[0].lanes.c.startup"},
};

static void each_rule_refuses_what_breaks_it(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
        struct arena a = {0};
        struct err e = {0};
        struct suite *s = NULL;
        assert_refused(decode(&a, refusals[i].text, &s, &e), &e, &refusals[i]);
        assert_null(s);
        arena_deinit(&a);
    }
}

/* A lane may be called as a step is, a workload as a lane: each is named beside its workload. */
static void lanes_and_steps_do_not_share_names(void **state)
{
    struct arena a = {0};
    struct err e = {0};
    struct suite *s = NULL;
    int rc =
        decode(&a,
               HEAD "'workloads':[{" BUILD "'lanes':{'check':{'steps':{'check':{'command':['x']},"
                    "'build':{'command':['x']}}}}},"
                    "{'name':'check','measure':'process','lanes':{'w':{'command':['x']}}},"
                    "{'name':'build','measure':'operation','operations':2,'ready':'R','go':'G',"
                    "'done':'D','lanes':{'check':{'command':['x']}}}]}",
               &s, &e);

    if (rc)
        fail_msg("%s: %s", e.field, e.text);
    assert_int_equal(s->n_workloads, 4);
    assert_string_equal(s->workloads[0].name, "w.check");
    assert_string_equal(s->workloads[1].name, "w.build");
    assert_string_equal(s->workloads[2].name, "check");
    arena_deinit(&a);
}

static void operators_inside_an_argument_are_data(void **state)
{
    struct arena a = {0};
    struct err e = {0};
    struct suite *s = NULL;
    assert_int_equal(decode(&a, COMMAND("'sh','-c','a | b && c > d; e','}','--x={suite}'"), &s, &e),
                     0);
    assert_int_equal(s->workloads[0].lanes[0].command.n, 5);
    arena_deinit(&a);
}

/* n copies of an item between a head and a tail; %d in the item is its number. */
static int decode_many(int n, const char *head, const char *item, const char *tail, struct err *e)
{
    struct buf text = {0};
    struct arena a = {0};
    struct suite *s = NULL;
    buf_puts(&text, head);
    for (int i = 0; i < n; i++) {
        char number[16];
        const char *hole = strchr(item, '%');
        snprintf(number, sizeof number, "%d", i);
        buf_puts(&text, i ? "," : "");
        buf_add(&text, item, hole ? (size_t)(hole - item) : strlen(item));
        buf_puts(&text, hole ? number : "");
        buf_puts(&text, hole ? hole + 1 : "");
    }
    buf_puts(&text, tail);
    err_clear(e);
    int rc = decode(&a, buf_str(&text), &s, e);
    buf_deinit(&text);
    arena_deinit(&a);
    return rc;
}

static void everything_is_bounded(void **state)
{
    static const struct {
        int max;
        const char *head, *item, *tail;
    } rows[] = {
        {64, HEAD "'workloads':[", "{'name':'w%','measure':'process','lanes':{" LANE "}}", "]}"},
        {64, HEAD "'workloads':[{'name':'w','measure':'process','lanes':{",
         "'l%':{'command':['x']}", "}}]}"},
        {256, HEAD "'workloads':[{" PROTOCOL "'lanes':{'c':{'command':[", "'x%'", "]}}}]}"},
        {32, HEAD "'build':[", "['x%']", "],'workloads':[{" PROTOCOL "'lanes':{" LANE "}}]}"},
        {32, HEAD "'suite_build':[", "['x%']", "],'workloads':[{" PROTOCOL "'lanes':{" LANE "}}]}"},
        {64, HEAD "'env':{", "'E%':''", "},'workloads':[{" PROTOCOL "'lanes':{" LANE "}}]}"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err e = {0};
        if (decode_many(rows[i].max, rows[i].head, rows[i].item, rows[i].tail, &e))
            fail_msg("row %zu: %s: %s", i, e.field, e.text);
        assert_int_not_equal(
            decode_many(rows[i].max + 1, rows[i].head, rows[i].item, rows[i].tail, &e), 0);
    }
}

static int decode_long(const char *head, int n, const char *tail)
{
    struct buf text = {0};
    struct arena a = {0};
    struct err e = {0};
    struct suite *s = NULL;
    buf_puts(&text, head);
    for (int i = 0; i < n; i++)
        buf_putc(&text, 'x');
    buf_puts(&text, tail);
    int rc = decode(&a, buf_str(&text), &s, &e);
    buf_deinit(&text);
    arena_deinit(&a);
    return rc;
}

static void names_and_records_are_bounded(void **state)
{
    static const char record[] =
        HEAD "'workloads':[{'name':'w','measure':'protocol','go':'G','done':'D','ready':'";
    static const char name[] = HEAD "'workloads':[{'measure':'process','name':'";
    static const char tail[] = "','lanes':{" LANE "}}]}";
    assert_int_equal(decode_long(record, 511, tail), 0);
    assert_int_not_equal(decode_long(record, 512, tail), 0);
    assert_int_equal(decode_long(name, 64, tail), 0);
    assert_int_not_equal(decode_long(name, 65, tail), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_suite_becomes_its_struct),
        cmocka_unit_test(the_shipped_suites_are_accepted),
        cmocka_unit_test(each_rule_refuses_what_breaks_it),
        cmocka_unit_test(lanes_and_steps_do_not_share_names),
        cmocka_unit_test(operators_inside_an_argument_are_data),
        cmocka_unit_test(everything_is_bounded),
        cmocka_unit_test(names_and_records_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
