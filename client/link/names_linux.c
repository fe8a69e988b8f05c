/* From the files themselves: a client that is one file cannot load what getpwuid loads to ask a
 * directory of the network, and the sentence has the number then. */
#include "client/link/names.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>

void names_group(gid_t gid, char *out, size_t size)
{
    FILE *f = fopen("/etc/group", "re");
    const struct group *group = NULL;

    (void)snprintf(out, size, "%lu", (unsigned long)gid);
    while (f && (group = fgetgrent(f)) && group->gr_gid != gid)
        ;
    if (group)
        (void)snprintf(out, size, "%s", group->gr_name);
    if (f)
        (void)fclose(f);
}

void names_user(uid_t uid, char *out, size_t size)
{
    FILE *f = fopen("/etc/passwd", "re");
    const struct passwd *user = NULL;

    (void)snprintf(out, size, "%lu", (unsigned long)uid);
    while (f && (user = fgetpwent(f)) && user->pw_uid != uid)
        ;
    if (user)
        (void)snprintf(out, size, "%s", user->pw_name);
    if (f)
        (void)fclose(f);
}
