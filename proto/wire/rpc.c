#include "proto/wire/rpc.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json_text.h"
#include "proto/wire/frame.h"

/* What is longer than a struct err holds is cut, not refused: the cause must not get lost. */
#define ERROR_TEXT_MAX 4096

static const struct {
    const char *prefix; /* a whole code, or a group that ends with a point */
    int number;
} numbers[] = {
    {"rpc.parse", -32700},          {"rpc.invalid", -32600}, {"rpc.too_long", -32600},
    {"rpc.unknown_method", -32601}, {"rpc.params", -32602},  {"json.", -32602},
    {"rpc.internal", -32603},
};

int rpc_number(const char *code)
{
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        size_t n = strlen(numbers[i].prefix);
        bool group = numbers[i].prefix[n - 1] == '.';
        if (group ? !strncmp(code, numbers[i].prefix, n) : !strcmp(code, numbers[i].prefix))
            return numbers[i].number;
    }
    return -32000;
}

/* Errors of the envelope keep their sentence and get the envelope's code, so that "json.*" always
 * speaks of params. */
static int envelope_error(struct err *e, const char *code, const struct err *cause)
{
    return err_set(e, -EINVAL, code, cause->field, "%s", cause->text);
}

static int parse_line(const char *line, size_t len, cJSON **doc, struct err *e)
{
    struct err cause = {0};
    if (json_parse_max(line, len, FRAME_MAX, doc, &cause))
        return envelope_error(e, "rpc.parse", &cause);
    return 0;
}

static bool id_is_whole(const cJSON *id)
{
    double v = cJSON_IsNumber(id) ? id->valuedouble : 0.5;
    return v >= -(double)JSON_INT_MAX && v <= (double)JSON_INT_MAX && (double)(int64_t)v == v;
}

static const char *id_text(struct arena *a, const cJSON *id)
{
    const char *text = "null";
    if (id_is_whole(id))
        return arena_printf(a, "%lld", (long long)id->valuedouble);
    if (cJSON_IsString(id) && strlen(id->valuestring) <= RPC_ID_MAX) {
        struct buf b = {0};
        json_quote(&b, id->valuestring, strlen(id->valuestring));
        text = arena_strdup(a, buf_str(&b));
        buf_deinit(&b);
    }
    return text;
}

static void check_version(struct json_in *in, const cJSON *doc)
{
    const char *v = json_str(in, doc, "jsonrpc", 8);
    if (v && strcmp(v, "2.0") != 0)
        json_fail(in, "jsonrpc", "json.value", "jsonrpc must be \"2.0\"");
}

int rpc_request_decode(struct arena *a, const char *line, size_t len, struct rpc_request *out,
                       struct err *e)
{
    static const char *const keys[] = {"jsonrpc", "id", "method", "params", NULL};
    struct err cause = {0};
    struct json_in in;
    *out = (struct rpc_request){.id = "null"};
    if (parse_line(line, len, &out->doc, e))
        return -EINVAL;
    json_in_init(&in, a, &cause);
    if (cJSON_IsObject(out->doc))
        out->id = id_text(a, cJSON_GetObjectItemCaseSensitive(out->doc, "id"));
    json_closed(&in, out->doc, keys);
    check_version(&in, out->doc);
    if (!strcmp(out->id, "null"))
        json_fail(&in, "id", "json.value",
                  "id must be a whole number or a string of at most %d bytes", RPC_ID_MAX);
    out->method = json_str(&in, out->doc, "method", RPC_METHOD_MAX);
    if (!in.rc && cJSON_GetObjectItemCaseSensitive(out->doc, "params"))
        out->params = json_obj(&in, out->doc, "params");
    return in.rc ? envelope_error(e, "rpc.invalid", &cause) : 0;
}

void rpc_request_deinit(struct rpc_request *req)
{
    cJSON_Delete(req->doc);
    *req = (struct rpc_request){0};
}

static void decode_error(struct json_in *in, const cJSON *obj, struct err *out)
{
    static const char *const keys[] = {"code", "message", "data", NULL};
    static const char *const data_keys[] = {"code", "field", NULL};
    size_t mark = json_enter(in, "error");
    json_closed(in, obj, keys);
    json_int(in, obj, "code", -JSON_INT_MAX, JSON_INT_MAX);
    const char *text = json_str(in, obj, "message", ERROR_TEXT_MAX);
    const cJSON *data = json_obj(in, obj, "data");
    json_enter(in, "data");
    json_closed(in, data, data_keys);
    const char *code = json_str(in, data, "code", ERROR_TEXT_MAX);
    const char *field = json_opt_str(in, data, "field", ERROR_TEXT_MAX, "");
    json_leave(in, mark);
    if (!in->rc)
        err_set(out, 0, code, field, "%s", text);
}

static void decode_response(struct json_in *in, struct rpc_message *out)
{
    static const char *const keys[] = {"jsonrpc", "id", "result", "error", NULL};
    const cJSON *error = cJSON_GetObjectItemCaseSensitive(out->doc, "error");
    bool has_result = cJSON_GetObjectItemCaseSensitive(out->doc, "result") != NULL;
    json_closed(in, out->doc, keys);
    if (has_result == (error != NULL))
        json_fail(in, "result", "json.value", "a response has either a result or an error");
    out->result = has_result ? json_obj(in, out->doc, "result") : NULL;
    out->kind = error ? RPC_ERROR : RPC_RESULT;
    out->id = error ? json_opt_int(in, out->doc, "id", 0, JSON_INT_MAX, -1)
                    : json_int(in, out->doc, "id", 0, JSON_INT_MAX);
    if (error)
        decode_error(in, error, &out->error);
}

static void decode_notification(struct json_in *in, struct rpc_message *out)
{
    static const char *const keys[] = {"jsonrpc", "method", "params", NULL};
    out->kind = RPC_NOTIFICATION;
    out->id = -1;
    json_closed(in, out->doc, keys);
    out->method = json_str(in, out->doc, "method", RPC_METHOD_MAX);
    out->params = json_obj(in, out->doc, "params");
}

int rpc_message_decode(struct arena *a, const char *line, size_t len, struct rpc_message *out,
                       struct err *e)
{
    struct err cause = {0};
    struct json_in in;
    *out = (struct rpc_message){.id = -1};
    if (parse_line(line, len, &out->doc, e))
        return -EINVAL;
    json_in_init(&in, a, &cause);
    check_version(&in, out->doc);
    if (!in.rc && cJSON_GetObjectItemCaseSensitive(out->doc, "method"))
        decode_notification(&in, out);
    else if (!in.rc)
        decode_response(&in, out);
    return in.rc ? envelope_error(e, "rpc.invalid", &cause) : 0;
}

void rpc_message_deinit(struct rpc_message *msg)
{
    cJSON_Delete(msg->doc);
    *msg = (struct rpc_message){0};
}

static void begin(struct rpc_out *r, struct buf *b)
{
    r->start = b->len;
    json_out_init(&r->o, b);
    json_begin(&r->o, NULL);
    json_put_str(&r->o, "jsonrpc", "2.0");
}

void rpc_begin_result(struct rpc_out *r, struct buf *b, const char *id)
{
    begin(r, b);
    json_put_raw(&r->o, "id", id);
}

void rpc_begin_request(struct rpc_out *r, struct buf *b, int64_t id, const char *method)
{
    begin(r, b);
    json_put_int(&r->o, "id", id);
    json_put_str(&r->o, "method", method);
}

void rpc_begin_notification(struct rpc_out *r, struct buf *b, const char *method)
{
    begin(r, b);
    json_put_str(&r->o, "method", method);
}

int rpc_end(struct rpc_out *r, struct err *e)
{
    json_end(&r->o);
    return frame_finish(r->o.b, r->start, e);
}

void rpc_put_error(struct buf *b, const char *id, const struct err *e)
{
    struct rpc_out r;
    const char *code = err_is_set(e) ? e->code : "rpc.internal";
    begin(&r, b);
    json_put_raw(&r.o, "id", id);
    json_begin(&r.o, "error");
    json_put_int(&r.o, "code", rpc_number(code));
    json_put_str(&r.o, "message", err_is_set(e) ? e->text : "the daemon failed without a reason");
    json_begin(&r.o, "data");
    json_put_str(&r.o, "code", code);
    json_put_str(&r.o, "field", e->field);
    json_end(&r.o);
    json_end(&r.o);
    (void)rpc_end(&r, NULL); /* a struct err is far below the limit */
}

void hello_put(struct buf *b, const struct hello *h)
{
    struct json_out o;
    json_out_init(&o, b);
    json_begin(&o, NULL);
    json_put_int(&o, "aurabench", h->protocol);
    json_put_str(&o, "version", h->version);
    json_put_str(&o, "host", h->host);
    json_put_str(&o, "boot", h->boot);
    json_end(&o);
    buf_putc(b, '\n');
}

/* A later protocol may add keys, so its number is looked at before anything else. */
static int decode_hello_node(struct arena *a, const cJSON *doc, struct hello *out, struct err *e)
{
    struct json_in in;
    struct err cause = {0};
    static const char *const keys[] = {"aurabench", "version", "host", "boot", NULL};
    json_in_init(&in, a, &cause);
    out->protocol = (int)json_int(&in, doc, "aurabench", 1, 1000000);
    if (!in.rc && out->protocol != HELLO_VERSION)
        return err_set(e, -EINVAL, "daemon.version", "aurabench",
                       "the daemon speaks protocol %d and this client %d; install the same version "
                       "on both sides",
                       out->protocol, HELLO_VERSION);
    json_closed(&in, doc, keys);
    out->version = json_str(&in, doc, "version", 64);
    out->host = json_str(&in, doc, "host", 255);
    out->boot = json_str(&in, doc, "boot", 128);
    if (in.rc)
        return err_set(e, -EINVAL, "daemon.not_ours", cause.field,
                       "what answers is no aurabenchd (%s); check the socket or the host",
                       cause.text);
    return 0;
}

int hello_decode(struct arena *a, const char *line, size_t len, struct hello *out, struct err *e)
{
    struct err cause = {0};
    cJSON *doc = NULL;
    *out = (struct hello){0};
    if (json_parse(line, len, &doc, &cause))
        return err_set(e, -EINVAL, "daemon.not_ours", "",
                       "what answers is no aurabenchd (%s); check the socket or the host",
                       cause.text);
    int rc = decode_hello_node(a, doc, out, e);
    cJSON_Delete(doc);
    return rc;
}
