/* Jobs and sessions as the store has them, with their documents decoded: the one place where a
 * stored document is read. What is returned lives in the arena.
 */
#pragma once

#include "base/arena.h"
#include "core/job.h"
#include "core/session.h"
#include "store/store.h"

/* -ENOENT "job.not_found", "session.not_found"; -EINVAL: the document cannot be read. */
int stored_job(struct store *s, struct arena *a, const char *id, struct store_job **row,
               struct job **job, struct err *e);
int stored_session(struct store *s, struct arena *a, const char *id, struct store_session **row,
                   struct session **session, struct err *e);
/* The document that is stored for the job. */
const char *stored_document(struct arena *a, const struct job *job);
/* Whether something says when the job may run: claims then ask the calendar. */
bool stored_is_timed(const struct job *job);
