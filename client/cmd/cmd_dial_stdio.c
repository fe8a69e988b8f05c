/* aurabench dial-stdio: joins stdin and stdout with the socket of this machine's daemon. It is what
 * runs at the far end of `aurabench -H ssh://HOST`. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/files.h"
#include "base/mem.h"
#include "client/cmd/commands.h"

/* One direction. An end of input is passed on, and the other direction goes on. */
struct flow {
    int from, to;
    bool to_socket;
    char data[65536];
    size_t start, len; /* what was read and is not yet written */
    bool ended;        /* nothing more will be read */
    bool over;         /* all is written, and the end passed on */
};

static void pass_end(struct flow *f)
{
    if (f->to_socket)
        (void)shutdown(f->to, SHUT_WR);
    else
        (void)close(f->to);
    f->over = true;
}

static int flow_read(struct flow *f)
{
    ssize_t n = read(f->from, f->data, sizeof f->data);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (n < 0 && errno != ECONNRESET)
        return -errno;
    f->start = 0;
    f->len = n > 0 ? (size_t)n : 0;
    f->ended = n <= 0;
    return 0;
}

/* Writes what goes without waiting. Whoever reads no more ends this direction. */
static int flow_write(struct flow *f)
{
    ssize_t n = write(f->to, f->data + f->start, f->len);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (n < 0 && (errno == EPIPE || errno == ECONNRESET)) {
        f->ended = true;
        n = (ssize_t)f->len;
    }
    if (n < 0)
        return -errno;
    f->start += (size_t)n;
    f->len -= (size_t)n;
    return 0;
}

static struct pollfd flow_wish(const struct flow *f)
{
    if (f->over)
        return (struct pollfd){-1, 0, 0};
    return f->len ? (struct pollfd){f->to, POLLOUT, 0} : (struct pollfd){f->from, POLLIN, 0};
}

static int flow_step(struct flow *f, short revents)
{
    int rc = 0;

    if (revents)
        rc = f->len ? flow_write(f) : flow_read(f);
    if (rc == 0 && f->ended && f->len == 0 && !f->over)
        pass_end(f);
    return rc;
}

/* Until the daemon has said its last word, what stdin still had to say is of no use then; or until
 * nobody is left to read it: the daemon may have nothing to say for hours. */
static int join(struct flow *up, struct flow *down, struct err *e)
{
    int rc = 0;
    bool heard = true;

    while (rc == 0 && heard && !down->over) {
        struct pollfd wishes[] = {flow_wish(up), flow_wish(down), {down->to, 0, 0}};
        if (poll(wishes, ARRAY_LEN(wishes), -1) < 0) {
            rc = errno == EINTR ? 0 : -errno;
            continue;
        }
        rc = flow_step(up, wishes[0].revents);
        if (rc == 0)
            rc = flow_step(down, wishes[1].revents);
        heard = !(wishes[2].revents & (POLLERR | POLLHUP));
    }
    return rc < 0 ? err_sys(e, rc, "copy between", "stdio and the daemon") : 0;
}

static int run(struct cli *cli, const void *values, const struct opt_words *words)
{
    struct err e = {0};
    int fd = -1;

    (void)values;
    (void)words;
    if (cli->shared.host) {
        err_set(&e, -EINVAL, "usage", "--host",
                "dial-stdio is for the daemon of this machine; "
                "leave out --host");
        return cli_fail(cli, &e);
    }
    if (connection_dial(cli->shared.socket, &fd, &e) < 0)
        return cli_fail(cli, &e);
    struct flow *up = mem_alloc(sizeof *up), *down = mem_alloc(sizeof *down);
    *up = (struct flow){.from = STDIN_FILENO, .to = fd, .to_socket = true};
    *down = (struct flow){.from = fd, .to = STDOUT_FILENO};
    int rc = join(up, down, &e);
    (void)close(fd);
    free(up);
    free(down);
    return rc < 0 ? cli_fail(cli, &e) : EXIT_GOOD;
}

const struct command command_dial_stdio = {
    .name = "dial-stdio",
    .usage = "",
    .summary = "join stdin and stdout with the daemon's socket (for --host)",
    .run = run,
};
