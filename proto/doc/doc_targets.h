/* Targets ("aurabench.targets.v1"): what a person writes for `aurabench gate`. A target is told by
 * its one limit: "max_ratio" of a lane to a reference lane, "max_slowdown_pct" between two sides,
 * "bytes" of a built file, or "max_p99" of a series of samples. Closed: a member that a kind of
 * target does not know is an error, and so are two targets for one thing. The result and its
 * strings live in the arena.
 */
#pragma once

#include "core/gate/gate.h"
#include "proto/json/json.h"

#define TARGETS_SCHEMA "aurabench.targets.v1"
#define TARGETS_MAX 1000
#define GATE_SCHEMA "aurabench.gate.v1"

/* 0, or -EINVAL with e filled ("target.bad", "json.*"). */
int targets_decode(struct arena *a, const char *data, size_t len, struct targets **out,
                   struct err *e);
/* The same of a document inside another message. */
int targets_decode_node(struct arena *a, const cJSON *doc, struct targets **out, struct err *e);

/* The judged targets ("aurabench.gate.v1", schema/gate.json) as members "schema", "targets" (an
 * array of rows), "met", "missed", "undefined", "diagnostic", "unclear" (counts) and "passed". */
void gate_encode(struct json_out *o, const struct gate_result *gate);
