/* Framing: one message a line, ended by a newline, at most FRAME_MAX bytes without it (NDJSON).
 *
 * The reader takes bytes as they come from a stream and gives whole lines. A line that grows over
 * the limit is reported once, its rest is dropped as it comes in, and reading goes on behind it; so
 * memory stays within FRAME_MAX plus one push. It owns its buffer; a line is borrowed until the
 * next call.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

#define FRAME_MAX ((size_t)1 << 20)
/* Most bytes of bulk data in one message, before base 64. */
#define FRAME_CHUNK_MAX ((size_t)256 << 10)
/* Of a line over the limit so much more is dropped before it counts as endless. */
#define FRAME_DROP_MAX ((size_t)16 << 20)

struct frame_reader {
    struct buf b;
    size_t start;   /* first byte not yet given out */
    size_t looked;  /* bytes behind start already searched for a newline */
    bool dropping;  /* inside a line that was over the limit */
    size_t dropped; /* bytes of it since */
};

/* A zeroed reader is ready. */
void frame_reader_deinit(struct frame_reader *r);

/* Adds what was read from the stream. Take all lines with frame_next before the next push. */
void frame_push(struct frame_reader *r, const void *data, size_t len);

/* 1: *line (not NUL-terminated, without newline) and *len are the next line; 0: more bytes are
 * needed; -EMSGSIZE with e filled ("rpc.too_long"): a line over the limit was dropped. */
int frame_next(struct frame_reader *r, const char **line, size_t *len, struct err *e);

/* True inside a line of which FRAME_DROP_MAX bytes have been dropped. */
bool frame_is_endless(const struct frame_reader *r);
/* Bytes that are kept. */
size_t frame_held(const struct frame_reader *r);

/* True when the stream may end here: no half line is left. */
bool frame_is_empty(const struct frame_reader *r);

/* Ends the message that was written to out from start on (its bytes hold no newline; the JSON
 * writer makes none). 0, or -EMSGSIZE with e filled and out cut back to start when it is over the
 * limit. */
int frame_finish(struct buf *out, size_t start, struct err *e);
