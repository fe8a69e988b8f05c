/* The profiles that an observation of measure "attribution" left in its folder. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "core/raw.h"

/* Fills out with attribution_count(rules) values: the samples of all files in the folder together,
 * but of those whose name begins with '.', and of folders in it; and tally, which is empty, with
 * what they were counted from (proto/profile/profile_tally.h). NULL, or the outcome that names what
 * is wrong: "lane.profile_missing", "lane.profile_bad", "lane.profile_large",
 * "lane.profile_varied", "lane.profile_empty"; then *got says more, and tally is empty. All else
 * lives in a. The folder is empty afterwards whatever came of it. */
const char *run_profile_take(struct arena *a, const char *folder, const struct attribution *rules,
                             struct raw_value **out, struct buf *tally, const char **got);
