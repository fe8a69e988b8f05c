/* Bulk data in checked pieces, both ways: what job.log and report.get give, and uploads. */
#pragma once

#include "base/digest.h"
#include "client/link/connection.h"

/* One piece of bulk data as an answer carries it. */
struct chunk {
    struct buf data;
    int64_t next, total;
    char sha256[DIGEST_HEX]; /* of the whole; "": not said */
};
void chunk_deinit(struct chunk *chunk);
/* Reads data, next and total of the result for a question from offset on. -EPROTO with e filled
 * when they do not fit together. */
int chunk_decode(struct answer *answer, int64_t offset, struct chunk *out, struct err *e);

/* What is fetched whole, piece by piece. */
struct fetch {
    const char *method;
    const char *what; /* for a person: "the report" */
    size_t max_bytes;
    void *ctx;
    void (*put)(void *ctx, int64_t offset, struct json_out *o); /* the parameters */
    void (*look)(void *ctx, struct json_in *in,
                 const cJSON *result); /* more of each answer; NULL: nothing */
};
/* The whole goes to out, which is empty. When its pieces turn out to be of several texts (a page
 * that changed meanwhile) it is fetched anew, a few times; then -ESTALE, "report.changed". */
int fetch_whole(struct connection *c, const struct fetch *f, struct buf *out, struct err *e);

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
