/* Names the first difference between what a commit did to its base and what was allowed: the file,
 * the hunk and the line, in one sentence. Internal to daemon/source.
 *
 * Both sides are read from git's own diff of the same base with the same fixed options, so that the
 * texts differ only where the trees do.
 */
#pragma once

#include "source/internal.h"

struct difference {
    const struct source_git *g; /* a bare repository that knows the three */
    const char *base;           /* commit or tree */
    const char *corrected;      /* tree that there is */
    const char *allowed;        /* tree that was allowed; another one */
    const char *field;          /* of the error */
};

/* Always negative: -EINVAL source.correction_differs, or git's failure. */
int difference_refuse(const struct difference *d, struct err *e);

/* For tests: the first change that is not in both of two diffs of one file against the same base.
 * False when there is none. Strings of *out are parts of the texts, up to their line's end. */
struct difference_at {
    bool is_allowed;  /* the allowed diff has it, the commit does not; else the other way round */
    const char *hunk; /* "@@ -1,3 +1,4 @@ ..."; NULL: before the first hunk */
    const char *line; /* "+text", "old mode 100644" */
};
bool difference_find(const char *corrected, const char *allowed, struct difference_at *out);
