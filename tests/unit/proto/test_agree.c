/* What stands in two places says the same: the table of errors in errors.def and protocol.md, and
 * the members of documents in decoders and schemas. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/files.h"
#include "base/mem.h"
#include "core/policy.h"
#include "proto/doc/doc_keys.h"
#include "proto/errors.h"
#include "proto/json/json.h"

static void read_file(const char *name, struct buf *out)
{
    char path[512];
    struct err e = {0};
    snprintf(path, sizeof path, PROTO_DIR "/%s", name);
    if (file_read(path, 1 << 20, out, &e))
        fail_msg("%s", e.text);
}

static void error_codes_are_sorted_and_found(void **state)
{
    size_t n;
    const struct error_info *table = error_table(&n);
    assert_true(n > 50);
    for (size_t i = 0; i < n; i++) {
        if (i && strcmp(table[i - 1].code, table[i].code) >= 0)
            fail_msg("%s is out of order", table[i].code);
        assert_ptr_equal(error_find(table[i].code), &table[i]);
        assert_true(strlen(table[i].code) < sizeof((struct err *)0)->code);
    }
    assert_null(error_find("job.nonsense"));
    assert_null(error_find(""));
}

static void error_codes_end_with_the_exit_status_of_their_kind(void **state)
{
    static const struct {
        const char *code;
        int status;
    } rows[] = {
        {"lane.done_wrong", 1},    {"build.failed", 1},       {"json.type", 2},
        {"suite.bad", 2},          {"daemon.unreachable", 3}, {"job.not_found", 4},
        {"source.unresolved", 4},  {"job.cancelled", 5},      {"host.not_quiet", 6},
        {"host.not_qualified", 6}, {"daemon.lost", 7},        {"client.timeout", 124},
        {"system.open", 1},        {"never.heard_of", 1},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(error_exit_status(rows[i].code), rows[i].status);
}

static void protocol_md_lists_the_same_errors(void **state)
{
    struct buf doc = {0}, expected = {0};
    size_t n;
    const struct error_info *table = error_table(&n);
    read_file("protocol.md", &doc);
    buf_puts(&expected, "| code | exit | meaning |\n|---|---|---|\n");
    for (size_t i = 0; i < n; i++)
        buf_printf(&expected, "| `%s` | %d | %s |\n", table[i].code, (int)table[i].exit,
                   table[i].meaning);
    const char *at = strstr(buf_str(&doc), "| code | exit | meaning |");
    assert_non_null(at);
    assert_string_equal(at, buf_str(&expected));
    buf_deinit(&doc);
    buf_deinit(&expected);
}

static cJSON *read_schema(const char *name)
{
    struct buf text = {0};
    struct err e = {0};
    cJSON *schema = NULL;
    read_file(name, &text);
    if (json_parse(text.data, text.len, &schema, &e))
        fail_msg("%s: %s", name, e.text);
    buf_deinit(&text);
    return schema;
}

static bool listed(const char *const *keys, const char *key)
{
    for (; *keys; keys++)
        if (!strcmp(*keys, key))
            return true;
    return false;
}

static void expect_keys(const char *file, const char *def, const cJSON *object,
                        const char *const *keys)
{
    const cJSON *properties = cJSON_GetObjectItemCaseSensitive(object, "properties"), *p;
    assert_non_null(properties);
    cJSON_ArrayForEach (p, properties) {
        if (!listed(keys, p->string))
            fail_msg("%s %s has \"%s\", the decoder has not", file, def ? def : "", p->string);
    }
    for (; *keys; keys++)
        if (!cJSON_GetObjectItemCaseSensitive(properties, *keys))
            fail_msg("%s %s lacks \"%s\", the decoder has it", file, def ? def : "", *keys);
}

static void schemas_have_the_members_of_the_decoders(void **state)
{
    static const struct {
        const char *file, *def; /* def NULL: the document itself */
        const char *const *keys;
    } rows[] = {
        {"schema/suite.json", NULL, suite_keys},
        {"schema/suite.json", "workload", workload_keys},
        {"schema/suite.json", "lane", lane_keys},
        {"schema/suite.json", "series", sample_keys},
        {"schema/suite.json", "scaling", scaling_keys},
        {"schema/suite.json", "step", step_keys},
        {"schema/suite.json", "profile", profile_keys},
        {"schema/suite.json", "category", category_keys},
        {"schema/attribution.json", NULL, attribution_keys},
        {"schema/attribution.json", "category", category_keys},
        {"schema/suite.json", "kernel", kernel_keys},
        {"schema/job.json", NULL, job_keys},
        {"schema/job.json", "suite", job_suite_keys},
        {"schema/job.json", "source", job_source_keys},
        {"schema/job.json", "variant", job_variant_keys},
        {"schema/job.json", "pair", job_pair_keys},
        {"schema/job.json", "correction", job_correction_keys},
        {"schema/job.json", "retry", job_retry_keys},
        {"schema/job.json", "after_job", job_after_keys},
        {"schema/job.json", "notify", notify_keys},
        {"schema/job_file.json", "notify", notify_keys},
        {"schema/job_edit.json", NULL, job_edit_keys},
        {"schema/job_file.json", NULL, job_file_keys},
        {"schema/job_file.json", "after_job", job_after_keys},
        {"schema/job_file.json", "suite", job_file_suite_keys},
        {"schema/job_file.json", "source", job_file_source_keys},
        {"schema/job_file.json", "variant", job_variant_keys},
        {"schema/job_file.json", "pair", job_pair_keys},
        {"schema/job_file.json", "correction", job_file_correction_keys},
        {"schema/job_file.json", "retry", job_retry_keys},
        {"schema/job.json", "window", window_keys},
        {"schema/job_file.json", "window", window_keys},
        {"schema/session.json", NULL, session_keys},
        {"schema/session.json", "window", window_keys},
        {"schema/session.json", "retry", job_retry_keys},
        {"schema/session_file.json", NULL, session_file_keys},
        {"schema/session_file.json", "window", window_keys},
        {"schema/session_file.json", "retry", job_retry_keys},
        {"schema/session_file.json", "elsewhere", session_file_job_keys},
        {"schema/policy.json", NULL, policy_keys},
        {"schema/policy.json", "rule", policy_rule_keys},
        {"schema/policy.json", "host", policy_host_keys},
        {"schema/policy.json", "retry", policy_retry_keys},
        {"schema/policy.json", "inventory", policy_inventory_keys},
        {"schema/targets.json", NULL, targets_keys},
        {"schema/targets.json", "gap", target_gap_keys},
        {"schema/targets.json", "ratio", target_ratio_keys},
        {"schema/targets.json", "change", target_change_keys},
        {"schema/targets.json", "size", target_size_keys},
        {"schema/targets.json", "sample", target_sample_keys},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        cJSON *schema = read_schema(rows[i].file);
        const cJSON *object = schema;
        if (rows[i].def) {
            object = cJSON_GetObjectItemCaseSensitive(schema, "$defs");
            object = cJSON_GetObjectItemCaseSensitive(object, rows[i].def);
        }
        assert_non_null(object);
        expect_keys(rows[i].file, rows[i].def, object, rows[i].keys);
        cJSON_Delete(schema);
    }
}

static void the_policy_schema_has_every_condition(void **state)
{
    const char *names[COND_COUNT + 1] = {0};
    cJSON *schema = read_schema("schema/policy.json");
    const cJSON *defs = cJSON_GetObjectItemCaseSensitive(schema, "$defs");
    for (int c = 0; c < COND_COUNT; c++)
        names[c] = condition_name((enum condition)c);
    expect_keys("schema/policy.json", "conditions",
                cJSON_GetObjectItemCaseSensitive(defs, "conditions"), names);
    cJSON_Delete(schema);
}

/* Every object that lists its members is closed; what stands under if, then and else only adds to
 * one that is. Returns how many it saw. */
static int check_closed(const char *file, const cJSON *node)
{
    static const char *const conditional[] = {"if", "then", "else", NULL};
    int seen = 0;
    if (cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(node, "properties"))) {
        seen++;
        if (!cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(node, "additionalProperties")))
            fail_msg("%s: an object (%s) is open", file, node->string ? node->string : "top");
    }
    for (const cJSON *m = node->child; m; m = m->next)
        if (cJSON_IsObject(m) && !(m->string && listed(conditional, m->string)))
            seen += check_closed(file, m);
    return seen;
}

static void schemas_are_closed_and_of_draft_2020_12(void **state)
{
    static const char *const files[] = {
        "schema/suite.json",  "schema/job.json",         "schema/job_file.json",
        "schema/policy.json", "schema/targets.json",     "schema/notification.json",
        "schema/kernel.json", "schema/kernel_harn.json", "schema/gate.json"};
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        cJSON *schema = read_schema(files[i]);
        const cJSON *draft = cJSON_GetObjectItemCaseSensitive(schema, "$schema");
        assert_true(cJSON_IsString(draft));
        assert_string_equal(draft->valuestring, "https://json-schema.org/draft/2020-12/schema");
        assert_true(check_closed(files[i], schema) >= 3);
        cJSON_Delete(schema);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(error_codes_are_sorted_and_found),
        cmocka_unit_test(error_codes_end_with_the_exit_status_of_their_kind),
        cmocka_unit_test(protocol_md_lists_the_same_errors),
        cmocka_unit_test(schemas_have_the_members_of_the_decoders),
        cmocka_unit_test(the_policy_schema_has_every_condition),
        cmocka_unit_test(schemas_are_closed_and_of_draft_2020_12),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
