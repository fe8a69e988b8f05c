/* The small text forms: base 64 and durations. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "proto/form/base64.h"
#include "proto/form/duration.h"

static void base64_writes_the_vectors_of_its_rfc(void **state)
{
    static const char *const rows[][2] = {
        {"", ""},
        {"f", "Zg=="},
        {"fo", "Zm8="},
        {"foo", "Zm9v"},
        {"foob", "Zm9vYg=="},
        {"fooba", "Zm9vYmE="},
        {"foobar", "Zm9vYmFy"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct buf text = {0}, back = {0};
        base64_encode(&text, rows[i][0], strlen(rows[i][0]));
        assert_string_equal(buf_str(&text), rows[i][1]);
        assert_int_equal(base64_decode(rows[i][1], strlen(rows[i][1]), &back), 0);
        assert_string_equal(buf_str(&back), rows[i][0]);
        buf_deinit(&text);
        buf_deinit(&back);
    }
}

static void base64_reads_back_every_length(void **state)
{
    /* Lengths around one step of the coder (3 * 2^18 bytes) too. */
    static const size_t steps[] = {786431, 786432, 786433, 1600000};
    unsigned char *data = mem_alloc(1600000);
    for (size_t i = 0; i < 1600000; i++)
        data[i] = (unsigned char)(i * 2654435761u >> 13);
    for (size_t i = 0; i < 100 + ARRAY_LEN(steps); i++) {
        size_t n = i < 100 ? i : steps[i - 100];
        struct buf text = {0}, back = {0};
        base64_encode(&text, data, n);
        assert_int_equal(text.len, (n + 2) / 3 * 4);
        assert_int_equal(base64_decode(buf_str(&text), text.len, &back), 0);
        assert_int_equal(back.len, n);
        assert_memory_equal(buf_str(&back), data, n);
        buf_deinit(&text);
        buf_deinit(&back);
    }
    free(data);
}

static void base64_refuses_every_other_form(void **state)
{
    static const char *const rows[] = {
        "Zg",
        "Zg=",
        "Z===",
        "====",
        "=",
        "Zm9vZg=",
        "Zg==Zg==",
        "Z=g=",
        " Zg==",
        "Zg==\n",
        "Zm9\n",
        "Zm9-",
        "Zm9_",
        "Zh==",
        "Zm9=",
        "Zm9v====",
        "\xff\xff\xff\xff",
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct buf out = {0};
        buf_puts(&out, "kept");
        if (base64_decode(rows[i], strlen(rows[i]), &out) != -EINVAL)
            fail_msg("accepted %s", rows[i]);
        assert_string_equal(buf_str(&out), "kept");
        buf_deinit(&out);
    }
}

static void durations_are_read_and_written_exactly(void **state)
{
    static const struct {
        const char *text;
        int64_t ms;
        const char *again;
    } rows[] = {
        {"0s", 0, "0s"},
        {"0ms", 0, "0s"},
        {"1ms", 1, "1ms"},
        {"250ms", 250, "250ms"},
        {"1000ms", 1000, "1s"},
        {"90s", 90000, "90s"},
        {"60s", 60000, "1m"},
        {"10m", 600000, "10m"},
        {"120m", 7200000, "2h"},
        {"36h", 129600000, "36h"},
        {"366d", DURATION_MAX_MS, "366d"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int64_t ms = -1;
        char text[DURATION_TEXT];
        assert_true(duration_parse(rows[i].text, &ms));
        assert_true(ms == rows[i].ms);
        assert_string_equal(duration_text(ms, text), rows[i].again);
        assert_true(duration_parse(text, &ms));
        assert_true(ms == rows[i].ms);
    }
}

static void other_durations_are_refused(void **state)
{
    static const char *const rows[] = {"",
                                       "10",
                                       "m",
                                       "10 m",
                                       " 10m",
                                       "10m ",
                                       "-1s",
                                       "+1s",
                                       "1.5h",
                                       "1h30m",
                                       "10M",
                                       "10min",
                                       "367d",
                                       "1e3s",
                                       "99999999999999999999999s",
                                       "31622400001ms"};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int64_t ms = 42;
        if (duration_parse(rows[i], &ms))
            fail_msg("accepted %s", rows[i]);
        assert_true(ms == 42);
    }
}

static void durations_for_people_have_two_units(void **state)
{
    static const struct {
        int64_t ms;
        const char *text;
    } rows[] = {
        {-5, "0s"},         {0, "0s"},           {1, "1ms"},          {999, "999ms"},
        {1000, "1s"},       {59999, "59s"},      {60000, "1m 0s"},    {590000, "9m 50s"},
        {3600000, "1h 0m"}, {11100000, "3h 5m"}, {86400000, "1d 0h"}, {183600000, "2d 3h"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char text[DURATION_TEXT];
        assert_string_equal(duration_format(rows[i].ms, text), rows[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(base64_writes_the_vectors_of_its_rfc),
        cmocka_unit_test(base64_reads_back_every_length),
        cmocka_unit_test(base64_refuses_every_other_form),
        cmocka_unit_test(durations_are_read_and_written_exactly),
        cmocka_unit_test(other_durations_are_refused),
        cmocka_unit_test(durations_for_people_have_two_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
