/* The summary as a document, and the schemas of all report documents. */
#include "../unit.h"

#include "../report/sample.h"
#include "base/mem.h"
#include "proto/doc/doc_host.h"
#include "proto/doc/documents.h"
#include "random_raw.h"
#include "schema_walk.h"

#define ROUNDS 240 /* enough for the rarest member of a rare measure */
#define RAW_SHA256 "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static char *summary_text(const struct raw *raw, const struct summary *s)
{
    struct buf json = {0};
    struct json_out o;
    json_out_init(&o, &json);
    summary_encode(&o, NULL, s, raw, RAW_SHA256);
    return buf_take(&json);
}

static char *raw_text(const struct raw *raw)
{
    struct buf json = {0};
    struct json_out o;
    json_out_init(&o, &json);
    raw_encode(&o, NULL, raw);
    return buf_take(&json);
}

static char *host_text(const struct raw *raw, const struct phase_record *phase)
{
    struct buf json = {0};
    struct json_out o;
    json_out_init(&o, &json);
    host_encode(&o, NULL, &raw->host, &raw->boot, phase);
    return buf_take(&json);
}

static void walk_all(struct schema_walk *w, struct arena *a, const struct raw *raw)
{
    const struct phase_record *phase = &raw->phases[PHASE_BEFORE_BUILD];
    CLEANUP(mem_freep) char *text = raw_text(raw);
    schema_walk_check(w, "raw", text);
    CLEANUP(mem_freep) char *summary = summary_text(raw, summarise(a, raw));
    schema_walk_check(w, "summary", summary);
    CLEANUP(mem_freep) char *host = host_text(raw, phase->inventory ? phase : NULL);
    schema_walk_check(w, "host", host);
}

static void documents_and_schemas_have_the_same_members(void **state)
{
    struct prng p = prng_seeded("schemas");
    struct schema_walk w;
    struct arena a = {0};
    schema_walk_init(&w);
    for (int i = 0; i < ROUNDS; i++) {
        walk_all(&w, &a, random_raw(&a, &p));
        arena_deinit(&a);
    }
    walk_all(&w, &a, sample_raw(&a));
    walk_all(&w, &a, sample_run(&a));
    schema_walk_expect_all_seen(&w);
    arena_deinit(&a);
    schema_walk_deinit(&w);
}

/* ---- what the summary says */

static const cJSON *at(const cJSON *node, const char *key)
{
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(node, key);
    if (!found)
        fail_msg("no member %s", key);
    return found;
}

static cJSON *sample_summary(struct arena *a, struct raw *raw)
{
    CLEANUP(mem_freep) char *text = summary_text(raw, summarise(a, raw));
    struct err e = {0};
    cJSON *doc = NULL;
    if (json_parse(text, strlen(text), &doc, &e))
        fail_msg("%s", e.text);
    return doc;
}

static void a_summary_names_its_raw_report_by_hash(void **state)
{
    struct arena a = {0};
    cJSON *doc = sample_summary(&a, sample_raw(&a));
    assert_string_equal(at(at(doc, "raw_report"), "sha256")->valuestring, RAW_SHA256);
    assert_string_equal(at(at(doc, "raw_report"), "file")->valuestring, "raw.json");
    assert_string_equal(at(doc, "id")->valuestring, SAMPLE_ID);
    cJSON_Delete(doc);
    arena_deinit(&a);
}

static void figures_are_numbers_in_nanoseconds(void **state)
{
    struct arena a = {0};
    cJSON *doc = sample_summary(&a, sample_raw(&a));
    const cJSON *fib = cJSON_GetArrayItem(at(doc, "workloads"), 0);
    const cJSON *row = cJSON_GetArrayItem(at(fib, "rows"), 0);
    assert_string_equal(at(fib, "unit")->valuestring, "ns");
    assert_true(at(at(row, "wall"), "median_ns")->valuedouble == 12345678);
    assert_int_equal(at(at(row, "wall"), "n")->valueint, 11);
    assert_true(cJSON_IsNull(at(row, "startup_adjusted")));
    const cJSON *loops = cJSON_GetArrayItem(at(doc, "workloads"), 2);
    const cJSON *adjusted = at(cJSON_GetArrayItem(at(loops, "rows"), 0), "startup_adjusted");
    assert_int_equal(at(adjusted, "valid_pairs")->valueint, 9);
    assert_int_equal(at(adjusted, "pairs")->valueint, 11);
    cJSON_Delete(doc);
    arena_deinit(&a);
}

static void an_undefined_figure_is_null_with_a_reason(void **state)
{
    struct arena a = {0};
    struct raw *raw = sample_raw(&a);
    raw->n_observations = 0;
    cJSON *doc = sample_summary(&a, raw);
    const cJSON *row =
        cJSON_GetArrayItem(at(cJSON_GetArrayItem(at(doc, "workloads"), 0), "rows"), 0);
    assert_true(cJSON_IsNull(at(at(row, "wall"), "median_ns")));
    assert_true(cJSON_IsString(at(row, "undefined")));
    const cJSON *comparison = cJSON_GetArrayItem(at(doc, "comparisons"), 0);
    assert_true(cJSON_IsNull(at(at(comparison, "wall"), "paired_median_ratio")));
    assert_true(cJSON_IsString(at(comparison, "undefined")));
    const cJSON *control = cJSON_GetArrayItem(at(doc, "controls"), 0);
    assert_true(cJSON_IsNull(at(control, "drift_pct")));
    assert_true(cJSON_IsString(at(control, "undefined")));
    cJSON_Delete(doc);
    arena_deinit(&a);
}

static void the_grade_lists_every_predicate_and_every_waiver(void **state)
{
    struct arena a = {0};
    cJSON *doc = sample_summary(&a, sample_raw(&a));
    const cJSON *grade = at(doc, "grade"), *p;
    int i = 0;
    cJSON_ArrayForEach (p, at(grade, "predicates"))
        assert_string_equal(at(p, "name")->valuestring, predicate_name((enum predicate)i++));
    assert_int_equal(i, PRED_COUNT);
    assert_int_equal(cJSON_GetArraySize(at(grade, "waived")), 2);
    assert_string_equal(at(cJSON_GetArrayItem(at(grade, "waived"), 0), "condition")->valuestring,
                        "mains");
    assert_string_equal(at(grade, "policy")->valuestring, "virtual");
    assert_int_equal(cJSON_GetArraySize(at(grade, "rows")), 10);
    cJSON_Delete(doc);
    arena_deinit(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents_and_schemas_have_the_same_members),
        cmocka_unit_test(a_summary_names_its_raw_report_by_hash),
        cmocka_unit_test(figures_are_numbers_in_nanoseconds),
        cmocka_unit_test(an_undefined_figure_is_null_with_a_reason),
        cmocka_unit_test(the_grade_lists_every_predicate_and_every_waiver),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
