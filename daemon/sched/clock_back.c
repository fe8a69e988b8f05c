/* Next tries are stored by the wall clock, so that they hold over a restart. While one daemon lives
 * it sees when that clock is set back, because another one goes on evenly, and lets what waits for
 * a later try wait no longer for it. A clock that is set forward needs nothing: the try comes
 * early. */
#include "base/clock.h"
#include "base/log.h"
#include "sched/sched_internal.h"

#define SET_BACK_MS 5000 /* less is how clocks are kept right */

/* Goes on while the machine sleeps, as the wall clock does. */
static int64_t even_ms(void)
{
    return (clock_mono_ns() + clock_suspend_ns()) / 1000000;
}

int clock_back_follow(struct sched *s, struct err *e)
{
    int64_t wall_ms = sched_now_ms(s), ahead_ms = wall_ms - even_ms();
    int64_t back_ms = s->clock_known ? s->clock_ahead_ms - ahead_ms : 0;
    int rc = 0;

    if (back_ms >= SET_BACK_MS) {
        rc = store_retries_earlier(s->config.store, back_ms, wall_ms, e);
        if (rc < 0)
            return rc; /* seen again, as nothing was noted */
        log_warn("the clock was set back by %lld s; next tries follow it",
                 (long long)(back_ms / 1000));
    }
    s->clock_known = true;
    s->clock_ahead_ms = ahead_ms;
    return 0;
}
