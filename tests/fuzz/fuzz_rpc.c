/* JSON-RPC envelopes. A request that was taken can be answered, and the client reads the answer as
 * it was meant; one that was refused can be answered, too. What a client takes for a message has
 * all parts of its kind. */
#include <string.h>

#include "fuzz/fuzz.h"
#include "proto/wire/frame.h"
#include "proto/wire/rpc.h"

/* A line of ours, without its newline, as the other side frames it. */
static void must_be_one_line(const struct buf *b)
{
    MUST(b->len > 0 && b->data[b->len - 1] == '\n' && b->len - 1 <= FRAME_MAX);
    MUST(!memchr(b->data, '\n', b->len - 1));
}

static bool is_whole_number(const char *id)
{
    return id[0] && strspn(id, "0123456789") == strlen(id) && strlen(id) < 16;
}

static void answer_error(const char *id, const struct err *e)
{
    struct buf b = {0};
    struct arena a = {0};
    struct rpc_message msg;
    struct err why = {0};

    rpc_put_error(&b, id, e);
    must_be_one_line(&b);
    int rc = rpc_message_decode(&a, b.data, b.len - 1, &msg, &why);
    if (is_whole_number(id) || strcmp(id, "null") == 0) {
        MUST(rc == 0, "%s: %s", why.text, b.data);
        MUST(msg.kind == RPC_ERROR && strcmp(msg.error.code, e->code) == 0, "%s", b.data);
    }
    rpc_message_deinit(&msg);
    buf_deinit(&b);
    arena_deinit(&a);
}

static void answer_result(const char *id)
{
    struct buf b = {0};
    struct arena a = {0};
    struct rpc_out out;
    struct rpc_message msg;
    struct err e = {0};

    rpc_begin_result(&out, &b, id);
    json_begin(&out.o, "result");
    json_end(&out.o);
    MUST(rpc_end(&out, &e) == 0, "%s", e.text);
    must_be_one_line(&b);
    int rc = rpc_message_decode(&a, b.data, b.len - 1, &msg, &e);
    if (is_whole_number(id))
        MUST(rc == 0 && msg.kind == RPC_RESULT && cJSON_IsObject(msg.result), "%s", b.data);
    rpc_message_deinit(&msg);
    buf_deinit(&b);
    arena_deinit(&a);
}

static void try_request(const char *line, size_t len)
{
    struct arena a = {0};
    struct rpc_request req;
    struct err e = {0};
    int rc = rpc_request_decode(&a, line, len, &req, &e);

    MUST(req.id && req.id[0] && strlen(req.id) <= 6 * RPC_ID_MAX + 2, "%s", req.id);
    if (fuzz_accepted(rc, &e)) {
        MUST(req.method && strlen(req.method) <= RPC_METHOD_MAX);
        MUST(!req.params || cJSON_IsObject(req.params));
        answer_result(req.id);
    } else {
        MUST(strncmp(e.code, "rpc.", 4) == 0, "%s", e.code);
        answer_error(req.id, &e);
    }
    rpc_request_deinit(&req);
    arena_deinit(&a);
}

static void try_message(const char *line, size_t len)
{
    struct arena a = {0};
    struct rpc_message msg;
    struct err e = {0};

    if (fuzz_accepted(rpc_message_decode(&a, line, len, &msg, &e), &e)) {
        MUST(msg.kind != RPC_RESULT || (msg.result && msg.id >= 0));
        MUST(msg.kind != RPC_ERROR || (err_is_set(&msg.error) && msg.id >= -1));
        MUST(msg.kind != RPC_NOTIFICATION || msg.method);
    }
    rpc_message_deinit(&msg);
    arena_deinit(&a);
}

static void try_hello(const char *line, size_t len)
{
    struct arena a = {0};
    struct buf b = {0};
    struct hello h, again;
    struct err e = {0};

    if (fuzz_accepted(hello_decode(&a, line, len, &h, &e), &e)) {
        hello_put(&b, &h);
        must_be_one_line(&b);
        MUST(hello_decode(&a, b.data, b.len - 1, &again, &e) == 0, "%s", e.text);
        MUST(strcmp(h.version, again.version) == 0 && strcmp(h.host, again.host) == 0 &&
             strcmp(h.boot, again.boot) == 0 && h.protocol == again.protocol);
    }
    buf_deinit(&b);
    arena_deinit(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_in in = {data, size};

    try_request((const char *)in.at, in.left);
    try_message((const char *)in.at, in.left);
    try_hello((const char *)in.at, in.left);
    return 0;
}
