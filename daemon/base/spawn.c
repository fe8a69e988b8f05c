#include "base/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fds.h"
#include "base/mem.h"

#define TIMEOUT_DEFAULT_MS 60000

static const char *const ENV_DEFAULT[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/nonexistent",
                                          "LANG=C.UTF-8", "TZ=UTC", NULL};

/* One running helper and the parent's ends of its pipes (-1: none, or closed). */
struct helper {
    const struct spawn_req *req;
    pid_t pid;
    int in, out, err;
    size_t fed;
    struct buf *outbuf, *errbuf; /* NULL: read and dropped */
    size_t out_len, err_len;
};

struct pipes {
    int in[2], out[2], err[2], status[2];
};

static void pipes_close(struct pipes *p)
{
    int *ends[] = {p->in, p->out, p->err, p->status};

    for (size_t i = 0; i < ARRAY_LEN(ends); i++)
        for (int k = 0; k < 2; k++)
            if (ends[i][k] >= 0) {
                (void)close(ends[i][k]);
                ends[i][k] = -1;
            }
}

static int pipes_open(struct pipes *p)
{
    *p = (struct pipes){{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}};
    int rc = fds_pipe(p->in);
    if (rc == 0)
        rc = fds_pipe(p->out);
    if (rc == 0)
        rc = fds_pipe(p->err);
    if (rc == 0)
        rc = fds_pipe(p->status);
    if (rc < 0)
        pipes_close(p);
    return rc;
}

/* The program's path by PATH of its environment; malloc'd, or NULL when there is none. */
static char *find_program(const char *name, const char *const *env)
{
    const char *path = "/usr/local/bin:/usr/bin:/bin";

    if (strchr(name, '/'))
        return mem_strdup(name);
    for (; *env; env++)
        if (strncmp(*env, "PATH=", 5) == 0)
            path = *env + 5;
    while (*path) {
        size_t len = strcspn(path, ":");
        CLEANUP(mem_freep) char *full = mem_printf("%.*s/%s", (int)len, path, name);
        if (len && access(full, X_OK) == 0)
            return MEM_STEAL(full);
        path += len + (path[len] == ':');
    }
    return NULL;
}

static void child_reset_signals(void)
{
    struct sigaction dfl = {.sa_handler = SIG_DFL};
    sigset_t none;

    for (int sig = 1; sig < NSIG; sig++)
        (void)sigaction(sig, &dfl, NULL);
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Only async-signal-safe calls: the parent may have threads. */
_Noreturn static void child_main(const struct spawn_req *req, const char *program,
                                 const char *const *env, struct pipes *p)
{
    int null = req->input ? p->in[0] : open("/dev/null", O_RDONLY);

    child_reset_signals();
    (void)setsid();
    if ((req->cwd && chdir(req->cwd) < 0) || null < 0 || dup2(null, 0) < 0 ||
        dup2(req->out_fd >= 0 ? req->out_fd : p->out[1], 1) < 0 || dup2(p->err[1], 2) < 0)
        goto fail;
    fds_close_others(p->status[1]);
    execve(program, (char *const *)(uintptr_t)req->argv, (char *const *)(uintptr_t)env);
fail:;
    int failure = errno;
    ssize_t ignored = write(p->status[1], &failure, sizeof failure);
    (void)ignored;
    _exit(127);
}

static void close_end(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}

/* Feeds what the pipe takes; closes it when all is fed or nobody reads. */
static void feed(struct helper *h)
{
    const char *data = h->req->input;
    ssize_t n = write(h->in, data + h->fed, h->req->input_len - h->fed);

    if (n > 0)
        h->fed += (size_t)n;
    else if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n < 0 || h->fed == h->req->input_len)
        close_end(&h->in);
}

/* Reads once: 1 when something came, 0 when nothing is there, -EFBIG past the limit. */
static int drain(int *fd, struct buf *out, size_t *len, size_t limit)
{
    char chunk[16384];
    ssize_t n = *fd < 0 ? 0 : read(*fd, chunk, sizeof chunk);

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return 0;
    if (n <= 0) {
        close_end(fd);
        return 0;
    }
    *len += (size_t)n;
    if (*len > limit)
        return -EFBIG;
    if (out)
        buf_add(out, chunk, (size_t)n);
    return 1;
}

static int pump_once(struct helper *h, int timeout_ms)
{
    struct pollfd fds[] = {{h->in, POLLOUT, 0}, {h->out, POLLIN, 0}, {h->err, POLLIN, 0}};

    if (poll(fds, ARRAY_LEN(fds), timeout_ms) < 0)
        return errno == EINTR ? 0 : -errno;
    if (fds[0].revents)
        feed(h);
    int out = fds[1].revents ? drain(&h->out, h->outbuf, &h->out_len, h->req->limit) : 0;
    if (out < 0)
        return out;
    int err = fds[2].revents ? drain(&h->err, h->errbuf, &h->err_len, h->req->limit) : 0;
    return err < 0 ? err : out || err;
}

/* True when the helper has ended. What it left in its group ends with it: the signal is sent before
 * the reaping, while the number cannot belong to anybody else. */
static bool reap(const struct helper *h, int *status)
{
    siginfo_t info = {0};

    if (waitid(P_PID, (id_t)h->pid, &info, WEXITED | WNOWAIT | WNOHANG) < 0 || info.si_pid == 0)
        return false;
    (void)kill(-h->pid, SIGKILL);
    return waitpid(h->pid, status, 0) == h->pid;
}

/* A grandchild that keeps the pipes open does not delay the end: once the child is gone, what is in
 * the pipes is read and the rest is left. *status is raw. */
static int pump(struct helper *h, int64_t deadline_ns, int *status)
{
    int rc = 0;

    while (h->pid > 0) {
        bool streams = h->out >= 0 || h->err >= 0;
        rc = pump_once(h, streams ? 50 : 2);
        if (rc < 0)
            return rc;
        if (reap(h, status))
            h->pid = -1;
        else if (clock_mono_ns() > deadline_ns)
            return -ETIMEDOUT;
    }
    do
        rc = pump_once(h, 0);
    while (rc > 0);
    return rc;
}

static void kill_helper(struct helper *h)
{
    if (h->pid <= 1)
        return;
    (void)kill(-h->pid, SIGKILL);
    (void)kill(h->pid, SIGKILL);
    while (waitpid(h->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    h->pid = -1;
}

static void set_nonblocking(int fd)
{
    if (fd >= 0)
        (void)fcntl(fd, F_SETFL, O_NONBLOCK);
}

/* Blocks until exec happened (0) or failed (-errno). */
static int exec_status(int fd)
{
    int failure = 0;
    ssize_t n;

    do
        n = read(fd, &failure, sizeof failure);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof failure ? -failure : 0;
}

static int start(struct helper *h, struct pipes *p, const char *program, const char *const *env)
{
    sigset_t all, old;

    /* Blocked until the child has reset its handlers: none of ours may run in it. */
    sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &old);
    h->pid = fork();
    int rc = h->pid < 0 ? -errno : 0;
    if (h->pid == 0)
        child_main(h->req, program, env, p);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (rc < 0)
        return rc;
    close_end(&p->status[1]);
    rc = exec_status(p->status[0]);
    h->in = MEM_STEAL_FD(p->in[1]);
    h->out = MEM_STEAL_FD(p->out[0]);
    h->err = MEM_STEAL_FD(p->err[0]);
    set_nonblocking(h->in);
    set_nonblocking(h->out);
    set_nonblocking(h->err);
    pipes_close(p);
    if (!h->req->input)
        close_end(&h->in);
    return rc;
}

static int explain(const struct spawn_req *req, int rc, int64_t timeout_ms, struct err *e)
{
    const char *name = req->argv[0];

    if (rc == -ETIMEDOUT)
        return err_set(e, rc, "system.spawn", name, "%s did not end within %lld ms and was killed",
                       name, (long long)timeout_ms);
    if (rc == -EFBIG)
        return err_set(e, rc, "system.spawn", name, "%s printed more than %zu bytes", name,
                       req->limit);
    return err_sys(e, rc, "run", name);
}

int spawn_run(const struct spawn_req *req, int *status, struct buf *out, struct buf *errout,
              struct err *e)
{
    const char *const *env = req->env ? req->env : ENV_DEFAULT;
    int64_t timeout_ms = req->timeout_ms ? req->timeout_ms : TIMEOUT_DEFAULT_MS;
    int64_t deadline_ns = clock_mono_ns() + timeout_ms * 1000000;
    struct helper h = {
        .req = req, .pid = -1, .in = -1, .out = -1, .err = -1, .outbuf = out, .errbuf = errout};
    CLEANUP(mem_freep) char *program = find_program(req->argv[0], env);
    struct pipes pipes;
    int raw = 0;

    if (!program)
        return err_set(e, -ENOENT, "system.spawn", req->argv[0],
                       "%s is not in PATH; install it or mend PATH", req->argv[0]);
    int rc = pipes_open(&pipes);
    if (rc == 0)
        rc = start(&h, &pipes, program, env);
    if (rc == 0)
        rc = pump(&h, deadline_ns, &raw);
    kill_helper(&h);
    pipes_close(&pipes);
    close_end(&h.in);
    close_end(&h.out);
    close_end(&h.err);
    if (rc < 0)
        return explain(req, rc, timeout_ms, e);
    *status = WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
    return 0;
}
