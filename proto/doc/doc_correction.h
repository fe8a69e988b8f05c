/* The member "correction" of a job's source, in both forms: as it travels (the base's full id, the
 * allowed diff's text with its hash) and as a user writes it (the diff by its path). */
#pragma once

#include "core/job.h"
#include "proto/json/json.h"

/* obj's member "correction": NULL when there is none; lives in in->a. wire: the form that travels;
 * else base_commit and diff_sha256 are NULL and diff is a path. */
struct job_correction *correction_decode(struct json_in *in, const cJSON *obj, bool wire);
/* The form that travels; nothing for NULL. */
void correction_encode(struct json_out *o, const struct job_correction *c);
/* A full commit id: 40 or 64 lower-case hex digits. */
bool correction_is_commit(const char *s);
