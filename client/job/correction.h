/* An authorized correction made ready to travel: the base as a full commit id, the allowed diff as
 * text with its hash. Whether the commit is that base and that diff is proved by the daemon. */
#pragma once

#include "client/cli.h"
#include "core/job.h"

/* c names a base (revision of the repository at repo) and the file of the diff; afterwards diff is
 * the text. Fields of errors are "correction.base" and "correction.diff". Errors of git_resolve;
 * source.correction_diff for a file that is empty, too large, or no UTF-8 text. */
int correction_resolve(struct cli *cli, const char *repo, struct job_correction *c, struct err *e);

/* The options of compare: one diff, allowed on the sides whose base is given. */
struct correction_opts {
    const char *before_base, *after_base, *diff, *approved_by, *reason;
};
/* Hangs the corrections from the two sources, which are "before" and "after". "usage" when an
 * option lacks its others. */
int correction_opts_apply(struct cli *cli, const struct correction_opts *o,
                          struct job_source sources[2], struct err *e);
