#include "server/server.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fds.h"
#include "base/log.h"
#include "base/mem.h"
#include "server/conn.h"

#define CONNECTIONS_MAX 1024
/* Descriptors kept for everything else: database, git, the runner, the process table. */
#define DESCRIPTORS_KEPT 128
#define CONNECTIONS_MIN 16
#define BACKLOG 128

struct server {
    uv_pipe_t listener;
    bool owns_fd; /* of the listening socket */
    struct api *api;
    struct conn conns; /* head of the list; only next is used */
    size_t n_conns, max_conns;
    bool closing, listener_closed;
    char path[SERVER_PATH_MAX + 1]; /* ours to remove; empty: none */
    dev_t dev;
    ino_t ino;
};

static void free_when_empty(struct server *s)
{
    if (s->closing && s->listener_closed && s->n_conns == 0)
        free(s);
}

static void on_gone(void *ctx)
{
    struct server *s = ctx;

    s->n_conns--;
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

/* Watchers that left unseen would add up: each newcomer lets them be looked for. */
static void drop_gone(struct server *s)
{
    for (struct conn *c = s->conns.next, *next; c; c = next) {
        next = c->next;
        conn_check_peer(c);
    }
}

static void on_connection(uv_stream_t *stream, int status)
{
    struct server *s = stream->data;
    const struct conn_owner owner = {.ctx = s, .gone = on_gone};

    if (status < 0) {
        log_warn("a connection could not be accepted: %s", uv_strerror(status));
        return;
    }
    drop_gone(s);
    s->n_conns++;
    struct conn *c = conn_accept(stream, s->api, &owner);
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

    s->api = api;
    s->max_conns = connections_max();
    (void)uv_pipe_init(loop, &s->listener, 0);
    s->listener.data = s;
    return s;
}

int server_adopt(struct server *s, int fd, struct err *e)
{
    int rc = uv_pipe_open(&s->listener, fd);

    s->owns_fd = rc == 0;
    if (rc == 0)
        rc = uv_listen((uv_stream_t *)&s->listener, BACKLOG, on_connection);
    return rc < 0 ? err_sys(e, rc, "listen on", "the socket") : 0;
}

/* True when somebody answers on the socket at addr. */
static bool is_answered(const struct sockaddr_un *addr)
{
    CLEANUP(mem_closep) int fd = fds_socket();

    return fd >= 0 && connect(fd, (const struct sockaddr *)addr, sizeof *addr) == 0;
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
    if (is_answered(addr))
        return err_set(e, -EADDRINUSE, "daemon.socket_busy", "--socket",
                       "another daemon answers on %s; stop it or name another path",
                       addr->sun_path);
    return unlink(addr->sun_path) < 0 ? err_sys(e, -errno, "remove", addr->sun_path) : 0;
}

static int bind_path(int fd, const struct sockaddr_un *addr, struct err *e)
{
    int rc = clear_path(addr, e);

    if (rc < 0)
        return rc;
    mode_t old = umask(0117); /* 0660: the group decides who may submit */
    rc = bind(fd, (const struct sockaddr *)addr, sizeof *addr) < 0 ? -errno : 0;
    (void)umask(old);
    return rc < 0 ? err_sys(e, rc, "bind", addr->sun_path) : 0;
}

int server_listen(struct server *s, const char *path, struct err *e)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    struct stat st;

    if (strlen(path) > SERVER_PATH_MAX)
        return err_set(e, -ENAMETOOLONG, "daemon.socket_path", "--socket",
                       "the socket path has %zu bytes, at most %d are possible; name a shorter one",
                       strlen(path), SERVER_PATH_MAX);
    (void)snprintf(addr.sun_path, sizeof addr.sun_path, "%s", path);
    int fd = fds_socket();
    if (fd < 0)
        return err_sys(e, fd, "create", "a socket");
    int rc = bind_path(fd, &addr, e);
    if (rc == 0)
        rc = server_adopt(s, fd, e);
    if (rc < 0) {
        if (!s->owns_fd)
            (void)close(fd);
        return rc;
    }
    if (lstat(path, &st) == 0) {
        (void)snprintf(s->path, sizeof s->path, "%s", path);
        s->dev = st.st_dev;
        s->ino = st.st_ino;
    }
    return 0;
}

static void on_listener_closed(uv_handle_t *handle)
{
    struct server *s = handle->data;

    s->listener_closed = true;
    free_when_empty(s);
}

void server_close(struct server *s)
{
    struct stat st;

    if (!s || s->closing)
        return;
    s->closing = true;
    /* Only our own: somebody may have put another there. */
    if (s->path[0] && lstat(s->path, &st) == 0 && st.st_dev == s->dev && st.st_ino == s->ino)
        (void)unlink(s->path);
    while (s->conns.next)
        conn_close(s->conns.next);
    uv_close((uv_handle_t *)&s->listener, on_listener_closed);
}
