/* Requests and results of run.h against the messages of proto/wire/runner_wire.h: pure conversions,
 * with the checks that a request must pass before it may be sent. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "proto/wire/runner_wire.h"
#include "run/run.h"

struct run_masks {
    uint8_t cpus[WIRE_CPU_BYTES], near[WIRE_CPU_BYTES];
};

/* Everything in the message borrows from the request (and from masks). 0, -EINVAL or -E2BIG with e
 * filled. */
int run_wire_exec(const struct run_exec *req, struct wire_exec *x, struct err *e);
int run_wire_observe(const struct run_observe *req, struct wire_observe *o, struct run_masks *masks,
                     struct err *e);

void run_wire_exec_result(const struct wire_exec_result *r, struct run_exec_result *out);
void run_wire_observation(struct arena *a, const struct wire_observe_result *r,
                          struct run_observation *out);
