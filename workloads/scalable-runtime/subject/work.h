/* Work whose result no compiler and no luck can guess. */
#ifndef WORK_H
#define WORK_H

#include <stdint.h>

enum { WORK_BLOCKS = 64 };

/* So many steps of x = (x * 1103515245 + 12345) mod 2^31. */
uint32_t work_steps(uint32_t x, int64_t steps);

/* The work as this many tasks, each a thread that takes an equal part of the blocks; block b begins
 * with x = b + 1. They are made first, and all wait. */
void work_begin(int64_t steps_per_block, int64_t tasks);
/* Lets them begin and waits until all are done: the sum of what the blocks end with. */
uint64_t work_run(void);
/* Lets them end. */
void work_end(void);

#endif
