/* The user's suite folder: what belongs to it, and where a name is sought. */
#include "sandbox.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "base/mem.h"
#include "client/git/suite_dir.h"
#include "proto/evidence/pack.h"

static const char *make_suite(struct sandbox *s, const char *name)
{
    const char *dir = sandbox_path(s, "%s", name);

    sandbox_write(s, arena_printf(&s->a, "%s/suite.json", dir), "{\"name\": \"x\"}\n");
    sandbox_write(s, arena_printf(&s->a, "%s/py/fib.py", dir), "print(1)\n");
    return dir;
}

static int add_path(void *ctx, const struct pack_entry *file)
{
    buf_printf(ctx, "%s%s ", file->path, file->executable ? "*" : "");
    return 0;
}

static void the_pack_holds_all_files_but_caches_and_git(void **state)
{
    struct sandbox *s = *state;
    const char *dir = make_suite(s, "suite");
    CLEANUP(suite_pack_deinit) struct suite_pack pack = {0};
    CLEANUP(buf_deinit) struct buf paths = {0};
    char hex[DIGEST_HEX];

    sandbox_write(s, sandbox_path(s, "suite/.git/HEAD"), "x");
    sandbox_write(s, sandbox_path(s, "suite/py/__pycache__/fib.cpython-311.pyc"), "x");
    sandbox_write(s, sandbox_path(s, "suite/py/old.pyc"), "x");
    sandbox_write(s, sandbox_path(s, "suite/notes~"), "x");
    sandbox_write(s, sandbox_path(s, "suite/run"), "x");
    assert_int_equal(chmod(sandbox_path(s, "suite/run"), 0755), 0);
    assert_ok(s, suite_dir_pack(dir, &pack, &s->e));
    assert_int_equal(pack_read(pack.bytes.data, pack.bytes.len, add_path, &paths, NULL), 0);
    assert_string_equal(buf_str(&paths), "notes~ py/fib.py run* suite.json ");
    assert_int_equal(pack.files, 4);
    assert_string_equal(buf_str(&pack.json), "{\"name\": \"x\"}\n");
    digest_bytes(pack.bytes.data, pack.bytes.len, hex);
    assert_string_equal(pack.sha256, hex);
}

static void two_folders_with_the_same_files_are_one_suite(void **state)
{
    struct sandbox *s = *state;
    CLEANUP(suite_pack_deinit) struct suite_pack one = {0}, two = {0}, three = {0};

    assert_ok(s, suite_dir_pack(make_suite(s, "one"), &one, &s->e));
    assert_ok(s, suite_dir_pack(make_suite(s, "other place"), &two, &s->e));
    assert_string_equal(one.sha256, two.sha256);
    sandbox_write(s, sandbox_path(s, "one/py/fib.py"), "print(2)\n");
    assert_ok(s, suite_dir_pack(sandbox_path(s, "one"), &three, &s->e));
    assert_string_not_equal(one.sha256, three.sha256);
}

static void links_are_refused_by_name(void **state)
{
    struct sandbox *s = *state;
    const char *dir = make_suite(s, "suite");
    CLEANUP(suite_pack_deinit) struct suite_pack pack = {0};

    assert_int_equal(symlink("/etc/passwd", sandbox_path(s, "suite/py/link")), 0);
    assert_int_not_equal(suite_dir_pack(dir, &pack, &s->e), 0);
    assert_string_equal(s->e.field, "py/link");
    assert_code(s, -1, "suite.link");
}

static void special_files_are_refused(void **state)
{
    struct sandbox *s = *state;
    const char *dir = make_suite(s, "suite");
    CLEANUP(suite_pack_deinit) struct suite_pack pack = {0};

    assert_int_equal(mkfifo(sandbox_path(s, "suite/pipe"), 0600), 0);
    assert_code(s, suite_dir_pack(dir, &pack, &s->e), "suite.special_file");
}

static void names_that_cannot_travel_are_refused(void **state)
{
    struct sandbox *s = *state;
    const char *dir = make_suite(s, "suite");
    CLEANUP(suite_pack_deinit) struct suite_pack pack = {0};

    sandbox_write(s, sandbox_path(s, "suite/line\nbreak"), "x");
    assert_code(s, suite_dir_pack(dir, &pack, &s->e), "suite.pack_bad");
}

static void a_folder_without_suite_json_is_none(void **state)
{
    struct sandbox *s = *state;
    CLEANUP(suite_pack_deinit) struct suite_pack pack = {0};

    assert_code(s, suite_dir_pack(s->dir, &pack, &s->e), "suite.not_found");
    assert_code(s, suite_dir_pack(sandbox_path(s, "gone"), &pack, &s->e), "suite.not_found");
}

static void too_large_a_folder_is_refused(void **state)
{
    struct sandbox *s = *state;
    const char *dir = make_suite(s, "suite");
    CLEANUP(suite_pack_deinit) struct suite_pack pack = {0};

    sandbox_write(s, sandbox_path(s, "suite/big"), "x");
    assert_int_equal(truncate(sandbox_path(s, "suite/big"), (off_t)PACK_BYTES_MAX), 0);
    assert_code(s, suite_dir_pack(dir, &pack, &s->e), "suite.too_large");
}

static void expect_found(struct sandbox *s, const char *arg, const char *list, const char *exe,
                         const char *expected)
{
    CLEANUP(mem_freep) char *dir = NULL;

    assert_ok(s, suite_dir_find(arg, list, exe, &dir, &s->e));
    assert_string_equal(dir, expected);
}

static void a_path_names_a_suite(void **state)
{
    struct sandbox *s = *state;
    const char *dir = make_suite(s, "suite");

    expect_found(s, dir, NULL, "/nowhere/bin/aurabench", dir);
    expect_found(s, sandbox_path(s, "suite/../suite/"), NULL, "/nowhere/bin/aurabench", dir);
    expect_found(s, sandbox_path(s, "suite/suite.json"), NULL, "/nowhere/bin/aurabench", dir);
}

static void a_name_is_sought_in_the_list_then_beside_the_program(void **state)
{
    struct sandbox *s = *state;
    const char *installed = sandbox_path(s, "usr/bin/aurabench");
    const char *built = sandbox_path(s, "src/build/client/aurabench");

    assert_ok(s, file_mkdirs(sandbox_path(s, "usr/bin"), 0755, &s->e));
    assert_ok(s, file_mkdirs(sandbox_path(s, "src/build/client"), 0755, &s->e));
    const char *shared = make_suite(s, "usr/share/aurabench/workloads/kernel");
    const char *tree = make_suite(s, "src/workloads/kernel");
    const char *own = make_suite(s, "mine/kernel");
    const char *list = arena_printf(&s->a, "/nowhere::%s", sandbox_path(s, "mine"));

    expect_found(s, "kernel", NULL, installed, shared);
    expect_found(s, "kernel", NULL, built, tree);
    expect_found(s, "kernel", list, installed, own);
}

static void what_is_not_found_is_said_with_the_places(void **state)
{
    struct sandbox *s = *state;
    CLEANUP(mem_freep) char *dir = NULL;

    make_suite(s, "mine/kernel");
    int rc = suite_dir_find("kernal", sandbox_path(s, "mine"), "/opt/bin/aurabench", &dir, &s->e);
    assert_non_null(strstr(s->e.text, sandbox_path(s, "mine/kernal")));
    assert_non_null(strstr(s->e.text, "share/aurabench/workloads/kernal"));
    assert_code(s, rc, "suite.not_found");
    /* not a name: only names are sought in the list */
    rc = suite_dir_find("../mine/kernel", sandbox_path(s, "x"), "/opt/bin/aurabench", &dir, &s->e);
    assert_code(s, rc, "suite.not_found");
    assert_code(s, suite_dir_find("", s->dir, "/opt/bin/a", &dir, &s->e), "suite.not_found");
    assert_code(s,
                suite_dir_find("..", sandbox_path(s, "mine/kernel/py"), "/opt/bin/a", &dir, &s->e),
                "suite.not_found");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SANDBOX_TEST(the_pack_holds_all_files_but_caches_and_git),
        SANDBOX_TEST(two_folders_with_the_same_files_are_one_suite),
        SANDBOX_TEST(links_are_refused_by_name),
        SANDBOX_TEST(special_files_are_refused),
        SANDBOX_TEST(names_that_cannot_travel_are_refused),
        SANDBOX_TEST(a_folder_without_suite_json_is_none),
        SANDBOX_TEST(too_large_a_folder_is_refused),
        SANDBOX_TEST(a_path_names_a_suite),
        SANDBOX_TEST(a_name_is_sought_in_the_list_then_beside_the_program),
        SANDBOX_TEST(what_is_not_found_is_said_with_the_places),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
