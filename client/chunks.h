/* Bulk data in checked pieces, both ways: what job.log and report.get give, and uploads. */
#pragma once

#include "client/connection.h"

/* One piece of bulk data as an answer carries it. */
struct chunk {
    struct buf data;
    int64_t next, total;
};
void chunk_deinit(struct chunk *chunk);
/* Reads data, next and total of the result for a question from offset on. -EPROTO with e filled
 * when they do not fit together. */
int chunk_decode(struct answer *answer, int64_t offset, struct chunk *out, struct err *e);

/* What is uploaded: bytes in memory, or an open file. */
struct upload {
    const char *kind; /* "bundle" or "suite" */
    const char *sha256;
    int64_t bytes;
    const void *data; /* NULL: from fd, read from its beginning */
    int fd;
    const struct args *commits; /* of a bundle; NULL for a suite */
};

/* Told of each piece that has arrived; may be NULL. */
typedef void (*upload_progress_fn)(void *ctx, int64_t done, int64_t total);

/* Uploads unless the daemon has it already. */
int upload_send(struct connection *c, const struct upload *u, upload_progress_fn progress,
                void *ctx, struct err *e);
