/* What a child is given: its arguments with the placeholders replaced, and its environment, built
 * from nothing. Results are owned by the arena. */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "core/types.h"

/* Replaces {source}, {suite} and {build} by the given absolute folders wherever they stand in an
 * argument. 0, or -EINVAL for another word in braces or a placeholder whose folder is NULL. */
int run_expand_args(struct arena *a, const struct args *in, const char *source_dir,
                    const char *suite_dir, const char *build_dir, struct args *out);

/* One string (a lane's variable or cwd) in the same way; NULL for -EINVAL. */
const char *run_expand(struct arena *a, const char *in, const char *source_dir,
                       const char *suite_dir, const char *build_dir);

/* PATH, HOME, LANG=C.UTF-8 and TZ=UTC, then the suite's variables, then the lane's: a later one
 * replaces an earlier one of the same name. Names for which run_env_forbidden() are left out.
 * NULL-terminated. */
const char *const *run_environment(struct arena *a, const char *path, const char *home,
                                   const struct env_var *suite, size_t n_suite,
                                   const struct env_var *lane, size_t n_lane);

/* GIT_*, LISTEN_*, AURABENCH_*, NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID: variables that make
 * a program act for somebody else. name ends at
 * '=' or NUL. */
bool run_env_forbidden(const char *name);
