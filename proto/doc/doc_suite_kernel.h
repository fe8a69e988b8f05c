/* What a workload of measure "kernel" asks of its drivers. Internal to proto. */
#pragma once

#include "core/suite.h"
#include "proto/json/json.h"

/* Fills w->kernel from the member "kernel". */
void doc_suite_kernel(struct json_in *in, const cJSON *obj, struct workload *w);
