/* One line of the protocol, read from the lane's stdout: at most WIRE_LINE_MAX bytes with its
 * newline. It is read alone: what came behind it in the same read is there to be complained about.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/wire/runner_wire.h"

struct record {
    char data[WIRE_LINE_MAX + 1]; /* as read; NUL bytes and all */
    size_t len;
    size_t line; /* bytes of the line without newline; valid after RECORD_LINE */
};

enum record_end {
    RECORD_LINE,
    RECORD_TOO_LONG,
    RECORD_EOF, /* the lane closed its stdout; a part of a line may stand in data */
    RECORD_TIMEOUT,
    RECORD_CANCEL,
};

/* Reads on into r until there is a line, by plain blocking reads that only the deadline (watch.h)
 * and the daemon interrupt. *stamp_ns is the timing clock right after the last read. */
enum record_end record_read(struct record *r, int fd, int64_t request, int64_t *stamp_ns);

/* The line is exactly these bytes. */
bool record_is(const struct record *r, const char *expected);
/* What was read behind the line. */
struct wire_bytes record_extra(const struct record *r);
/* The line without newline, or all there is of it. */
struct wire_bytes record_text(const struct record *r);
