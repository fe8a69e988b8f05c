/* The lanes and builds that the tests of daemon/run start. Its arguments are what it does, one
 * action after the other: say TEXT, go, say TEXT, eof, exit 3. Each `say` is one write. */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* \n, \r, \0, and \f for the byte 255, which would be hard to read in a test or end an argument. */
static size_t unescape(const char *from, char *to)
{
    char *start = to;

    for (; *from; from++) {
        if (*from != '\\') {
            *to++ = *from;
            continue;
        }
        from++;
        *to++ = (char)(*from == 'n' ? '\n' : *from == 'r' ? '\r' : *from == 'f' ? '\xff' : '\0');
    }
    return (size_t)(to - start);
}

static void put(int fd, const char *s, size_t n)
{
    while (n > 0) {
        ssize_t w = write(fd, s, n);
        if (w < 0)
            _exit(99);
        s += w;
        n -= (size_t)w;
    }
}

static void do_forever(const char *arg)
{
    for (;;)
        (void)pause();
}

static void do_go(const char *arg)
{
    char c;
    while (read(0, &c, 1) == 1 && c != '\n')
        ;
}

/* The same, and keeps the line. */
static void do_go_into(const char *arg)
{
    int fd = open(arg, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    char c;

    while (read(0, &c, 1) == 1) {
        put(fd, &c, 1);
        if (c == '\n')
            break;
    }
    (void)close(fd);
}

static void do_eof(const char *arg)
{
    char c;
    while (read(0, &c, 1) > 0)
        ;
}

static void do_flood(const char *arg)
{
    int fd = atoi(arg);
    char block[4096];
    memset(block, 'x', sizeof block);
    for (;;)
        put(fd, block, sizeof block);
}

static void do_pid(const char *path)
{
    char text[32], tmp[4096];
    int n = snprintf(text, sizeof text, "%d\n", getpid());

    (void)snprintf(tmp, sizeof tmp, "%s.tmp", path);
    int fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    put(fd, text, (size_t)n);
    (void)close(fd);
    (void)rename(tmp, path);
}

static void put_text(int fd, const char *arg)
{
    char text[4096];
    size_t n = strlen(arg) < sizeof text ? unescape(arg, text) : 0;

    put(fd, text, n);
}

static void do_say(const char *arg)
{
    put_text(1, arg);
}

static void do_err(const char *arg)
{
    put_text(2, arg);
}

static void do_slow(const char *arg)
{
    char text[4096];
    size_t n = unescape(arg, text);

    for (size_t i = 0; i < n; i++) {
        put(1, text + i, 1);
        (void)poll(NULL, 0, 2);
    }
}

/* Into stdio's buffer, as a program does that forgets to flush. */
static void do_buffer(const char *arg)
{
    char text[4096];

    (void)fwrite(text, 1, unescape(arg, text), stdout);
}

static void do_exit(const char *arg)
{
    (void)fflush(stdout);
    _exit(atoi(arg));
}

static void do_raise(const char *arg)
{
    (void)raise(SIGUSR1);
}

/* Whatever libc thinks of the number. */
static void do_kill(const char *arg)
{
    (void)kill(getpid(), atoi(arg));
}

static void do_kill_parent(const char *arg)
{
    (void)kill(getppid(), atoi(arg));
}

static void do_wait(const char *arg)
{
    (void)poll(NULL, 0, atoi(arg));
}

/* Microseconds, as exactly as the system wakes it. */
static void do_sleep(const char *arg)
{
    long us = atol(arg);
    const struct timespec t = {us / 1000000, us % 1000000 * 1000};

    (void)nanosleep(&t, NULL);
}

/* Its own stdin, so that nobody else can write into it. */
static void do_fill_stdin(const char *arg)
{
    char block[4096] = {0};
    int fd = open("/proc/self/fd/0", O_WRONLY | O_NONBLOCK);

    while (write(fd, block, sizeof block) > 0)
        ;
    while (write(fd, block, 1) > 0)
        ;
    (void)close(fd);
}

static void do_rename(const char *arg)
{
    (void)prctl(PR_SET_NAME, arg);
}

/* Makes its parent its debugger, which has to do something before this returns. */
static void do_traceme(const char *arg)
{
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        _exit(93);
    (void)raise(SIGURG); /* ignored, but not by a debugger */
}

static void do_close(const char *arg)
{
    (void)close(atoi(arg));
}

static void do_lines(const char *arg)
{
    for (int i = 1; i < atoi(arg); i++)
        put(1, "0123456789\n", 11);
    put(1, "the end\n", 8);
}

static void *sleep_forever(void *arg)
{
    for (;;)
        (void)pause();
    return arg;
}

static void do_thread(const char *arg)
{
    pthread_t id;

    if (pthread_create(&id, NULL, sleep_forever, NULL) != 0)
        _exit(94);
}

/* Milliseconds of its own CPU time. */
static void do_burn(const char *arg)
{
    clock_t until = clock() + atoi(arg) * (CLOCKS_PER_SEC / 1000);

    while (clock() < until)
        ;
}

/* ---- processes that are left behind */

enum leave { LEAVE_PLAIN, LEAVE_SETSID, LEAVE_DEAF, LEAVE_STOPPED, LEAVE_DAEMON, LEAVE_TRACER };

/* As daemons do it. */
static void reopen_all(void)
{
    (void)signal(SIGHUP, SIG_IGN);
    (void)chdir("/");
    for (int fd = 0; fd < 3; fd++) {
        (void)close(fd);
        (void)open("/dev/null", O_RDWR);
    }
}

static void be_left(enum leave how, const char *path, int ready_fd, int keep_stdout)
{
    pid_t lane = getppid();
    bool orphan = how != LEAVE_PLAIN && how != LEAVE_TRACER;

    if (orphan && fork() != 0)
        _exit(0); /* orphaned at once */
    if (orphan)
        (void)setsid();
    else
        (void)setpgid(0, 0);
    if (how == LEAVE_TRACER && ptrace(PTRACE_SEIZE, lane, NULL, NULL) != 0)
        _exit(92);
    if (how == LEAVE_DEAF)
        (void)signal(SIGTERM, SIG_IGN);
    if (!keep_stdout)
        (void)close(1);
    do_pid(path);
    put(ready_fd, "x", 1);
    (void)close(ready_fd);
    if (how == LEAVE_DAEMON)
        reopen_all();
    if (how == LEAVE_STOPPED)
        (void)raise(SIGSTOP);
    do_forever("");
}

/* Leaves a process behind, and returns when that has noted its pid in path. */
static void leave(enum leave how, const char *path, int keep_stdout)
{
    int p[2];
    char c;

    if (pipe(p) != 0)
        _exit(98);
    (void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    if (fork() == 0) {
        (void)close(p[0]);
        be_left(how, path, p[1], keep_stdout);
    }
    (void)close(p[1]);
    if (read(p[0], &c, 1) != 1)
        _exit(91);
    (void)close(p[0]);
}

static void do_leave_plain(const char *arg)
{
    leave(LEAVE_PLAIN, arg, 0);
}

static void do_leave_setsid(const char *arg)
{
    leave(LEAVE_SETSID, arg, 0);
}

static void do_leave_deaf(const char *arg)
{
    leave(LEAVE_DEAF, arg, 0);
}

static void do_leave_stopped(const char *arg)
{
    leave(LEAVE_STOPPED, arg, 0);
}

static void do_leave_holding(const char *arg)
{
    leave(LEAVE_DEAF, arg, 1);
}

static void do_leave_daemon(const char *arg)
{
    leave(LEAVE_DAEMON, arg, 0);
}

static void do_leave_tracer(const char *arg)
{
    leave(LEAVE_TRACER, arg, 0);
}

/* Children that end unseen: one by itself, one by a signal of ours. */
static void do_zombies(const char *arg)
{
    if (fork() == 0)
        _exit(0);
    pid_t pid = fork();
    if (pid == 0)
        do_forever("");
    (void)kill(pid, SIGKILL);
}

/* A process that is never where it was seen: it forks and exits, for at most a minute. */
static void do_comet(const char *arg)
{
    time_t until = time(NULL) + 60;

    if (fork() != 0)
        return;
    (void)signal(SIGTERM, SIG_IGN);
    while (time(NULL) < until) {
        if (fork() != 0)
            _exit(0);
        (void)setsid();
    }
    _exit(0);
}

/* Every process forks until there were so many in all; they are deaf and stay. */
static void do_bomb(const char *arg)
{
    int most = atoi(arg);
    int *n = mmap(NULL, sizeof *n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    (void)signal(SIGTERM, SIG_IGN);
    while (n != MAP_FAILED && __atomic_add_fetch(n, 1, __ATOMIC_RELAXED) <= most)
        (void)fork();
}

/* ---- facts for the test to read */

static void do_memory(const char *arg)
{
    size_t bytes = (size_t)atoi(arg) << 20;
    char *p = malloc(bytes);

    if (!p)
        _exit(97);
    memset(p, 1, bytes);
    __asm__ volatile("" : : "r"(p) : "memory"); /* the compiler must believe that it is used */
    free(p);
}

/* Keeps it, and uses every page. */
static void do_hold(const char *arg)
{
    size_t bytes = (size_t)atoi(arg) << 20;
    char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        _exit(97);
    memset(p, 1, bytes);
}

static pid_t held = -1;

/* In a process of its own, which end-child ends. */
static void do_hold_in_child(const char *arg)
{
    int ready[2];
    char c = 0;

    if (pipe(ready) != 0 || (held = fork()) < 0)
        _exit(97);
    if (held == 0) {
        do_hold(arg);
        put(ready[1], &c, 1);
        do_forever("");
    }
    if (read(ready[0], &c, 1) != 1)
        _exit(97);
}

static void do_end_child(const char *arg)
{
    (void)kill(held, SIGKILL);
    (void)waitpid(held, NULL, 0);
}

/* One that comes and goes. */
static void do_burn_in_child(const char *arg)
{
    pid_t pid = fork();

    if (pid == 0) {
        do_burn(arg);
        _exit(0);
    }
    (void)waitpid(pid, NULL, 0);
}

static void report_signals(FILE *f)
{
    sigset_t mask;
    int blocked = 0, changed = 0;

    (void)sigprocmask(SIG_SETMASK, NULL, &mask);
    for (int sig = 1; sig < 65; sig++) {
        struct sigaction act;
        blocked += sigismember(&mask, sig) == 1;
        /* SIGSEGV and its kind belong to the sanitizers of this very program. */
        if (sig == SIGSEGV || sig == SIGBUS || sig == SIGFPE || sig == SIGILL || sig == SIGABRT)
            continue;
        if (sigaction(sig, NULL, &act) == 0)
            changed += act.sa_handler != SIG_DFL;
    }
    fprintf(f, "blocked %d\nhandled %d\n", blocked, changed);
}

static void report_fds(FILE *f)
{
    DIR *d = opendir("/proc/self/fd");

    fprintf(f, "fds");
    for (struct dirent *e; d && (e = readdir(d));) {
        int fd = atoi(e->d_name);
        if (e->d_name[0] != '.' && fd != dirfd(d) && fd != fileno(f))
            fprintf(f, " %d", fd);
    }
    fprintf(f, "\n");
    if (d)
        (void)closedir(d);
}

/* Lines of a file of the system as they are. */
static void report_file(FILE *f, const char *path)
{
    char text[4096];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text);

    (void)fwrite(text, 1, n > 0 ? (size_t)n : 0, f);
    (void)close(fd);
}

static void report_standing(FILE *f)
{
    int tty = open("/dev/tty", O_RDWR);

    fprintf(f, "tty %d\nnice %d\n", tty >= 0, getpriority(PRIO_PROCESS, 0));
    fprintf(f, "group %d\noom ", getpgrp() == getpid());
    if (tty >= 0)
        (void)close(tty);
    (void)fflush(f);
    report_file(f, "/proc/self/oom_score_adj");
    report_file(f, "/proc/self/status");
    report_file(f, "/proc/self/limits");
}

/* Where and as what it runs, for the test to read. */
static void do_report(const char *path)
{
    char cwd[4096];
    cpu_set_t cpus;
    struct rlimit core;
    FILE *f = fopen(path, "w");

    if (!f)
        _exit(96);
    for (char **e = environ; *e; e++)
        fprintf(f, "env %s\n", *e);
    fprintf(f, "cwd %s\n", getcwd(cwd, sizeof cwd));
    fprintf(f, "leader %d\n", getsid(0) == getpid());
    report_signals(f);
    report_fds(f);
    fprintf(f, "policy %d\n", sched_getscheduler(0) & ~SCHED_RESET_ON_FORK);
    (void)sched_getaffinity(0, sizeof cpus, &cpus);
    fprintf(f, "cpus");
    for (size_t i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &cpus))
            fprintf(f, " %zu", i);
    (void)getrlimit(RLIMIT_CORE, &core);
    fprintf(f, "\ncore %lu\n", (unsigned long)core.rlim_cur);
    fprintf(f, "umask %o\n", umask(0));
    report_standing(f);
    fclose(f);
}

static const struct action {
    const char *name;
    void (*run)(const char *arg);
    int has_arg;
} actions[] = {
    {"say", do_say, 1},
    {"err", do_err, 1},
    {"slow", do_slow, 1},
    {"buffer", do_buffer, 1},
    {"thread", do_thread, 0},
    {"burn", do_burn, 1},
    {"go-into", do_go_into, 1},
    {"go", do_go, 0},   /* reads stdin to the end of a line */
    {"eof", do_eof, 0}, /* reads stdin to its end */
    {"close", do_close, 1},
    {"exit", do_exit, 1},
    {"raise", do_raise, 0},
    {"kill", do_kill, 1},               /* itself */
    {"kill-parent", do_kill_parent, 1}, /* with this signal */
    {"wait", do_wait, 1},               /* milliseconds */
    {"sleep", do_sleep, 1},             /* microseconds */
    {"fill-stdin", do_fill_stdin, 0},
    {"rename", do_rename, 1},
    {"traceme", do_traceme, 0},
    {"zombies", do_zombies, 0},
    {"comet", do_comet, 0},
    {"bomb", do_bomb, 1},
    {"leave-daemon", do_leave_daemon, 1},
    {"leave-tracer", do_leave_tracer, 1},
    {"forever", do_forever, 0},
    {"flood", do_flood, 1}, /* a descriptor, without end */
    {"lines", do_lines, 1},
    {"pid", do_pid, 1}, /* into a file */
    {"leave-plain", do_leave_plain, 1},
    {"leave-setsid", do_leave_setsid, 1},
    {"leave-deaf", do_leave_deaf, 1},
    {"leave-stopped", do_leave_stopped, 1},
    {"leave-holding", do_leave_holding, 1}, /* its stdout */
    {"memory", do_memory, 1},
    {"hold", do_hold, 1},
    {"hold-in-child", do_hold_in_child, 1},
    {"end-child", do_end_child, 0},
    {"burn-in-child", do_burn_in_child, 1},
    {"report", do_report, 1},
};

static const struct action *find(const char *name)
{
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++)
        if (strcmp(actions[i].name, name) == 0)
            return &actions[i];
    (void)fprintf(stderr, "child: no action %s\n", name);
    _exit(95);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const struct action *a = find(argv[i]);
        const char *arg = a->has_arg && i + 1 < argc ? argv[++i] : "";
        a->run(arg);
    }
    return 0;
}
