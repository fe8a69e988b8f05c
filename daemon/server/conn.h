/* One connection. Internal to server/. */
#pragma once

#include <uv.h>

#include "api/api.h"
#include "proto/frame.h"

struct conn_owner {
    void *ctx;
    void (*gone)(void *ctx); /* called once, when the connection is freed */
};

/* Takes an accepted, initialised pipe's place: accepts from listener. NULL when it failed. */
struct conn *conn_accept(uv_stream_t *listener, struct api *api, const struct conn_owner *owner);
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
    bool reading;
    bool ended;   /* the peer sends no more */
    bool gone;    /* and reads no more */
    bool give_up; /* to be closed by the next serve() */
    bool closing;
    char chunk[64 * 1024];
};

/* peer_linux.c, peer_darwin.c: the uid behind a connected Unix socket, or -1. */
int64_t peer_uid(int fd);
