/* The daemon: builds the graph of its objects, runs the loop, takes the graph down again. */
#pragma once

#include "base/err.h"

struct daemon_options {
    const char *state_dir;   /* absolute */
    const char *socket_path; /* ignored when listen_fd is given */
    const char *runner_path;
    const char *fake_host; /* folder of a scripted host, for tests; NULL: the real one */
    const char *host_root; /* put before /proc and /sys; "" for the real ones */
    int listen_fd;         /* a listening socket that was handed over, or -1 */
};

/* Runs until SIGTERM or SIGINT. 0, or -errno with e filled when it could not start. */
int daemon_run(const struct daemon_options *options, struct err *e);
