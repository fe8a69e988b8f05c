/* The evidence folder of a session, as its session.json describes it. Internal to
 * client/verify/verify*.c.
 *
 * Only what can be held against the sealed reports is read. All of it lives in the arena of the
 * verification. Names of reports are ids, so that none leads out of the folder.
 */
#pragma once

#include "client/verify/verify.h"
#include "core/session.h"

#define VERIFY_SESSION "session.json"

struct verify_session_job {
    const char *id, *label;
    const char *attempt; /* whose report the session shows; NULL: none, and nothing below is set */
    const char *raw_sha256, *grade, *line, *boot, *boot_label;
    int64_t started_ms;
};

/* A report that was sealed: reports/<attempt>/. */
struct verify_session_report {
    const char *attempt, *raw_sha256;
    const struct verify_session_job *job;
};

struct verify_session {
    struct verify_text text;
    struct err err;                 /* why nothing could be read: then nothing below is set */
    bool read;                      /* session.json was understood */
    const struct session *document; /* as it was asked for */
    const char *opened_boot;
    int64_t opened_ms;
    struct verify_session_job *jobs;
    size_t n_jobs;
    struct verify_session_report *reports;
    size_t n_reports;
};

/* Reads session.json; a fault becomes err. verify_session_record.c */
struct verify_session *verify_session_read(struct arena *a, const struct verify_text *text);
/* The report of this attempt; NULL: none is named. */
const struct verify_session_report *verify_session_find(const struct verify_session *s,
                                                        const char *attempt);
/* What may lie in a session's folder beside SHA256SUMS and its signature. */
bool verify_session_has(const struct verify_session *s, const char *path);
