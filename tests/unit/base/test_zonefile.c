#include "unit/unit.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/files.h"
#include "base/mem.h"
#include "base/zonefile.h"

/* A root with one zone, a folder of zones, a pipe, and a file outside that no name may reach. */
struct place {
    char *root;
};

static void put(const struct place *p, const char *name, const char *text)
{
    CLEANUP(mem_freep) char *path = file_join(p->root, name);
    assert_int_equal(file_write(path, text, strlen(text), 0644, NULL), 0);
}

static int setup(void **state)
{
    struct place *p = mem_alloc(sizeof *p);
    p->root = unit_folder();
    CLEANUP(mem_freep) char *folder = file_join(p->root, "usr/share/zoneinfo/Europe");
    CLEANUP(mem_freep) char *pipe = file_join(p->root, "usr/share/zoneinfo/Pipe");
    assert_int_equal(file_mkdirs(folder, 0755, NULL), 0);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    put(p, "usr/share/zoneinfo/Europe/London", "the bytes of London");
    put(p, "usr/share/zoneinfo/GMT+0-_", "odd");
    put(p, "usr/share/secret", "no zone");
    put(p, "usr/share/zoneinfo/zone.tab", "no name of a zone");
    *state = p;
    return 0;
}

static int teardown(void **state)
{
    struct place *p = *state;
    assert_int_equal(file_rmtree(p->root, NULL), 0);
    free(p->root);
    free(p);
    return 0;
}

static void assert_read(const struct place *p, const char *name, const char *want)
{
    CLEANUP(buf_deinit) struct buf b = {0};
    struct err e = {0};
    if (zonefile_read(p->root, "window.zone", name, &b, &e))
        fail_msg("%s", e.text);
    assert_string_equal(buf_str(&b), want);
}

static void a_zone_is_found_by_its_name(void **state)
{
    assert_read(*state, "Europe/London", "the bytes of London");
    assert_read(*state, "GMT+0-_", "odd");
}

static void the_environment_plays_no_part(void **state)
{
    setenv("TZ", "Asia/Tokyo", 1);
    setenv("TZDIR", "/nowhere", 1);
    assert_read(*state, "Europe/London", "the bytes of London");
    unsetenv("TZ");
    unsetenv("TZDIR");
}

static void an_unknown_zone_is_refused_with_the_field_and_a_next_step(void **state)
{
    static const char *const names[] = {
        "Europe/Nowhere",
        "Europe",
        "Pipe",
        "Europe/London/Soho",
        "",
        "/Europe/London",
        "Europe//London",
        "Europe/London/",
        "../secret",
        "Europe/../../secret",
        "./Europe/London",
        "zone.tab",
        "Europe/London ",
        "Europe\\London",
        "Europe/Lond\303\266n",
        ":UTC",
        "~",
        "A2345678901234567890123456789012345678901234567890123456789012345",
    };
    const struct place *p = *state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        CLEANUP(buf_deinit) struct buf b = {0};
        struct err e = {0};
        if (zonefile_read(p->root, "window.zone", names[i], &b, &e) != -ENOENT)
            fail_msg("\"%s\" is not refused", names[i]);
        assert_string_equal(e.code, "window.unknown_zone");
        assert_string_equal(e.field, "window.zone");
        assert_non_null(strstr(e.text, "timedatectl list-timezones"));
        assert_int_equal(b.len, 0);
    }
}

static void a_machine_without_zones_is_told_what_to_install(void **state)
{
    const struct place *p = *state;
    CLEANUP(mem_freep) char *empty = file_join(p->root, "empty");
    CLEANUP(buf_deinit) struct buf b = {0};
    struct err e = {0};
    assert_int_equal(zonefile_read(empty, "window.zone", "Europe/London", &b, &e), -ENOENT);
    assert_string_equal(e.code, "window.unknown_zone");
    assert_non_null(strstr(e.text, "install the package tzdata"));
}

static void a_file_too_long_for_a_zone_is_refused(void **state)
{
    const struct place *p = *state;
    CLEANUP(buf_deinit) struct buf b = {0};
    struct err e = {0};
    char *text = mem_alloc(ZONEFILE_BYTES_MAX + 2);
    memset(text, 'x', ZONEFILE_BYTES_MAX + 1);
    put(p, "usr/share/zoneinfo/Huge", text);
    free(text);
    assert_int_equal(zonefile_read(p->root, "window.zone", "Huge", &b, &e), -EFBIG);
    assert_true(err_is_set(&e));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_zone_is_found_by_its_name),
        cmocka_unit_test(the_environment_plays_no_part),
        cmocka_unit_test(an_unknown_zone_is_refused_with_the_field_and_a_next_step),
        cmocka_unit_test(a_machine_without_zones_is_told_what_to_install),
        cmocka_unit_test(a_file_too_long_for_a_zone_is_refused),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
