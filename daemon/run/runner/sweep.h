/* Ends whatever a request left running, and proves that it is gone.
 *
 * The runner is the subreaper of everything it starts, so an orphan becomes its own child: when the
 * system says that there is no child left, the whole tree is gone, whatever sessions and groups it
 * moved to. Signals go to single processes that were just verified to descend from the runner,
 * never to a group. Every wait is bounded. More than 256 processes are killed without a word: what
 * forks without end would use the time to become more.
 */
#pragma once

#include <stdbool.h>
#include <sys/resource.h>

#include "run/runner/spawn.h"

#define SWEEP_NAMES 256

/* How the program that was started ended. */
struct ending {
    bool reaped;
    int status; /* as wait(2) gives it */
    struct rusage usage;
};

struct swept {
    int leftovers;               /* processes other than the program itself that had to be ended;
                                    at most 1024 are counted */
    char names[SWEEP_NAMES];     /* of these: "4711 (sleep), 4712 (cat)" */
    char unremoved[SWEEP_NAMES]; /* "": all gone, proved */
};

/* Makes the runner the subreaper. 0 or -errno. */
int sweep_init(void);

/* Reaps the program c if it ended, gives what it left 100 ms to end by itself (only when the
 * program ended), then TERM and CONT for 1 s, then KILL for 5 s. c may be NULL. */
void sweep_run(const struct child *c, struct ending *end, struct swept *out);

/* Calls visit for each living descendant of ours, once. */
void sweep_each(void (*visit)(pid_t pid, void *arg), void *arg);

/* Lets a child go on that stopped with this signal because we are its debugger, which we never
 * asked to be. */
void sweep_untrace(pid_t pid, int sig);
