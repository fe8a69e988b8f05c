/* The tables of the raw report's flat records, shared by its encoder and its decoder, and its
 * bounds. Internal to proto; the interface is raw_encode and raw_decode in documents.h. */
#pragma once

#include "core/raw.h"
#include "proto/doc/doc_raw_fields.h"

#define RAW_SCHEMA "aurabench.raw.v1"
#define RAW_OBSERVATIONS_MAX 1000000
#define RAW_STEPS_MAX 1000000
#define RAW_WORKLOADS_MAX 4096
#define RAW_LANES_MAX 256
#define RAW_FILES_MAX 100000  /* artifacts, rechecks */
#define RAW_RECORDS_MAX 10000 /* builds, tools, refusals */
#define RAW_VALUES_MAX 256    /* of one observation */

extern const struct doc_table raw_source_table, raw_build_table, raw_artifact_table, raw_tool_table,
    raw_recheck_table, raw_refusal_table, raw_observation_table, raw_lane_table, raw_workload_table,
    raw_head_table, raw_session_table, raw_pair_row_table, raw_value_table, raw_file_table,
    raw_series_table, raw_scaling_table, raw_output_table;

/* Sources, each with its correction or null. */
extern const struct doc_table raw_correction_table;
void raw_sources_encode(struct json_out *o, const struct raw *raw);
void raw_sources_decode(struct json_in *in, const cJSON *doc, struct raw *raw);

/* Members of a plan step that are not names. */
extern const struct doc_table raw_step_table;
