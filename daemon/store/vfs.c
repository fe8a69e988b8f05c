#include "store/vfs.h"

#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>

#include "base/disk.h"
#include "base/fault.h"

struct file {
    sqlite3_file head;
    sqlite3_file *real; /* behind this struct, in memory of SQLite's */
};

static _Thread_local int last_error; /* of a fault; 0: the real one's */

static sqlite3_vfs *real_vfs(void)
{
    return sqlite3_vfs_find("unix");
}

static sqlite3_file *real_of(sqlite3_file *f)
{
    return ((struct file *)f)->real;
}

/* The code of SQLite for a fault that a test asked for, SQLITE_OK for none. */
static int fault(int code)
{
    int rc = FAULT_ERROR("store.write");

    last_error = -rc;
    if (rc == 0)
        return SQLITE_OK;
    return rc == -ENOSPC && code == SQLITE_IOERR_WRITE ? SQLITE_FULL : code;
}

/* ---- a file */

static int on_close(sqlite3_file *f)
{
    return real_of(f)->pMethods->xClose(real_of(f));
}

static int on_read(sqlite3_file *f, void *data, int n, sqlite3_int64 at)
{
    return real_of(f)->pMethods->xRead(real_of(f), data, n, at);
}

static int on_write(sqlite3_file *f, const void *data, int n, sqlite3_int64 at)
{
    int rc = fault(SQLITE_IOERR_WRITE);

    if (rc == SQLITE_FULL && n > 1)
        (void)real_of(f)->pMethods->xWrite(real_of(f), data, n / 2, at);
    return rc ? rc : real_of(f)->pMethods->xWrite(real_of(f), data, n, at);
}

static int on_truncate(sqlite3_file *f, sqlite3_int64 size)
{
    int rc = fault(SQLITE_IOERR_TRUNCATE);

    return rc ? rc : real_of(f)->pMethods->xTruncate(real_of(f), size);
}

static int on_sync(sqlite3_file *f, int flags)
{
    int rc = fault(SQLITE_IOERR_FSYNC);

    return rc ? rc : real_of(f)->pMethods->xSync(real_of(f), flags);
}

static int on_file_size(sqlite3_file *f, sqlite3_int64 *size)
{
    return real_of(f)->pMethods->xFileSize(real_of(f), size);
}

static int on_lock(sqlite3_file *f, int kind)
{
    return real_of(f)->pMethods->xLock(real_of(f), kind);
}

static int on_unlock(sqlite3_file *f, int kind)
{
    return real_of(f)->pMethods->xUnlock(real_of(f), kind);
}

static int on_check_lock(sqlite3_file *f, int *held)
{
    return real_of(f)->pMethods->xCheckReservedLock(real_of(f), held);
}

static int on_control(sqlite3_file *f, int op, void *arg)
{
    if (op != SQLITE_FCNTL_LAST_ERRNO || last_error == 0)
        return real_of(f)->pMethods->xFileControl(real_of(f), op, arg);
    *(int *)arg = last_error;
    return SQLITE_OK;
}

static int on_sector_size(sqlite3_file *f)
{
    return real_of(f)->pMethods->xSectorSize(real_of(f));
}

static int on_device(sqlite3_file *f)
{
    return real_of(f)->pMethods->xDeviceCharacteristics(real_of(f));
}

static int on_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **out)
{
    int rc = extend ? fault(SQLITE_IOERR_SHMSIZE) : SQLITE_OK;

    return rc ? rc : real_of(f)->pMethods->xShmMap(real_of(f), page, size, extend, out);
}

static int on_shm_lock(sqlite3_file *f, int offset, int n, int flags)
{
    return real_of(f)->pMethods->xShmLock(real_of(f), offset, n, flags);
}

static void on_shm_barrier(sqlite3_file *f)
{
    real_of(f)->pMethods->xShmBarrier(real_of(f));
}

static int on_shm_unmap(sqlite3_file *f, int remove)
{
    return real_of(f)->pMethods->xShmUnmap(real_of(f), remove);
}

/* Version 2: the store maps nothing into memory. */
static const sqlite3_io_methods METHODS = {
    .iVersion = 2,
    .xClose = on_close,
    .xRead = on_read,
    .xWrite = on_write,
    .xTruncate = on_truncate,
    .xSync = on_sync,
    .xFileSize = on_file_size,
    .xLock = on_lock,
    .xUnlock = on_unlock,
    .xCheckReservedLock = on_check_lock,
    .xFileControl = on_control,
    .xSectorSize = on_sector_size,
    .xDeviceCharacteristics = on_device,
    .xShmMap = on_shm_map,
    .xShmLock = on_shm_lock,
    .xShmBarrier = on_shm_barrier,
    .xShmUnmap = on_shm_unmap,
};

/* ---- the whole */

static int on_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *out)
{
    struct file *file = (struct file *)f;
    int rc = flags & SQLITE_OPEN_CREATE ? fault(SQLITE_CANTOPEN) : SQLITE_OK;

    (void)vfs;
    file->head.pMethods = NULL;
    file->real = (sqlite3_file *)(file + 1);
    if (rc)
        return rc;
    rc = real_vfs()->xOpen(real_vfs(), name, file->real, flags, out);
    if (file->real->pMethods)
        file->head.pMethods = &METHODS;
    return rc;
}

static int on_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
    int rc = fault(SQLITE_IOERR_DELETE);

    (void)vfs;
    return rc ? rc : real_vfs()->xDelete(real_vfs(), name, sync);
}

static int on_last_error(sqlite3_vfs *vfs, int n, char *text)
{
    (void)vfs;
    return last_error ? last_error : real_vfs()->xGetLastError(real_vfs(), n, text);
}

static sqlite3_vfs the_vfs;

static void register_once(void)
{
    const sqlite3_vfs *real = real_vfs();

    the_vfs = *real;
    the_vfs.zName = "aurabench-test";
    the_vfs.pNext = NULL;
    the_vfs.szOsFile = (int)sizeof(struct file) + real->szOsFile;
    the_vfs.xOpen = on_open;
    the_vfs.xDelete = on_delete;
    the_vfs.xGetLastError = on_last_error;
    (void)sqlite3_vfs_register(&the_vfs, 0);
}

const char *vfs_name(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void)pthread_once(&once, register_once);
    return the_vfs.zName;
}
