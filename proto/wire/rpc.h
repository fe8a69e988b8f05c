/* JSON-RPC 2.0 envelopes, one a line, and the hello line that the daemon says first.
 *
 * Closed: an unknown envelope key is an error. A request has an id (a whole number, or a string of
 * at most 64 bytes), kept as its JSON text, so that it goes back as it came. Batches and requests
 * without an id are refused. Domain errors travel as code -32000 with the stable string code, the
 * field path and the sentence; the numeric code follows from the string code alone. Decoded nodes
 * are borrowed from the doc of their struct, strings from the arena.
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "proto/json/json.h"

#define RPC_ID_MAX 64
#define RPC_METHOD_MAX 64

/* -32700 rpc.parse, -32600 rpc.invalid and rpc.too_long, -32601 rpc.unknown_method, -32602
 * rpc.params and json.*, -32603 rpc.internal; every other string code is a domain error, -32000. */
int rpc_number(const char *code);

struct rpc_request {
    const char *id; /* JSON text of the id; "null" when it could not be read */
    const char *method;
    const cJSON *params; /* an object; NULL when there are none */
    cJSON *doc;
};

/* Decodes a line. 0, or -EINVAL with e filled ("rpc.parse", "rpc.invalid"); out->id is set in any
 * case, so that the error can be answered, and out is to be deinited in any case. */
int rpc_request_decode(struct arena *a, const char *line, size_t len, struct rpc_request *out,
                       struct err *e);
void rpc_request_deinit(struct rpc_request *req);

enum rpc_kind { RPC_RESULT, RPC_ERROR, RPC_NOTIFICATION };

/* What the client receives. */
struct rpc_message {
    enum rpc_kind kind;
    int64_t id;          /* result and error: of the request; -1 for an error without one */
    const cJSON *result; /* an object */
    struct err error;
    const char *method; /* notification */
    const cJSON *params;
    cJSON *doc;
};

/* The same for the client's side; ids must be the whole numbers that rpc_begin_request wrote. */
int rpc_message_decode(struct arena *a, const char *line, size_t len, struct rpc_message *out,
                       struct err *e);
void rpc_message_deinit(struct rpc_message *msg);

/* A message being written to b. After rpc_begin_* the caller puts one member, named "result" or
 * "params", with o, and then calls rpc_end. */
struct rpc_out {
    struct json_out o;
    size_t start;
};

void rpc_begin_result(struct rpc_out *r, struct buf *b, const char *id);
void rpc_begin_request(struct rpc_out *r, struct buf *b, int64_t id, const char *method);
void rpc_begin_notification(struct rpc_out *r, struct buf *b, const char *method);
/* Ends the line; -EMSGSIZE with e filled, and the message taken back, when it is over FRAME_MAX. */
int rpc_end(struct rpc_out *r, struct err *e);
/* A whole error line. */
void rpc_put_error(struct buf *b, const char *id, const struct err *e);

#define HELLO_VERSION 1 /* of the protocol */

struct hello {
    int protocol;
    const char *version; /* of the daemon */
    const char *host;    /* its name */
    const char *boot;    /* boot identity */
};

/* A whole line. */
void hello_put(struct buf *b, const struct hello *h);
/* 0, or -EINVAL with e filled: "daemon.not_ours" when the line is no hello, "daemon.version" when
 * it speaks another protocol. */
int hello_decode(struct arena *a, const char *line, size_t len, struct hello *out, struct err *e);
