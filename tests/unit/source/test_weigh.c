/* What a built file weighs: only a regular file below its folder, without any link on the way; and
 * the rules of what may be in it. */
#include "unit/unit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "base/mem.h"
#include "source/inside.h"
#include "source/weigh.h"

static char *folder;

static int setup(void **state)
{
    (void)state;
    folder = unit_folder();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    int rc = file_rmtree(folder, NULL);
    free(folder);
    return rc;
}

static char *at(const char *name)
{
    return file_join(folder, name);
}

static void make(const char *name, size_t bytes)
{
    CLEANUP(mem_freep) char *path = at(name);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
    assert_int_equal(close(fd), 0);
}

static void expect(const char *path, const char *fault, int64_t bytes)
{
    const struct weigh w = {.root = folder, .path = path};
    int64_t found;
    const char *name;
    const char *got = source_weigh(&w, &found, &name);
    if ((fault == NULL) != (got == NULL) || (fault && strcmp(got, fault) != 0))
        fail_msg("%s is %s, not %s", path, got ? got : "fine", fault ? fault : "fine");
    assert_int_equal(found, bytes);
    assert_null(name);
}

static void bytes_are_those_of_a_regular_file(void **state)
{
    CLEANUP(mem_freep) char *below = at("below");

    (void)state;
    make("seven", 7);
    make("empty", 0);
    assert_int_equal(mkdir(below, 0700), 0);
    make("below/large", (size_t)5 << 30);
    expect("seven", NULL, 7);
    expect("empty", NULL, 0);
    expect("below/large", NULL, (int64_t)5 << 30);
    expect("nothing", "lane.file_missing", -1);
    expect("nothing/seven", "lane.file_missing", -1);
    expect("seven/seven", "lane.file_missing", -1);
    expect("below", "lane.file_special", -1);
}

static void no_link_is_followed(void **state)
{
    CLEANUP(mem_freep) char *file = at("link"), *dir = at("dir"), *dangling = at("dangling");

    (void)state;
    make("seven", 7);
    assert_int_equal(symlink("seven", file), 0);
    assert_int_equal(symlink("/usr", dir), 0);
    assert_int_equal(symlink("nothing", dangling), 0);
    expect("link", "lane.file_link", -1);
    expect("dir/bin/env", "lane.file_link", -1);
    expect("dangling", "lane.file_link", -1);
}

static void what_is_no_file_is_not_opened(void **state)
{
    CLEANUP(mem_freep) char *pipe = at("pipe");

    (void)state;
    assert_int_equal(mkfifo(pipe, 0600), 0); /* opening it would wait for a writer */
    expect("pipe", "lane.file_special", -1);
}

static void expect_digest(const char *root, const char *path, const char *fault)
{
    int64_t bytes;
    char hex[DIGEST_HEX];
    const char *got = source_digest_inside(root, path, &bytes, hex);

    if ((fault == NULL) != (got == NULL) || (fault && strcmp(got, fault) != 0))
        fail_msg("%s is %s, not %s", path, got ? got : "fine", fault ? fault : "fine");
    assert_int_equal(bytes, fault ? -1 : 7);
}

static void what_is_hashed_is_a_file_of_bounded_size_below_its_folder(void **state)
{
    CLEANUP(mem_freep) char *below = at("below"), *nowhere = at("nowhere");
    char name[302] = "seven";

    (void)state;
    make("seven", 7);
    make("large", ((size_t)1 << 30) + 1);
    assert_int_equal(mkdir(below, 0700), 0);
    assert_int_equal(symlink("seven", nowhere), 0);
    expect_digest(folder, "seven", NULL);
    expect_digest(folder, "large", "lane.output_large");
    expect_digest(folder, "below", "lane.file_special");
    expect_digest(folder, "nothing", "lane.file_missing");
    expect_digest(folder, "nowhere", "lane.file_link");
    expect_digest(folder, "below//seven", "lane.file_missing");
    expect_digest("/no/such/folder", "seven", "lane.file_missing");
    memset(name, 'x', sizeof name - 1);
    expect_digest(folder, name, "lane.file_missing");
}

/* ---- rules, for this test's own program */

static const char *judge(const char *must, const char *must_not, const char **name)
{
    static const char *v[2][1];
    static char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(n > 0);
    self[n] = '\0';
    char *slash = strrchr(self, '/');
    *slash = '\0';
    v[0][0] = must;
    v[1][0] = must_not;
    const struct args a = {v[0], must ? 1 : 0}, b = {v[1], must_not ? 1 : 0};
    const struct weigh w = {self, slash + 1, &a, &b};
    int64_t bytes;
    const char *fault = source_weigh(&w, &bytes, name);
    assert_true(fault ? bytes == -1 : bytes > 0);
    return fault;
}

static void libraries_and_symbols_are_held_against_the_rules(void **state)
{
    const char *name;

    (void)state;
    assert_null(judge("libcmocka.so.0", "libssl.so.3", &name));
    assert_null(judge("source_weigh", NULL, &name));
    assert_string_equal(judge("libssl.so.3", NULL, &name), "lane.link_missing");
    assert_string_equal(name, "libssl.so.3");
    assert_string_equal(judge(NULL, "libcmocka.so.0", &name), "lane.link_forbidden");
    assert_string_equal(name, "libcmocka.so.0");
    assert_string_equal(judge(NULL, "source_weigh", &name), "lane.link_forbidden");
}

static void rules_that_cannot_be_judged_do_not_pass(void **state)
{
    static const char *v[] = {"libssl.so.3"};
    const struct args names = {v, 1};
    const struct weigh w = {.root = folder, .path = "seven", .must_not_link = &names};
    int64_t bytes;
    const char *name;

    (void)state;
    make("seven", 7);
    assert_string_equal(source_weigh(&w, &bytes, &name), "lane.link_unknown");
    assert_int_equal(bytes, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bytes_are_those_of_a_regular_file, setup, teardown),
        cmocka_unit_test_setup_teardown(no_link_is_followed, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_no_file_is_not_opened, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_hashed_is_a_file_of_bounded_size_below_its_folder,
                                        setup, teardown),
        cmocka_unit_test(libraries_and_symbols_are_held_against_the_rules),
        cmocka_unit_test_setup_teardown(rules_that_cannot_be_judged_do_not_pass, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
