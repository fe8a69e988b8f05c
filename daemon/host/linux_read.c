#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "base/mem.h"
#include "host/linux_probe.h"

#define LINE_LIMIT 4096
#define TOTALS_LIMIT (8u << 20)
#define LIST_MAX 16384
/* The kernel gives the initial PID namespace this inode number. */
#define INITIAL_PID_NAMESPACE "pid:[4026531836]"

static char *rooted(const struct linux_probe *p, const char *path)
{
    return mem_printf("%s%s", p->root, path);
}

int linux_read(const struct linux_probe *p, const char *path, size_t limit, struct buf *out)
{
    CLEANUP(mem_freep) char *full = rooted(p, path);
    return file_read(full, limit, out, NULL);
}

char *linux_line(const struct linux_probe *p, struct arena *a, const char *path)
{
    CLEANUP(buf_deinit) struct buf b = {0};
    if (linux_read(p, path, LINE_LIMIT, &b) < 0)
        return NULL;
    return proc_clean(a, buf_str(&b), strcspn(buf_str(&b), "\n"));
}

int64_t linux_number(const struct linux_probe *p, const char *path)
{
    CLEANUP(buf_deinit) struct buf b = {0};
    if (linux_read(p, path, LINE_LIMIT, &b) < 0)
        return -1;
    return proc_parse_number(buf_str(&b), strcspn(buf_str(&b), "\n"));
}

bool linux_exists(const struct linux_probe *p, const char *path)
{
    CLEANUP(mem_freep) char *full = rooted(p, path);
    return file_exists(full);
}

char *linux_link(const struct linux_probe *p, struct arena *a, const char *path)
{
    CLEANUP(mem_freep) char *full = rooted(p, path);
    char target[LINE_LIMIT];
    ssize_t n = readlink(full, target, sizeof target);
    return n > 0 && (size_t)n < sizeof target ? proc_clean(a, target, (size_t)n) : NULL;
}

static int name_compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int linux_list(const struct linux_probe *p, struct arena *a, const char *path, const char *prefix,
               const char ***names)
{
    CLEANUP(mem_freep) char *full = rooted(p, path);
    CLEANUP(mem_freep) const char **found = NULL;
    size_t n = 0, cap = 0;
    struct dirent *entry;
    DIR *dir = opendir(full);
    if (!dir)
        return -errno;
    while (n < LIST_MAX && (entry = readdir(dir))) {
        if (entry->d_name[0] == '.' || strncmp(entry->d_name, prefix, strlen(prefix)) != 0)
            continue;
        MEM_GROW(found, n, cap);
        found[n++] = arena_strdup(a, entry->d_name);
    }
    (void)closedir(dir);
    *names = arena_array(a, n, sizeof **names);
    if (n > 0) {
        memcpy(*names, found, n * sizeof **names);
        qsort(*names, n, sizeof **names, name_compare);
    }
    return (int)n;
}

int linux_totals(const struct linux_probe *p, struct arena *a, struct proc_totals *out)
{
    CLEANUP(buf_deinit) struct buf b = {0};
    int rc = linux_read(p, "/proc/stat", TOTALS_LIMIT, &b);
    return rc < 0 ? rc : proc_parse_totals(a, buf_str(&b), b.len, out);
}

int linux_initial_pid_namespace(const struct linux_probe *p, struct arena *a)
{
    const char *link = linux_link(p, a, "/proc/self/ns/pid");
    return link ? strcmp(link, INITIAL_PID_NAMESPACE) == 0 : -1;
}
