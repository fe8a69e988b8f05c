/* The files of a lane of measure "size", with what may and must be in them. Internal to proto. */
#pragma once

#include "core/suite.h"
#include "proto/json/json.h"

/* Fills files, their baselines, must_link and must_not_link. */
void doc_lane_files(struct json_in *in, const cJSON *obj, struct lane *lane);
