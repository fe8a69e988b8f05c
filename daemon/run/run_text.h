/* What a person reads about a request that did not end well: one sentence that names the cause and
 * the next step, the outcome as its stable code, and the field of the suite or policy to look at.
 */
#pragma once

#include "base/err.h"
#include "run/run.h"

/* Whose observation it was. */
struct run_text_who {
    const char *workload, *lane, *side;
};

/* Fills e for an observation whose outcome is not "ok"; e is untouched when it is. Returns 0 for
 * "ok", else -EPROTO. req is the request that was observed. */
int run_observe_text(const struct run_text_who *who, const struct run_observe *req,
                     const struct run_observation *o, struct err *e);

/* One of the causes that run.h lists, or "ok". */
bool run_observe_known(const char *outcome);
bool run_exec_known(const char *outcome);

/* The same for a build step, with the codes "build.failed", "build.timeout", "job.cancelled" and
 * "runner.unclean". what: "build step 1 of side before (make)"; field: "build[0]". */
int run_exec_text(const char *what, const char *field, const struct run_exec *req,
                  const struct run_exec_result *r, struct err *e);
