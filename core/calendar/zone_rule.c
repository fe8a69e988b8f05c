#include "core/calendar/zone_rule.h"

#include "core/calendar/civil.h"

#define RULE_HOURS_MAX 167
#define OFFSET_HOURS_MAX 24
#define HOUR_S 3600

struct text {
    const char *p;
    const char *end;
};

static bool take(struct text *t, char c)
{
    if (t->p == t->end || *t->p != c)
        return false;
    t->p++;
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* One to three digits from min to max. */
static bool number(struct text *t, int min, int max, int *out)
{
    const char *from = t->p;
    *out = 0;
    while (t->p < t->end && is_digit(*t->p) && t->p - from < 3)
        *out = *out * 10 + (*t->p++ - '0');
    return t->p > from && *out >= min && *out <= max;
}

/* "std", or "<+01>" for one that is not all letters. Which name it is does not matter here. */
static bool name(struct text *t)
{
    bool quoted = take(t, '<');
    const char *from = t->p;
    while (t->p < t->end &&
           (is_letter(*t->p) || (quoted && (is_digit(*t->p) || *t->p == '+' || *t->p == '-'))))
        t->p++;
    return t->p - from >= 3 && (!quoted || take(t, '>'));
}

/* "[+-]hh[:mm[:ss]]" in seconds. */
static bool clock_time(struct text *t, int hours_max, int32_t *out)
{
    int h = 0, m = 0, s = 0;
    bool negative = take(t, '-');
    if (!negative)
        take(t, '+');
    if (!number(t, 0, hours_max, &h))
        return false;
    if (take(t, ':') && (!number(t, 0, 59, &m) || (take(t, ':') && !number(t, 0, 59, &s))))
        return false;
    int32_t total = h * HOUR_S + m * 60 + s;
    *out = negative ? -total : total;
    return true;
}

static bool date_day(struct text *t, struct zone_date *d)
{
    if (take(t, 'M')) {
        d->kind = ZONE_DATE_MONTH;
        return number(t, 1, 12, &d->month) && take(t, '.') && number(t, 1, 5, &d->week) &&
               take(t, '.') && number(t, 0, 6, &d->day);
    }
    if (take(t, 'J')) {
        d->kind = ZONE_DATE_JULIAN;
        return number(t, 1, 365, &d->day);
    }
    d->kind = ZONE_DATE_ZERO;
    return number(t, 0, 365, &d->day);
}

static bool date(struct text *t, struct zone_date *d)
{
    d->time_s = 2 * HOUR_S;
    return take(t, ',') && date_day(t, d) &&
           (!take(t, '/') || clock_time(t, RULE_HOURS_MAX, &d->time_s));
}

bool zone_rule_parse(const char *text, size_t len, struct zone_rule *out)
{
    struct text t = {text, text + len};
    int32_t west_s = 0;
    *out = (struct zone_rule){0};
    if (!name(&t) || !clock_time(&t, OFFSET_HOURS_MAX, &west_s))
        return false;
    out->std_s = -west_s;
    if (t.p == t.end)
        return true;
    out->has_dst = true;
    west_s -= HOUR_S;
    if (!name(&t))
        return false;
    if (t.p < t.end && *t.p != ',' && !clock_time(&t, OFFSET_HOURS_MAX, &west_s))
        return false;
    out->dst_s = -west_s;
    return date(&t, &out->dst_begins) && date(&t, &out->dst_ends) && t.p == t.end;
}

static int64_t month_day(int64_t year, const struct zone_date *d)
{
    int64_t first = civil_days(year, d->month, 1);
    int weekday_from_sunday = (civil_weekday(first) + 1) % 7;
    int day = (d->day - weekday_from_sunday + 7) % 7 + 7 * (d->week - 1);
    if (day >= civil_month_days(year, d->month))
        day -= 7; /* week 5 means the last one */
    return first + day;
}

static int64_t date_in_year(int64_t year, const struct zone_date *d)
{
    switch (d->kind) {
    case ZONE_DATE_MONTH:
        return month_day(year, d);
    case ZONE_DATE_JULIAN:
        return civil_days(year, 1, 1) + d->day - 1 + (d->day >= 60 && civil_is_leap(year));
    case ZONE_DATE_ZERO:
        break;
    }
    return civil_days(year, 1, 1) + d->day;
}

/* The instant of a change; its clock time is one of the offset before it. */
static int64_t change_at(int64_t year, const struct zone_date *d, int32_t offset_before_s)
{
    return date_in_year(year, d) * CIVIL_DAY_S + d->time_s - offset_before_s;
}

struct zone_span zone_rule_span(const struct zone_rule *rule, int64_t utc_s)
{
    struct zone_span span = {INT64_MIN, INT64_MAX, rule->std_s};
    if (!rule->has_dst)
        return span;
    /* A time of 167 hours and an offset can move a change a week out of its year: so two years to
     * each side hold the last change before and the first one after. */
    int64_t year = civil_date(civil_floor_div(utc_s, CIVIL_DAY_S)).year;
    for (int64_t y = year - 2; y <= year + 2; y++) {
        int64_t ends = change_at(y, &rule->dst_ends, rule->dst_s);
        int64_t begins = change_at(y, &rule->dst_begins, rule->std_s);
        if (ends <= utc_s && ends > span.begin_s) {
            span.begin_s = ends;
            span.offset_s = rule->std_s;
        }
        if (begins <= utc_s && begins >= span.begin_s) {
            span.begin_s = begins;
            span.offset_s = rule->dst_s;
        }
        if (ends > utc_s && ends < span.end_s)
            span.end_s = ends;
        if (begins > utc_s && begins < span.end_s)
            span.end_s = begins;
    }
    return span;
}
