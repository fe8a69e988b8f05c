/* Corrections in an evidence folder; see verify_corrections.c. Internal to client/verify/verify*.c.
 */
#pragma once

#include "client/git/git_run.h"
#include "client/verify/verify.h"

/* Whether path is the allowed diff of one of the job's sides. */
bool verify_is_correction(const struct verify *v, const char *path);
/* What makes the side's commit not its base with exactly the allowed diff; NULL: nothing, or it has
 * no correction. repository is a bare one that holds the bundle; its index is used. */
const char *verify_correction_fault(struct verify *v, const struct git_call *repository,
                                    const struct job_source *s);
