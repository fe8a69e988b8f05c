/* SHA256SUMS: what is in it, in which order, and that the real tools read every name in it. */
#include "folder.h"

#include <sys/stat.h>

#include "base/digest.h"
#include "evidence/manifest.h"

#define EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

static char *manifest(const char *dir)
{
    struct buf out = {0};
    struct err e = {0};
    if (manifest_of_dir(dir, &out, &e))
        fail_msg("%s: %s", e.code, e.text);
    return buf_take(&out);
}

static void real_tools_accept_every_name(void **state)
{
    static const char *const names[] = {
        "plain",        "with space",   " leading",       "trailing ",
        "new\nline",    "back\\slash",  "\\leading",      "back\\nslash",
        "*star",        "?question",    " *both",         "-dash",
        "--help",       "#hash",        "'quote\"",       "tab\there",
        "inval\xff.id", "\xc3\xbc.ber", "^caret",         "a/b/c",
        "a-b",          "a.b",          "semi;colon&",    "SHA256 (x) = ",
        "\x1b[31m",     "%s%n",         "deep/new\nline", "deep/SHA256SUMS"};
    char *dir = unit_folder();
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        folder_put(dir, names[i], names[i]);
    CLEANUP(mem_freep) char *text = manifest(dir);
    folder_put(dir, MANIFEST_NAME, text);
    folder_expect_sums_pass(dir);
    folder_remove(dir);
}

static void a_changed_file_fails_the_real_tool(void **state)
{
    static const char *const check[] = {"sha256sum", "-c", "SHA256SUMS", NULL};
    CLEANUP(buf_deinit) struct buf out = {0};
    char *dir = unit_folder();
    folder_put(dir, "new\nline", "one");
    CLEANUP(mem_freep) char *text = manifest(dir);
    folder_put(dir, MANIFEST_NAME, text);
    folder_put(dir, "new\nline", "two");
    int status = folder_run(dir, check, &out);
    folder_remove(dir);
    if (status < 0)
        skip();
    assert_int_equal(status, 1);
}

static void lines_are_sorted_by_the_bytes_of_the_whole_path(void **state)
{
    char *dir = unit_folder();
    static const char *const names[] = {"a/b", "a-b", "a", "B", "b"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strcmp(names[i], "a") != 0)
            folder_put(dir, names[i], "");
    CLEANUP(mem_freep) char *text = manifest(dir);
    assert_string_equal(text, EMPTY "  B\n" EMPTY "  a-b\n" EMPTY "  a/b\n" EMPTY "  b\n");
    folder_remove(dir);
}

static void it_covers_all_but_itself_and_its_signature(void **state)
{
    char *dir = unit_folder();
    folder_put(dir, MANIFEST_NAME, "x");
    folder_put(dir, MANIFEST_SIGNATURE, "x");
    folder_put(dir, "initial-SHA256SUMS", "");
    folder_put(dir, "sub/" MANIFEST_NAME, "");
    CLEANUP(mem_freep) char *text = manifest(dir);
    assert_string_equal(text, EMPTY "  initial-SHA256SUMS\n" EMPTY "  sub/SHA256SUMS\n");
    folder_remove(dir);
}

static void names_are_escaped_as_the_tools_write_them(void **state)
{
    CLEANUP(buf_deinit) struct buf out = {0};
    assert_int_equal(manifest_line(&out, "a\nb\\c", EMPTY, NULL), 0);
    assert_string_equal(buf_str(&out), "\\" EMPTY "  a\\nb\\\\c\n");
}

static void a_link_is_refused(void **state)
{
    CLEANUP(buf_deinit) struct buf out = {0};
    struct err e = {0};
    char *dir = unit_folder();
    CLEANUP(mem_freep) char *link = file_join(dir, "link");
    assert_int_equal(symlink("/etc/passwd", link), 0);
    assert_int_not_equal(manifest_of_dir(dir, &out, &e), 0);
    assert_string_equal(e.code, "evidence.link");
    assert_string_equal(e.field, "link");
    folder_remove(dir);
}

static void a_pipe_is_refused(void **state)
{
    CLEANUP(buf_deinit) struct buf out = {0};
    struct err e = {0};
    char *dir = unit_folder();
    CLEANUP(mem_freep) char *pipe_path = file_join(dir, "pipe");
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    assert_int_not_equal(manifest_of_dir(dir, &out, &e), 0);
    assert_string_equal(e.code, "evidence.special");
    folder_remove(dir);
}

static void names_that_cannot_stand_in_it_are_refused(void **state)
{
    static const char *const bad[] = {"", "/etc/passwd", "../up", "a//b", "a/./b", "end\r", "a\rb"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        CLEANUP(buf_deinit) struct buf out = {0};
        struct err e = {0};
        assert_int_not_equal(manifest_line(&out, bad[i], EMPTY, &e), 0);
        assert_string_equal(e.code, "evidence.name");
        assert_int_equal(out.len, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_tools_accept_every_name),
        cmocka_unit_test(a_changed_file_fails_the_real_tool),
        cmocka_unit_test(lines_are_sorted_by_the_bytes_of_the_whole_path),
        cmocka_unit_test(it_covers_all_but_itself_and_its_signature),
        cmocka_unit_test(names_are_escaped_as_the_tools_write_them),
        cmocka_unit_test(a_link_is_refused),
        cmocka_unit_test(a_pipe_is_refused),
        cmocka_unit_test(names_that_cannot_stand_in_it_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
