#include "source/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

#define PART_BYTES 256

/* Opens the next part of the path without following a link; *fd is replaced. */
static const char *step_into(int *fd, const char *name, bool is_last)
{
    struct stat st;

    if (fstatat(*fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return "lane.file_missing";
    if (S_ISLNK(st.st_mode))
        return "lane.file_link";
    if (is_last && !S_ISREG(st.st_mode))
        return "lane.file_special";
    int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | (is_last ? O_NONBLOCK : O_DIRECTORY);
    int next = openat(*fd, name, flags);
    if (next < 0)
        return errno == ELOOP ? "lane.file_link" : "lane.file_missing";
    (void)close(*fd);
    *fd = next;
    return NULL;
}

/* Goes down to the folder of the path's last part, which is left in last. */
static const char *open_folder(const char *root, const char *path, int *fd, char last[PART_BYTES])
{
    const char *fault = NULL;

    *fd = open(root, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
    if (*fd < 0)
        return "lane.file_missing";
    for (const char *at = path; !fault; at++) {
        size_t len = strcspn(at, "/");
        if (len == 0 || len >= PART_BYTES)
            return "lane.file_missing";
        memcpy(last, at, len);
        last[len] = '\0';
        at += len;
        if (!*at)
            return NULL;
        fault = step_into(fd, last, false);
    }
    return fault;
}

const char *source_open_inside(const char *root, const char *path, int *fd)
{
    char last[PART_BYTES];
    const char *fault = open_folder(root, path, fd, last);

    return fault ? fault : step_into(fd, last, true);
}

const char *source_digest_inside(const char *root, const char *path, int64_t *bytes,
                                 char hex[DIGEST_HEX])
{
    CLEANUP(mem_closep) int fd = -1;
    struct stat st;
    const char *fault = source_open_inside(root, path, &fd);

    *bytes = -1;
    if (fault)
        return fault;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return "lane.file_special";
    if (st.st_size > INSIDE_BYTES_MAX)
        return "lane.output_large";
    return digest_fd(fd, hex, bytes) < 0 ? "lane.file_missing" : NULL;
}

void source_remove_inside(const char *root, const char *path)
{
    CLEANUP(mem_closep) int fd = -1;
    char last[PART_BYTES];

    if (!open_folder(root, path, &fd, last))
        (void)unlinkat(fd, last, 0);
}
