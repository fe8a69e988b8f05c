#include "base/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/disk.h"
#include "base/mem.h"

#define TEMPORARY ".tmp." /* and the process that writes it */

int file_read(const char *path, size_t limit, struct buf *out, struct err *e)
{
    CLEANUP(mem_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t start = out->len;

    if (fd < 0)
        return err_sys(e, -errno, "open", path);
    for (;;) {
        buf_reserve(out, 16384);
        ssize_t n = read(fd, out->data + out->len, 16384);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_sys(e, -errno, "read", path);
        if (n == 0)
            break;
        out->len += (size_t)n;
        out->data[out->len] = '\0';
        if (out->len - start > limit)
            return err_set(e, -EFBIG, "system.read", path, "%s is longer than %zu bytes", path,
                           limit);
    }
    out->data[out->len] = '\0';
    return 0;
}

int file_write_all(int fd, const void *data, size_t len)
{
    const char *p = data;

    while (len) {
        ssize_t n = write(fd, p, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        p += n;
        len -= (size_t)n;
    }
    return 0;
}

int file_write(const char *path, const void *data, size_t len, mode_t mode, struct err *e)
{
    CLEANUP(mem_closep) int fd = disk_create(path, O_TRUNC, mode);

    if (fd < 0)
        return disk_err(e, fd, "create", path);
    int rc = disk_write(fd, data, len);
    if (rc == 0)
        rc = disk_sync(fd);
    return rc < 0 ? disk_err(e, rc, "write", path) : 0;
}

/* The folder part of path, "." when it has none; malloc'd. */
static char *parent_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    if (!slash)
        return mem_strdup(".");
    if (slash == path)
        return mem_strdup("/");
    return mem_printf("%.*s", (int)(slash - path), path);
}

int file_sync_dir(const char *path, struct err *e)
{
    CLEANUP(mem_closep) int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return err_sys(e, -errno, "open", path);
    int rc = disk_sync(fd);
    return rc < 0 ? disk_err(e, rc, "sync", path) : 0;
}

int file_rename(const char *from, const char *to, struct err *e)
{
    int rc = disk_rename(from, to);

    return rc < 0 ? disk_err(e, rc, "rename to", to) : 0;
}

int file_write_atomic(const char *path, const void *data, size_t len, mode_t mode, struct err *e)
{
    CLEANUP(mem_freep) char *temp = mem_printf("%s" TEMPORARY "%ld", path, (long)getpid());
    CLEANUP(mem_freep) char *folder = parent_of(path);

    int rc = file_write(temp, data, len, mode, e);
    if (rc == 0)
        rc = file_rename(temp, path, e);
    if (rc < 0) {
        (void)unlink(temp);
        return rc;
    }
    return file_sync_dir(folder, e);
}

/* "host.pub.tmp.4711" */
static bool is_temporary(const char *name)
{
    const char *tail = strstr(name, TEMPORARY);

    return tail && tail[strlen(TEMPORARY)] != '\0' &&
           strspn(tail + strlen(TEMPORARY), "0123456789") == strlen(tail + strlen(TEMPORARY));
}

int file_sweep(const char *folder, struct err *e)
{
    DIR *d = opendir(folder);
    const struct dirent *entry;
    int rc = 0;

    if (!d)
        return err_sys(e, -errno, "open", folder);
    while (rc == 0 && (entry = readdir(d)))
        if (is_temporary(entry->d_name) && unlinkat(dirfd(d), entry->d_name, 0) < 0)
            rc = err_sys(e, -errno, "remove", entry->d_name);
    (void)closedir(d);
    return rc;
}

int file_mkdirs(const char *path, mode_t mode, struct err *e)
{
    CLEANUP(mem_freep) char *partial = mem_strdup(path);

    for (char *p = partial + 1;; p++) {
        char c = *p;
        if (c != '/' && c != '\0')
            continue;
        *p = '\0';
        int rc = disk_mkdir(partial, mode);
        if (rc < 0 && rc != -EEXIST)
            return disk_err(e, rc, "create folder", partial);
        *p = c;
        if (c == '\0')
            break;
    }
    struct stat st;
    if (stat(path, &st) < 0)
        return err_sys(e, -errno, "open", path);
    return S_ISDIR(st.st_mode) ? 0 : err_sys(e, -ENOTDIR, "create folder", path);
}

bool file_exists(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0;
}

char *file_join(const char *a, const char *b)
{
    return mem_printf("%s/%s", a, b);
}

bool file_path_is_inside(const char *path)
{
    if (path[0] == '/' || path[0] == '\0')
        return false;
    for (const char *part = path;;) {
        size_t len = strcspn(part, "/");
        if (len == 0 || (len == 1 && part[0] == '.') || (len == 2 && !memcmp(part, "..", 2)))
            return false;
        if (part[len] == '\0')
            return true;
        part += len + 1;
    }
}

int file_lock(const char *path, int *fd, struct err *e)
{
    int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

    if (lock < 0)
        return err_sys(e, -errno, "open", path);
    if (flock(lock, LOCK_EX | LOCK_NB) < 0) {
        int rc = -errno;
        (void)close(lock);
        return err_sys(e, rc, "lock", path);
    }
    *fd = lock;
    return 0;
}
