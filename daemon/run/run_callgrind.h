/* What callgrind left of one observation. */
#pragma once

#include <stdint.h>

/* The instructions of all processes together, from the files in the folder, which are removed. -1:
 * there is none, or one of them was not written to its end. */
int64_t run_callgrind_sum(const char *folder);
