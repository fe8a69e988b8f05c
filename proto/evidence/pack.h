/* A suite folder as one byte stream: canonical, so that a suite has one identity, the SHA-256 of
 * its pack.
 *
 *   "aurabench-suite-pack 1\n", then per file, sorted by the bytes of its path:
 *   path NUL mode NUL size NUL bytes       mode "100644" or "100755", size in decimal
 *
 * Only regular files, no folders of their own, no links. A path is relative, UTF-8, at most
 * PACK_PATH_MAX bytes, without empty, "." , ".." or ".git" components and without control
 * characters. One set of files has exactly one pack: the reader refuses everything else (unsorted,
 * twice the same path, a file that is also a folder, "007" as a size, bytes behind the last file).
 * Errors are -EINVAL with e filled: code "suite.pack_bad", the field is the path.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

#define PACK_PATH_MAX 1024
#define PACK_FILES_MAX 4096
#define PACK_BYTES_MAX ((size_t)64 << 20) /* of the whole pack */

struct pack_entry {
    const char *path;
    bool executable;
    const void *data;
    size_t len;
};

/* 0, or -EINVAL when the path may not stand in a pack. */
int pack_check_path(const char *path, struct err *e);

/* Sorts entries in place and appends their pack to out. On an error out is as it was. */
int pack_write(struct pack_entry *entries, size_t n, struct buf *out, struct err *e);

/* Checks the whole pack first and only then calls fn for each file, in order; nothing happens for a
 * bad pack. An entry's path and data point into the pack. A nonzero result of fn ends the reading
 * and is returned. fn may be NULL: the check alone. */
typedef int (*pack_file_fn)(void *ctx, const struct pack_entry *file);
int pack_read(const void *data, size_t len, pack_file_fn fn, void *ctx, struct err *e);
