/* The evidence folder: one report and all that is needed to check it again.
 *
 * A folder is built under a temporary name in the evidence root (".partial-<name>"), every file is
 * fsynced, SHA256SUMS is written last, and one rename makes it appear under its final name: what
 * has the final name is complete. Nothing is replaced and no link is followed. What it holds is
 * a pure function of the input; the caller owns the input and the result.
 */
#pragma once

#include "base/buf.h"
#include "base/digest.h"
#include "base/err.h"
#include "base/keys.h"
#include "core/raw.h"
#include "core/summary/summarise.h"

/* How the names of folders begin that are being made, below the root. */
#define EVIDENCE_PARTIAL ".partial-"

struct evidence_log {
    const char *name; /* below logs/: "build-before-0.txt"; may hold folders */
    const char *path; /* the regular file that is copied */
};

struct evidence_correction {
    const char *side;
    const char *diff; /* text of the allowed diff: corrections/<side>.diff */
};

struct evidence_input {
    const char *root; /* the evidence root: an existing folder */
    const char *name; /* the final name below it: one component, not hidden */
    const struct raw *raw;
    const struct summary *summary; /* left out of the folder for a void attempt; else not NULL */
    const char *report_markdown;   /* the rendered report; NULL: none */
    const char *suite_dir;         /* copied to suite/; NULL: none */
    const struct evidence_log *logs;
    size_t n_logs;
    const char *tally_dir; /* of the files of profiles/, as observations name them; NULL: none */
    const struct evidence_correction *corrections;
    size_t n_corrections;
    const char *initial_sums; /* text of initial-SHA256SUMS (evidence_initial_sums), or NULL */
    const char *bundle;       /* file copied to commits.bundle; NULL: none */
    const struct key *key;    /* signs SHA256SUMS; raw->host_key names it; NULL: not signed */
};

struct evidence_sealed {
    char raw_sha256[DIGEST_HEX];
    char summary_sha256[DIGEST_HEX]; /* empty for a void attempt */
    char sums_sha256[DIGEST_HEX];    /* of SHA256SUMS itself: names the whole folder */
};

/* The checksums of what exists already when timing ends: job.json and policy.json (of raw->job and
 * raw->policy), the suite, logs and tallies that are there. Everything else follows from the
 * observations. Appends to out; each line must hold in SHA256SUMS too, so that a suite or log that
 * was exchanged between timing and sealing shows. Reads raw->job, raw->policy, suite_dir, logs and
 * tally_dir of in. */
int evidence_initial_sums(const struct evidence_input *in, struct buf *out, struct err *e);

/* Seals. 0 with *out (which may be NULL) filled, or -errno with e filled ("evidence.exists",
 * "evidence.name", "evidence.link", "evidence.special", "evidence.tally", "system.*"); on failure
 * nothing remains,
 * under the final name or the temporary one. Blocking, and as long as its files are large. */
int evidence_seal(const struct evidence_input *in, struct evidence_sealed *out, struct err *e);

/* Removes what a crash left under temporary names in the root: call it at start. */
int evidence_sweep(const char *root, struct err *e);
