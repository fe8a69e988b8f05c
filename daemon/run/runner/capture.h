/* Output that nobody has to drain while the clock runs: a memory file with a fixed size, which the
 * child writes into; and the tail of output, of a file or of a stream. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/wire/runner_wire.h"

#define TAIL_BYTES 4096

struct tail {
    char data[TAIL_BYTES];
    size_t len;
};

void tail_add(struct tail *t, const void *data, size_t len);

struct capture {
    int fd; /* -1: none */
    int64_t limit_bytes;
};

/* 0 or -errno. More than limit_bytes can be told from exactly limit_bytes; some way beyond it
 * writing fails in the child. */
int capture_open(struct capture *c, int64_t limit_bytes);
void capture_close(struct capture *c);
/* Bytes written so far, or -errno. Ask when the writers are gone. */
int64_t capture_bytes(const struct capture *c);
/* More was written than the limit; where any difference is judged anyway (only_full), only what met
 * the end of the file is, and made the child's writing fail. */
bool capture_over(const struct capture *c, bool only_full);
/* True when the first len bytes are exactly these. */
bool capture_equals(const struct capture *c, const void *expected, size_t len);
/* Up to cap bytes from the first one that differs from expected; how many. */
size_t capture_from_difference(const struct capture *c, const struct wire_bytes *expected,
                               int64_t bytes, char *out, size_t cap);
void capture_tail(const struct capture *c, int64_t bytes, struct tail *t);
