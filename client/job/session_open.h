/* Bringing a session to the daemon: what its jobs need, the session, its jobs.
 *
 * What fits into one message is opened as a whole or not at all; jobs beyond that are added one by
 * one. Ids are made here, once: over a new connection, after one that broke, all of it can be sent
 * again and is one session.
 */
#pragma once

#include "base/ids.h"
#include "client/job/submission.h"
#include "proto/doc/doc_session.h"

struct session_opening {
    struct session_file *file;
    struct submission *jobs; /* as many as the file has */
    char id[ULID_LEN + 1];
    char (*job_ids)[ULID_LEN + 1];
    bool duplicate;
};

/* Reads the file and makes its jobs ready. policy: instead of those that the jobs name; NULL:
 * theirs. What is there is the caller's to deinit in either case. */
int session_opening_load(struct cli *cli, const char *path, const char *policy,
                         struct session_opening *o, struct err *e);
/* Errors of a job have its place in front of their field: "jobs[2].sources.after.commit". */
int session_opening_send(struct cli *cli, struct session_opening *o, struct err *e);
void session_opening_deinit(struct session_opening *o);
