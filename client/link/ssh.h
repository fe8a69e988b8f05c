/* The ssh program as a stream to the daemon of another machine: it runs `aurabench dial-stdio`
 * there. Started by its argument list; what it says on stderr goes to the user's. */
#pragma once

#include <sys/types.h>

#include "base/err.h"
#include "client/link/address.h"

struct ssh {
    pid_t pid; /* 0: not running */
};

/* Starts ssh ($AURABENCH_SSH: another program with arguments, separated by spaces). *fd is the
 * stream, the caller's. -errno with e filled ("daemon.unreachable"). */
int ssh_start(struct ssh *s, const struct address_ssh *to, int *fd, struct err *e);

/* Waits for its end after the stream is closed, 500 ms at most, then ends it. The exit status, or
 * 128 + signal. */
int ssh_end(struct ssh *s);
