/* Runs a program that is not timed as a lane (a build step), with its output in a log of limited
 * size, until it ends, its time is over or the daemon cancels it. */
#pragma once

#include "proto/wire/runner_wire.h"

/* Fills res; its strings live until the next call. */
void exec_run(int64_t id, const struct wire_exec *req, struct wire_exec_result *res);
