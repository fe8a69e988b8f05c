/* Trees of files: removal and the sorted walk. Both work through folder descriptors, so that a link
 * swapped in meanwhile is never followed. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/files.h"
#include "base/mem.h"

#define DEPTH_MAX 256

static int remove_at(int dir, const char *name, int depth);

static int remove_content(int fd, int depth)
{
    DIR *d = fdopendir(fd);
    struct dirent *entry;
    int rc = 0;

    if (!d) {
        rc = -errno;
        (void)close(fd);
        return rc;
    }
    while (rc == 0 && (entry = readdir(d)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            rc = remove_at(dirfd(d), entry->d_name, depth + 1);
    (void)closedir(d);
    return rc;
}

static int remove_at(int dir, const char *name, int depth)
{
    struct stat st;

    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? 0 : -errno;
    if (!S_ISDIR(st.st_mode))
        return unlinkat(dir, name, 0) < 0 && errno != ENOENT ? -errno : 0;
    if (depth > DEPTH_MAX)
        return -ELOOP;
    if ((st.st_mode & 0700) != 0700)
        (void)fchmodat(dir, name, 0700, 0);
    int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int rc = remove_content(fd, depth);
    if (rc == 0 && unlinkat(dir, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
        rc = -errno;
    return rc;
}

int file_rmtree(const char *path, struct err *e)
{
    int rc = remove_at(AT_FDCWD, path, 0);

    return rc < 0 ? err_sys(e, rc, "remove", path) : 0;
}

int file_empty(const char *path, struct err *e)
{
    DIR *d = opendir(path);
    struct dirent *entry;
    int rc = 0;

    if (!d)
        return errno == ENOENT ? 0 : err_sys(e, -errno, "open", path);
    while ((entry = readdir(d))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        int one = remove_at(dirfd(d), entry->d_name, 1);
        rc = rc == 0 ? one : rc;
    }
    (void)closedir(d);
    return rc < 0 ? err_sys(e, rc, "empty", path) : 0;
}

struct walk {
    file_visit_fn visit;
    void *ctx;
};

struct names {
    char **items;
    size_t count, cap;
};

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void names_free(struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->items[i]);
    free(names->items);
}

/* Takes fd. */
static int names_read(int fd, struct names *names)
{
    DIR *d = fdopendir(fd);
    struct dirent *entry;

    if (!d) {
        int rc = -errno;
        (void)close(fd);
        return rc;
    }
    while ((entry = readdir(d))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        MEM_GROW(names->items, names->count, names->cap);
        names->items[names->count++] = mem_strdup(entry->d_name);
    }
    (void)closedir(d);
    if (names->count)
        qsort(names->items, names->count, sizeof *names->items, by_bytes);
    return 0;
}

static enum file_kind kind_of(mode_t mode)
{
    if (S_ISREG(mode))
        return FILE_REGULAR;
    if (S_ISDIR(mode))
        return FILE_FOLDER;
    return S_ISLNK(mode) ? FILE_LINK : FILE_OTHER;
}

static int walk_folder(struct walk *w, int fd, const char *prefix, int depth);

static int walk_entry(struct walk *w, int dir, const char *prefix, const char *name, int depth)
{
    CLEANUP(mem_freep) char *path = prefix[0] ? file_join(prefix, name) : mem_strdup(name);
    struct stat st;

    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return -errno;
    int rc = w->visit(w->ctx, path, kind_of(st.st_mode), st.st_mode, st.st_size);
    if (rc != 0 || !S_ISDIR(st.st_mode))
        return rc;
    if (depth >= DEPTH_MAX)
        return -ELOOP;
    int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return fd < 0 ? -errno : walk_folder(w, fd, path, depth + 1);
}

/* Takes fd. */
static int walk_folder(struct walk *w, int fd, const char *prefix, int depth)
{
    struct names names = {0};
    CLEANUP(mem_closep) int dir = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    int rc = dir < 0 ? -errno : 0;

    if (rc == 0)
        rc = names_read(fd, &names);
    else
        (void)close(fd);
    for (size_t i = 0; rc == 0 && i < names.count; i++)
        rc = walk_entry(w, dir, prefix, names.items[i], depth);
    names_free(&names);
    return rc;
}

int file_walk(const char *root, file_visit_fn visit, void *ctx, struct err *e)
{
    struct walk w = {.visit = visit, .ctx = ctx};
    int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = fd < 0 ? -errno : walk_folder(&w, fd, "", 0);

    return rc < 0 ? err_sys(e, rc, "read folder", root) : rc;
}
