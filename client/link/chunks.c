#include "client/link/chunks.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "proto/form/base64.h"
#include "proto/wire/frame.h"

/* A whole piece in base 64. */
#define DATA_MAX (FRAME_CHUNK_MAX / 3 * 4 + 8)

void chunk_deinit(struct chunk *chunk)
{
    buf_deinit(&chunk->data);
}

int chunk_decode(struct answer *answer, int64_t offset, struct chunk *out, struct err *e)
{
    struct json_in in;

    json_in_init(&in, &answer->a, e);
    const char *text = json_str(&in, answer->msg.result, "data", DATA_MAX);
    out->next = json_int(&in, answer->msg.result, "next", 0, JSON_INT_MAX);
    out->total = json_int(&in, answer->msg.result, "total", 0, JSON_INT_MAX);
    const char *sha256 = json_opt_str(&in, answer->msg.result, "sha256", DIGEST_HEX - 1, "");
    (void)snprintf(out->sha256, sizeof out->sha256, "%s", sha256 ? sha256 : "");
    if (in.rc == 0 && base64_decode(text, strlen(text), &out->data) < 0)
        json_fail(&in, "data", "json.value", "data is not base 64");
    if (in.rc == 0 && out->next != offset + (int64_t)out->data.len)
        json_fail(&in, "next", "json.value", "next is not where the data end");
    if (in.rc == 0 && out->next < out->total && out->data.len == 0)
        json_fail(&in, "data", "json.value", "data are missing");
    return connection_check(&in, e);
}

/* ---- fetching all of it */

#define FETCH_TRIES 3

static int one_piece(struct connection *c, const struct fetch *f, int64_t offset,
                     struct chunk *chunk, struct err *e)
{
    CLEANUP(answer_deinit) struct answer answer = {0};
    CLEANUP(buf_deinit) struct buf params = {0};
    struct json_out o;
    struct json_in in;

    json_out_init(&o, &params);
    json_begin(&o, NULL);
    f->put(f->ctx, offset, &o);
    json_end(&o);
    int rc = connection_call(c, f->method, buf_str(&params), &answer, e);
    if (rc == 0)
        rc = chunk_decode(&answer, offset, chunk, e);
    if (rc < 0 || !f->look)
        return rc;
    json_in_init(&in, &answer.a, e);
    f->look(f->ctx, &in, answer.msg.result);
    return connection_check(&in, e);
}

static bool fits(const struct buf *whole, const char *sha256)
{
    char got[DIGEST_HEX];

    if (!sha256[0])
        return true;
    digest_bytes(buf_str(whole), whole->len, got);
    return strcmp(got, sha256) == 0;
}

/* *good: the pieces are of one text. */
static int fetch_once(struct connection *c, const struct fetch *f, struct buf *out, bool *good,
                      struct err *e)
{
    char sha256[DIGEST_HEX] = "";
    bool is_whole = false;

    *good = true;
    while (!is_whole && *good) {
        CLEANUP(chunk_deinit) struct chunk chunk = {0};
        int rc = one_piece(c, f, (int64_t)out->len, &chunk, e);
        if (rc < 0)
            return rc;
        *good = out->len == 0 || strcmp(sha256, chunk.sha256) == 0;
        memcpy(sha256, chunk.sha256, sizeof sha256);
        buf_add(out, chunk.data.data, chunk.data.len);
        is_whole = chunk.next >= chunk.total;
        if (out->len > f->max_bytes)
            return err_set(e, -EFBIG, "client.output", "offset",
                           "%s is longer than %zu MiB; read it in its evidence folder", f->what,
                           f->max_bytes >> 20);
    }
    *good = *good && fits(out, sha256);
    return 0;
}

int fetch_whole(struct connection *c, const struct fetch *f, struct buf *out, struct err *e)
{
    bool good = false;

    for (int i = 0; i < FETCH_TRIES && !good; i++) {
        buf_clear(out);
        int rc = fetch_once(c, f, out, &good, e);
        if (rc < 0)
            return rc;
    }
    return good ? 0
                : err_set(e, -ESTALE, "report.changed", "",
                          "%s changed each time it was fetched; ask again, and if it stays so, see "
                          "whether its evidence folder is whole (aurabench verify)",
                          f->what);
}

/* ---- uploads */

static int begin(struct connection *c, const struct upload *u, bool *wanted, struct err *e)
{
    CLEANUP(answer_deinit) struct answer answer = {0};
    CLEANUP(buf_deinit) struct buf params = {0};
    struct json_out o;
    struct json_in in;

    json_out_init(&o, &params);
    json_begin(&o, NULL);
    json_put_str(&o, "kind", u->kind);
    json_put_int(&o, "bytes", u->bytes);
    json_put_str(&o, "sha256", u->sha256);
    if (u->commits)
        json_put_args(&o, "commits", u->commits);
    json_end(&o);
    int rc = connection_call(c, "upload.begin", buf_str(&params), &answer, e);
    if (rc < 0)
        return rc;
    json_in_init(&in, &answer.a, e);
    *wanted = json_bool(&in, answer.msg.result, "upload");
    return connection_check(&in, e);
}

static int send_chunk(struct connection *c, int64_t offset, const void *data, size_t len,
                      struct err *e)
{
    CLEANUP(answer_deinit) struct answer answer = {0};
    CLEANUP(buf_deinit) struct buf params = {0};

    buf_printf(&params, "{\"offset\":%lld,\"data\":\"", (long long)offset);
    base64_encode(&params, data, len);
    buf_puts(&params, "\"}");
    return connection_call(c, "upload.chunk", buf_str(&params), &answer, e);
}

/* The bytes at offset: a pointer into the data, or into space, read from the file. */
static int piece_at(const struct upload *u, int64_t offset, size_t len, char *space,
                    const void **piece, struct err *e)
{
    if (u->data) {
        *piece = (const char *)u->data + offset;
        return 0;
    }
    for (size_t got = 0; got < len;) {
        ssize_t n = pread(u->fd, space + got, len - got, (off_t)(offset + (int64_t)got));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return err_sys(e, n < 0 ? -errno : -EIO, "read", "what is to be sent");
        got += (size_t)n;
    }
    *piece = space;
    return 0;
}

int upload_send(struct connection *c, const struct upload *u, upload_progress_fn progress,
                void *ctx, struct err *e)
{
    CLEANUP(mem_freep) char *space = u->data ? NULL : mem_alloc(FRAME_CHUNK_MAX);
    CLEANUP(answer_deinit) struct answer answer = {0};
    bool wanted = false;
    int rc = begin(c, u, &wanted, e);

    for (int64_t at = 0; rc == 0 && wanted && at < u->bytes;) {
        int64_t left = u->bytes - at;
        size_t len = left < (int64_t)FRAME_CHUNK_MAX ? (size_t)left : FRAME_CHUNK_MAX;
        const void *piece = NULL;
        rc = piece_at(u, at, len, space, &piece, e);
        if (rc == 0)
            rc = send_chunk(c, at, piece, len, e);
        at += (int64_t)len;
        if (rc == 0 && progress)
            progress(ctx, at, u->bytes);
    }
    return rc < 0 || !wanted ? rc : connection_call(c, "upload.end", NULL, &answer, e);
}
