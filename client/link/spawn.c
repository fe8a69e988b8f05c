#include "client/link/spawn.h"

#include <signal.h>
#include <spawn.h>

extern char **environ; /* NOLINT(readability-redundant-declaration): not everywhere */

static int spawn_with(pid_t *pid, const char *const *argv, const posix_spawn_file_actions_t *files,
                      bool own_group)
{
    short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    posix_spawnattr_t attributes;
    sigset_t none, defaults;

    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    int rc = posix_spawnattr_init(&attributes);
    if (rc)
        return rc;
    (void)posix_spawnattr_setsigmask(&attributes, &none);
    (void)posix_spawnattr_setsigdefault(&attributes, &defaults);
    if (own_group) {
        (void)posix_spawnattr_setpgroup(&attributes, 0);
        flags |= POSIX_SPAWN_SETPGROUP;
    }
    (void)posix_spawnattr_setflags(&attributes, flags);
    rc = posix_spawnp(pid, argv[0], files, &attributes, (char *const *)argv, environ);
    (void)posix_spawnattr_destroy(&attributes);
    return rc;
}

int spawn_program(pid_t *pid, const char *const *argv, const int fds[3], bool own_group)
{
    posix_spawn_file_actions_t files;
    int rc = posix_spawn_file_actions_init(&files);

    if (rc)
        return -rc;
    for (int i = 0; i < 3; i++)
        if (fds[i] >= 0)
            (void)posix_spawn_file_actions_adddup2(&files, fds[i], i);
    rc = spawn_with(pid, argv, &files, own_group);
    (void)posix_spawn_file_actions_destroy(&files);
    return -rc;
}
