/* Programs of the host: found by PATH, told by real path, hash and the version they print. */
#include "unit/host/trees.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/digest.h"

struct shelf {
    struct arena arena;
    char *dir;
};

static int open_shelf(void **state)
{
    static struct shelf shelf;
    shelf = (struct shelf){.dir = unit_folder()};
    *state = &shelf;
    return 0;
}

static int close_shelf(void **state)
{
    struct shelf *s = *state;
    assert_int_equal(file_rmtree(s->dir, NULL), 0);
    free(s->dir);
    arena_deinit(&s->arena);
    return 0;
}

static void put_script(struct shelf *s, const char *name, const char *body)
{
    CLEANUP(mem_freep) char *text = mem_printf("#!/bin/sh\n%s\n", body);
    CLEANUP(mem_freep) char *path = file_join(s->dir, name);
    tree_write(s->dir, name, text);
    assert_int_equal(chmod(path, 0755), 0);
}

static const char *version_of(struct shelf *s, const char *body)
{
    struct raw_tool tool = {0};
    put_script(s, "tool", body);
    assert_int_equal(host_tool_identity(&s->arena, "tool", s->dir, &tool, NULL), 0);
    return tool.version;
}

static void a_tool_has_path_hash_and_version(void **state)
{
    struct shelf *s = *state;
    struct raw_tool tool = {0};
    char hex[DIGEST_HEX];
    put_script(s, "real-1.2", "echo \"real 1.2\"; echo more");
    tree_link(s->dir, "tool", "real-1.2");
    CLEANUP(mem_freep) char *path_env = mem_printf("relative::/nonexistent:%s", s->dir);
    assert_int_equal(host_tool_identity(&s->arena, "tool", path_env, &tool, NULL), 0);
    assert_string_equal(tool.name, "tool");
    assert_string_equal(strrchr(tool.path, '/'), "/real-1.2");
    assert_string_equal(tool.version, "real 1.2");
    assert_int_equal(digest_file(tool.path, hex, NULL, NULL), 0);
    assert_string_equal(tool.sha256, hex);
}

static void a_tool_without_a_version_has_none(void **state)
{
    struct shelf *s = *state;
    assert_null(version_of(s, "exit 3"));
    assert_null(version_of(s, ":"));
    assert_null(version_of(s, "head -c 100000 /dev/zero"));
}

static void a_version_may_come_on_stderr_and_is_bounded(void **state)
{
    struct shelf *s = *state;
    assert_string_equal(version_of(s, "echo old 0.9 >&2"), "old 0.9");
    assert_string_equal(version_of(s, "printf '\\n  spaced 2\\n'"), "spaced 2");
    assert_int_equal(strlen(version_of(s, "printf '%0500d' 7")), 200);
}

static void a_tool_that_hangs_is_given_up(void **state)
{
    assert_null(version_of(*state, "exec sleep 60"));
}

static void it_sees_a_clean_environment(void **state)
{
    struct shelf *s = *state;
    assert_int_equal(setenv("AURABENCH_LEAK", "leaked", 1), 0);
    assert_string_equal(version_of(s, "echo \"<$AURABENCH_LEAK>\""), "<>");
}

static void relative_entries_of_path_are_skipped(void **state)
{
    struct shelf *s = *state;
    const char *path;
    put_script(s, "tool", ":");
    assert_int_equal(chdir(s->dir), 0);
    assert_int_equal(host_tool_find(&s->arena, "tool", ".:", &path), -ENOENT);
    assert_int_equal(host_tool_find(&s->arena, "tool", s->dir, &path), 0);
    assert_int_equal(chdir("/"), 0);
}

static void what_is_no_program_is_not_found(void **state)
{
    struct shelf *s = *state;
    struct raw_tool tool = {0};
    struct err e = {0};
    const char *path;
    tree_write(s->dir, "data", "not executable");
    CLEANUP(mem_freep) char *folder = file_join(s->dir, "folder");
    assert_int_equal(file_mkdirs(folder, 0755, NULL), 0);
    assert_int_equal(host_tool_find(&s->arena, "data", s->dir, &path), -ENOENT);
    assert_int_equal(host_tool_find(&s->arena, "folder", s->dir, &path), -ENOENT);
    assert_int_equal(host_tool_find(&s->arena, "", s->dir, &path), -ENOENT);
    assert_int_equal(host_tool_find(&s->arena, "sh", "", &path), -ENOENT);
    assert_int_equal(host_tool_find(&s->arena, "/nonexistent/x", "/bin", &path), -ENOENT);
    assert_int_equal(host_tool_find(&s->arena, "/bin/sh", "", &path), 0);
    assert_string_equal(path, "/bin/sh");
    assert_int_equal(host_tool_identity(&s->arena, "no-such", s->dir, &tool, &e), -ENOENT);
    assert_string_equal(e.code, "tool.missing");
    assert_string_equal(e.field, "no-such");
}

#define SHELF_TEST(name) cmocka_unit_test_setup_teardown(name, open_shelf, close_shelf)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SHELF_TEST(a_tool_has_path_hash_and_version),
        SHELF_TEST(a_tool_without_a_version_has_none),
        SHELF_TEST(a_version_may_come_on_stderr_and_is_bounded),
        SHELF_TEST(a_tool_that_hangs_is_given_up),
        SHELF_TEST(it_sees_a_clean_environment),
        SHELF_TEST(relative_entries_of_path_are_skipped),
        SHELF_TEST(what_is_no_program_is_not_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
