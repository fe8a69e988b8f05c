/* Whether a job may run at an instant, and if not, when to ask again and why.
 *
 * The rules: not before not_before; after the boot that its session asks for, settled; inside its
 * window, once a night; never once the deadline has passed. A night counts as used when timing
 * began in it. Pure: instants are wall-clock milliseconds, the zone comes with the window.
 */
#pragma once

#include "core/calendar/window.h"

#define SCHEDULE_BOOT_UNKNOWN (-2)

struct schedule {
    const struct window *window; /* NULL: any time */
    const struct zone *zone;     /* of the window */
    const char *last_night;      /* window_date_text of the night in which timing began; or NULL */
    int64_t not_before_ms;       /* -1: none */
    int64_t deadline_ms;         /* -1: none */
    int64_t settled_ms;          /* -1: no rule about boots; SCHEDULE_BOOT_UNKNOWN: a boot is still
                                    to come */
};

enum schedule_answer {
    SCHEDULE_RUN,
    SCHEDULE_NOT_BEFORE, /* this and those below: what it waits for last */
    SCHEDULE_BOOT,       /* of the host: nobody knows when */
    SCHEDULE_SETTLE,
    SCHEDULE_WINDOW,
    SCHEDULE_NIGHT,  /* the next one: it ran in this */
    SCHEDULE_EXPIRED /* the deadline (at_ms) has passed */
};

struct schedule_result {
    enum schedule_answer answer;
    int64_t at_ms; /* when it may run at the earliest; WINDOW_NEVER: not foreseeable */
    char night[WINDOW_DATE_TEXT]; /* SCHEDULE_RUN with a window: the night that is open; else "" */
};

/* The answer for a job that could otherwise run at t_ms. A deadline that comes before at_ms is the
 * caller's to see: the answer is EXPIRED only from the deadline on. */
void schedule_ask(const struct schedule *s, int64_t t_ms, struct schedule_result *out);
