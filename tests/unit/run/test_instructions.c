/* The event that counts a lane's instructions: it begins at the exec of what is started next, has
 * what that starts, and nothing of the program that opened it. Tried with an event that every
 * kernel has. */
#include "unit.h"

#include <linux/perf_event.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "run/runner/instructions.h"

static bool open_clock(void)
{
    return instructions_open_as(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
}

static void burn(int64_t ns)
{
    for (int64_t from = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
         clock_read_ns(CLOCK_PROCESS_CPUTIME_ID) - from < ns;)
        ;
}

/* Runs the shell, which does the words; before its exec it burns CPU time too. */
static void run_shell(const char *words)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        burn(200000000);
        (void)execl("/bin/sh", "sh", "-c", words, (char *)NULL);
        _exit(127);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

#define COUNT "i=0; while test $i -lt 20000; do i=$((i + 1)); done"

static void only_what_runs_after_the_exec_is_counted(void **state)
{
    (void)state;
    if (!open_clock())
        skip(); /* not permitted here: then the runner says so, and callgrind counts */
    burn(50000000);
    run_shell("true");
    int64_t ns = instructions_close();
    assert_true(ns > 0 && ns < 100000000);
}

static void what_it_starts_is_counted_with_it(void **state)
{
    (void)state;
    if (!open_clock())
        skip();
    run_shell(COUNT);
    int64_t one = instructions_close();
    assert_true(open_clock());
    run_shell("(" COUNT ") & (" COUNT ") & (" COUNT ") & (" COUNT ") & wait");
    int64_t four = instructions_close();
    assert_true(one > 0 && four > 2 * one);
}

static void without_an_event_there_is_no_number(void **state)
{
    (void)state;
    assert_int_equal(instructions_close(), -1);
    if (!open_clock())
        skip();
    assert_int_equal(instructions_close(), -1); /* nothing was started */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_runs_after_the_exec_is_counted),
        cmocka_unit_test(what_it_starts_is_counted_with_it),
        cmocka_unit_test(without_an_event_there_is_no_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
