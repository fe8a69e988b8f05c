/* When jobs may run: joins a job's window, not_before and deadline with its session's rule about
 * boots, the zone files and the clock, and asks core/calendar/schedule. Internal to sched/.
 *
 * Texts that it makes live in the arena it was given.
 */
#pragma once

#include "core/calendar/schedule.h"
#include "core/session.h"
#include "sched/sched.h"

struct attempt;

/* What one claim knows, and whom it kept back. Zero but for the first three. */
struct calendar {
    struct sched *sched;
    const struct boot_identity *boot;
    int64_t now_ms;
    struct arena arena;
    struct calendar_kept *kept; /* the latest first */
};

/* The gate of a claim (store_gate); ctx is the calendar. */
int calendar_gate(void *ctx, const char *job, enum job_event *event, struct store_event *with,
                  struct err *e);
/* After the claim's commit: tells the listener of the jobs that were kept back. */
void calendar_tell(const struct calendar *c);
void calendar_deinit(struct calendar *c);

/* Ends the jobs whose deadline has passed before they began. */
int calendar_expire(struct sched *s, struct err *e);

/* For an attempt that is over but not its job: when it is tried again, not before wanted_ms. With
 * with->night given, that night counts as the last one used ("": none). */
int calendar_next_try(struct attempt *a, int64_t wanted_ms, struct store_event *with,
                      struct err *e);
/* May timing begin now? 0 with a->schedule filled, or -ECANCELED: the attempt ends as deferred or
 * expired, a->refusal says why. */
int calendar_before_timing(struct attempt *a);
