/* Who carries the mark is found and ended wherever it hid, and nobody else is. */
#include "unit.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "run/mark.h"

/* Each run of these tests has marks of its own: they may run beside each other. */
static uint64_t mark_of(unsigned n)
{
    static uint64_t base; /* of the program: its children ask, too */

    base = base ? base : (UINT64_C(1) << 61) + (uint64_t)getpid() * 16;
    return base + n;
}

/* It says the pid of a process with two parents between them, in a session of its own, without any
 * environment, and then sleeps too. */
static const char HIDING[] = "setsid /usr/bin/env -i /usr/bin/sleep 3600 >/dev/null 2>&1 & "
                             "echo $!; exec /usr/bin/sleep 3600 >/dev/null";

/* mark 0: none. Returns its pid; *hidden is the other one's. */
static pid_t start(uint64_t mark, pid_t *hidden)
{
    int out[2];
    char text[32] = "";

    assert_int_equal(pipe(out), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (mark && mark_set(getpid(), mark) != 0)
            _exit(1);
        (void)dup2(out[1], 1);
        (void)close(out[0]);
        (void)execl("/bin/sh", "sh", "-c", HIDING, (char *)NULL);
        _exit(1);
    }
    (void)close(out[1]);
    assert_true(read(out[0], text, sizeof text - 1) > 0);
    (void)close(out[0]);
    *hidden = atoi(text);
    assert_true(*hidden > 1);
    return pid;
}

static void reap(pid_t pid, int signal)
{
    int status = 0;

    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == signal);
}

static bool is_gone(pid_t pid)
{
    char path[64];
    char text[512] = "";

    (void)snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *f = fopen(path, "r");
    if (!f)
        return true;
    size_t n = fread(text, 1, sizeof text - 1, f);
    (void)fclose(f);
    const char *state = n ? strrchr(text, ')') : NULL;
    return !state || state[2] == 'Z';
}

static void test_a_marked_process_and_what_it_hid_are_ended(void **state)
{
    struct mark_ended found;
    pid_t hidden;
    pid_t pid = start(mark_of(1), &hidden);

    mark_end_all(mark_of(1), &found);
    assert_int_equal(found.ended, 2);
    assert_string_equal(found.left, "");
    CLEANUP(mem_freep) char *name = mem_printf("%d (", hidden);
    assert_non_null(strstr(found.names, name));
    reap(pid, SIGKILL);
    assert_true(is_gone(hidden));
}

static void test_processes_without_the_mark_or_with_another_are_left_alone(void **state)
{
    struct mark_ended found;
    pid_t hidden[2];
    pid_t pids[] = {start(0, &hidden[0]), start(mark_of(2), &hidden[1])};

    mark_end_all(mark_of(3), &found);
    assert_int_equal(found.ended, 0);
    assert_string_equal(found.names, "");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(waitpid(pids[i], NULL, WNOHANG), 0);
        assert_false(is_gone(hidden[i]));
        assert_int_equal(kill(pids[i], SIGTERM), 0);
        assert_int_equal(kill(hidden[i], SIGTERM), 0);
        reap(pids[i], SIGTERM);
    }
}

/* Its limit was lowered by somebody else: half of a mark is none. */
static void test_a_limit_that_is_only_partly_the_mark_is_none(void **state)
{
    struct mark_ended found;
    pid_t hidden;
    pid_t pid = start(mark_of(4), &hidden);
    const struct rlimit lower = {7, mark_of(4)};

    assert_int_equal(prlimit(pid, RLIMIT_LOCKS, &lower, NULL), 0);
    mark_end_all(mark_of(4), &found);
    assert_int_equal(found.ended, 1);
    assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
    assert_int_equal(kill(pid, SIGTERM), 0);
    reap(pid, SIGTERM);
    assert_true(is_gone(hidden));
}

static void test_whoever_looks_does_not_end_itself(void **state)
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        struct mark_ended found;
        if (mark_set(getpid(), mark_of(5)) != 0)
            _exit(1);
        mark_end_all(mark_of(5), &found);
        _exit(found.ended == 0 && !found.left[0] ? 7 : 2);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

/* It ended, and nobody has asked how. */
static void test_a_dead_process_that_is_not_reaped_is_not_left(void **state)
{
    struct mark_ended found;
    siginfo_t info;
    pid_t pid = fork();

    if (pid == 0)
        _exit(mark_set(getpid(), mark_of(6)) == 0 ? 0 : 1);
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    assert_int_equal(info.si_status, 0);
    mark_end_all(mark_of(6), &found);
    assert_int_equal(found.ended, 0);
    assert_string_equal(found.left, "");
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* The one that is alive is always the youngest of all, and its parent is gone already. */
static void fork_away(int64_t rest_ns, int times)
{
    for (int i = 0; i < times; i++) {
        if (fork() != 0)
            _exit(0);
        clock_sleep_ns(rest_ns);
    }
    _exit(0);
}

static void test_a_process_that_forks_all_the_time_is_caught(void **state)
{
    struct mark_ended found;
    int ends[2];
    char byte;
    pid_t pid;

    assert_int_equal(pipe(ends), 0);
    pid = fork();
    if (pid == 0) {
        (void)close(ends[0]);
        if (mark_set(getpid(), mark_of(7)) != 0)
            _exit(1);
        fork_away(5000000, 6000);
    }
    (void)close(ends[1]);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    mark_end_all(mark_of(7), &found);
    assert_true(found.ended > 0);
    assert_string_equal(found.left, "");
    /* All of them held the pipe. */
    assert_int_equal(read(ends[0], &byte, 1), 0);
    (void)close(ends[0]);
}

static void test_a_process_that_is_not_there_cannot_be_marked(void **state)
{
    pid_t pid = fork();

    if (pid == 0)
        _exit(0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(mark_set(pid, mark_of(8)), -ESRCH);
}

int main(void)
{
    (void)mark_of(0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_marked_process_and_what_it_hid_are_ended),
        cmocka_unit_test(test_processes_without_the_mark_or_with_another_are_left_alone),
        cmocka_unit_test(test_a_limit_that_is_only_partly_the_mark_is_none),
        cmocka_unit_test(test_whoever_looks_does_not_end_itself),
        cmocka_unit_test(test_a_dead_process_that_is_not_reaped_is_not_left),
        cmocka_unit_test(test_a_process_that_forks_all_the_time_is_caught),
        cmocka_unit_test(test_a_process_that_is_not_there_cannot_be_marked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
