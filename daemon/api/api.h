/* The daemon's methods, without any knowledge of sockets: lines come in, lines go out.
 *
 * A session is one connection. Its requests are answered in order: while one is being worked on
 * (api_session_busy), the owner keeps further lines back and is told by the idle callback when to
 * go on. The method table stands in api.c, one file per method group beside it. All on the loop's
 * thread; heavy work goes to worker threads, and only while nothing is being timed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uv.h>

#include "base/err.h"
#include "host/host.h"
#include "sched/sched.h"
#include "source/source.h"
#include "store/store.h"

struct api;
struct api_session;

struct api_config {
    uv_loop_t *loop;
    struct sched *sched; /* borrowed, like all below */
    struct store *store;
    struct source_store *sources;
    struct host_probe *probe; /* keeps nothing between calls: threads may share it */
    const char *host_key;     /* public, hex */
    const char *state_dir;
    const char *uploads_dir;
};

/* How a session reaches its connection. */
struct api_peer {
    void *conn;
    int64_t uid; /* from the kernel; -1 unknown */
    void (*send)(void *conn, const char *data, size_t len);
    size_t (*unwritten)(void *conn); /* bytes that were sent and are not on their way yet */
    void (*idle)(void *conn);        /* the deferred request was answered */
};

int api_new(const struct api_config *config, struct api **out, struct err *e);
void api_free(struct api *api); /* after all its sessions and deferred work */

/* Says hello. */
struct api_session *api_session_open(struct api *api, const struct api_peer *peer);
/* One request. Its answer may wait for those behind it: once there is no whole line left, the owner
 * calls api_session_settle before it returns to the loop. */
void api_session_line(struct api_session *s, const char *line, size_t len);
/* Commits the jobs that were submitted since and sends their answers. */
void api_session_settle(struct api_session *s);
/* Answers a line that could not be framed. */
void api_session_bad_line(struct api_session *s, const struct err *e);
bool api_session_busy(const struct api_session *s);
/* The peer reads on: sends what was held back. A peer that does not read its notifications gets,
 * when it does, the latest of each job: those in between are left out, the last ("final") never is.
 */
void api_session_flush(struct api_session *s);
/* It waits for notifications: the connection stays although the peer sends no more. */
bool api_session_watches(const struct api_session *s);
/* The connection is gone; work under way for it ends by itself. */
void api_session_close(struct api_session *s);
