#include "core/calendar/civil.h"

/* From 0001-01-01 to 1970-01-01. */
#define DAYS_TO_1970 719162
#define DAYS_OF_400_YEARS 146097

bool civil_is_leap(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

int civil_month_days(int64_t year, int month)
{
    static const int days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && civil_is_leap(year));
}

int64_t civil_days(int64_t year, int month, int day)
{
    int64_t past = year - 1;
    int64_t days = past * 365 + civil_floor_div(past, 4) - civil_floor_div(past, 100) +
                   civil_floor_div(past, 400) - DAYS_TO_1970;
    for (int m = 1; m < month; m++)
        days += civil_month_days(year, m);
    return days + day - 1;
}

struct civil civil_date(int64_t days)
{
    /* By the mean length of a year; off by one at most. */
    struct civil c = {1970 + civil_floor_div(days * 400, DAYS_OF_400_YEARS), 1, 1};
    while (civil_days(c.year, 1, 1) > days)
        c.year--;
    while (civil_days(c.year + 1, 1, 1) <= days)
        c.year++;
    int rest = (int)(days - civil_days(c.year, 1, 1));
    for (; rest >= civil_month_days(c.year, c.month); c.month++)
        rest -= civil_month_days(c.year, c.month);
    c.day += rest;
    return c;
}

int civil_weekday(int64_t days)
{
    /* 1970-01-01 was a Thursday. */
    int64_t n = days + 3;
    return (int)(n - civil_floor_div(n, 7) * 7);
}
