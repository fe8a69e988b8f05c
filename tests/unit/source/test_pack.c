/* The pack: one set of files, one byte stream; everything else is refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/digest.h"
#include "base/mem.h"
#include "proto/evidence/pack.h"

#define HEAD "aurabench-suite-pack 1\n"

struct bytes {
    const char *data;
    size_t len;
};
#define BYTES(text)                                                                                \
    {                                                                                              \
        (text), sizeof(text) - 1                                                                   \
    }
#define FILE_(path)                                                                                \
    path "\0"                                                                                      \
         "100644\0"                                                                                \
         "0\0"

static void three_files(struct pack_entry out[3])
{
    out[0] = (struct pack_entry){"suite.json", false, "{}", 2};
    out[1] = (struct pack_entry){"bin/run", true, "#!\n", 3};
    out[2] = (struct pack_entry){"bin-old", false, "", 0};
}

static void the_layout_is_exactly_this(void **state)
{
    static const char expected[] = HEAD "bin-old\0"
                                        "100644\0"
                                        "0\0"
                                        "bin/run\0"
                                        "100755\0"
                                        "3\0"
                                        "#!\n"
                                        "suite.json\0"
                                        "100644\0"
                                        "2\0"
                                        "{}";
    CLEANUP(buf_deinit) struct buf out = {0};
    struct pack_entry files[3];

    three_files(files);
    assert_int_equal(pack_write(files, 3, &out, NULL), 0);
    assert_int_equal(out.len, sizeof expected - 1);
    assert_memory_equal(out.data, expected, out.len);
}

static void the_order_of_the_entries_does_not_matter(void **state)
{
    CLEANUP(buf_deinit) struct buf one = {0}, two = {0};
    struct pack_entry files[3];

    three_files(files);
    assert_int_equal(pack_write(files, 3, &one, NULL), 0);
    struct pack_entry turned[] = {files[2], files[0], files[1]};
    assert_int_equal(pack_write(turned, 3, &two, NULL), 0);
    assert_int_equal(one.len, two.len);
    assert_memory_equal(one.data, two.data, one.len);
}

struct collected {
    struct pack_entry items[64];
    size_t n;
    int answer;
};

static int collect(void *ctx, const struct pack_entry *file)
{
    struct collected *c = ctx;

    assert_true(c->n < 64);
    c->items[c->n++] = *file;
    return c->answer;
}

static void reading_gives_back_what_was_written(void **state)
{
    CLEANUP(buf_deinit) struct buf out = {0};
    struct pack_entry files[3];
    struct collected got = {0};

    three_files(files);
    assert_int_equal(pack_write(files, 3, &out, NULL), 0);
    assert_int_equal(pack_read(out.data, out.len, collect, &got, NULL), 0);
    assert_int_equal(got.n, 3);
    assert_string_equal(got.items[1].path, "bin/run");
    assert_true(got.items[1].executable);
    assert_int_equal(got.items[1].len, 3);
    assert_memory_equal(got.items[1].data, "#!\n", 3);
    assert_false(got.items[2].executable);
}

static void the_callback_ends_the_reading(void **state)
{
    CLEANUP(buf_deinit) struct buf out = {0};
    struct pack_entry files[3];
    struct collected got = {.answer = 7};

    three_files(files);
    assert_int_equal(pack_write(files, 3, &out, NULL), 0);
    assert_int_equal(pack_read(out.data, out.len, collect, &got, NULL), 7);
    assert_int_equal(got.n, 1);
}

static void bad_paths_are_refused_by_the_writer(void **state)
{
    char longest[PACK_PATH_MAX + 2];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    const char *const bad[] = {"",          "/etc/passwd", "../up",   "a/../b",
                               "a/./b",     ".",           "a//b",    "a/",
                               "tab\there", "line\nbreak", "del\x7f", "latin\xe9",
                               "cut\xc3",   ".git/config", "a/.git",  longest};

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        CLEANUP(buf_deinit) struct buf out = {0};
        struct pack_entry file = {bad[i], false, "", 0};
        struct err e = {0};
        assert_int_equal(pack_write(&file, 1, &out, &e), -EINVAL);
        assert_string_equal(e.code, "suite.pack_bad");
        assert_int_equal(out.len, 0);
    }
    longest[PACK_PATH_MAX] = '\0';
    const char *const good[] = {"a b", "ü/ñ.py", ".gitattributes", "..a", longest};
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        assert_int_equal(pack_check_path(good[i], NULL), 0);
}

static void conflicts_are_refused_by_the_writer(void **state)
{
    struct pack_entry twice[] = {{"a", false, "", 0}, {"a", true, "", 0}};
    /* "a-b" sorts between the file and the folder */
    struct pack_entry both[] = {
        {"a", false, "", 0}, {"a-b", false, "", 0}, {"a/b/c", false, "", 0}};
    CLEANUP(buf_deinit) struct buf out = {0};

    assert_int_equal(pack_write(twice, 2, &out, NULL), -EINVAL);
    assert_int_equal(pack_write(both, 3, &out, NULL), -EINVAL);
    assert_int_equal(out.len, 0);
}

static void the_limits_are_exact(void **state)
{
    const size_t frame = strlen(HEAD) + strlen("a") + 1 + 7 + strlen("67108840") + 1;
    CLEANUP(mem_freep) char *data = mem_alloc(PACK_BYTES_MAX);
    CLEANUP(buf_deinit) struct buf out = {0};
    struct pack_entry file = {"a", false, data, PACK_BYTES_MAX - frame};

    assert_int_equal(pack_write(&file, 1, &out, NULL), 0);
    assert_int_equal(out.len, PACK_BYTES_MAX);
    assert_int_equal(pack_read(out.data, out.len, NULL, NULL, NULL), 0);
    file.len++;
    assert_int_equal(pack_write(&file, 1, &out, NULL), -EINVAL);
    buf_putc(&out, 'x');
    assert_int_equal(pack_read(out.data, out.len, NULL, NULL, NULL), -EINVAL);
}

static void too_many_files_are_refused(void **state)
{
    const size_t n = PACK_FILES_MAX + 1;
    CLEANUP(mem_freep) struct pack_entry *files = mem_realloc_array(NULL, n, sizeof *files);
    CLEANUP(mem_freep) char *names = mem_alloc(n * 8);
    CLEANUP(buf_deinit) struct buf out = {0};

    for (size_t i = 0; i < n; i++) {
        (void)snprintf(names + 8 * i, 8, "f%05zu", i);
        files[i] = (struct pack_entry){names + 8 * i, false, "", 0};
    }
    assert_int_equal(pack_write(files, n - 1, &out, NULL), 0);
    assert_int_equal(pack_read(out.data, out.len, NULL, NULL, NULL), 0);
    buf_add(&out, FILE_("z"), sizeof FILE_("z") - 1);
    assert_int_equal(pack_read(out.data, out.len, NULL, NULL, NULL), -EINVAL);
    assert_int_equal(pack_write(files, n, &out, NULL), -EINVAL);
}

static void a_hostile_pack_is_refused_before_any_file_is_seen(void **state)
{
    static const struct bytes bad[] = {
        BYTES(""),
        BYTES("aurabench-suite-pack 2\n"),
        BYTES("aurabench-suite-pack 1"),
        BYTES(HEAD FILE_("b") FILE_("a")),
        BYTES(HEAD FILE_("a") FILE_("a")),
        BYTES(HEAD FILE_("a") FILE_("a-b") FILE_("a/b")),
        BYTES(HEAD FILE_("ok") FILE_("../x")),
        BYTES(HEAD FILE_("/x")),
        BYTES(HEAD FILE_("a/../../x")),
        BYTES(HEAD FILE_(".git/hooks/post-checkout")),
        BYTES(HEAD FILE_("a\nb")),
        BYTES(HEAD FILE_("")),
        BYTES(HEAD "a\0"
                   "120000\0"
                   "0\0"),
        BYTES(HEAD "a\0"
                   "100600\0"
                   "0\0"),
        BYTES(HEAD "a\0"
                   "100644\0"
                   "00\0"),
        BYTES(HEAD "a\0"
                   "100644\0"
                   "007\0"
                   "1234567"),
        BYTES(HEAD "a\0"
                   "100644\0"
                   "+1\0"
                   "1"),
        BYTES(HEAD "a\0"
                   "100644\0"
                   "\0"),
        BYTES(HEAD "a\0"
                   "100644\0"
                   "2\0"
                   "1"),
        BYTES(HEAD "a\0"
                   "100644\0"
                   "99999999999999999999\0"
                   "1"),
        BYTES(HEAD "a\0"
                   "100644\0"
                   "67108865\0"
                   "1"),
        BYTES(HEAD FILE_("a") "rest"),
        BYTES(HEAD "a"),
        BYTES(HEAD "a\0"
                   "100644"),
    };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct collected got = {0};
        struct err e = {0};
        assert_int_equal(pack_read(bad[i].data, bad[i].len, collect, &got, &e), -EINVAL);
        assert_string_equal(e.code, "suite.pack_bad");
        assert_int_equal(got.n, 0);
    }
}

/* Whatever the reader accepts is the one form of its files. */
static void what_is_accepted_is_canonical(void **state)
{
    unsigned seed = (unsigned)time(NULL);
    CLEANUP(buf_deinit) struct buf pack = {0};
    struct pack_entry files[3];
    size_t accepted = 0;

    print_message("seed %u\n", seed);
    srand(seed);
    three_files(files);
    assert_int_equal(pack_write(files, 3, &pack, NULL), 0);
    for (int round = 0; round < 20000; round++) {
        CLEANUP(buf_deinit) struct buf changed = {0}, again = {0};
        struct collected got = {0};
        buf_add(&changed, pack.data, pack.len);
        for (int k = rand() % 3; k >= 0; k--)
            changed.data[(size_t)rand() % changed.len] =
                (char)(rand() % 4 ? rand() : "\0/01"[rand() % 4]);
        if (rand() % 4 == 0)
            changed.len = (size_t)rand() % changed.len;
        if (pack_read(changed.data, changed.len, collect, &got, NULL) != 0)
            continue;
        accepted++;
        assert_int_equal(pack_write(got.items, got.n, &again, NULL), 0);
        assert_int_equal(again.len, changed.len);
        assert_memory_equal(again.data, changed.data, again.len);
    }
    assert_true(accepted > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_layout_is_exactly_this),
        cmocka_unit_test(the_order_of_the_entries_does_not_matter),
        cmocka_unit_test(reading_gives_back_what_was_written),
        cmocka_unit_test(the_callback_ends_the_reading),
        cmocka_unit_test(bad_paths_are_refused_by_the_writer),
        cmocka_unit_test(conflicts_are_refused_by_the_writer),
        cmocka_unit_test(the_limits_are_exact),
        cmocka_unit_test(too_many_files_are_refused),
        cmocka_unit_test(a_hostile_pack_is_refused_before_any_file_is_seen),
        cmocka_unit_test(what_is_accepted_is_canonical),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
