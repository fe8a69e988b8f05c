#include "client/link/address.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/files.h"
#include "base/mem.h"
#include "client/link/names.h"

#define SYSTEM_SOCKET "/run/aurabench/sock"
#define LETTERS_AND_DIGITS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

/* ---- the socket */

static int take_path(const char *path, const char *from, char out[ADDRESS_SOCKET_MAX + 1],
                     struct err *e)
{
    size_t len = strlen(path);

    if (len == 0)
        return err_set(e, -EINVAL, "usage", from, "%s names no socket; give a path", from);
    if (len > ADDRESS_SOCKET_MAX)
        return err_set(e, -ENAMETOOLONG, "usage", from,
                       "the socket path of %s has %zu bytes and the system takes at most %d; use a "
                       "shorter one: %.200s",
                       from, len, ADDRESS_SOCKET_MAX, path);
    memcpy(out, path, len + 1);
    return 0;
}

int address_socket(const char *option, char out[ADDRESS_SOCKET_MAX + 1], struct err *e)
{
    const char *named = getenv("AURABENCH_SOCKET"), *runtime = getenv("XDG_RUNTIME_DIR");

    if (option)
        return take_path(option, "--socket", out, e);
    if (named && named[0])
        return take_path(named, "AURABENCH_SOCKET", out, e);
    if (!runtime || !runtime[0])
        return take_path(SYSTEM_SOCKET, "aurabench", out, e);
    CLEANUP(mem_freep) char *own = mem_printf("%s/aurabench/sock", runtime);
    if (!file_exists(own) && file_exists(SYSTEM_SOCKET))
        return take_path(SYSTEM_SOCKET, "aurabench", out, e);
    return take_path(own, "XDG_RUNTIME_DIR", out, e);
}

/* What keeps us out: the socket itself, or the first folder on the way that we may look at from
 * outside only. Cuts path down to it. */
static bool find_closed(char *path, struct stat *st)
{
    char *slash;

    while (stat(path, st) < 0) {
        slash = strrchr(path, '/');
        if (!slash || slash == path)
            return false;
        *slash = '\0';
    }
    return true;
}

int address_denied(const char *path, struct err *e)
{
    CLEANUP(mem_freep) char *closed = mem_strdup(path);
    char name[64];
    struct stat st;

    if (!find_closed(closed, &st))
        return err_set(e, -ECONNREFUSED, "daemon.unreachable", "--socket",
                       "this user may not use the socket %s", path);
    if (st.st_mode & (S_ISDIR(st.st_mode) ? S_IXGRP : S_IWGRP)) {
        names_group(st.st_gid, name, sizeof name);
        return err_set(e, -ECONNREFUSED, "daemon.unreachable", "--socket",
                       "this user may not use the socket %s: it is for the group %s; ask to be put "
                       "into that group, then log in again",
                       path, name);
    }
    names_user(st.st_uid, name, sizeof name);
    return err_set(e, -ECONNREFUSED, "daemon.unreachable", "--socket",
                   "this user may not use the socket %s: %s is for the user %s alone; use a daemon "
                   "of your own, or one for a group",
                   path, closed, name);
}

/* ---- ssh */

static int bad_url(const char *url, const char *why, struct err *e)
{
    return err_set(e, -EINVAL, "usage", "--host",
                   "--host %.200s: %s; write ssh://[user@]host[:port]", url, why);
}

/* A name of the allowed characters that does not begin with a dash. */
static bool is_name(const char *s, size_t len, const char *more)
{
    CLEANUP(mem_freep) char *allowed = mem_printf("%s%s", LETTERS_AND_DIGITS, more);
    CLEANUP(mem_freep) char *name = mem_printf("%.*s", (int)len, s);

    return len > 0 && len <= ADDRESS_NAME_MAX && s[0] != '-' && strspn(name, allowed) == len;
}

static bool is_port(const char *s)
{
    size_t len = strlen(s);

    return len > 0 && len <= 5 && strspn(s, "0123456789") == len && atoi(s) >= 1 &&
           atoi(s) <= 65535;
}

int address_ssh(const char *url, struct address_ssh *out, struct err *e)
{
    static const char scheme[] = "ssh://";
    const char *rest = url + sizeof scheme - 1;

    *out = (struct address_ssh){0};
    if (strncmp(url, scheme, sizeof scheme - 1) != 0)
        return bad_url(url, "only ssh:// is known", e);
    const char *at = strchr(rest, '@'), *host = at ? at + 1 : rest;
    if (at && !is_name(rest, (size_t)(at - rest), "._-+"))
        return bad_url(url, "the user is empty or has characters that no user name has", e);
    bool numeric = host[0] == '[';
    size_t len = numeric ? strcspn(++host, "]") : strcspn(host, ":/");
    const char *after = host + len + (numeric && host[len] == ']');
    if (!is_name(host, len, numeric ? ".:%_-" : "._-") || (numeric && host[len] != ']'))
        return bad_url(url, "the host is empty or has characters that no host name has", e);
    if (after[0] == ':' && is_port(after + 1))
        (void)snprintf(out->port, sizeof out->port, "%s", after + 1);
    else if (after[0] && strcmp(after, "/") != 0)
        return bad_url(url, "what follows the host is no port from 1 to 65535", e);
    (void)snprintf(out->target, sizeof out->target, "%.*s%s%.*s", at ? (int)(at - rest) : 0, rest,
                   at ? "@" : "", (int)len, host);
    return 0;
}
