/* The CPUs that this process may use: what lanes can be placed on. */
#pragma once

#include <stddef.h>

#include "base/arena.h"

/* Ascending CPU numbers in a; never empty. */
void host_usable_cpus(struct arena *a, int **cpus, size_t *n);
