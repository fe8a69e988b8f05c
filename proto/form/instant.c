#include "proto/form/instant.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/calendar/civil.h"

#define DAY_S 86400
#define YEAR_FIRST 1970

/* n digits at s; -1 when they are not digits. */
static int digits(const char *s, int n)
{
    int value = 0;

    for (int i = 0; i < n; i++) {
        if (s[i] < '0' || s[i] > '9')
            return -1;
        value = value * 10 + (s[i] - '0');
    }
    return value;
}

static bool has_shape(const char *text)
{
    static const char shape[] = "0000-00-00T00:00:00Z";

    if (strlen(text) != sizeof shape - 1)
        return false;
    for (size_t i = 0; shape[i]; i++)
        if (shape[i] == '0' ? digits(text + i, 1) < 0 : text[i] != shape[i])
            return false;
    return true;
}

bool instant_parse(const char *text, int64_t *ms)
{
    if (!has_shape(text))
        return false;
    int year = digits(text, 4), month = digits(text + 5, 2), day = digits(text + 8, 2);
    int hour = digits(text + 11, 2), minute = digits(text + 14, 2), second = digits(text + 17, 2);
    if (year < YEAR_FIRST || month < 1 || month > 12 || day < 1 ||
        day > civil_month_days(year, month) || hour > 23 || minute > 59 || second > 59)
        return false;
    int64_t s = civil_days(year, month, day) * DAY_S + hour * 3600 + minute * 60 + second;
    *ms = s * 1000;
    return true;
}

static void split(int64_t ms, struct civil *date, int *second_of_day)
{
    int64_t s = civil_floor_div(ms, 1000), day = civil_floor_div(s, DAY_S);

    *date = civil_date(day);
    *second_of_day = (int)(s - day * DAY_S);
}

char *instant_text(int64_t ms, char out[INSTANT_TEXT])
{
    struct civil d;
    int s;

    split(ms, &d, &s);
    (void)snprintf(out, INSTANT_TEXT, "%04" PRId64 "-%02d-%02dT%02d:%02d:%02dZ", d.year, d.month,
                   d.day, s / 3600, s / 60 % 60, s % 60);
    return out;
}

char *instant_short(int64_t ms, char out[INSTANT_TEXT])
{
    struct civil d;
    int s;

    split(ms, &d, &s);
    if (s % 60)
        return instant_text(ms, out);
    (void)snprintf(out, INSTANT_TEXT, "%04" PRId64 "-%02d-%02dT%02d:%02dZ", d.year, d.month, d.day,
                   s / 3600, s / 60 % 60);
    return out;
}
