#include "base/zonefile.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/files.h"
#include "base/mem.h"

bool zonefile_name_valid(const char *name)
{
    static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-";
    if (strlen(name) > ZONEFILE_NAME_MAX)
        return false;
    for (;; name++) {
        size_t n = strspn(name, word);
        name += n;
        if (n == 0 || (*name && *name != '/'))
            return false;
        if (!*name)
            return true;
    }
}

static int unknown(struct err *e, const char *field, const char *name)
{
    return err_set(e, -ENOENT, "window.unknown_zone", field,
                   "%s is \"%.*s\", which is no time zone of this machine; name one like "
                   "\"Europe/London\", as `timedatectl list-timezones` lists them.",
                   field, ZONEFILE_NAME_MAX, name);
}

int zonefile_read(const char *root, const char *field, const char *name, struct buf *out,
                  struct err *e)
{
    CLEANUP(mem_freep) char *folder = mem_printf("%s/usr/share/zoneinfo", root);
    struct stat st;
    if (!zonefile_name_valid(name))
        return unknown(e, field, name);
    if (stat(folder, &st) < 0)
        return err_set(e, -ENOENT, "window.unknown_zone", field,
                       "%s is \"%s\", but this machine has no time zones (%s); install the package "
                       "tzdata.",
                       field, name, folder);
    CLEANUP(mem_freep) char *path = file_join(folder, name);
    /* Not only to tell a folder from a zone: opening a pipe would wait. */
    if (stat(path, &st) < 0)
        return errno == ENOENT || errno == ENOTDIR ? unknown(e, field, name)
                                                   : err_sys(e, -errno, "open", path);
    if (!S_ISREG(st.st_mode))
        return unknown(e, field, name);
    return file_read(path, ZONEFILE_BYTES_MAX, out, e);
}
