/* The mark: a number that a runner and everything it starts carry, however they part from it.
 *
 * It is the limit of file locks (RLIMIT_LOCKS), which the kernel has not looked at since Linux 2.4:
 * every child inherits it, through double forks, new sessions and cleared environments; who is not
 * root cannot raise it again; any process may read it in /proc; and it costs a measured program
 * nothing, not even a byte of its environment. So whoever knows the number finds what is left of a
 * runner after both it and its daemon were killed. A program that lowers the limit on purpose gets
 * lost.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#define MARK_NAMES 256

/* Gives the mark to a process of ours, and to what it starts from now on. 0 or -errno: -EPERM where
 * a lower limit is in force already. */
int mark_set(pid_t pid, uint64_t mark);

struct mark_ended {
    int ended;              /* processes that carried it and are gone now */
    char names[MARK_NAMES]; /* of these: "4711 (sleep), 4712 (cat)" */
    char left[MARK_NAMES];  /* "": none is left; else what could not be ended */
};

/* Kills every process that carries the mark, except this one, again and again until none is left,
 * for 5 s at most. The signal goes through a pidfd to a process whose mark was read after the pidfd
 * was open: never to another one that got its number. Blocks. */
void mark_end_all(uint64_t mark, struct mark_ended *out);
