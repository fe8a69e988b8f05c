#include "server/server.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fds.h"
#include "base/log.h"
#include "base/mem.h"
#include "server/conn.h"
#include "server/listen.h"

#define CONNECTIONS_MAX 1024
/* Descriptors kept for everything else: database, git, the runner, the process table. */
#define DESCRIPTORS_KEPT 128
#define CONNECTIONS_MIN 16
/* In one turn of the loop, so that those who are connected are served meanwhile. */
#define ACCEPT_AT_ONCE 64
#define ACCEPT_AGAIN_MS 1000 /* after a failure, if no connection ends before */
#define LOOK_EVERY_MS 2000   /* whether those who send no more are still there */

struct server {
    uv_loop_t *loop;
    uv_poll_t listener;
    uv_timer_t accept_again, look;
    int open_handles;
    int fd; /* of the listening socket; -1: none yet */
    bool listening;
    struct api *api;
    struct conn conns; /* head of the list; only next is used */
    struct conn_shared shared;
    size_t n_conns, max_conns;
    bool closing;
    bool starved;                   /* no connection can be accepted for the moment */
    bool told;                      /* and the log says so */
    char path[SERVER_PATH_MAX + 1]; /* ours to remove; empty: none */
    dev_t dev;
    ino_t ino;
};

static void on_accept_again(uv_timer_t *timer);

static void free_when_empty(struct server *s)
{
    if (s->closing && s->open_handles == 0 && s->n_conns == 0)
        free(s);
}

/* ---- connections */

static void on_gone(void *ctx)
{
    struct server *s = ctx;

    s->n_conns--;
    if (s->starved && !s->closing)
        (void)uv_timer_start(&s->accept_again, on_accept_again, 0, 0);
    free_when_empty(s);
}

/* The hello has been said; what follows it is the answer to whatever the peer is about to ask. */
static void refuse(struct server *s, struct conn *c)
{
    struct err e = {0};

    (void)err_set(&e, -EMFILE, "daemon.busy", NULL,
                  "the daemon has %zu connections and takes no more; close some and try again",
                  s->max_conns);
    api_session_bad_line(c->session, &e);
    conn_close(c);
}

/* Watchers that left unseen would add up. */
static void on_look(uv_timer_t *timer)
{
    struct server *s = timer->data;
    bool any = false;

    for (struct conn *c = s->conns.next, *next; c; c = next) {
        next = c->next;
        any = any || c->ended;
        conn_check_peer(c);
    }
    if (!any)
        (void)uv_timer_stop(&s->look);
}

static void on_ended(void *ctx)
{
    struct server *s = ctx;

    if (!s->closing && !uv_is_active((uv_handle_t *)&s->look))
        (void)uv_timer_start(&s->look, on_look, LOOK_EVERY_MS, LOOK_EVERY_MS);
}

static void admit(struct server *s, int fd)
{
    const struct conn_owner owner = {
        .ctx = s, .shared = &s->shared, .gone = on_gone, .ended = on_ended};

    s->n_conns++;
    struct conn *c = conn_open(s->loop, fd, s->api, &owner);
    if (!c)
        return;
    c->next = s->conns.next;
    c->prev = &s->conns;
    if (c->next)
        c->next->prev = c;
    s->conns.next = c;
    if (s->n_conns > s->max_conns)
        refuse(s, c);
}

/* ---- accepting */

/* Out of descriptors or memory: who knocks waits in the queue instead of making the loop spin. */
static void starve(struct server *s, int rc)
{
    if (!s->told)
        log_warn("no connection can be accepted for the moment: %s", strerror(-rc));
    s->starved = s->told = true;
    (void)uv_poll_stop(&s->listener);
    (void)uv_timer_start(&s->accept_again, on_accept_again, ACCEPT_AGAIN_MS, 0);
}

static void accept_waiting(struct server *s)
{
    for (int i = 0; i < ACCEPT_AT_ONCE; i++) {
        int fd = fds_accept(s->fd);
        if (fd >= 0) {
            s->told = false;
            admit(s, fd);
        } else if (fd == -EAGAIN || fd == -EWOULDBLOCK) {
            return;
        } else if (fd != -ECONNABORTED && fd != -EINTR) {
            starve(s, fd);
            return;
        }
    }
}

static void on_connection(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    accept_waiting(poll->data);
}

static void on_accept_again(uv_timer_t *timer)
{
    struct server *s = timer->data;

    s->starved = false;
    (void)uv_poll_start(&s->listener, UV_READABLE, on_connection);
}

/* A connection must never take the descriptor that a measurement needs. */
static size_t connections_max(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY ||
        limit.rlim_cur >= CONNECTIONS_MAX + DESCRIPTORS_KEPT)
        return CONNECTIONS_MAX;
    if (limit.rlim_cur < CONNECTIONS_MIN + DESCRIPTORS_KEPT)
        return CONNECTIONS_MIN;
    return (size_t)limit.rlim_cur - DESCRIPTORS_KEPT;
}

struct server *server_new(uv_loop_t *loop, struct api *api)
{
    struct server *s = mem_alloc(sizeof *s);

    s->loop = loop;
    s->api = api;
    s->fd = -1;
    s->max_conns = connections_max();
    (void)uv_timer_init(loop, &s->accept_again);
    (void)uv_timer_init(loop, &s->look);
    s->accept_again.data = s->look.data = s;
    s->open_handles = 2;
    return s;
}

int server_adopt(struct server *s, int fd, struct err *e)
{
    int rc = uv_poll_init(s->loop, &s->listener, fd);

    if (rc < 0)
        return err_sys(e, rc, "listen on", "the socket");
    s->fd = fd;
    s->listening = true;
    s->listener.data = s;
    s->open_handles++;
    rc = uv_poll_start(&s->listener, UV_READABLE, on_connection);
    return rc < 0 ? err_sys(e, rc, "listen on", "the socket") : 0;
}

int server_listen(struct server *s, const char *path, struct err *e)
{
    struct stat st;
    int fd = -1;
    int rc = listen_at(path, &fd, e);

    if (rc < 0)
        return rc;
    if (lstat(path, &st) == 0) {
        (void)snprintf(s->path, sizeof s->path, "%s", path);
        s->dev = st.st_dev;
        s->ino = st.st_ino;
    }
    rc = server_adopt(s, fd, e);
    if (rc < 0 && s->fd < 0)
        (void)close(fd);
    return rc;
}

static void on_handle_closed(uv_handle_t *handle)
{
    struct server *s = handle->data;

    s->open_handles--;
    free_when_empty(s);
}

void server_close(struct server *s)
{
    struct stat st;

    if (!s || s->closing)
        return;
    s->closing = true;
    /* Only our own: somebody may have put another there. While we still listen: to who wants the
     * path it is never a stale one that two may remove. */
    if (s->path[0] && lstat(s->path, &st) == 0 && st.st_dev == s->dev && st.st_ino == s->ino)
        (void)unlink(s->path);
    while (s->conns.next)
        conn_close(s->conns.next);
    uv_close((uv_handle_t *)&s->accept_again, on_handle_closed);
    uv_close((uv_handle_t *)&s->look, on_handle_closed);
    if (s->listening)
        uv_close((uv_handle_t *)&s->listener, on_handle_closed);
    if (s->fd >= 0)
        (void)close(s->fd);
}
