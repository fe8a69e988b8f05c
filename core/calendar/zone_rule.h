/* The rule that goes on where a zone's table ends: the footer of a TZif file.
 *
 * It is the TZ string of POSIX (IEEE Std 1003.1-2017, XBD 8.3) with the extension of RFC 8536,
 * section 3.3.1: times of a rule from -167 to 167 hours. A rule without daylight saving is one
 * offset for ever. Offsets here are seconds east of UTC; the text counts them west of it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The largest offset that the text can say: 24:59:59 west, or an hour more east of it. */
#define ZONE_OFFSET_MAX_S 93599

enum zone_date_kind {
    ZONE_DATE_JULIAN, /* "Jn": day 1 to 365; 29 February is never counted */
    ZONE_DATE_ZERO,   /* "n": day 0 to 365; 29 February is counted */
    ZONE_DATE_MONTH,  /* "Mm.w.d": weekday d (0 is Sunday) of week w (5: the last) of month m */
};

struct zone_date {
    enum zone_date_kind kind;
    int day; /* the number of the first two kinds, the weekday of the third */
    int month;
    int week;
    int32_t time_s; /* after the day's midnight, by the clock before the change */
};

struct zone_rule {
    int32_t std_s;
    int32_t dst_s;
    bool has_dst; /* otherwise only std_s counts */
    struct zone_date dst_begins;
    struct zone_date dst_ends;
};

/* A stretch of time with one offset: begin_s <= t < end_s. */
struct zone_span {
    int64_t begin_s;
    int64_t end_s;
    int32_t offset_s;
};

/* Reads the whole text (no end mark needed); false, and out is unspecified, when any byte of it
 * breaks the grammar, names are shorter than 3 bytes, or daylight saving has no dates. */
bool zone_rule_parse(const char *text, size_t len, struct zone_rule *out);

/* The stretch around an instant of magnitude at most 2^59 seconds. Neighbouring stretches may have
 * the same offset. When both changes fall on one instant, daylight saving stays: that is how RFC
 * 8536 writes a zone that has it all year. */
struct zone_span zone_rule_span(const struct zone_rule *rule, int64_t utc_s);
