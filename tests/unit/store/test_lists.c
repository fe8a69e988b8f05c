/* What an attempt used: sources, builds, artifacts, tools, rechecks read back equal. */
#include "tests/unit/store/random.h"

#include <errno.h>

#define SOURCE_TEXTS(X) X(repo) X(rev) X(commit) X(head) X(tree_sha256)
#define SOURCE_INTS(X) X(path_bytes) X(files)
#define SOURCE_BOOLS(X) X(detached) X(clean)

static void sources_read_back_equal(void **ctx)
{
    struct unit *u = *ctx;
    struct raw_source in[3] = {0};
    struct raw raw = {0};
    const char *attempt = unit_attempt(u);
    for (int i = 0; i < 3; i++) {
        struct raw_source *x = &in[i];
        x->side = arena_printf(&u->arena, "side%d", i);
        SOURCE_TEXTS(FILL_TEXT_OR_NULL)
        SOURCE_INTS(FILL_INT64)
        SOURCE_BOOLS(FILL_BOOL)
    }
    ok(u, store_put_sources(u->s, attempt, in, 3, &u->e));
    ok(u, store_load_sources(u->s, attempt, &u->arena, &raw, &u->e));
    assert_int_equal(raw.n_sources, 3);
    for (int i = 0; i < 3; i++) {
        const struct raw_source *x = &in[i], *y = &raw.sources[i];
        SAME_TEXT(side)
        SOURCE_TEXTS(SAME_TEXT)
        SOURCE_INTS(SAME_INT)
        SOURCE_BOOLS(SAME_INT)
    }
}

#define CORRECTION_TEXTS(X) X(base_commit) X(corrected) X(diff_sha256) X(approved_by) X(reason)
#define CORRECTION_INTS(X) X(files) X(lines_added) X(lines_removed)
#define CORRECTION_BOOLS(X) X(proven)

static void a_correction_comes_back_with_its_own_source(void **ctx)
{
    struct unit *u = *ctx;
    struct raw_correction in[2] = {0};
    struct raw raw = {0};
    const char *attempt = unit_attempt(u);
    for (int i = 0; i < 2; i++) {
        struct raw_correction *x = &in[i];
        CORRECTION_TEXTS(FILL_TEXT)
        CORRECTION_INTS(FILL_INT64)
        CORRECTION_BOOLS(FILL_BOOL)
    }
    const struct raw_source sources[] = {{.side = "tuned", .correction = &in[0]},
                                         {.side = "plain"},
                                         {.side = "after", .correction = &in[1]}};
    ok(u, store_put_sources(u->s, attempt, sources, 3, &u->e));
    ok(u, store_load_sources(u->s, attempt, &u->arena, &raw, &u->e));
    assert_int_equal(raw.n_sources, 3);
    assert_null(raw.sources[1].correction);
    for (int i = 0; i < 2; i++) {
        const struct raw_correction *x = &in[i], *y = raw.sources[2 * i].correction;
        assert_non_null(y);
        CORRECTION_TEXTS(SAME_TEXT)
        CORRECTION_INTS(SAME_INT)
        CORRECTION_BOOLS(SAME_INT)
    }
}

static void the_variables_of_a_variant_come_back_in_their_order_with_their_own_source(void **ctx)
{
    struct unit *u = *ctx;
    struct raw raw = {0};
    const char *attempt = unit_attempt(u);
    const char *tuned[] = {"Z=", "CFLAGS=-O3 -g", "A=\xc3\xa9"}, *after[] = {"CFLAGS=-O2"};
    const struct raw_source sources[] = {{.side = "tuned", .variant = {tuned, 3}},
                                         {.side = "plain"},
                                         {.side = "after", .variant = {after, 1}}};
    ok(u, store_put_sources(u->s, attempt, sources, 3, &u->e));
    ok(u, store_load_sources(u->s, attempt, &u->arena, &raw, &u->e));
    assert_int_equal(raw.n_sources, 3);
    assert_int_equal(raw.sources[0].variant.n, 3);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(raw.sources[0].variant.v[i], tuned[i]);
    assert_int_equal(raw.sources[1].variant.n, 0);
    assert_int_equal(raw.sources[2].variant.n, 1);
    assert_string_equal(raw.sources[2].variant.v[0], "CFLAGS=-O2");
}

static void builds_read_back_equal_with_every_argument(void **ctx)
{
    struct unit *u = *ctx;
    struct raw raw = {0};
    const char *attempt = unit_attempt(u);
    const char *const argvs[][4] = {{"make", "-C", "/a b", NULL},
                                    {"printf", "\"\\\t\n\xc3\xa9", "", NULL},
                                    {NULL, NULL, NULL, NULL}};
    for (int i = 0; i < 3; i++) {
        size_t n = 0;
        while (argvs[i][n])
            n++;
        const struct raw_build in = {.side = "after",
                                     .step = i,
                                     .argv = {(const char **)argvs[i], n},
                                     .exit_status = i - 1,
                                     .wall_ns = i - 1,
                                     .log = i ? "logs/x" : NULL,
                                     .attempt = i ? attempt : NULL};
        ok(u, store_put_build(u->s, attempt, &in, &u->e));
    }
    ok(u, store_load_builds(u->s, attempt, &u->arena, &raw, &u->e));
    assert_int_equal(raw.n_builds, 3);
    for (int i = 0; i < 3; i++) {
        const struct raw_build *y = &raw.builds[i];
        assert_string_equal(y->side, "after");
        assert_int_equal(y->step, i);
        assert_int_equal(y->exit_status, i - 1);
        assert_int_equal(y->wall_ns, i - 1);
        assert_true(same_text(y->log, i ? "logs/x" : NULL));
        assert_true(same_text(y->attempt, i ? attempt : NULL));
        for (size_t k = 0; k < y->argv.n; k++)
            assert_string_equal(y->argv.v[k], argvs[i][k]);
        assert_null(argvs[i][y->argv.n]);
        assert_null(y->argv.v[y->argv.n]);
    }
}

static void artifacts_and_tools_read_back_equal_over_several_calls(void **ctx)
{
    struct unit *u = *ctx;
    struct raw_artifact artifacts[4] = {0};
    struct raw_tool tools[4] = {0};
    struct raw raw = {0};
    const char *attempt = unit_attempt(u);
    for (int i = 0; i < 4; i++) {
        artifacts[i] = (struct raw_artifact){i < 2 ? "before" : "after",
                                             arena_printf(&u->arena, "out/%d", 9 - i), rnd_int64(),
                                             rnd_text_or_null(u)};
        tools[i] = (struct raw_tool){rnd_text(u), rnd_text_or_null(u), rnd_text_or_null(u),
                                     rnd_text_or_null(u)};
        ok(u, store_put_artifacts(u->s, attempt, &artifacts[i], 1, &u->e));
    }
    ok(u, store_put_tools(u->s, attempt, tools, 4, &u->e));
    ok(u, store_load_artifacts(u->s, attempt, &u->arena, &raw, &u->e));
    ok(u, store_load_tools(u->s, attempt, &u->arena, &raw, &u->e));
    assert_int_equal(raw.n_artifacts, 4);
    assert_int_equal(raw.n_tools, 4);
    for (int i = 0; i < 4; i++) {
        const struct raw_artifact *a = &raw.artifacts[i];
        const struct raw_tool *x = &tools[i], *y = &raw.tools[i];
        assert_string_equal(a->side, artifacts[i].side);
        assert_string_equal(a->path, artifacts[i].path);
        assert_int_equal(a->bytes, artifacts[i].bytes);
        assert_true(same_text(a->sha256, artifacts[i].sha256));
        SAME_TEXT(name)
        SAME_TEXT(path)
        SAME_TEXT(version)
        SAME_TEXT(sha256)
    }
}

static void rechecks_read_back_equal(void **ctx)
{
    struct unit *u = *ctx;
    struct raw raw = {0};
    const char *attempt = unit_attempt(u);
    const struct raw_recheck in[] = {{RECHECK_SOURCE, "before", "aa", "aa"},
                                     {RECHECK_SUITE, "suite", "bb", "cc"},
                                     {RECHECK_ARTIFACT, "after:fib30", "dd", NULL},
                                     {RECHECK_TOOL, "/usr/bin/python3", NULL, NULL}};
    ok(u, store_put_rechecks(u->s, attempt, in, 4, &u->e));
    ok(u, store_load_rechecks(u->s, attempt, &u->arena, &raw, &u->e));
    assert_int_equal(raw.n_rechecks, 4);
    for (int i = 0; i < 4; i++) {
        const struct raw_recheck *x = &in[i], *y = &raw.rechecks[i];
        SAME_INT(kind)
        SAME_TEXT(name)
        SAME_TEXT(sha256)
        SAME_TEXT(again)
    }
}

#define T(name) cmocka_unit_test_setup_teardown(name, unit_setup, unit_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(sources_read_back_equal),
        T(a_correction_comes_back_with_its_own_source),
        T(the_variables_of_a_variant_come_back_in_their_order_with_their_own_source),
        T(builds_read_back_equal_with_every_argument),
        T(artifacts_and_tools_read_back_equal_over_several_calls),
        T(rechecks_read_back_equal),
    };
    return cmocka_run_group_tests(tests, start_seed, NULL);
}
