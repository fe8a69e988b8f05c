/* A job from a user's file, made ready to be sent: paths are relative to the file's folder, sources
 * resolved, suite packed, policy read.
 */
#pragma once

#include "client/job/submission.h"
#include "proto/doc/doc_job.h"

/* Reads the file. policy: a name or a file that stands in for the job's own; NULL: the job's. 0 or
 * -errno with e filled; s is the caller's to deinit in either case. */
int job_load_path(struct cli *cli, const char *path, const char *policy, struct submission *s,
                  struct err *e);
/* The same of a document that stands in the file. */
int job_load(struct cli *cli, struct job_file *job, const char *path, const char *policy,
             struct submission *s, struct err *e);

/* A path that stands in the file. */
const char *job_load_beside(struct cli *cli, const char *file, const char *path);
/* Refuses a zone that this machine does not know, where it knows any. */
int job_load_check_zone(const struct window *w, struct err *e);
