/* What looking around costs, beside `ps`, with a given number of processes beyond those that the
 * machine has:
 *   bench-observer-inventory PROCESSES ROUNDS
 * CPU nanoseconds: series phase (a whole inventory by a probe that has looked before, as a daemon
 * has), first (by one that has not), look (one look at the table, on average of a phase's) and ps.
 */
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "host/host.h"
#include "tests/bench/bench.h"
#include "unit/core/policies.h"

#define PROCESSES_MAX 100000
#define LOOKS 3
#define GAP_MS 20

extern char **environ;

static int64_t cpu_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void populate(pid_t *pids, int n)
{
    for (int i = 0; i < n; i++) {
        pids[i] = fork();
        if (pids[i] < 0)
            bench_fail("fork", "this machine allows no more processes");
        if (pids[i] == 0) {
            (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (;;)
                (void)pause();
        }
    }
}

static void clear(const pid_t *pids, int n)
{
    for (int i = 0; i < n; i++) {
        (void)kill(pids[i], SIGKILL);
        (void)waitpid(pids[i], NULL, 0);
    }
}

/* ---- ours */

static void take_phase(struct host_probe *p, size_t at_least)
{
    const struct policy policy = policy_standard();
    const struct inventory_scope scope = {0}; /* all of them are foreign */
    const struct qualify_job job = {0};
    struct phase_record record = {0};
    struct arena a = {0};
    struct err e = {0};

    BENCH_OK(host_take_phase(p, &a, &policy, &scope, &job, PHASE_BEFORE_BUILD, NULL, GAP_MS,
                             &record, &e),
             &e);
    if (record.inventory->n_procs < at_least)
        bench_fail("the inventory", "misses processes");
    arena_deinit(&a);
}

static int64_t time_phase(struct host_probe *p, size_t at_least)
{
    int64_t start_ns = cpu_ns();

    take_phase(p, at_least);
    return cpu_ns() - start_ns;
}

static void ours(struct host_probe *p, size_t at_least)
{
    struct host_probe *fresh = NULL;
    struct err e = {0};

    int64_t ns = time_phase(p, at_least);
    bench_sample("phase", ns);
    bench_sample("look", ns / LOOKS);
    BENCH_OK(host_probe_new_system("", &fresh, &e), &e);
    bench_sample("first", time_phase(fresh, at_least));
    host_probe_free(fresh);
}

/* ---- theirs */

static int64_t of_children(const struct rusage *u)
{
    int64_t us = (u->ru_utime.tv_sec + u->ru_stime.tv_sec) * INT64_C(1000000) +
                 u->ru_utime.tv_usec + u->ru_stime.tv_usec;

    return us * 1000;
}

static void theirs(const posix_spawn_file_actions_t *actions)
{
    char *argv[] = {(char[]){"ps"}, (char[]){"-axo"}, (char[]){"pid,ppid,pcpu,comm,args"}, NULL};
    struct rusage usage;
    int status = 0;
    pid_t pid;

    if (posix_spawnp(&pid, argv[0], actions, NULL, argv, environ) != 0)
        bench_fail("ps", "cannot be run");
    if (wait4(pid, &status, 0, &usage) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        bench_fail("ps", "ended with a failure");
    bench_sample("ps", of_children(&usage));
}

int main(int argc, char **argv)
{
    posix_spawn_file_actions_t actions;
    struct host_probe *probe = NULL;
    struct err e = {0};

    if (argc != 3)
        bench_fail("bench-observer-inventory", "PROCESSES ROUNDS");
    int n = bench_count(argv[1], PROCESSES_MAX), rounds = bench_count(argv[2], 1000);
    pid_t *pids = mem_realloc_array(NULL, (size_t)n, sizeof *pids);
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    BENCH_OK(host_probe_new_system("", &probe, &e), &e);
    populate(pids, n);
    take_phase(probe, (size_t)n);
    for (int i = 0; i < rounds; i++) {
        ours(probe, (size_t)n);
        theirs(&actions);
    }
    clear(pids, n);
    host_probe_free(probe);
    (void)posix_spawn_file_actions_destroy(&actions);
    free(pids);
    return 0;
}
