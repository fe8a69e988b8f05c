/* The calendar: days counted from 1970-01-01 and what they are called.
 *
 * Proleptic Gregorian (ISO 8601): a year is leap when 4 divides it, unless 100 does and 400 does
 * not. Year 0 and negative years follow the same rule. Nothing here knows a time zone.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define CIVIL_DAY_S 86400

struct civil {
    int64_t year;
    int month; /* 1 to 12 */
    int day;   /* 1 to 31 */
};

/* The quotient rounded down, also for a negative a; b > 0. */
static inline int64_t civil_floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

bool civil_is_leap(int64_t year);
int civil_month_days(int64_t year, int month); /* 28 to 31; month 1 to 12 */

/* Days from 1970-01-01 to the given date; negative before it. Magnitude of the year at most 2^40.
 */
int64_t civil_days(int64_t year, int month, int day);
/* The date of a day; magnitude of days at most 2^48. */
struct civil civil_date(int64_t days);
/* 0 is Monday, 6 is Sunday. */
int civil_weekday(int64_t days);
