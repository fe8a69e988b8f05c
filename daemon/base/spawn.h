/* Runs a helper program (git, a tool asked for its version) to its end and collects its output.
 * Never a shell; a new session; only descriptors 0 to 2; environment as given. Not for anything
 * that is timed: that is the runner's. Blocking: call it from a worker thread or a client.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct spawn_req {
    const char *const *argv; /* NULL-terminated; argv[0] is looked up in PATH of env */
    const char *const *env;  /* NULL-terminated; NULL: PATH, HOME=/nonexistent, LANG=C.UTF-8, TZ=UTC
                                only */
    const char *cwd;         /* NULL: unchanged */
    const void *input;       /* fed to stdin; NULL: /dev/null */
    size_t input_len;
    int out_fd;         /* >= 0: stdout goes there instead of into out (e.g. a bundle file) */
    size_t limit;       /* most bytes kept of stdout, and of stderr; more is an error -EFBIG */
    int64_t timeout_ms; /* 0: 60 s; then the group is killed and -ETIMEDOUT returned */
};

/* A ready request: out_fd -1, limit 1 MiB. */
#define SPAWN_REQ_INIT                                                                             \
    {                                                                                              \
        .out_fd = -1, .limit = 1 << 20                                                             \
    }

/* *status is the exit status (128 + signal for a killed child). out and errout are appended to and
 * may be NULL. -errno with e filled when it could not run; a nonzero exit is not an error here. */
int spawn_run(const struct spawn_req *req, int *status, struct buf *out, struct buf *errout,
              struct err *e);
