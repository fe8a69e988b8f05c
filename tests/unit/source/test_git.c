/* The user's repository: which revisions name one commit, and what cannot be measured. */
#include "sandbox.h"

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

static void expect_id(struct sandbox *s, const char *repo, const char *rev, const char *expected)
{
    char id[GIT_ID_LEN + 1] = "";

    assert_ok(s, git_resolve(repo, rev, id, &s->e));
    assert_string_equal(id, expected);
}

static void expect_refused(struct sandbox *s, const char *repo, const char *rev, const char *code)
{
    char id[GIT_ID_LEN + 1] = "";

    assert_code(s, git_resolve(repo, rev, id, &s->e), code);
}

/* ---- revisions */

static void every_way_to_name_a_commit_gives_its_full_id(void **state)
{
    struct sandbox *s = *state;
    const char *repo = sandbox_repo(s, "repo");
    const char *first = sandbox_git(s, repo, "rev-parse", "HEAD", NULL);

    sandbox_git(s, repo, "tag", "light", NULL);
    sandbox_git(s, repo, "tag", "-a", "-m", "x", "v1.2", NULL);
    sandbox_write(s, sandbox_path(s, "repo/a.txt"), "two\n");
    const char *second = sandbox_commit(s, repo);
    sandbox_git(s, repo, "branch", "side/branch", NULL);
    expect_id(s, repo, "HEAD", second);
    expect_id(s, repo, "@", second);
    expect_id(s, repo, "main", second);
    expect_id(s, repo, "refs/heads/main", second);
    expect_id(s, repo, "side/branch", second);
    expect_id(s, repo, "HEAD~1", first);
    expect_id(s, repo, "main^", first);
    expect_id(s, repo, "HEAD@{0}", second);
    expect_id(s, repo, "light", first);
    expect_id(s, repo, "v1.2", first); /* not the id of the tag object */
    expect_id(s, repo, "v1.2^{commit}", first);
    expect_id(s, repo, arena_strndup(&s->a, first, 12), first);
    expect_id(s, repo, first, first);
    assert_ok(s, file_mkdirs(sandbox_path(s, "repo/deep/er"), 0755, &s->e));
    expect_id(s, sandbox_path(s, "repo/deep/er"), "HEAD", second);
}

static void what_names_no_commit_is_unresolved(void **state)
{
    struct sandbox *s = *state;
    const char *repo = sandbox_repo(s, "repo");
    const char *const bad[] = {"nope",
                               "v9",
                               "",
                               "--all",
                               "HEAD~9",
                               "HEAD:a.txt",
                               "HEAD^{tree}",
                               "main..HEAD",
                               "a\nb",
                               "0123456789012345678901234567890123456789",
                               "deadbeef"};

    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        expect_refused(s, repo, bad[i], "source.unresolved");
}

static void a_name_of_branch_and_tag_is_ambiguous(void **state)
{
    struct sandbox *s = *state;
    const char *repo = sandbox_repo(s, "repo");

    sandbox_git(s, repo, "branch", "v1", NULL);
    sandbox_git(s, repo, "tag", "v1", NULL);
    expect_refused(s, repo, "v1", "source.ambiguous");
    expect_refused(s, repo, "v1~0", "source.ambiguous");
    expect_id(s, repo, "refs/tags/v1", sandbox_git(s, repo, "rev-parse", "HEAD", NULL));
}

static void a_branch_named_like_an_id_is_ambiguous(void **state)
{
    struct sandbox *s = *state;
    const char *repo = sandbox_repo(s, "repo");
    const char *first = sandbox_git(s, repo, "rev-parse", "HEAD", NULL);
    const char *abbreviated = arena_strndup(&s->a, first, 8);

    sandbox_write(s, sandbox_path(s, "repo/a.txt"), "two\n");
    const char *second = sandbox_commit(s, repo);
    sandbox_git(s, repo, "branch", abbreviated, NULL);
    expect_refused(s, repo, abbreviated, "source.ambiguous");
    sandbox_git(s, repo, "update-ref", arena_printf(&s->a, "refs/tags/%s", first), second, NULL);
    expect_refused(s, repo, first, "source.ambiguous");
    /* a word that only looks like hex digits is a name like any other */
    sandbox_git(s, repo, "branch", first[0] == 'f' ? "beef" : "feed", NULL);
    expect_id(s, repo, first[0] == 'f' ? "beef" : "feed", second);
}

/* A few hundred commits: two of them begin with the same four digits. */
static const char *make_twins(struct sandbox *s, const char *repo)
{
    CLEANUP(buf_deinit) struct buf stream = {0};

    for (int i = 0; i < 1500; i++)
        buf_printf(&stream,
                   "commit refs/heads/many\ncommitter A <a@example.org> %d +0000\ndata 1\nx\n",
                   1000000 + i);
    FILE *f = fopen(sandbox_path(s, "stream"), "w");
    assert_non_null(f);
    fputs(buf_str(&stream), f);
    fclose(f);
    /* git fast-import reads standard input; an alias of the sandbox gives it the file */
    sandbox_git(s, repo, "config", "alias.take",
                arena_printf(&s->a, "!git fast-import --quiet < '%s'", sandbox_path(s, "stream")),
                NULL);
    sandbox_git(s, repo, "take", NULL);
    const char *ids = sandbox_git(s, repo, "rev-list", "many", NULL);
    for (const char *p = ids; strlen(p) > GIT_ID_LEN; p += GIT_ID_LEN + 1)
        for (const char *q = p + GIT_ID_LEN + 1; strlen(q) >= GIT_ID_LEN;
             q += GIT_ID_LEN + (q[GIT_ID_LEN] == '\n'))
            if (strncmp(p, q, 4) == 0)
                return arena_strndup(&s->a, p, 4);
    fail_msg("no two ids share four digits");
    return NULL;
}

static void an_abbreviation_of_two_commits_is_ambiguous(void **state)
{
    struct sandbox *s = *state;
    const char *repo = sandbox_repo(s, "repo");

    expect_refused(s, repo, make_twins(s, repo), "source.ambiguous");
}

/* ---- repositories */

static void what_is_no_checkout_is_refused(void **state)
{
    struct sandbox *s = *state;
    const char *repo = sandbox_repo(s, "repo");

    assert_ok(s, git_check_repo(repo, &s->e));
    assert_code(s, git_check_repo(sandbox_path(s, "gone"), &s->e), "source.not_a_repository");
    assert_code(s, git_check_repo("", &s->e), "source.not_a_repository");
    assert_code(s, git_check_repo(sandbox_path(s, "repo/a.txt"), &s->e), "source.not_a_repository");
    assert_code(s, git_check_repo(sandbox_path(s, "repo/.git"), &s->e), "source.not_a_repository");
    assert_ok(s, file_mkdirs(sandbox_path(s, "empty"), 0755, &s->e));
    assert_code(s, git_check_repo(sandbox_path(s, "empty"), &s->e), "source.not_a_repository");
}

static void a_bare_repository_is_refused(void **state)
{
    struct sandbox *s = *state;

    sandbox_repo(s, "repo");
    sandbox_git(s, s->dir, "clone", "--quiet", "--bare", "repo", "bare.git", NULL);
    assert_code(s, git_check_repo(sandbox_path(s, "bare.git"), &s->e), "source.bare");
}

static void a_shallow_clone_is_refused(void **state)
{
    struct sandbox *s = *state;
    const char *repo = sandbox_repo(s, "repo");

    sandbox_commit(s, repo);
    sandbox_git(s, s->dir, "clone", "--quiet", "--depth=1", arena_printf(&s->a, "file://%s", repo),
                "shallow", NULL);
    assert_code(s, git_check_repo(sandbox_path(s, "shallow"), &s->e), "source.shallow");
}

static void a_partial_clone_is_refused(void **state)
{
    struct sandbox *s = *state;
    const char *repo = sandbox_repo(s, "repo");

    sandbox_git(s, repo, "config", "uploadpack.allowFilter", "true", NULL);
    sandbox_git(s, s->dir, "clone", "--quiet", "--filter=blob:none", "--no-checkout",
                arena_printf(&s->a, "file://%s", repo), "partial", NULL);
    assert_code(s, git_check_repo(sandbox_path(s, "partial"), &s->e), "source.partial");
}

static void other_object_ids_are_refused(void **state)
{
    struct sandbox *s = *state;

    sandbox_git(s, s->dir, "init", "--quiet", "--object-format=sha256", "wide", NULL);
    assert_code(s, git_check_repo(sandbox_path(s, "wide"), &s->e), "source.object_format");
}

static void a_worktree_of_the_user_is_a_checkout(void **state)
{
    struct sandbox *s = *state;
    const char *repo = sandbox_repo(s, "repo");

    sandbox_git(s, repo, "worktree", "add", "--quiet", "-b", "side", "../tree", NULL);
    sandbox_write(s, sandbox_path(s, "tree/a.txt"), "two\n");
    const char *id = sandbox_commit(s, sandbox_path(s, "tree"));
    assert_ok(s, git_check_repo(sandbox_path(s, "tree"), &s->e));
    expect_id(s, sandbox_path(s, "tree"), "HEAD", id);
    assert_ok(s, git_head_clean(sandbox_path(s, "tree"), &s->e));
}

static void what_git_says_about_other_peoples_repositories_is_passed_on(void **state)
{
    struct sandbox *s = *state;
    const char *repo = sandbox_repo(s, "repo");

    if (geteuid() != 0)
        skip(); /* nobody else may give a folder away */
    assert_int_equal(chown(repo, 65534, 65534), 0);
    assert_int_equal(chown(sandbox_path(s, "repo/.git"), 65534, 65534), 0);
    int rc = git_check_repo(repo, &s->e);
    assert_non_null(strstr(s->e.text, "dubious ownership"));
    assert_code(s, rc, "source.not_a_repository");
}

static void odd_paths_of_repositories_work(void **state)
{
    struct sandbox *s = *state;
    const char *const names[] = {"with blank", "\xc3\xbcml\xc3\xa4ut", "line\nbreak", "-C",
                                 "quote\"'$(x)"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *repo = sandbox_repo(s, names[i]);
        const char *id = sandbox_git(s, repo, "rev-parse", "HEAD", NULL);
        assert_ok(s, git_check_repo(repo, &s->e));
        expect_id(s, repo, "main", id);
        assert_ok(s, git_head_clean(repo, &s->e));
        assert_ok(s, git_check_commit(repo, id, &s->e));
        const char *out = sandbox_path(s, "out%zu", i);
        assert_ok(s, git_bundle(repo, &id, 1, NULL, 0, out, &s->e));
        assert_true(file_exists(out));
    }
}

/* ---- the checkout */

static void a_dirty_checkout_is_refused_with_its_files(void **state)
{
    struct sandbox *s = *state;
    const char *repo = sandbox_repo(s, "repo");

    sandbox_write(s, sandbox_path(s, "repo/.gitignore"), "*.o\n");
    sandbox_commit(s, repo);
    sandbox_write(s, sandbox_path(s, "repo/ignored.o"), "x");
    assert_ok(s, git_head_clean(repo, &s->e));
    sandbox_write(s, sandbox_path(s, "repo/a.txt"), "changed\n");
    sandbox_write(s, sandbox_path(s, "repo/staged"), "x");
    sandbox_git(s, repo, "add", "staged", NULL);
    sandbox_write(s, sandbox_path(s, "repo/line\nbreak"), "x");
    int rc = git_head_clean(repo, &s->e);
    assert_non_null(strstr(s->e.text, "a.txt"));
    assert_non_null(strstr(s->e.text, "staged"));
    assert_non_null(strstr(s->e.text, "\"line\\nbreak\""));
    assert_null(strstr(s->e.text, "ignored.o"));
    assert_null(strchr(s->e.text, '\n'));
    assert_code(s, rc, "source.dirty");
}

static void of_many_dirty_files_ten_are_named(void **state)
{
    struct sandbox *s = *state;
    const char *repo = sandbox_repo(s, "repo");

    for (int i = 0; i < 25; i++)
        sandbox_write(s, sandbox_path(s, "repo/f%02d", i), "x");
    int rc = git_head_clean(repo, &s->e);
    assert_non_null(strstr(s->e.text, "f09"));
    assert_null(strstr(s->e.text, "f10"));
    assert_non_null(strstr(s->e.text, "and 15 more"));
    assert_code(s, rc, "source.dirty");
}

static void expect_names_checkout(struct sandbox *s, const char *repo, const char *rev,
                                  bool expected)
{
    bool yes = !expected;

    assert_ok(s, git_names_checkout(repo, rev, &yes, &s->e));
    assert_int_equal(yes, expected);
}

static void head_and_its_branch_name_the_checkout(void **state)
{
    struct sandbox *s = *state;
    const char *repo = sandbox_repo(s, "repo");

    sandbox_git(s, repo, "tag", "v1", NULL);
    sandbox_git(s, repo, "branch", "other", NULL);
    expect_names_checkout(s, repo, "HEAD", true);
    expect_names_checkout(s, repo, "@", true);
    expect_names_checkout(s, repo, "main", true);
    expect_names_checkout(s, repo, "other", false);
    expect_names_checkout(s, repo, "v1", false);
    expect_names_checkout(s, repo, "HEAD~0", false);
    expect_names_checkout(s, repo, sandbox_git(s, repo, "rev-parse", "HEAD", NULL), false);
    sandbox_git(s, repo, "checkout", "--quiet", "--detach", NULL);
    expect_names_checkout(s, repo, "HEAD", true);
    expect_names_checkout(s, repo, "main", false);
}

static void submodules_are_refused_by_name(void **state)
{
    struct sandbox *s = *state;
    const char *repo = sandbox_repo(s, "repo");
    const char *inner = sandbox_repo(s, "inner");

    sandbox_git(s, repo, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner,
                "third/party", NULL);
    int rc = git_check_commit(repo, sandbox_commit(s, repo), &s->e);
    assert_non_null(strstr(s->e.text, "third/party"));
    assert_non_null(strstr(s->e.text, "not supported yet by this version"));
    assert_code(s, rc, "source.submodule");
}

#define POINTER                                                                                    \
    "version https://git-lfs.github.com/spec/v1\n"                                                 \
    "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"

static void files_kept_in_lfs_are_refused_by_name(void **state)
{
    struct sandbox *s = *state;
    const char *repo = sandbox_repo(s, "repo");

    /* the text alone, without the attribute, is a file like others */
    sandbox_write(s, sandbox_path(s, "repo/data/model.bin"), POINTER);
    assert_ok(s, git_check_commit(repo, sandbox_commit(s, repo), &s->e));
    sandbox_write(s, sandbox_path(s, "repo/data/.gitattributes"), "*.bin filter=lfs -text\n");
    int rc = git_check_commit(repo, sandbox_commit(s, repo), &s->e);
    assert_non_null(strstr(s->e.text, "data/model.bin"));
    assert_code(s, rc, "source.lfs");
}

/* ---- nothing of others takes part */

static void variables_of_git_do_not_mislead(void **state)
{
    struct sandbox *s = *state;
    const char *repo = sandbox_repo(s, "repo");
    const char *decoy = sandbox_repo(s, "decoy");
    const char *id = sandbox_git(s, repo, "rev-parse", "HEAD", NULL);

    sandbox_write(s, sandbox_path(s, "decoy/a.txt"), "decoy\n");
    sandbox_commit(s, decoy);
    setenv("GIT_DIR", sandbox_path(s, "decoy/.git"), 1);
    setenv("GIT_WORK_TREE", decoy, 1);
    setenv("GIT_INDEX_FILE", sandbox_path(s, "decoy/.git/index"), 1);
    setenv("GIT_CONFIG_COUNT", "1", 1);
    setenv("GIT_CONFIG_KEY_0", "core.bare", 1);
    setenv("GIT_CONFIG_VALUE_0", "true", 1);
    assert_ok(s, git_check_repo(repo, &s->e));
    expect_id(s, repo, "HEAD", id);
    assert_ok(s, git_head_clean(repo, &s->e));
    assert_ok(s, git_bundle(repo, &id, 1, NULL, 0, sandbox_path(s, "out"), &s->e));
    unsetenv("GIT_DIR");
    unsetenv("GIT_WORK_TREE");
    unsetenv("GIT_INDEX_FILE");
    unsetenv("GIT_CONFIG_COUNT");
}

static void a_replaced_commit_is_what_its_id_says(void **state)
{
    struct sandbox *s = *state;
    const char *repo = sandbox_repo(s, "repo");
    const char *first = sandbox_git(s, repo, "rev-parse", "HEAD", NULL);

    sandbox_write(s, sandbox_path(s, "repo/a.txt"), "two\n");
    const char *second = sandbox_commit(s, repo);
    sandbox_commit(s, repo);
    sandbox_git(s, repo, "replace", second, first, NULL);
    expect_id(s, repo, "HEAD~2", first);
}

static void no_program_of_the_repository_runs(void **state)
{
    struct sandbox *s = *state;
    const char *repo = sandbox_repo(s, "repo");
    const char *trace = sandbox_path(s, "trace");
    const char *trap = sandbox_tripwire(s, sandbox_path(s, "trap"), trace);
    const char *const hooks[] = {"post-checkout", "post-index-change", "reference-transaction",
                                 "fsmonitor-watchman"};

    sandbox_write(s, sandbox_path(s, "repo/.gitattributes"), "*.txt filter=evil diff=evil\n");
    const char *id = sandbox_commit(s, repo);
    for (size_t i = 0; i < ARRAY_LEN(hooks); i++)
        sandbox_tripwire(s, sandbox_path(s, "repo/.git/hooks/%s", hooks[i]), trace);
    const char *const keys[] = {
        "core.fsmonitor",     "filter.evil.clean", "filter.evil.smudge",
        "diff.evil.textconv", "diff.external",     "core.pager",
        "core.sshCommand",    "alias.rev-parse",   "core.alternateRefsCommand"};
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        sandbox_git(s, repo, "config", keys[i], trap, NULL);
    sandbox_git(s, repo, "config", "filter.evil.required", "true", NULL);
    /* the same content with another time: git has to look into the file */
    (void)unlink(trace);
    const struct timespec old[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    assert_int_equal(utimensat(AT_FDCWD, sandbox_path(s, "repo/a.txt"), old, 0), 0);
    assert_ok(s, git_check_repo(repo, &s->e));
    expect_id(s, repo, "HEAD", id);
    assert_ok(s, git_head_clean(repo, &s->e));
    assert_ok(s, git_check_commit(repo, id, &s->e));
    assert_ok(s, git_bundle(repo, &id, 1, NULL, 0, sandbox_path(s, "out"), &s->e));
    assert_false(file_exists(trace));
    /* the trap itself works */
    (void)sandbox_git_status(s, repo, "status", NULL);
    assert_true(file_exists(trace));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SANDBOX_TEST(every_way_to_name_a_commit_gives_its_full_id),
        SANDBOX_TEST(what_names_no_commit_is_unresolved),
        SANDBOX_TEST(a_name_of_branch_and_tag_is_ambiguous),
        SANDBOX_TEST(a_branch_named_like_an_id_is_ambiguous),
        SANDBOX_TEST(an_abbreviation_of_two_commits_is_ambiguous),
        SANDBOX_TEST(what_is_no_checkout_is_refused),
        SANDBOX_TEST(a_bare_repository_is_refused),
        SANDBOX_TEST(a_shallow_clone_is_refused),
        SANDBOX_TEST(a_partial_clone_is_refused),
        SANDBOX_TEST(other_object_ids_are_refused),
        SANDBOX_TEST(a_worktree_of_the_user_is_a_checkout),
        SANDBOX_TEST(what_git_says_about_other_peoples_repositories_is_passed_on),
        SANDBOX_TEST(odd_paths_of_repositories_work),
        SANDBOX_TEST(a_dirty_checkout_is_refused_with_its_files),
        SANDBOX_TEST(of_many_dirty_files_ten_are_named),
        SANDBOX_TEST(head_and_its_branch_name_the_checkout),
        SANDBOX_TEST(submodules_are_refused_by_name),
        SANDBOX_TEST(files_kept_in_lfs_are_refused_by_name),
        SANDBOX_TEST(variables_of_git_do_not_mislead),
        SANDBOX_TEST(a_replaced_commit_is_what_its_id_says),
        SANDBOX_TEST(no_program_of_the_repository_runs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
