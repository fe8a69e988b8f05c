#include "base/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/files.h"
#include "base/mem.h"

/* 0, or -errno of the system call that answered with got. */
static int answer(int got)
{
    return got < 0 ? -errno : got;
}

int disk_create(const char *path, int flags, mode_t mode)
{
    int rc = FAULT_ERROR("disk.write");

    return rc ? rc : answer(open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flags, mode));
}

int disk_write(int fd, const void *data, size_t len)
{
    int rc = FAULT_ERROR("disk.write");

    if (rc) /* a disk that fills takes a part */
        (void)file_write_all(fd, data, len / 2);
    return rc ? rc : file_write_all(fd, data, len);
}

int disk_sync(int fd)
{
    int rc = FAULT_ERROR("disk.write");

    return rc ? rc : answer(fsync(fd));
}

int disk_rename(const char *from, const char *to)
{
    int rc = FAULT_ERROR("disk.write");

    return rc ? rc : answer(rename(from, to));
}

int disk_link(const char *from, const char *to)
{
    int rc = FAULT_ERROR("disk.write");

    return rc ? rc : answer(link(from, to));
}

/* Only a folder that is made takes space. */
int disk_mkdir(const char *path, mode_t mode)
{
    int rc = answer(mkdir(path, mode));

    if (rc == 0 && (rc = FAULT_ERROR("disk.write")) < 0)
        (void)rmdir(path);
    return rc;
}

bool disk_is_full(int rc)
{
    return rc == -ENOSPC || rc == -EDQUOT;
}

bool disk_is_troubled(int rc)
{
    return disk_is_full(rc) || rc == -EIO;
}

/* Cuts the last component off; "." for a name alone. False: there is nothing above. */
static bool to_folder(char *path)
{
    char *slash = strrchr(path, '/');

    if (strcmp(path, ".") == 0 || strcmp(path, "/") == 0)
        return false;
    if (!slash)
        (void)strcpy(path, ".");
    else
        slash[slash == path] = '\0';
    return true;
}

int64_t disk_free_bytes(const char *path)
{
    CLEANUP(mem_freep) char *at = mem_printf("%s", path[0] ? path : ".");
    struct statvfs fs;

    while (statvfs(at, &fs) != 0)
        if (errno != ENOENT || !to_folder(at))
            return -1;
    return (int64_t)fs.f_bavail * (int64_t)fs.f_frsize;
}

int disk_full(struct err *e, const char *path)
{
    CLEANUP(mem_freep) char *folder = mem_printf("%s", path[0] ? path : ".");
    int64_t bytes = disk_free_bytes(path);
    char left[64] = "";

    (void)to_folder(folder);
    if (bytes >= 0)
        (void)snprintf(left, sizeof left, " (%.1f MiB free)", (double)bytes / (1 << 20));
    return err_set(
        e, -ENOSPC, "store.full", "",
        "no space is left on the disk that holds %.400s%s: free some there and try again", folder,
        left);
}

int disk_err(struct err *e, int rc, const char *op, const char *path)
{
    if (disk_is_full(rc))
        return disk_full(e, path);
    if (rc != -EIO)
        return err_sys(e, rc, op, path);
    return err_set(e, rc, "store.io", "",
                   "%.400s could not be written (%s): check its disk and try again", path,
                   strerror(-rc));
}
