/* Files: whole reads with a limit, atomic writes, folders, the lock. Errors are -errno with e
 * filled by a sentence that names the path. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

/* Appends the file to out; -EFBIG when it is longer than limit. Works on /proc files. */
int file_read(const char *path, size_t limit, struct buf *out, struct err *e);
/* Temporary name in the same folder, write, fsync, rename, fsync of the folder. */
int file_write_atomic(const char *path, const void *data, size_t len, mode_t mode, struct err *e);
/* Removes what file_write_atomic of a process that died left in the folder. */
int file_sweep(const char *folder, struct err *e);
/* Creates or truncates, writes, fsyncs. */
int file_write(const char *path, const void *data, size_t len, mode_t mode, struct err *e);
int file_rename(const char *from, const char *to, struct err *e);
int file_mkdirs(const char *path, mode_t mode, struct err *e); /* an existing folder is fine */
/* Removes a file or a whole tree; never follows links; a missing path is fine; read-only folders
 * are made writable first. */
int file_rmtree(const char *path, struct err *e);
/* Removes what is in a folder, as file_rmtree does; what cannot be removed does not keep the rest.
 * A missing folder is fine. */
int file_empty(const char *path, struct err *e);
int file_sync_dir(const char *path, struct err *e);
bool file_exists(const char *path);
/* Writes all of it to a pipe or stream, through EINTR and short writes: 0 or -errno. (disk_write is
 * for files.) */
int file_write_all(int fd, const void *data, size_t len);

/* Visits every entry below root (not root itself), sorted by path bytes, folders before their
 * content; path is relative to root. The visitor stops the walk by returning nonzero. */
enum file_kind { FILE_REGULAR, FILE_FOLDER, FILE_LINK, FILE_OTHER };
typedef int (*file_visit_fn)(void *ctx, const char *path, enum file_kind kind, mode_t mode,
                             int64_t bytes);
int file_walk(const char *root, file_visit_fn visit, void *ctx, struct err *e);

/* Joins into a malloc'd "a/b". */
char *file_join(const char *a, const char *b);
/* True for a relative path without empty, "." or ".." components: safe to join below a folder. */
bool file_path_is_inside(const char *path);

/* Takes the lock file (created if missing) or returns -EWOULDBLOCK; the fd holds it. */
int file_lock(const char *path, int *fd, struct err *e);
