/* Whether an answer of the runner can be true: the two are of one version and one machine, so an
 * answer that contradicts itself, its request or the clock means that one of them is broken. Pure.
 */
#pragma once

#include <stdbool.h>

#include "proto/wire/runner_wire.h"

/* Of the members that are valid after run_*_begin() only; begun_ns and now_ns are readings of the
 * timing clock around the request. */
bool run_check_reply(const struct wire_msg *request, const struct wire_msg *reply, int64_t begun_ns,
                     int64_t now_ns);
