/* The policies: the shipped ones say what the measurement contract says, and every rule of the
 * document refuses what breaks it. */
#include "doc_test.h"

#include <errno.h>

#include "proto/doc/documents.h"

#define POLICY(members) "{'schema':'aurabench.policy.v1','name':'mine'" members "}"
#define RULE(condition, members) POLICY(",'conditions':{'" condition "':{" members "}}")

static int decode(struct arena *a, const char *single_quoted, struct policy **out, struct err *e)
{
    char *text = doc_text(single_quoted);
    int rc = policy_decode(a, text, strlen(text), out, e);
    free(text);
    return rc;
}

static struct policy *shipped(struct arena *a, const char *name)
{
    struct policy *p = NULL;
    struct err e = {0};
    if (policy_shipped(a, name, &p, &e))
        fail_msg("%s: %s: %s", name, e.field, e.text);
    assert_string_equal(p->name, name);
    return p;
}

static void standard_has_every_number_of_the_contract(void **state)
{
    struct arena a = {0};
    const struct policy *p = shipped(&a, "standard");
    for (int c = COND_MAINS; c <= COND_HOST_CONTRACT; c++)
        assert_int_equal(p->rules[c].mode, RULE_REQUIRE);
    for (int c = COND_BARE_METAL; c < COND_COUNT; c++)
        assert_int_equal(p->rules[c].mode, RULE_RECORD);
    assert_true(p->rules[COND_STEAL].limit == 0.5);
    assert_true(p->rules[COND_MEMORY].limit == 10);
    assert_true(p->rules[COND_UPTIME].limit == 120);
    assert_null(p->rules[COND_GOVERNOR].text);
    assert_null(p->contract.model);
    assert_int_equal(p->repetitions_min, 11);
    assert_true(p->margin == 0.01);
    assert_true(p->drift_limit_pct == 5);
    assert_int_equal(p->settle_ms, 10000);
    assert_int_equal(p->snapshot_gap_ms, 250);
    assert_int_equal(p->retry_every_ms, 600000);
    assert_int_equal(p->retry_limit, 144);
    assert_int_equal(p->ready_timeout_ms, 120000);
    assert_int_equal(p->done_timeout_ms, 120000);
    assert_int_equal(p->build_timeout_ms, 3600000);
    assert_true(p->sustained_pct == 50 && p->aggregate_pct == 25 && p->aggregate_all_pct == 1);
    assert_true(p->lane_cpu_pct == 2 && p->forks_per_second == 20);
    assert_string_equal(p->path, "/usr/local/bin:/usr/bin:/bin");
    assert_int_equal(p->cpu_set.n, 0);
    arena_deinit(&a);
}

static bool forbids(const struct policy *p, const char *program)
{
    for (size_t i = 0; i < p->forbidden.n; i++)
        if (!strcmp(p->forbidden.v[i], program))
            return true;
    return false;
}

static void compilers_are_forbidden_and_interpreters_are_not(void **state)
{
    static const char *const tools[] = {"cc1",   "cc1plus", "gcc",  "g++",   "clang",
                                        "rustc", "cargo",   "make", "ninja", "cmake",
                                        "ld",    "lld",     "as",   "go",    "javac"};
    static const char *const interpreters[] = {"python3", "perl", "ruby", "node",
                                               "sh",      "bash", "java"};
    struct arena a = {0};
    const struct policy *p = shipped(&a, "standard");
    for (size_t i = 0; i < ARRAY_LEN(tools); i++)
        assert_true(forbids(p, tools[i]));
    for (size_t i = 0; i < ARRAY_LEN(interpreters); i++)
        assert_false(forbids(p, interpreters[i]));
    arena_deinit(&a);
}

static void virtual_waives_what_a_guest_cannot_know_and_asks_for_more(void **state)
{
    static const enum condition waived[] = {COND_MAINS,        COND_LOW_POWER, COND_GOVERNOR,
                                            COND_BOOST,        COND_ENERGY,    COND_THERMAL,
                                            COND_HOST_CONTRACT};
    static const enum condition required[] = {COND_STEAL,       COND_SWAP,    COND_MEMORY,
                                              COND_UPTIME,      COND_SUSPEND, COND_PID_NAMESPACE,
                                              COND_CALIBRATION, COND_CONTROL};
    struct arena a = {0};
    const struct policy *p = shipped(&a, "virtual");
    for (size_t i = 0; i < ARRAY_LEN(waived); i++) {
        assert_int_equal(p->rules[waived[i]].mode, RULE_WAIVE);
        assert_true(strlen(p->rules[waived[i]].reason) > 0);
        assert_true(strlen(p->rules[waived[i]].by) > 0);
    }
    for (size_t i = 0; i < ARRAY_LEN(required); i++)
        assert_int_equal(p->rules[required[i]].mode, RULE_REQUIRE);
    assert_int_equal(p->rules[COND_BARE_METAL].mode, RULE_RECORD);
    assert_true(p->rules[COND_STEAL].limit == 0.5);
    assert_int_equal(p->repetitions_min, 11); /* the rest is standard's */
    assert_true(forbids(p, "gcc"));
    arena_deinit(&a);
}

static void strict_adds_to_standard(void **state)
{
    struct arena a = {0};
    const struct policy *p = shipped(&a, "strict");
    assert_string_equal(p->rules[COND_GOVERNOR].text, "performance");
    assert_string_equal(p->rules[COND_BOOST].text, "off");
    for (int c = COND_MAINS; c <= COND_BARE_METAL; c++)
        assert_int_equal(p->rules[c].mode, RULE_REQUIRE);
    assert_true(p->rules[COND_UPTIME].limit == 120);
    arena_deinit(&a);
}

static void the_names_of_shipped_policies_are_those_that_load(void **state)
{
    struct arena a = {0};
    struct err e = {0};
    struct policy *p = NULL;
    size_t n = 0;
    for (const char *const *name = policy_shipped_names(); *name; name++, n++)
        assert_non_null(shipped(&a, *name));
    assert_int_equal(n, 3);
    assert_int_equal(policy_shipped(&a, "lenient", &p, &e), -ENOENT);
    assert_string_equal(e.code, "policy.not_found");
    arena_deinit(&a);
}

static void missing_members_take_the_value_of_standard(void **state)
{
    struct arena a = {0};
    struct err e = {0};
    struct policy *p = NULL;
    assert_int_equal(
        decode(&a,
               POLICY(",'settle':'0s','retry':{'every':'250ms'},'cpu_set':['2','3'],"
                      "'conditions':{'mains':{'mode':'record'},'steal':{'mode':'require'}},"
                      "'host':{'model':'M','cores':8},'forbidden':[]"),
               &p, &e),
        0);
    assert_string_equal(p->name, "mine");
    assert_int_equal(p->settle_ms, 0);
    assert_int_equal(p->retry_every_ms, 250);
    assert_int_equal(p->retry_limit, 144);
    assert_int_equal(p->cpu_set.n, 2);
    assert_int_equal(p->rules[COND_MAINS].mode, RULE_RECORD);
    assert_true(p->rules[COND_STEAL].limit == 0.5);
    assert_int_equal(p->rules[COND_SWAP].mode, RULE_REQUIRE);
    assert_string_equal(p->contract.model, "M");
    assert_int_equal(p->contract.cores, 8);
    assert_int_equal(p->forbidden.n, 0);
    assert_int_equal(p->ready_timeout_ms, 120000);
    arena_deinit(&a);
}

static void put(const struct policy *p, struct buf *out)
{
    struct json_out o;
    json_out_init(&o, out);
    policy_encode(&o, NULL, p);
}

static void a_policy_survives_encoding_and_decoding(void **state)
{
    struct arena a = {0};
    for (const char *const *name = policy_shipped_names(); *name; name++) {
        struct err e = {0};
        struct policy *again = NULL;
        struct buf once = {0}, twice = {0};
        put(shipped(&a, *name), &once);
        if (policy_decode(&a, once.data, once.len, &again, &e))
            fail_msg("%s: %s", e.field, e.text);
        put(again, &twice);
        assert_string_equal(buf_str(&once), buf_str(&twice));
        buf_deinit(&once);
        buf_deinit(&twice);
    }
    arena_deinit(&a);
}

static const struct refusal refusals[] = {
    {"{'schema':'aurabench.policy.v1'}", "json.missing", "name"},
    {"{'schema':'aurabench.suite.v1','name':'mine'}", "json.schema", "schema"},
    {"{'schema':'aurabench.policy.v1','name':'My Policy'}", "policy.bad", "name"},
    {POLICY(",'colour':1"), "json.unknown_key", "colour"},
    {RULE("moon", "'mode':'require'"), "json.unknown_key", "conditions.moon"},
    {RULE("Mains", "'mode':'require'"), "json.unknown_key", "conditions.Mains"},
    {RULE("mains", ""), "json.missing", "conditions.mains.mode"},
    {RULE("mains", "'mode':'ignore'"), "json.value", "conditions.mains.mode"},
    {RULE("mains", "'mode':'require','limit':1"), "policy.bad", "conditions.mains.limit"},
    {RULE("mains", "'mode':'require','text':'on'"), "policy.bad", "conditions.mains.text"},
    {RULE("mains", "'mode':'require','level':1"), "json.unknown_key", "conditions.mains.level"},
    {RULE("boost", "'mode':'require','text':'low'"), "policy.bad", "conditions.boost.text"},
    {RULE("steal", "'mode':'require','limit':101"), "json.range", "conditions.steal.limit"},
    {RULE("steal", "'mode':'require','limit':-1"), "json.range", "conditions.steal.limit"},
    {RULE("mains", "'mode':'waive'"), "policy.waiver", "conditions.mains.reason"},
    {RULE("mains", "'mode':'waive','reason':'x'"), "policy.waiver", "conditions.mains.reason"},
    {RULE("mains", "'mode':'waive','reason':'x','by':''"), "policy.waiver",
     "conditions.mains.reason"},
    {RULE("mains", "'mode':'require','reason':'x'"), "policy.waiver", "conditions.mains.reason"},
    {RULE("mains", "'mode':'record','by':'me'"), "policy.waiver", "conditions.mains.reason"},
    {POLICY(",'host':{'cpu':'x'}"), "json.unknown_key", "host.cpu"},
    {POLICY(",'host':{'cores':-1}"), "json.range", "host.cores"},
    {POLICY(",'repetitions_min':0"), "json.range", "repetitions_min"},
    {POLICY(",'margin':2"), "json.range", "margin"},
    {POLICY(",'drift_limit_pct':10001"), "json.range", "drift_limit_pct"},
    {POLICY(",'settle':10"), "json.type", "settle"},
    {POLICY(",'settle':'10 s'"), "json.value", "settle"},
    {POLICY(",'settle':'2h'"), "json.range", "settle"},
    {POLICY(",'retry':{'every':'0s'}"), "json.range", "retry.every"},
    {POLICY(",'retry':{'times':1}"), "json.unknown_key", "retry.times"},
    {POLICY(",'ready_timeout':'0s'"), "json.range", "ready_timeout"},
    {POLICY(",'done_timeout':'2d'"), "json.range", "done_timeout"},
    {POLICY(",'build_timeout':'0s'"), "json.range", "build_timeout"},
    {POLICY(",'inventory':{'snapshot_gap':'1ms'}"), "json.range", "inventory.snapshot_gap"},
    {POLICY(",'inventory':{'sustained_pct':-1}"), "json.range", "inventory.sustained_pct"},
    {POLICY(",'inventory':{'pct':1}"), "json.unknown_key", "inventory.pct"},
    {POLICY(",'forbidden':['a/b']"), "policy.bad", "forbidden[0]"},
    {POLICY(",'path':''"), "policy.bad", "path"},
    {POLICY(",'path':'bin'"), "policy.bad", "path"},
    {POLICY(",'path':'/bin:'"), "policy.bad", "path"},
    {POLICY(",'path':'/bin::/usr/bin'"), "policy.bad", "path"},
    {POLICY(",'cpu_set':[1]"), "json.type", "cpu_set[0]"},
    {POLICY(",'cpu_set':['1-3']"), "policy.bad", "cpu_set"},
    {POLICY(",'cpu_set':['01']"), "policy.bad", "cpu_set"},
    {POLICY(",'cpu_set':['-1']"), "policy.bad", "cpu_set"},
    {POLICY(",'cpu_set':['4096']"), "policy.bad", "cpu_set"},
};

static void each_rule_refuses_what_breaks_it(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
        struct arena a = {0};
        struct err e = {0};
        struct policy *p = NULL;
        assert_refused(decode(&a, refusals[i].text, &p, &e), &e, &refusals[i]);
        assert_null(p);
        arena_deinit(&a);
    }
}

static void a_shipped_name_cannot_be_worn_by_another_policy(void **state)
{
    struct arena a = {0};
    struct err e = {0};
    struct policy *p = NULL;
    assert_int_equal(policy_check_name(shipped(&a, "virtual"), &e), 0);
    assert_int_equal(decode(&a, POLICY(",'margin':0.5"), &p, &e), 0);
    assert_int_equal(policy_check_name(p, &e), 0);
    p->name = "standard";
    assert_int_equal(policy_check_name(p, &e), -EINVAL);
    assert_string_equal(e.code, "policy.reserved_name");
    arena_deinit(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(standard_has_every_number_of_the_contract),
        cmocka_unit_test(compilers_are_forbidden_and_interpreters_are_not),
        cmocka_unit_test(virtual_waives_what_a_guest_cannot_know_and_asks_for_more),
        cmocka_unit_test(strict_adds_to_standard),
        cmocka_unit_test(the_names_of_shipped_policies_are_those_that_load),
        cmocka_unit_test(missing_members_take_the_value_of_standard),
        cmocka_unit_test(a_policy_survives_encoding_and_decoding),
        cmocka_unit_test(each_rule_refuses_what_breaks_it),
        cmocka_unit_test(a_shipped_name_cannot_be_worn_by_another_policy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
