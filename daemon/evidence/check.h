/* Whether a sealed folder is still what was sealed: its files against SHA256SUMS, and those against
 * what the database keeps of them. Reads only. (`aurabench verify` recomputes what is in them.)
 */
#pragma once

#include "base/digest.h"
#include "base/err.h"

struct evidence_expected {
    const char *raw_sha256, *summary_sha256; /* of an attempt's folder; summary NULL: it has none */
    const char *sums_sha256;                 /* of a session's; NULL: not known */
};

/* 0, or -errno with e filled by one sentence that names the first difference: "evidence.missing"
 * (-ENOENT, the folder), "evidence.changed" (-EBADMSG), and those of reading it. */
int evidence_check(const char *dir, const struct evidence_expected *expected, struct err *e);
