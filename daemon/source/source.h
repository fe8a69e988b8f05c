/* What is measured: commits and suites kept by the daemon, and checkouts of them.
 *
 * Under the state folder: repos/store.git (bare, made at first use, pins what it was given under
 * refs/aurabench/commits/<id>), suites/<sha256>/ (read-only), uploads/ (parts that arrive; emptied
 * at start). Users' repositories are never opened. What is kept is complete: a bundle or pack is
 * checked in a place of its own and only then becomes visible.
 * Git runs with an environment and a configuration of our own: no hooks, filters, transports,
 * replacement objects, and nothing of the user's or the system's settings.
 * A checkout has a repository of its own that only borrows the objects of the store: no record of
 * it remains in the store, and a build that calls git cannot reach the store's settings.
 *
 * All functions block; call them on a worker thread, one at a time per store (has_commit, missing,
 * tips and suite_path may run beside others). Ids are full: 40 lower-case hex digits; anything else
 * is refused (source.bad_id). Errors: negative errno with e filled; codes at each function, beside
 * the system's and source.store_failed (git failed in the store).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/digest.h"
#include "base/err.h"
#include "core/raw.h"

#define SOURCE_ID_LEN 40

struct source_store;

/* state_dir exists. Makes the folders and clears what an interrupted import left.
 * source.state_path: the path has control characters. */
int source_store_new(const char *state_dir, struct source_store **out, struct err *e);
void source_store_free(struct source_store *s);

/* Where a caller puts the files it hands to the imports; it removes them itself. */
const char *source_uploads_dir(const struct source_store *s);

/* ---- commits */
bool source_id_valid(const char *id);
/* True when the commit and all it needs is here. */
bool source_has_commit(struct source_store *s, const char *id);
/* Which of the n commits have to be sent. */
int source_missing(struct source_store *s, const char *const *ids, size_t n, bool *missing,
                   struct err *e);
/* Up to max commits that are here, the newest first: what a client may leave out of a bundle. */
int source_tips(struct source_store *s, struct arena *a, size_t max, const char ***ids, size_t *n,
                struct err *e);
/* Takes the n commits out of a bundle (git's version 2 format). source.bundle_bad: damaged, needs
 * something that is not here, lacks a commit or a part of one, or holds malformed objects; the
 * store is then as it was. */
int source_import_bundle(struct source_store *s, const char *bundle_path,
                         const char *const *commits, size_t n, struct err *e);
/* Writes a bundle of the n commits with their whole history, for the evidence. */
int source_bundle_commits(struct source_store *s, const char *const *commits, size_t n,
                          const char *out_path, struct err *e);

/* ---- checkouts */
/* A fresh detached checkout of the commit at dest (absolute; its parent exists, itself does not).
 * Fills commit, head, detached, clean, path_bytes, files and tree_sha256 of *out, strings in a.
 * After an error nothing is left at dest. source.not_here, source.submodule, source.lfs,
 * source.checkout_failed. */
int source_checkout(struct source_store *s, struct arena *a, const char *commit, const char *dest,
                    struct raw_source *out, struct err *e);
/* tree_sha256 of the files that the commit tracks as they stand now below dest. The list of files
 * comes from the store, nothing inside dest is asked; files that a build added do not count; a
 * tracked file that is gone, or has become something else, changes the result. */
int source_rehash(struct source_store *s, const char *commit, const char *dest,
                  char tree_sha256[DIGEST_HEX], struct err *e);
/* Removes the checkout, and nothing else; a missing one is fine. */
int source_remove(struct source_store *s, const char *dest, struct err *e);

/* ---- suites */
bool source_has_suite(struct source_store *s, const char *sha256);
/* Checks the pack against its name and keeps it. Twice the same is fine. suite.hash_mismatch,
 * suite.pack_bad, suite.not_found (no suite.json at its top), suite.too_large. */
int source_import_suite(struct source_store *s, const char *pack_path, const char *sha256,
                        struct err *e);
/* suites/<sha256>, or NULL when it is not here. */
const char *source_suite_path(struct source_store *s, struct arena *a, const char *sha256);
/* A fresh writable copy at dest (its parent exists, itself does not), proved to be that suite:
 * source.suite_not_here, source.suite_damaged. */
int source_copy_suite(struct source_store *s, const char *sha256, const char *dest, struct err *e);
/* The identity of the suite's files as they stand now below dest: sha256 again when none changed.
 * Files that a build added do not count. "" when a file is gone or is no longer a plain file. */
int source_hash_suite(struct source_store *s, const char *sha256, const char *dest,
                      char again[DIGEST_HEX], struct err *e);

/* ---- build products */
#define SOURCE_ARTIFACTS_MAX 100000
/* Every regular file below dir, sorted by path, as artifacts of side (borrowed); links are not
 * followed and not listed (what they name inside dir is). Bytes of a path that cannot stand in a
 * document (controls, backslash, not UTF-8) are written \xNN. source.too_many_files. */
int source_hash_folder(struct arena *a, const char *dir, const char *side,
                       struct raw_artifact **out, size_t *n, struct err *e);
