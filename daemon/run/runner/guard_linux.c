#include "run/runner/guard.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "run/runner/group.h"
#include "run/runner/sweep.h"

#define REQUESTS 0
/* A runner that is asked to end needs its own sweep's bounds for it. */
#define GRACE_MS 8000

static void signal_runner(int pidfd, int sig)
{
    (void)syscall(SYS_pidfd_send_signal, pidfd, sig, NULL, 0);
}

/* Blocks until the runner ended, or has to end: the daemon closed the pipe, or SIGTERM came. */
static void wait_for_news(int pidfd, int term_fd)
{
    struct pollfd p[] = {{.fd = pidfd, .events = POLLIN},
                         {.fd = term_fd, .events = POLLIN},
                         {.fd = REQUESTS}}; /* of this one only its end is news */

    while (poll(p, ARRAY_LEN(p), -1) < 0 && errno == EINTR)
        ;
}

/* A runner that does not end when it should is stopped or stuck. */
static void end_runner(int pidfd)
{
    struct pollfd p = {.fd = pidfd, .events = POLLIN};

    signal_runner(pidfd, SIGTERM);
    (void)poll(&p, 1, GRACE_MS);
    signal_runner(pidfd, SIGKILL);
}

/* All signals are blocked here: none but KILL and STOP reaches the guard. */
_Noreturn static void be_guard(pid_t runner, const sigset_t *term)
{
    static struct ending ending;
    static struct swept swept;
    int pidfd = (int)syscall(SYS_pidfd_open, runner, 0), status = 0;

    group_sweep();
    if (pidfd >= 0) {
        wait_for_news(pidfd, signalfd(-1, term, SFD_CLOEXEC));
        end_runner(pidfd);
    }
    while (waitpid(runner, &status, 0) < 0 && errno == EINTR)
        ;
    sweep_run(NULL, &ending, &swept);
    group_remove(runner);
    exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

int guard_split(void)
{
    pid_t guard = getpid();
    sigset_t term, all, before;

    (void)sigemptyset(&term);
    (void)sigaddset(&term, SIGTERM);
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, &before);
    pid_t pid = fork();
    if (pid < 0)
        return -errno;
    if (pid > 0)
        be_guard(pid, &term);
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != guard)
        return -ECHILD;
    return 0;
}
