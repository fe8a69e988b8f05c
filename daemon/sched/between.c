/* Pauses: heavy work of others waits until nothing is timed or inventoried, and then timing waits
 * for it. */
#include <string.h>

#include "base/mem.h"
#include "sched/calibrating.h"
#include "sched/sched_internal.h"

void sched_set_quiet(struct sched *s, bool quiet)
{
    s->quiet = quiet;
    if (quiet || s->n_waiting == 0)
        return;
    struct between *served = s->waiting;
    size_t n = s->n_waiting;
    s->waiting = NULL;
    s->n_waiting = s->waiting_cap = 0;
    s->holds += (int)n;
    for (size_t i = 0; i < n; i++)
        served[i].fn(served[i].ctx);
    free(served);
}

void sched_between(struct sched *s, sched_between_fn fn, void *ctx)
{
    if (!s->quiet) {
        s->holds++;
        fn(ctx);
        return;
    }
    MEM_GROW(s->waiting, s->n_waiting, s->waiting_cap);
    s->waiting[s->n_waiting++] = (struct between){fn, ctx};
}

void sched_between_done(struct sched *s)
{
    s->holds--;
    if (s->holds == 0 && s->active)
        attempt_resume(s->active);
    else if (s->holds == 0)
        calibrating_resume(s);
}

bool sched_between_withdraw(struct sched *s, void *ctx)
{
    for (size_t i = 0; i < s->n_waiting; i++) {
        if (s->waiting[i].ctx != ctx)
            continue;
        memmove(&s->waiting[i], &s->waiting[i + 1], (s->n_waiting - i - 1) * sizeof *s->waiting);
        s->n_waiting--;
        return true;
    }
    return false;
}
