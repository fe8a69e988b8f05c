#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/files.h"
#include "base/mem.h"
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

#define LIST_BYTES_MAX 4096

/* "0-3,8" into the set; what is not understood adds nothing. */
static void add_list(cpu_set_t *set, const char *text)
{
    while (*text >= '0' && *text <= '9') {
        char *end;
        unsigned long from = strtoul(text, &end, 10), to = from;
        if (*end == '-')
            to = strtoul(end + 1, &end, 10);
        for (unsigned long cpu = from; cpu <= to && cpu < CPU_SETSIZE; cpu++)
            CPU_SET(cpu, set);
        text = *end == ',' ? end + 1 : end;
    }
}

static void add_siblings(cpu_set_t *set, int cpu)
{
    CLEANUP(buf_deinit) struct buf text = {0};
    char path[96];
    struct err e = {0};

    (void)snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list",
                   cpu);
    if (file_read(path, LIST_BYTES_MAX, &text, &e) == 0)
        add_list(set, buf_str(&text));
}

void host_cpus_with_siblings(struct arena *a, const int *cpus, size_t n, int **out, size_t *n_out)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    for (size_t i = 0; i < n; i++) {
        if (cpus[i] >= 0 && cpus[i] < CPU_SETSIZE)
            CPU_SET((size_t)cpus[i], &set);
        add_siblings(&set, cpus[i]);
    }
    *out = arena_array(a, CPU_SETSIZE, sizeof **out);
    *n_out = 0;
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET((size_t)i, &set))
            (*out)[(*n_out)++] = i;
}
