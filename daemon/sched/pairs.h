/* The pair that an attempt repeats. Internal to sched/. */
#pragma once

#include "sched/sched_internal.h"

/* Outcome of an attempt in which a control drifted, and which is repeated once. */
#define OUTCOME_DRIFTED "drifted"

/* On the loop: finds the report of the pair that a repeats, if any. 0 or -errno with a->e filled.
 */
int pair_find(struct attempt *a);
/* On a worker: reads it. NULL when there is none, or with e filled. Lives in a's arena. */
const struct raw_pair *pair_read(struct attempt *a, struct err *e);
