#include "base/fault.h"
#include "run/runner/spawn.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

#define STACK_BYTES 65536
#define BUSY_TRIES 20
#define BUSY_WAIT_NS 10000000

/* Reset in the child; SIGKILL and SIGSTOP refuse. */
#define SIGNALS 64

/* Smaller than any core file, and the one limit at which a core_pattern that is a program is not
 * started either: 0 would still start it. */
#define NO_CORE_BYTES 1

/* The child runs on our memory but on a stack of its own, which AddressSanitizer misreads. */
#define IN_CHILD __attribute__((no_sanitize("address", "undefined")))

struct birth {
    const struct spawn *spawn;
    pid_t parent;
    struct spawn_failure failure; /* written by the child: it shares our memory until the exec */
};

static bool executable(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static const char *path_of(const struct wire_list *env)
{
    for (size_t i = 0; i < env->n; i++)
        if (strncmp(env->v[i], "PATH=", 5) == 0)
            return env->v[i] + 5;
    return "";
}

void spawn_lookup(struct spawn *s, struct spawn_failure *f)
{
    const char *name = s->program->argv.n > 0 ? s->program->argv.v[0] : "";
    const char *dir = path_of(&s->program->env);
    int why = name[0] == '\0' ? EINVAL : ENOENT;

    *f = (struct spawn_failure){0};
    if (strchr(name, '/')) {
        if ((size_t)snprintf(s->path, sizeof s->path, "%s", name) >= sizeof s->path)
            *f = (struct spawn_failure){ENAMETOOLONG, "lookup"};
        return;
    }
    for (size_t len; why != EINVAL && *dir; dir += len + (dir[len] == ':')) {
        len = strcspn(dir, ":");
        int n = snprintf(s->path, sizeof s->path, "%.*s/%s", (int)len, dir, name);
        /* A relative folder would make the program depend on where the child starts. */
        if (dir[0] != '/' || n < 0 || (size_t)n >= sizeof s->path)
            continue;
        if (executable(s->path))
            return;
        if (access(s->path, F_OK) == 0)
            why = EACCES;
    }
    *f = (struct spawn_failure){why, "lookup"};
}

/* The system call itself: libc would not touch the two signals that it keeps for itself, and what
 * started us may have left those ignored. */
IN_CHILD static void reset_signals(void)
{
    const struct {
        void *handler;
        unsigned long flags;
        void *restorer;
        uint64_t mask;
    } dfl = {NULL, 0, NULL, 0};

    for (int sig = 1; sig <= SIGNALS; sig++)
        (void)syscall(SYS_rt_sigaction, sig, &dfl, NULL, sizeof dfl.mask);
}

IN_CHILD static const char *prepare(const struct birth *b)
{
    const struct spawn *s = b->spawn;
    const struct sched_param normal = {0};
    const struct rlimit no_core = {NO_CORE_BYTES, NO_CORE_BYTES};

    if (setsid() < 0)
        return "setsid";
    reset_signals();
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != b->parent)
        _exit(127);
    if (sched_setscheduler(0, SCHED_OTHER, &normal) != 0 ||
        (s->cpus && sched_setaffinity(0, sizeof *s->cpus, s->cpus) != 0))
        return "affinity";
    if (dup2(s->in, 0) < 0 || dup2(s->out, 1) < 0 || dup2(s->err, 2) < 0 ||
        syscall(SYS_close_range, 3U, ~0U, 0U) != 0)
        return "stdio";
    (void)setrlimit(RLIMIT_CORE, &no_core);
    (void)setpriority(PRIO_PROCESS, 0, 0); /* a raised priority is the daemon's alone */
    (void)umask(022);
    return chdir(s->program->cwd) != 0 ? "chdir" : NULL;
}

IN_CHILD static int be_child(void *arg)
{
    struct birth *b = arg;
    const struct wire_program *p = b->spawn->program;
    sigset_t none;

    errno = 0;
    const char *step = prepare(b);
    if (!step) {
        (void)sigemptyset(&none);
        (void)sigprocmask(SIG_SETMASK, &none, NULL);
        /* POSIX says that exec changes neither the lists nor the strings. */
        union {
            const char *const *in;
            char *const *out;
        } argv = {p->argv.v}, env = {p->env.v};
        (void)execve(b->spawn->path, argv.out, env.out);
        step = "execve";
    }
    b->failure = (struct spawn_failure){errno, step};
    _exit(127);
}

static void start_once(struct spawn *s, struct child *c, int64_t *start_ns, struct spawn_failure *f)
{
    static char stack[STACK_BYTES] __attribute__((aligned(16)));
    struct birth birth = {.spawn = s, .parent = getpid()};
    sigset_t all, before;

    FAULT_POINT("in_runner.spawn");
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, &before);
    *start_ns = clock_mono_ns();
    c->pid = clone(be_child, stack + STACK_BYTES, CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD,
                   &birth, &c->pidfd);
    FAULT_POINT("in_runner.spawned");
    *f = c->pid < 0 ? (struct spawn_failure){errno, "spawn"} : birth.failure;
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
}

static void forget(struct child *c)
{
    if (c->pid > 0) {
        (void)waitpid(c->pid, NULL, __WALL);
        (void)close(c->pidfd);
    }
    *c = (struct child){-1, -1};
}

void spawn_start(struct spawn *s, struct child *c, int64_t *start_ns, struct spawn_failure *f)
{
    for (int try = 0; try < BUSY_TRIES; try++) {
        start_once(s, c, start_ns, f);
        if (f->errnum == 0)
            return;
        forget(c);
        if (f->errnum != ETXTBSY)
            return;
        clock_sleep_ns(BUSY_WAIT_NS);
    }
}

bool spawn_ended(const struct child *c)
{
    struct pollfd p = {.fd = c->pidfd, .events = POLLIN};

    return poll(&p, 1, 0) > 0;
}
