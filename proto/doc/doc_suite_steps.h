/* Workloads of measure "build": what their lanes say of steps, and one workload for each step.
 * Internal to proto. */
#pragma once

#include "core/suite.h"
#include "proto/json/json.h"

#define STEPS_MAX 16

/* How many workloads the one written as obj becomes; 1 for every other measure, and where its steps
 * cannot be read: suite_steps_expand says why. */
size_t doc_count_steps(const cJSON *obj);

/* Fills prepare of a lane. */
void doc_lane_prepare(struct json_in *in, const cJSON *obj, struct lane *lane);

/* w is a workload of measure build as it is written in obj, its lanes filled but for what differs
 * between the steps. Fills out[doc_count_steps(obj)], one for each step, in the order in which the
 * workload names them. */
void doc_expand_steps(struct json_in *in, const cJSON *obj, const struct workload *w,
                      struct workload *out);
