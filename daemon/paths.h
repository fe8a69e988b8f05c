/* Where the daemon's things lie when the arguments do not say. Results are malloc'd. */
#pragma once

#include "base/err.h"

/* Absolute. given, else $STATE_DIRECTORY, else below the home folder; NULL with e filled. */
char *paths_state(const char *given, struct err *e);
/* given, else $AURABENCH_SOCKET, else $XDG_RUNTIME_DIR/aurabench/sock, else /run/aurabench/sock. */
char *paths_socket(const char *given);
/* given, else aurabench-runner beside this program; NULL with e filled when it is not there. */
char *paths_runner(const char *given, struct err *e);
/* By the custom of the system; paths_linux.c, paths_darwin.c. */
const char *paths_state_below_home(void);
int open_null(void);
