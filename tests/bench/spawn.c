/* What a command costs as one process each, from spawn to its end, several commands in turn:
 *   bench-spawn EACH NAME COMMAND ARG... [-- NAME COMMAND ARG...]...
 * Runs each command EACH times and prints its mean, series NAME. A command that fails ends it all.
 */
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

#include "tests/bench/bench.h"

extern char **environ;

static void run_once(char **argv, const posix_spawn_file_actions_t *actions)
{
    int status = 0;
    pid_t pid;

    if (posix_spawnp(&pid, argv[0], actions, NULL, argv, environ) != 0)
        bench_fail(argv[0], "cannot be run");
    if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        bench_fail(argv[0], "ended with a failure");
}

static void run_each(char **words, int each, const posix_spawn_file_actions_t *actions)
{
    int64_t start_ns = bench_now_ns();

    for (int i = 0; i < each; i++)
        run_once(words + 1, actions);
    bench_sample(words[0], (bench_now_ns() - start_ns) / each);
}

int main(int argc, char **argv)
{
    posix_spawn_file_actions_t actions;

    if (argc < 4)
        bench_fail("bench-spawn", "EACH NAME COMMAND ARG... [-- NAME COMMAND ARG...]...");
    int each = bench_count(argv[1], 100000);
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    for (char **words = argv + 2, **end = words; *words; words = *end ? end + 1 : end) {
        for (end = words; *end && strcmp(*end, "--") != 0; end++)
            ;
        char *separator = *end;
        *end = NULL;
        if (!words[0] || !words[1])
            bench_fail("bench-spawn", "a name without a command");
        run_each(words, each, &actions);
        *end = separator;
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    return 0;
}
