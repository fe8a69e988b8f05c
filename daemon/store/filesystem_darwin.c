#include <errno.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/param.h>

#include "store/filesystem.h"

int filesystem_ask(const char *folder, const char **network)
{
    struct statfs fs;
    if (statfs(folder, &fs) != 0)
        return -errno;
    *network = (fs.f_flags & MNT_LOCAL) ? NULL : "a network volume";
    return 0;
}
