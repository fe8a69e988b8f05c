/* SHA256SUMS: one line per file, sorted by the bytes of the path, as sha256sum and shasum write and
 * check it. A name with a newline or a backslash is escaped, and its line then begins with a
 * backslash. A carriage return in a name is refused: the tools do not agree on it.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"

#define MANIFEST_NAME "SHA256SUMS"
#define MANIFEST_SIGNATURE "SHA256SUMS.sig"

/* Appends the line of one file. -EINVAL (code "evidence.name") for a path that cannot stand in a
 * manifest: absolute, with an empty or dot component, or with a carriage return. */
int manifest_line(struct buf *out, const char *path, const char *sha256, struct err *e);

/* Appends the lines of every regular file below dir, but MANIFEST_NAME and MANIFEST_SIGNATURE at
 * its top. A link or a special file fails it ("evidence.link", "evidence.special"). */
int manifest_of_dir(const char *dir, struct buf *out, struct err *e);
