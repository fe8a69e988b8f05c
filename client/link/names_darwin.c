#include "client/link/names.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>

void names_group(gid_t gid, char *out, size_t size)
{
    const struct group *group = getgrgid(gid);

    if (group)
        (void)snprintf(out, size, "%s", group->gr_name);
    else
        (void)snprintf(out, size, "%lu", (unsigned long)gid);
}

void names_user(uid_t uid, char *out, size_t size)
{
    const struct passwd *user = getpwuid(uid);

    if (user)
        (void)snprintf(out, size, "%s", user->pw_name);
    else
        (void)snprintf(out, size, "%lu", (unsigned long)uid);
}
