#include <sys/socket.h>

#include "server/conn.h"

int64_t peer_uid(int fd)
{
    struct ucred cred;
    socklen_t len = sizeof cred;

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0)
        return -1;
    return (int64_t)cred.uid;
}
