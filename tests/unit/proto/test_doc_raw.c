/* The raw report as a document: nothing is lost, nothing else is accepted. */
#include "../unit.h"

#include "base/mem.h"
#include "proto/doc/doc_raw.h"
#include "proto/doc/documents.h"
#include "proto/evidence/reproduce.h"
#include "random_raw.h"

#define ROUNDS 60
#define DAMAGED 300

static char *canonical(const struct raw *raw)
{
    struct buf json = {0}, text = {0};
    struct json_out o;
    struct err e = {0};
    json_out_init(&o, &json);
    raw_encode(&o, NULL, raw);
    if (json_canonical(json.data, json.len, &text, &e))
        fail_msg("not canonical: %s %s", e.field, e.text);
    buf_deinit(&json);
    return buf_take(&text);
}

static void round_trip(struct prng *p)
{
    struct arena a = {0}, b = {0};
    struct raw *raw = random_raw(&a, p), *again = NULL;
    struct err e = {0};
    CLEANUP(mem_freep) char *first = canonical(raw);
    if (raw_decode(&b, first, strlen(first), &again, &e))
        fail_msg("%s: %s (%s)", e.field, e.text, e.code);
    CLEANUP(mem_freep) char *second = canonical(again);
    assert_string_equal(first, second);
    arena_deinit(&a);
    arena_deinit(&b);
}

static void a_decoded_report_encodes_to_the_same_bytes(void **state)
{
    struct prng p = prng_seeded("raw round trip");
    for (int i = 0; i < ROUNDS; i++)
        round_trip(&p);
}

/* A new member of these structs must be added to its table and its schema, and then here. */
static void no_member_of_a_flat_record_is_left_out(void **state)
{
    assert_int_equal(sizeof(struct raw_observation), 408);
    assert_int_equal(sizeof(struct raw_source), 96);
    assert_int_equal(sizeof(struct raw_correction), 72);
    assert_int_equal(sizeof(struct raw_build), 64);
    assert_int_equal(sizeof(struct raw_artifact), 32);
    assert_int_equal(sizeof(struct raw_tool), 32);
    assert_int_equal(sizeof(struct raw_recheck), 32);
    assert_int_equal(sizeof(struct raw_refusal), 32);
    assert_int_equal(sizeof(struct raw_lane), 112);
    assert_int_equal(sizeof(struct plan_step), 32);
}

/* ---- refusals: the canonical text of a good report, with one thing replaced */

struct bad {
    const char *find, *replace, *code, *field;
};

static char *replaced(const char *text, const char *find, const char *with)
{
    const char *at = strstr(text, find);
    assert_non_null(at);
    return mem_printf("%.*s%s%s", (int)(at - text), text, with, at + strlen(find));
}

static struct raw *small_raw(struct arena *a)
{
    struct prng p = {42};
    struct raw *raw;
    do
        raw = random_raw(a, &p);
    while (raw->n_observations < 2 || raw->n_sides != 2 || !raw->n_refusals ||
           !raw->phases[PHASE_BEFORE_BUILD].inventory || raw->job.n_exclude ||
           raw->job.allow_competing || raw->calibration || raw->observer.lane);
    return raw;
}

static void check_refused(const char *good, const struct bad *bad)
{
    struct arena a = {0};
    struct raw *raw = NULL;
    struct err e = {0};
    CLEANUP(mem_freep) char *text = replaced(good, bad->find, bad->replace);
    int rc = raw_decode(&a, text, strlen(text), &raw, &e);
    if (rc == 0 || strcmp(e.code, bad->code) != 0 || !strstr(e.field, bad->field))
        fail_msg("%s for %s: rc %d, %s, %s, %s", bad->replace, bad->find, rc, e.code, e.field,
                 e.text);
    assert_null(raw);
    assert_true(strlen(e.text) > 0);
    arena_deinit(&a);
}

static void the_reader_refuses_what_the_writer_never_writes(void **state)
{
    static const struct bad bads[] = {
        {"\"calibration\":null", "\"calibration\":{}", "json.missing", "calibration.id"},
        {"\"calibration\":null", "\"calibration\":1", "json.type", "calibration"},
        {"\"calibration\":null,", "", "json.missing", "calibration"},
        {"\"ledger\":null,", "", "json.missing", ".ledger"},
        {"\"correction\":null,", "", "json.missing", ".correction"},
        {"\"observer\":null", "\"observer\":1", "json.type", "observer"},
        {"\"observer\":null", "\"observer\":{}", "json.missing", "observer.busy"},
        {"\"observer\":null",
         "\"observer\":{\"busy\":null,\"busy_resolution_ns\":null,\"delay\":null,\"lane\":null,"
         "\"memory\":null,\"pressure\":null,\"steal\":null,\"steal_resolution_ns\":null,\"swap\":null,"
         "\"throttle\":null}",
         "raw.observer", "observer.busy"},
        {"\"ledger\":null", "\"ledger\":{}", "json.missing", ".ledger.span_ns"},
        {"\"disturbed\":null", "\"disturbed\":[\"moon\"]", "raw.disturbed", ".disturbed"},
        {"\"disturbed\":null", "\"disturbed\":[\"steal\",\"near_foreign\"]", "raw.disturbed",
         ".disturbed"},
        {"\"calibration\":null", "\"calibration2\":null", "json.unknown_key", "calibration2"},
        {"\"cleanup\":", "\"cleanup2\":", "json.unknown_key", "cleanup2"},
        {"aurabench.raw.v1", "aurabench.raw.v2", "raw.schema", "schema"},
        {"\"allow_competing\":false,\"excluded\":[]", "\"allow_competing\":true,\"excluded\":[]",
         "raw.conflict", "overrides"},
        {"\"excluded\":[]}", "\"excluded\":[{\"lane\":\"x\",\"workload\":null}]}", "raw.conflict",
         "overrides"},
        {"\"sides\":[\"before\",\"after\"]", "\"sides\":[\"before\",\"elsewhere\"]", "raw.name",
         "side"},
        {"\"sides\":[\"before\",\"after\"]", "\"sides\":[]", "json.missing", "sides"},
        {"\"workload\":\"w0\"", "\"workload\":\"other\"", "raw.name", "workload"},
        {"\"phase\":\"before_build\"", "\"phase\":\"after_timing\"", "raw.phase",
         "inventories.before_build.phase"},
        {"\"seq\":", "\"seq\":99999,\"seq2\":", "json.unknown_key", "seq2"},
    };
    struct arena a = {0};
    CLEANUP(mem_freep) char *good = canonical(small_raw(&a));
    for (size_t i = 0; i < ARRAY_LEN(bads); i++)
        check_refused(good, &bads[i]);
    arena_deinit(&a);
}

/* The text with another value of the first member of this name. */
static char *with_value(const char *text, const char *key, const char *value)
{
    CLEANUP(mem_freep) char *name = mem_printf("\"%s\":", key);
    const char *at = strstr(text, name);
    assert_non_null(at);
    at += strlen(name);
    size_t len = *at == '[' ? strcspn(at, "]") + 1 : strcspn(at, ",}");
    return mem_printf("%.*s%s%s", (int)(at - text), text, value, at + len);
}

static void check_value_refused(const char *good, const char *key, const char *value,
                                const char *code, const char *field)
{
    struct arena a = {0};
    struct raw *raw = NULL;
    struct err e = {0};
    CLEANUP(mem_freep) char *text = with_value(good, key, value);
    int rc = raw_decode(&a, text, strlen(text), &raw, &e);
    if (rc == 0 || strcmp(e.code, code) != 0 || !strstr(e.field, field))
        fail_msg("%s %s: rc %d, %s, %s, %s", key, value, rc, e.code, e.field, e.text);
    arena_deinit(&a);
}

static void an_inventory_has_two_windows_and_known_reasons(void **state)
{
    static const struct {
        const char *key, *value, *code, *field;
    } bads[] = {
        {"aggregate_pct", "[1]", "json.range", "aggregate_pct"},
        {"aggregate_pct", "[]", "json.range", "aggregate_pct"},
        {"aggregate_pct", "[1,2,3]", "json.too_long", "aggregate_pct"},
        {"aggregate_pct", "[1,\"2\"]", "json.type", "aggregate_pct"},
        {"window_ns", "[1]", "json.range", "window_ns"},
        {"window_ns", "[1,1.5]", "json.type", "window_ns"},
        {"window_ns", "[1,true]", "json.type", "window_ns"},
        {"reasons", "[\"loud\"]", "json.value", "reasons"},
        {"reasons", "[7]", "json.value", "reasons"},
        {"reasons", "7", "json.type", "reasons"},
    };
    struct arena a = {0};
    struct raw *raw = small_raw(&a);
    struct competitor c = {.pid = 7, .command = "burner", .reasons = 1};
    struct inventory *inv = raw->phases[PHASE_BEFORE_BUILD].inventory;
    for (int p = 0; p < PHASE_COUNT; p++)
        if (p != PHASE_BEFORE_BUILD)
            raw->phases[p].inventory = NULL;
    inv->competitors = &c;
    inv->n_competitors = 1;
    CLEANUP(mem_freep) char *good = canonical(raw);
    for (size_t i = 0; i < ARRAY_LEN(bads); i++)
        check_value_refused(good, bads[i].key, bads[i].value, bads[i].code, bads[i].field);
    arena_deinit(&a);
}

static void a_calibration_has_whole_numbers_and_whole_pairs(void **state)
{
    static const struct {
        const char *key, *value, *code;
    } bads[] = {
        {"floor_ns", "[-1]", "json.type"},
        {"floor_ns", "[1.5]", "json.type"},
        {"floor_ns", "[\"7\"]", "json.type"},
        {"floor_ns", "[true]", "json.type"},
        {"floor_ns", "7", "json.type"},
        {"pairs_ns", "[1,2,3]", "raw.calibration"},
        {"pairs_ns", "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]", "raw.calibration"},
        {"pairs_cpu_ns", "[1]", "raw.calibration"},
    };
    struct prng p = prng_seeded("calibrated");
    struct arena a = {0};
    struct raw *raw;
    do
        raw = random_raw(&a, &p);
    while (!raw->calibration || raw->calibration->measures[0].pairs_ns.n == 20);
    CLEANUP(mem_freep) char *good = canonical(raw);
    for (size_t i = 0; i < ARRAY_LEN(bads); i++)
        check_value_refused(good, bads[i].key, bads[i].value, bads[i].code,
                            "calibration.measures.");
    arena_deinit(&a);
}

static void a_ledger_is_there_with_its_span_or_not_at_all(void **state)
{
    struct arena a = {0};
    struct raw *raw = small_raw(&a);
    struct ledger unknown = LEDGER_UNKNOWN;
    raw->observations[0].ledger = unknown;
    raw->observations[0].ledger.span_ns = 12345;
    raw->job.label = "one";
    CLEANUP(mem_freep) char *good = canonical(raw);
    check_value_refused(good, "span_ns", "null", "raw.ledger", "observations[0].ledger.span_ns");
    check_value_refused(good, "label", "\"another\"", "raw.conflict", "label");
    arena_deinit(&a);
}

static void a_sample_is_a_whole_number(void **state)
{
    static const char *const others[] = {"-1",   "1.5",  "1e300", "\"7\"",
                                         "null", "true", "[7]",   "{}"};
    struct arena a = {0};
    struct raw *raw = small_raw(&a);
    int64_t seven = 7;
    struct raw_samples series = {.name = "late", .v = &seven, .n = 1};
    raw->observations[0].samples = &series;
    raw->observations[0].n_samples = 1;
    CLEANUP(mem_freep) char *good = canonical(raw);
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        CLEANUP(mem_freep) char *values = mem_printf("\"late\",\"values\":[%s]", others[i]);
        const struct bad bad = {"\"late\",\"values\":[7]", values, "json.range",
                                "observations[0].samples[0].values[0]"};
        check_refused(good, &bad);
    }
    const struct bad key = {"\"late\",\"values\":", "\"late\",\"numbers\":", "json.unknown_key",
                            "observations[0].samples[0].numbers"};
    check_refused(good, &key);
    arena_deinit(&a);
}

static void a_profile_belongs_to_measure_attribution_alone(void **state)
{
    static const char *const measures[] = {"process", "attribution"};
    struct category one = {.name = "parse"};
    const struct attribution rules = {
        .categories = &one, .n_categories = 1, .from_ms = -1, .to_ms = -1};
    struct arena a = {0};
    struct raw *raw = small_raw(&a), *out = NULL;
    struct raw_workload *w = &raw->workloads[0];
    one.symbols = (struct args){(const char *[]){"*", NULL}, 1};
    for (size_t i = 0; i < ARRAY_LEN(measures); i++)
        for (int has = 0; has < 2; has++) {
            struct err e = {0};
            w->measure = (enum measure)measure_parse(measures[i]);
            w->profile = has ? &rules : NULL;
            CLEANUP(mem_freep) char *text = canonical(raw);
            int rc = raw_decode(&a, text, strlen(text), &out, &e);
            bool belongs = (w->measure == MEASURE_ATTRIBUTION) == has;
            if (belongs ? rc != 0 && strcmp(e.code, "raw.conflict") == 0
                        : rc == 0 || strcmp(e.code, "raw.conflict") != 0 ||
                              strcmp(e.field, "workloads[0].profile") != 0)
                fail_msg("%s, %d: %d, %s at %s", measures[i], has, rc, e.code, e.field);
        }
    arena_deinit(&a);
}

static void an_error_inside_the_job_names_the_job(void **state)
{
    struct arena a = {0};
    struct raw *raw = small_raw(&a), *out = NULL;
    struct err e = {0};
    raw->job.repetitions = 0;
    CLEANUP(mem_freep) char *text = canonical(raw);
    assert_int_not_equal(raw_decode(&a, text, strlen(text), &out, &e), 0);
    assert_string_equal(e.field, "job.repetitions");
    arena_deinit(&a);
}

static void observations_stand_in_ascending_seq(void **state)
{
    struct arena a = {0};
    struct raw *raw = small_raw(&a), *out = NULL;
    struct err e = {0};
    raw->observations[1].seq = raw->observations[0].seq;
    CLEANUP(mem_freep) char *text = canonical(raw);
    assert_int_not_equal(raw_decode(&a, text, strlen(text), &out, &e), 0);
    assert_string_equal(e.code, "raw.order");
    assert_string_equal(e.field, "observations[1].seq");
    arena_deinit(&a);
}

static void a_missing_member_is_an_error_even_where_null_is_allowed(void **state)
{
    static const char *const heads[] = {"\"cpu_set\":", "\"void_text\":", "\"suspend_after_ms\":"};
    struct arena a = {0};
    struct raw *raw = small_raw(&a);
    raw->cpu_set = raw->void_text = NULL;
    raw->suspend_after_ms = -1;
    CLEANUP(mem_freep) char *good = canonical(raw);
    for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
        CLEANUP(mem_freep) char *member = mem_printf("%snull,", heads[i]);
        CLEANUP(mem_freep) char *name = mem_printf("%.*s", (int)strlen(heads[i]) - 3, heads[i] + 1);
        const struct bad missing = {member, "", "json.missing", name};
        check_refused(good, &missing);
    }
    arena_deinit(&a);
}

static void a_condition_that_is_not_named_is_unknown(void **state)
{
    struct arena a = {0};
    struct raw *raw = small_raw(&a), *out = NULL;
    struct err e = {0};
    struct condition_result *mains = &raw->phases[PHASE_BEFORE_BUILD].conditions[COND_MAINS];
    *mains = (struct condition_result){.status = TRI_PASS, .mode = RULE_WAIVE};
    CLEANUP(mem_freep) char *good = canonical(raw);
    CLEANUP(mem_freep)
    char *text =
        replaced(good,
                 "{\"condition\":\"mains\",\"mode\":\"waive\",\"needed\":null,\"seen\":null,"
                 "\"status\":\"PASS\"},",
                 "");
    assert_int_equal(raw_decode(&a, text, strlen(text), &out, &e), 0);
    mains = &out->phases[PHASE_BEFORE_BUILD].conditions[COND_MAINS];
    assert_int_equal(mains->condition, COND_MAINS);
    assert_int_equal(mains->status, TRI_UNKNOWN);
    assert_int_equal(mains->mode, RULE_REQUIRE);
    arena_deinit(&a);
}

static void a_condition_named_twice_is_refused(void **state)
{
    static const struct bad twice = {"{\"condition\":\"low_power\"", "{\"condition\":\"mains\"",
                                     "json.duplicate", "conditions."};
    struct arena a = {0};
    CLEANUP(mem_freep) char *good = canonical(small_raw(&a));
    check_refused(good, &twice);
    arena_deinit(&a);
}

/* ---- what a person runs */

static void reproduce_holds_no_line_that_the_report_smuggled_in(void **state)
{
    struct arena a = {0};
    struct raw *raw = small_raw(&a);
    CLEANUP(buf_deinit) struct buf bent = {0}, good = {0};
    struct err e = {0};

    raw->id = "x\nrm -rf \"$HOME\"\n#";
    assert_int_equal(reproduce_script(raw, true, &bent, &e), 0);
    assert_null(strstr(bent.data, "\nrm -rf"));
    raw->id = "01KB9XK3Q8Z4T1V7N5M2C0D6EF";
    assert_int_equal(reproduce_script(raw, true, &good, &e), 0);
    assert_non_null(strstr(good.data, "(attempt 01KB9XK3Q8Z4T1V7N5M2C0D6EF)"));
    arena_deinit(&a);
}

/* ---- damage */

static void damage(struct prng *p, char *text)
{
    static const char bytes[] = "0123456789-\"{}[],:enulltrfas.";
    size_t len = strlen(text);
    for (size_t i = 0; i <= prng_below(p, 3); i++)
        text[prng_below(p, len)] = bytes[prng_below(p, sizeof bytes - 1)];
}

/* Accepted or refused with a sentence; what is accepted can be judged. */
static bool survives(struct prng *p, const char *good)
{
    struct arena a = {0};
    struct raw *raw = NULL;
    struct err e = {0};
    CLEANUP(mem_freep) char *text = mem_strdup(good);
    damage(p, text);
    int rc = raw_decode(&a, text, strlen(text), &raw, &e);
    if (rc == 0)
        assert_non_null(summarise(&a, raw));
    else
        assert_true(err_is_set(&e));
    arena_deinit(&a);
    return rc == 0;
}

static void a_damaged_report_is_refused_or_judged(void **state)
{
    struct prng p = prng_seeded("damaged reports");
    struct arena a = {0};
    int accepted = 0;
    CLEANUP(mem_freep) char *good = canonical(small_raw(&a));
    for (int i = 0; i < DAMAGED; i++)
        accepted += survives(&p, good);
    assert_true(accepted > 0 && accepted < DAMAGED);
    arena_deinit(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_decoded_report_encodes_to_the_same_bytes),
        cmocka_unit_test(no_member_of_a_flat_record_is_left_out),
        cmocka_unit_test(the_reader_refuses_what_the_writer_never_writes),
        cmocka_unit_test(an_inventory_has_two_windows_and_known_reasons),
        cmocka_unit_test(a_calibration_has_whole_numbers_and_whole_pairs),
        cmocka_unit_test(a_ledger_is_there_with_its_span_or_not_at_all),
        cmocka_unit_test(a_sample_is_a_whole_number),
        cmocka_unit_test(a_profile_belongs_to_measure_attribution_alone),
        cmocka_unit_test(an_error_inside_the_job_names_the_job),
        cmocka_unit_test(observations_stand_in_ascending_seq),
        cmocka_unit_test(a_missing_member_is_an_error_even_where_null_is_allowed),
        cmocka_unit_test(a_condition_that_is_not_named_is_unknown),
        cmocka_unit_test(a_condition_named_twice_is_refused),
        cmocka_unit_test(reproduce_holds_no_line_that_the_report_smuggled_in),
        cmocka_unit_test(a_damaged_report_is_refused_or_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
