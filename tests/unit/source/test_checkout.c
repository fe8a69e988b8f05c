/* Checkouts: exactly the commit, nothing of the machine, nothing left behind. */
#include "sandbox.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "base/mem.h"
#include "client/git/git.h"
#include "source/source.h"

static void free_store(struct source_store **store)
{
    source_store_free(*store);
}

#define STORE CLEANUP(free_store) struct source_store *

static struct source_store *store_with(struct sandbox *s, const char *repo, const char *id)
{
    struct source_store *store = NULL;

    assert_ok(s, file_mkdirs(sandbox_path(s, "state"), 0755, &s->e));
    assert_ok(s, source_store_new(sandbox_path(s, "state"), &store, &s->e));
    assert_ok(s, git_bundle(repo, &id, 1, NULL, 0, sandbox_path(s, "bundle"), &s->e));
    assert_ok(s, source_import_bundle(store, sandbox_path(s, "bundle"), &id, 1, &s->e));
    return store;
}

static struct raw_source checkout(struct sandbox *s, struct source_store *store, const char *id,
                                  const char *dest)
{
    struct raw_source out = {0};

    assert_ok(s, source_checkout(store, &s->a, id, dest, &out, &s->e));
    return out;
}

static void expect_rehash(struct sandbox *s, struct source_store *store, const char *id,
                          const char *dest, const char *sha256, bool same)
{
    char again[DIGEST_HEX];

    assert_ok(s, source_rehash(store, id, dest, again, &s->e));
    assert_int_equal(strcmp(again, sha256) == 0, same);
}

static void a_checkout_is_the_commit_detached_and_clean(void **state)
{
    struct sandbox *s = *state;
    const char *repo = sandbox_repo(s, "repo");
    sandbox_write(s, sandbox_path(s, "repo/dir/run.sh"), "#!/bin/sh\n");
    assert_int_equal(chmod(sandbox_path(s, "repo/dir/run.sh"), 0755), 0);
    sandbox_write(s, sandbox_path(s, "repo/.gitignore"), "*.o\n");
    const char *id = sandbox_commit(s, repo);
    STORE store = store_with(s, repo, id);
    const char *dest = sandbox_path(s, "tree");
    struct raw_source out = checkout(s, store, id, dest);
    struct stat st;

    assert_string_equal(out.commit, id);
    assert_string_equal(out.head, id);
    assert_true(out.detached);
    assert_true(out.clean);
    assert_int_equal(out.files, 3);
    assert_int_equal(out.path_bytes, strlen(dest));
    assert_int_equal(strlen(out.tree_sha256), 64);
    assert_string_equal(sandbox_list(s, dest), ".git .gitignore a.txt dir");
    assert_string_equal(sandbox_read(s, sandbox_path(s, "tree/a.txt")), "one\n");
    assert_int_equal(stat(sandbox_path(s, "tree/dir/run.sh"), &st), 0);
    assert_true(st.st_mode & S_IXUSR);
    assert_string_equal(sandbox_git(s, dest, "status", "--porcelain", "--ignored", NULL), "");
    assert_int_not_equal(sandbox_git_status(s, dest, "symbolic-ref", "HEAD", NULL), 0);
}

/* The manifest as the header of the module states it, computed by other means. */
static void the_hash_is_that_of_the_manifest(void **state)
{
    struct sandbox *s = *state;
    const char *repo = sandbox_repo(s, "repo");
    const char *id = sandbox_git(s, repo, "rev-parse", "HEAD", NULL);
    STORE store = store_with(s, repo, id);
    struct raw_source out = checkout(s, store, id, sandbox_path(s, "tree"));
    char content[DIGEST_HEX], whole[DIGEST_HEX];

    digest_bytes("one\n", 4, content);
    char *manifest = arena_printf(&s->a, "aurabench-tree 1\n100644 %s a.txt", content);
    digest_bytes(manifest, strlen(manifest) + 1, whole);
    assert_string_equal(out.tree_sha256, whole);
}

static void two_sides_of_one_commit_are_equal_and_of_two_differ(void **state)
{
    struct sandbox *s = *state;
    const char *repo = sandbox_repo(s, "repo");
    const char *first = sandbox_git(s, repo, "rev-parse", "HEAD", NULL);
    sandbox_write(s, sandbox_path(s, "repo/a.txt"), "two\n");
    const char *second = sandbox_commit(s, repo);
    STORE store = store_with(s, repo, second);
    struct raw_source one = checkout(s, store, second, sandbox_path(s, "side-0"));
    struct raw_source two = checkout(s, store, second, sandbox_path(s, "side-1"));
    struct raw_source old = checkout(s, store, first, sandbox_path(s, "side-2"));

    assert_string_equal(one.tree_sha256, two.tree_sha256);
    assert_int_equal(one.path_bytes, two.path_bytes);
    assert_string_not_equal(one.tree_sha256, old.tree_sha256);
    assert_string_equal(sandbox_read(s, sandbox_path(s, "side-2/a.txt")), "one\n");
}

static void what_a_build_adds_does_not_count_but_what_it_changes_does(void **state)
{
    struct sandbox *s = *state;
    const char *repo = sandbox_repo(s, "repo");
    sandbox_write(s, sandbox_path(s, "repo/dir/b.txt"), "b\n");
    const char *id = sandbox_commit(s, repo);
    STORE store = store_with(s, repo, id);
    const char *dest = sandbox_path(s, "tree");
    struct raw_source out = checkout(s, store, id, dest);

    sandbox_write(s, sandbox_path(s, "tree/out/built.o"), "x");
    /* the build owns the checkout's repository: the answer must not depend on it */
    sandbox_git(s, dest, "rm", "--quiet", "--cached", "dir/b.txt", NULL);
    sandbox_write(s, sandbox_path(s, "tree/.git/HEAD"), "junk");
    expect_rehash(s, store, id, dest, out.tree_sha256, true);

    sandbox_write(s, sandbox_path(s, "tree/dir/b.txt"), "c\n");
    expect_rehash(s, store, id, dest, out.tree_sha256, false);
    sandbox_write(s, sandbox_path(s, "tree/dir/b.txt"), "b\n");
    expect_rehash(s, store, id, dest, out.tree_sha256, true);
    assert_int_equal(chmod(sandbox_path(s, "tree/a.txt"), 0755), 0);
    expect_rehash(s, store, id, dest, out.tree_sha256, false);
    assert_int_equal(chmod(sandbox_path(s, "tree/a.txt"), 0644), 0);

    /* the same content behind a link is not the same file, and a folder behind one not the same */
    assert_int_equal(rename(sandbox_path(s, "tree/dir"), sandbox_path(s, "tree/moved")), 0);
    expect_rehash(s, store, id, dest, out.tree_sha256, false);
    assert_int_equal(symlink("moved", sandbox_path(s, "tree/dir")), 0);
    expect_rehash(s, store, id, dest, out.tree_sha256, false);
    assert_int_equal(unlink(sandbox_path(s, "tree/dir")), 0);
    assert_int_equal(rename(sandbox_path(s, "tree/moved"), sandbox_path(s, "tree/dir")), 0);
    expect_rehash(s, store, id, dest, out.tree_sha256, true);
    assert_int_equal(unlink(sandbox_path(s, "tree/a.txt")), 0);
    assert_int_equal(mkfifo(sandbox_path(s, "tree/a.txt"), 0600), 0);
    expect_rehash(s, store, id, dest, out.tree_sha256, false);
}

static void links_are_checked_out_and_hashed_as_links(void **state)
{
    struct sandbox *s = *state;
    const char *repo = sandbox_repo(s, "repo");
    sandbox_write(s, sandbox_path(s, "secret"), "secret\n");
    assert_int_equal(symlink("../secret", sandbox_path(s, "repo/out")), 0);
    assert_int_equal(symlink("/etc", sandbox_path(s, "repo/etc")), 0);
    const char *id = sandbox_commit(s, repo);
    STORE store = store_with(s, repo, id);
    const char *dest = sandbox_path(s, "tree");
    struct raw_source out = checkout(s, store, id, dest);
    char target[64];

    assert_int_equal(readlink(sandbox_path(s, "tree/out"), target, sizeof target), 9);
    assert_memory_equal(target, "../secret", 9);
    sandbox_write(s, sandbox_path(s, "secret"), "changed\n");
    expect_rehash(s, store, id, dest, out.tree_sha256, true);
    assert_int_equal(unlink(sandbox_path(s, "tree/out")), 0);
    assert_int_equal(symlink("../other!", sandbox_path(s, "tree/out")), 0);
    expect_rehash(s, store, id, dest, out.tree_sha256, false);
    assert_ok(s, source_remove(store, dest, &s->e));
    assert_string_equal(sandbox_read(s, sandbox_path(s, "secret")), "changed\n");
}

static void odd_names_of_files_are_checked_out(void **state)
{
    struct sandbox *s = *state;
    const char *repo = sandbox_repo(s, "repo");
    sandbox_write(s, sandbox_path(s, "repo/with blank"), "1");
    sandbox_write(s, sandbox_path(s, "repo/line\nbreak/tab\there"), "2");
    sandbox_write(s, sandbox_path(s, "repo/\xc3\xbcml"), "3");
    sandbox_write(s, sandbox_path(s, "repo/latin\xe9"), "4");
    const char *id = sandbox_commit(s, repo);
    STORE store = store_with(s, repo, id);
    struct raw_source out = checkout(s, store, id, sandbox_path(s, "tree with\nbreak"));

    assert_int_equal(out.files, 5);
    assert_true(out.clean);
    assert_string_equal(sandbox_read(s, sandbox_path(s, "tree with\nbreak/line\nbreak/tab\there")),
                        "2");
}

static void no_program_of_the_source_or_the_user_runs(void **state)
{
    struct sandbox *s = *state;
    const char *repo = sandbox_repo(s, "repo");
    const char *trace = sandbox_path(s, "trace");
    const char *trap = sandbox_tripwire(s, sandbox_path(s, "trap"), trace);
    sandbox_write(s, sandbox_path(s, "repo/.gitattributes"), "* filter=evil\n");
    const char *id = sandbox_commit(s, repo);
    STORE store = store_with(s, repo, id);

    /* of the user */
    sandbox_tripwire(s, sandbox_path(s, "hooks/post-checkout"), trace);
    sandbox_tripwire(s, sandbox_path(s, "hooks/reference-transaction"), trace);
    sandbox_tripwire(s, sandbox_path(s, "template/hooks/post-checkout"), trace);
    sandbox_write(s, sandbox_path(s, ".gitconfig"),
                  arena_printf(&s->a,
                               "[core]\n\thooksPath = %s/hooks\n\tfsmonitor = %s\n"
                               "\tautocrlf = true\n[filter \"evil\"]\n\tsmudge = %s\n\tclean = %s\n"
                               "\trequired = true\n[init]\n\ttemplateDir = %s/template\n",
                               s->dir, trap, trap, trap, s->dir));
    /* of the environment */
    setenv("GIT_TEMPLATE_DIR", sandbox_path(s, "template"), 1);
    setenv("GIT_DIR", sandbox_path(s, "repo/.git"), 1);
    setenv("GIT_CONFIG_GLOBAL", sandbox_path(s, ".gitconfig"), 1);
    struct raw_source out = checkout(s, store, id, sandbox_path(s, "tree"));
    expect_rehash(s, store, id, sandbox_path(s, "tree"), out.tree_sha256, true);
    unsetenv("GIT_TEMPLATE_DIR");
    unsetenv("GIT_DIR");
    unsetenv("GIT_CONFIG_GLOBAL");
    assert_true(out.clean);
    assert_string_equal(sandbox_read(s, sandbox_path(s, "tree/a.txt")), "one\n");
    assert_false(file_exists(trace));
    assert_false(file_exists(sandbox_path(s, "tree/.git/hooks")));
}

static void a_tree_of_another_commit_leaves_nothing_in_it(void **state)
{
    struct sandbox *s = *state;
    const char *repo = sandbox_repo(s, "repo");
    const char *first = sandbox_git(s, repo, "rev-parse", "HEAD", NULL);
    sandbox_write(s, sandbox_path(s, "repo/later.txt"), "x");
    const char *second = sandbox_commit(s, repo);
    STORE store = store_with(s, repo, second);
    const char *dest = sandbox_path(s, "tree");
    struct raw_source out = {0};

    checkout(s, store, second, dest);
    assert_code(s, source_checkout(store, &s->a, first, dest, &out, &s->e),
                "source.checkout_failed");
    assert_string_equal(sandbox_list(s, dest), ".git a.txt later.txt");
    assert_ok(s, source_remove(store, dest, &s->e));
    checkout(s, store, first, dest);
    assert_string_equal(sandbox_list(s, dest), ".git a.txt");
}

static void removal_leaves_no_record(void **state)
{
    struct sandbox *s = *state;
    const char *repo = sandbox_repo(s, "repo");
    const char *id = sandbox_git(s, repo, "rev-parse", "HEAD", NULL);
    STORE store = store_with(s, repo, id);
    const char *git = sandbox_path(s, "state/repos/store.git");
    const char *before = sandbox_list(s, git);
    const char *config = sandbox_read(s, sandbox_path(s, "state/repos/store.git/config"));

    checkout(s, store, id, sandbox_path(s, "one"));
    checkout(s, store, id, sandbox_path(s, "two"));
    /* what a build does to its repository does not reach the store */
    sandbox_git(s, "one", "config", "core.hooksPath", "/evil", NULL);
    sandbox_git(s, "one", "update-ref", "refs/heads/x", id, NULL);
    assert_ok(s, source_remove(store, sandbox_path(s, "one"), &s->e));
    assert_ok(s, source_remove(store, sandbox_path(s, "one"), &s->e));
    assert_false(file_exists(sandbox_path(s, "one")));
    assert_true(file_exists(sandbox_path(s, "two/a.txt")));
    assert_string_equal(sandbox_list(s, git), before);
    assert_string_equal(sandbox_read(s, sandbox_path(s, "state/repos/store.git/config")), config);
    assert_string_equal(sandbox_git(s, git, "for-each-ref", "refs/heads", NULL), "");
}

static void what_is_not_here_is_refused(void **state)
{
    struct sandbox *s = *state;
    const char *repo = sandbox_repo(s, "repo");
    const char *id = sandbox_git(s, repo, "rev-parse", "HEAD", NULL);
    STORE store = store_with(s, repo, id);
    struct raw_source out = {0};
    const char *dest = sandbox_path(s, "tree");

    assert_code(s,
                source_checkout(store, &s->a, "0123456789012345678901234567890123456789", dest,
                                &out, &s->e),
                "source.not_here");
    assert_code(s, source_checkout(store, &s->a, "HEAD", dest, &out, &s->e), "source.bad_id");
    assert_code(s, source_checkout(store, &s->a, id, "relative", &out, &s->e),
                "source.checkout_failed");
    assert_false(file_exists(dest));
}

static void submodules_are_refused_before_anything_is_made(void **state)
{
    struct sandbox *s = *state;
    const char *repo = sandbox_repo(s, "repo");
    const char *inner = sandbox_repo(s, "inner");
    struct raw_source out = {0};

    sandbox_git(s, repo, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner,
                "sub", NULL);
    const char *id = sandbox_commit(s, repo);
    STORE store = store_with(s, repo, id);
    assert_code(s, source_checkout(store, &s->a, id, sandbox_path(s, "tree"), &out, &s->e),
                "source.submodule");
    assert_false(file_exists(sandbox_path(s, "tree")));
}

static void pointers_of_lfs_are_refused_and_nothing_is_left(void **state)
{
    struct sandbox *s = *state;
    const char *repo = sandbox_repo(s, "repo");
    struct raw_source out = {0};

    sandbox_write(s, sandbox_path(s, "repo/data/m.bin"),
                  "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n");
    const char *plain = sandbox_commit(s, repo);
    sandbox_write(s, sandbox_path(s, "repo/.gitattributes"), "*.bin filter=lfs\n");
    const char *id = sandbox_commit(s, repo);
    STORE store = store_with(s, repo, id);
    checkout(s, store, plain, sandbox_path(s, "plain"));
    int rc = source_checkout(store, &s->a, id, sandbox_path(s, "tree"), &out, &s->e);
    assert_non_null(strstr(s->e.text, "data/m.bin"));
    assert_code(s, rc, "source.lfs");
    assert_false(file_exists(sandbox_path(s, "tree")));
}

/* Line endings that the attributes and the content disagree about: a fresh checkout already reads
 * as changed. That is recorded, not hidden. */
static void a_tree_that_git_calls_changed_is_not_clean(void **state)
{
    struct sandbox *s = *state;
    const char *repo = sandbox_repo(s, "repo");
    sandbox_write(s, sandbox_path(s, "repo/crlf.txt"), "one\r\ntwo\r\n");
    sandbox_commit(s, repo);
    const char *blob = sandbox_git(s, repo, "rev-parse", "HEAD:crlf.txt", NULL);
    sandbox_write(s, sandbox_path(s, "repo/.gitattributes"), "*.txt text\n");
    sandbox_git(s, repo, "add", ".gitattributes", NULL);
    sandbox_git(s, repo, "update-index", "--cacheinfo",
                arena_printf(&s->a, "100644,%s,crlf.txt", blob), NULL);
    sandbox_git(s, repo, "commit", "--quiet", "-m", "x", NULL);
    const char *id = sandbox_git(s, repo, "rev-parse", "HEAD", NULL);
    STORE store = store_with(s, repo, id);
    struct raw_source out = checkout(s, store, id, sandbox_path(s, "tree"));

    assert_false(out.clean);
    assert_string_equal(sandbox_read(s, sandbox_path(s, "tree/crlf.txt")), "one\r\ntwo\r\n");
}

/* ---- build products */

static void products_are_listed_by_path_with_bytes_and_hash(void **state)
{
    struct sandbox *s = *state;
    struct raw_artifact *items = NULL;
    char hex[DIGEST_HEX];
    size_t n = 0;

    sandbox_write(s, sandbox_path(s, "build/fib30"), "binary");
    sandbox_write(s, sandbox_path(s, "build/lib/a.so"), "");
    sandbox_write(s, sandbox_path(s, "build/odd\nname\\\xe9\xc3\xbc"), "x");
    assert_int_equal(symlink("fib30", sandbox_path(s, "build/link")), 0);
    assert_int_equal(symlink("/etc", sandbox_path(s, "build/outside")), 0);
    assert_int_equal(mkfifo(sandbox_path(s, "build/pipe"), 0600), 0);
    assert_ok(s, source_hash_folder(&s->a, sandbox_path(s, "build"), "before", &items, &n, &s->e));
    assert_int_equal(n, 3);
    assert_string_equal(items[0].path, "fib30");
    assert_string_equal(items[0].side, "before");
    assert_int_equal(items[0].bytes, 6);
    digest_bytes("binary", 6, hex);
    assert_string_equal(items[0].sha256, hex);
    assert_string_equal(items[1].path, "lib/a.so");
    assert_string_equal(items[2].path, "odd\\x0aname\\x5c\\xe9\xc3\xbc");
}

static void an_empty_or_missing_build_folder_is_told_apart(void **state)
{
    struct sandbox *s = *state;
    struct raw_artifact *items = NULL;
    size_t n = 9;

    assert_ok(s, file_mkdirs(sandbox_path(s, "build"), 0755, &s->e));
    assert_ok(s, source_hash_folder(&s->a, sandbox_path(s, "build"), "x", &items, &n, &s->e));
    assert_int_equal(n, 0);
    assert_int_equal(source_hash_folder(&s->a, sandbox_path(s, "gone"), "x", &items, &n, &s->e),
                     -ENOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SANDBOX_TEST(a_checkout_is_the_commit_detached_and_clean),
        SANDBOX_TEST(the_hash_is_that_of_the_manifest),
        SANDBOX_TEST(two_sides_of_one_commit_are_equal_and_of_two_differ),
        SANDBOX_TEST(what_a_build_adds_does_not_count_but_what_it_changes_does),
        SANDBOX_TEST(links_are_checked_out_and_hashed_as_links),
        SANDBOX_TEST(odd_names_of_files_are_checked_out),
        SANDBOX_TEST(no_program_of_the_source_or_the_user_runs),
        SANDBOX_TEST(a_tree_of_another_commit_leaves_nothing_in_it),
        SANDBOX_TEST(removal_leaves_no_record),
        SANDBOX_TEST(what_is_not_here_is_refused),
        SANDBOX_TEST(submodules_are_refused_before_anything_is_made),
        SANDBOX_TEST(pointers_of_lfs_are_refused_and_nothing_is_left),
        SANDBOX_TEST(a_tree_that_git_calls_changed_is_not_clean),
        SANDBOX_TEST(products_are_listed_by_path_with_bytes_and_hash),
        SANDBOX_TEST(an_empty_or_missing_build_folder_is_told_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
