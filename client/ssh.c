#include "client/ssh.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/mem.h"

extern char **environ; /* NOLINT(readability-redundant-declaration): not everywhere */

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

/* SIGPIPE, which this program ignores, and the mask must not be inherited. */
static int spawn_with(pid_t *pid, const char **argv, int fd)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, defaults;

    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    int rc = posix_spawn_file_actions_init(&files);
    if (rc)
        return -rc;
    rc = posix_spawnattr_init(&attributes);
    if (rc == 0) {
        (void)posix_spawn_file_actions_adddup2(&files, fd, 0);
        (void)posix_spawn_file_actions_adddup2(&files, fd, 1);
        (void)posix_spawnattr_setsigmask(&attributes, &none);
        (void)posix_spawnattr_setsigdefault(&attributes, &defaults);
        (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        rc = posix_spawnp(pid, argv[0], &files, &attributes, (char **)argv, environ);
        (void)posix_spawnattr_destroy(&attributes);
    }
    (void)posix_spawn_file_actions_destroy(&files);
    return -rc;
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
    int rc = spawn_with(&s->pid, argv, its);
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
