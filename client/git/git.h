/* The user's own repository, read with the user's git: revisions to full commit ids, what keeps a
 * repository from being measured, and a bundle of what the daemon lacks.
 *
 * Never writes into the repository, not even its index, and runs nothing that the repository or a
 * configuration names: no hooks, filters, monitors, pagers or transports. Variables GIT_* of the
 * caller are not passed on. Git's own rule about other people's repositories stays in force; its
 * message is passed on. Replacement objects and grafts are ignored: a commit is what its id says.
 * Every `repo` is the path of a checkout or of a folder inside it. Errors are negative errnos (most
 * are -EINVAL) with e filled: field "repo" or "rev", codes as listed at each function.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define GIT_ID_LEN 40 /* SHA-1; repositories with SHA-256 ids are refused */

/* Whether the repository can be measured at all: source.not_a_repository, source.bare,
 * source.shallow, source.partial (objects are left at a remote), source.object_format. */
int git_check_repo(const char *repo, struct err *e);

/* The full id of the commit that rev names. After git_check_repo: source.unresolved (nothing, or
 * no commit, has that name), source.ambiguous (an abbreviated id of several commits, a branch or
 * tag that reads like an id, a name that is both branch and tag). */
int git_resolve(const char *repo, const char *rev, char id[GIT_ID_LEN + 1], struct err *e);

/* Whether rev names the checkout itself (HEAD, or the branch that is checked out) rather than a
 * commit: then what is measured would differ from what the user sees in a dirty checkout. */
int git_names_checkout(const char *repo, const char *rev, bool *yes, struct err *e);

/* source.dirty when the checkout has changed, staged or untracked (not ignored) files; the sentence
 * lists up to 10 of them. */
int git_head_clean(const char *repo, struct err *e);

/* What this version cannot check out: source.submodule, source.lfs. */
int git_check_commit(const char *repo, const char *id, struct err *e);

/* Writes a bundle with the commits (full ids) and all their history, without what is reachable
 * from the exclude ids; those that this repository does not have are left out of the exclusion. Its
 * refs are refs/aurabench/commits/<id>. n must not be 0. source.bundle_failed. */
int git_bundle(const char *repo, const char *const *commits, size_t n, const char *const *exclude,
               size_t n_exclude, const char *out_path, struct err *e);
