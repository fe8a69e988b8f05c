/* The daemon: builds the graph of its objects, runs the loop, takes the graph down again. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct daemon_options {
    const char *state_dir;   /* absolute */
    const char *socket_path; /* ignored when listen_fd is given */
    const char *runner_path;
    const char *fake_host; /* folder of a scripted host, for tests; NULL: the real one */
    const char *host_root; /* put before /proc and /sys; "" for the real ones */
    const char *notify_job, *notify_empty; /* programs to be told; NULL: none */
    int64_t listen_every_ms;               /* see sched_config; 0: the default */
    bool no_calibration;                   /* none is made unless somebody asks for it */
    bool check;                            /* only look the state folder over */
    int listen_fd;                         /* a listening socket that was handed over, or -1 */
};

/* Runs until SIGTERM or SIGINT. 0, or -errno with e filled when it could not start. */
int daemon_run(const struct daemon_options *options, struct err *e);
