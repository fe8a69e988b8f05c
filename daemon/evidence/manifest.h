/* The checksums of a folder, for SHA256SUMS (whose lines are those of proto/evidence/manifest.h).
 */
#pragma once

#include "proto/evidence/manifest.h"

/* Appends the lines of every regular file below dir, but MANIFEST_NAME and MANIFEST_SIGNATURE at
 * its top. A link or a special file fails it ("evidence.link", "evidence.special"). */
int manifest_of_dir(const char *dir, struct buf *out, struct err *e);
/* The same of a folder that is part of another one: prefix and "/" stand before each path, and no
 * name is left out. */
int manifest_of_part(const char *dir, const char *prefix, struct buf *out, struct err *e);
