/* Calibrations: the latest of a boot, and which one was in force for an attempt. */
#include "tests/unit/store/unit.h"

#include <errno.h>
#include <math.h>

#include "store/calibrations.h"

static void put(struct unit *u, const char *id, const char *boot, const char *document)
{
    const struct store_calibration c = {
        .id = id,
        .boot = boot,
        .document = document,
        .form = CALIBRATION_QUICK,
        .wall_ms = 5,
        .clock_step_ns = 29,
        .figures = {{.measure = MEASURE_PROTOCOL, .noise_floor = 0.01, .floor_mad_ns = 3},
                    {.measure = MEASURE_PROCESS, .noise_floor = NAN}}};
    ok(u, store_calibration_put(u->s, &c, &u->e));
}

static const char *latest(struct unit *u, const char *boot)
{
    const char *document;
    int rc = store_calibration_latest(u->s, boot, &u->arena, &document, &u->e);
    assert_true(rc == 0 || rc == STORE_NONE);
    return document;
}

static const char *in_force(struct unit *u, const char *attempt)
{
    const char *document;
    int rc = store_attempt_calibration(u->s, attempt, &u->arena, &document, &u->e);
    assert_true(rc == 0 || rc == STORE_NONE);
    return document;
}

static void the_latest_of_a_boot_holds_for_it_alone(void **ctx)
{
    struct unit *u = *ctx;
    unit_boot(u);
    assert_null(latest(u, UNIT_BOOT));
    put(u, "b", UNIT_BOOT, "{\"n\":1}");
    put(u, "a", UNIT_BOOT, "{\"n\":2}"); /* by order of making, not of ids */
    assert_string_equal(latest(u, UNIT_BOOT), "{\"n\":2}");
    assert_null(latest(u, "another"));
    unit_reopen(u);
    assert_string_equal(latest(u, UNIT_BOOT), "{\"n\":2}");
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM calibration_figures"), 4);
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM calibration_figures"
                                        " WHERE measure = 'process' AND noise_floor IS NULL"),
                     2);
}

static void an_attempt_keeps_the_one_that_it_began_with(void **ctx)
{
    struct unit *u = *ctx;
    const char *attempt = unit_attempt(u);
    ok(u, store_attempt_calibrate(u->s, attempt, UNIT_BOOT, &u->e)); /* there is none */
    assert_null(in_force(u, attempt));
    put(u, "a", UNIT_BOOT, "{\"n\":1}");
    ok(u, store_attempt_calibrate(u->s, attempt, "another", &u->e));
    assert_null(in_force(u, attempt));
    ok(u, store_attempt_calibrate(u->s, attempt, UNIT_BOOT, &u->e));
    put(u, "b", UNIT_BOOT, "{\"n\":2}");
    assert_string_equal(in_force(u, attempt), "{\"n\":1}");
    refused(u, store_attempt_calibrate(u->s, attempt, UNIT_BOOT, &u->e), -EINVAL,
            "store.constraint");
    assert_string_equal(in_force(u, attempt), "{\"n\":1}");
}

static void a_boot_that_nobody_knows_and_a_second_one_of_an_id_are_refused(void **ctx)
{
    struct unit *u = *ctx;
    unit_boot(u);
    put(u, "a", UNIT_BOOT, "{}");
    struct store_calibration c = {.id = "b", .boot = "another", .document = "{}"};
    refused(u, store_calibration_put(u->s, &c, &u->e), -EINVAL, "store.constraint");
    c = (struct store_calibration){.id = "a", .boot = UNIT_BOOT, .document = "{}"};
    refused(u, store_calibration_put(u->s, &c, &u->e), -EINVAL, "store.constraint");
    /* Both measures are one: the figures of the second are refused, and so is the whole. */
    c.id = "c";
    refused(u, store_calibration_put(u->s, &c, &u->e), -EINVAL, "store.constraint");
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM calibrations"), 1);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, unit_setup, unit_teardown)
    const struct CMUnitTest tests[] = {
        T(the_latest_of_a_boot_holds_for_it_alone),
        T(an_attempt_keeps_the_one_that_it_began_with),
        T(a_boot_that_nobody_knows_and_a_second_one_of_an_id_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
