#include <sched.h>

#include "host/cpus.h"

void host_usable_cpus(struct arena *a, int **cpus, size_t *n)
{
    cpu_set_t set;

    *cpus = arena_array(a, CPU_SETSIZE, sizeof **cpus);
    *n = 0;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        for (int i = 0; i < CPU_SETSIZE; i++)
            if (CPU_ISSET((size_t)i, &set))
                (*cpus)[(*n)++] = i;
    /* Not readable, or more CPUs than the set has room for: the first is there in any case. */
    if (*n == 0)
        (*cpus)[(*n)++] = 0;
}
