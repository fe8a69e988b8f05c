#include "unit.h"

#include "core/grade/grade.h"
#include "core/host.h"
#include "core/policy.h"
#include "core/raw.h"
#include "core/stats/compare.h"
#include "core/summary/summarise.h"

/* Walks an enum of n values: each has a spelling of its own that parses back to it, and nothing
 * else parses. */
#define WALK(prefix, type, n)                                                                      \
    do {                                                                                           \
        for (int i = 0; i < (n); i++) {                                                            \
            const char *name = prefix##_name((enum type)i);                                        \
            assert_string_not_equal(name, "?");                                                    \
            assert_int_equal(prefix##_parse(name), i);                                             \
        }                                                                                          \
        assert_string_equal(prefix##_name((enum type)(n)), "?");                                   \
        assert_int_equal(prefix##_parse("?"), -1);                                                 \
        assert_int_equal(prefix##_parse(""), -1);                                                  \
        assert_int_equal(prefix##_parse("nonsense"), -1);                                          \
        assert_int_equal(prefix##_parse(NULL), -1);                                                \
    } while (0)

static void every_word_has_one_spelling_that_parses_back(void **state)
{
    (void)state;
    WALK(tri, tri, TRI_NOT_APPLICABLE + 1);
    WALK(measure, measure, MEASURE_KERNEL + 1);
    WALK(phase, phase, PHASE_COUNT);
    WALK(obs_kind, obs_kind, OBS_TIMED + 1);
    WALK(order, order, ORDER_SEQUENTIAL + 1);
    WALK(job_need, job_need, NEED_ANY + 1);
    WALK(verdict, verdict, VERDICT_UNRESOLVED + 1);
    WALK(grade, grade, GRADE_VOID + 1);
    WALK(condition, condition, COND_COUNT);
    WALK(rule_mode, rule_mode, RULE_RECORD + 1);
    WALK(fact_state, fact_state, FACT_ABSENT + 1);
    WALK(fact, fact_id, FACT_COUNT);
    WALK(recheck_kind, recheck_kind, RECHECK_TOOL + 1);
    WALK(predicate, predicate, PRED_COUNT);
    WALK(row_predicate, row_predicate, ROW_COUNT);
    WALK(comparison_kind, comparison_kind, COMPARE_LANES + 1);
}

static void a_spelling_is_matched_by_case_and_whole(void **state)
{
    (void)state;
    assert_int_equal(tri_parse("pass"), -1);
    assert_int_equal(verdict_parse("FASTER "), -1);
    assert_int_equal(phase_parse("before"), -1);
    assert_int_equal(phase_parse("before build"), -1);
}

/* Stored documents hang on these. */
static void spellings_are_those_of_the_contract(void **state)
{
    (void)state;
    assert_string_equal(tri_name(TRI_NOT_APPLICABLE), "NOT_APPLICABLE");
    assert_string_equal(verdict_name(VERDICT_UNRESOLVED), "UNRESOLVED");
    assert_string_equal(grade_name(GRADE_CONTRACTUAL), "contractual");
    assert_string_equal(phase_name(PHASE_BEFORE_TIMING), "before_timing");
    assert_string_equal(condition_name(COND_PID_NAMESPACE), "pid_namespace");
    assert_string_equal(fact_name(FACT_MEMORY_AVAILABLE), "memory_available");
    assert_string_equal(predicate_name(PRED_SOURCES_CLEAN_DETACHED), "sources_clean_detached");
    assert_string_equal(row_predicate_name(ROW_PAIRS_COMPLETE), "pairs_complete");
    assert_string_equal(comparison_kind_name(COMPARE_SIDES), "sides");
}

static void every_phase_and_condition_has_a_title(void **state)
{
    (void)state;
    for (int i = 0; i < PHASE_COUNT; i++)
        assert_string_not_equal(phase_title((enum phase)i), "?");
    for (int i = 0; i < COND_COUNT; i++)
        assert_string_not_equal(condition_title((enum condition)i), "?");
    assert_string_equal(phase_title(PHASE_AFTER_TIMING), "after timing");
    assert_string_equal(condition_title(COND_COUNT), "?");
}

static void a_conjunction_is_fail_over_unknown_over_pass(void **state)
{
    (void)state;
    const enum tri P = TRI_PASS, F = TRI_FAIL, U = TRI_UNKNOWN, N = TRI_NOT_APPLICABLE;
    const enum tri expected[4][4] = {
        [TRI_PASS] = {[TRI_PASS] = P, [TRI_FAIL] = F, [TRI_UNKNOWN] = U, [TRI_NOT_APPLICABLE] = P},
        [TRI_FAIL] = {[TRI_PASS] = F, [TRI_FAIL] = F, [TRI_UNKNOWN] = F, [TRI_NOT_APPLICABLE] = F},
        [TRI_UNKNOWN] =
            {[TRI_PASS] = U, [TRI_FAIL] = F, [TRI_UNKNOWN] = U, [TRI_NOT_APPLICABLE] = U},
        [TRI_NOT_APPLICABLE] =
            {[TRI_PASS] = P, [TRI_FAIL] = F, [TRI_UNKNOWN] = U, [TRI_NOT_APPLICABLE] = N},
    };
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++)
            assert_int_equal(tri_and((enum tri)a, (enum tri)b), expected[a][b]);
}

static void what_is_not_there_equals_itself_and_agrees_with_nothing(void **state)
{
    const struct args none = {0}, x = {(const char *[]){"x", NULL}, 1},
                      y = {(const char *[]){"y", NULL}, 1};

    (void)state;
    assert_true(text_equal("a", "a") && text_equal(NULL, NULL));
    assert_false(text_equal("a", "b") || text_equal("a", NULL) || text_equal(NULL, "a"));
    assert_true(text_agrees("a", "a"));
    assert_false(text_agrees("a", "b") || text_agrees(NULL, NULL) || text_agrees("a", NULL));
    assert_true(args_equal(&none, &none) && args_equal(&x, &x));
    assert_false(args_equal(&x, &y) || args_equal(&x, &none) || args_equal(&none, &x));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_word_has_one_spelling_that_parses_back),
        cmocka_unit_test(a_spelling_is_matched_by_case_and_whole),
        cmocka_unit_test(spellings_are_those_of_the_contract),
        cmocka_unit_test(every_phase_and_condition_has_a_title),
        cmocka_unit_test(a_conjunction_is_fail_over_unknown_over_pass),
        cmocka_unit_test(what_is_not_there_equals_itself_and_agrees_with_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
