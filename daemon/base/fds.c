#include "base/fds.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

/* Not atomic with the creation, unlike pipe2 and SOCK_CLOEXEC, which macOS lacks: every child of
 * ours closes what is above 2 by itself. */
static int close_on_exec(int fd)
{
    return fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 ? -errno : 0;
}

int fds_pipe(int ends[2])
{
    if (pipe(ends) < 0)
        return -errno;
    int rc = close_on_exec(ends[0]);
    if (rc == 0)
        rc = close_on_exec(ends[1]);
    if (rc < 0) {
        (void)close(ends[0]);
        (void)close(ends[1]);
        ends[0] = ends[1] = -1;
    }
    return rc;
}

static int no_child_inherits(int fd)
{
    if (fd < 0)
        return -errno;
    int rc = close_on_exec(fd);
    if (rc < 0) {
        (void)close(fd);
        return rc;
    }
    return fd;
}

int fds_socket(void)
{
    return no_child_inherits(socket(AF_UNIX, SOCK_STREAM, 0));
}

int fds_accept(int listener)
{
    return no_child_inherits(accept(listener, NULL, NULL));
}
