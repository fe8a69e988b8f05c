/* When a job may run: days of the week, a time of day to begin, one to end, and a zone.
 *
 * A *night* is one opening of the window. It belongs to the day on which it begins, also when it
 * ends on the next one (to <= from; to == from is a whole day). Its boundaries are wall times of
 * the zone, turned into instants day by day; whether it is open is asked of instants only:
 * opens <= t < closes. A beginning that the clock skips is the first instant after the gap, and
 * one that the clock shows twice is the first of the two; an end is the second of the two. A night
 * that thus has no instant (it lies in a gap) does not take place.
 * Where nights overlap, because the clock shows the end of one and the beginning of the next
 * twice, the instant belongs to the one that opened last.
 *
 * Pure; the zone is given as struct zone beside the window that names it. Instants are milliseconds
 * of UTC since 1970; beyond 2^53 they are taken as 2^53.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "core/calendar/zone.h"

#define WINDOW_NEVER INT64_MAX
#define WINDOW_DATE_TEXT 32 /* room for window_date_text */
#define WINDOW_ZONE_MAX 64  /* bytes of a zone's name */

struct window {
    unsigned days; /* bit 0 is Monday, bit 6 Sunday; at least one */
    int from_min;  /* after midnight, 0 to 1439 */
    int to_min;    /* on the same day if it is later than from_min, else on the next */
    const char *zone;
};

struct window_night {
    int64_t day; /* the local date on which it begins, in days since 1970-01-01 */
    int64_t opens_ms;
    int64_t closes_ms;
};

/* Reads the members of a document. days: "daily", or names of days and ranges of them by comma:
 * "mon-fri", "sat,sun", "fri-mon"; no day twice. from and to: "HH:MM", 00:00 to 23:59. Of the zone
 * only the length is checked here; whether it exists is for whoever reads its file (base/zonefile).
 * path is the member that holds the window ("window"), for the fields of errors. Returns 0 or
 * -EINVAL with code window.bad. Strings are copied into the arena. */
int window_parse(struct arena *a, const char *path, const char *days, const char *from,
                 const char *to, const char *zone, struct window *out, struct err *e);

/* The night that is open at the instant; false when none is. The scheduler holds "one run per
 * night" by (window, night.day). */
bool window_night(const struct window *w, const struct zone *z, int64_t utc_ms,
                  struct window_night *out);
bool window_contains(const struct window *w, const struct zone *z, int64_t utc_ms);

/* The first opening later than the instant, whether or not a night is open then; WINDOW_NEVER when
 * the next three months have none. */
int64_t window_next_open(const struct window *w, const struct zone *z, int64_t utc_ms);

/* The days as window_parse reads them: "daily", or the days' names by comma. */
#define WINDOW_DAYS_TEXT 32 /* room for window_days_text */
char *window_days_text(unsigned days, char out[WINDOW_DAYS_TEXT]);

/* "2024-03-31", for people and as a key. */
char *window_date_text(int64_t day, char out[WINDOW_DATE_TEXT]);
