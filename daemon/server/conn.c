#include "server/conn.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"

/* With more than this waiting to be written, no further request is taken. */
#define WRITE_PAUSE_BYTES ((size_t)1 << 20)
/* With more than this, the peer is given up. Nothing that follows the rules comes so far: a last
 * guard. */
#define WRITE_LIMIT_BYTES ((size_t)4 << 20)
/* With less than this, what was held back of notifications is sent. */
#define WRITE_LOW_BYTES ((size_t)32 << 10)

struct pending {
    uv_write_t req;
    struct conn *conn;
    char *data;
};

static void serve(struct conn *c);

static size_t unwritten(const struct conn *c)
{
    return uv_stream_get_write_queue_size((const uv_stream_t *)&c->pipe);
}

/* ---- what is held */

static void account(struct conn *c, size_t held)
{
    c->owner.shared->held += held - c->held;
    c->held = held;
}

static void account_all(struct conn *c)
{
    account(c, c->closing ? 0 : frame_held(&c->reader) + unwritten(c));
}

/* What it wants more of is more than its share, and nothing is left. */
static bool is_greedy(const struct conn *c, size_t wanted)
{
    return c->owner.shared->held > CONN_HELD_MAX && wanted > CONN_HELD_SHARE;
}

/* ---- the end */

static void on_closed(uv_handle_t *handle)
{
    struct conn *c = handle->data;
    struct conn_owner owner = c->owner;

    frame_reader_deinit(&c->reader);
    free(c);
    owner.gone(owner.ctx);
}

void conn_close(struct conn *c)
{
    if (c->closing)
        return;
    c->closing = true;
    account_all(c);
    if (c->session)
        api_session_close(c->session);
    c->session = NULL;
    if (c->prev)
        c->prev->next = c->next;
    if (c->next)
        c->next->prev = c->prev;
    uv_close((uv_handle_t *)&c->pipe, on_closed);
}

/* ---- writing */

static void on_written(uv_write_t *req, int status)
{
    struct pending *p = (struct pending *)req;
    struct conn *c = p->conn;

    free(p->data);
    free(p);
    if (c->closing)
        return;
    if (status < 0)
        conn_close(c);
    else
        serve(c);
}

/* Not closed here, in the middle of the caller's work: what is being written or read fails, and its
 * callback closes. */
static void give_up(struct conn *c)
{
    uv_os_fd_t fd;

    c->give_up = true;
    if (uv_fileno((uv_handle_t *)&c->pipe, &fd) == 0)
        (void)shutdown(fd, SHUT_RDWR);
}

static void conn_send(void *ctx, const char *data, size_t len)
{
    struct conn *c = ctx;
    struct pending *p;
    uv_buf_t buf;

    if (c->closing)
        return;
    account_all(c);
    if (unwritten(c) > WRITE_LIMIT_BYTES || is_greedy(c, unwritten(c))) {
        give_up(c);
        return;
    }
    p = mem_alloc(sizeof *p);
    p->conn = c;
    p->data = mem_alloc(len);
    memcpy(p->data, data, len);
    buf = uv_buf_init(p->data, (unsigned)len);
    if (uv_write(&p->req, (uv_stream_t *)&c->pipe, &buf, 1, on_written) < 0) {
        free(p->data);
        free(p);
        give_up(c);
    }
}

/* ---- reading */

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    struct conn_shared *shared = ((struct conn *)handle->data)->owner.shared;

    (void)suggested;
    *buf = uv_buf_init(shared->chunk, sizeof shared->chunk);
}

/* Whether nobody is left at the other end, not even to read. The end of what the peer sends does
 * not say so: it may have closed its own direction only. */
static bool peer_is_gone(const struct conn *c)
{
    struct pollfd p = {.events = 0};

    return uv_fileno((const uv_handle_t *)&c->pipe, &p.fd) == 0 && poll(&p, 1, 0) > 0 &&
           (p.revents & (POLLHUP | POLLERR)) != 0;
}

static void hang_up_busy(struct conn *c)
{
    struct err e = {0};

    (void)err_set(&e, -ENOMEM, "daemon.busy", NULL,
                  "the daemon's connections hold all that they may hold together, and this one "
                  "more than its share; try again later");
    api_session_bad_line(c->session, &e);
    conn_close(c);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct conn *c = stream->data;

    if (n > 0) {
        frame_push(&c->reader, buf->base, (size_t)n);
        /* It has been told: nothing but its end is worth waiting for. */
        c->give_up = frame_is_endless(&c->reader);
    } else if (n == UV_EOF) {
        /* Half-closed: what was asked is still answered. */
        c->ended = true;
        c->gone = peer_is_gone(c);
        c->reading = false;
        (void)uv_read_stop(stream);
        c->owner.ended(c->owner.ctx);
    } else if (n < 0) {
        c->give_up = true;
    }
    serve(c);
}

static bool takes_requests(const struct conn *c)
{
    return !c->closing && !c->give_up && !api_session_busy(c->session) &&
           unwritten(c) < WRITE_PAUSE_BYTES;
}

static void take_lines(struct conn *c)
{
    const char *line;
    size_t len;

    while (takes_requests(c)) {
        struct err e = {0};
        int rc = frame_next(&c->reader, &line, &len, &e);
        if (rc == 0)
            break;
        if (rc < 0)
            api_session_bad_line(c->session, &e);
        else
            api_session_line(c->session, line, len);
    }
    if (!c->closing)
        api_session_settle(c->session);
}

static void set_reading(struct conn *c, bool on)
{
    if (on == c->reading || (on && c->ended))
        return;
    c->reading = on;
    if (on)
        (void)uv_read_start((uv_stream_t *)&c->pipe, on_alloc, on_read);
    else
        (void)uv_read_stop((uv_stream_t *)&c->pipe);
}

/* Does whatever can be done now: takes lines, reads on or holds back, closes at the end. */
static void serve(struct conn *c)
{
    if (c->closing)
        return;
    if (unwritten(c) < WRITE_LOW_BYTES)
        api_session_flush(c->session);
    take_lines(c);
    account_all(c);
    if (is_greedy(c, frame_held(&c->reader)) && !c->give_up) {
        hang_up_busy(c);
        return;
    }
    set_reading(c, takes_requests(c));
    bool over = c->ended && takes_requests(c) && unwritten(c) == 0 &&
                (c->gone || !api_session_watches(c->session));
    if (over || c->give_up)
        conn_close(c);
}

void conn_check_peer(struct conn *c)
{
    if (!c->ended || c->gone || c->closing)
        return;
    c->gone = peer_is_gone(c);
    if (c->gone)
        serve(c);
}

static void conn_idle(void *ctx)
{
    serve(ctx);
}

static size_t conn_unwritten(void *ctx)
{
    return unwritten(ctx);
}

/* ---- accepting */

struct conn *conn_open(uv_loop_t *loop, int fd, struct api *api, const struct conn_owner *owner)
{
    struct conn *c = mem_alloc(sizeof *c);

    c->api = api;
    c->owner = *owner;
    (void)uv_pipe_init(loop, &c->pipe, 0);
    c->pipe.data = c;
    if (uv_pipe_open(&c->pipe, fd) < 0) {
        (void)close(fd);
        conn_close(c);
        return NULL;
    }
    const struct api_peer peer = {.conn = c,
                                  .uid = peer_uid(fd),
                                  .send = conn_send,
                                  .unwritten = conn_unwritten,
                                  .idle = conn_idle};
    c->session = api_session_open(api, &peer);
    set_reading(c, true);
    return c;
}
