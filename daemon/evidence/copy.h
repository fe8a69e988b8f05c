/* Copies into an evidence folder: regular files only, never through a link, each fsynced. Files get
 * mode 0644 (0755 when the owner may execute the source), whatever the umask; the folders' modes
 * and their fsync are for whoever knows that the tree is complete. */
#pragma once

#include <stddef.h>

#include "base/err.h"

/* from is a regular file, to does not exist yet; folders above to are made. -errno with e filled
 * ("evidence.link", "evidence.special", "system.*"). */
int evidence_copy_file(const char *from, const char *to, struct err *e);

/* The content of the folder from becomes the content of the new folder to. */
int evidence_copy_tree(const char *from, const char *to, struct err *e);

/* Writes a new file of mode 0644. */
int evidence_put_text(const char *to, const void *data, size_t len, struct err *e);
