/* Changes to a job that is here: what may still change after the submit, member by member. The same
 * members as in a job document (schema/job_edit.json); one that is not named stays as it is, one
 * that is null (of a list: empty) becomes what a job has that says nothing of it.
 *
 * Strings and lists live in the arena they were decoded into.
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "core/job.h"
#include "proto/json/json.h"

enum job_edit_member {
    EDIT_PRIORITY = 1,
    EDIT_LABEL = 2,
    EDIT_NOT_BEFORE = 4,
    EDIT_DEADLINE = 8,
    EDIT_WINDOW = 16,
    EDIT_RETRY_EVERY = 32,
    EDIT_RETRY_LIMIT = 64,
    EDIT_AFTER = 128,
    /* What says when the job may run. */
    EDIT_WHEN = EDIT_NOT_BEFORE | EDIT_DEADLINE | EDIT_WINDOW | EDIT_RETRY_EVERY |
                EDIT_RETRY_LIMIT | EDIT_AFTER
};

struct job_edit {
    unsigned members; /* of enum job_edit_member: those that are named */
    struct job to;    /* their new values, and nothing else */
};

/* 0, or -EINVAL with e filled; the fields of errors begin with key. */
int job_edit_decode(struct arena *a, const char *key, const cJSON *obj, struct job_edit *out,
                    struct err *e);
void job_edit_encode(struct json_out *o, const char *key, const struct job_edit *edit);

/* Changes the job and appends what really changed, from what to what ("priority from 0 to 5;
 * deadline from none to 2026-12-01T01:00Z"), to words. Returns the members that did. Whether the
 * outcome is a good job is for job_decode to say. */
unsigned job_edit_apply(const struct job_edit *edit, struct job *job, struct buf *words);
