/* The proof of an authorized correction: a commit is its base and exactly the diff that was
 * allowed.
 *
 * The corrected commit's one parent is the base, and the base's tree with the allowed diff applied
 * to it is, id for id, the corrected commit's tree. So every byte, mode and name is what the diff
 * says, and nothing else changed; line numbers alone may be off, as one diff may be allowed on two
 * bases. The diff is applied to an index in a repository of its own below uploads/, which borrows
 * the store's objects and is gone afterwards: no file is ever written by a diff, nothing enters the
 * store. Git's settings are ours (internal.h), attributes in the tree have no say.
 */
#pragma once

#include "core/job.h"
#include "core/raw.h"
#include "source/source.h"

/* Proves source->correction, which is not NULL; blocks. *out and its strings live in a or are those
 * of source; proven is true after 0 and false otherwise. The field of errors is
 * "sources.<side>.correction". source.not_here, source.correction_parent (the base is not the one
 * parent), source.correction_unapplied (names the file), source.correction_differs (names file,
 * hunk and first differing line). */
int source_prove_correction(struct source_store *s, struct arena *a,
                            const struct job_source *source, struct raw_correction *out,
                            struct err *e);
