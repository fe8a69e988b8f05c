/* Evidence is there whole, under its final name, or not at all. */
#include "folder.h"

#include <errno.h>
#include <sys/stat.h>

#include "../report/sample.h"
#include "base/digest.h"
#include "evidence/evidence.h"
#include "proto/doc/documents.h"

/* A root, a suite folder, a log and a bundle, and the input that seals them. */
struct fixture {
    char *dir;
    char *root, *suite, *log, *bundle, *sealed;
    struct arena a;
    struct evidence_log logs[1];
    struct evidence_input in;
};

static int setup(void **state)
{
    struct fixture *f = mem_alloc(sizeof *f);
    f->dir = unit_folder();
    f->root = file_join(f->dir, "evidence");
    f->suite = file_join(f->dir, "suite");
    f->log = file_join(f->dir, "build.log");
    f->bundle = file_join(f->dir, "commits");
    f->sealed = file_join(f->root, SAMPLE_ID);
    folder_put(f->dir, "evidence/.keep", "");
    folder_put(f->dir, "suite/suite.json", "{}");
    folder_put(f->dir, "suite/sub/new\nline", "odd");
    folder_put(f->dir, "suite/run.sh", "#!/bin/sh\n");
    folder_put(f->dir, "build.log", "cc ok\n");
    folder_put(f->dir, "commits", "bundle");
    CLEANUP(mem_freep) char *script = file_join(f->suite, "run.sh");
    assert_int_equal(chmod(script, 0755), 0);
    f->logs[0] = (struct evidence_log){"deep/er/build-before-0.txt", f->log};
    struct raw *raw = sample_raw(&f->a);
    f->in = (struct evidence_input){.root = f->root,
                                    .name = SAMPLE_ID,
                                    .raw = raw,
                                    .summary = summarise(&f->a, raw),
                                    .report_markdown = "# report\n",
                                    .suite_dir = f->suite,
                                    .logs = f->logs,
                                    .n_logs = 1,
                                    .initial_sums = "initial\n",
                                    .bundle = f->bundle};
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    folder_remove(f->dir);
    free(f->root);
    free(f->suite);
    free(f->log);
    free(f->bundle);
    free(f->sealed);
    arena_deinit(&f->a);
    free(f);
    return 0;
}

static void seal(struct fixture *f, struct evidence_sealed *out)
{
    struct err e = {0};
    if (evidence_seal(&f->in, out, &e))
        fail_msg("%s: %s", e.code, e.text);
}

static void expect_refused(struct fixture *f, const char *code)
{
    struct err e = {0};
    int rc = evidence_seal(&f->in, NULL, &e);
    if (rc >= 0 || strcmp(e.code, code) != 0 || !e.text[0])
        fail_msg("rc %d, %s: %s", rc, e.code, e.text);
}

static int count_entry(void *ctx, const char *path, enum file_kind kind, mode_t mode, int64_t bytes)
{
    ++*(int *)ctx;
    return 0;
}

/* Nothing but what setup put into the root. */
static void expect_root_untouched(const struct fixture *f)
{
    int entries = 0;
    assert_int_equal(file_walk(f->root, count_entry, &entries, NULL), 0);
    assert_int_equal(entries, 1);
    assert_true(folder_has(f->root, ".keep"));
}

static void the_folder_holds_every_file_and_its_sums_pass(void **state)
{
    struct fixture *f = *state;
    static const char *const names[] = {"raw.json",         "summary.json",
                                        "report.md",        "job.json",
                                        "host.json",        "refusals.jsonl",
                                        "suite/suite.json", "suite/sub/new\nline",
                                        "SHA256SUMS",       "logs/deep/er/build-before-0.txt",
                                        "commits.bundle",   "initial-SHA256SUMS"};
    seal(f, NULL);
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (!folder_has(f->sealed, names[i]))
            fail_msg("%s is missing", names[i]);
    folder_expect_sums_pass(f->sealed);
}

static void raw_json_reads_back_and_summary_json_names_its_hash(void **state)
{
    struct fixture *f = *state;
    struct evidence_sealed sealed;
    struct raw *raw = NULL;
    struct err e = {0};
    char hex[DIGEST_HEX];
    seal(f, &sealed);
    CLEANUP(mem_freep) char *text = folder_get(f->sealed, "raw.json");
    if (raw_decode(&f->a, text, strlen(text), &raw, &e))
        fail_msg("%s: %s", e.field, e.text);
    assert_string_equal(raw->id, SAMPLE_ID);
    digest_bytes(text, strlen(text), hex);
    assert_string_equal(sealed.raw_sha256, hex);
    CLEANUP(mem_freep) char *summary = folder_get(f->sealed, "summary.json");
    assert_non_null(strstr(summary, hex));
    digest_bytes(summary, strlen(summary), hex);
    assert_string_equal(sealed.summary_sha256, hex);
    CLEANUP(mem_freep) char *sums = folder_get(f->sealed, "SHA256SUMS");
    digest_bytes(sums, strlen(sums), hex);
    assert_string_equal(sealed.sums_sha256, hex);
}

static void json_files_are_canonical(void **state)
{
    struct fixture *f = *state;
    static const char *const names[] = {"raw.json", "summary.json", "job.json", "host.json"};
    seal(f, NULL);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        CLEANUP(buf_deinit) struct buf again = {0};
        CLEANUP(mem_freep) char *text = folder_get(f->sealed, names[i]);
        assert_int_equal(json_canonical(text, strlen(text), &again, NULL), 0);
        assert_string_equal(text, buf_str(&again));
    }
}

static void refusals_are_one_line_each(void **state)
{
    struct fixture *f = *state;
    struct raw_refusal refusals[] = {{"01KB9XK3Q8Z4T1V7N5M2C0D6EA", 5, PHASE_BEFORE_BUILD, "a\nb"},
                                     {"01KB9XK3Q8Z4T1V7N5M2C0D6EB", 6, PHASE_BEFORE_TIMING, "c"}};
    struct raw raw = *f->in.raw;
    raw.refusals = refusals;
    raw.n_refusals = 2;
    f->in.raw = &raw;
    seal(f, NULL);
    CLEANUP(mem_freep) char *text = folder_get(f->sealed, "refusals.jsonl");
    assert_string_equal(
        text, "{\"attempt\":\"01KB9XK3Q8Z4T1V7N5M2C0D6EA\",\"phase\":\"before_build\",\"reason\":"
              "\"a\\nb\",\"wall_ms\":5}\n"
              "{\"attempt\":\"01KB9XK3Q8Z4T1V7N5M2C0D6EB\",\"phase\":\"before_timing\",\"reason\":"
              "\"c\",\"wall_ms\":6}\n");
}

static void a_void_attempt_has_no_summary(void **state)
{
    struct fixture *f = *state;
    struct evidence_sealed sealed;
    struct raw raw = *f->in.raw;
    sample_void(&raw);
    f->in.raw = &raw;
    f->in.summary = NULL;
    seal(f, &sealed);
    assert_false(folder_has(f->sealed, "summary.json"));
    assert_true(folder_has(f->sealed, "raw.json"));
    assert_string_equal(sealed.summary_sha256, "");
    folder_expect_sums_pass(f->sealed);
}

static void optional_files_may_be_left_out(void **state)
{
    struct fixture *f = *state;
    f->in.suite_dir = f->in.initial_sums = f->in.bundle = f->in.report_markdown = NULL;
    f->in.n_logs = 0;
    seal(f, NULL);
    assert_false(folder_has(f->sealed, "suite"));
    assert_false(folder_has(f->sealed, "commits.bundle"));
    folder_expect_sums_pass(f->sealed);
}

/* ---- tallies of profiles */

#define TALLY "samples\tstate\tsymbol\tobject\tprocess\tthread\n1\t-\ta\tb\tc\td\n"

/* The first observation is of a profile, whose tally lies in the folder. */
static void counted(struct fixture *f, const char *text)
{
    static const struct attribution rules = {.format = PROFILE_CALLGRIND};
    struct raw *raw = sample_raw(&f->a);
    struct raw_observation *o = &raw->observations[0];
    char hex[DIGEST_HEX], name[ATTRIBUTION_TALLY_MAX];

    digest_bytes(TALLY, strlen(TALLY), hex);
    attribution_tally_name(o->seq, name);
    for (size_t w = 0; w < raw->n_workloads; w++)
        if (strcmp(raw->workloads[w].name, o->workload) == 0) {
            raw->workloads[w].measure = MEASURE_ATTRIBUTION;
            raw->workloads[w].profile = &rules;
        }
    o->outputs = arena_alloc(&f->a, sizeof *o->outputs);
    o->n_outputs = 1;
    o->outputs[0] = (struct raw_output){arena_strdup(&f->a, name), (int64_t)strlen(TALLY),
                                        arena_strdup(&f->a, hex)};
    folder_put(f->dir, "profiles/.keep", "");
    CLEANUP(mem_freep) char *keep = file_join(f->dir, "profiles/.keep");
    assert_int_equal(remove(keep), 0);
    if (text)
        folder_put(f->dir, name, text);
    f->in.raw = raw;
    f->in.tally_dir = arena_printf(&f->a, "%s/profiles", f->dir);
}

static void a_tally_is_sealed_and_was_there_when_timing_ended(void **state)
{
    struct fixture *f = *state;
    CLEANUP(buf_deinit) struct buf initial = {0};
    struct err e = {0};

    counted(f, TALLY);
    assert_int_equal(evidence_initial_sums(&f->in, &initial, &e), 0);
    assert_non_null(strstr(buf_str(&initial), "  profiles/0.tsv\n"));
    seal(f, NULL);
    CLEANUP(mem_freep) char *text = folder_get(f->sealed, "profiles/0.tsv");
    assert_string_equal(text, TALLY);
    folder_expect_sums_pass(f->sealed);
}

static void a_tally_that_changed_or_is_gone_is_not_sealed(void **state)
{
    struct fixture *f = *state;

    counted(f, NULL);
    expect_refused(f, "system.open");
    counted(f, TALLY "2\t-\tb\tb\tc\td\n");
    expect_refused(f, "evidence.tally");
    expect_root_untouched(f);
}

static int check_mode(void *ctx, const char *path, enum file_kind kind, mode_t mode, int64_t bytes)
{
    bool script = strcmp(path, "suite/run.sh") == 0;
    mode_t expected = kind == FILE_FOLDER || script ? 0755 : 0644;
    if ((mode & 07777) != expected)
        fail_msg("%s has mode %o", path, (unsigned)mode & 07777);
    return 0;
}

static void modes_do_not_depend_on_the_umask(void **state)
{
    struct fixture *f = *state;
    struct stat st;
    mode_t before = umask(0077);
    seal(f, NULL);
    umask(before);
    assert_int_equal(file_walk(f->sealed, check_mode, NULL, NULL), 0);
    assert_int_equal(stat(f->sealed, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0755);
}

/* ---- refusals */

static void evidence_is_never_replaced(void **state)
{
    struct fixture *f = *state;
    folder_put(f->sealed, "raw.json", "older");
    expect_refused(f, "evidence.exists");
    CLEANUP(mem_freep) char *text = folder_get(f->sealed, "raw.json");
    assert_string_equal(text, "older");
}

static void an_empty_folder_of_that_name_is_not_replaced_either(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(mkdir(f->sealed, 0755), 0);
    expect_refused(f, "evidence.exists");
}

static void a_link_in_the_suite_is_refused_and_nothing_remains(void **state)
{
    struct fixture *f = *state;
    CLEANUP(mem_freep) char *link = file_join(f->suite, "sub/link");
    assert_int_equal(symlink("/etc/passwd", link), 0);
    expect_refused(f, "evidence.link");
    expect_root_untouched(f);
}

static void a_pipe_in_the_suite_is_refused_without_waiting_on_it(void **state)
{
    struct fixture *f = *state;
    CLEANUP(mem_freep) char *path = file_join(f->suite, "pipe");
    assert_int_equal(mkfifo(path, 0644), 0);
    expect_refused(f, "evidence.special");
    expect_root_untouched(f);
}

static void a_log_that_is_a_link_is_refused(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(unlink(f->log), 0);
    assert_int_equal(symlink("/etc/passwd", f->log), 0);
    expect_refused(f, "evidence.link");
    expect_root_untouched(f);
}

static void a_log_that_is_missing_leaves_nothing(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(unlink(f->log), 0);
    expect_refused(f, "system.open");
    expect_root_untouched(f);
}

static void a_log_outside_logs_is_refused(void **state)
{
    struct fixture *f = *state;
    f->logs[0].name = "../raw.json";
    expect_refused(f, "evidence.name");
    expect_root_untouched(f);
}

static void allowed_diffs_lie_by_side_and_nowhere_else(void **state)
{
    struct fixture *f = *state;
    struct evidence_correction diffs[] = {{"before", "-a\n+b\n"}, {"../after", "-a\n+b\n"}};
    f->in.corrections = diffs;
    f->in.n_corrections = 2;
    expect_refused(f, "evidence.name");
    expect_root_untouched(f);
    diffs[1].side = "after";
    seal(f, NULL);
    assert_true(folder_has(f->sealed, "corrections/before.diff"));
    assert_true(folder_has(f->sealed, "corrections/after.diff"));
    folder_expect_sums_pass(f->sealed);
}

static void two_logs_of_one_name_are_refused(void **state)
{
    struct fixture *f = *state;
    struct evidence_log twice[] = {f->logs[0], f->logs[0]};
    f->in.logs = twice;
    f->in.n_logs = 2;
    expect_refused(f, "system.create");
    expect_root_untouched(f);
}

static void a_name_that_is_no_plain_name_is_refused(void **state)
{
    static const char *const bad[] = {"", ".hidden", "..", "a/b", "/a"};
    struct fixture *f = *state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        f->in.name = bad[i];
        expect_refused(f, "evidence.name");
    }
    expect_root_untouched(f);
}

static void a_root_that_is_a_file_is_refused(void **state)
{
    struct fixture *f = *state;
    f->in.root = f->log;
    struct err e = {0};
    assert_int_equal(evidence_seal(&f->in, NULL, &e), -ENOTDIR);
    assert_true(e.text[0]);
    CLEANUP(mem_freep) char *text = folder_get(f->dir, "build.log");
    assert_string_equal(text, "cc ok\n");
}

static void an_attempt_that_is_not_void_needs_its_summary(void **state)
{
    struct fixture *f = *state;
    f->in.summary = NULL;
    expect_refused(f, "evidence.summary");
    expect_root_untouched(f);
}

static void what_a_crash_left_is_replaced_and_swept(void **state)
{
    struct fixture *f = *state;
    CLEANUP(mem_freep) char *partial = mem_printf("%s/.partial-" SAMPLE_ID, f->root);
    folder_put(partial, "junk", "left by a crash");
    seal(f, NULL);
    assert_false(folder_has(f->sealed, "junk"));
    folder_put(partial, "junk", "left by another crash");
    assert_int_equal(evidence_sweep(f->root, NULL), 0);
    assert_false(file_exists(partial));
    assert_true(folder_has(f->sealed, "raw.json"));
    assert_true(folder_has(f->root, ".keep"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_folder_holds_every_file_and_its_sums_pass),
        TEST(raw_json_reads_back_and_summary_json_names_its_hash),
        TEST(json_files_are_canonical),
        TEST(refusals_are_one_line_each),
        TEST(a_void_attempt_has_no_summary),
        TEST(optional_files_may_be_left_out),
        TEST(a_tally_is_sealed_and_was_there_when_timing_ended),
        TEST(a_tally_that_changed_or_is_gone_is_not_sealed),
        TEST(modes_do_not_depend_on_the_umask),
        TEST(evidence_is_never_replaced),
        TEST(an_empty_folder_of_that_name_is_not_replaced_either),
        TEST(a_link_in_the_suite_is_refused_and_nothing_remains),
        TEST(a_pipe_in_the_suite_is_refused_without_waiting_on_it),
        TEST(a_log_that_is_a_link_is_refused),
        TEST(a_log_that_is_missing_leaves_nothing),
        TEST(a_log_outside_logs_is_refused),
        TEST(allowed_diffs_lie_by_side_and_nowhere_else),
        TEST(two_logs_of_one_name_are_refused),
        TEST(a_name_that_is_no_plain_name_is_refused),
        TEST(a_root_that_is_a_file_is_refused),
        TEST(an_attempt_that_is_not_void_needs_its_summary),
        TEST(what_a_crash_left_is_replaced_and_swept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
