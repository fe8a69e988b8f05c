/* One connection. Internal to server/.
 *
 * What it holds is bounded: of its peer's bytes one line that is not whole yet (1 MiB and what one
 * read brings), of its own what is not written yet (about 2 MiB: with more than 1 MiB waiting no
 * request is taken, and an answer has at most 1 MiB). All connections together hold at most
 * CONN_HELD_MAX: when that is used up, whoever holds more than its share and wants more is closed.
 */
#pragma once

#include <uv.h>

#include "api/api.h"
#include "proto/wire/frame.h"

#define CONN_HELD_MAX ((size_t)128 << 20)
#define CONN_HELD_SHARE ((size_t)128 << 10) /* a 1024th */

/* What the connections of one server share. */
struct conn_shared {
    size_t held; /* bytes of all */
    /* For one read, from its allocation to its callback: as much as a socket holds, so that what
     * was sent together comes together. */
    char chunk[256 * 1024];
};

struct conn_owner {
    void *ctx;
    struct conn_shared *shared;
    void (*gone)(void *ctx);  /* called once, when the connection is freed */
    void (*ended)(void *ctx); /* its peer sends no more; conn_check_peer is wanted */
};

/* Takes the accepted socket fd. NULL when it failed. */
struct conn *conn_open(uv_loop_t *loop, int fd, struct api *api, const struct conn_owner *owner);
void conn_close(struct conn *c);
/* A peer that sends no more is not read from, so nobody says when it is gone altogether: closes the
 * connection if it is and nothing is left to do for it. May free c. */
void conn_check_peer(struct conn *c);

struct conn {
    uv_pipe_t pipe;
    struct api *api;
    struct api_session *session;
    struct conn_owner owner;
    struct conn *next, *prev; /* the owner's list */
    struct frame_reader reader;
    size_t held; /* bytes of shared->held */
    bool reading;
    bool ended;   /* the peer sends no more */
    bool gone;    /* and reads no more */
    bool give_up; /* to be closed by the next serve() */
    bool closing;
};

/* peer_linux.c, peer_darwin.c: the uid behind a connected Unix socket, or -1. */
int64_t peer_uid(int fd);
