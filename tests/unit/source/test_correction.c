/* Authorized corrections: exactly the allowed diff between base and corrected commit, or a refusal
 * that names what is different. */
#include "sandbox.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/files.h"
#include "base/mem.h"
#include "client/git/git.h"
#include "source/correction.h"

#define DIFFERS "source.correction_differs"
#define UNAPPLIED "source.correction_unapplied"

/* One proof: a repository with a base, a corrected commit and a diff. */
struct world {
    struct sandbox *s;
    const char *repo, *base, *corrected;
    struct source_store *store;
    struct raw_correction proof;
};

static const char *file_of(struct world *w, const char *name)
{
    return arena_printf(&w->s->a, "%s/%s", w->repo, name);
}

static void put(struct world *w, const char *name, const char *text)
{
    sandbox_write(w->s, file_of(w, name), text);
}

#define LINES "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20\n"

/* The base: twenty lines in src/x.c, a file b.txt, a link. */
static struct world world_new(void **state)
{
    struct world w = {.s = *state};

    w.repo = sandbox_repo(w.s, "repo");
    put(&w, "src/x.c", LINES);
    put(&w, "b.txt", "bee\n");
    assert_int_equal(symlink("b.txt", file_of(&w, "link")), 0);
    w.base = sandbox_commit(w.s, w.repo);
    return w;
}

static void world_free(struct world *w)
{
    source_store_free(w->store);
}

#define WORLD CLEANUP(world_free) struct world

/* What git prints for the change from base to where the repository stands now. */
static const char *diff_now(struct world *w)
{
    sandbox_git(w->s, w->repo, "add", "--all", NULL);
    return arena_printf(&w->s->a, "%s\n",
                        sandbox_git(w->s, w->repo, "diff", "--cached", "--binary", w->base, NULL));
}

static void to_base(struct world *w)
{
    sandbox_git(w->s, w->repo, "reset", "--quiet", "--hard", w->base, NULL);
    sandbox_git(w->s, w->repo, "clean", "-fdq", NULL);
}

static void correct(struct world *w)
{
    w->corrected = sandbox_commit(w->s, w->repo);
}

/* Proves; the store is filled the first time. */
static int prove(struct world *w, const char *diff)
{
    struct sandbox *s = w->s;
    const char *const ids[] = {w->base, w->corrected};
    char sha256[DIGEST_HEX];
    struct job_correction c = {.base = "v1", .base_commit = w->base, .diff = diff};
    const struct job_source source = {.side = "after", .commit = w->corrected, .correction = &c};

    c.approved_by = "Ada";
    c.reason = "does not compile";
    if (!w->store) {
        assert_ok(s, file_mkdirs(sandbox_path(s, "state"), 0755, &s->e));
        assert_ok(s, source_store_new(sandbox_path(s, "state"), &w->store, &s->e));
        assert_ok(s, git_bundle(w->repo, ids, 2, NULL, 0, sandbox_path(s, "bundle"), &s->e));
        assert_ok(s, source_import_bundle(w->store, sandbox_path(s, "bundle"), ids, 2, &s->e));
    }
    const char *before =
        sandbox_git(s, sandbox_path(s, "state/repos/store.git"), "count-objects", NULL);
    int rc = source_prove_correction(w->store, &s->a, &source, &w->proof, &s->e);
    digest_bytes(diff, strlen(diff), sha256);
    assert_string_equal(w->proof.diff_sha256, sha256);
    assert_int_equal(w->proof.proven, rc == 0);
    /* nothing remains of it, whatever came out */
    assert_string_equal(sandbox_list(s, sandbox_path(s, "state/uploads")), "");
    assert_string_equal(
        sandbox_git(s, sandbox_path(s, "state/repos/store.git"), "count-objects", NULL), before);
    return rc;
}

static void proven(struct world *w, const char *diff, int64_t files, int64_t added, int64_t removed)
{
    assert_ok(w->s, prove(w, diff));
    assert_string_equal(w->proof.base_commit, w->base);
    assert_string_equal(w->proof.corrected, w->corrected);
    assert_string_equal(w->proof.approved_by, "Ada");
    assert_string_equal(w->proof.reason, "does not compile");
    assert_int_equal(w->proof.files, files);
    assert_int_equal(w->proof.lines_added, added);
    assert_int_equal(w->proof.lines_removed, removed);
}

/* Refused with the code; the sentence has each of the parts (NULL-terminated). */
static void refused(struct world *w, const char *diff, const char *code, const char *const *parts)
{
    struct sandbox *s = w->s;
    int rc = prove(w, diff);

    assert_int_not_equal(rc, 0);
    assert_string_equal(s->e.field, "sources.after.correction");
    for (; *parts; parts++)
        if (!strstr(s->e.text, *parts))
            fail_msg("\"%s\" is not in: %s", *parts, s->e.text);
    assert_code(s, rc, code);
}

#define PARTS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* src/x.c with other lines 3 and 18 (NULL: as they are). */
static void edit(struct world *w, const char *third, const char *eighteenth)
{
    struct arena *a = &w->s->a;
    put(w, "src/x.c",
        arena_printf(a, "1\n2\n%s\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n%s\n19\n20\n",
                     third ? third : "3", eighteenth ? eighteenth : "18"));
}

static void exactly_the_allowed_diff_is_proven_and_counted(void **state)
{
    WORLD w = world_new(state);

    edit(&w, "3 as int32", "18 as int32");
    const char *diff = diff_now(&w);
    correct(&w);
    proven(&w, diff, 1, 2, 2);
}

/* Another context, an explanation around it: the same change. */
static void the_form_of_the_diff_is_free(void **state)
{
    WORLD w = world_new(state);

    edit(&w, "3 as int32", NULL);
    correct(&w);
    proven(&w, sandbox_git(w.s, w.repo, "format-patch", "-1", "--stdout", "-U1", w.corrected, NULL),
           1, 1, 1);
}

/* The same diff allowed on another base, where the lines have moved. */
static void line_numbers_may_be_off(void **state)
{
    WORLD w = world_new(state);

    edit(&w, NULL, "18 as int32");
    const char *diff = diff_now(&w);
    to_base(&w);
    put(&w, "src/x.c", "new\n" LINES);
    w.base = sandbox_commit(w.s, w.repo);
    put(&w, "src/x.c",
        "new\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18 as int32\n19\n20\n");
    correct(&w);
    proven(&w, diff, 1, 1, 1);
}

static void an_extra_hunk_is_refused_and_named(void **state)
{
    WORLD w = world_new(state);

    edit(&w, "3 as int32", NULL);
    const char *diff = diff_now(&w);
    edit(&w, "3 as int32", "18 faster");
    correct(&w);
    refused(&w, diff, DIFFERS, PARTS("src/x.c", "@@ -15,6 +15,6 @@", "the commit has \"-18\""));
}

static void a_hunk_that_is_missing_is_refused_and_named(void **state)
{
    WORLD w = world_new(state);

    edit(&w, "3 as int32", "18 as int32");
    const char *diff = diff_now(&w);
    edit(&w, "3 as int32", NULL);
    correct(&w);
    refused(&w, diff, DIFFERS,
            PARTS("src/x.c", "@@ -15,6 +15,6 @@", "the allowed diff has \"-18\""));
}

static void one_other_byte_is_refused_and_named(void **state)
{
    WORLD w = world_new(state);

    edit(&w, "3 as int32", NULL);
    const char *diff = diff_now(&w);
    edit(&w, "3 as int64", NULL);
    correct(&w);
    refused(&w, diff, DIFFERS, PARTS("src/x.c", "@@ -1,6 +1,6 @@", "\"+3 as int64\""));
}

static void an_extra_file_is_refused_and_named(void **state)
{
    WORLD w = world_new(state);

    edit(&w, "3 as int32", NULL);
    const char *diff = diff_now(&w);
    put(&w, "src/cache.c", "fast\n");
    correct(&w);
    refused(&w, diff, DIFFERS, PARTS("src/cache.c", "the commit has \"new file mode 100644\""));
}

static void a_file_that_only_the_diff_adds_is_refused_and_named(void **state)
{
    WORLD w = world_new(state);

    put(&w, "n.txt", "n\n");
    edit(&w, "3 as int32", NULL);
    const char *diff = diff_now(&w);
    to_base(&w);
    edit(&w, "3 as int32", NULL);
    correct(&w);
    refused(&w, diff, DIFFERS, PARTS("n.txt", "the allowed diff has \"new file mode"));
}

static void a_mode_is_part_of_the_diff(void **state)
{
    WORLD w = world_new(state);

    edit(&w, "3 as int32", NULL);
    const char *without = diff_now(&w);
    assert_int_equal(chmod(file_of(&w, "src/x.c"), 0755), 0);
    const char *with = diff_now(&w);
    correct(&w);
    proven(&w, with, 1, 1, 1);
    refused(&w, without, DIFFERS, PARTS("src/x.c", "before its first hunk", "old mode 100644"));
}

static void a_link_is_part_of_the_diff(void **state)
{
    WORLD w = world_new(state);

    assert_int_equal(unlink(file_of(&w, "link")), 0);
    assert_int_equal(symlink("a.txt", file_of(&w, "link")), 0);
    const char *diff = diff_now(&w);
    correct(&w);
    proven(&w, diff, 1, 1, 1);
    to_base(&w);
    assert_int_equal(unlink(file_of(&w, "link")), 0);
    assert_int_equal(symlink("src/x.c", file_of(&w, "link")), 0);
    refused(&w, diff_now(&w), DIFFERS, PARTS("link", "\"+a.txt\""));
}

static void a_link_that_becomes_a_file_is_a_difference(void **state)
{
    WORLD w = world_new(state);

    assert_int_equal(unlink(file_of(&w, "link")), 0);
    put(&w, "link", "b.txt"); /* the same bytes as the link's target */
    const char *diff = diff_now(&w);
    correct(&w);
    proven(&w, diff, 1, 0, 0);
    to_base(&w);
    edit(&w, "3 as int32", NULL);
    refused(&w, diff_now(&w), DIFFERS, PARTS("link", "deleted file mode 120000"));
}

static void a_binary_file_needs_its_whole_diff(void **state)
{
    WORLD w = world_new(state);
    const char *file = file_of(&w, "b.txt");
    struct sandbox *s = w.s;

    assert_ok(s, file_write(file, "a\0b\0c", 5, 0644, &s->e));
    const char *diff = diff_now(&w);
    const char *lossy =
        arena_printf(&s->a, "%s\n", sandbox_git(s, w.repo, "diff", "--cached", w.base, NULL));
    correct(&w);
    proven(&w, diff, 1, 0, 0);
    refused(&w, lossy, UNAPPLIED, PARTS("b.txt"));
    to_base(&w);
    assert_ok(s, file_write(file, "a\0b\0d", 5, 0644, &s->e));
    refused(&w, diff_now(&w), DIFFERS, PARTS("b.txt", "before its first hunk"));
}

static void a_rename_is_proven_by_what_it_amounts_to(void **state)
{
    WORLD w = world_new(state);

    sandbox_git(w.s, w.repo, "mv", "src/x.c", "src/y.c", NULL);
    const char *as_rename = arena_printf(
        &w.s->a, "%s\n", sandbox_git(w.s, w.repo, "diff", "--cached", "-M", w.base, NULL));
    const char *as_files =
        arena_printf(&w.s->a, "%s\n",
                     sandbox_git(w.s, w.repo, "diff", "--cached", "--no-renames", w.base, NULL));
    assert_non_null(strstr(as_rename, "rename to src/y.c"));
    correct(&w);
    proven(&w, as_rename, 2, 20, 20);
    proven(&w, as_files, 2, 20, 20);
}

static void line_ends_are_bytes_like_others(void **state)
{
    WORLD w = world_new(state);

    put(&w, "b.txt", "one\r\ntwo\r\n");
    put(&w, ".gitattributes", "* text=auto eol=crlf\n");
    sandbox_git(w.s, w.repo, "config", "core.autocrlf", "false", NULL);
    sandbox_git(w.s, w.repo, "rm", "--quiet", "--cached", "-r", ".", NULL);
    put(&w, ".gitattributes", "* -text\n");
    w.base = sandbox_commit(w.s, w.repo);
    put(&w, "b.txt", "one\r\n2\r\n");
    const char *crlf = diff_now(&w);
    assert_non_null(strstr(crlf, "+2\r\n"));
    correct(&w);
    proven(&w, crlf, 1, 1, 1);
    to_base(&w);
    put(&w, "b.txt", "one\r\n2\n");
    const char *lf = diff_now(&w);
    refused(&w, lf, DIFFERS, PARTS("b.txt", "@@ -1,2 +1,2 @@"));
}

static void attributes_of_the_tree_have_no_say(void **state)
{
    WORLD w = world_new(state);

    put(&w, ".gitattributes", "*.txt text eol=crlf whitespace=fix -diff filter=evil\n");
    w.base = sandbox_commit(w.s, w.repo);
    put(&w, "b.txt", "bees  \n");
    const char *diff =
        arena_printf(&w.s->a, "%s\n",
                     (sandbox_git(w.s, w.repo, "add", "--all", NULL),
                      sandbox_git(w.s, w.repo, "diff", "--cached", "--text", w.base, NULL)));
    correct(&w);
    proven(&w, diff, 1, 1, 1);
}

static void white_space_alone_is_a_difference(void **state)
{
    WORLD w = world_new(state);

    edit(&w, "3  ", NULL);
    const char *diff = diff_now(&w);
    correct(&w);
    proven(&w, diff, 1, 1, 1);
    to_base(&w);
    edit(&w, "3 ", NULL);
    refused(&w, diff_now(&w), DIFFERS, PARTS("src/x.c", "@@ -1,6 +1,6 @@"));
    to_base(&w);
    edit(&w, "3", NULL);
    refused(&w, " \n", UNAPPLIED, PARTS("does not apply"));
}

static void a_missing_newline_at_the_end_is_a_difference(void **state)
{
    WORLD w = world_new(state);

    put(&w, "b.txt", "beehive\n");
    const char *diff = diff_now(&w);
    put(&w, "b.txt", "beehive");
    correct(&w);
    refused(&w, diff, DIFFERS, PARTS("b.txt", "No newline at end of file"));
}

static void an_empty_or_senseless_diff_does_not_apply(void **state)
{
    WORLD w = world_new(state);

    edit(&w, "3 as int32", NULL);
    correct(&w);
    refused(&w, "", UNAPPLIED, PARTS("No valid patches"));
    refused(&w, "please allow this\n", UNAPPLIED, PARTS("No valid patches"));
    refused(&w, "--- a/src/x.c\n+++ b/src/x.c\n@@ -1,3 +1,3 @@\n 1\n", UNAPPLIED, PARTS("line"));
}

static void a_diff_for_other_text_does_not_apply(void **state)
{
    WORLD w = world_new(state);

    edit(&w, "3 as int32", NULL);
    const char *twice = diff_now(&w);
    correct(&w);
    w.base = w.corrected;
    edit(&w, "3 as int32 as int64", NULL);
    correct(&w);
    refused(&w, twice, UNAPPLIED, PARTS("src/x.c"));
    refused(&w, "--- a/none.c\n+++ b/none.c\n@@ -1 +1 @@\n-a\n+b\n", UNAPPLIED, PARTS("none.c"));
}

/* The allowed diff is somebody's file: whatever paths it names, nothing is written anywhere. */
static void hostile_paths_reach_no_file(void **state)
{
    WORLD w = world_new(state);
    struct sandbox *s = w.s;
    const char *target = sandbox_path(s, "owned");
    const char *up = "--- /dev/null\n+++ b/../owned\n@@ -0,0 +1 @@\n+x\n";
    const char *far = "--- /dev/null\n+++ b/../../../../owned\n@@ -0,0 +1 @@\n+x\n";
    const char *absolute =
        arena_printf(&s->a, "--- /dev/null\n+++ %s\n@@ -0,0 +1 @@\n+x\n", target);
    const char *dot_git = "--- /dev/null\n+++ b/.git/hooks/x\n@@ -0,0 +1 @@\n+x\n";
    const char *through = "--- /dev/null\n+++ b/out/owned\n@@ -0,0 +1 @@\n+x\n";

    assert_int_equal(symlink(s->dir, file_of(&w, "out")), 0);
    w.base = sandbox_commit(s, w.repo);
    edit(&w, "3 as int32", NULL);
    correct(&w);
    refused(&w, up, UNAPPLIED, PARTS("../owned"));
    refused(&w, far, UNAPPLIED, PARTS("owned"));
    refused(&w, dot_git, UNAPPLIED, PARTS(".git/hooks/x"));
    refused(&w, through, UNAPPLIED, PARTS("out/owned"));
    refused(&w, absolute, DIFFERS, PARTS("src/x.c")); /* read as a path in the tree */
    assert_false(file_exists(target));
    assert_false(file_exists(sandbox_path(s, "state/owned")));
}

static void names_are_shown_without_their_control_characters(void **state)
{
    WORLD w = world_new(state);

    edit(&w, "3 as int32", NULL);
    const char *diff = diff_now(&w);
    put(&w, "a\x1b[31m\nname", "x\x1b[0m\n");
    correct(&w);
    refused(&w, diff, DIFFERS, PARTS("a\\x1b[31m\\x0aname"));
}

static void the_base_is_the_one_parent(void **state)
{
    WORLD w = world_new(state);

    edit(&w, "3 as int32", NULL);
    const char *diff = diff_now(&w);
    correct(&w);
    sandbox_git(w.s, w.repo, "commit", "--quiet", "--allow-empty", "--message=more", NULL);
    w.corrected = sandbox_git(w.s, w.repo, "rev-parse", "HEAD", NULL);
    refused(&w, diff, "source.correction_parent", PARTS("one parent"));
    w.base = w.corrected;
    refused(&w, diff, "source.correction_parent", PARTS("one parent"));
}

static void a_merge_has_more_than_one_parent(void **state)
{
    WORLD w = world_new(state);

    edit(&w, "3 as int32", NULL);
    const char *diff = diff_now(&w);
    const char *tree = sandbox_git(w.s, w.repo, "write-tree", NULL);
    const char *other = sandbox_git(w.s, w.repo, "rev-parse", "HEAD^", NULL);
    w.corrected = sandbox_git(w.s, w.repo, "commit-tree", "-m", "merge", "-p", w.base, "-p", other,
                              tree, NULL);
    refused(&w, diff, "source.correction_parent", PARTS("one parent"));
}

static void both_commits_must_be_here(void **state)
{
    WORLD w = world_new(state);

    edit(&w, "3 as int32", NULL);
    const char *diff = diff_now(&w);
    correct(&w);
    proven(&w, diff, 1, 1, 1);
    w.base = "0123456789012345678901234567890123456789";
    refused(&w, diff, "source.not_here", PARTS(w.base));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SANDBOX_TEST(exactly_the_allowed_diff_is_proven_and_counted),
        SANDBOX_TEST(the_form_of_the_diff_is_free),
        SANDBOX_TEST(line_numbers_may_be_off),
        SANDBOX_TEST(an_extra_hunk_is_refused_and_named),
        SANDBOX_TEST(a_hunk_that_is_missing_is_refused_and_named),
        SANDBOX_TEST(one_other_byte_is_refused_and_named),
        SANDBOX_TEST(an_extra_file_is_refused_and_named),
        SANDBOX_TEST(a_file_that_only_the_diff_adds_is_refused_and_named),
        SANDBOX_TEST(a_mode_is_part_of_the_diff),
        SANDBOX_TEST(a_link_is_part_of_the_diff),
        SANDBOX_TEST(a_link_that_becomes_a_file_is_a_difference),
        SANDBOX_TEST(a_binary_file_needs_its_whole_diff),
        SANDBOX_TEST(a_rename_is_proven_by_what_it_amounts_to),
        SANDBOX_TEST(line_ends_are_bytes_like_others),
        SANDBOX_TEST(attributes_of_the_tree_have_no_say),
        SANDBOX_TEST(white_space_alone_is_a_difference),
        SANDBOX_TEST(a_missing_newline_at_the_end_is_a_difference),
        SANDBOX_TEST(an_empty_or_senseless_diff_does_not_apply),
        SANDBOX_TEST(a_diff_for_other_text_does_not_apply),
        SANDBOX_TEST(hostile_paths_reach_no_file),
        SANDBOX_TEST(names_are_shown_without_their_control_characters),
        SANDBOX_TEST(the_base_is_the_one_parent),
        SANDBOX_TEST(a_merge_has_more_than_one_parent),
        SANDBOX_TEST(both_commits_must_be_here),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
