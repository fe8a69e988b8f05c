/* Telling programs of ends (store/hooks.h): one at a time, and never while an attempt runs.
 *
 * A program is started by a runner of its own, with the document on stdin, an environment made from
 * nothing, a fresh folder to work in, and its timeout; whatever it leaves behind is ended before
 * anything else goes on. So a hook that hangs keeps the queue waiting no longer than its timeout;
 * and where one pause between two attempts has been used up, the next attempt goes first.
 * A try that fails is made again, ever later, STORE_HOOK_TRIES in all. Internal to sched/.
 */
#pragma once

#include "sched/sched.h"

/* Where a program without a slash is looked up. */
#define HOOK_PATH "/usr/local/bin:/usr/bin:/bin"

struct hooks;

struct hooks *hooks_new(struct sched *s);
/* Begins the hook that is due longest, if the pause has room for it. True: it runs, and sched_kick
 * follows when it has ended. */
bool hooks_begin(struct sched *s);
/* There is nothing to go first: the next pause begins. */
void hooks_pause_ends(struct sched *s);
/* ULID of the one that runs; NULL: none does. */
const char *hooks_running(const struct sched *s);
/* When hooks_begin is to be asked again, in ms from now; -1: nothing is owed. */
int64_t hooks_wait_ms(struct sched *s);
/* Ends the one that runs: it is told again by the next daemon. sched_hook_over follows. */
void hooks_stop(struct sched *s);
/* After the last one; lets go of the scheduler when the loop has closed it. */
void hooks_close(struct sched *s);
