#include "core/calendar/window.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/calendar/civil.h"

#define DAYS_OF_WEEK 7
#define DAYS_ALL 0x7fu
#define DAY_NAME_BYTES 3
#define DAY_MIN 1440
#define INSTANT_LIMIT_MS ((int64_t)1 << 53)

/* A night opens at most 26 h (ZONE_OFFSET_MAX_S) to either side of its date in UTC, and closes at
 * most two days and 26 h after it began: an open one has a date from four days before that of the
 * instant in UTC to two days after. */
#define NIGHT_DAYS_BEFORE 4
#define NIGHT_DAYS_AFTER 2
#define NEXT_OPEN_DAYS 92

static const char *const day_names[] = {"mon", "tue", "wed", "thu", "fri", "sat", "sun"};

/* The day whose name s begins with; -1 for none. */
static int day_at(const char *s)
{
    for (int i = 0; i < DAYS_OF_WEEK; i++)
        if (strncmp(s, day_names[i], DAY_NAME_BYTES) == 0)
            return i;
    return -1;
}

/* One "day" or "day-day" at *s, which moves behind it: its bits, or 0. */
static unsigned range_at(const char **s)
{
    int first = day_at(*s), last = first;
    if (first < 0)
        return 0;
    *s += DAY_NAME_BYTES;
    if (**s == '-') {
        last = day_at(*s + 1);
        /* "mon-mon" could be a day or a week. */
        if (last < 0 || last == first)
            return 0;
        *s += 1 + DAY_NAME_BYTES;
    }
    unsigned bits = 1u << last;
    for (int d = first; d != last; d = (d + 1) % DAYS_OF_WEEK)
        bits |= 1u << d;
    return bits;
}

/* The bits of all days in the text; 0 when it is not understood or names a day twice. */
static unsigned days_of(const char *s)
{
    unsigned days = 0;
    if (strcmp(s, "daily") == 0)
        return DAYS_ALL;
    for (;; s++) {
        unsigned bits = range_at(&s);
        if (!bits || days & bits)
            return 0;
        days |= bits;
        if (*s == '\0')
            return days;
        if (*s != ',')
            return 0;
    }
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Minutes after midnight of "HH:MM"; -1 for anything else. */
static int minutes_of(const char *s)
{
    if (strlen(s) != 5 || !is_digit(s[0]) || !is_digit(s[1]) || s[2] != ':' || !is_digit(s[3]) ||
        !is_digit(s[4]))
        return -1;
    int hours = (s[0] - '0') * 10 + s[1] - '0', minutes = (s[3] - '0') * 10 + s[4] - '0';
    return hours < 24 && minutes < 60 ? hours * 60 + minutes : -1;
}

static int bad(struct err *e, const char *path, const char *member, const char *rule,
               const char *given)
{
    char field[sizeof e->field];
    snprintf(field, sizeof field, "%s.%s", path, member);
    return err_set(e, -EINVAL, "window.bad", field, "%s must be %s; it is \"%.40s\".", field, rule,
                   given);
}

int window_parse(struct arena *a, const char *path, const char *days, const char *from,
                 const char *to, const char *zone, struct window *out, struct err *e)
{
    static const char clock_rule[] = "a time of day from 00:00 to 23:59, like \"01:00\"";
    size_t zone_bytes = strlen(zone);
    out->days = days_of(days);
    out->from_min = minutes_of(from);
    out->to_min = minutes_of(to);
    if (!out->days)
        return bad(e, path, "days",
                   "\"daily\" or days like \"mon-fri\" or \"sat,sun\", each named once", days);
    if (out->from_min < 0)
        return bad(e, path, "from", clock_rule, from);
    if (out->to_min < 0)
        return bad(e, path, "to", clock_rule, to);
    if (zone_bytes == 0 || zone_bytes > WINDOW_ZONE_MAX)
        return bad(e, path, "zone", "the name of a time zone, like \"Europe/London\"", zone);
    out->zone = arena_strdup(a, zone);
    return 0;
}

static int64_t in_range(int64_t utc_ms)
{
    if (utc_ms < -INSTANT_LIMIT_MS)
        return -INSTANT_LIMIT_MS;
    return utc_ms > INSTANT_LIMIT_MS ? INSTANT_LIMIT_MS : utc_ms;
}

static int64_t utc_day(int64_t utc_ms)
{
    return civil_floor_div(utc_ms, (int64_t)CIVIL_DAY_S * 1000);
}

/* The night of a day; false when there is none. */
static bool night_of(const struct window *w, const struct zone *z, int64_t day,
                     struct window_night *out)
{
    if (!(w->days >> civil_weekday(day) & 1))
        return false;
    int64_t from_min = day * DAY_MIN + w->from_min, to_min = day * DAY_MIN + w->to_min;
    if (w->to_min <= w->from_min)
        to_min += DAY_MIN;
    *out = (struct window_night){day, zone_wall_to_utc(z, from_min * 60, ZONE_FIRST) * 1000,
                                 zone_wall_to_utc(z, to_min * 60, ZONE_LAST) * 1000};
    return out->opens_ms < out->closes_ms;
}

bool window_night(const struct window *w, const struct zone *z, int64_t utc_ms,
                  struct window_night *out)
{
    utc_ms = in_range(utc_ms);
    int64_t today = utc_day(utc_ms);
    /* A later day never opens earlier, so the first found is the one that opened last. */
    for (int64_t day = today + NIGHT_DAYS_AFTER; day >= today - NIGHT_DAYS_BEFORE; day--)
        if (night_of(w, z, day, out) && out->opens_ms <= utc_ms && utc_ms < out->closes_ms)
            return true;
    return false;
}

bool window_contains(const struct window *w, const struct zone *z, int64_t utc_ms)
{
    struct window_night night;
    return window_night(w, z, utc_ms, &night);
}

int64_t window_next_open(const struct window *w, const struct zone *z, int64_t utc_ms)
{
    struct window_night night;
    utc_ms = in_range(utc_ms);
    int64_t today = utc_day(utc_ms);
    for (int64_t day = today - NIGHT_DAYS_BEFORE; day <= today + NEXT_OPEN_DAYS; day++)
        if (night_of(w, z, day, &night) && night.opens_ms > utc_ms)
            return night.opens_ms;
    return WINDOW_NEVER;
}

char *window_date_text(int64_t day, char out[WINDOW_DATE_TEXT])
{
    struct civil c = civil_date(day);
    snprintf(out, WINDOW_DATE_TEXT, "%04" PRId64 "-%02d-%02d", c.year, c.month, c.day);
    return out;
}

char *window_days_text(unsigned days, char out[WINDOW_DAYS_TEXT])
{
    char *end = out;

    if ((days & DAYS_ALL) == DAYS_ALL)
        return strcpy(out, "daily");
    *end = '\0';
    for (int d = 0; d < DAYS_OF_WEEK; d++)
        if (days & 1u << d)
            end += snprintf(end, DAY_NAME_BYTES + 2, "%s%s", end == out ? "" : ",", day_names[d]);
    return out;
}
