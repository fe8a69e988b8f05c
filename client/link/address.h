/* Where the daemon is: the socket on this machine, or another machine by ssh.
 *
 * Nothing here opens anything; what comes out is safe to hand on: a socket path that the system
 * does not cut, and a user and host that no program takes for an option.
 */
#pragma once

#include <stddef.h>

#include "base/err.h"

#define ADDRESS_SOCKET_MAX 103 /* bytes of a path; macOS has room for no more */
#define ADDRESS_NAME_MAX 255

/* The socket's path: option (NULL: not given), else $AURABENCH_SOCKET, else
 * $XDG_RUNTIME_DIR/aurabench/sock, else /run/aurabench/sock; of the last two the first that exists
 * (a user's own daemon, then the machine's). -ENAMETOOLONG with e filled ("usage") when it is
 * longer than ADDRESS_SOCKET_MAX or empty. */
int address_socket(const char *option, char out[ADDRESS_SOCKET_MAX + 1], struct err *e);

/* The user may not open the socket at path: fills e ("daemon.unreachable", field "--socket") with a
 * sentence that names the group, or the user, for whom it is. -ECONNREFUSED. */
int address_denied(const char *path, struct err *e);

struct address_ssh {
    char target[2 * ADDRESS_NAME_MAX + 2]; /* "user@host" or "host" */
    char port[8];                          /* "" when not given */
};

/* Parses ssh://[user@]host[:port]. -EINVAL with e filled ("usage", field "--host"). */
int address_ssh(const char *url, struct address_ssh *out, struct err *e);
