/* What a workload has beside READY, GO and DONE once its work is done, and how a lane is held
 * against another that does the same as one task. Internal to proto. */
#pragma once

#include "core/suite.h"
#include "proto/json/json.h"

/* Fills samples; the workload's measure and ack are known. */
void doc_suite_samples(struct json_in *in, const cJSON *obj, struct workload *w);

/* Fills lane->scaling of a workload of this measure. */
void doc_lane_scaling(struct json_in *in, const cJSON *obj, enum measure measure,
                      struct lane *lane);
/* The lane that it names, one of the same workload (NULL: there is none), can be compared with. */
void doc_check_scaling(struct json_in *in, const struct lane *lane, const struct lane *one);
