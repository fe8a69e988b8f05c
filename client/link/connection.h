/* One connection to a daemon: the Unix socket of this machine, or ssh to another one.
 *
 * A daemon that measures speaks only between two observations. So that nobody waits for two of
 * them, the first request is sent without waiting for the hello, which is checked before any answer
 * is looked at, and requests can be sent together. Notifications that come in meanwhile are kept
 * for connection_next. SIGPIPE must be ignored. After an error that is not the daemon's answer the
 * connection is of no further use but to be closed. Errors are negative errnos with e filled:
 *   -ECONNREFUSED  "daemon.unreachable", "daemon.not_ours", "daemon.version": no daemon
 *   -EPIPE         "daemon.unreachable": it was there and the connection broke, be it before the
 *                  hello
 *   -ETIMEDOUT     "client.timeout": the deadline passed
 *   -EREMOTEIO     the daemon's own error, as it sent it
 *   -EPROTO        "daemon.version": what it said could not be read
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "proto/json/json.h"
#include "proto/wire/rpc.h"

struct connection;

struct connection_how {
    const char *host;    /* ssh://[user@]host[:port]; NULL: the socket of this machine */
    const char *socket;  /* of --socket; NULL: by the rule of address.h */
    int64_t deadline_ns; /* of clock_mono_ns, for all that the connection does; -1: none */
    bool say_waiting;    /* tell a person on stderr, once, that an answer is late */
};

/* Connects; the hello comes with the first answer. */
int connection_open(const struct connection_how *how, struct connection **out, struct err *e);
void connection_close(struct connection *c); /* NULL is fine */

/* A connected stream without hello: for dial-stdio. */
int connection_dial(const char *socket_option, int *fd, struct err *e);

/* What the daemon said. A zeroed answer is empty; deinit works on it. */
struct answer {
    struct arena a; /* for strings that are read from it */
    struct rpc_message msg;
};
void answer_deinit(struct answer *answer);

/* Sends the request (params: JSON text of an object; NULL: {}) and waits for its answer:
 * answer->msg.result. */
int connection_call(struct connection *c, const char *method, const char *params,
                    struct answer *answer, struct err *e);

/* The two halves of a call, to send several requests at once; answers come in their order. */
int connection_send(struct connection *c, const char *method, const char *params, int64_t *id,
                    struct err *e);
int connection_receive(struct connection *c, int64_t id, struct answer *answer, struct err *e);

/* The next notification: answer->msg.method and .params. Waits for it. */
int connection_next(struct connection *c, struct answer *answer, struct err *e);

/* Ends a decoding of what the daemon said: 0, or -EPROTO with e filled when in has failed. */
int connection_check(const struct json_in *in, struct err *e);
