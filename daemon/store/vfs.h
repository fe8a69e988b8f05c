/* In builds with fault points: SQLite's way to the disk with a point ("store.write") at every call
 * that writes, so that tests can let the n-th one fail. A write that fails for want of space has
 * half of its bytes written, as on a disk. In every other build there is nothing here but SQLite's
 * own way. Internal to daemon/store.
 */
#pragma once

#include <stddef.h>

#ifdef AURABENCH_FAULTS
#define VFS_NAME vfs_name()
#else
#define VFS_NAME NULL
#endif

/* Its name for sqlite3_open_v2. In builds with fault points only. */
const char *vfs_name(void);
