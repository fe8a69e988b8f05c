/* Which change of two diffs is the first that is not in both. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "source/difference.h"

#define HEAD "diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n"
#define FIRST "@@ -1,5 +1,5 @@ int f\n a\n-b\n+B\n c\n d\n e\n"
#define SECOND "@@ -20,3 +20,3 @@\n x\n-y\n+Y\n z\n"

static void expect(const char *corrected, const char *allowed, bool is_allowed, const char *hunk,
                   const char *line)
{
    struct difference_at at = {0};

    assert_true(difference_find(corrected, allowed, &at));
    assert_int_equal(at.is_allowed, is_allowed);
    if (hunk)
        assert_int_equal(strncmp(at.hunk, hunk, strlen(hunk)), 0);
    else
        assert_null(at.hunk);
    assert_int_equal(strncmp(at.line, line, strlen(line)), 0);
}

static void the_same_changes_are_no_difference(void **state)
{
    struct difference_at at = {0};

    assert_false(difference_find(HEAD FIRST SECOND, HEAD FIRST SECOND, &at));
    assert_false(difference_find("", "", &at));
}

static void an_extra_hunk_is_named_whichever_side_has_it(void **state)
{
    expect(HEAD FIRST SECOND, HEAD FIRST, false, "@@ -20,3", "-y");
    expect(HEAD FIRST, HEAD FIRST SECOND, true, "@@ -20,3", "-y");
    /* the later hunk is in both: the earlier one is the difference */
    expect(HEAD FIRST SECOND, HEAD SECOND, false, "@@ -1,5", "-b");
    expect(HEAD SECOND, HEAD FIRST SECOND, true, "@@ -1,5", "-b");
}

static void the_ranges_of_a_hunk_do_not_count_its_lines_do(void **state)
{
    expect(HEAD "@@ -1,6 +1,6 @@\n a\n-b\n+B\n c\n-d\n+D\n e\n f\n", HEAD FIRST, false, "@@ -1,6",
           "-d");
    expect(HEAD "@@ -1,5 +1,5 @@\n a\n-b\n+B!\n c\n d\n e\n", HEAD FIRST, false, "@@ -1,5", "+B!");
}

static void a_line_that_looks_like_a_label_counts_inside_a_hunk(void **state)
{
    expect(HEAD "@@ -1 +1 @@\n--- a\n+++ c\n", HEAD "@@ -1 +1 @@\n--- a\n+++ b\n", false, "@@ -1 ",
           "+++ c");
}

static void what_stands_before_the_hunks_counts_but_ids_do_not(void **state)
{
    struct difference_at at = {0};

    expect("diff --git a/f b/f\nold mode 100644\nnew mode 100755\nindex 1..2\n--- a/f\n"
           "+++ b/f\n" FIRST,
           HEAD FIRST, false, NULL, "old mode");
    assert_false(difference_find("diff --git a/f b/f\nindex 1..3 100644\n" FIRST, HEAD FIRST, &at));
}

static void a_missing_newline_at_the_end_is_a_change(void **state)
{
    expect(HEAD "@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n", HEAD "@@ -1 +1 @@\n-a\n+b\n",
           false, "@@ -1 ", "\\ No newline");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_changes_are_no_difference),
        cmocka_unit_test(an_extra_hunk_is_named_whichever_side_has_it),
        cmocka_unit_test(the_ranges_of_a_hunk_do_not_count_its_lines_do),
        cmocka_unit_test(a_line_that_looks_like_a_label_counts_inside_a_hunk),
        cmocka_unit_test(what_stands_before_the_hunks_counts_but_ids_do_not),
        cmocka_unit_test(a_missing_newline_at_the_end_is_a_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
