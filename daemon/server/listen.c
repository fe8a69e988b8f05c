#include "server/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fds.h"
#include "base/mem.h"
#include "server/server.h"

#define TURN_WAIT_NS 20000000LL
#define TURN_TRIES 500 /* 10 s: a turn takes a moment */

/* ---- whose turn it is */

static int wait_turn(int fd, const char *folder, struct err *e)
{
    for (int i = 0; i < TURN_TRIES; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return 0;
        if (errno != EWOULDBLOCK && errno != EINTR)
            return err_sys(e, -errno, "lock", folder);
        clock_sleep_ns(TURN_WAIT_NS);
    }
    return err_set(e, -EWOULDBLOCK, "daemon.socket_busy", "--socket",
                   "another program holds a lock on %s; end it or name another path", folder);
}

static int take_turn(const char *path, int *fd, struct err *e)
{
    CLEANUP(mem_freep) char *folder = mem_strdup(path);
    char *slash = strrchr(folder, '/');

    if (slash)
        slash[slash == folder] = '\0';
    const char *name = slash ? folder : ".";
    CLEANUP(mem_closep) int lock = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock < 0)
        return err_sys(e, -errno, "open", name);
    int rc = wait_turn(lock, name, e);
    if (rc == 0)
        *fd = MEM_STEAL_FD(lock);
    return rc;
}

/* ---- what lies there */

/* How a connection to addr fares: 0 when somebody answers, or will. */
static int knock(const struct sockaddr_un *addr)
{
    CLEANUP(mem_closep) int fd = fds_socket();

    /* A full queue must not make us wait: it is an answer, too. */
    if (fd < 0 || fcntl(fd, F_SETFL, O_NONBLOCK) < 0)
        return fd < 0 ? fd : -errno;
    if (connect(fd, (const struct sockaddr *)addr, sizeof *addr) == 0 || errno == EAGAIN ||
        errno == EINPROGRESS)
        return 0;
    return -errno;
}

static int remove_stale(const struct sockaddr_un *addr, uid_t owner, struct err *e)
{
    if (owner != geteuid())
        return err_set(e, -EPERM, "daemon.socket_path", "--socket",
                       "nobody answers on the socket %s, but it belongs to user %lu, who alone may "
                       "remove it; remove it or name another path",
                       addr->sun_path, (unsigned long)owner);
    return unlink(addr->sun_path) < 0 && errno != ENOENT
               ? err_sys(e, -errno, "remove", addr->sun_path)
               : 0;
}

static int clear_path(const struct sockaddr_un *addr, struct err *e)
{
    struct stat st;

    if (lstat(addr->sun_path, &st) < 0)
        return errno == ENOENT ? 0 : err_sys(e, -errno, "look at", addr->sun_path);
    if (!S_ISSOCK(st.st_mode))
        return err_set(e, -EEXIST, "daemon.socket_path", "--socket",
                       "%s exists and is no socket; remove it or name another path",
                       addr->sun_path);
    int rc = knock(addr);
    if (rc == 0)
        return err_set(e, -EADDRINUSE, "daemon.socket_busy", "--socket",
                       "another daemon answers on %s; stop it or name another path",
                       addr->sun_path);
    if (rc == -EPROTOTYPE)
        return err_set(e, -EEXIST, "daemon.socket_path", "--socket",
                       "%s is another program's socket of another kind; name another path",
                       addr->sun_path);
    /* Anything but a refusal does not say that nobody is there. */
    if (rc != -ECONNREFUSED && rc != -ENOENT)
        return err_sys(e, rc, "connect to", addr->sun_path);
    return remove_stale(addr, st.st_uid, e);
}

/* ---- binding */

static int bind_and_listen(int fd, const struct sockaddr_un *addr, struct err *e)
{
    mode_t old = umask(0117); /* 0660: the group decides who may submit */
    int rc = bind(fd, (const struct sockaddr *)addr, sizeof *addr) < 0 ? -errno : 0;

    (void)umask(old);
    if (rc < 0)
        return err_sys(e, rc, "bind", addr->sun_path);
    if (listen(fd, LISTEN_BACKLOG) == 0)
        return 0;
    rc = -errno;
    (void)unlink(addr->sun_path);
    return err_sys(e, rc, "listen on", addr->sun_path);
}

int listen_at(const char *path, int *fd, struct err *e)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    CLEANUP(mem_closep) int turn = -1;

    if (strlen(path) > SERVER_PATH_MAX)
        return err_set(e, -ENAMETOOLONG, "daemon.socket_path", "--socket",
                       "the socket path has %zu bytes, at most %d are possible; name a shorter one",
                       strlen(path), SERVER_PATH_MAX);
    (void)snprintf(addr.sun_path, sizeof addr.sun_path, "%s", path);
    CLEANUP(mem_closep) int made = fds_socket();
    if (made < 0)
        return err_sys(e, made, "create", "a socket");
    int rc = take_turn(path, &turn, e);
    if (rc == 0)
        rc = clear_path(&addr, e);
    if (rc == 0)
        rc = bind_and_listen(made, &addr, e);
    if (rc == 0)
        *fd = MEM_STEAL_FD(made);
    return rc;
}
