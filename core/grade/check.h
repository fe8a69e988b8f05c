/* Whether a raw report agrees with itself: what `verify` asks beside the grade. A report that this
 * daemon wrote passes all of it; one in which a single fact was changed afterwards mostly does not.
 *
 * Pure. A check returns NULL, or what is wrong as a sentence that lives in the arena. A void report
 * ends in the middle, so less is asked of it.
 */
#pragma once

#include "base/arena.h"
#include "core/raw.h"
#include "core/suite.h"

/* What the report says twice: hashes, names, the policy. */
const char *check_names(struct arena *a, const struct raw *raw);
/* The plan is the one that follows from the job, step by step. */
const char *check_plan(struct arena *a, const struct raw *raw);
/* Each observation is its step of the plan; one ends before the next begins; durations are the
 * differences of their stamps. */
const char *check_observations(struct arena *a, const struct raw *raw);
/* What is said to have been disturbed is what ledgers, warmups and the policy make of it. */
const char *check_ledgers(struct arena *a, const struct raw *raw);
/* Sources as the job names them; builds numbered and logged; everything hashed again, once. */
const char *check_sources(struct arena *a, const struct raw *raw);
/* What an inventory found is what its state says, by the policy's limits. */
const char *check_inventories(struct arena *a, const struct raw *raw);
/* The conditions are those that follow from the facts and the policy. */
const char *check_conditions(struct arena *a, const struct raw *raw);
/* Workloads, lanes, records and builds are those of the suite. */
const char *check_suite(struct arena *a, const struct raw *raw, const struct suite *suite);
