/* What a look at the process table takes over from the one before: real processes that sleep, work,
 * become another program, lose their parent and end between two looks. */
#include "unit/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "host/host.h"
#include "host/proc_known.h"

#define PATIENCE_MS 20000

struct table {
    struct arena arena;
    struct host_probe *probe;
    struct proc_known *known;
    int proc_fd, go[2], said[2]; /* children wait for a byte of go and answer with one */
};

static int open_table(void **state)
{
    struct table *t = mem_alloc(sizeof *t);
    assert_int_equal(host_probe_new_system("", &t->probe, NULL), 0);
    t->proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(t->proc_fd >= 0);
    t->known = known_new(t->proc_fd);
    assert_int_equal(pipe(t->go), 0);
    assert_int_equal(pipe(t->said), 0);
    *state = t;
    return 0;
}

static int close_table(void **state)
{
    struct table *t = *state;
    host_probe_free(t->probe);
    known_free(t->known);
    (void)close(t->proc_fd);
    for (int i = 0; i < 2; i++) {
        (void)close(t->go[i]);
        (void)close(t->said[i]);
    }
    arena_deinit(&t->arena);
    free(t);
    return 0;
}

/* ---- children */

static void wait_for_go(const struct table *t)
{
    char byte;
    if (read(t->go[0], &byte, 1) != 1)
        _exit(1);
}

static void say(const struct table *t)
{
    if (write(t->said[1], "x", 1) != 1)
        _exit(1);
}

static pid_t child(struct table *t, void (*work)(struct table *t))
{
    pid_t pid = fork();
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        work(t);
        _exit(0);
    }
    assert_true(pid > 0);
    return pid;
}

static void go(struct table *t)
{
    assert_int_equal(write(t->go[1], "x", 1), 1);
}

static void await(struct table *t)
{
    char byte;
    assert_int_equal(read(t->said[0], &byte, 1), 1);
}

static void end(pid_t pid)
{
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void sleep_work_sleep(struct table *t)
{
    wait_for_go(t);
    say(t);
    (void)pause();
}

static void become_another(struct table *t)
{
    wait_for_go(t);
    (void)execl("/bin/sleep", "sleep", "100", (char *)NULL);
}

/* Lives on when this process ends, and ends with the test's folder of pipes. */
static void have_a_child(struct table *t)
{
    pid_t pid = fork();
    if (pid == 0) {
        (void)close(t->go[1]);
        wait_for_go(t);
        _exit(0);
    }
    (void)write(t->said[1], &pid, sizeof pid);
    (void)pause();
}

/* ---- looks */

static const struct proc_sample *look(struct table *t, int pid)
{
    struct proc_snapshot *s = arena_alloc(&t->arena, sizeof *s);
    struct err e = {0};
    assert_int_equal(host_probe_snapshot(t->probe, &t->arena, s, &e), 0);
    for (size_t i = 0; i < s->n_procs; i++)
        if (s->procs[i].pid == pid)
            return &s->procs[i];
    return NULL;
}

/* It has done what it was told to when its state is as wanted; the kernel takes a moment. */
static bool sleeps(const struct table *t, pid_t pid)
{
    char path[64], text[512];
    (void)snprintf(path, sizeof path, "%d/stat", (int)pid);
    int fd = openat(t->proc_fd, path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        (void)close(fd);
    text[n > 0 ? n : 0] = '\0';
    const char *name = strrchr(text, ')');
    return name && name[2] == 'S';
}

static void until_it_sleeps(const struct table *t, pid_t pid)
{
    for (int ms = 0; !sleeps(t, pid); ms++) {
        assert_true(ms < PATIENCE_MS);
        clock_sleep_ns(1000000);
    }
}

static void note(struct table *t, pid_t pid, int64_t forks)
{
    const struct proc_stat stat = {.pid = pid, .ppid = getpid(), .start_ticks = 7};
    known_begin(t->known, forks);
    known_add(t->known, &stat, known_cpu_ns(t->known, pid));
    known_end(t->known, true);
}

/* ---- tests */

static void who_slept_is_known_and_who_worked_is_read_again(void **state)
{
    struct table *t = *state;
    pid_t pid = child(t, sleep_work_sleep);
    until_it_sleeps(t, pid);
    const struct proc_stat *known = NULL;
    /* It may have slept on its way to where it waits. */
    for (int ms = 0; !known; ms++) {
        assert_true(ms < PATIENCE_MS);
        note(t, pid, 100);
        clock_sleep_ns(1000000);
        known_begin(t->known, 100);
        known = known_unchanged(t->known, pid, known_cpu_ns(t->known, pid));
        if (!known)
            known_end(t->known, false);
    }
    assert_int_equal(known->start_ticks, 7);
    go(t);
    await(t);
    /* The clock of one that still runs moves with the next tick. */
    for (int ms = 0; known_unchanged(t->known, pid, known_cpu_ns(t->known, pid)); ms++) {
        assert_true(ms < PATIENCE_MS);
        clock_sleep_ns(1000000);
    }
    known_end(t->known, false);
    end(pid);
}

static void the_list_stands_while_nothing_was_created(void **state)
{
    struct table *t = *state;
    const int *pids;
    size_t n;
    note(t, getpid(), 100);
    known_begin(t->known, 100);
    assert_true(known_pids(t->known, &pids, &n));
    assert_int_equal(n, 1);
    assert_int_equal(pids[0], getpid());
    known_end(t->known, true); /* nothing was added */
    known_begin(t->known, 100);
    assert_true(known_pids(t->known, &pids, &n));
    assert_int_equal(n, 0);
    known_end(t->known, false);
    known_begin(t->known, 100);
    assert_false(known_pids(t->known, &pids, &n));
    known_end(t->known, true);
    known_begin(t->known, 101);
    assert_false(known_pids(t->known, &pids, &n));
    known_end(t->known, true);
}

/* By then a number may have been given out again. */
static void nothing_is_known_after_many_processes_or_without_their_count(void **state)
{
    static const int64_t later[] = {100 + 4097, 99, -1};
    struct table *t = *state;
    pid_t pid = child(t, sleep_work_sleep);
    until_it_sleeps(t, pid);
    for (size_t i = 0; i < sizeof later / sizeof later[0]; i++) {
        note(t, pid, 100);
        known_begin(t->known, later[i]);
        assert_null(known_unchanged(t->known, pid, known_cpu_ns(t->known, pid)));
        known_end(t->known, false);
    }
    end(pid);
}

static void processes_of_another_proc_have_no_clock_here(void **state)
{
    struct table *t = *state;
    int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct proc_known *other = known_new(fd);
    assert_int_equal(known_cpu_ns(other, getpid()), -1);
    assert_true(known_cpu_ns(t->known, getpid()) > 0);
    known_free(other);
    (void)close(fd);
}

static void another_program_of_the_same_process_is_seen(void **state)
{
    struct table *t = *state;
    pid_t pid = child(t, become_another);
    until_it_sleeps(t, pid);
    const char *before = look(t, pid)->command;
    assert_string_equal(look(t, pid)->command, before);
    go(t);
    for (int ms = 0; strcmp(look(t, pid)->command, "sleep") != 0; ms++) {
        assert_true(ms < PATIENCE_MS);
        clock_sleep_ns(1000000);
    }
    end(pid);
    assert_null(look(t, pid));
}

static void an_orphan_has_its_new_parent(void **state)
{
    struct table *t = *state;
    pid_t parent = child(t, have_a_child), pid = 0;
    assert_int_equal(read(t->said[0], &pid, sizeof pid), sizeof pid);
    until_it_sleeps(t, pid);
    until_it_sleeps(t, parent);
    assert_int_equal(look(t, pid)->ppid, parent);
    assert_int_equal(look(t, pid)->ppid, parent);
    assert_int_equal(kill(parent, SIGKILL), 0);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)parent, &info, WEXITED | WNOWAIT), 0);
    assert_int_not_equal(look(t, pid)->ppid, parent); /* its parent is a zombie */
    assert_int_equal(waitpid(parent, NULL, 0), parent);
    assert_int_not_equal(look(t, pid)->ppid, parent);
    go(t);
}

static void a_process_that_was_created_since_is_there(void **state)
{
    struct table *t = *state;
    assert_non_null(look(t, getpid()));
    pid_t pid = child(t, sleep_work_sleep);
    const struct proc_sample *sample = look(t, pid);
    assert_non_null(sample);
    assert_int_equal(sample->ppid, getpid());
    end(pid);
    assert_null(look(t, pid));
}

#define T(f) cmocka_unit_test_setup_teardown(f, open_table, close_table)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(who_slept_is_known_and_who_worked_is_read_again),
        T(the_list_stands_while_nothing_was_created),
        T(nothing_is_known_after_many_processes_or_without_their_count),
        T(processes_of_another_proc_have_no_clock_here),
        T(another_program_of_the_same_process_is_seen),
        T(an_orphan_has_its_new_parent),
        T(a_process_that_was_created_since_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
