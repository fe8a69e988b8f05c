#include "unit.h"

#include "base/mem.h"
#include "core/calendar/civil.h"
#include "core/calendar/zone.h"

#include "prng.h"
#include "tzif.h"

#define LONDON "GMT0BST,M3.5.0/1,M10.5.0"
#define HOUR_S 3600

static void the_calendar_counts_every_day_of_800_years(void **state)
{
    (void)state;
    struct civil c = {1600, 1, 1};
    int64_t day = civil_days(1600, 1, 1);
    assert_int_equal(civil_days(1970, 1, 1), 0);
    assert_int_equal(civil_days(2000, 3, 1), 11017); /* RFC 3339 and `date -d` agree */
    for (; c.year < 2400; day++) {
        struct civil got = civil_date(day);
        assert_int_equal(got.year, c.year);
        assert_int_equal(got.month, c.month);
        assert_int_equal(got.day, c.day);
        assert_int_equal(civil_days(c.year, c.month, c.day), day);
        if (c.day++ < civil_month_days(c.year, c.month))
            continue;
        c.day = 1;
        if (c.month++ < 12)
            continue;
        c.month = 1;
        c.year++;
    }
    assert_int_equal(day - civil_days(1600, 1, 1), 2 * 146097);
}

static void weekdays_begin_with_monday_also_before_1970(void **state)
{
    (void)state;
    assert_int_equal(civil_weekday(0), 3);
    assert_int_equal(civil_weekday(-4), 6);
    assert_int_equal(civil_weekday(civil_days(2024, 3, 31)), 6);
    assert_int_equal(civil_weekday(civil_days(2024, 4, 1)), 0);
}

static struct zone_rule rule_of(const char *text)
{
    struct zone_rule r;
    if (!zone_rule_parse(text, strlen(text), &r))
        fail_msg("%s is refused", text);
    return r;
}

static void rules_are_read_in_full(void **state)
{
    (void)state;
    struct zone_rule r = rule_of("<+01>-1");
    assert_false(r.has_dst);
    assert_int_equal(r.std_s, HOUR_S);

    r = rule_of("<-02>2<-01>,M3.5.0/-1,M10.5.0/0");
    assert_true(r.has_dst);
    assert_int_equal(r.std_s, -2 * HOUR_S);
    assert_int_equal(r.dst_s, -HOUR_S); /* an hour ahead unless it says otherwise */
    assert_int_equal(r.dst_begins.time_s, -HOUR_S);
    assert_int_equal(r.dst_ends.time_s, 0);

    r = rule_of("ABCD-5:45:07EFG+3:01,J60,365/167:59:59");
    assert_int_equal(r.std_s, 5 * HOUR_S + 45 * 60 + 7);
    assert_int_equal(r.dst_s, -(3 * HOUR_S + 60));
    assert_int_equal(r.dst_begins.kind, ZONE_DATE_JULIAN);
    assert_int_equal(r.dst_begins.day, 60);
    assert_int_equal(r.dst_begins.time_s, 2 * HOUR_S);
    assert_int_equal(r.dst_ends.kind, ZONE_DATE_ZERO);
    assert_int_equal(r.dst_ends.day, 365);
    assert_int_equal(r.dst_ends.time_s, 168 * HOUR_S - 1);

    r = rule_of("CET-1CEST,M3.5.0,M10.5.6/3");
    assert_int_equal(r.dst_ends.kind, ZONE_DATE_MONTH);
    assert_int_equal(r.dst_ends.month, 10);
    assert_int_equal(r.dst_ends.week, 5);
    assert_int_equal(r.dst_ends.day, 6);
}

static void rules_against_the_grammar_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "GM0",
        "GMT",
        "GMT25",
        "GMT0:60",
        "GMT0:",
        "GMT0:00:60",
        "<+01-1",
        "<+0>1",
        "+01-1",
        "GMT--1",
        "GMT0BST",
        "GMT0BST,",
        "GMT0BST,M3",
        "GMT0BST,M3.5.0",
        "GMT0B,1,2",
        "GMT0BST,J0,2",
        "GMT0BST,J366,2",
        "GMT0BST,1,366",
        "GMT0BST,M13.1.0,1",
        "GMT0BST,M0.1.0,1",
        "GMT0BST,M1.6.0,1",
        "GMT0BST,M1.0.0,1",
        "GMT0BST,M1.1.7,1",
        "GMT0BST,1/168,2",
        "GMT0BST,1/-168,2",
        "GMT0BST,1/,2",
        "GMT0BST,1,2,",
        "GMT0BST,1,2 ",
        "GMT0BST25,1,2",
        "GMT0BST,0001,2",
        ":Europe/London",
        " GMT0",
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct zone_rule r;
        if (zone_rule_parse(bad[i], strlen(bad[i]), &r))
            fail_msg("\"%s\" is taken", bad[i]);
    }
}

static void rule_changes_at(const char *text, int64_t at, int32_t before_s, int32_t after_s)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct zone z = tzif_zone(&a, 0, NULL, 0, text);
    if (zone_offset_at(&z, at - 1) != before_s || zone_offset_at(&z, at) != after_s)
        fail_msg("%s: %d then %d at %" PRId64, text, zone_offset_at(&z, at - 1),
                 zone_offset_at(&z, at), at);
}

static void rules_change_on_the_day_they_say(void **state)
{
    (void)state;
    rule_changes_at(LONDON, UTC(2024, 3, 31, 1, 0), 0, HOUR_S);
    rule_changes_at(LONDON, UTC(2024, 10, 27, 1, 0), HOUR_S, 0);
    rule_changes_at(LONDON, UTC(2400, 3, 26, 1, 0), 0, HOUR_S);
    /* South of the equator daylight saving goes over the new year; here it moves 30 minutes. */
    rule_changes_at("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", UTC(2025, 4, 5, 15, 0), 39600, 37800);
    rule_changes_at("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", UTC(2025, 10, 4, 15, 30), 37800, 39600);
    /* Ireland's law: winter is the exception. */
    rule_changes_at("IST-1GMT0,M10.5.0,M3.5.0/1", UTC(2030, 3, 31, 1, 0), 0, HOUR_S);
    /* The 60th day: J60 is always 1 March, 59 (from 0) is 29 February in a leap year. */
    rule_changes_at("AAA0BBB,J60/0,300", UTC(2024, 3, 1, 0, 0), 0, HOUR_S);
    rule_changes_at("AAA0BBB,J60/0,300", UTC(2025, 3, 1, 0, 0), 0, HOUR_S);
    rule_changes_at("AAA0BBB,59/0,300", UTC(2024, 2, 29, 0, 0), 0, HOUR_S);
    rule_changes_at("AAA0BBB,59/0,300", UTC(2025, 3, 1, 0, 0), 0, HOUR_S);
    /* Times outside the day, even outside the year. */
    rule_changes_at("AAA0BBB,M3.4.4/50,M10.4.4/50", UTC(2025, 3, 29, 2, 0), 0, HOUR_S);
    rule_changes_at("AAA0BBB,J1/-167,J180", UTC(2024, 12, 25, 1, 0), 0, HOUR_S);
    rule_changes_at("AAA0BBB,J180,J365/167", UTC(2026, 1, 6, 22, 0), HOUR_S, 0);
}

static void daylight_saving_all_year_has_no_gap_at_new_year(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    struct zone z = tzif_zone(&a, 0, NULL, 0, "EST5EDT,0/0,J365/25");
    for (int64_t t = UTC(2023, 12, 30, 0, 0); t < UTC(2025, 1, 3, 0, 0); t += HOUR_S / 2)
        assert_int_equal(zone_offset_at(&z, t), -4 * HOUR_S);
}

static const struct zone_change two_changes[] = {{1000, 7200}, {2000, -5400}};

static void the_table_goes_before_the_rule(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    struct zone z = tzif_zone(&a, 3600, two_changes, 2, LONDON);
    assert_int_equal(zone_offset_at(&z, INT64_MIN), 3600);
    assert_int_equal(zone_offset_at(&z, 999), 3600);
    assert_int_equal(zone_offset_at(&z, 1000), 7200);
    assert_int_equal(zone_offset_at(&z, 1999), 7200);
    assert_int_equal(zone_offset_at(&z, 2000), 0);
    assert_int_equal(zone_offset_at(&z, UTC(1970, 7, 1, 0, 0)), 3600);
    assert_true(zone_offset_at(&z, INT64_MAX) >= 0);
}

static void without_a_rule_the_last_offset_stays(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    struct zone z = tzif_zone(&a, 3600, two_changes, 2, "");
    assert_false(z.has_rule);
    assert_int_equal(zone_offset_at(&z, INT64_MAX), -5400);
    z = tzif_zone(&a, 3600, NULL, 0, "");
    assert_int_equal(zone_offset_at(&z, 0), 3600);
}

/* Clocks go from 01:00 to 02:00 on 31 March 2024 and from 02:00 to 01:00 on 27 October. */
static void a_skipped_wall_time_is_the_first_instant_after_the_gap(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    struct zone z = tzif_zone(&a, 0, NULL, 0, LONDON);
    int64_t change = UTC(2024, 3, 31, 1, 0);
    for (int minute = 0; minute < 60; minute++) {
        assert_int_equal(zone_wall_to_utc(&z, change + minute * 60, ZONE_FIRST), change);
        assert_int_equal(zone_wall_to_utc(&z, change + minute * 60, ZONE_LAST), change);
    }
    assert_int_equal(zone_wall_to_utc(&z, change - 1, ZONE_FIRST), change - 1);
    assert_int_equal(zone_wall_to_utc(&z, change + 3601, ZONE_LAST), change + 1);
}

static void a_repeated_wall_time_has_a_first_and_a_second_occurrence(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    struct zone z = tzif_zone(&a, 0, NULL, 0, LONDON);
    int64_t wall = UTC(2024, 10, 27, 1, 30);
    assert_int_equal(zone_wall_to_utc(&z, wall, ZONE_FIRST), wall - HOUR_S);
    assert_int_equal(zone_wall_to_utc(&z, wall, ZONE_LAST), wall);
    /* 01:00 is shown twice, 02:00 once. */
    assert_int_equal(zone_wall_to_utc(&z, wall - 1800, ZONE_FIRST), wall - 1800 - HOUR_S);
    assert_int_equal(zone_wall_to_utc(&z, wall - 1800, ZONE_LAST), wall - 1800);
    assert_int_equal(zone_wall_to_utc(&z, wall + 1800, ZONE_FIRST), wall + 1800);
    assert_int_equal(zone_wall_to_utc(&z, wall + 1800, ZONE_LAST), wall + 1800);
}

/* The definitions in zone.h, by looking at every second. */
static int64_t slow_wall_to_utc(const struct zone *z, int64_t wall, enum zone_pick pick,
                                int64_t from, int64_t to)
{
    int64_t last = from;
    for (int64_t u = from; u < to; u++) {
        int64_t shown = u + zone_offset_at(z, u);
        if (pick == ZONE_FIRST && shown >= wall)
            return u;
        if (shown <= wall)
            last = shown == wall ? u : u + 1;
    }
    return last;
}

static void any_zone_turns_wall_times_as_defined(void **state)
{
    (void)state;
    struct prng p = prng_seeded("any_zone_turns_wall_times_as_defined");
    for (int round = 0; round < 200; round++) {
        CLEANUP(arena_deinit) struct arena a = {0};
        struct zone_change c[8];
        int64_t at = 0;
        for (size_t i = 0; i < ARRAY_LEN(c); i++) {
            at += 1 + (int64_t)prng_below(&p, 50);
            c[i] = (struct zone_change){at, (int32_t)prng_below(&p, 101) - 50};
        }
        struct zone z = tzif_zone(&a, (int32_t)prng_below(&p, 101) - 50, c, 8, "");
        for (int64_t wall = -60; wall < at + 60; wall++)
            for (int pick = ZONE_FIRST; pick <= ZONE_LAST; pick++)
                assert_int_equal(zone_wall_to_utc(&z, wall, (enum zone_pick)pick),
                                 slow_wall_to_utc(&z, wall, (enum zone_pick)pick, -200, at + 200));
    }
}

static int parse_copy(const struct buf *b, size_t len, struct zone *z, struct arena *a,
                      struct err *e)
{
    /* Of exactly that size, so that a byte read behind it is seen. */
    void *copy = malloc(len ? len : 1);
    assert_non_null(copy);
    if (len)
        memcpy(copy, b->data, len);
    int rc = zone_parse(a, "window.zone", "Test/Zone", copy, len, z, e);
    free(copy);
    return rc;
}

static void assert_refused(const struct buf *b, size_t len, const char *cause)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct err e = {0};
    struct zone z;
    assert_true(parse_copy(b, len, &z, &a, &e) < 0);
    assert_string_equal(e.code, "window.bad_zone");
    assert_string_equal(e.field, "window.zone");
    assert_non_null(strstr(e.text, "Test/Zone"));
    if (!strstr(e.text, cause))
        fail_msg("\"%s\" does not say \"%s\"", e.text, cause);
}

static void a_file_cut_anywhere_is_refused(void **state)
{
    (void)state;
    CLEANUP(buf_deinit) struct buf b = {0};
    tzif_make(&b, 3600, two_changes, 2, LONDON);
    for (size_t len = 0; len < b.len; len++)
        assert_refused(&b, len, "");
}

/* Where things are in what tzif_make makes of two_changes. */
enum {
    SECOND = 44 + 6 + 4,
    TIMES_AT = SECOND + 44,
    INDEXES_AT = TIMES_AT + 16,
    TYPES_AT = INDEXES_AT + 2
};

static void a_file_against_the_format_is_refused_and_the_reason_said(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        size_t n;
        uint64_t value;
        const char *cause;
    } rows[] = {
        {0, 1, 'X', "not a TZif file"},
        {4, 1, 0, "version 1"},
        {SECOND, 1, 'X', "not a TZif file"},
        {SECOND + 4, 1, 0, "version 1"},
        {32, 4, 0xffffffff, "ends too early"},
        {36, 4, 0xffffffff, "ends too early"},
        {SECOND + 20, 4, 0xffffffff, "ends too early"},
        {SECOND + 28, 4, 0xffffffff, "ends too early"},
        {SECOND + 28, 4, 1, "leap seconds"},
        {SECOND + 32, 4, 0xffffffff, "ends too early"},
        {SECOND + 36, 4, 0, "no types"},
        {SECOND + 36, 4, 0xffffffff, "ends too early"},
        {SECOND + 40, 4, 0xffffffff, "ends too early"},
        {TIMES_AT, 8, 2000, "not in order"},
        {TIMES_AT, 8, 3000, "not in order"},
        {TIMES_AT, 8, (uint64_t)INT64_MIN, "out of range"},
        {TIMES_AT + 8, 8, INT64_MAX, "out of range"},
        {INDEXES_AT + 1, 1, 3, "names a type"},
        {TYPES_AT + 6, 4, 93600, "offset from UTC"},
        {TYPES_AT, 4, 0x80000000u, "offset from UTC"},
        {TYPES_AT + 3 * 6 + 4, 1, 'x', "footer is missing"},
        {TYPES_AT + 3 * 6 + 5, 1, '1', "not understood"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        CLEANUP(buf_deinit) struct buf b = {0}, value = {0};
        tzif_make(&b, 3600, two_changes, 2, LONDON);
        tzif_number(&value, rows[i].value, (int)rows[i].n);
        memcpy(b.data + rows[i].at, value.data, rows[i].n);
        /* A leap second is twelve bytes, the last type six: room for what the header now claims. */
        if (rows[i].value == 1)
            buf_puts(&b, "0123456789ab");
        assert_refused(&b, b.len, rows[i].cause);
    }
}

static void hostile_bytes_never_give_an_offset_out_of_range(void **state)
{
    (void)state;
    struct prng p = prng_seeded("hostile_bytes_never_give_an_offset_out_of_range");
    static const char *const footers[] = {LONDON, "", "AAA24:59:59BBB-24:59:59,0/-167,J365/167",
                                          "AAA0BBB,J1,J1", "AAA0BBB0,M1.1.0/167,M12.5.6/-167"};
    size_t taken = 0;
    for (int round = 0; round < 20000; round++) {
        CLEANUP(arena_deinit) struct arena a = {0};
        CLEANUP(buf_deinit) struct buf b = {0};
        struct err e = {0};
        struct zone z;
        tzif_make(&b, -93599, two_changes, 2, footers[prng_below(&p, ARRAY_LEN(footers))]);
        for (size_t n = prng_below(&p, 4); n > 0; n--)
            b.data[prng_below(&p, b.len)] = (char)(uint8_t)prng_next(&p);
        if (parse_copy(&b, b.len, &z, &a, &e) < 0)
            continue;
        taken++;
        int64_t t = (int64_t)(prng_next(&p) >> prng_below(&p, 64));
        int32_t offset = zone_offset_at(&z, t);
        assert_in_range(offset + ZONE_OFFSET_MAX_S, 0, 2 * ZONE_OFFSET_MAX_S);
        assert_true(zone_wall_to_utc(&z, t, ZONE_FIRST) <= zone_wall_to_utc(&z, t, ZONE_LAST));
    }
    assert_true(taken > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_calendar_counts_every_day_of_800_years),
        cmocka_unit_test(weekdays_begin_with_monday_also_before_1970),
        cmocka_unit_test(rules_are_read_in_full),
        cmocka_unit_test(rules_against_the_grammar_are_refused),
        cmocka_unit_test(rules_change_on_the_day_they_say),
        cmocka_unit_test(daylight_saving_all_year_has_no_gap_at_new_year),
        cmocka_unit_test(the_table_goes_before_the_rule),
        cmocka_unit_test(without_a_rule_the_last_offset_stays),
        cmocka_unit_test(a_skipped_wall_time_is_the_first_instant_after_the_gap),
        cmocka_unit_test(a_repeated_wall_time_has_a_first_and_a_second_occurrence),
        cmocka_unit_test(any_zone_turns_wall_times_as_defined),
        cmocka_unit_test(a_file_cut_anywhere_is_refused),
        cmocka_unit_test(a_file_against_the_format_is_refused_and_the_reason_said),
        cmocka_unit_test(hostile_bytes_never_give_an_offset_out_of_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
