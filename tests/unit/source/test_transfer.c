/* Commits on their way: from the user's repository through a bundle into the daemon's store. */
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/files.h"
#include "base/mem.h"
#include "client/git/git.h"
#include "source/source.h"

static struct source_store *open_store(struct sandbox *s)
{
    struct source_store *store = NULL;

    assert_ok(s, file_mkdirs(sandbox_path(s, "state"), 0755, &s->e));
    assert_ok(s, source_store_new(sandbox_path(s, "state"), &store, &s->e));
    return store;
}

static void free_store(struct source_store **store)
{
    source_store_free(*store);
}

static const char *bundle_of(struct sandbox *s, const char *repo, const char *id,
                             const char *without)
{
    const char *path = sandbox_path(s, "bundle");

    assert_ok(s, git_bundle(repo, &id, 1, &without, without != NULL, path, &s->e));
    assert_string_equal(sandbox_git(s, repo, "for-each-ref", "refs/aurabench", NULL), "");
    assert_false(file_exists(sandbox_path(s, "bundle.repo")));
    return path;
}

static int64_t size_of(const char *path)
{
    struct stat st;

    assert_int_equal(stat(path, &st), 0);
    return st.st_size;
}

static void expect_store_untouched(struct sandbox *s)
{
    const char *git = sandbox_path(s, "state/repos/store.git");

    assert_false(file_exists(sandbox_path(s, "state/repos/store.git/objects/incoming")));
    assert_string_equal(sandbox_list(s, sandbox_path(s, "state/repos/store.git/objects/pack")), "");
    assert_string_equal(sandbox_git(s, git, "for-each-ref", NULL), "");
    assert_string_equal(
        sandbox_git(s, git, "cat-file", "--batch-all-objects", "--batch-check", NULL), "");
}

/* A file that does not compress, so that sizes of bundles tell what is in them. */
static void write_noise(struct sandbox *s, const char *path, unsigned seed)
{
    CLEANUP(buf_deinit) struct buf b = {0};

    for (int i = 0; i < 40000; i++) {
        seed = seed * 1103515245U + 12345U;
        buf_putc(&b, (char)(' ' + (seed >> 16) % 95));
    }
    sandbox_write(s, path, buf_str(&b));
}

static void a_new_store_has_nothing(void **state)
{
    struct sandbox *s = *state;
    CLEANUP(free_store) struct source_store *store = open_store(s);
    const char *ids[] = {"0123456789012345678901234567890123456789"};
    const char **tips = NULL;
    bool missing[1] = {false};
    size_t n = 9;

    assert_false(file_exists(sandbox_path(s, "state/repos/store.git")));
    assert_false(source_has_commit(store, ids[0]));
    assert_ok(s, source_missing(store, ids, 1, missing, &s->e));
    assert_true(missing[0]);
    assert_ok(s, source_tips(store, &s->a, 10, &tips, &n, &s->e));
    assert_int_equal(n, 0);
}

static void an_imported_commit_is_here_with_its_history(void **state)
{
    struct sandbox *s = *state;
    CLEANUP(free_store) struct source_store *store = open_store(s);
    const char *repo = sandbox_repo(s, "repo");
    const char *first = sandbox_git(s, repo, "rev-parse", "HEAD", NULL);
    sandbox_write(s, sandbox_path(s, "repo/b/c.txt"), "x");
    const char *second = sandbox_commit(s, repo);
    const char **tips = NULL;
    size_t n = 0;

    assert_ok(s, source_import_bundle(store, bundle_of(s, repo, second, NULL), &second, 1, &s->e));
    assert_true(source_has_commit(store, second));
    assert_true(source_has_commit(store, first));
    assert_ok(s, source_tips(store, &s->a, 10, &tips, &n, &s->e));
    assert_int_equal(n, 1);
    assert_string_equal(tips[0], second);
    assert_string_equal(sandbox_git(s, sandbox_path(s, "state/repos/store.git"), "fsck", "--full",
                                    "--strict", NULL),
                        "");
    /* no configuration or hook came along, none of the machine's template either */
    assert_false(file_exists(sandbox_path(s, "state/repos/store.git/hooks")));
    assert_string_equal(
        sandbox_git(s, sandbox_path(s, "state/repos/store.git"), "config", "gc.auto", NULL), "0");
}

static void the_same_commit_twice_is_fine(void **state)
{
    struct sandbox *s = *state;
    CLEANUP(free_store) struct source_store *store = open_store(s);
    const char *repo = sandbox_repo(s, "repo");
    const char *id = sandbox_git(s, repo, "rev-parse", "HEAD", NULL);
    const char *both[] = {id, id};

    assert_ok(s, git_bundle(repo, both, 2, NULL, 0, sandbox_path(s, "bundle"), &s->e));
    assert_ok(s, source_import_bundle(store, sandbox_path(s, "bundle"), both, 2, &s->e));
    assert_ok(s, source_import_bundle(store, sandbox_path(s, "bundle"), both, 2, &s->e));
    assert_true(source_has_commit(store, id));
}

static void a_second_bundle_carries_only_what_is_missing(void **state)
{
    struct sandbox *s = *state;
    CLEANUP(free_store) struct source_store *store = open_store(s);
    const char *repo = sandbox_repo(s, "repo");

    write_noise(s, sandbox_path(s, "repo/noise"), 7);
    const char *first = sandbox_commit(s, repo);
    sandbox_write(s, sandbox_path(s, "repo/a.txt"), "small change\n");
    const char *second = sandbox_commit(s, repo);
    bundle_of(s, repo, first, NULL);
    int64_t whole = size_of(sandbox_path(s, "bundle"));
    assert_true(whole > 20000);
    assert_ok(s, source_import_bundle(store, sandbox_path(s, "bundle"), &first, 1, &s->e));

    const char **tips = NULL;
    size_t n = 0;
    assert_ok(s, source_tips(store, &s->a, 10, &tips, &n, &s->e));
    /* a tip that the user does not have is left out of the exclusion */
    const char *exclude[] = {tips[0], "0123456789012345678901234567890123456789", "junk"};
    assert_ok(s, git_bundle(repo, &second, 1, exclude, 3, sandbox_path(s, "more"), &s->e));
    assert_true(size_of(sandbox_path(s, "more")) < 2000);
    assert_ok(s, source_import_bundle(store, sandbox_path(s, "more"), &second, 1, &s->e));
    assert_true(source_has_commit(store, second));
}

static void a_bundle_that_builds_on_an_unknown_commit_is_refused(void **state)
{
    struct sandbox *s = *state;
    CLEANUP(free_store) struct source_store *store = open_store(s);
    const char *repo = sandbox_repo(s, "repo");
    const char *first = sandbox_git(s, repo, "rev-parse", "HEAD", NULL);
    const char *second = sandbox_commit(s, repo);

    bundle_of(s, repo, second, first);
    int rc = source_import_bundle(store, sandbox_path(s, "bundle"), &second, 1, &s->e);
    assert_non_null(strstr(s->e.text, first));
    assert_code(s, rc, "source.bundle_bad");
    expect_store_untouched(s);
}

static void a_bundle_without_the_promised_commit_is_refused(void **state)
{
    struct sandbox *s = *state;
    CLEANUP(free_store) struct source_store *store = open_store(s);
    const char *repo = sandbox_repo(s, "repo");
    const char *first = sandbox_git(s, repo, "rev-parse", "HEAD", NULL);
    const char *ids[] = {first, sandbox_commit(s, repo)};

    bundle_of(s, repo, first, NULL);
    int rc = source_import_bundle(store, sandbox_path(s, "bundle"), ids, 2, &s->e);
    assert_non_null(strstr(s->e.text, ids[1]));
    assert_code(s, rc, "source.bundle_bad");
    expect_store_untouched(s);
    assert_false(source_has_commit(store, first));
}

static void a_tree_is_no_commit(void **state)
{
    struct sandbox *s = *state;
    CLEANUP(free_store) struct source_store *store = open_store(s);
    const char *repo = sandbox_repo(s, "repo");
    const char *tree = sandbox_git(s, repo, "rev-parse", "HEAD^{tree}", NULL);
    const char *id = sandbox_git(s, repo, "rev-parse", "HEAD", NULL);

    bundle_of(s, repo, id, NULL);
    assert_code(s, source_import_bundle(store, sandbox_path(s, "bundle"), &tree, 1, &s->e),
                "source.bundle_bad");
    expect_store_untouched(s);
}

/* Every single byte that is wrong, and every cut, is found. */
static void a_corrupted_bundle_is_refused_wherever_it_is_hit(void **state)
{
    struct sandbox *s = *state;
    CLEANUP(free_store) struct source_store *store = open_store(s);
    const char *repo = sandbox_repo(s, "repo");
    const char *id = sandbox_git(s, repo, "rev-parse", "HEAD", NULL);
    CLEANUP(buf_deinit) struct buf good = {0};

    assert_ok(s, file_read(bundle_of(s, repo, id, NULL), 1 << 20, &good, &s->e));
    const char *pack = memmem(good.data, good.len, "PACK", 4);
    assert_non_null(pack);
    const size_t head = (size_t)(pack - good.data);
    for (size_t at = 0; at < good.len; at += at < head ? 9 : 13) {
        const char *path = sandbox_path(s, "bad");
        if (at > 16 && at < head)
            continue; /* the list of references is not used; the named commits are sought */
        good.data[at] ^= 0x21;
        assert_ok(s, file_write(path, good.data, good.len, 0600, &s->e));
        good.data[at] ^= 0x21;
        assert_code(s, source_import_bundle(store, path, &id, 1, &s->e), "source.bundle_bad");
        assert_ok(s, file_write(path, good.data, at, 0600, &s->e));
        assert_code(s, source_import_bundle(store, path, &id, 1, &s->e), "source.bundle_bad");
    }
    expect_store_untouched(s);
    assert_ok(s, source_import_bundle(store, sandbox_path(s, "bundle"), &id, 1, &s->e));
}

/* A pack by hand that leaves the file's content out. */
static void a_bundle_that_lacks_a_file_is_refused(void **state)
{
    struct sandbox *s = *state;
    CLEANUP(free_store) struct source_store *store = open_store(s);
    const char *repo = sandbox_repo(s, "repo");
    const char *id = sandbox_git(s, repo, "rev-parse", "HEAD", NULL);
    const char *path = sandbox_path(s, "bad");

    sandbox_git(s, repo, "config", "alias.cut",
                arena_printf(&s->a,
                             "!{ printf '# v2 git bundle\\n%s refs/heads/main\\n\\n'; printf "
                             "'%s\\n%s\\n' | git pack-objects --stdout -q; } > '%s'",
                             id, id, sandbox_git(s, repo, "rev-parse", "HEAD^{tree}", NULL), path),
                NULL);
    sandbox_git(s, repo, "cut", NULL);
    assert_code(s, source_import_bundle(store, path, &id, 1, &s->e), "source.bundle_bad");
    expect_store_untouched(s);
}

/* Two files of one name in a folder: git's own check of objects finds it, a plain fetch from a
 * bundle would not. */
static void malformed_objects_are_refused(void **state)
{
    struct sandbox *s = *state;
    CLEANUP(free_store) struct source_store *store = open_store(s);
    const char *repo = sandbox_repo(s, "repo");
    const char *blob = sandbox_git(s, repo, "rev-parse", "HEAD:a.txt", NULL);

    sandbox_git(s, repo, "config", "alias.forge",
                arena_printf(&s->a, "!printf '100644 blob %s\\t.git\\n' | git mktree", blob), NULL);
    const char *tree = sandbox_git(s, repo, "forge", NULL);
    const char *id = sandbox_git(s, repo, "commit-tree", "-m", "x", tree, NULL);
    assert_code(s, source_import_bundle(store, bundle_of(s, repo, id, NULL), &id, 1, &s->e),
                "source.bundle_bad");
    expect_store_untouched(s);
}

static void other_files_are_no_bundles(void **state)
{
    struct sandbox *s = *state;
    CLEANUP(free_store) struct source_store *store = open_store(s);
    const char *id = "0123456789012345678901234567890123456789";
    const char *const texts[] = {"",
                                 "x",
                                 "# v2 git bundle\n",
                                 "# v3 git bundle\n\nPACK",
                                 "# v2 git bundle\n-xyz\n\nPACK",
                                 "# v2 git bundle\n\n"};

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        assert_code(s,
                    source_import_bundle(store, sandbox_write(s, sandbox_path(s, "f"), texts[i]),
                                         &id, 1, &s->e),
                    "source.bundle_bad");
    expect_store_untouched(s);
}

static void only_full_ids_are_taken(void **state)
{
    struct sandbox *s = *state;
    CLEANUP(free_store) struct source_store *store = open_store(s);
    const char *const bad[] = {"HEAD",
                               "0123",
                               "--all",
                               "",
                               "0123456789012345678901234567890123456789\n",
                               "ABCDEF6789012345678901234567890123456789"};
    bool missing[1];

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        assert_false(source_has_commit(store, bad[i]));
        assert_code(s, source_missing(store, &bad[i], 1, missing, &s->e), "source.bad_id");
        assert_code(s, source_import_bundle(store, "/nowhere", &bad[i], 1, &s->e), "source.bad_id");
    }
}

static void a_start_clears_what_an_interruption_left(void **state)
{
    struct sandbox *s = *state;
    const char *repo = sandbox_repo(s, "repo");
    const char *id = sandbox_git(s, repo, "rev-parse", "HEAD", NULL);
    struct source_store *store = open_store(s);

    assert_ok(s, source_import_bundle(store, bundle_of(s, repo, id, NULL), &id, 1, &s->e));
    const char *upload = arena_printf(&s->a, "%s/part", source_uploads_dir(store));
    sandbox_write(s, upload, "x");
    source_store_free(store);
    sandbox_write(s, sandbox_path(s, "state/repos/store.git/objects/incoming/pack/tmp_x"), "x");
    sandbox_write(s, sandbox_path(s, "state/repos/store.git.new/HEAD"), "x");
    sandbox_write(s, sandbox_path(s, "state/suites/.new/x"), "x");
    store = open_store(s);
    assert_false(file_exists(upload));
    assert_true(file_exists(source_uploads_dir(store)));
    assert_false(file_exists(sandbox_path(s, "state/repos/store.git/objects/incoming")));
    assert_false(file_exists(sandbox_path(s, "state/repos/store.git.new")));
    assert_false(file_exists(sandbox_path(s, "state/suites/.new")));
    assert_true(source_has_commit(store, id));
    source_store_free(store);
}

static void a_state_folder_that_git_cannot_name_is_refused(void **state)
{
    struct sandbox *s = *state;
    struct source_store *store = NULL;

    assert_ok(s, file_mkdirs(sandbox_path(s, "line\nbreak"), 0755, &s->e));
    assert_code(s, source_store_new(sandbox_path(s, "line\nbreak"), &store, &s->e),
                "source.state_path");
    assert_null(store);
    assert_int_equal(source_store_new(sandbox_path(s, "gone"), &store, &s->e), -ENOENT);
    assert_ok(s, file_mkdirs(sandbox_path(s, "odd \"'#:\xc3\xbc"), 0755, &s->e));
    err_clear(&s->e);
    assert_ok(s, source_store_new(sandbox_path(s, "odd \"'#:\xc3\xbc"), &store, &s->e));
    const char *repo = sandbox_repo(s, "repo");
    const char *id = sandbox_git(s, repo, "rev-parse", "HEAD", NULL);
    struct raw_source out = {0};
    assert_ok(s, source_import_bundle(store, bundle_of(s, repo, id, NULL), &id, 1, &s->e));
    assert_ok(s, source_checkout(store, &s->a, id, sandbox_path(s, "tree"), &out, &s->e));
    source_store_free(store);
}

static void a_bundle_for_the_evidence_stands_alone(void **state)
{
    struct sandbox *s = *state;
    CLEANUP(free_store) struct source_store *store = open_store(s);
    const char *repo = sandbox_repo(s, "repo");
    const char *first = sandbox_git(s, repo, "rev-parse", "HEAD", NULL);
    const char *second = sandbox_commit(s, repo);
    const char *both[] = {first, second};
    const char *unknown = "0123456789012345678901234567890123456789";

    assert_ok(s, source_import_bundle(store, bundle_of(s, repo, second, NULL), &second, 1, &s->e));
    assert_code(s, source_bundle_commits(store, &unknown, 1, sandbox_path(s, "ev"), &s->e),
                "source.not_here");
    assert_ok(s, source_bundle_commits(store, both, 2, sandbox_path(s, "ev"), &s->e));
    sandbox_git(s, s->dir, "init", "--quiet", "--bare", "fresh", NULL);
    sandbox_git(s, "fresh", "bundle", "verify", "--quiet", sandbox_path(s, "ev"), NULL);
    sandbox_git(s, "fresh", "fetch", "--quiet", sandbox_path(s, "ev"), "refs/*:refs/*", NULL);
    assert_string_equal(sandbox_git(s, "fresh", "cat-file", "-t", first, NULL), "commit");
    sandbox_git(s, "fresh", "rev-parse", "--verify",
                arena_printf(&s->a, "refs/aurabench/commits/%s", first), NULL);
}

static void borrowed_objects_of_the_user_are_sent_too(void **state)
{
    struct sandbox *s = *state;
    CLEANUP(free_store) struct source_store *store = open_store(s);

    sandbox_repo(s, "repo");
    sandbox_git(s, s->dir, "clone", "--quiet", "--shared", "repo", "one", NULL);
    sandbox_git(s, s->dir, "clone", "--quiet", "--shared", "one", "two", NULL);
    sandbox_write(s, sandbox_path(s, "two/more.txt"), "x");
    const char *id = sandbox_commit(s, sandbox_path(s, "two"));
    assert_ok(s, source_import_bundle(store, bundle_of(s, sandbox_path(s, "two"), id, NULL), &id, 1,
                                      &s->e));
    assert_true(source_has_commit(store, id));
}

static void a_repository_that_may_not_be_written_can_be_bundled(void **state)
{
    struct sandbox *s = *state;
    const char *repo = sandbox_repo(s, "repo");
    const char *id = sandbox_git(s, repo, "rev-parse", "HEAD", NULL);
    const char *before = sandbox_git(s, repo, "count-objects", "-v", NULL);
    const char *index = sandbox_read(s, sandbox_path(s, "repo/.git/HEAD"));

    assert_int_equal(chmod(sandbox_path(s, "repo/.git"), 0555), 0);
    assert_ok(s, git_check_repo(repo, &s->e));
    assert_ok(s, git_head_clean(repo, &s->e));
    bundle_of(s, repo, id, NULL);
    assert_string_equal(sandbox_git(s, repo, "count-objects", "-v", NULL), before);
    assert_string_equal(sandbox_read(s, sandbox_path(s, "repo/.git/HEAD")), index);
    assert_string_equal(sandbox_list(s, sandbox_path(s, "repo/.git/refs")), "heads tags");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SANDBOX_TEST(a_new_store_has_nothing),
        SANDBOX_TEST(an_imported_commit_is_here_with_its_history),
        SANDBOX_TEST(the_same_commit_twice_is_fine),
        SANDBOX_TEST(a_second_bundle_carries_only_what_is_missing),
        SANDBOX_TEST(a_bundle_that_builds_on_an_unknown_commit_is_refused),
        SANDBOX_TEST(a_bundle_without_the_promised_commit_is_refused),
        SANDBOX_TEST(a_tree_is_no_commit),
        SANDBOX_TEST(a_corrupted_bundle_is_refused_wherever_it_is_hit),
        SANDBOX_TEST(a_bundle_that_lacks_a_file_is_refused),
        SANDBOX_TEST(malformed_objects_are_refused),
        SANDBOX_TEST(other_files_are_no_bundles),
        SANDBOX_TEST(only_full_ids_are_taken),
        SANDBOX_TEST(a_start_clears_what_an_interruption_left),
        SANDBOX_TEST(a_state_folder_that_git_cannot_name_is_refused),
        SANDBOX_TEST(a_bundle_for_the_evidence_stands_alone),
        SANDBOX_TEST(borrowed_objects_of_the_user_are_sent_too),
        SANDBOX_TEST(a_repository_that_may_not_be_written_can_be_bundled),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
