/* Envelopes: what a request and a response may be, and that errors arrive as they were made. */
#include <errno.h>

#include "doc_test.h"

#include "proto/wire/frame.h"
#include "proto/wire/rpc.h"

struct request {
    struct arena a;
    struct err e;
    struct rpc_request req;
};

static int decode(struct request *r, const char *single_quoted)
{
    char *text = doc_text(single_quoted);
    *r = (struct request){0};
    int rc = rpc_request_decode(&r->a, text, strlen(text), &r->req, &r->e);
    free(text);
    return rc;
}

static void done(struct request *r)
{
    rpc_request_deinit(&r->req);
    arena_deinit(&r->a);
}

static void a_request_gives_id_method_and_params(void **state)
{
    static const struct {
        const char *line, *id;
        bool params;
    } rows[] = {
        {"{'jsonrpc':'2.0','id':7,'method':'job.show','params':{'id':'x'}}", "7", true},
        {"{'jsonrpc':'2.0','id':'a\\u0062\\n','method':'job.show'}", "\"ab\\n\"", false},
        {"{'jsonrpc':'2.0','id':-9007199254740991,'method':'job.show'}", "-9007199254740991",
         false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct request r;
        assert_int_equal(decode(&r, rows[i].line), 0);
        assert_string_equal(r.req.id, rows[i].id);
        assert_string_equal(r.req.method, "job.show");
        assert_int_equal(r.req.params != NULL, rows[i].params);
        done(&r);
    }
}

static void what_is_no_request_is_refused_with_the_id_it_had(void **state)
{
    static const struct {
        struct refusal refusal;
        const char *id;
    } rows[] = {
        {{"{'jsonrpc':", "rpc.parse", "offset 11"}, "null"},
        {{"", "rpc.parse", "offset 0"}, "null"},
        {{"{'jsonrpc':'2.0','id':1,'id':2,'method':'m'}", "rpc.parse", "id"}, "null"},
        {{"[{'jsonrpc':'2.0','id':1,'method':'m'}]", "rpc.invalid", ""}, "null"}, /* a batch */
        {{"7", "rpc.invalid", ""}, "null"},
        {{"{'jsonrpc':'1.0','id':1,'method':'m'}", "rpc.invalid", "jsonrpc"}, "1"},
        {{"{'id':1,'method':'m'}", "rpc.invalid", "jsonrpc"}, "1"},
        {{"{'jsonrpc':'2.0','method':'m'}", "rpc.invalid", "id"}, "null"}, /* a notification */
        {{"{'jsonrpc':'2.0','id':null,'method':'m'}", "rpc.invalid", "id"}, "null"},
        {{"{'jsonrpc':'2.0','id':1.5,'method':'m'}", "rpc.invalid", "id"}, "null"},
        {{"{'jsonrpc':'2.0','id':1e300,'method':'m'}", "rpc.invalid", "id"}, "null"},
        {{"{'jsonrpc':'2.0','id':[1],'method':'m'}", "rpc.invalid", "id"}, "null"},
        {{"{'jsonrpc':'2.0','id':"
          "'12345678901234567890123456789012345678901234567890123456789012345','method':'m'}",
          "rpc.invalid", "id"},
         "null"},
        {{"{'jsonrpc':'2.0','id':1}", "rpc.invalid", "method"}, "1"},
        {{"{'jsonrpc':'2.0','id':1,'method':7}", "rpc.invalid", "method"}, "1"},
        {{"{'jsonrpc':'2.0','id':1,'method':'m','params':[1]}", "rpc.invalid", "params"}, "1"},
        {{"{'jsonrpc':'2.0','id':1,'method':'m','params':null}", "rpc.invalid", "params"}, "1"},
        {{"{'jsonrpc':'2.0','id':1,'method':'m','Params':{}}", "rpc.invalid", "Params"}, "1"},
        {{"{'jsonrpc':'2.0','id':'x','method':'m','extra':1}", "rpc.invalid", "extra"}, "\"x\""},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct request r;
        assert_refused(decode(&r, rows[i].refusal.text), &r.e, &rows[i].refusal);
        assert_string_equal(r.req.id, rows[i].id);
        done(&r);
    }
}

static void a_chunk_of_bulk_data_fits_a_request(void **state)
{
    struct buf line = {0};
    struct request r = {0};
    buf_puts(&line,
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"upload.chunk\",\"params\":{\"data\":\"");
    for (size_t i = 0; i < FRAME_CHUNK_MAX / 3 * 4; i++)
        buf_putc(&line, 'A');
    buf_puts(&line, "\"}}");
    assert_int_equal(rpc_request_decode(&r.a, line.data, line.len, &r.req, &r.e), 0);
    done(&r);
    buf_deinit(&line);
}

static void the_number_follows_from_the_code(void **state)
{
    assert_int_equal(rpc_number("rpc.parse"), -32700);
    assert_int_equal(rpc_number("rpc.invalid"), -32600);
    assert_int_equal(rpc_number("rpc.too_long"), -32600);
    assert_int_equal(rpc_number("rpc.unknown_method"), -32601);
    assert_int_equal(rpc_number("rpc.params"), -32602);
    assert_int_equal(rpc_number("json.type"), -32602);
    assert_int_equal(rpc_number("rpc.internal"), -32603);
    assert_int_equal(rpc_number("job.not_found"), -32000);
    assert_int_equal(rpc_number("rpc.parser"), -32000);
}

static int decode_message(struct arena *a, const char *text, size_t len, struct rpc_message *out,
                          struct err *e)
{
    *e = (struct err){0};
    if (len && text[len - 1] == '\n')
        len--;
    return rpc_message_decode(a, text, len, out, e);
}

static void results_requests_and_notifications_are_written_and_read(void **state)
{
    struct arena a = {0};
    struct buf b = {0};
    struct rpc_out out;
    struct rpc_message msg;
    struct err e = {0};

    rpc_begin_result(&out, &b, "7");
    json_begin(&out.o, "result");
    json_end(&out.o);
    assert_int_equal(rpc_end(&out, &e), 0);
    assert_string_equal(buf_str(&b), "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n");
    assert_int_equal(decode_message(&a, b.data, b.len, &msg, &e), 0);
    assert_int_equal(msg.kind, RPC_RESULT);
    assert_int_equal(msg.id, 7);
    assert_true(cJSON_IsObject(msg.result));
    rpc_message_deinit(&msg);

    buf_clear(&b);
    rpc_begin_notification(&out, &b, "job.event");
    json_begin(&out.o, "params");
    json_end(&out.o);
    assert_int_equal(rpc_end(&out, &e), 0);
    assert_int_equal(decode_message(&a, b.data, b.len, &msg, &e), 0);
    assert_int_equal(msg.kind, RPC_NOTIFICATION);
    assert_string_equal(msg.method, "job.event");
    assert_true(cJSON_IsObject(msg.params));
    rpc_message_deinit(&msg);

    struct request r = {0};
    buf_clear(&b);
    rpc_begin_request(&out, &b, 3, "host.show");
    assert_int_equal(rpc_end(&out, &e), 0);
    assert_int_equal(rpc_request_decode(&r.a, b.data, b.len - 1, &r.req, &r.e), 0);
    assert_string_equal(r.req.id, "3");
    assert_string_equal(r.req.method, "host.show");
    done(&r);
    buf_deinit(&b);
    arena_deinit(&a);
}

static void an_error_arrives_as_it_was_made(void **state)
{
    struct arena a = {0};
    struct buf b = {0};
    struct err made = {0}, e = {0};
    struct rpc_message msg;
    err_set(&made, -ENOENT, "job.not_found", "id", "there is no job \"x\"; see aurabench list");
    rpc_put_error(&b, "7", &made);
    assert_non_null(strstr(buf_str(&b), "\"code\":-32000"));
    assert_int_equal(decode_message(&a, b.data, b.len, &msg, &e), 0);
    assert_int_equal(msg.kind, RPC_ERROR);
    assert_int_equal(msg.id, 7);
    assert_string_equal(msg.error.code, made.code);
    assert_string_equal(msg.error.field, made.field);
    assert_string_equal(msg.error.text, made.text);
    rpc_message_deinit(&msg);
    buf_deinit(&b);
    arena_deinit(&a);
}

/* A sentence that was cut inside a character grows when it is made valid; the code must survive. */
static void an_error_whose_text_is_no_utf8_still_arrives(void **state)
{
    struct arena a = {0};
    struct buf b = {0};
    struct err made = {0}, e = {0};
    struct rpc_message msg;
    memset(made.text, '\xff', sizeof made.text - 1);
    memset(made.field, '\xff', sizeof made.field - 1);
    strcpy(made.code, "lane.done_wrong");
    rpc_put_error(&b, "null", &made);
    assert_int_equal(decode_message(&a, b.data, b.len, &msg, &e), 0);
    assert_int_equal(msg.id, -1);
    assert_string_equal(msg.error.code, "lane.done_wrong");
    rpc_message_deinit(&msg);
    buf_deinit(&b);
    arena_deinit(&a);
}

static void an_error_without_a_cause_says_so(void **state)
{
    struct buf b = {0};
    struct err none = {0};
    rpc_put_error(&b, "1", &none);
    assert_non_null(strstr(buf_str(&b), "\"rpc.internal\""));
    assert_non_null(strstr(buf_str(&b), "-32603"));
    buf_deinit(&b);
}

static void what_is_no_response_is_refused(void **state)
{
    static const struct refusal rows[] = {
        {"{", "rpc.parse", "offset 1"},
        {"[]", "rpc.invalid", ""},
        {"{'jsonrpc':'2.0','id':1}", "rpc.invalid", "result"},
        {"{'jsonrpc':'2.0','id':1,'result':1,'error':{}}", "rpc.invalid", "result"},
        {"{'jsonrpc':'2.0','id':1,'result':[1]}", "rpc.invalid", "result"},
        {"{'jsonrpc':'2.0','id':1,'result':null}", "rpc.invalid", "result"},
        {"{'jsonrpc':'2.0','result':{}}", "rpc.invalid", "id"},
        {"{'jsonrpc':'2.0','id':'a','result':{}}", "rpc.invalid", "id"},
        {"{'jsonrpc':'2.0','id':1,'result':1,'x':1}", "rpc.invalid", "x"},
        {"{'jsonrpc':'2.0','id':1,'error':{'code':1,'message':'m'}}", "rpc.invalid", "error.data"},
        {"{'jsonrpc':'2.0','id':1,'error':{'code':1,'message':'m','data':{'code':'c','x':1}}}",
         "rpc.invalid", "error.data.x"},
        {"{'jsonrpc':'2.0','method':'m'}", "rpc.invalid", "params"},
        {"{'jsonrpc':'2.0','method':'m','params':{},'id':1}", "rpc.invalid", "id"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena a = {0};
        struct err e = {0};
        struct rpc_message msg;
        char *text = doc_text(rows[i].text);
        int rc = decode_message(&a, text, strlen(text), &msg, &e);
        assert_refused(rc, &e, &rows[i]);
        rpc_message_deinit(&msg);
        arena_deinit(&a);
        free(text);
    }
}

static void a_message_over_the_limit_is_taken_back(void **state)
{
    struct buf b = {0};
    struct err e = {0};
    struct rpc_out out;
    buf_puts(&b, "kept\n");
    rpc_begin_result(&out, &b, "1");
    char *big = mem_alloc(FRAME_MAX + 1);
    memset(big, 'x', FRAME_MAX);
    json_put_str(&out.o, "result", big);
    assert_int_equal(rpc_end(&out, &e), -EMSGSIZE);
    assert_string_equal(buf_str(&b), "kept\n");
    assert_string_equal(e.code, "rpc.too_long");
    free(big);
    buf_deinit(&b);
}

static void the_hello_is_read_back(void **state)
{
    struct arena a = {0};
    struct buf b = {0};
    struct err e = {0};
    struct hello said = {HELLO_VERSION, "0.1.0", "bench1", "4f0c"}, heard;
    hello_put(&b, &said);
    assert_string_equal(
        buf_str(&b),
        "{\"aurabench\":1,\"version\":\"0.1.0\",\"host\":\"bench1\",\"boot\":\"4f0c\"}\n");
    assert_int_equal(hello_decode(&a, b.data, b.len - 1, &heard, &e), 0);
    assert_int_equal(heard.protocol, HELLO_VERSION);
    assert_string_equal(heard.host, "bench1");
    assert_string_equal(heard.boot, "4f0c");
    buf_deinit(&b);
    arena_deinit(&a);
}

static void another_hello_is_refused(void **state)
{
    static const struct refusal rows[] = {
        {"SSH-2.0-OpenSSH", "daemon.not_ours", ""},
        {"{}", "daemon.not_ours", "aurabench"},
        {"{'aurabench':1,'version':'x','host':'h'}", "daemon.not_ours", "boot"},
        {"{'aurabench':1,'version':'x','host':'h','boot':'b','more':1}", "daemon.not_ours", "more"},
        {"{'aurabench':2,'version':'x','more':1}", "daemon.version", "aurabench"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena a = {0};
        struct err e = {0};
        struct hello h;
        char *text = doc_text(rows[i].text);
        int rc = hello_decode(&a, text, strlen(text), &h, &e);
        assert_refused(rc, &e, &rows[i]);
        arena_deinit(&a);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_gives_id_method_and_params),
        cmocka_unit_test(what_is_no_request_is_refused_with_the_id_it_had),
        cmocka_unit_test(a_chunk_of_bulk_data_fits_a_request),
        cmocka_unit_test(the_number_follows_from_the_code),
        cmocka_unit_test(results_requests_and_notifications_are_written_and_read),
        cmocka_unit_test(an_error_arrives_as_it_was_made),
        cmocka_unit_test(an_error_whose_text_is_no_utf8_still_arrives),
        cmocka_unit_test(an_error_without_a_cause_says_so),
        cmocka_unit_test(what_is_no_response_is_refused),
        cmocka_unit_test(a_message_over_the_limit_is_taken_back),
        cmocka_unit_test(the_hello_is_read_back),
        cmocka_unit_test(another_hello_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
