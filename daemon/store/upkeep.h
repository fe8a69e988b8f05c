/* Upkeep of the store's file: a copy of it while it is used, and looking it over while it is not.
 *
 * Both open a connection of their own, so a worker thread may call them; both may take as long as
 * the database is large. Nothing in the database is changed. Errors are those of store.h.
 */
#pragma once

#include "store/store.h"

/* Writes a whole, compact copy of the database at path into a new file of mode 0600, and looks the
 * copy over: "store.backup_bad" when it does not hold together. On failure there is no file. What
 * is committed meanwhile by others is not in it. Not synced. */
int store_backup(const char *path, const char *to, struct err *e);

/* ---- looking over */

/* Opens for reading only, under the same checks as store_open (another program's file, a newer
 * version's, changed migrations), but without asking for the right to write. *pending: migrations
 * that the next start would apply. Closed by store_close. Leaves no file behind but, where a log
 * lies beside the database, SQLite's own -shm. */
int store_open_read(const char *path, struct store **out, int *pending, struct err *e);

/* One line for each fault. */
typedef void (*store_fault_fn)(void *ctx, const char *text);

/* Pages, indexes, types and constraints; references between tables; counts that are kept beside
 * what they count. Tells at most 20 faults of each kind; *n is how many were told. */
int store_audit(struct store *s, store_fault_fn fn, void *ctx, int *n, struct err *e);

/* A sealed folder that the store knows. */
struct store_sealed {
    const char *id; /* of the attempt or the session; the folder's name */
    const char *evidence;
    const char *raw_sha256, *summary_sha256; /* of an attempt's; summary NULL: void */
    const char *sums_sha256;                 /* of a session's; else NULL */
};
typedef int (*store_sealed_fn)(void *ctx, const struct store_sealed *sealed);

/* All of them, the oldest first; a nonzero result of fn ends it. */
int store_each_sealed(struct store *s, store_sealed_fn fn, void *ctx, struct err *e);

/* Suites that jobs which are not over will need. */
typedef int (*store_suite_fn)(void *ctx, const char *sha256);
int store_each_needed_suite(struct store *s, store_suite_fn fn, void *ctx, struct err *e);
