/* What evidence holds before anything was observed: the job and the policy as files. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "core/raw.h"

/* Append job.json and policy.json, canonical. 0 or -EINVAL with e filled. */
int evidence_job_text(const struct raw *raw, struct buf *out, struct err *e);
int evidence_policy_text(const struct raw *raw, struct buf *out, struct err *e);
