/* The documents that have a byte form here: suite, job, policy, raw report, summary, host. Each has
 * one decoder into its core struct (closed: unknown keys are errors) and, where the product writes
 * it, one encoder. The schemas in proto/schema/ say the same; tests compare them field by field.
 *
 * Decoders return 0 or -EINVAL with e filled (code, field path, sentence); the result lives in a.
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "core/job.h"
#include "core/policy.h"
#include "core/raw.h"
#include "core/suite.h"
#include "core/summary/summarise.h"
#include "proto/json/json.h"

/* suite.json, with every rule: placeholders, shell operators, names, control lanes without
 * {source}, startup lanes that exist. */
int suite_decode(struct arena *a, const char *data, size_t len, struct suite **out, struct err *e);

/* The job as it travels and is stored ("aurabench.job.v1"). */
int job_decode(struct arena *a, const cJSON *doc, struct job **out, struct err *e);
int job_decode_text(struct arena *a, const char *text, struct job **out, struct err *e);
void job_encode(struct json_out *o, const char *key, const struct job *job);

/* "aurabench.policy.v1". Missing members take the default of `standard`. */
int policy_decode(struct arena *a, const char *data, size_t len, struct policy **out,
                  struct err *e);
int policy_decode_node(struct arena *a, const cJSON *doc, struct policy **out, struct err *e);
void policy_encode(struct json_out *o, const char *key, const struct policy *p);
/* The shipped ones ("standard", "virtual", "strict"), embedded; -ENOENT for another name. */
int policy_shipped(struct arena *a, const char *name, struct policy **out, struct err *e);
/* 0, or -ENOENT as above: for those who only pass the name on. */
int policy_is_shipped(const char *name, struct err *e);
const char *const *policy_shipped_names(void); /* NULL-terminated */
/* For a policy that a user gave: it may not bear a shipped one's name and say something else.
 * 0, or -EINVAL with e filled ("policy.reserved_name"). */
int policy_check_name(const struct policy *p, struct err *e);

/* "aurabench.raw.v1". Encoding is followed by json_canonical for raw.json. */
void raw_encode(struct json_out *o, const char *key, const struct raw *raw);
int raw_decode(struct arena *a, const char *data, size_t len, struct raw **out, struct err *e);

/* "aurabench.summary.v1"; raw_sha256 links it to its raw report. */
void summary_encode(struct json_out *o, const char *key, const struct summary *s,
                    const struct raw *raw, const char *raw_sha256);

/* Pieces that other answers use too. */
void host_identity_encode(struct json_out *o, const char *key, const struct host_identity *h);
void boot_identity_encode(struct json_out *o, const char *key, const struct boot_identity *b);
void host_facts_encode(struct json_out *o, const char *key, const struct host_facts *f);
void inventory_encode(struct json_out *o, const char *key, const struct inventory *inv);
void conditions_encode(struct json_out *o, const char *key,
                       const struct condition_result results[COND_COUNT]);
