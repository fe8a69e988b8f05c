#include "daemon/notify.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define LISTEN_FDS_START 3

/* The manager's address; the environment no longer has it. */
static char manager[sizeof((struct sockaddr_un *)0)->sun_path];

void notify_send(const char *state)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    size_t len = strlen(manager);

    if (len == 0)
        return;
    memcpy(addr.sun_path, manager, len);
    if (addr.sun_path[0] == '@')
        addr.sun_path[0] = '\0';
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    if (fd < 0)
        return;
    (void)sendto(fd, state, strlen(state), MSG_DONTWAIT, (struct sockaddr *)&addr,
                 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len));
    (void)close(fd);
}

/* How many descriptors were handed over to this very process. */
static long handed_over(void)
{
    const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");

    return pid && fds && strtol(pid, NULL, 10) == (long)getpid() ? strtol(fds, NULL, 10) : 0;
}

static bool is_listening_stream(int fd)
{
    int listening = 0, type = 0;
    socklen_t len = sizeof listening, type_len = sizeof type;

    return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &len) == 0 && listening &&
           getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &type_len) == 0 && type == SOCK_STREAM;
}

int notify_take(int *listen_fd, struct err *e)
{
    const char *socket_name = getenv("NOTIFY_SOCKET");
    long n = handed_over();

    *listen_fd = -1;
    if (socket_name && (socket_name[0] == '/' || socket_name[0] == '@') &&
        strlen(socket_name) < sizeof manager)
        (void)snprintf(manager, sizeof manager, "%s", socket_name);
    (void)unsetenv("NOTIFY_SOCKET");
    (void)unsetenv("LISTEN_PID");
    (void)unsetenv("LISTEN_FDS");
    (void)unsetenv("LISTEN_FDNAMES");
    if (n == 0)
        return 0;
    if (n != 1 || !is_listening_stream(LISTEN_FDS_START))
        return err_set(e, -EINVAL, "daemon.socket_path", "LISTEN_FDS",
                       "the service manager handed over %ld descriptors, and exactly one listening "
                       "stream socket is expected; see aurabenchd.socket",
                       n);
    (void)fcntl(LISTEN_FDS_START, F_SETFD, FD_CLOEXEC);
    *listen_fd = LISTEN_FDS_START;
    return 0;
}
