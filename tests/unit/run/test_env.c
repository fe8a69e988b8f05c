/* Placeholders and the environment of children. */
#include "unit.h"

#include <errno.h>

#include "base/arena.h"
#include "run/run_env.h"

static void test_placeholders_are_replaced_wherever_they_stand(void **state)
{
    struct arena a = {0};
    const char *v[] = {"{source}/out/fib", "-I{suite}/x:{build}", "plain", "", "{", "a}b{c", NULL};
    const struct args in = {v, 6};
    struct args out;

    assert_int_equal(run_expand_args(&a, &in, "/s", "/u", "/b", &out), 0);
    assert_int_equal(out.n, 6);
    assert_string_equal(out.v[0], "/s/out/fib");
    assert_string_equal(out.v[1], "-I/u/x:/b");
    assert_string_equal(out.v[2], "plain");
    assert_string_equal(out.v[3], "");
    assert_string_equal(out.v[4], "{");
    assert_string_equal(out.v[5], "a}b{c");
    assert_null(out.v[6]);
    arena_deinit(&a);
}

static void test_other_words_in_braces_are_refused(void **state)
{
    struct arena a = {0};
    static const char *const bad[] = {"{home}", "{source", "{}", "x{Source}", "{{suite}}"};
    static const bool refused[] = {true, false, true, true, true};

    for (size_t i = 0; i < 5; i++) {
        const char *v[] = {bad[i], NULL};
        struct args out, in = {v, 1};
        int rc = run_expand_args(&a, &in, "/s", "/u", "/b", &out);
        assert_int_equal(rc, refused[i] ? -EINVAL : 0);
    }
    arena_deinit(&a);
}

static void test_placeholder_without_a_folder_is_refused(void **state)
{
    struct arena a = {0};
    const char *v[] = {"{source}/x", NULL};
    struct args out, in = {v, 1};

    assert_int_equal(run_expand_args(&a, &in, NULL, "/u", "/b", &out), -EINVAL);
    assert_null(run_expand(&a, "{build}", "/s", "/u", NULL));
    assert_string_equal(run_expand(&a, "{suite}", NULL, "/u", NULL), "/u");
    arena_deinit(&a);
}

static void test_no_arguments_expand_to_none(void **state)
{
    struct arena a = {0};
    struct args out, in = {NULL, 0};

    assert_int_equal(run_expand_args(&a, &in, NULL, NULL, NULL, &out), 0);
    assert_int_equal(out.n, 0);
    assert_null(out.v[0]);
    arena_deinit(&a);
}

static void test_environment_is_built_from_nothing(void **state)
{
    struct arena a = {0};

    assert_int_equal(setenv("LEAK", "1", 1), 0);
    const char *const *env = run_environment(&a, "/usr/bin:/bin", "/home", NULL, 0, NULL, 0);
    assert_string_equal(env[0], "PATH=/usr/bin:/bin");
    assert_string_equal(env[1], "HOME=/home");
    assert_string_equal(env[2], "LANG=C.UTF-8");
    assert_string_equal(env[3], "TZ=UTC");
    assert_null(env[4]);
    arena_deinit(&a);
}

static void test_later_variables_replace_earlier_ones(void **state)
{
    struct arena a = {0};
    const struct env_var suite[] = {{"THREADS", "2"}, {"TZ", "CET"}, {"PATHS", "x"}};
    const struct env_var lane[] = {{"THREADS", "4"}, {"EMPTY", ""}};
    const char *const *env = run_environment(&a, "/bin", "/", suite, 3, lane, 2);

    assert_string_equal(env[0], "PATH=/bin");
    assert_string_equal(env[3], "TZ=CET");
    assert_string_equal(env[4], "THREADS=4");
    assert_string_equal(env[5], "PATHS=x");
    assert_string_equal(env[6], "EMPTY=");
    assert_null(env[7]);
    arena_deinit(&a);
}

static void test_variables_of_git_and_the_service_manager_are_left_out(void **state)
{
    struct arena a = {0};
    const struct env_var suite[] = {
        {"GIT_DIR", "/x"}, {"LISTEN_FDS", "1"}, {"NOTIFY_SOCKET", "/x"}, {"GITTER", "1"}};
    const char *const *env = run_environment(&a, "/bin", "/", suite, 4, NULL, 0);

    assert_string_equal(env[4], "GITTER=1");
    assert_null(env[5]);
    assert_true(run_env_forbidden("GIT_DIR=/x"));
    assert_true(run_env_forbidden("LISTEN_PID"));
    assert_true(run_env_forbidden("NOTIFY_SOCKET=/x"));
    assert_true(run_env_forbidden("AURABENCH_SOCKET=/x"));
    assert_true(run_env_forbidden("WATCHDOG_USEC=1"));
    assert_true(run_env_forbidden("WATCHDOG_PID"));
    assert_false(run_env_forbidden("WATCHDOG"));
    assert_false(run_env_forbidden("NOTIFY_SOCKET_DIR=/x"));
    assert_false(run_env_forbidden("A=GIT_DIR"));
    assert_false(run_env_forbidden(""));
    arena_deinit(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_placeholders_are_replaced_wherever_they_stand),
        cmocka_unit_test(test_other_words_in_braces_are_refused),
        cmocka_unit_test(test_placeholder_without_a_folder_is_refused),
        cmocka_unit_test(test_no_arguments_expand_to_none),
        cmocka_unit_test(test_environment_is_built_from_nothing),
        cmocka_unit_test(test_later_variables_replace_earlier_ones),
        cmocka_unit_test(test_variables_of_git_and_the_service_manager_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
