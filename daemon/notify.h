/* What a service manager is told, and what it hands over (sd_notify and LISTEN_FDS protocols). The
 * variables are taken out of the environment: no child may see them. */
#pragma once

#include "base/err.h"

/* Sends e.g. "READY=1"; does nothing where no manager listens. Call notify_take first. */
void notify_send(const char *state);
/* Reads and unsets NOTIFY_SOCKET, LISTEN_PID, LISTEN_FDS, LISTEN_FDNAMES. *listen_fd is the
 * listening socket that was handed over, or -1; -EINVAL with e filled ("daemon.socket_path") when
 * something else was. */
int notify_take(int *listen_fd, struct err *e);
