/* Which sides are compared with which: the pairs that the job names, or, where it names none, each
 * later side against the first. Pure; the list lives in the arena or in the report. */
#pragma once

#include "base/arena.h"
#include "core/raw.h"

/* NULL and 0 where there is one side. */
const struct job_pair *pairs_of_sides(struct arena *a, const struct raw *raw, size_t *n);
