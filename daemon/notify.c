#include "daemon/notify.h"

#include <fcntl.h>
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

int notify_take(void)
{
    const char *socket_name = getenv("NOTIFY_SOCKET");
    const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");
    int fd = -1;

    if (socket_name && (socket_name[0] == '/' || socket_name[0] == '@') &&
        strlen(socket_name) < sizeof manager)
        (void)snprintf(manager, sizeof manager, "%s", socket_name);
    if (pid && fds && strtol(pid, NULL, 10) == (long)getpid() && strtol(fds, NULL, 10) == 1) {
        fd = LISTEN_FDS_START;
        (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
    (void)unsetenv("NOTIFY_SOCKET");
    (void)unsetenv("LISTEN_PID");
    (void)unsetenv("LISTEN_FDS");
    (void)unsetenv("LISTEN_FDNAMES");
    return fd;
}
