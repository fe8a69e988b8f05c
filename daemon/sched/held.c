/* A disk that is full, or fails, while an attempt has something to store, or prepares a lane: what
 * was measured is not thrown away for it. The attempt is held and tries again from time to time,
 * until it works or somebody stops it; who asks is told what it waits for, and reads go on. A disk
 * that fails, and is not full, is given a few tries: it may not be mended by waiting.
 */
#include <stdio.h>

#include "base/disk.h"
#include "base/log.h"
#include "sched/sched_internal.h"

#define AGAIN_MS 5000
#define FAILING_TRIES 5

uint64_t sched_again_ms(const struct sched *s)
{
    int64_t most_ms = s->config.poll_max_ms;

    return most_ms > 0 && most_ms < AGAIN_MS ? (uint64_t)most_ms : AGAIN_MS;
}

static void on_again(uv_timer_t *timer)
{
    struct attempt *a = timer->data;
    void (*again)(struct attempt *) = a->held;

    a->held = NULL;
    attempt_pause_point(a, again);
}

static void say_why(struct attempt *a, int rc)
{
    struct sched *s = a->sched;
    struct err e = {0};

    if (disk_is_full(rc))
        (void)disk_full(&e, s->evidence_root);
    else
        (void)disk_err(&e, rc, "write", s->config.state_dir);
    (void)snprintf(s->stuck, sizeof s->stuck, "%.400s; what attempt %s measured waits for it",
                   e.text, a->id);
    if (a->held_tries == 0)
        log_warn("%s", s->stuck);
    attempt_progress(a, s->stuck);
}

bool attempt_hold(struct attempt *a, int rc, void (*again)(struct attempt *a))
{
    if (!disk_is_troubled(rc) || a->stop_asked)
        return false;
    if (!disk_is_full(rc) && a->held_tries >= FAILING_TRIES)
        return false;
    say_why(a, rc);
    a->held_tries++;
    if (a->end == END_NONE)
        err_clear(&a->e);
    a->held = again;
    sched_set_quiet(a->sched, false);
    (void)uv_timer_start(&a->timer, on_again, sched_again_ms(a->sched), 0);
    return true;
}

void attempt_held_over(struct attempt *a, bool stored)
{
    if (a->held_tries == 0)
        return;
    if (stored)
        log_info("after %d tries the disk lets attempt %s go on", a->held_tries, a->id);
    a->held_tries = 0;
    a->sched->stuck[0] = '\0';
}

void attempt_held_wake(struct attempt *a)
{
    if (a->held)
        (void)uv_timer_start(&a->timer, on_again, 0, 0);
}
