#include "evidence/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/disk.h"
#include "base/fault.h"
#include "base/files.h"
#include "base/mem.h"

#define CHUNK ((size_t)256 * 1024)

static int make_parent(const char *path, struct err *e)
{
    CLEANUP(mem_freep) char *parent = mem_strdup(path);
    char *slash = strrchr(parent, '/');
    if (!slash || slash == parent)
        return 0;
    *slash = '\0';
    return file_mkdirs(parent, 0755, e);
}

static int open_new(const char *path, mode_t mode, int *fd, struct err *e)
{
    *fd = disk_create(path, O_EXCL, mode);
    if (*fd < 0)
        return disk_err(e, *fd, "create", path);
    return fchmod(*fd, mode) < 0 ? err_sys(e, -errno, "chmod", path) : 0;
}

/* O_NONBLOCK: a pipe in the place of a file must not stop us before fstat can tell. */
static int open_source(const char *path, int *fd, mode_t *mode, struct err *e)
{
    struct stat st;
    *fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (*fd < 0 && errno == ELOOP)
        return err_set(e, -ELOOP, "evidence.link", path,
                       "%s is a link; evidence holds files only, so replace it by its content.",
                       path);
    if (*fd < 0)
        return err_sys(e, -errno, "open", path);
    if (fstat(*fd, &st) < 0)
        return err_sys(e, -errno, "stat", path);
    if (!S_ISREG(st.st_mode))
        return err_set(e, -EINVAL, "evidence.special", path,
                       "%s is not a regular file; evidence holds files only, so remove it.", path);
    *mode = (st.st_mode & S_IXUSR) ? 0755 : 0644;
    return 0;
}

static int pump(int from, int to, char *chunk)
{
    for (;;) {
        ssize_t n = read(from, chunk, CHUNK);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : 0;
        int rc = disk_write(to, chunk, (size_t)n);
        if (rc)
            return rc;
    }
}

static int finish(int fd, int rc, const char *path, struct err *e)
{
    FAULT_POINT("evidence.written");
    if (rc == 0)
        rc = disk_sync(fd);
    FAULT_POINT("evidence.fsynced");
    return rc ? disk_err(e, rc, "write", path) : 0;
}

int evidence_copy_file(const char *from, const char *to, struct err *e)
{
    CLEANUP(mem_closep) int in = -1;
    CLEANUP(mem_closep) int out = -1;
    CLEANUP(mem_freep) char *chunk = mem_alloc(CHUNK);
    mode_t mode = 0;
    int rc = open_source(from, &in, &mode, e);
    if (rc == 0)
        rc = make_parent(to, e);
    if (rc == 0)
        rc = open_new(to, mode, &out, e);
    return rc ? rc : finish(out, pump(in, out, chunk), to, e);
}

int evidence_put_text(const char *to, const void *data, size_t len, struct err *e)
{
    CLEANUP(mem_closep) int out = -1;
    int rc = open_new(to, 0644, &out, e);
    return rc ? rc : finish(out, disk_write(out, data, len), to, e);
}

struct tree {
    const char *from, *to;
    struct err *e;
};

static int copy_visit(void *ctx, const char *path, enum file_kind kind, mode_t mode, int64_t bytes)
{
    const struct tree *t = ctx;
    CLEANUP(mem_freep) char *from = file_join(t->from, path);
    CLEANUP(mem_freep) char *to = file_join(t->to, path);
    /* Links and special files are refused by evidence_copy_file, with their own sentence. */
    return kind == FILE_FOLDER ? file_mkdirs(to, 0755, t->e) : evidence_copy_file(from, to, t->e);
}

int evidence_copy_tree(const char *from, const char *to, struct err *e)
{
    struct tree t = {.from = from, .to = to, .e = e};
    int rc = file_mkdirs(to, 0755, e);
    return rc ? rc : file_walk(from, copy_visit, &t, e);
}
