/* Bulk data: what is refused of a piece, and that an upload arrives whole. */
#include <errno.h>
#include <signal.h>

#include "base/mem.h"
#include "client/link/chunks.h"
#include "fake_daemon.h"
#include "proto/form/base64.h"
#include "proto/wire/frame.h"
#include "unit.h"

static int decode(const char *result, int64_t offset, struct chunk *out, struct err *e)
{
    struct answer answer = {0};

    answer.msg.doc = cJSON_Parse(result);
    answer.msg.result = answer.msg.doc;
    int rc = chunk_decode(&answer, offset, out, e);
    answer_deinit(&answer);
    return rc;
}

static void a_piece_says_where_it_ends(void **state)
{
    struct chunk chunk = {0};
    struct err e = {0};

    (void)state;
    assert_int_equal(decode("{\"data\":\"YWJj\",\"next\":8,\"total\":9}", 5, &chunk, &e), 0);
    assert_string_equal(chunk.data.data, "abc");
    assert_int_equal(chunk.next, 8);
    assert_int_equal(chunk.total, 9);
    chunk_deinit(&chunk);
}

static void a_piece_that_does_not_fit_is_refused(void **state)
{
    static const char *const bad[] = {
        "{\"data\":\"YWJj\",\"next\":9,\"total\":9}", /* next is not where the data end */
        "{\"data\":\"YWJ\",\"next\":7,\"total\":9}",  /* no base 64 */
        "{\"data\":\"\",\"next\":5,\"total\":9}",     /* nothing, although there is more */
        "{\"data\":\"YWJj\",\"total\":9}",            /* no next */
        "{\"data\":7,\"next\":8,\"total\":9}",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct chunk chunk = {0};
        struct err e = {0};
        assert_int_equal(decode(bad[i], 5, &chunk, &e), -EPROTO);
        assert_string_equal(e.code, "daemon.version");
        chunk_deinit(&chunk);
    }
}

static struct connection *open_fake(const struct fake *f)
{
    const struct connection_how how = {.socket = f->socket, .deadline_ns = -1};
    struct connection *c = NULL;
    struct err e = {0};

    assert_int_equal(connection_open(&how, &c, &e), 0);
    return c;
}

/* Joins the data of all upload.chunk lines; checks that each begins where the last ended. */
static void join_chunks(const struct buf *asked, struct buf *out)
{
    const char *p = asked->data;

    while ((p = strstr(p, "upload.chunk "))) {
        long long offset = -1;
        p += strlen("upload.chunk ");
        assert_int_equal(sscanf(p, "{\"offset\":%lld", &offset), 1);
        assert_int_equal(offset, (int64_t)out->len);
        const char *data = strstr(p, "\"data\":\"") + 8;
        assert_int_equal(base64_decode(data, strcspn(data, "\""), out), 0);
    }
}

static void count_progress(void *ctx, int64_t done, int64_t total)
{
    int64_t *last = ctx;

    assert_true(done > *last && done <= total);
    *last = done;
}

static void upload_arrives_whole(const struct upload *u, const struct buf *want)
{
    static const struct fake_step steps[] = {
        {.method = "upload.begin", .result = "{\"upload\":true}"},
        {.method = "upload.chunk"},
        {.method = "upload.chunk"},
        {.method = "upload.chunk"},
        {.method = "upload.end"},
        {0}};
    CLEANUP(buf_deinit) struct buf asked = {0}, got = {0};
    struct err e = {0};
    int64_t last = 0;
    struct fake f;

    fake_start(&f, &(struct fake_script){.steps = steps});
    struct connection *c = open_fake(&f);
    assert_int_equal(upload_send(c, u, count_progress, &last, &e), 0);
    assert_int_equal(last, (int64_t)want->len);
    fake_asked(&f, &asked);
    assert_non_null(strstr(asked.data, "upload.end {}"));
    join_chunks(&asked, &got);
    assert_int_equal(got.len, want->len);
    assert_memory_equal(got.data, want->data, want->len);
    connection_close(c);
    fake_stop(&f);
}

static void fill(struct buf *b, size_t len)
{
    for (size_t i = 0; i < len; i++)
        buf_putc(b, (char)(i * 31 + i / 251));
}

static void an_upload_from_memory_arrives_whole_in_bounded_pieces(void **state)
{
    CLEANUP(buf_deinit) struct buf data = {0};

    (void)state;
    fill(&data, 2 * FRAME_CHUNK_MAX + 17);
    const struct upload u = {
        .kind = "suite", .sha256 = "0", .bytes = (int64_t)data.len, .data = data.data};
    upload_arrives_whole(&u, &data);
}

static void an_upload_from_a_file_arrives_whole(void **state)
{
    CLEANUP(buf_deinit) struct buf data = {0};
    const char *commits[] = {"0123", NULL};
    const struct args list = {commits, 1};
    FILE *file = tmpfile();

    (void)state;
    assert_non_null(file);
    fill(&data, 2 * FRAME_CHUNK_MAX + 1);
    assert_int_equal(fwrite(data.data, 1, data.len, file), data.len);
    assert_int_equal(fflush(file), 0);
    const struct upload u = {.kind = "bundle",
                             .sha256 = "0",
                             .bytes = (int64_t)data.len,
                             .fd = fileno(file),
                             .commits = &list};
    upload_arrives_whole(&u, &data);
    (void)fclose(file);
}

static void what_the_daemon_has_is_not_sent_again(void **state)
{
    static const struct fake_step steps[] = {
        {.method = "upload.begin", .result = "{\"upload\":false}"}, {0}};
    const struct upload u = {.kind = "suite", .sha256 = "0", .bytes = 3, .data = "abc"};
    CLEANUP(buf_deinit) struct buf asked = {0};
    struct err e = {0};
    struct fake f;

    (void)state;
    fake_start(&f, &(struct fake_script){.steps = steps});
    struct connection *c = open_fake(&f);
    assert_int_equal(upload_send(c, &u, NULL, NULL, &e), 0);
    fake_asked(&f, &asked);
    assert_string_equal(asked.data,
                        "upload.begin {\"kind\":\"suite\",\"bytes\":3,\"sha256\":\"0\"}\n");
    connection_close(c);
    fake_stop(&f);
}

static void a_refused_piece_ends_the_upload(void **state)
{
    static const struct fake_step steps[] = {
        {.method = "upload.begin", .result = "{\"upload\":true}"},
        {.method = "upload.chunk", .error = "upload.too_much"},
        {0}};
    const struct upload u = {.kind = "suite", .sha256 = "0", .bytes = 3, .data = "abc"};
    struct err e = {0};
    struct fake f;

    (void)state;
    fake_start(&f, &(struct fake_script){.steps = steps});
    struct connection *c = open_fake(&f);
    assert_int_equal(upload_send(c, &u, NULL, NULL, &e), -EREMOTEIO);
    assert_string_equal(e.code, "upload.too_much");
    connection_close(c);
    fake_stop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_piece_says_where_it_ends),
        cmocka_unit_test(a_piece_that_does_not_fit_is_refused),
        cmocka_unit_test(an_upload_from_memory_arrives_whole_in_bounded_pieces),
        cmocka_unit_test(an_upload_from_a_file_arrives_whole),
        cmocka_unit_test(what_the_daemon_has_is_not_sent_again),
        cmocka_unit_test(a_refused_piece_ends_the_upload),
    };
    (void)signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
