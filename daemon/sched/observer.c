/* The daemon's own work while the runner is at an observation: how long it sits deaf, and what it
 * costs that it is not.
 *
 * A lane that is known to be long, or not known at all yet, is left once in a while so that clients
 * are answered; one that was short and is not lets it come to that after twice the time, for it may
 * hang. What the daemon uses of the CPU meanwhile is the observer's: the runner reads the daemon's
 * clock too, and the ledger has it.
 */
#include <inttypes.h>

#include "base/clock.h"
#include "sched/sched_internal.h"

#define LISTEN_EVERY_MS 5000 /* of the contract (Silence) */

static int64_t cpu_ns(void)
{
    return clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

int64_t observer_deaf_ms(const struct attempt *a, int64_t last_ns)
{
    int64_t given_ms = a->sched->config.listen_every_ms;
    int64_t every_ms = given_ms > 0 ? given_ms : LISTEN_EVERY_MS;
    bool was_short = last_ns > 0 && last_ns <= every_ms * 1000000;

    return was_short && a->observer.turns == 0 ? 2 * every_ms : every_ms;
}

void observer_begins(struct attempt *a)
{
    a->observer.turns = 0;
    a->observer.from_ns = cpu_ns();
}

void observer_turns(struct attempt *a)
{
    a->observer.turns++;
}

void observer_ends(struct attempt *a)
{
    int64_t used_ns = cpu_ns() - a->observer.from_ns;

    if (a->observer.turns == 0)
        return;
    a->observer.all_turns += a->observer.turns;
    a->observer.all_ns += used_ns;
}

void observer_say(struct attempt *a)
{
    if (a->observer.all_turns == 0)
        return;
    attempt_say(a,
                "clients were listened to %" PRId64 " times inside timed intervals, which took "
                "%" PRId64 " us of the daemon's CPU time",
                a->observer.all_turns, a->observer.all_ns / 1000);
}
