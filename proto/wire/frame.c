#include "proto/wire/frame.h"

#include <errno.h>
#include <string.h>

/* A buffer of more than this is not kept for a stream that has gone quiet. */
#define KEPT_MAX ((size_t)64 << 10)

void frame_reader_deinit(struct frame_reader *r)
{
    buf_deinit(&r->b);
    *r = (struct frame_reader){0};
}

/* Forgets what was given out, so that the buffer does not grow with the stream. */
static void compact(struct frame_reader *r)
{
    buf_consume(&r->b, r->start);
    r->start = 0;
    if (r->b.len == 0 && r->b.cap > KEPT_MAX)
        buf_deinit(&r->b);
}

void frame_push(struct frame_reader *r, const void *data, size_t len)
{
    const char *from = data;
    compact(r);
    if (r->dropping) {
        const char *newline = memchr(from, '\n', len);
        if (!newline) {
            r->dropped += len;
            return;
        }
        len -= (size_t)(newline + 1 - from);
        from = newline + 1;
        r->dropping = false;
    }
    buf_add(&r->b, from, len);
}

static int too_long(struct err *e)
{
    return err_set(e, -EMSGSIZE, "rpc.too_long", "",
                   "a message is longer than %zu bytes; send bulk data in chunks of at most %zu",
                   FRAME_MAX, FRAME_CHUNK_MAX);
}

static int drop_unfinished(struct frame_reader *r, struct err *e)
{
    buf_deinit(&r->b);
    r->start = r->looked = r->dropped = 0;
    r->dropping = true;
    return too_long(e);
}

int frame_next(struct frame_reader *r, const char **line, size_t *len, struct err *e)
{
    size_t left = r->b.len - r->start;
    const char *from = r->b.data ? r->b.data + r->start : "";
    const char *newline = memchr(from + r->looked, '\n', left - r->looked);
    if (!newline) {
        r->looked = left;
        if (left == 0)
            compact(r);
        return left > FRAME_MAX ? drop_unfinished(r, e) : 0;
    }
    *line = from;
    *len = (size_t)(newline - from);
    r->start += *len + 1;
    r->looked = 0;
    return *len > FRAME_MAX ? too_long(e) : 1;
}

bool frame_is_endless(const struct frame_reader *r)
{
    return r->dropping && r->dropped > FRAME_DROP_MAX;
}

size_t frame_held(const struct frame_reader *r)
{
    return r->b.len - r->start;
}

bool frame_is_empty(const struct frame_reader *r)
{
    return r->start == r->b.len && !r->dropping;
}

int frame_finish(struct buf *out, size_t start, struct err *e)
{
    if (out->len - start > FRAME_MAX) {
        out->len = start;
        if (out->data)
            out->data[start] = '\0';
        return too_long(e);
    }
    buf_putc(out, '\n');
    return 0;
}
