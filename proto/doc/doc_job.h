/* job.json as a user writes it, beside the job as it travels (documents.h): the suite by its path,
 * the sources by repository and revision. The client resolves it into a struct job: suite name and
 * hash, commits, id. Owned by the arena it was decoded into.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "core/job.h"
#include "proto/json/json.h"

struct job_file {
    struct job job; /* without id, suite_name, suite_sha256 and the sources' commits (all NULL) */
    const char *suite_path; /* as written; relative to the folder of the file */
};

/* The same schema ("aurabench.job.v1") and the same rules. 0, or -EINVAL with e filled. */
int job_file_decode(struct arena *a, const char *data, size_t len, struct job_file **out,
                    struct err *e);
/* The same of a document that is part of another one. Errors stick to in, below its path. */
void job_file_decode_node(struct json_in *in, const cJSON *doc, struct job_file *file);
