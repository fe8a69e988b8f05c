#include "proto/doc/doc_raw.h"

#define STR(type, member) DOC_FIELD(type, member, DOC_STR, FIELD_NAME_MAX)
#define LINE(type, member) DOC_FIELD(type, member, DOC_STR, FIELD_TEXT_MAX)
#define TEXT(type, member) DOC_FIELD(type, member, DOC_STR_OR_NULL, FIELD_TEXT_MAX)
#define INT(type, member) DOC_FIELD(type, member, DOC_INT, INT32_MAX)
#define INT_OR_NULL(type, member) DOC_FIELD(type, member, DOC_INT_OR_NULL, INT32_MAX)
#define I64_OR_NULL(type, member) DOC_FIELD(type, member, DOC_I64_OR_NULL, JSON_INT_MAX)
#define BOOL(type, member) DOC_FIELD(type, member, DOC_BOOL, 0)
#define ARGS(type, member) DOC_FIELD(type, member, DOC_ARGS, FIELD_ARGS_MAX)
#define NUM(type, member) DOC_FIELD(type, member, DOC_NUM, JSON_INT_MAX)

DOC_WORDS(recheck_kind, enum recheck_kind);
DOC_WORDS(obs_kind, enum obs_kind);
DOC_WORDS(measure, enum measure);
DOC_WORDS(sample_unit, enum sample_unit);
DOC_WORDS(phase, enum phase);
DOC_WORDS(session_boot, enum session_boot);

static const struct doc_field source_fields[] = {
    STR(struct raw_source, side),          TEXT(struct raw_source, repo),
    TEXT(struct raw_source, rev),          TEXT(struct raw_source, commit),
    TEXT(struct raw_source, head),         BOOL(struct raw_source, detached),
    BOOL(struct raw_source, clean),        I64_OR_NULL(struct raw_source, path_bytes),
    I64_OR_NULL(struct raw_source, files), TEXT(struct raw_source, tree_sha256),
    ARGS(struct raw_source, variant),
};
const struct doc_table raw_source_table = DOC_TABLE(source_fields, struct raw_source);

static const struct doc_field build_fields[] = {
    STR(struct raw_build, side),
    INT(struct raw_build, step),
    ARGS(struct raw_build, argv),
    INT_OR_NULL(struct raw_build, exit_status),
    I64_OR_NULL(struct raw_build, wall_ns),
    TEXT(struct raw_build, log),
    TEXT(struct raw_build, attempt),
};
const struct doc_table raw_build_table = DOC_TABLE(build_fields, struct raw_build);

static const struct doc_field artifact_fields[] = {
    STR(struct raw_artifact, side),
    LINE(struct raw_artifact, path),
    I64_OR_NULL(struct raw_artifact, bytes),
    TEXT(struct raw_artifact, sha256),
};
const struct doc_table raw_artifact_table = DOC_TABLE(artifact_fields, struct raw_artifact);

static const struct doc_field tool_fields[] = {
    LINE(struct raw_tool, name),
    LINE(struct raw_tool, path),
    TEXT(struct raw_tool, version),
    TEXT(struct raw_tool, sha256),
};
const struct doc_table raw_tool_table = DOC_TABLE(tool_fields, struct raw_tool);

static const struct doc_field recheck_fields[] = {
    DOC_FIELD_ENUM(struct raw_recheck, kind, &recheck_kind_words),
    LINE(struct raw_recheck, name),
    TEXT(struct raw_recheck, sha256),
    TEXT(struct raw_recheck, again),
};
const struct doc_table raw_recheck_table = DOC_TABLE(recheck_fields, struct raw_recheck);

static const struct doc_field refusal_fields[] = {
    TEXT(struct raw_refusal, attempt),
    I64_OR_NULL(struct raw_refusal, wall_ms),
    DOC_FIELD_ENUM(struct raw_refusal, phase, &phase_words),
    TEXT(struct raw_refusal, reason),
};
const struct doc_table raw_refusal_table = DOC_TABLE(refusal_fields, struct raw_refusal);

static const struct doc_field observation_fields[] = {
    INT(struct raw_observation, seq),
    STR(struct raw_observation, workload),
    STR(struct raw_observation, lane),
    STR(struct raw_observation, side),
    INT(struct raw_observation, repetition),
    INT(struct raw_observation, position),
    DOC_FIELD_ENUM(struct raw_observation, kind, &obs_kind_words),
    STR(struct raw_observation, outcome),
    I64_OR_NULL(struct raw_observation, start_ns),
    I64_OR_NULL(struct raw_observation, go_ns),
    I64_OR_NULL(struct raw_observation, done_ns),
    I64_OR_NULL(struct raw_observation, exit_ns),
    I64_OR_NULL(struct raw_observation, elapsed_ns),
    I64_OR_NULL(struct raw_observation, process_ns),
    I64_OR_NULL(struct raw_observation, interval_cpu_ns),
    I64_OR_NULL(struct raw_observation, user_us),
    I64_OR_NULL(struct raw_observation, system_us),
    I64_OR_NULL(struct raw_observation, max_rss_bytes),
    I64_OR_NULL(struct raw_observation, minor_faults),
    I64_OR_NULL(struct raw_observation, major_faults),
    I64_OR_NULL(struct raw_observation, voluntary_switches),
    I64_OR_NULL(struct raw_observation, involuntary_switches),
    INT_OR_NULL(struct raw_observation, exit_status),
    INT(struct raw_observation, exit_signal),
    TEXT(struct raw_observation, ready),
    TEXT(struct raw_observation, done),
    I64_OR_NULL(struct raw_observation, stdout_bytes),
    I64_OR_NULL(struct raw_observation, stderr_bytes),
    INT_OR_NULL(struct raw_observation, cpu),
    BOOL(struct raw_observation, fifo),
    INT_OR_NULL(struct raw_observation, threads),
    INT_OR_NULL(struct raw_observation, leftovers),
    I64_OR_NULL(struct raw_observation, runner_cpu_ns),
    I64_OR_NULL(struct raw_observation, runner_delay_ns),
    I64_OR_NULL(struct raw_observation, runner_switches),
    I64_OR_NULL(struct raw_observation, daemon_cpu_ns),
    I64_OR_NULL(struct raw_observation, daemon_switches),
    INT_OR_NULL(struct raw_observation, replaces),
};
const struct doc_table raw_observation_table =
    DOC_TABLE(observation_fields, struct raw_observation);

static const struct doc_field value_fields[] = {
    STR(struct raw_value, name),
    DOC_FIELD(struct raw_value, value, DOC_I64, JSON_INT_MAX),
};
const struct doc_table raw_value_table = DOC_TABLE(value_fields, struct raw_value);

static const struct doc_field output_fields[] = {
    LINE(struct raw_output, name),
    DOC_FIELD(struct raw_output, bytes, DOC_I64, JSON_INT_MAX),
    STR(struct raw_output, sha256),
};
const struct doc_table raw_output_table = DOC_TABLE(output_fields, struct raw_output);

static const struct doc_field file_fields[] = {
    STR(struct lane_file, name),
    LINE(struct lane_file, path),
    I64_OR_NULL(struct lane_file, baseline_bytes),
};
const struct doc_table raw_file_table = DOC_TABLE(file_fields, struct lane_file);

static const struct doc_field series_fields[] = {
    STR(struct sample_series, name),
    DOC_FIELD_ENUM(struct sample_series, unit, &sample_unit_words),
    DOC_FIELD(struct sample_series, min, DOC_I64, SAMPLES_MAX),
    DOC_FIELD(struct sample_series, max, DOC_I64, SAMPLES_MAX),
    I64_OR_NULL(struct sample_series, p99_max),
};
const struct doc_table raw_series_table = DOC_TABLE(series_fields, struct sample_series);

static const struct doc_field scaling_fields[] = {
    STR(struct scaling, of),
    DOC_FIELD(struct scaling, tasks, DOC_I64, SCALING_TASKS_MAX),
    DOC_FIELD(struct scaling, max_ratio, DOC_NUM, SCALING_RATIO_MAX),
};
const struct doc_table raw_scaling_table = DOC_TABLE(scaling_fields, struct scaling);

static const struct doc_field lane_fields[] = {
    STR(struct raw_lane, name),
    BOOL(struct raw_lane, control),
    INT(struct raw_lane, cpus),
    DOC_FIELD(struct raw_lane, startup, DOC_STR_OR_NULL, FIELD_NAME_MAX),
    TEXT(struct raw_lane, absent),
    BOOL(struct raw_lane, excluded),
    ARGS(struct raw_lane, command),
};
const struct doc_table raw_lane_table = DOC_TABLE(lane_fields, struct raw_lane);

static const struct doc_field workload_fields[] = {
    STR(struct raw_workload, name),
    DOC_FIELD_ENUM(struct raw_workload, measure, &measure_words),
    DOC_FIELD(struct raw_workload, declared_wait_ns, DOC_I64, JSON_INT_MAX),
    DOC_FIELD(struct raw_workload, operations, DOC_I64, JSON_INT_MAX),
    DOC_FIELD(struct raw_workload, resolution_ns, DOC_I64, JSON_INT_MAX),
    DOC_FIELD(struct raw_workload, absent_sides, DOC_ARGS, JOB_SIDES_MAX),
};
const struct doc_table raw_workload_table = DOC_TABLE(workload_fields, struct raw_workload);

static const struct doc_field step_fields[] = {
    INT(struct plan_step, seq),
    INT(struct plan_step, repetition),
    INT(struct plan_step, position),
    DOC_FIELD_ENUM(struct plan_step, kind, &obs_kind_words),
    INT_OR_NULL(struct plan_step, replaces),
};
const struct doc_table raw_step_table = DOC_TABLE(step_fields, struct plan_step);

static const struct doc_field session_fields[] = {
    STR(struct raw_session, id),
    LINE(struct raw_session, label),
    DOC_FIELD_ENUM(struct raw_session, boot, &session_boot_words),
    I64_OR_NULL(struct raw_session, opened_ms),
    TEXT(struct raw_session, opened_boot),
    I64_OR_NULL(struct raw_session, settle_ms),
    BOOL(struct raw_session, post_reboot),
};
const struct doc_table raw_session_table = DOC_TABLE(session_fields, struct raw_session);

static const struct doc_field pair_row_fields[] = {
    STR(struct raw_pair_row, workload),    STR(struct raw_pair_row, lane),
    STR(struct raw_pair_row, before_side), STR(struct raw_pair_row, after_side),
    BOOL(struct raw_pair_row, control),    NUM(struct raw_pair_row, before_ns),
    NUM(struct raw_pair_row, after_ns),
};
const struct doc_table raw_pair_row_table = DOC_TABLE(pair_row_fields, struct raw_pair_row);

static const struct doc_field head_fields[] = {
    STR(struct raw, id),
    TEXT(struct raw, version),
    DOC_FIELD(struct raw, host_key, DOC_STR_OR_NULL, FIELD_NAME_MAX),
    I64_OR_NULL(struct raw, started_wall_ms),
    I64_OR_NULL(struct raw, ended_wall_ms),
    TEXT(struct raw, boot_id_after),
    I64_OR_NULL(struct raw, suspend_before_ms),
    I64_OR_NULL(struct raw, suspend_after_ms),
    TEXT(struct raw, suite_sha256),
    TEXT(struct raw, clock),
    TEXT(struct raw, cpu_set),
    BOOL(struct raw, fresh_worktrees),
    TEXT(struct raw, cleanup),
    DOC_FIELD(struct raw, void_code, DOC_STR_OR_NULL, FIELD_NAME_MAX),
    TEXT(struct raw, void_text),
};
const struct doc_table raw_head_table = DOC_TABLE(head_fields, struct raw);
