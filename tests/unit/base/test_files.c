/* Files: limits hold, writes are atomic, removal never follows links, walks are sorted, paths that
 * escape are told apart, the lock is exclusive. */
#include "unit/unit.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "base/mem.h"

static char *path_in(const char *folder, const char *name)
{
    return file_join(folder, name);
}

static void reads_stop_at_the_limit(void **state)
{
    CLEANUP(mem_freep) char *dir = unit_folder();
    CLEANUP(mem_freep) char *path = path_in(dir, "f");
    struct buf b = {0};
    struct err e = {0};

    assert_int_equal(file_write(path, "0123456789", 10, 0600, &e), 0);
    assert_int_equal(file_read(path, 10, &b, &e), 0);
    assert_string_equal(buf_str(&b), "0123456789");
    assert_int_equal(file_read(path, 9, &b, &e), -EFBIG);
    assert_string_equal(e.code, "system.read");
    err_clear(&e);
    assert_int_equal(file_read("/nonexistent/x", 9, &b, &e), -ENOENT);
    assert_int_equal(file_rmtree(dir, NULL), 0);
    buf_deinit(&b);
}

static void atomic_write_replaces_whole_and_leaves_nothing_else(void **state)
{
    CLEANUP(mem_freep) char *dir = unit_folder();
    CLEANUP(mem_freep) char *path = path_in(dir, "f");
    CLEANUP(mem_freep) char *below = path_in(path, "g");
    struct buf b = {0};
    struct err e = {0};

    assert_int_equal(file_write_atomic(path, "one", 3, 0600, &e), 0);
    assert_int_equal(file_write_atomic(path, "two", 3, 0600, &e), 0);
    assert_int_equal(file_read(path, 100, &b, &e), 0);
    assert_string_equal(buf_str(&b), "two");
    assert_int_equal(file_write_atomic(below, "x", 1, 0600, &e), -ENOTDIR);
    assert_int_equal(file_rmtree(dir, NULL), 0);
    assert_false(file_exists(dir));
    buf_deinit(&b);
}

static void removal_does_not_follow_links(void **state)
{
    CLEANUP(mem_freep) char *dir = unit_folder();
    CLEANUP(mem_freep) char *outside = unit_folder();
    CLEANUP(mem_freep) char *kept = path_in(outside, "kept");
    CLEANUP(mem_freep) char *sub = path_in(dir, "a/b");
    CLEANUP(mem_freep) char *link = path_in(dir, "a/link");
    struct err e = {0};

    assert_int_equal(file_mkdirs(sub, 0755, &e), 0);
    assert_int_equal(file_write(kept, "x", 1, 0600, &e), 0);
    assert_int_equal(symlink(outside, link), 0);
    assert_int_equal(chmod(sub, 0500), 0);
    assert_int_equal(file_rmtree(dir, &e), 0);
    assert_false(file_exists(dir));
    assert_true(file_exists(kept));
    assert_int_equal(file_rmtree(dir, &e), 0);
    assert_int_equal(file_rmtree(outside, &e), 0);
}

struct seen {
    char text[200];
};

static int see(void *ctx, const char *path, enum file_kind kind, mode_t mode, int64_t bytes)
{
    struct seen *seen = ctx;
    size_t len = strlen(seen->text);

    (void)snprintf(seen->text + len, sizeof seen->text - len, "%s:%d:%lld ", path, (int)kind,
                   (long long)(kind == FILE_REGULAR ? bytes : 0));
    return strcmp(path, "stop") == 0 ? 7 : 0;
}

static void walks_are_sorted_and_stop_when_told(void **state)
{
    CLEANUP(mem_freep) char *dir = unit_folder();
    CLEANUP(mem_freep) char *sub = path_in(dir, "b");
    CLEANUP(mem_freep) char *f1 = path_in(dir, "b/z");
    CLEANUP(mem_freep) char *f2 = path_in(dir, "a");
    CLEANUP(mem_freep) char *ln = path_in(dir, "c");
    CLEANUP(mem_freep) char *stop = path_in(dir, "stop");
    struct seen seen = {0};
    struct err e = {0};

    assert_int_equal(file_mkdirs(sub, 0755, &e), 0);
    assert_int_equal(file_write(f1, "22", 2, 0600, &e), 0);
    assert_int_equal(file_write(f2, "1", 1, 0600, &e), 0);
    assert_int_equal(symlink("a", ln), 0);
    assert_int_equal(file_walk(dir, see, &seen, &e), 0);
    assert_string_equal(seen.text, "a:0:1 b:1:0 b/z:0:2 c:2:0 ");
    assert_int_equal(file_write(stop, "", 0, 0600, &e), 0);
    assert_int_equal(file_walk(dir, see, &seen, &e), 7);
    assert_int_equal(file_walk("/nonexistent", see, &seen, &e), -ENOENT);
    assert_int_equal(file_rmtree(dir, NULL), 0);
}

static void paths_that_escape_are_told_apart(void **state)
{
    const char *const inside[] = {"a", "a/b", "...", "a/..b"};
    const char *const outside[] = {"", "/a", "..", "a/..", "a//b", "./a", "a/", "a/./b"};

    for (size_t i = 0; i < ARRAY_LEN(inside); i++)
        assert_true(file_path_is_inside(inside[i]));
    for (size_t i = 0; i < ARRAY_LEN(outside); i++)
        assert_false(file_path_is_inside(outside[i]));
}

static void a_second_lock_is_refused(void **state)
{
    CLEANUP(mem_freep) char *dir = unit_folder();
    CLEANUP(mem_freep) char *path = path_in(dir, "lock");
    struct err e = {0};
    int one = -1, two = -1;

    assert_int_equal(file_lock(path, &one, &e), 0);
    assert_int_equal(file_lock(path, &two, &e), -EWOULDBLOCK);
    assert_int_equal(two, -1);
    assert_int_equal(close(one), 0);
    assert_int_equal(file_lock(path, &two, NULL), 0);
    assert_int_equal(close(two), 0);
    assert_int_equal(file_rmtree(dir, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_stop_at_the_limit),
        cmocka_unit_test(atomic_write_replaces_whole_and_leaves_nothing_else),
        cmocka_unit_test(removal_does_not_follow_links),
        cmocka_unit_test(walks_are_sorted_and_stop_when_told),
        cmocka_unit_test(paths_that_escape_are_told_apart),
        cmocka_unit_test(a_second_lock_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
