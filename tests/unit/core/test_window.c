#include "unit.h"

#include "base/mem.h"
#include "core/calendar/civil.h"
#include "core/calendar/window.h"

#include "prng.h"
#include "tzif.h"

#define LONDON "GMT0BST,M3.5.0/1,M10.5.0"
#define HAVANA "CST5CDT,M3.2.0/0,M11.1.0/1"
#define MINUTE_MS ((int64_t)60000)
#define AT(...) (UTC(__VA_ARGS__) * 1000)
#define DAILY 0x7fu

static const struct {
    const char *text;
    unsigned days;
} day_rows[] = {
    {"daily", 0x7f},   {"mon", 0x01},     {"sun", 0x40},         {"mon-fri", 0x1f},
    {"sat,sun", 0x60}, {"fri-mon", 0x71}, {"mon-wed,sat", 0x27}, {"tue,thu,sat-sun", 0x6a},
    {"sun-mon", 0x41}, {"sun-sat", 0x7f},
};

static void days_are_names_and_ranges_of_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(day_rows); i++) {
        CLEANUP(arena_deinit) struct arena a = {0};
        struct err e = {0};
        struct window w;
        if (window_parse(&a, "window", day_rows[i].text, "01:00", "05:30", "Europe/London", &w, &e))
            fail_msg("%s", e.text);
        if (w.days != day_rows[i].days)
            fail_msg("%s gives %x", day_rows[i].text, w.days);
        assert_int_equal(w.from_min, 60);
        assert_int_equal(w.to_min, 330);
        assert_string_equal(w.zone, "Europe/London");
    }
}

static void members_against_their_rule_are_refused_by_name(void **state)
{
    (void)state;
    static const char long_zone[] =
        "A234567890123456789012345678901234567890123456789012345678901234X";
    static const struct {
        const char *days, *from, *to, *zone, *field;
    } rows[] = {
        {"", "01:00", "05:00", "UTC", "window.days"},
        {"Mon", "01:00", "05:00", "UTC", "window.days"},
        {"monday", "01:00", "05:00", "UTC", "window.days"},
        {"mon,", "01:00", "05:00", "UTC", "window.days"},
        {",mon", "01:00", "05:00", "UTC", "window.days"},
        {"mon-", "01:00", "05:00", "UTC", "window.days"},
        {"mon-fr", "01:00", "05:00", "UTC", "window.days"},
        {"mon-tue-wed", "01:00", "05:00", "UTC", "window.days"},
        {"mon, tue", "01:00", "05:00", "UTC", "window.days"},
        {"mon,daily", "01:00", "05:00", "UTC", "window.days"},
        {"mon,mon", "01:00", "05:00", "UTC", "window.days"},
        {"mon-fri,wed", "01:00", "05:00", "UTC", "window.days"},
        {"mon-mon", "01:00", "05:00", "UTC", "window.days"},
        {"daily", "1:00", "05:00", "UTC", "window.from"},
        {"daily", "24:00", "05:00", "UTC", "window.from"},
        {"daily", "", "05:00", "UTC", "window.from"},
        {"daily", "01:00", "05:60", "UTC", "window.to"},
        {"daily", "01:00", "0500 ", "UTC", "window.to"},
        {"daily", "01:00", "05:00:00", "UTC", "window.to"},
        {"daily", "01:00", "-1:00", "UTC", "window.to"},
        {"daily", "01:00", "05:00", "", "window.zone"},
        {"daily", "01:00", "05:00", long_zone, "window.zone"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        CLEANUP(arena_deinit) struct arena a = {0};
        struct err e = {0};
        struct window w;
        assert_true(window_parse(&a, "window", rows[i].days, rows[i].from, rows[i].to, rows[i].zone,
                                 &w, &e) < 0);
        assert_string_equal(e.code, "window.bad");
        assert_string_equal(e.field, rows[i].field);
        assert_non_null(strstr(e.text, rows[i].field));
    }
}

static struct zone rule_zone(struct arena *a, const char *rule)
{
    return tzif_zone(a, 0, NULL, 0, rule);
}

static struct window window_of(unsigned days, int from_min, int to_min)
{
    return (struct window){days, from_min, to_min, "Test/Zone"};
}

/* The night that is open at opens_ms is that one, and it is shut right before and after. */
static void assert_night(const struct window *w, const struct zone *z, int64_t day,
                         int64_t opens_ms, int64_t closes_ms)
{
    struct window_night n;
    assert_true(window_night(w, z, opens_ms, &n));
    assert_int_equal(n.day, day);
    assert_int_equal(n.opens_ms, opens_ms);
    assert_int_equal(n.closes_ms, closes_ms);
    assert_true(window_contains(w, z, closes_ms - 1));
    assert_false(window_contains(w, z, opens_ms - 1));
    assert_false(window_contains(w, z, closes_ms));
    assert_int_equal(window_next_open(w, z, opens_ms - 1), opens_ms);
}

static void a_window_is_open_from_its_first_instant_to_before_its_last(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    struct zone z = rule_zone(&a, "UTC0");
    struct window w = window_of(0x1f, 60, 300);
    /* 1 March 2024 was a Friday. */
    assert_night(&w, &z, civil_days(2024, 3, 1), AT(2024, 3, 1, 1, 0), AT(2024, 3, 1, 5, 0));
    assert_false(window_contains(&w, &z, AT(2024, 3, 2, 2, 0)));
    assert_int_equal(window_next_open(&w, &z, AT(2024, 3, 1, 1, 0)), AT(2024, 3, 4, 1, 0));
    /* Before 1970 too. */
    assert_night(&w, &z, civil_days(1969, 12, 31), AT(1969, 12, 31, 1, 0), AT(1969, 12, 31, 5, 0));
}

static void a_night_belongs_to_the_day_on_which_it_begins(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    struct zone z = rule_zone(&a, "<+0545>-5:45");
    struct window friday = window_of(1u << 4, 22 * 60, 6 * 60);
    /* Friday 22:00 in Kathmandu is 16:15 UTC; Saturday 06:00 is 00:15 UTC. */
    assert_night(&friday, &z, civil_days(2024, 3, 1), AT(2024, 3, 1, 16, 15),
                 AT(2024, 3, 2, 0, 15));
    assert_false(window_contains(&friday, &z, AT(2024, 3, 2, 17, 0)));
    assert_int_equal(window_next_open(&friday, &z, AT(2024, 3, 1, 20, 0)), AT(2024, 3, 8, 16, 15));
}

static void the_same_time_twice_is_a_whole_day(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    struct zone z = rule_zone(&a, LONDON);
    struct window sunday = window_of(1u << 6, 0, 0);
    assert_night(&sunday, &z, civil_days(2024, 3, 31), AT(2024, 3, 31, 0, 0),
                 AT(2024, 3, 31, 23, 0));
    assert_night(&sunday, &z, civil_days(2024, 10, 27), AT(2024, 10, 26, 23, 0),
                 AT(2024, 10, 28, 0, 0));
}

static void a_beginning_in_a_gap_is_the_first_instant_after_it(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    struct zone z = rule_zone(&a, LONDON), havana = rule_zone(&a, HAVANA);
    struct window w = window_of(DAILY, 90, 300), midnight = window_of(DAILY, 0, 180);
    assert_night(&w, &z, civil_days(2024, 3, 31), AT(2024, 3, 31, 1, 0), AT(2024, 3, 31, 4, 0));
    /* Havana skips midnight itself: the night is still that of the 10th. */
    assert_night(&midnight, &havana, civil_days(2024, 3, 10), AT(2024, 3, 10, 5, 0),
                 AT(2024, 3, 10, 7, 0));
}

static void an_end_in_a_gap_is_the_first_instant_after_it(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    struct zone z = rule_zone(&a, LONDON), havana = rule_zone(&a, HAVANA);
    struct window w = window_of(DAILY, 0, 90), late = window_of(DAILY, 23 * 60, 30);
    assert_night(&w, &z, civil_days(2024, 3, 31), AT(2024, 3, 31, 0, 0), AT(2024, 3, 31, 1, 0));
    assert_night(&late, &havana, civil_days(2024, 3, 9), AT(2024, 3, 10, 4, 0),
                 AT(2024, 3, 10, 5, 0));
}

static void a_window_inside_a_gap_does_not_take_place(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    struct zone z = rule_zone(&a, LONDON);
    struct window w = window_of(DAILY, 75, 105);
    for (int64_t t = AT(2024, 3, 30, 12, 0); t < AT(2024, 3, 31, 12, 0); t += MINUTE_MS)
        assert_false(window_contains(&w, &z, t));
    assert_int_equal(window_next_open(&w, &z, AT(2024, 3, 30, 12, 0)), AT(2024, 4, 1, 0, 15));
}

static void a_repeated_beginning_is_its_first_occurrence_and_a_repeated_end_its_second(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    struct zone z = rule_zone(&a, LONDON);
    struct window begins = window_of(DAILY, 90, 300), ends = window_of(DAILY, 0, 90);
    struct window both = window_of(DAILY, 70, 80), exact = window_of(DAILY, 0, 60);
    int64_t day = civil_days(2024, 10, 27);
    assert_night(&begins, &z, day, AT(2024, 10, 27, 0, 30), AT(2024, 10, 27, 5, 0));
    assert_night(&ends, &z, day, AT(2024, 10, 26, 23, 0), AT(2024, 10, 27, 1, 30));
    assert_night(&both, &z, day, AT(2024, 10, 27, 0, 10), AT(2024, 10, 27, 1, 20));
    assert_night(&exact, &z, day, AT(2024, 10, 26, 23, 0), AT(2024, 10, 27, 1, 0));
}

static void where_nights_overlap_the_one_that_opened_last_counts(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    struct zone z = rule_zone(&a, LONDON);
    struct window w = window_of(DAILY, 90, 90);
    struct window_night n;
    /* The night of the 26th lasts to the second 01:30, that of the 27th begins at the first. */
    assert_true(window_night(&w, &z, AT(2024, 10, 27, 0, 30) - 1, &n));
    assert_int_equal(n.day, civil_days(2024, 10, 26));
    assert_int_equal(n.closes_ms, AT(2024, 10, 27, 1, 30));
    assert_true(window_night(&w, &z, AT(2024, 10, 27, 0, 30), &n));
    assert_int_equal(n.day, civil_days(2024, 10, 27));
    /* Without a night of the 27th, the one of the 26th is all there is. */
    w.days = 1u << 5;
    assert_true(window_night(&w, &z, AT(2024, 10, 27, 1, 0), &n));
    assert_int_equal(n.day, civil_days(2024, 10, 26));
}

static void a_day_that_the_zone_skips_has_no_night_within_it(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    /* Apia went from 29 to 31 December 2011, from 10 hours behind UTC to 14 ahead. */
    const struct zone_change c[] = {{UTC(2011, 12, 30, 10, 0), 14 * 3600}};
    struct zone z = tzif_zone(&a, -10 * 3600, c, 1, "");
    struct window w = window_of(DAILY, 60, 300);
    assert_night(&w, &z, civil_days(2011, 12, 29), AT(2011, 12, 29, 11, 0),
                 AT(2011, 12, 29, 15, 0));
    assert_int_equal(window_next_open(&w, &z, AT(2011, 12, 29, 11, 0)), AT(2011, 12, 30, 11, 0));
    assert_night(&w, &z, civil_days(2011, 12, 31), AT(2011, 12, 30, 11, 0),
                 AT(2011, 12, 30, 15, 0));
}

static void a_zone_in_which_the_window_is_always_skipped_never_opens(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    struct zone_change c[200];
    for (size_t i = 0; i < ARRAY_LEN(c); i++)
        c[i] = (struct zone_change){(int64_t)(i / 2) * CIVIL_DAY_S + (i % 2 ? 12 * 3600 : 3600),
                                    i % 2 ? 0 : 3600};
    struct zone z = tzif_zone(&a, 0, c, ARRAY_LEN(c), "");
    struct window w = window_of(DAILY, 70, 110);
    assert_true(window_next_open(&w, &z, 0) == WINDOW_NEVER);
    assert_false(window_contains(&w, &z, 3600 * 1000));
}

static void instants_out_of_range_are_answered(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    struct zone z = rule_zone(&a, LONDON);
    struct window w = window_of(DAILY, 0, 0);
    assert_true(window_contains(&w, &z, INT64_MAX));
    assert_true(window_contains(&w, &z, INT64_MIN));
    assert_true(window_next_open(&w, &z, INT64_MIN) < 0);
    assert_true(window_next_open(&w, &z, INT64_MAX) > 0);
}

static void dates_are_written_for_people(void **state)
{
    (void)state;
    char text[WINDOW_DATE_TEXT];
    assert_string_equal(window_date_text(0, text), "1970-01-01");
    assert_string_equal(window_date_text(civil_days(2024, 2, 29), text), "2024-02-29");
}

/* A model that knows only what the clock shows, minute by minute, over three weeks, the first two
 * of them strange; nights of days before the first matter too. */
#define MODEL_DAYS 24
#define MODEL_DAYS_BEFORE 3
#define MODEL_MIN (MODEL_DAYS * 1440)

struct model {
    int64_t shown[MODEL_MIN]; /* wall minutes at each minute of UTC */
    struct {
        int64_t opens, closes; /* minutes of UTC; alike: no night */
    } nights[MODEL_DAYS_BEFORE + MODEL_DAYS];
};

static int64_t model_opens(const struct model *m, int64_t wall)
{
    int64_t u = 0;
    while (u < MODEL_MIN && m->shown[u] < wall)
        u++;
    return u;
}

static int64_t model_closes(const struct model *m, int64_t wall)
{
    int64_t u = MODEL_MIN - 1;
    while (u >= 0 && m->shown[u] > wall)
        u--;
    return u >= 0 && m->shown[u] == wall ? u : u + 1;
}

static struct zone random_zone(struct arena *a, struct prng *p)
{
    struct zone_change c[6];
    int64_t at_min = 0;
    for (size_t i = 0; i < ARRAY_LEN(c); i++) {
        at_min += 1 + (int64_t)prng_below(p, 3000);
        c[i] = (struct zone_change){at_min * 60, ((int32_t)prng_below(p, 3000) - 1500) * 60};
    }
    return tzif_zone(a, 0, c, ARRAY_LEN(c), "");
}

static void model_make(struct model *m, const struct window *w, const struct zone *z)
{
    for (int64_t u = 0; u < MODEL_MIN; u++)
        m->shown[u] = u + zone_offset_at(z, u * 60) / 60;
    for (size_t i = 0; i < ARRAY_LEN(m->nights); i++) {
        int64_t day = (int64_t)i - MODEL_DAYS_BEFORE;
        int64_t to = day * 1440 + w->to_min + (w->to_min > w->from_min ? 0 : 1440);
        bool has_night = w->days >> civil_weekday(day) & 1;
        m->nights[i].opens = has_night ? model_opens(m, day * 1440 + w->from_min) : 0;
        m->nights[i].closes = has_night ? model_closes(m, to) : 0;
    }
}

static void check_minute(const struct window *w, const struct zone *z, const struct model *m,
                         int64_t minute)
{
    int64_t want_day = INT64_MIN, want_next = WINDOW_NEVER;
    for (size_t i = 0; i < ARRAY_LEN(m->nights); i++) {
        int64_t opens = m->nights[i].opens, closes = m->nights[i].closes;
        if (opens <= minute && minute < closes)
            want_day = (int64_t)i - MODEL_DAYS_BEFORE;
        if (opens < closes && opens > minute && opens * MINUTE_MS < want_next)
            want_next = opens * MINUTE_MS;
    }
    struct window_night n;
    bool open = window_night(w, z, minute * MINUTE_MS, &n);
    assert_int_equal(open, want_day != INT64_MIN);
    if (open)
        assert_int_equal(n.day, want_day);
    assert_int_equal(window_next_open(w, z, minute * MINUTE_MS), want_next);
}

static void any_window_in_any_zone_is_what_its_clock_shows(void **state)
{
    (void)state;
    struct prng p = prng_seeded("any_window_in_any_zone_is_what_its_clock_shows");
    struct model *m = mem_alloc(sizeof *m);
    for (int round = 0; round < 60; round++) {
        CLEANUP(arena_deinit) struct arena a = {0};
        struct zone z = random_zone(&a, &p);
        struct window w = window_of(1 + (unsigned)prng_below(&p, 127), (int)prng_below(&p, 1440),
                                    (int)prng_below(&p, 1440));
        model_make(m, &w, &z);
        /* Away from the model's beginning, before which it knows nothing. */
        for (int i = 0; i < 200; i++)
            check_minute(&w, &z, m, 3 * 1440 + (int64_t)prng_below(&p, 2 * 1440));
    }
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(days_are_names_and_ranges_of_names),
        cmocka_unit_test(members_against_their_rule_are_refused_by_name),
        cmocka_unit_test(a_window_is_open_from_its_first_instant_to_before_its_last),
        cmocka_unit_test(a_night_belongs_to_the_day_on_which_it_begins),
        cmocka_unit_test(the_same_time_twice_is_a_whole_day),
        cmocka_unit_test(a_beginning_in_a_gap_is_the_first_instant_after_it),
        cmocka_unit_test(an_end_in_a_gap_is_the_first_instant_after_it),
        cmocka_unit_test(a_window_inside_a_gap_does_not_take_place),
        cmocka_unit_test(
            a_repeated_beginning_is_its_first_occurrence_and_a_repeated_end_its_second),
        cmocka_unit_test(where_nights_overlap_the_one_that_opened_last_counts),
        cmocka_unit_test(a_day_that_the_zone_skips_has_no_night_within_it),
        cmocka_unit_test(a_zone_in_which_the_window_is_always_skipped_never_opens),
        cmocka_unit_test(instants_out_of_range_are_answered),
        cmocka_unit_test(dates_are_written_for_people),
        cmocka_unit_test(any_window_in_any_zone_is_what_its_clock_shows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
