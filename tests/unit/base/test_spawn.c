/* Helper programs: exact output and status, a clean environment, bounded output and time, nothing
 * waits for a grandchild. */
#include "unit/unit.h"

#include <errno.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/spawn.h"

static int run(const char *const *argv, struct spawn_req req, int *status, struct buf *out,
               struct err *e)
{
    req.argv = argv;
    return spawn_run(&req, status, out, NULL, e);
}

static void output_status_and_input_are_exact(void **state)
{
    const char *cat[] = {"cat", NULL};
    const char *fail[] = {"sh", "-c", "echo out; echo err >&2; exit 3", NULL};
    const char *die[] = {"sh", "-c", "kill -9 $$", NULL};
    struct spawn_req req = SPAWN_REQ_INIT;
    struct buf out = {0};
    struct err e = {0};
    size_t len = 300000;
    char *big = mem_alloc(len);
    int status = -1;

    memset(big, 'q', len);
    req.input = big;
    req.input_len = len;
    assert_int_equal(run(cat, req, &status, &out, &e), 0);
    assert_int_equal(status, 0);
    assert_int_equal(out.len, len);
    assert_memory_equal(out.data, big, len);
    buf_clear(&out);
    assert_int_equal(run(fail, (struct spawn_req)SPAWN_REQ_INIT, &status, &out, &e), 0);
    assert_int_equal(status, 3);
    assert_string_equal(buf_str(&out), "out\n");
    assert_int_equal(run(die, (struct spawn_req)SPAWN_REQ_INIT, &status, &out, &e), 0);
    assert_int_equal(status, 128 + 9);
    free(big);
    buf_deinit(&out);
}

static void only_the_given_environment_and_descriptors_arrive(void **state)
{
    const char *argv[] = {"sh", "-c", "env | sort; ls /proc/self/fd | wc -l", NULL};
    const char *env[] = {"PATH=/usr/bin:/bin", "A=1", NULL};
    struct spawn_req req = SPAWN_REQ_INIT;
    struct buf out = {0};
    int status = -1;

    assert_int_equal(setenv("GIT_DIR", "/nonexistent", 1), 0);
    req.env = env;
    req.cwd = "/";
    assert_int_equal(run(argv, req, &status, &out, NULL), 0);
    /* ls has 0, 1, 2 and the folder it reads. */
    assert_string_equal(buf_str(&out), "A=1\nPATH=/usr/bin:/bin\nPWD=/\n4\n");
    buf_deinit(&out);
}

static void too_much_output_and_too_much_time_are_refused(void **state)
{
    const char *flood[] = {"yes", NULL};
    const char *sleep[] = {"sleep", "100", NULL};
    struct spawn_req req = SPAWN_REQ_INIT;
    struct err e = {0};
    int status = -1;

    req.limit = 1000;
    assert_int_equal(run(flood, req, &status, NULL, &e), -EFBIG);
    err_clear(&e);
    req.timeout_ms = 100;
    assert_int_equal(run(sleep, req, &status, NULL, &e), -ETIMEDOUT);
    assert_string_equal(e.code, "system.spawn");
}

static void a_grandchild_with_the_pipe_is_not_waited_for(void **state)
{
    const char *argv[] = {"sh", "-c", "sleep 30 & echo done", NULL};
    struct spawn_req req = SPAWN_REQ_INIT;
    struct buf out = {0};
    int64_t start_ns = clock_mono_ns();
    int status = -1;

    assert_int_equal(run(argv, req, &status, &out, NULL), 0);
    assert_string_equal(buf_str(&out), "done\n");
    assert_true(clock_mono_ns() - start_ns < 25000000000);
    buf_deinit(&out);
}

static void a_missing_program_is_named(void **state)
{
    const char *none[] = {"no-such-program-here", NULL};
    const char *folder[] = {"/etc", NULL};
    struct spawn_req req = SPAWN_REQ_INIT;
    struct err e = {0};
    int status = -1;

    assert_int_equal(run(none, req, &status, NULL, &e), -ENOENT);
    assert_non_null(strstr(e.text, "no-such-program-here"));
    err_clear(&e);
    assert_int_equal(run(folder, req, &status, NULL, &e), -EACCES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_status_and_input_are_exact),
        cmocka_unit_test(only_the_given_environment_and_descriptors_arrive),
        cmocka_unit_test(too_much_output_and_too_much_time_are_refused),
        cmocka_unit_test(a_grandchild_with_the_pipe_is_not_waited_for),
        cmocka_unit_test(a_missing_program_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
