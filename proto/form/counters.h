/* What a lane of measure "counters" prints: one line "COUNTER name value" for each counter that its
 * workload declares, in any order, each ended by a newline, and nothing else. A value is a decimal
 * number of 0 to 2^53 - 1 without sign or leading zeros. */
#pragma once

#include "base/arena.h"
#include "core/raw.h"

/* Fills out with names->n values in the order of names. NULL, or the outcome that names what is
 * wrong: "lane.counter_bad" (a line that is none), "lane.counter_unknown", "lane.counter_twice",
 * "lane.counter_missing"; then *got is the line or the name, as text. All of it lives in a. */
const char *counters_parse(struct arena *a, const char *text, size_t len, const struct args *names,
                           struct raw_value **out, const char **got);
