#include "run/runner/placement.h"

void placement_enter(struct placement *p, int cpu)
{
    cpu_set_t one;

    *p = (struct placement){.entered = true};
    if (cpu >= 0 && cpu < CPU_SETSIZE && sched_getaffinity(0, sizeof p->before, &p->before) == 0) {
        CPU_ZERO(&one);
        CPU_SET((size_t)cpu, &one);
        p->pinned = sched_setaffinity(0, sizeof one, &one) == 0;
    }
}

void placement_first(struct placement *p)
{
    const struct sched_param fifo = {.sched_priority = 1};

    p->fifo = sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &fifo) == 0;
}

void placement_leave(struct placement *p)
{
    const struct sched_param normal = {0};

    if (!p->entered)
        return;
    p->entered = false;
    /* Clearing reset-on-fork would need a privilege that setting it did not. */
    if (p->fifo)
        (void)sched_setscheduler(0, SCHED_OTHER | SCHED_RESET_ON_FORK, &normal);
    if (p->pinned)
        (void)sched_setaffinity(0, sizeof p->before, &p->before);
}
