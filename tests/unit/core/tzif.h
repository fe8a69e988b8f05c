/* Makes TZif bytes for tests: an empty first block, a second with the given changes, a footer. */
#pragma once

#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "core/calendar/zone.h"

static inline void tzif_number(struct buf *b, uint64_t v, int bytes)
{
    for (int i = bytes - 1; i >= 0; i--)
        buf_putc(b, (char)(uint8_t)(v >> (8 * i)));
}

static inline void tzif_header(struct buf *b, char version, uint32_t times, uint32_t types)
{
    static const char unused[15], no_flags_or_leaps[12];
    buf_puts(b, "TZif");
    buf_putc(b, version);
    buf_add(b, unused, sizeof unused);
    buf_add(b, no_flags_or_leaps, sizeof no_flags_or_leaps);
    tzif_number(b, times, 4);
    tzif_number(b, types, 4);
    tzif_number(b, 4, 4);
}

static inline void tzif_type(struct buf *b, int32_t offset_s)
{
    tzif_number(b, (uint32_t)offset_s, 4);
    tzif_number(b, 0, 2);
}

/* One type per change behind the first, so n is at most 255. */
static inline void tzif_make(struct buf *b, int32_t first_offset_s, const struct zone_change *c,
                             size_t n, const char *footer)
{
    tzif_header(b, '2', 0, 1);
    tzif_type(b, 0);
    buf_add(b, "ABC", 4);
    tzif_header(b, '2', (uint32_t)n, (uint32_t)n + 1);
    for (size_t i = 0; i < n; i++)
        tzif_number(b, (uint64_t)c[i].at_s, 8);
    for (size_t i = 0; i < n; i++)
        tzif_number(b, i + 1, 1);
    tzif_type(b, first_offset_s);
    for (size_t i = 0; i < n; i++)
        tzif_type(b, c[i].offset_s);
    buf_add(b, "ABC", 4);
    buf_printf(b, "\n%s\n", footer);
}

/* Parses what tzif_make makes; fails the test when that is refused. */
static inline struct zone tzif_zone(struct arena *a, int32_t first_offset_s,
                                    const struct zone_change *c, size_t n, const char *footer)
{
    struct buf b = {0};
    struct err e = {0};
    struct zone z;
    tzif_make(&b, first_offset_s, c, n, footer);
    int rc = zone_parse(a, "window.zone", "Test/Zone", b.data, b.len, &z, &e);
    buf_deinit(&b);
    if (rc)
        fail_msg("%s: %s", footer, e.text);
    return z;
}

/* An instant from its parts, by core/calendar/civil. */
#define UTC(y, mo, d, h, mi) (civil_days(y, mo, d) * CIVIL_DAY_S + (h)*3600 + (mi)*60)
