/* The CPUs that this process may use: what lanes can be placed on. */
#pragma once

#include <stddef.h>

#include "base/arena.h"

/* Ascending CPU numbers in a; never empty. */
void host_usable_cpus(struct arena *a, int **cpus, size_t *n);

/* The given CPUs with those that share a core with one of them, ascending, in a. */
void host_cpus_with_siblings(struct arena *a, const int *cpus, size_t n, int **out, size_t *n_out);
