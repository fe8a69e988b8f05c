/* What a kernel driver says, held against what it was asked: a machine of phases without I/O.
 *
 * hello -> compile -> decode -> dispatch -> over. Each message is judged when it comes: whether it
 * belongs to the phase, whether there are more samples than were asked for, whether the artifact
 * and the terminal value are those of the first. Driver and figures are trusted in nothing that can
 * be checked: the sum of a phase's samples must fit into the time that passed outside, and what one
 * worker took into the batch's wall time.
 */
#pragma once

#include "base/err.h"
#include "core/kernel/kernel.h"

#define KERNEL_PROTOCOL 1
#define KERNEL_SAMPLES_MAX 100000 /* in one message */
#define KERNEL_SAMPLE_MAX INT64_C(1000000000000000)

enum kernel_phase { KERNEL_HELLO, KERNEL_COMPILE, KERNEL_DECODE, KERNEL_DISPATCH, KERNEL_OVER };
const char *kernel_phase_name(enum kernel_phase p); /* "hello", "compile", ... */

enum kernel_message_kind {
    KERNEL_SAYS_HELLO,
    KERNEL_SAYS_SAMPLES,
    KERNEL_SAYS_DONE,
    KERNEL_SAYS_ERROR
};

struct kernel_message {
    enum kernel_message_kind kind;
    /* hello */
    struct kernel_provenance provenance;
    enum kernel_target target;
    int64_t initialization_ns; /* -1: there is no such boundary */
    /* samples and done */
    enum kernel_phase phase;
    bool first;     /* of samples of dispatch: the one in front of the batch */
    int64_t worker; /* -1: none */
    const int64_t *ns;
    size_t n;
    const char *digest; /* NULL: none */
    int64_t artifact_bytes, batch_wall_ns, workers;
    bool unmeasurable; /* done of decode: it cannot be told apart */
    const char *error;
};

struct kernel_plan {
    int64_t compiles, dispatches, workers;
};

struct kernel_worker {
    int64_t n, ns; /* samples so far, and their sum */
};

struct kernel_run {
    struct arena *a;
    struct kernel_plan plan;
    enum kernel_phase phase;
    struct kernel_provenance provenance;
    enum kernel_target target;
    int64_t initialization_ns;
    int64_t *compile, *decode, *dispatch; /* samples in ns; compile[0] is the first */
    int64_t n_compile, n_decode, n_dispatch, first_dispatch_ns;
    char artifact[72], terminal[72]; /* digests; empty: none yet */
    int64_t artifact_bytes, batch_wall_ns;
    struct kernel_worker *workers;
};

/* The plan is within the limits of kernel.h, with at most as many workers as dispatches. */
void kernel_run_init(struct kernel_run *r, struct arena *a, const struct kernel_plan *plan);
/* Takes a message. 0, or -EPROTO with e filled: "kernel.driver" (against the protocol),
 * "kernel.artifact_differs", "kernel.terminal_differs", "kernel.implausible", or the driver's own
 * error, "kernel.failed". elapsed_ns is the time since the request was sent, by another clock. */
int kernel_run_take(struct kernel_run *r, const struct kernel_message *m, int64_t elapsed_ns,
                    struct err *e);
/* Once it is over: the receipt; what the driver does not know (schema, source, entry, machine,
 * digests of source and input, versions of this product) is the caller's. */
void kernel_run_receipt(struct kernel_run *r, struct kernel_receipt *out);
