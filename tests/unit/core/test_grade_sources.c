/* The predicates about sources, inputs and builds, in every value that they can take: the perfect
 * report with one fact bent. */
#include "unit.h"

#include "base/mem.h"

#include "raw_fixture.h"

static struct arena arena;
static struct raw *raw;

static int set_up(void **state)
{
    (void)state;
    raw = raw_fixture(&arena);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_deinit(&arena);
    return 0;
}

static void expect(enum predicate p, enum tri status, const char *words)
{
    raw_expect(&arena, raw, p, status, words);
}

/* A job without sources: the suite as it stands. */
static void drop_sources(void)
{
    raw->job.n_sources = raw->n_sources = 0;
}

static void sources_clean_detached(void **state)
{
    (void)state;
    expect(PRED_SOURCES_CLEAN_DETACHED, TRI_PASS, "clean and detached");
    raw->sources[1].path_bytes = 31;
    expect(PRED_SOURCES_CLEAN_DETACHED, TRI_FAIL, "after: its path has 31 bytes");
    raw->sources[0].clean = false;
    expect(PRED_SOURCES_CLEAN_DETACHED, TRI_FAIL, "before: the checkout was not clean");
    raw->sources[0].detached = false;
    expect(PRED_SOURCES_CLEAN_DETACHED, TRI_FAIL, "before: HEAD names a branch");
    raw->n_sources = 0;
    expect(PRED_SOURCES_CLEAN_DETACHED, TRI_UNKNOWN, "before: no checkout");
    drop_sources();
    expect(PRED_SOURCES_CLEAN_DETACHED, TRI_NOT_APPLICABLE, "no sources");
}

static void commits_pinned(void **state)
{
    (void)state;
    expect(PRED_COMMITS_PINNED, TRI_PASS, "full commit id");
    raw->sources[1].head = FIXTURE_COMMIT_BEFORE;
    expect(PRED_COMMITS_PINNED, TRI_FAIL, "after: HEAD is 1111");
    raw->sources[1].head = NULL;
    expect(PRED_COMMITS_PINNED, TRI_UNKNOWN, "after: no commit recorded");
    raw->sources[1].head = raw->sources[1].commit = "2222222";
    expect(PRED_COMMITS_PINNED, TRI_FAIL, "no full commit id");
    raw->sources[1].head = raw->sources[1].commit = "v1";
    expect(PRED_COMMITS_PINNED, TRI_FAIL, "no full commit id");
    raw->sources[1].head = raw->sources[1].commit = "22222222222222222222222222222222222222zz";
    expect(PRED_COMMITS_PINNED, TRI_FAIL, "no full commit id");
    raw->sources[1].head = raw->sources[1].commit = FIXTURE_COMMIT_BEFORE;
    expect(PRED_COMMITS_PINNED, TRI_FAIL, "not the commit that the job names");
    drop_sources();
    expect(PRED_COMMITS_PINNED, TRI_NOT_APPLICABLE, "no sources");
}

#define BASE "3333333333333333333333333333333333333333"
#define DIFF "5555555555555555555555555555555555555555555555555555555555555555"

/* The side "after" is a corrected commit, and the proof says so. */
static struct raw_correction *add_correction(void)
{
    static struct job_correction asked;
    static struct raw_correction proof;
    asked = (struct job_correction){"v1", BASE, "...", DIFF, "Ada", "does not compile"};
    proof = (struct raw_correction){.base_commit = BASE,
                                    .corrected = FIXTURE_COMMIT_AFTER,
                                    .diff_sha256 = DIFF,
                                    .approved_by = "Ada",
                                    .reason = "does not compile",
                                    .proven = true};
    raw->job.sources[1].correction = &asked;
    raw->sources[1].correction = &proof;
    return &proof;
}

static void corrections_proven(void **state)
{
    (void)state;
    expect(PRED_CORRECTIONS_PROVEN, TRI_NOT_APPLICABLE, "no side is a corrected commit");
    struct raw_correction *proof = add_correction();
    expect(PRED_CORRECTIONS_PROVEN, TRI_PASS, "after: base and exactly the diff that Ada allowed");
    proof->proven = false;
    expect(PRED_CORRECTIONS_PROVEN, TRI_FAIL, "after: the commit is not the base");
    raw->sources[1].correction = NULL;
    expect(PRED_CORRECTIONS_PROVEN, TRI_UNKNOWN, "after: no proof recorded");
    raw->n_sources = 0;
    expect(PRED_CORRECTIONS_PROVEN, TRI_UNKNOWN, "after: no proof recorded");
    drop_sources();
    expect(PRED_CORRECTIONS_PROVEN, TRI_NOT_APPLICABLE, "no side is a corrected commit");
}

static void a_proof_of_something_else_proves_nothing(void **state)
{
    (void)state;
    add_correction()->base_commit = FIXTURE_COMMIT_BEFORE;
    expect(PRED_CORRECTIONS_PROVEN, TRI_FAIL, "after: another base");
    add_correction()->corrected = FIXTURE_COMMIT_BEFORE;
    expect(PRED_CORRECTIONS_PROVEN, TRI_FAIL, "after: another commit");
    add_correction()->diff_sha256 = BASE;
    expect(PRED_CORRECTIONS_PROVEN, TRI_FAIL, "after: another diff");
    add_correction()->approved_by = "Eve";
    expect(PRED_CORRECTIONS_PROVEN, TRI_FAIL, "after: another approval");
    add_correction()->reason = NULL;
    expect(PRED_CORRECTIONS_PROVEN, TRI_FAIL, "after: another approval");
    add_correction();
    raw->sources[1].commit = FIXTURE_COMMIT_BEFORE;
    expect(PRED_CORRECTIONS_PROVEN, TRI_FAIL, "after: another commit");
    raw->job.sources[1].correction = NULL;
    expect(PRED_CORRECTIONS_PROVEN, TRI_FAIL, "after: a correction that the job does not name");
}

static void a_sha_256_commit_is_pinned_too(void **state)
{
    (void)state;
    const char *id = "4444444444444444444444444444444444444444444444444444444444444444";
    raw->job.sources[1].commit = raw->sources[1].commit = raw->sources[1].head = id;
    expect(PRED_COMMITS_PINNED, TRI_PASS, "full commit id");
}

static void sources_frozen(void **state)
{
    (void)state;
    expect(PRED_SOURCES_FROZEN, TRI_PASS, "same hash");
    raw->rechecks[1].kind = RECHECK_SUITE; /* the recheck of "after" is not there */
    expect(PRED_SOURCES_FROZEN, TRI_UNKNOWN, "source after was not hashed again");
    raw->sources[1].tree_sha256 = NULL;
    expect(PRED_SOURCES_FROZEN, TRI_UNKNOWN, "source after was not hashed");
    raw->rechecks[0].again = raw->rechecks[1].sha256;
    expect(PRED_SOURCES_FROZEN, TRI_FAIL, "source before changed during timing");
    raw->rechecks[0].again = NULL;
    expect(PRED_SOURCES_FROZEN, TRI_FAIL, "source before was gone");
    raw->rechecks[0].sha256 = raw->rechecks[0].again = raw->rechecks[2].sha256;
    expect(PRED_SOURCES_FROZEN, TRI_FAIL, "source before changed before timing");
    raw->rechecks[0].sha256 = NULL;
    expect(PRED_SOURCES_FROZEN, TRI_UNKNOWN, "before was not hashed after the build");
    drop_sources();
    expect(PRED_SOURCES_FROZEN, TRI_NOT_APPLICABLE, "no sources");
}

static void one_bad_recheck_outweighs_a_good_one_of_the_same_thing(void **state)
{
    (void)state;
    raw->rechecks[4] = raw->rechecks[0];
    raw->rechecks[4].again = NULL;
    expect(PRED_SOURCES_FROZEN, TRI_FAIL, "source before was gone");
}

static void inputs_unchanged(void **state)
{
    (void)state;
    expect(PRED_INPUTS_UNCHANGED, TRI_PASS, "the suite and 1 tools");
    raw->rechecks[5].again = raw->rechecks[4].again;
    expect(PRED_INPUTS_UNCHANGED, TRI_FAIL, "tool /usr/bin/python3 changed");
    raw->n_rechecks = 5;
    expect(PRED_INPUTS_UNCHANGED, TRI_UNKNOWN, "tool /usr/bin/python3 was not hashed again");
    raw->rechecks[4].again = raw->rechecks[0].again;
    expect(PRED_INPUTS_UNCHANGED, TRI_FAIL, "suite suite changed");
    raw->suite_sha256 = NULL;
    expect(PRED_INPUTS_UNCHANGED, TRI_UNKNOWN, "suite suite was not hashed");
}

static void binaries_unchanged(void **state)
{
    (void)state;
    expect(PRED_BINARIES_UNCHANGED, TRI_PASS, "2 build products");
    raw->rechecks[3].again = raw->rechecks[2].again;
    expect(PRED_BINARIES_UNCHANGED, TRI_FAIL, "artifact after:fib30 changed");
    raw->rechecks[3].name = "after:other";
    expect(PRED_BINARIES_UNCHANGED, TRI_UNKNOWN, "artifact after:fib30 was not hashed again");
    raw->n_artifacts = 0;
    expect(PRED_BINARIES_UNCHANGED, TRI_UNKNOWN, "no product was hashed");
    raw->n_builds = 0;
    expect(PRED_BINARIES_UNCHANGED, TRI_NOT_APPLICABLE, "nothing was built");
}

static void fresh_build(void **state)
{
    (void)state;
    expect(PRED_FRESH_BUILD, TRI_PASS, "2 build steps");
    struct env_var asked = {"CFLAGS", "-O3"};
    const char *built[] = {"CFLAGS=-O3"};
    raw->job.sources[1].variant = &asked;
    raw->job.sources[1].n_variant = 1;
    expect(PRED_FRESH_BUILD, TRI_FAIL, "after: built with another variant");
    raw->sources[1].variant = (struct args){built, 1};
    expect(PRED_FRESH_BUILD, TRI_PASS, "2 build steps");
    built[0] = "CFLAGS=-O2";
    expect(PRED_FRESH_BUILD, TRI_FAIL, "after: built with another variant");
    raw->job.sources[1].n_variant = raw->sources[1].variant.n = 0;
    raw->builds[1].exit_status = 2;
    expect(PRED_FRESH_BUILD, TRI_FAIL, "after: build step 0 ended with status 2");
    raw->n_builds = 1;
    expect(PRED_FRESH_BUILD, TRI_FAIL, "after: 0 build steps, another side 1");
    raw->fresh_worktrees = false;
    expect(PRED_FRESH_BUILD, TRI_FAIL, "not checked out for this attempt");
    drop_sources(); /* only the suite is built, and there is no worktree */
    expect(PRED_FRESH_BUILD, TRI_PASS, "1 build steps");
    raw->n_builds = 0;
    expect(PRED_FRESH_BUILD, TRI_NOT_APPLICABLE, "no build steps");
}

static void two_commands_without_sources_are_diagnostic_and_say_so(void **state)
{
    (void)state;
    raw = raw_fixture_run(&arena);
    expect(PRED_SOURCES_CLEAN_DETACHED, TRI_FAIL, "two commands without sources");
    expect(PRED_COMMITS_PINNED, TRI_FAIL, "two commands without sources");
    expect(PRED_SOURCES_FROZEN, TRI_NOT_APPLICABLE, "no sources");
    expect(PRED_BINARIES_UNCHANGED, TRI_NOT_APPLICABLE, "nothing was built");
    expect(PRED_FRESH_BUILD, TRI_NOT_APPLICABLE, "no build steps");
    expect(PRED_CONTROLS_WITHIN_DRIFT, TRI_NOT_APPLICABLE, "one side");
    expect(PRED_PROTOCOL_EXACT, TRI_PASS, "24 observations");
    struct grade_result g;
    grade_report(&arena, raw, NULL, 0, &g);
    assert_int_equal(g.value, GRADE_DIAGNOSTIC);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(sources_clean_detached),
        T(commits_pinned),
        T(corrections_proven),
        T(a_proof_of_something_else_proves_nothing),
        T(a_sha_256_commit_is_pinned_too),
        T(sources_frozen),
        T(one_bad_recheck_outweighs_a_good_one_of_the_same_thing),
        T(inputs_unchanged),
        T(binaries_unchanged),
        T(fresh_build),
        T(two_commands_without_sources_are_diagnostic_and_say_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
