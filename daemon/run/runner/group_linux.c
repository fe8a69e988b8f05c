#include "run/runner/group.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

#define PATH_BYTES 4352
#define TEXT_BYTES 4096

/* Where the second version of control groups is mounted, alone or beside the first. */
static const char *const mounts[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};

static char stat_path[PATH_BYTES];

static bool read_text(const char *path, char *text, size_t cap)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, cap - 1);

    if (fd >= 0)
        (void)close(fd);
    text[n > 0 ? n : 0] = '\0';
    return n > 0;
}

/* The group that this process is in, "/" or "/a/b"; NULL: not told. */
static char *own_group(char text[TEXT_BYTES])
{
    if (!read_text("/proc/self/cgroup", text, TEXT_BYTES))
        return NULL;
    char *at = strncmp(text, "0::/", 4) == 0 ? text : strstr(text, "\n0::/");
    at = at ? strstr(at, "::/") + 2 : NULL;
    char *end = at ? strchr(at, '\n') : NULL;
    if (!end)
        return NULL;
    *end = '\0';
    return at;
}

#define FOLDER_BYTES (PATH_BYTES - 64)
#define PREFIX "aurabench-"

/* The folder of the group that this process is in. */
static bool parent_folder(char out[FOLDER_BYTES])
{
    static char text[TEXT_BYTES];
    const char *parent = own_group(text);

    for (size_t i = 0; parent && i < ARRAY_LEN(mounts); i++) {
        (void)snprintf(out, FOLDER_BYTES, "%s/cgroup.procs", mounts[i]);
        if (access(out, F_OK) != 0)
            continue;
        int n =
            snprintf(out, FOLDER_BYTES, "%s%s", mounts[i], strcmp(parent, "/") == 0 ? "" : parent);
        return n > 0 && n < FOLDER_BYTES - 32;
    }
    return false;
}

/* The same of pid's group below it. */
static bool folder_of(pid_t pid, char out[FOLDER_BYTES])
{
    if (!parent_folder(out))
        return false;
    size_t len = strlen(out);
    (void)snprintf(out + len, FOLDER_BYTES - len, "/" PREFIX "%d", pid);
    return true;
}

static bool move_into(const char *folder)
{
    char path[PATH_BYTES];

    (void)snprintf(path, sizeof path, "%s/cgroup.procs", folder);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool moved = fd >= 0 && write(fd, "0", 1) == 1;
    if (fd >= 0)
        (void)close(fd);
    return moved;
}

bool group_enter(void)
{
    static char folder[FOLDER_BYTES];

    if (!folder_of(getpid(), folder) || mkdir(folder, 0755) != 0)
        return false;
    if (!move_into(folder)) {
        (void)rmdir(folder);
        return false;
    }
    (void)snprintf(stat_path, sizeof stat_path, "%s/cpu.stat", folder);
    return true;
}

const char *group_file(void)
{
    return stat_path;
}

void group_remove(pid_t pid)
{
    static char folder[FOLDER_BYTES];

    if (folder_of(pid, folder))
        (void)rmdir(folder);
}

void group_sweep(void)
{
    static char folder[FOLDER_BYTES];
    DIR *dir = parent_folder(folder) ? opendir(folder) : NULL;
    const struct dirent *entry;

    while (dir && (entry = readdir(dir))) {
        if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) != 0)
            continue;
        long pid = strtol(entry->d_name + strlen(PREFIX), NULL, 10);
        if (pid > 1 && kill((pid_t)pid, 0) != 0 && errno == ESRCH)
            (void)unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
    }
    if (dir)
        (void)closedir(dir);
}
