/* What our runner is compared with: the same child set-up and waits, written down as plainly as
 * they can be, with nothing beside them. */
#pragma once

#include <stdint.h>

/* From just before the vfork to the end of wait4, in nanoseconds. */
int64_t bare_process(const char *path, int cpu);

/* From just before GO is written to DONE's last byte, read by blocking reads on the child's core.
 */
int64_t bare_protocol(const char *const *argv, int cpu);
