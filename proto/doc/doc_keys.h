/* The members of every object in the documents that people write, as their decoders accept them.
 * Each list is NULL-terminated. Tests compare them with proto/schema/, field by field. */
#pragma once

extern const char *const suite_keys[];
extern const char *const workload_keys[];
extern const char *const lane_keys[];
extern const char *const sample_keys[];
extern const char *const scaling_keys[];
extern const char *const step_keys[];        /* of a lane of measure "build" */
extern const char *const profile_keys[];     /* rules of attribution in a workload */
extern const char *const attribution_keys[]; /* the same in a file of their own */
extern const char *const category_keys[];
extern const char *const kernel_keys[];

extern const char *const job_keys[];
extern const char *const job_suite_keys[];
extern const char *const job_source_keys[];
extern const char *const job_correction_keys[];
extern const char *const job_variant_keys[];
extern const char *const job_pair_keys[];
extern const char *const job_retry_keys[];
extern const char *const job_after_keys[];
extern const char *const notify_keys[];
extern const char *const window_keys[];   /* of a job or a session */
extern const char *const job_edit_keys[]; /* changes to a job that is here */
/* job.json as a user writes it. */
extern const char *const job_file_keys[];
extern const char *const job_file_suite_keys[];
extern const char *const job_file_source_keys[];
extern const char *const job_file_correction_keys[];

extern const char *const session_keys[];
/* session.json as a user writes it. */
extern const char *const session_file_keys[];
extern const char *const session_file_job_keys[]; /* where a job lies */

extern const char *const policy_keys[];
extern const char *const policy_rule_keys[];
extern const char *const policy_host_keys[];
extern const char *const policy_retry_keys[];
extern const char *const policy_inventory_keys[];

extern const char *const targets_keys[];
extern const char *const target_gap_keys[];
extern const char *const target_ratio_keys[];
extern const char *const target_change_keys[];
extern const char *const target_size_keys[];
extern const char *const target_sample_keys[];
