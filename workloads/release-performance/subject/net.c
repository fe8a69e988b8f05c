#define _POSIX_C_SOURCE 200809L

#include "net.h"

#include "record.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BACKLOG = 16 };

void net_init(void)
{
    if (signal(SIGPIPE, SIG_IGN) == SIG_ERR)
        fail("net: cannot ignore SIGPIPE: %s", strerror(errno));
}

static struct sockaddr_in loopback(uint16_t port)
{
    struct sockaddr_in address;

    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static int new_socket(void)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (fd < 0)
        fail("net: cannot make a socket: %s", strerror(errno));
    return fd;
}

static void set_nodelay(int fd)
{
    int on = 1;

    if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0)
        fail("net: cannot set TCP_NODELAY: %s", strerror(errno));
}

int net_listen(uint16_t *port)
{
    struct sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    int fd = new_socket();

    if (bind(fd, (const struct sockaddr *)&address, sizeof address) != 0)
        fail("net: cannot bind to loopback: %s", strerror(errno));
    if (listen(fd, BACKLOG) != 0)
        fail("net: cannot listen: %s", strerror(errno));
    if (getsockname(fd, (struct sockaddr *)&address, &size) != 0)
        fail("net: cannot read the port of a listener: %s", strerror(errno));
    *port = ntohs(address.sin_port);
    return fd;
}

int net_accept(int listener)
{
    for (;;) {
        int fd = accept(listener, NULL, NULL);

        if (fd >= 0) {
            set_nodelay(fd);
            return fd;
        }
        if (errno != EINTR && errno != ECONNABORTED)
            fail("net: cannot accept: %s", strerror(errno));
    }
}

/* A connect that a signal interrupts goes on by itself; its result is then read here. */
static void finish_connect(int fd)
{
    struct pollfd wait = {.fd = fd, .events = POLLOUT, .revents = 0};
    int error = 0;
    socklen_t size = sizeof error;

    while (poll(&wait, 1, -1) < 0) {
        if (errno != EINTR)
            fail("net: cannot wait for a connection: %s", strerror(errno));
    }
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
        fail("net: cannot read the state of a connection: %s", strerror(errno));
    if (error != 0)
        fail("net: cannot connect: %s", strerror(error));
}

int net_connect(uint16_t port)
{
    struct sockaddr_in address = loopback(port);
    int fd = new_socket();

    if (connect(fd, (const struct sockaddr *)&address, sizeof address) != 0) {
        if (errno != EINTR)
            fail("net: cannot connect to port %u: %s", (unsigned)port, strerror(errno));
        finish_connect(fd);
    }
    set_nodelay(fd);
    return fd;
}

void net_send(int fd, const void *bytes, size_t length)
{
    const char *next = bytes;

    while (length > 0) {
        ssize_t count = send(fd, next, length, 0);

        if (count < 0) {
            if (errno == EINTR)
                continue;
            fail("net: cannot send: %s", strerror(errno));
        }
        next += count;
        length -= (size_t)count;
    }
}

size_t net_receive(int fd, void *bytes, size_t size)
{
    for (;;) {
        ssize_t count = recv(fd, bytes, size, 0);

        if (count >= 0)
            return (size_t)count;
        if (errno != EINTR)
            fail("net: cannot receive: %s", strerror(errno));
    }
}

void net_receive_all(int fd, void *bytes, size_t length)
{
    char *next = bytes;

    while (length > 0) {
        size_t count = net_receive(fd, next, length);

        if (count == 0)
            fail("net: the peer closed the connection %zu bytes too early", length);
        next += count;
        length -= count;
    }
}

void net_close(int fd)
{
    /* After EINTR the descriptor is gone on Linux and on macOS; a second close could hit another.
     */
    if (close(fd) != 0 && errno != EINTR)
        fail("net: cannot close a socket: %s", strerror(errno));
}

void net_wait_ms(long milliseconds)
{
    struct timespec left = {.tv_sec = milliseconds / 1000,
                            .tv_nsec = milliseconds % 1000 * 1000000};

    while (nanosleep(&left, &left) != 0) {
        if (errno != EINTR)
            fail("net: cannot sleep: %s", strerror(errno));
    }
}
