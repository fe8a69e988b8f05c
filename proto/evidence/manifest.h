/* SHA256SUMS: one line per file, sorted by the bytes of the path, as sha256sum and shasum write and
 * check it. A name with a newline or a backslash is escaped, and its line then begins with a
 * backslash. A carriage return in a name is refused: the tools do not agree on it. The form is
 * strict: what manifest_parse accepts is exactly what manifest_line writes.
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

#define MANIFEST_NAME "SHA256SUMS"
#define MANIFEST_SIGNATURE "SHA256SUMS.sig"
#define MANIFEST_INITIAL "initial-SHA256SUMS"

/* Appends the line of one file. -EINVAL (code "evidence.name") for a path that cannot stand in a
 * manifest: absolute, with an empty or dot component, or with a carriage return. */
int manifest_line(struct buf *out, const char *path, const char *sha256, struct err *e);

struct manifest_entry {
    const char *path;
    const char *sha256;
};

struct manifest {
    struct manifest_entry *v; /* ascending by path */
    size_t n;
};

/* Reads a whole manifest; strings live in a. 0, or -EINVAL with e filled: "manifest.bad", field
 * "line N" (no such line, a path that leads outside, out of order, twice). */
int manifest_parse(struct arena *a, const char *text, size_t len, struct manifest *out,
                   struct err *e);
/* The entry of this path; NULL: none. */
const struct manifest_entry *manifest_find(const struct manifest *m, const char *path);
