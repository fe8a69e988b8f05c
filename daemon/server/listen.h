/* The socket's path: who may bind it. Internal to server/.
 *
 * Daemons that want one path take turns (a lock on its folder, held only while they look and bind),
 * so that of any number exactly one listens. Removed is only a stale socket of our own user: one
 * that nobody answers on.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"

#define LISTEN_BACKLOG 1024

/* Binds path (mode 0660) and listens: *fd. 0, or -errno with e filled ("daemon.socket_path",
 * "daemon.socket_busy", "system.*"). */
int listen_at(const char *path, int *fd, struct err *e);
