#include "client/link/ssh.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/mem.h"
#include "client/link/spawn.h"

#define END_WAIT_MS 500
#define WORDS_MAX 64 /* of $AURABENCH_SSH */

static const char **build_argv(struct arena *a, const struct address_ssh *to)
{
    const char *program = getenv("AURABENCH_SSH"),
               **argv = arena_array(a, WORDS_MAX + 10, sizeof *argv);
    char *save = NULL, *words = arena_strdup(a, program ? program : "ssh");
    size_t n = 0;

    for (char *w = strtok_r(words, " ", &save); w && n < WORDS_MAX; w = strtok_r(NULL, " ", &save))
        argv[n++] = w;
    if (n == 0)
        argv[n++] = "ssh";
    argv[n++] = "-T";
    if (to->port[0]) {
        argv[n++] = "-p";
        argv[n++] = to->port;
    }
    argv[n++] = "--";
    argv[n++] = to->target;
    argv[n++] = "aurabench";
    argv[n++] = "dial-stdio";
    return argv;
}

int ssh_start(struct ssh *s, const struct address_ssh *to, int *fd, struct err *e)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    const char **argv = build_argv(&a, to);
    int pair[2];

    *s = (struct ssh){0};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
        return err_sys(e, -errno, "open", "a stream to ssh");
    CLEANUP(mem_closep) int mine = pair[0], its = pair[1];
    (void)fcntl(mine, F_SETFD, FD_CLOEXEC);
    (void)fcntl(its, F_SETFD, FD_CLOEXEC);
    const int fds[] = {its, its, -1};
    int rc = spawn_program(&s->pid, argv, fds, false);
    if (rc < 0) {
        s->pid = 0;
        return err_set(e, rc, "daemon.unreachable", "--host",
                       "could not run %s: %s; install ssh, or name it in AURABENCH_SSH", argv[0],
                       strerror(-rc));
    }
    *fd = MEM_STEAL_FD(mine);
    return 0;
}

int ssh_end(struct ssh *s)
{
    int status = 0;
    int64_t until_ns = clock_mono_ns() + END_WAIT_MS * 1000000LL;

    if (s->pid <= 0)
        return 0;
    pid_t gone = 0;
    while ((gone = waitpid(s->pid, &status, WNOHANG)) == 0 && clock_mono_ns() < until_ns)
        clock_sleep_ns(5000000);
    if (gone == 0) {
        (void)kill(s->pid, SIGTERM);
        while (waitpid(s->pid, &status, 0) < 0 && errno == EINTR)
            ;
    }
    s->pid = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
