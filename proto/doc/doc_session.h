/* session.json, as it travels and as a user writes it. */
#pragma once

#include "core/session.h"
#include "proto/doc/doc_job.h"

/* "aurabench.session.v1" as it travels and is stored: without its jobs. */
int session_decode(struct arena *a, const cJSON *doc, struct session **out, struct err *e);
int session_decode_text(struct arena *a, const char *text, struct session **out, struct err *e);
void session_encode(struct json_out *o, const char *key, const struct session *s);

/* One job of a user's session.json: a job file's document, or where it lies. */
struct session_file_job {
    struct job_file *file; /* NULL: path */
    const char *path;      /* relative to the session file; NULL: file */
};

struct session_file {
    struct session session; /* without id */
    struct session_file_job *jobs;
    size_t n_jobs;
};

/* 0, or -EINVAL with e filled. Strings and jobs live in a. */
int session_file_decode(struct arena *a, const char *data, size_t len, struct session_file **out,
                        struct err *e);
