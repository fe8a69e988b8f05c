/* Time zones and windows, by what their headers promise. An offset is within its bound; a wall time
 * becomes the instants at which the clock shows it; a night that is open began and has not ended;
 * the next opening is later and inside; what waits for a window may run when it was told to.
 *
 * Input: the first byte says how the zone comes, as the bytes of a file or as changes and a rule;
 * then a window and instants, then the zone. */
#include <string.h>

#include "core/calendar/civil.h"
#include "core/calendar/schedule.h"
#include "fuzz/fuzz.h"

#define INSTANTS 8
#define CHANGES_MAX 16
#define FAR_S ((int64_t)1 << 50)
#define LAST_MS ((int64_t)1 << 53)

/* ---- zones */

static void put_number(struct buf *b, uint64_t v, int bytes)
{
    for (int i = bytes - 1; i >= 0; i--)
        buf_putc(b, (char)(uint8_t)(v >> (8 * i)));
}

static void put_header(struct buf *b, uint32_t times, uint32_t types)
{
    static const char rest[15 + 12];

    buf_puts(b, "TZif2");
    buf_add(b, rest, sizeof rest);
    put_number(b, times, 4);
    put_number(b, types, 4);
    put_number(b, 4, 4);
}

static void put_type(struct buf *b, uint32_t offset_s)
{
    put_number(b, offset_s, 4);
    put_number(b, 0, 2);
}

/* A file with a few changes, near each other or far, and the rule that the input names. */
static void put_file(struct fuzz_in *in, struct buf *b)
{
    uint32_t n = (uint32_t)fuzz_below(in, CHANGES_MAX + 1);
    int64_t at = (int64_t)(int32_t)fuzz_number(in, 4);
    int32_t offsets[CHANGES_MAX + 1];

    put_header(b, 0, 1);
    put_type(b, 0);
    buf_add(b, "ABC", 4);
    put_header(b, n, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        put_number(b, (uint64_t)at, 8);
        at += 1 + (int64_t)fuzz_number(in, 3);
    }
    for (uint32_t i = 0; i < n; i++)
        put_number(b, i + 1, 1);
    for (uint32_t i = 0; i <= n; i++) {
        offsets[i] = (int32_t)(int16_t)fuzz_number(in, 2) * 3;
        put_type(b, (uint32_t)offsets[i]);
    }
    buf_add(b, "ABC", 4);
    CLEANUP(mem_freep) char *rule = fuzz_line(in);
    buf_printf(b, "\n%s\n", rule);
}

static bool take_zone(struct fuzz_in *in, bool is_file, struct arena *a, struct zone *z)
{
    struct buf b = {0};
    struct err e = {0};

    if (is_file)
        buf_add(&b, in->at, in->left);
    else
        put_file(in, &b);
    /* A block of its own length, so that one byte too far shows. */
    CLEANUP(mem_freep) char *bytes = malloc(b.len + !b.len);
    MUST(bytes);
    memcpy(bytes, buf_str(&b), b.len);
    bool taken = fuzz_accepted(zone_parse(a, "window.zone", "Z", bytes, b.len, z, &e), &e);
    buf_deinit(&b);
    return taken;
}

static void check_wall(const struct zone *z, int64_t wall_s)
{
    int64_t first = zone_wall_to_utc(z, wall_s, ZONE_FIRST);
    int64_t last = zone_wall_to_utc(z, wall_s, ZONE_LAST);

    MUST(first <= last);
    /* At the first it shows that time or a later one, and not a moment before. */
    MUST(first + zone_offset_at(z, first) >= wall_s);
    for (int64_t before = 1; before < 200000; before *= 3)
        MUST(first - before + zone_offset_at(z, first - before) < wall_s);
    /* After the last it shows only later ones. */
    for (int64_t after = 1; after < 200000; after *= 3)
        MUST(last + after + zone_offset_at(z, last + after) > wall_s);
    MUST(zone_wall_to_utc(z, wall_s + 1, ZONE_FIRST) >= first);
    MUST(zone_wall_to_utc(z, wall_s + 1, ZONE_LAST) >= last);
}

static void check_zone(const struct zone *z, int64_t utc_s)
{
    int32_t offset_s = zone_offset_at(z, utc_s);

    MUST(offset_s >= -ZONE_OFFSET_MAX_S && offset_s <= ZONE_OFFSET_MAX_S);
    check_wall(z, utc_s);
    MUST(zone_wall_to_utc(z, utc_s + offset_s, ZONE_FIRST) <= utc_s);
    MUST(zone_wall_to_utc(z, utc_s + offset_s, ZONE_LAST) >= utc_s);
}

/* ---- windows */

static bool take_window(struct fuzz_in *in, struct arena *a, struct window *w)
{
    CLEANUP(mem_freep) char *days = fuzz_line(in);
    CLEANUP(mem_freep) char *from = fuzz_line(in);
    CLEANUP(mem_freep) char *to = fuzz_line(in);
    char text[WINDOW_DAYS_TEXT];
    struct window again;
    struct err e = {0};

    if (!fuzz_accepted(window_parse(a, "window", days, from, to, "Z", w, &e), &e))
        return false;
    MUST(w->days > 0 && w->days < 128 && w->from_min < 1440 && w->to_min < 1440);
    MUST(w->from_min >= 0 && w->to_min >= 0);
    MUST(window_parse(a, "window", window_days_text(w->days, text), from, to, "Z", &again, &e) ==
             0 &&
         again.days == w->days);
    return true;
}

static void check_open(const struct window *w, const struct zone *z, int64_t t_ms)
{
    struct window_night n;

    MUST(window_night(w, z, t_ms, &n) && n.opens_ms <= t_ms && t_ms < n.closes_ms);
    MUST(w->days >> civil_weekday(n.day) & 1);
}

static void check_window(const struct window *w, const struct zone *z, int64_t t_ms)
{
    if (window_contains(w, z, t_ms))
        check_open(w, z, t_ms);
    int64_t next = window_next_open(w, z, t_ms);
    MUST(next > t_ms);
    if (next == WINDOW_NEVER)
        return;
    check_open(w, z, next);
    /* Nothing opens in between: what is open there was open at the beginning already. */
    for (int i = 1; i < 8; i++) {
        struct window_night n;
        int64_t between = t_ms + (next - t_ms) / 8 * i;
        MUST(!window_night(w, z, between, &n) || n.opens_ms <= t_ms);
    }
}

static void check_schedule(const struct window *w, const struct zone *z, int64_t t_ms,
                           int64_t other_ms)
{
    struct window_night n;
    char used[WINDOW_DATE_TEXT] = "";
    struct schedule s = {
        .window = w, .zone = z, .not_before_ms = other_ms, .deadline_ms = -1, .settled_ms = -1};
    struct schedule_result r, then;

    if (window_night(w, z, t_ms, &n))
        s.last_night = window_date_text(n.day, used);
    schedule_ask(&s, t_ms, &r);
    MUST(r.at_ms >= t_ms && (r.answer == SCHEDULE_RUN) == (r.night[0] != '\0' && r.at_ms == t_ms));
    if (r.answer == SCHEDULE_RUN || r.at_ms == WINDOW_NEVER || r.at_ms >= LAST_MS)
        return;
    schedule_ask(&s, r.at_ms, &then);
    MUST(then.answer == SCHEDULE_RUN || then.answer == SCHEDULE_NIGHT);
    MUST(then.at_ms >= r.at_ms);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_in in = {data, size};
    struct arena a = {0};
    struct window w;
    struct zone z;
    int64_t at_s[INSTANTS];
    bool is_file = fuzz_byte(&in) & 1;

    for (size_t i = 0; i < INSTANTS; i++) /* mostly of our days, some of far away ones */
        at_s[i] =
            i < 6 ? (int64_t)(uint32_t)fuzz_number(&in, 4) : (int64_t)fuzz_number(&in, 8) % FAR_S;
    bool has_window = take_window(&in, &a, &w);
    if (take_zone(&in, is_file, &a, &z)) {
        for (size_t i = 0; i < INSTANTS; i++)
            check_zone(&z, at_s[i]);
        for (size_t i = 0; has_window && i < INSTANTS; i++) {
            check_window(&w, &z, at_s[i] % (LAST_MS / 1000) * 1000);
            check_schedule(&w, &z, at_s[i] % (LAST_MS / 1000) * 1000, at_s[(i + 1) % 6] * 1000);
        }
    }
    arena_deinit(&a);
    return 0;
}
