/* The disk: the calls by which files are made and written, and what a full or failing disk is
 * called.
 *
 * Every file that the daemon itself writes, but the database, is written through these calls; tests
 * let them fail. Codes: "store.full" for no space or no quota, "store.io" for a disk that fails.
 * Both may pass, so whoever can wait tries again.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/* ---- the calls: 0 (or a descriptor), or -errno */

/* Opens for writing, with O_CREAT | O_CLOEXEC | O_NOFOLLOW and the further flags. */
int disk_create(const char *path, int flags, mode_t mode);
/* Writes all of it, through EINTR and short writes. */
int disk_write(int fd, const void *data, size_t len);
int disk_sync(int fd);
int disk_rename(const char *from, const char *to);
int disk_link(const char *from, const char *to);
int disk_mkdir(const char *path, mode_t mode);

/* ---- the words */

/* No space, or no quota, is left: -ENOSPC, -EDQUOT. */
bool disk_is_full(int rc);
/* Full, or failing (-EIO): it may be mended. */
bool disk_is_troubled(int rc);

/* Bytes that this user may still write on the disk that holds path (which need not exist yet, but
 * its folder must); -1 unknown. */
int64_t disk_free_bytes(const char *path);

/* Fills e with "store.full" for the disk that holds path; returns -ENOSPC. */
int disk_full(struct err *e, const char *path);
/* For a failed system call on a file that is written: as err_sys, but in the words above where the
 * disk is the cause. */
int disk_err(struct err *e, int rc, const char *op, const char *path);
