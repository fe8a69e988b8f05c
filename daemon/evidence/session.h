/* The evidence folder of a session: what was asked, the reports of its jobs' attempts, the page,
 * and checksums over all of it.
 *
 *   session.json  page.md  reports/<attempt>/{raw.json,summary.json,report.md}
 *   SHA256SUMS  SHA256SUMS.sig
 *
 * It appears whole or not at all. The attempts' own folders, which hold more, stay where they are;
 * raw.json is the same file, so its hash ties the two together.
 */
#pragma once

#include "base/digest.h"
#include "base/err.h"
#include "base/keys.h"

struct evidence_session_report {
    const char *attempt; /* its id: the name below reports/ */
    const char *folder;  /* of its own evidence */
};

struct evidence_session {
    const char *root; /* the evidence root */
    const char *id;   /* of the session: the name below root */
    const char *session_json;
    const char *page; /* Markdown; NULL: none */
    const struct evidence_session_report *reports;
    size_t n_reports;
    const struct key *key; /* NULL: not signed */
};

/* Blocking. 0 with the hash of SHA256SUMS, or -errno with e filled as evidence_seal. */
int evidence_seal_session(const struct evidence_session *in, char sums_sha256[DIGEST_HEX],
                          struct err *e);
