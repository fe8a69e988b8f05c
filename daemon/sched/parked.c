/* Attempts that were refused before timing and keep their checkouts and builds for the next try. */
#include <string.h>

#include "base/fault.h"
#include "sched/sched_internal.h"

struct attempt *parked_take(struct sched *s, const char *job)
{
    for (size_t i = 0; i < s->n_parked; i++) {
        struct attempt *a = s->parked[i];
        if (strcmp(a->job_id, job) != 0)
            continue;
        memmove(&s->parked[i], &s->parked[i + 1], (s->n_parked - i - 1) * sizeof(struct attempt *));
        s->n_parked--;
        return a;
    }
    return NULL;
}

void parked_discard(struct attempt *a)
{
    if (!a)
        return;
    trash_put(a->sched, a->work_dir);
    attempt_free(a);
}

void parked_put(struct sched *s, struct attempt *a)
{
    if (s->n_parked == SCHED_PARKED_MAX)
        parked_discard(parked_take(s, s->parked[0]->job_id));
    s->parked[s->n_parked++] = a;
    FAULT_POINT("parked.kept");
}

void sched_drop_parked(struct sched *s, const char *job)
{
    parked_discard(parked_take(s, job));
}

/* What was built in an earlier boot is built again: a retry goes on in the same boot only. */
struct attempt *parked_take_this_boot(struct sched *s, const char *job)
{
    struct attempt *parked = parked_take(s, job);

    if (!parked || strcmp(parked->boot.id, s->boot_id) == 0)
        return parked;
    parked_discard(parked);
    return NULL;
}
