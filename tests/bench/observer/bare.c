#include "tests/bench/observer/bare.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/bench.h"

#define READY "READY work\n"
#define GO "GO work\n"
#define DONE "DONE work\n"

struct streams {
    int in, out, err;
};

static void reset_signals(void)
{
    const struct {
        void *handler;
        unsigned long flags;
        void *restorer;
        uint64_t mask;
    } dfl = {NULL, 0, NULL, 0};

    for (int sig = 1; sig <= 64; sig++)
        (void)syscall(SYS_rt_sigaction, sig, &dfl, NULL, sizeof dfl.mask);
}

/* What a lane is given before its program begins, call for call. */
static void set_up(const struct streams *s, const cpu_set_t *cpus, pid_t parent)
{
    const struct sched_param normal = {0};
    const struct rlimit core = {1, 1};
    sigset_t none;

    if (setsid() < 0)
        _exit(127);
    reset_signals();
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || sched_setscheduler(0, SCHED_OTHER, &normal) != 0 ||
        sched_setaffinity(0, sizeof *cpus, cpus) != 0 || dup2(s->in, 0) < 0 ||
        dup2(s->out, 1) < 0 || dup2(s->err, 2) < 0 || syscall(SYS_close_range, 3U, ~0U, 0U) != 0)
        _exit(127);
    (void)setrlimit(RLIMIT_CORE, &core);
    (void)setpriority(PRIO_PROCESS, 0, 0);
    (void)umask(022);
    if (chdir("/") != 0)
        _exit(127);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

static pid_t start(const char *const *argv, const struct streams *s, const cpu_set_t *cpus)
{
    static const char *const env[] = {"PATH=/usr/bin:/bin", NULL};
    union {
        const char *const *in;
        char *const *out;
    } args = {argv}, envp = {env};
    pid_t parent = getpid();
    pid_t pid = vfork(); // NOLINT: the child only prepares itself

    if (pid == 0) {
        set_up(s, cpus, parent);
        (void)execve(argv[0], args.out, envp.out);
        _exit(127);
    }
    if (pid < 0)
        bench_fail(argv[0], "cannot be started");
    return pid;
}

static void reap(pid_t pid, const char *what)
{
    struct rusage usage;
    int status = 0;

    if (wait4(pid, &status, 0, &usage) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        bench_fail(what, "ended with a failure");
}

/* The waiting parent is pinned to the child's core, as our runner is. */
static void pin(int cpu, cpu_set_t *one, cpu_set_t *before)
{
    CPU_ZERO(one);
    CPU_SET((size_t)cpu, one);
    if (sched_getaffinity(0, sizeof *before, before) != 0 ||
        sched_setaffinity(0, sizeof *one, one) != 0)
        bench_fail("sched_setaffinity", "this core cannot be used");
}

static int memory_file(void)
{
    int fd = memfd_create("output", MFD_CLOEXEC);

    if (fd < 0)
        bench_fail("memfd_create", "no memory file");
    return fd;
}

int64_t bare_process(const char *path, int cpu)
{
    const char *const argv[] = {path, NULL};
    cpu_set_t one, before;
    struct streams s = {open("/dev/null", O_RDONLY | O_CLOEXEC), memory_file(), memory_file()};

    pin(cpu, &one, &before);
    int64_t start_ns = bench_now_ns();
    reap(start(argv, &s, &one), path);
    int64_t ns = bench_now_ns() - start_ns;
    (void)sched_setaffinity(0, sizeof before, &before);
    (void)close(s.in);
    (void)close(s.out);
    (void)close(s.err);
    return ns;
}

static void read_line(int fd, const char *line)
{
    char got[64];
    size_t len = 0;

    do {
        ssize_t n = read(fd, got + len, sizeof got - len);
        if (n <= 0)
            bench_fail(line, "did not come");
        len += (size_t)n;
    } while (got[len - 1] != '\n');
    if (len != strlen(line) || memcmp(got, line, len) != 0)
        bench_fail(line, "is not what came");
}

int64_t bare_protocol(const char *const *argv, int cpu)
{
    cpu_set_t one, before;
    int in[2], out[2];

    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
        bench_fail("pipe", "no descriptors");
    struct streams s = {in[0], out[1], memory_file()};
    pin(cpu, &one, &before);
    pid_t pid = start(argv, &s, &one);
    (void)close(in[0]);
    (void)close(out[1]);
    read_line(out[0], READY);
    int64_t go_ns = bench_now_ns();
    if (write(in[1], GO, strlen(GO)) != (ssize_t)strlen(GO))
        bench_fail(GO, "could not be written");
    read_line(out[0], DONE);
    int64_t ns = bench_now_ns() - go_ns;
    (void)sched_setaffinity(0, sizeof before, &before);
    (void)close(in[1]);
    (void)close(out[0]);
    (void)close(s.err);
    reap(pid, argv[0]);
    return ns;
}
