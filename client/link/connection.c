#include "client/link/connection.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "client/link/address.h"
#include "client/link/ssh.h"
#include "proto/wire/frame.h"

/* Both longer than a daemon that measures lets anyone wait. */
#define CONNECT_TIMEOUT_MS 30000
#define HELLO_TIMEOUT_MS 30000
#define WAITING_AFTER_MS 1000
#define KEPT_MAX 4096 /* notifications */

struct connection {
    int fd;
    struct ssh ssh;
    const char *host; /* as named; NULL: this machine */
    char socket[ADDRESS_SOCKET_MAX + 1];
    int64_t deadline_ns;
    bool say_waiting;
    bool greeted;
    int64_t last_id;
    struct frame_reader reader;
    struct answer *kept; /* notifications, oldest first */
    size_t n_kept, cap_kept;
};

void answer_deinit(struct answer *answer)
{
    rpc_message_deinit(&answer->msg);
    arena_deinit(&answer->a);
    answer->msg = (struct rpc_message){0};
}

/* ---- errors */

static int timed_out(struct err *e)
{
    return err_set(e, -ETIMEDOUT, "client.timeout", "--timeout",
                   "the time of --timeout is over and the answer has not come; the daemon goes on "
                   "with what it was asked to do");
}

/* The stream ended before the hello. */
static int not_greeted(struct connection *c, struct err *e)
{
    if (!c->host) /* most likely a daemon that was just ending */
        return err_set(e, -EPIPE, "daemon.unreachable", "--socket",
                       "whoever listens at %s hung up without a word; is it aurabenchd?",
                       c->socket);
    (void)close(c->fd);
    c->fd = -1;
    int status = ssh_end(&c->ssh);
    if (status == 127)
        return err_set(e, -ECONNREFUSED, "daemon.unreachable", "--host",
                       "%s has no program aurabench in the PATH of that user; install it there",
                       c->host);
    return err_set(
        e, -ECONNREFUSED, "daemon.unreachable", "--host",
        "ssh to %s ended with status %d before a daemon answered; its own message stands "
        "above",
        c->host, status);
}

static int lost(struct connection *c, struct err *e)
{
    if (!c->greeted)
        return not_greeted(c, e);
    return err_set(
        e, -EPIPE, "daemon.unreachable", "",
        "the connection to the daemon broke; see aurabench status, and aurabench list for "
        "what became of the jobs");
}

/* ---- bytes */

static int ms_until(int64_t deadline_ns)
{
    int64_t left_ns = deadline_ns - clock_mono_ns();

    if (deadline_ns < 0)
        return -1;
    if (left_ns <= 0)
        return 0;
    return left_ns > INT32_MAX * 1000000LL ? INT32_MAX : (int)((left_ns + 999999) / 1000000);
}

/* A daemon that measures answers between two observations, so silence is no error. Said once. */
static void say_measuring(bool *say)
{
    if (*say)
        (void)fputs("the host is measuring; the answer comes between two observations\n", stderr);
    *say = false;
}

static bool tell_waiting(struct connection *c, int *timeout_ms)
{
    bool tells = c->say_waiting && (c->greeted || !c->host);

    if (tells && (*timeout_ms < 0 || *timeout_ms > WAITING_AFTER_MS))
        *timeout_ms = WAITING_AFTER_MS;
    return tells;
}

/* Waits until events are there: 0 or an error. is_answer: what comes is an answer to a question. */
static int await(struct connection *c, short events, bool is_answer, struct err *e)
{
    struct pollfd p = {c->fd, events, 0};

    for (;;) {
        int timeout_ms = ms_until(c->deadline_ns);
        bool tells = is_answer && tell_waiting(c, &timeout_ms);
        int n = poll(&p, 1, timeout_ms);
        if (n > 0)
            return 0;
        if (n < 0 && errno != EINTR)
            return err_sys(e, -errno, "wait for", "the daemon");
        if (n == 0 && ms_until(c->deadline_ns) == 0)
            return timed_out(e);
        if (n == 0 && tells)
            say_measuring(&c->say_waiting);
    }
}

static int send_all(struct connection *c, const struct buf *b, struct err *e)
{
    size_t sent = 0;

    while (sent < b->len) {
        ssize_t n = write(c->fd, b->data + sent, b->len - sent);
        if (n >= 0)
            sent += (size_t)n;
        else if (errno == EAGAIN) {
            int rc = await(c, POLLOUT, true, e);
            if (rc < 0)
                return rc;
        } else if (errno == EPIPE || errno == ECONNRESET)
            return 0; /* why it hung up may stand to be read; if not, reading finds it gone */
        else if (errno != EINTR)
            return lost(c, e);
    }
    return 0;
}

/* Reads once what is there. */
static int fill(struct connection *c, bool is_answer, struct err *e)
{
    char chunk[65536];
    int rc = await(c, POLLIN, is_answer, e);

    if (rc < 0)
        return rc;
    ssize_t n = recv(c->fd, chunk, sizeof chunk, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (n <= 0)
        return lost(c, e);
    frame_push(&c->reader, chunk, (size_t)n);
    return 0;
}

static int next_line(struct connection *c, bool is_answer, const char **line, size_t *len,
                     struct err *e)
{
    for (;;) {
        int rc = frame_next(&c->reader, line, len, e);
        if (rc == 1)
            return 0;
        if (rc == 0)
            rc = fill(c, is_answer, e);
        if (rc < 0)
            return rc;
    }
}

/* ---- opening */

static int unreachable(const char *path, int error, struct err *e)
{
    if (error == EACCES || error == EPERM)
        return address_denied(path, e);
    bool missing = error == ENOENT;
    return err_set(
        e, -ECONNREFUSED, "daemon.unreachable", "--socket",
        "no aurabenchd answers at %s (%s); start it, or name the socket of a running one "
        "with --socket",
        path, missing ? "there is no such socket" : strerror(error));
}

/* How long, and whether a person is to be told of it. */
struct patience {
    int64_t deadline_ns; /* -1: none of the caller's */
    bool say_waiting;
};

/* A full queue of a daemon that measures makes connect say EAGAIN at once: tried again. */
static int connect_to(int fd, const char *path, struct patience *p, struct err *e)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int64_t began_ns = clock_mono_ns(), now_ns;

    memcpy(to.sun_path, path, strlen(path) + 1);
    while (connect(fd, (struct sockaddr *)&to, sizeof to) < 0) {
        int error = errno;
        now_ns = clock_mono_ns();
        if ((error != EAGAIN && error != EINTR) ||
            now_ns - began_ns >= CONNECT_TIMEOUT_MS * 1000000LL)
            return unreachable(path, error, e);
        if (p->deadline_ns >= 0 && now_ns >= p->deadline_ns)
            return timed_out(e);
        if (now_ns - began_ns >= WAITING_AFTER_MS * 1000000LL)
            say_measuring(&p->say_waiting);
        clock_sleep_ns(20000000);
    }
    return 0;
}

static int dial(const char *path, struct patience *p, int *out, struct err *e)
{
    CLEANUP(mem_closep) int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    if (fd < 0)
        return err_sys(e, -errno, "open", "a socket");
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    if (fcntl(fd, F_SETFL, O_NONBLOCK) < 0)
        return err_sys(e, -errno, "open", "a socket");
    int rc = connect_to(fd, path, p, e);
    if (rc == 0)
        *out = MEM_STEAL_FD(fd);
    return rc;
}

int connection_dial(const char *socket_option, int *fd, struct err *e)
{
    struct patience patience = {.deadline_ns = -1};
    char path[ADDRESS_SOCKET_MAX + 1];
    int rc = address_socket(socket_option, path, e);

    return rc < 0 ? rc : dial(path, &patience, fd, e);
}

static int dial_here(struct connection *c, const struct connection_how *how, struct err *e)
{
    struct patience patience = {how->deadline_ns, how->say_waiting};
    int rc = address_socket(how->socket, c->socket, e);

    if (rc == 0)
        rc = dial(c->socket, &patience, &c->fd, e);
    c->say_waiting = patience.say_waiting;
    return rc;
}

static int open_stream(struct connection *c, const struct connection_how *how, struct err *e)
{
    struct address_ssh to;

    if (!how->host)
        return dial_here(c, how, e);
    if (how->socket)
        return err_set(e, -EINVAL, "usage", "--socket",
                       "--socket names a socket of this machine; leave it out with --host, the "
                       "other machine's default is used");
    int rc = address_ssh(how->host, &to, e);
    if (rc == 0)
        rc = ssh_start(&c->ssh, &to, &c->fd, e);
    if (rc == 0 && fcntl(c->fd, F_SETFL, O_NONBLOCK) < 0)
        rc = err_sys(e, -errno, "open", "a stream to ssh");
    return rc;
}

/* The first line. Ssh has limits of its own, and may be asking its user for a password. */
static int first_line(struct connection *c, const char **line, size_t *len, struct err *e)
{
    struct err why = {0};
    int64_t deadline_ns = c->deadline_ns;
    int64_t limit_ns = clock_mono_ns() + HELLO_TIMEOUT_MS * 1000000LL;
    bool limited = !c->host && (deadline_ns < 0 || deadline_ns > limit_ns);

    if (limited)
        c->deadline_ns = limit_ns;
    int rc = next_line(c, true, line, len, &why);
    c->deadline_ns = deadline_ns;
    if (rc == -EMSGSIZE)
        return err_set(e, -ECONNREFUSED, "daemon.not_ours", "--socket",
                       "what answers is not aurabenchd: its first line has no end");
    if (rc == -ETIMEDOUT && limited)
        return err_set(
            e, -ECONNREFUSED, "daemon.unreachable", "--socket",
            "whoever listens at %s has said nothing for %d s; is it aurabenchd, and does "
            "it run?",
            c->socket, HELLO_TIMEOUT_MS / 1000);
    return rc < 0 ? err_set(e, rc, why.code, why.field, "%s", why.text) : 0;
}

static int greet(struct connection *c, struct err *e)
{
    struct arena a = {0};
    struct hello hello;
    const char *line = NULL;
    size_t len = 0;
    int rc = first_line(c, &line, &len, e);

    if (rc == 0 && hello_decode(&a, line, len, &hello, e) < 0)
        rc = -ECONNREFUSED;
    arena_deinit(&a);
    c->greeted = rc == 0;
    return rc;
}

int connection_open(const struct connection_how *how, struct connection **out, struct err *e)
{
    struct connection *c = mem_alloc(sizeof *c);

    c->fd = -1;
    c->host = how->host;
    c->deadline_ns = how->deadline_ns;
    c->say_waiting = how->say_waiting;
    int rc = open_stream(c, how, e);
    if (rc < 0) {
        connection_close(c);
        c = NULL;
    }
    *out = c;
    return rc;
}

void connection_close(struct connection *c)
{
    if (!c)
        return;
    if (c->fd >= 0)
        (void)close(c->fd);
    (void)ssh_end(&c->ssh);
    for (size_t i = 0; i < c->n_kept; i++)
        answer_deinit(&c->kept[i]);
    free(c->kept);
    frame_reader_deinit(&c->reader);
    free(c);
}

/* ---- messages */

static int answer_unread(struct err *e, const struct err *why)
{
    return err_set(e, -EPROTO, "daemon.version", why->field,
                   "the daemon's answer could not be read: %.400s; use the same version on both "
                   "sides (aurabench --version, aurabench status)",
                   why->text);
}

int connection_check(const struct json_in *in, struct err *e)
{
    if (in->rc == 0)
        return 0;
    struct err why = *in->e;
    err_clear(e);
    return answer_unread(e, &why);
}

static int next_message(struct connection *c, bool is_answer, struct answer *out, struct err *e)
{
    const char *line = NULL;
    size_t len = 0;
    struct err why = {0};
    int rc = next_line(c, is_answer, &line, &len, &why);

    if (rc == -EMSGSIZE)
        return answer_unread(e, &why);
    if (rc < 0)
        return err_set(e, rc, why.code, why.field, "%s", why.text);
    if (rpc_message_decode(&out->a, line, len, &out->msg, &why) == 0)
        return 0;
    answer_deinit(out);
    return answer_unread(e, &why);
}

static void keep(struct connection *c, struct answer *note)
{
    if (c->n_kept == KEPT_MAX) {
        answer_deinit(note);
        return;
    }
    MEM_GROW(c->kept, c->n_kept, c->cap_kept);
    c->kept[c->n_kept++] = *note;
    *note = (struct answer){0};
}

int connection_receive(struct connection *c, int64_t id, struct answer *out, struct err *e)
{
    int rc = c->greeted ? 0 : greet(c, e);

    *out = (struct answer){0};
    while (rc == 0) {
        rc = next_message(c, true, out, e);
        if (rc < 0)
            return rc;
        if (out->msg.kind == RPC_NOTIFICATION) {
            keep(c, out);
            continue;
        }
        if (out->msg.kind == RPC_ERROR) {
            rc = err_set(e, -EREMOTEIO, out->msg.error.code, out->msg.error.field, "%s",
                         out->msg.error.text);
            answer_deinit(out);
            return rc;
        }
        if (out->msg.id == id)
            return 0;
        struct err why = {.text = "it answers a question that was not asked"};
        answer_deinit(out);
        return answer_unread(e, &why);
    }
    return rc;
}

int connection_send(struct connection *c, const char *method, const char *params, int64_t *id,
                    struct err *e)
{
    CLEANUP(buf_deinit) struct buf b = {0};
    struct rpc_out r;

    *id = ++c->last_id;
    rpc_begin_request(&r, &b, *id, method);
    json_put_raw(&r.o, "params", params ? params : "{}");
    int rc = rpc_end(&r, e);
    return rc < 0 ? rc : send_all(c, &b, e);
}

int connection_call(struct connection *c, const char *method, const char *params,
                    struct answer *answer, struct err *e)
{
    int64_t id = 0;
    int rc = connection_send(c, method, params, &id, e);

    *answer = (struct answer){0};
    return rc < 0 ? rc : connection_receive(c, id, answer, e);
}

int connection_next(struct connection *c, struct answer *answer, struct err *e)
{
    *answer = (struct answer){0};
    if (c->n_kept) {
        *answer = c->kept[0];
        memmove(c->kept, c->kept + 1, --c->n_kept * sizeof *c->kept);
        return 0;
    }
    int rc = next_message(c, false, answer, e);
    if (rc < 0 || answer->msg.kind == RPC_NOTIFICATION)
        return rc;
    struct err why = {.text = "it answers a question that was not asked"};
    answer_deinit(answer);
    return answer_unread(e, &why);
}
