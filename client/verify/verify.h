/* Checking an evidence folder, without a daemon: what `aurabench verify` does.
 *
 * A verification is a list of lines, one for each check: PASS, FAIL or UNKNOWN, and what was found.
 * It never stops at the first fault; checks that need a document which cannot be read say so. It
 * writes nothing into the folder, follows no link there, and runs nothing but git, in a temporary
 * repository of its own. Everything it keeps lives in its arena.
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/keys.h"
#include "core/raw.h"
#include "core/summary/summarise.h"
#include "core/types.h"
#include "proto/evidence/manifest.h"

struct verify_line {
    const char *check; /* "files", "signature", ...: stable, for programs */
    enum tri status;   /* PASS, FAIL or UNKNOWN */
    const char *text;  /* what was found, for people */
};

/* The documents that are read as a whole. */
enum verify_file {
    VERIFY_RAW,
    VERIFY_SUMMARY,
    VERIFY_JOB,
    VERIFY_POLICY,
    VERIFY_HOST,
    VERIFY_REFUSALS,
    VERIFY_REPRODUCE,
    VERIFY_INITIAL,
    VERIFY_SUITE,
    VERIFY_FILES
};

struct verify_text {
    const char *data; /* NULL: there is no such file */
    size_t len;
};

struct verify_session;

struct verify {
    struct arena a;
    const char *dir;
    const char *key; /* public key that must have signed, hex; NULL: none given */
    bool ignore_signature;
    struct verify_line *lines;
    size_t n_lines, cap_lines;
    struct manifest sums;
    bool has_sums; /* sums is what SHA256SUMS says */
    struct verify_text sums_text, files[VERIFY_FILES];
    const struct raw *raw; /* NULL until raw.json was decoded, or when it cannot be: raw_err */
    struct err raw_err;
    const struct summary *summary;  /* as recomputed by verify_figures; NULL: none */
    const char *host_key;           /* that the report names; NULL: it says that it is not signed */
    bool names_key;                 /* host_key is known */
    struct verify_session *session; /* NULL: the folder is an attempt's */
};

void verify_init(struct verify *v, const char *dir);
void verify_deinit(struct verify *v);
/* Adds a line. */
void verify_say(struct verify *v, const char *check, enum tri status, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
bool verify_failed(const struct verify *v);

/* Reads the folder's checksums and documents. -errno with e filled when dir is no folder that can
 * be read at all; what is missing or too large in it becomes a line. */
int verify_load(struct verify *v, struct err *e);
const char *verify_file_name(enum verify_file f);
/* Decodes raw.json from files; verify_load has done it. */
void verify_decode(struct verify *v);

/* The checks of an attempt's folder, in this order; each adds at least one line. */
void verify_sums(struct verify *v);      /* verify_files.c: every file listed, there, unchanged */
void verify_signature(struct verify *v); /* verify_signature.c */
void verify_documents(struct verify *v); /* verify_documents.c: raw.json and what follows from it */
void verify_figures(struct verify *v);   /* of that, raw.json and summary.json alone */
void verify_report(struct verify *v);    /* verify_report.c: the raw report against itself */
void verify_suite(struct verify *v);     /* verify_report.c: and against the suite */
/* verify_corrections.c: the allowed diffs in the folder; no line for a job without any */
void verify_corrections(struct verify *v);
/* verify_profiles.c: what attribution was counted from; no line where nothing was */
void verify_profiles(struct verify *v);
void verify_bundle(struct verify *v); /* verify_bundle.c */

/* Of a session's folder, between the sums and the signature, whose key the reports name:
 * session.json, and each report with those of the checks above that need only itself. */
void verify_session(struct verify *v); /* verify_session.c */

/* Whether what was measured is still the same at rev in repo, for paths (none: all of it). */
struct verify_covers {
    const char *rev, *repo;
    struct args paths;
};
void verify_covers(struct verify *v, const struct verify_covers *c); /* verify_covers.c */
