/* When a job may run: each rule alone, and which one is named when several hold it. Zone: none but
 * UTC, the offsets of others are tests of core/calendar/window. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/mem.h"
#include "core/calendar/schedule.h"
#include "core/session.h"

#define HOUR_MS ((int64_t)3600 * 1000)
#define DAY_MS (24 * HOUR_MS)
#define FRIDAY (10004 * DAY_MS) /* 1997-05-23 */

static const struct zone utc = {0};
static const struct window night = {
    .days = 0x7f, .from_min = 60, .to_min = 300, .zone = "UTC"}; /* 01:00 to 05:00 */

static struct schedule_result ask(struct schedule s, int64_t t_ms)
{
    struct schedule_result r;
    s.zone = &utc;
    schedule_ask(&s, t_ms, &r);
    return r;
}

static struct schedule plain(void)
{
    return (struct schedule){.settled_ms = -1};
}

static void a_job_without_rules_runs(void **ctx)
{
    (void)ctx;
    struct schedule_result r = ask(plain(), 5);
    assert_int_equal(r.answer, SCHEDULE_RUN);
    assert_int_equal(r.at_ms, 5);
    assert_string_equal(r.night, "");
}

static void not_before_holds_until_its_instant(void **ctx)
{
    (void)ctx;
    struct schedule s = plain();
    s.not_before_ms = 100;
    assert_int_equal(ask(s, 99).answer, SCHEDULE_NOT_BEFORE);
    assert_int_equal(ask(s, 99).at_ms, 100);
    assert_int_equal(ask(s, 100).answer, SCHEDULE_RUN);
}

static void a_deadline_ends_it_from_its_instant_on(void **ctx)
{
    (void)ctx;
    struct schedule s = plain();
    s.deadline_ms = 100;
    s.not_before_ms = 500;
    assert_int_equal(ask(s, 99).answer, SCHEDULE_NOT_BEFORE);
    assert_int_equal(ask(s, 100).answer, SCHEDULE_EXPIRED);
    assert_int_equal(ask(s, 100).at_ms, 100);
}

static void a_window_says_the_night_or_when_it_opens(void **ctx)
{
    (void)ctx;
    struct schedule s = plain();
    s.window = &night;
    struct schedule_result r = ask(s, FRIDAY);
    assert_int_equal(r.answer, SCHEDULE_WINDOW);
    assert_int_equal(r.at_ms, FRIDAY + HOUR_MS);
    r = ask(s, FRIDAY + HOUR_MS);
    assert_int_equal(r.answer, SCHEDULE_RUN);
    assert_string_equal(r.night, "1997-05-23");
    r = ask(s, FRIDAY + 5 * HOUR_MS);
    assert_int_equal(r.answer, SCHEDULE_WINDOW);
    assert_int_equal(r.at_ms, FRIDAY + DAY_MS + HOUR_MS);
}

static void a_night_is_used_once(void **ctx)
{
    (void)ctx;
    struct schedule s = plain();
    s.window = &night;
    s.last_night = "1997-05-23";
    struct schedule_result r = ask(s, FRIDAY + 2 * HOUR_MS);
    assert_int_equal(r.answer, SCHEDULE_NIGHT);
    assert_int_equal(r.at_ms, FRIDAY + DAY_MS + HOUR_MS);
    assert_string_equal(r.night, "");
    assert_int_equal(ask(s, FRIDAY + DAY_MS + HOUR_MS).answer, SCHEDULE_RUN);
}

static void a_boot_is_waited_for_then_its_settling_then_the_window(void **ctx)
{
    (void)ctx;
    struct schedule s = plain();
    s.settled_ms = SCHEDULE_BOOT_UNKNOWN;
    assert_int_equal(ask(s, FRIDAY).answer, SCHEDULE_BOOT);
    assert_int_equal(ask(s, FRIDAY).at_ms, WINDOW_NEVER);
    s.settled_ms = FRIDAY + 10;
    assert_int_equal(ask(s, FRIDAY).answer, SCHEDULE_SETTLE);
    assert_int_equal(ask(s, FRIDAY).at_ms, FRIDAY + 10);
    assert_int_equal(ask(s, FRIDAY + 10).answer, SCHEDULE_RUN);
    s.window = &night;
    assert_int_equal(ask(s, FRIDAY).answer, SCHEDULE_WINDOW);
    s.settled_ms = FRIDAY + 2 * HOUR_MS; /* inside the window: settling is what it waits for */
    assert_int_equal(ask(s, FRIDAY).answer, SCHEDULE_SETTLE);
    assert_int_equal(ask(s, FRIDAY).at_ms, FRIDAY + 2 * HOUR_MS);
}

static void post_reboot_is_a_boot_since_the_opening_and_settled(void **ctx)
{
    (void)ctx;
    const struct boot_identity boot = {.id = "b", .boot_wall_ms = 1000}, unknown = {"b", -1};
    assert_false(session_is_post_reboot("b", &boot, 0, 5000));
    assert_false(session_is_post_reboot("a", &boot, 500, 1499));
    assert_true(session_is_post_reboot("a", &boot, 500, 1500));
    assert_false(session_is_post_reboot("a", &unknown, 0, 5000));
    assert_false(session_is_post_reboot(NULL, &boot, 0, 5000));
    assert_int_equal(session_settled_ms("b", &boot, 0), -1);
    assert_string_equal(session_boot_label(true), "post-reboot");
    assert_string_equal(session_boot_label(false), "quiet host, not post-reboot");
}

static void days_read_back_as_they_were_written(void **ctx)
{
    (void)ctx;
    struct arena a = {0};
    for (unsigned days = 1; days < 0x80; days++) {
        char text[WINDOW_DAYS_TEXT];
        struct window w;
        struct err e = {0};
        assert_int_equal(window_parse(&a, "window", window_days_text(days, text), "01:00", "05:00",
                                      "UTC", &w, &e),
                         0);
        assert_int_equal(w.days, days);
        assert_true(strlen(text) < sizeof text);
    }
    arena_deinit(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_without_rules_runs),
        cmocka_unit_test(not_before_holds_until_its_instant),
        cmocka_unit_test(a_deadline_ends_it_from_its_instant_on),
        cmocka_unit_test(a_window_says_the_night_or_when_it_opens),
        cmocka_unit_test(a_night_is_used_once),
        cmocka_unit_test(a_boot_is_waited_for_then_its_settling_then_the_window),
        cmocka_unit_test(post_reboot_is_a_boot_since_the_opening_and_settled),
        cmocka_unit_test(days_read_back_as_they_were_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
