/* Time zones from the bytes of TZif files (RFC 8536): offsets of instants, instants of wall times.
 *
 * Pure: whoever has the file hands its bytes in; TZ, tzset() and the C library's zones play no
 * part. Any bytes may be given: all lengths are checked before they are used. The zone's table
 * lives in the arena it was parsed into.
 *
 * A wall time is given as wall_s: the seconds that a clock set to UTC would count from 1970 when
 * it shows that time. Instants and wall times beyond 2^59 seconds are taken as 2^59.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "core/calendar/zone_rule.h"

struct zone_change {
    int64_t at_s;     /* the first instant with the offset */
    int32_t offset_s; /* east of UTC */
};

struct zone {
    const struct zone_change *changes; /* ascending, no two alike */
    size_t n_changes;
    int32_t first_offset_s; /* before the first change */
    bool has_rule;          /* from the last change on; otherwise the last offset stays */
    struct zone_rule rule;
};

/* Reads version 2 or later. name, and the field that holds it, are for the error. Returns 0, or
 * -EINVAL with code window.bad_zone: no TZif file, version 1, a length or value against RFC 8536,
 * or a file that counts leap seconds, which the clocks here do not. */
int zone_parse(struct arena *a, const char *field, const char *name, const void *bytes, size_t len,
               struct zone *out, struct err *e);

/* Seconds east of UTC at an instant; magnitude at most ZONE_OFFSET_MAX_S. */
int32_t zone_offset_at(const struct zone *z, int64_t utc_s);

/* Which instant is meant by a wall time that the clock shows twice. */
enum zone_pick { ZONE_FIRST, ZONE_LAST };

/* ZONE_FIRST: the first instant at which the clock shows wall_s or a later time. ZONE_LAST: the
 * last at which it shows wall_s or an earlier time; where the clock then jumps over wall_s, the
 * instant of the jump. So a time that the clock shows once is that instant for both; of a time that
 * it shows twice one is the first occurrence, the other the second; and a time that it skips is for
 * both the first instant after the gap. */
int64_t zone_wall_to_utc(const struct zone *z, int64_t wall_s, enum zone_pick pick);
