/* Where and at which priority the runner waits while the clock runs. */
#pragma once

#include <sched.h>
#include <stdbool.h>

struct placement {
    bool entered, pinned;
    bool fifo; /* it waits at SCHED_FIFO 1 */
    cpu_set_t before;
};

/* Moves the runner onto cpu (-1: stays) and to SCHED_FIFO 1 with reset on fork, as far as it is
 * permitted: waking a halted core takes longer than waking on a core that just ran, and a runner in
 * the normal class can be kept waiting by a lane that computes on after DONE. */
void placement_enter(struct placement *p, int cpu);
/* Back to where it was; fine when not entered. */
void placement_first(struct placement *p);
void placement_leave(struct placement *p);
