/* A program that this one starts, by its argument list. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* fds: what it has as stdin, stdout and stderr; -1: as ours. own_group: in a process group of its
 * own. SIGPIPE, which this program ignores, and the mask are not inherited. 0, or -errno. */
int spawn_program(pid_t *pid, const char *const *argv, const int fds[3], bool own_group);
