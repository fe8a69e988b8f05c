/* What a built file weighs, and what is inside of it: for workloads of measure "size", which run
 * nothing. */
#pragma once

#include "base/arena.h"
#include "core/types.h"

struct weigh {
    const char *root;                             /* absolute folder that the file must lie in */
    const char *path;                             /* below root; no link on the way */
    const struct args *must_link, *must_not_link; /* libraries needed, or symbols; NULL: none */
};

/* The file's bytes, without following a link anywhere below root. NULL, or what is wrong, as the
 * outcome of an observation: "lane.file_missing", "lane.file_link", "lane.file_special" (no regular
 * file), "lane.link_missing" and "lane.link_forbidden" (of the rules; *name is what they name),
 * "lane.link_unknown" (there are rules, and the file cannot be judged). */
const char *source_weigh(const struct weigh *w, int64_t *bytes, const char **name);
