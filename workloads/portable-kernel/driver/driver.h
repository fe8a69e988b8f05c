/* aurabench-kernel: the driver of the portable kernel's own language. It speaks the protocol of
 * docs/kernels.md over stdin and stdout: one JSON object a line, one answer to each request. Clock,
 * threads and files are here; the language has none of them.
 */
#pragma once

#include <stdio.h>

#include "base/err.h"
#include "lang/pk.h"
#include "proto/json/json.h"

#define SAMPLES_A_LINE 4096

struct driver {
    struct pk_abi abi;
    struct pk_bytes artifact; /* of the last compile request */
    struct pk_program *program;
};

enum driver_kind { DO_COMPILE, DO_DECODE, DO_DISPATCH, DO_END };

struct driver_request {
    enum driver_kind kind;
    const char *program; /* path of the source */
    int64_t iterations, workers;
    const char *entry;
    enum pk_kind entry_kind;
    const char *input; /* JSON text */
};

/* One line. 0 or -EINVAL with e filled. */
int driver_request(struct arena *a, const char *line, size_t len, struct driver_request *out,
                   struct err *e);

/* Times the work of a request and writes its answer; a failure is filled into e, and nothing of an
 * answer that could be taken for a good one is written behind it. */
int driver_compile(struct driver *d, const struct driver_request *q, struct err *e);
int driver_decode(struct driver *d, const struct driver_request *q, struct err *e);
int driver_dispatch(struct driver *d, const struct driver_request *q, struct err *e);

/* Samples of one phase that share a digest (NULL: the phase has none); worker -1: no worker. */
void driver_put_samples(const char *phase, int64_t worker, const int64_t *ns, size_t n,
                        const char *digest);
void driver_put(struct buf *line);                        /* writes and empties it */
int driver_fail(const struct pk_err *why, struct err *e); /* -EINVAL */
