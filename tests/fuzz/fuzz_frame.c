/* Framing: lines as a byte-by-byte model of the stream sees them, whatever the pieces, with lines
 * over the limit told once and forgotten.
 *
 * Input: a byte below 128 pushes that many of the bytes that follow; one above pushes as many times
 * 64 KiB of filler without a newline. */
#include <errno.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "proto/wire/frame.h"

#define FILLER ((size_t)64 << 10)
#define STREAM_MAX ((size_t)5 << 18) /* of filler: each input stays quick */

struct model {
    struct buf line;
    bool told; /* that the line is too long */
};

struct run {
    struct frame_reader reader;
    struct model model;
    size_t filled;
};

static void expect(struct run *r, int want, const char *line, size_t len)
{
    const char *got = NULL;
    size_t got_len = 0;
    struct err e = {0};
    int rc = frame_next(&r->reader, &got, &got_len, &e);

    MUST(rc == want, "%d instead of %d", rc, want);
    if (want < 0)
        fuzz_refused(rc, &e);
    if (want == 1)
        MUST(got_len == len && memcmp(got, line, len) == 0, "%zu bytes", got_len);
}

static void model_end_of_line(struct run *r)
{
    struct model *m = &r->model;

    if (m->line.len <= FRAME_MAX) {
        expect(r, 1, buf_str(&m->line), m->line.len);
        fuzz_count_good();
    } else if (!m->told) {
        expect(r, -EMSGSIZE, NULL, 0);
    }
    buf_clear(&m->line);
    m->told = false;
}

/* Keeps no more of a line than shows that it is too long. */
static void model_bytes(struct run *r, const char *data, size_t len)
{
    size_t room = FRAME_MAX + 1 - r->model.line.len;

    buf_add(&r->model.line, data, len < room ? len : room);
}

/* Lines are asked for in the order of the stream. */
static void push(struct run *r, const char *data, size_t len)
{
    struct model *m = &r->model;
    const char *end = data + len, *newline;

    frame_push(&r->reader, data, len);
    MUST(r->reader.b.len <= FRAME_MAX + len);
    for (; (newline = memchr(data, '\n', (size_t)(end - data))); data = newline + 1) {
        model_bytes(r, data, (size_t)(newline - data));
        model_end_of_line(r);
    }
    model_bytes(r, data, (size_t)(end - data));
    if (m->line.len > FRAME_MAX && !m->told) {
        expect(r, -EMSGSIZE, NULL, 0);
        m->told = true;
    }
    expect(r, 0, NULL, 0);
    MUST(frame_is_empty(&r->reader) == (m->line.len == 0));
}

static void push_filler(struct run *r, size_t times)
{
    static const char filler[FILLER];

    for (; times > 0 && r->filled < STREAM_MAX; times--, r->filled += FILLER)
        push(r, filler, FILLER);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_in in = {data, size};
    struct run r = {0};

    while (in.left) {
        uint8_t op = fuzz_byte(&in);
        if (op >= 128) {
            push_filler(&r, op - 127U);
            continue;
        }
        size_t n = op < in.left ? op : in.left;
        push(&r, (const char *)in.at, n);
        in.at += n;
        in.left -= n;
    }
    buf_deinit(&r.model.line);
    frame_reader_deinit(&r.reader);
    return 0;
}
