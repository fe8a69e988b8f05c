/* Files of folders that programs wrote into: reached without following a link anywhere below the
 * folder, so that nothing outside of it is read or removed. root is absolute, path relative and
 * without "..". */
#pragma once

#include <stdint.h>

#include "base/digest.h"

/* Opens the regular file for reading. NULL, or what is wrong, as the outcome of an observation:
 * "lane.file_missing", "lane.file_link", "lane.file_special" (no regular file). *fd is -1 or to be
 * closed in any case. */
const char *source_open_inside(const char *root, const char *path, int *fd);

/* What the digest of one file may read: the loop stands still meanwhile. */
#define INSIDE_BYTES_MAX ((int64_t)1 << 30)

/* Bytes and SHA-256 of the file. NULL or what is wrong, as above, or "lane.output_large". */
const char *source_digest_inside(const char *root, const char *path, int64_t *bytes,
                                 char hex[DIGEST_HEX]);

/* Removes what is there and no folder; where nothing is, or a link leads to it, nothing happens. */
void source_remove_inside(const char *root, const char *path);
