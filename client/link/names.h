/* Names of users and groups, for sentences: where a name cannot be had the number stands in. */
#pragma once

#include <sys/types.h>

void names_group(gid_t gid, char *out, size_t size);
void names_user(uid_t uid, char *out, size_t size);
