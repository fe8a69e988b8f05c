/* The files of an evidence folder that follow from its raw report and nothing else: the daemon
 * writes them, `verify` writes them again and compares the bytes. All JSON is canonical.
 *
 * Each function appends to out; 0, or -EINVAL with e filled. reproduce.sh has a header of its own.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "core/raw.h"
#include "core/summary/summarise.h"

int evidence_raw_text(const struct raw *raw, struct buf *out, struct err *e);
/* raw_sha256: of the bytes of raw.json. */
int evidence_summary_text(const struct raw *raw, const struct summary *summary,
                          const char *raw_sha256, struct buf *out, struct err *e);
int evidence_job_text(const struct raw *raw, struct buf *out, struct err *e);
int evidence_policy_text(const struct raw *raw, struct buf *out, struct err *e);
/* The host as it was when timing began, or as far as the attempt came. */
int evidence_host_text(const struct raw *raw, struct buf *out, struct err *e);
/* One line for each refusal. */
int evidence_refusals_text(const struct raw *raw, struct buf *out, struct err *e);
