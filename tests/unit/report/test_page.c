/* What a release page says and how: captions with grades, labels of boots, corrections, drift and
 * repeated pairs, near parity, targets, evidence; and what no page may say. */
#include "../unit.h"

#include <ctype.h>
#include <math.h>

#include "base/mem.h"
#include "page_table.h"
#include "report/page_files.h"
#include "sample.h"

#define SHA "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0"
#define N 3

struct world {
    struct arena a;
    struct raw *raw[N];
    struct page_report reports[N];
    struct page_input in;
    char *page;
};

static int setup(void **state)
{
    static const char *const ids[N] = {SAMPLE_ID, "01KB9XK3Q8Z4T1V7N5M2C0D6EG",
                                       "01KB9XK3Q8Z4T1V7N5M2C0D6EH"};
    struct world *w = mem_alloc(sizeof *w);
    for (int i = 0; i < N; i++) {
        w->raw[i] = sample_raw(&w->a);
        w->raw[i]->id = ids[i];
        w->reports[i].raw = w->raw[i];
    }
    w->in = (struct page_input){
        .label = "aura 0.3.4", .opened_wall_ms = -1, .reports = w->reports, .n_reports = 1};
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    free(w->page);
    arena_deinit(&w->a);
    free(w);
    return 0;
}

/* Summarises what has no summary yet, and renders. */
static const char *render(struct world *w)
{
    struct buf out = {0};
    for (size_t i = 0; i < w->in.n_reports; i++)
        if (!w->reports[i].s)
            w->reports[i].s = summarise(&w->a, w->raw[i]);
    report_page(&out, &w->in);
    free(w->page);
    w->page = buf_take(&out);
    return w->page;
}

static void expect(const struct world *w, const char *part)
{
    if (!strstr(w->page, part))
        fail_msg("\"%s\" does not stand in\n%s", part, w->page);
}

static void expect_without(const struct world *w, const char *part)
{
    if (strstr(w->page, part))
        fail_msg("\"%s\" stands in\n%s", part, w->page);
}

static struct summary *contractual(struct world *w, int report)
{
    struct summary *s = summarise(&w->a, w->raw[report]);
    s->grade.value = GRADE_CONTRACTUAL;
    for (size_t i = 0; i < s->n_rows; i++)
        s->rows[i].grade.value = GRADE_CONTRACTUAL;
    w->reports[report].s = s;
    return s;
}

/* ---- grades */

/* Each heading of a table of figures is followed by a caption that begins with the grade. */
static void expect_captions(const struct world *w, const char *grade)
{
    static const char *const titles[] = {"### Results: GO to DONE", "### Startup-adjusted",
                                         "### Change, before to after", "### Controls",
                                         "### Declared waits"};
    for (size_t i = 0; i < ARRAY_LEN(titles); i++) {
        CLEANUP(mem_freep) char *both = mem_printf("\n%s\n\n*%s; ", titles[i], grade);
        expect(w, both);
    }
}

static void every_caption_names_the_grade(void **state)
{
    struct world *w = *state;
    render(w);
    expect_captions(w, "diagnostic");
    contractual(w, 0);
    render(w);
    expect_captions(w, "contractual");
}

static void operations_have_a_family_of_their_own_and_coarse_ones_are_named(void **state)
{
    static const char *const result[] = {"fib30", "after", "4.938271 us/op", "31.744308 us/op",
                                         "0.155564"};
    struct world *w = *state;
    w->raw[0]->workloads[0].measure = MEASURE_OPERATION;
    w->raw[0]->workloads[0].operations = 5000;
    w->raw[0]->workloads[0].resolution_ns = 200000;
    render(w);
    expect(w, "\n### Results: one operation\n\n*diagnostic; medians of wall time, ratios of "
              "medians; lower is faster*\n");
    page_expect_row(w->page, "demo-after", "Results: one operation", result, 5);
    expect(w, "\n### Operations\n\n*diagnostic; the time from GO to DONE, divided by the "
              "operations done in it*\n");
    expect(w, "- fib30 c, before: coarse; a step of the timer, 0.200000 ms, is more than 1 % of "
              "the 12.345678 ms from GO to DONE");
    expect(w, "| 2.469136 us/op (coarse) |");
    expect(w, "| 104.000000 ms |");
}

static void a_diagnostic_row_is_marked_wherever_it_stands(void **state)
{
    struct world *w = *state;
    struct summary *s = contractual(w, 0);
    for (size_t i = 0; i < s->n_rows; i++)
        if (strcmp(s->rows[i].workload, "fib30") == 0 && strcmp(s->rows[i].lane, "c") == 0 &&
            strcmp(s->rows[i].side, "after") == 0)
            s->rows[i].grade.value = GRADE_DIAGNOSTIC;
    render(w);
    expect_captions(w, "contractual, but for the rows marked diagnostic");
    static const char *const result[] = {"fib30", "after", "24.691356 (diagnostic)", "158.721541",
                                         "0.155564"};
    static const char *const change[] = {"fib30", "c", "*", "*", "*", "*", "SLOWER (diagnostic)",
                                         "*",     "*", "*"};
    static const char *const gap[] = {"fib30",  "c / cpython", "0.155564",      "favours c",
                                      "bench1", "demo-after",  "diagnostic row"};
    page_expect_row(w->page, "demo-after", "Results: GO to DONE", result, 5);
    page_expect_row(w->page, "demo-after", "Change, before to after", change, 10);
    page_expect_row(w->page, "Current gaps", NULL, gap, 7);
}

static void what_limits_a_diagnostic_report_is_named(void **state)
{
    struct world *w = *state;
    static const char *const silent[] = {"the report", "observer_silent", "UNKNOWN", "*"};
    static const char *const rows[] = {"every row", "above_resolution", "UNKNOWN", "*"};
    render(w);
    page_expect_row(w->page, "demo-after", "Limits", silent, 4);
    page_expect_row(w->page, "demo-after", "Limits", rows, 4);
}

static void a_void_report_has_no_figures(void **state)
{
    struct world *w = *state;
    sample_void(w->raw[0]);
    render(w);
    expect(w, "There are no figures.");
    expect(w, "1 void");
    expect_without(w, "### Results");
    expect_without(w, "24.69");
    expect_without(w, "## Current gaps");
}

/* ---- hosts */

static void a_boot_is_labelled_by_what_was_seen(void **state)
{
    struct world *w = *state;
    render(w);
    expect(w, "| Label | quiet host, not post-reboot |");
    w->in.opened_boot = "another";
    w->in.settle_ms = 600000;
    render(w);
    expect(w, "| Label | post-reboot |");
    w->in.settle_ms = 3600001; /* the attempt began an hour after the boot */
    render(w);
    expect(w, "| Label | quiet host, not post-reboot |");
    w->in.opened_boot = w->raw[0]->boot.id;
    w->in.settle_ms = 0;
    render(w);
    expect(w, "| Label | quiet host, not post-reboot |");
    sample_disturb(&w->a, w->raw[0], PHASE_AFTER_TIMING);
    render(w);
    expect(w, "| Label | not post-reboot; the host was not seen quiet in every phase |");
}

static void reports_of_several_boots_say_so(void **state)
{
    struct world *w = *state;
    w->in.n_reports = 2;
    render(w);
    expect_without(w, "not all made in one boot");
    w->raw[1]->boot.id = "another";
    render(w);
    expect(w, "The reports were not all made in one boot of one host:");
    expect(w, "bench1, boot another (quiet host, not post-reboot): demo-after");
}

static void reports_with_one_label_are_told_apart_by_their_attempts(void **state)
{
    struct world *w = *state;
    w->in.n_reports = 2;
    render(w);
    expect(w, "\n## demo-after (C0D6EF)\n");
    expect(w, "\n## demo-after (C0D6EG)\n");
}

static void waivers_are_named_with_their_reasons(void **state)
{
    struct world *w = *state;
    render(w);
    expect(w, "| virtual | mains power, CPU governor |");
    expect(w, "- policy virtual waives mains power: a guest does not see the power supply (the "
              "virtual policy)\n");
}

/* ---- sources */

static void a_correction_names_base_size_approver_and_reason(void **state)
{
    static const struct raw_correction correction = {
        .base_commit = "50531b45797ae765ec8d885165c13042617ab567",
        .corrected = SAMPLE_AFTER,
        .diff_sha256 = SHA,
        .files = 1,
        .lines_added = 2,
        .lines_removed = 2,
        .approved_by = "Ada",
        .reason = "two casts that the checker asks for",
        .proven = true};
    struct world *w = *state;
    w->raw[0]->sources[1].correction = &correction;
    render(w);
    expect(w, "after is measured at " SAMPLE_AFTER ", an authorized correction of its base "
              "50531b45797ae765ec8d885165c13042617ab567: 1 file, 2 lines added and 2 removed, "
              "proven to be exactly the allowed diff");
    expect(w, "approved by Ada: two casts that the checker asks for (diff " SHA ")");
    expect(w, "HEAD, corrected");
    struct raw_correction unproven = correction;
    unproven.proven = false;
    w->raw[0]->sources[1].correction = &unproven;
    w->reports[0].s = NULL;
    render(w);
    expect(w, "not proven to be the allowed diff");
}

/* ---- controls */

/* The control takes pct more after, in every repetition. */
static void drift(struct raw *raw, int pct)
{
    for (size_t i = 0; i < raw->n_observations; i++) {
        struct raw_observation *o = &raw->observations[i];
        if (strcmp(o->lane, "cpython") == 0 && strcmp(o->side, "after") == 0)
            o->elapsed_ns += o->elapsed_ns / 100 * pct;
    }
}

static void drift_says_whether_a_repeated_pair_was_needed(void **state)
{
    struct world *w = *state;
    render(w);
    expect(w, "Every control drifts by less than 5.0%. No repeated pair was needed.");
    drift(w->raw[0], 8);
    w->reports[0].s = NULL;
    render(w);
    expect(w, "1 of 1 controls drifted by 5.0% or more. The pair was not repeated.");
    expect_without(w, "No repeated pair was needed");
}

static void a_repeated_pair_is_the_result_and_both_are_shown(void **state)
{
    struct world *w = *state;
    drift(w->raw[0], 8);
    w->raw[0]->job.label = "first";
    w->raw[1]->job.label = "second";
    w->reports[1].repeats = w->raw[0]->id;
    w->in.n_reports = 2;
    render(w);
    expect(w, "The pair was repeated; the result is that of second.");
    expect(w, "This pair repeats that of first and is the result.");
    expect(w, "1 of 1 controls drifted by 5.0% or more.\n");
    static const char *const gap[] = {"fib30", "c / cpython", "*", "*", "*", "first", "*"};
    static const char *const kept[] = {"fib30", "c / cpython", "*", "*", "*", "second", "*"};
    assert_false(page_has_row(w->page, "Current gaps", NULL, gap, 7));
    page_expect_row(w->page, "Current gaps", NULL, kept, 7);
}

static void a_repeated_pair_whose_first_is_not_on_the_page_names_it(void **state)
{
    struct world *w = *state;
    w->reports[0].repeats = "01M8PTEGD5W2KNJFSMY7B24KY2";
    w->in.n_reports = 1;
    render(w);
    expect(w, "This pair repeats that of attempt 01M8PTEGD5W2KNJFSMY7B24KY2, in which a control "
              "drifted, and is the result.");
    expect_without(w, "No repeated pair was needed");
}

static void sides_without_a_control_say_so(void **state)
{
    struct world *w = *state;
    w->raw[0]->workloads[0].lanes[1].control = false;
    render(w);
    expect(w, "No lane is a control: nothing shows whether the host itself changed");
}

static void a_control_without_a_median_is_not_known(void **state)
{
    struct world *w = *state;
    for (size_t i = 0; i < w->raw[0]->n_observations; i++) {
        struct raw_observation *o = &w->raw[0]->observations[i];
        if (strcmp(o->lane, "cpython") == 0 && strcmp(o->side, "after") == 0)
            o->outcome = "lane.done_wrong";
    }
    render(w);
    expect(w, "The drift of 1 of 1 controls is not known.");
    expect(w, "fib30 cpython, after: no figures, no valid observation");
    expect_without(w, "No repeated pair was needed");
}

/* ---- gaps */

static const char *gap_word(struct world *w, int64_t subject, int64_t reference)
{
    static const char *const words[] = {"near parity", "slower than cpython", "favours c"};
    for (size_t i = 0; i < w->raw[0]->n_observations; i++) {
        struct raw_observation *o = &w->raw[0]->observations[i];
        if (strcmp(o->workload, "fib30") == 0)
            o->elapsed_ns = strcmp(o->lane, "c") == 0 ? subject : reference;
    }
    w->reports[0].s = NULL;
    render(w);
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        const char *const row[] = {"fib30", "c / cpython", "*", words[i], "*", "*", "*"};
        if (page_has_row(w->page, "Current gaps", NULL, row, 7))
            return words[i];
    }
    return "nothing";
}

static void near_parity_ends_at_5_percent_to_either_side(void **state)
{
    struct world *w = *state;
    assert_string_equal(gap_word(w, 1000000, 1000000), "near parity");
    assert_string_equal(gap_word(w, 1049999, 1000000), "near parity");
    assert_string_equal(gap_word(w, 1050001, 1000000), "slower than cpython");
    assert_string_equal(gap_word(w, 1000000, 1049999), "near parity");
    assert_string_equal(gap_word(w, 1000000, 1050001), "favours c");
}

/* ---- targets */

static void targets_stand_with_figure_and_result(void **state)
{
    struct world *w = *state;
    struct target v[] = {
        {.kind = TARGET_RATIO,
         .workload = "fib30",
         .lane = "c",
         .reference = "cpython",
         .max = 0.2,
         .diagnostic = true},
        {.kind = TARGET_RATIO,
         .workload = "fib30",
         .lane = "c",
         .reference = "cpython",
         .max = 0.2},
        {.kind = TARGET_CHANGE, .workload = "fib30", .lane = "c", .max = 2},
        {.kind = TARGET_SIZE, .file = "out/fib30", .bytes = 16384, .diagnostic = true},
        {.kind = TARGET_RATIO, .workload = "fib31", .lane = "c", .reference = "cpython", .max = 2},
    };
    struct recorded_gap gaps[] = {{NULL, "fib30", "c", "cpython", 0.5, "an older host"},
                                  {NULL, "fib30", "aura", "rust", 14.5, NULL}};
    const struct targets targets = {
        .name = "phase 1", .v = v, .n = ARRAY_LEN(v), .gaps = gaps, .n_gaps = 2};
    w->in.targets = &targets;
    render(w);
    static const char *const rows[][8] = {
        {"fib30: c / cpython", "at most 0.200000", "bench1", "demo-after", "0.155564",
         "0.155564 to 0.155564 (98.83%)", "none", "met: diagnostic, which the target allows"},
        {"fib30: c / cpython", "at most 0.200000", "bench1", "demo-after", "0.155564",
         "0.155564 to 0.155564 (98.83%)", "none", "**not met: within the limit, but diagnostic**"},
        {"fib30: change of c", "at most +2.0000 %", "bench1", "demo-after", "+100.0000 %",
         "+99.2008 % to +100.6018 % (98.83%)", "1.961 x", "**missed: diagnostic**"},
        {"out/fib30, size", "at most 16384 + 10 %", "bench1", "demo-after", "16896", "none", "none",
         "met: diagnostic, which the target allows"},
        {"fib31: c / cpython", "at most 2.000000", "bench1", "none", "undefined", "none", "unknown",
         "**undefined: no report of this host has the workload fib31; there is: fib30, tcp_fanout, int32**"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        page_expect_row(w->page, "Targets", NULL, rows[i], 8);
    expect(w, "phase 1: not every target is met.");
    expect(w, "- bench1: 2 met, 1 missed, 1 undefined, 1 within the limit on diagnostic figures "
              "only, 0 unclear\n");
    static const char *const recorded[][7] = {
        {"fib30", "c / cpython", "0.500000", "an older host", "0.155564", "bench1", "demo-after"},
        {"fib30", "aura / rust", "14.500000", "not said", "not measured", "none", "none"}};
    for (size_t i = 0; i < ARRAY_LEN(recorded); i++)
        page_expect_row(w->page, "Targets", "Recorded gaps", recorded[i], 7);
    w->in.targets = NULL;
    render(w);
    expect_without(w, "## Targets");
}

/* ---- evidence */

static void evidence_and_commands_name_the_folders(void **state)
{
    static const char sums[] = SHA "  commits.bundle\n" SHA "  logs/a\n" SHA "  raw.json\n";
    struct world *w = *state;
    struct err e = {0};
    assert_int_equal(page_files(&w->a, SAMPLE_ID, sums, strlen(sums), &w->reports[0], &e), 0);
    assert_int_equal(w->reports[0].n_files, 3);
    render(w);
    expect(w, "| " SAMPLE_ID "/raw.json | " SHA " |");
    expect(w, "| " SAMPLE_ID "/commits.bundle | " SHA " |");
    expect(w, "| " SAMPLE_ID "/SHA256SUMS | ");
    expect_without(w, "logs/a");
    expect(w, "\naurabench verify " SAMPLE_ID " --key KEY\n");
    expect(w, "\ngit bundle verify " SAMPLE_ID "/commits.bundle\n");
    expect(w, "\ngit worktree add --detach after " SAMPLE_AFTER "\n");
    expect(w, "\nsh " SAMPLE_ID "/reproduce.sh NEW_FOLDER\n");
    assert_true(page_files(&w->a, SAMPLE_ID, "nonsense\n", 9, &w->reports[1], &e) < 0);
    assert_string_equal(e.code, "manifest.bad");
}

static void without_a_bundle_no_command_needs_one(void **state)
{
    struct world *w = *state;
    render(w);
    expect_without(w, "git bundle");
    expect_without(w, "git worktree");
}

static void jobs_without_a_report_are_named(void **state)
{
    static const struct page_missing missing[] = {
        {"arrays", "unqualified", "the host was never quiet"}, {"loops", "waiting", NULL}};
    struct world *w = *state;
    w->in.missing = missing;
    w->in.n_missing = 2;
    render(w);
    expect(w, "- job arrays is unqualified and has no report: the host was never quiet\n");
    expect(w, "- job loops is waiting and has no report\n");
}

static void the_page_counts_its_comparisons(void **state)
{
    struct world *w = *state;
    w->in.n_reports = 2;
    render(w);
    /* fib30, tcp_fanout and int32, twice; 2 of 2^11 and 10 each miss by chance: 0.07 of 6. */
    expect(w, "- the page makes 6 comparisons with a verdict, 6 of them with an interval; the "
              "coverage is that of each interval alone: by chance 0.07 of them are expected to "
              "miss\n");
}

static void two_commands_are_set_against_each_other(void **state)
{
    struct world *w = *state;
    static const char *const row[] = {"run",      "b / a", "whole process", "0.931500",
                                      "0.931500", "*",     "FASTER"};
    w->raw[0] = sample_run(&w->a);
    w->reports[0].raw = w->raw[0];
    render(w);
    page_expect_row(w->page, w->raw[0]->job.label, "Lane against lane", row, 7);
}

/* ---- what no page may say */

static void names_of_strangers_cannot_break_the_page(void **state)
{
    struct world *w = *state;
    w->raw[0]->job.label = "a|b\n# fake\n```\n<script>";
    w->raw[0]->host.name = "h\x1b[31m|";
    w->raw[0]->sources[1].rev = "`x` | y";
    w->reports[0].folder = "it's here\n```";
    w->reports[0].has_bundle = true;
    render(w);
    expect_without(w, "\n# fake");
    expect_without(w, "<script>");
    expect_without(w, "\x1b");
    expect(w, "cd 'it'\\''s here\\n```' && sha256sum -c SHA256SUMS)");
    size_t fences = 0;
    for (const char *p = w->page; (p = strstr(p, "\n```")); p++)
        fences++;
    assert_int_equal(fences, 2);
}

static void the_table_of_reports_counts_the_verdicts(void **state)
{
    struct world *w = *state;
    static const char *const row[] = {
        "demo-after", "diagnostic", "1 SLOWER, 2 UNRESOLVED", "*", "*", "*", "*", "*", SAMPLE_ID};
    render(w);
    page_expect_row(w->page, "Reports", NULL, row, 9);
}

static void an_empty_session_makes_a_page(void **state)
{
    struct world *w = *state;
    w->in.n_reports = 0;
    render(w);
    expect(w, "0 reports: none.");
    expect_without(w, "## Hosts");
    expect_without(w, "## Evidence");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(every_caption_names_the_grade),
        TEST(operations_have_a_family_of_their_own_and_coarse_ones_are_named),
        TEST(a_diagnostic_row_is_marked_wherever_it_stands),
        TEST(what_limits_a_diagnostic_report_is_named),
        TEST(a_void_report_has_no_figures),
        TEST(a_boot_is_labelled_by_what_was_seen),
        TEST(reports_of_several_boots_say_so),
        TEST(reports_with_one_label_are_told_apart_by_their_attempts),
        TEST(waivers_are_named_with_their_reasons),
        TEST(a_correction_names_base_size_approver_and_reason),
        TEST(drift_says_whether_a_repeated_pair_was_needed),
        TEST(a_repeated_pair_is_the_result_and_both_are_shown),
        TEST(a_repeated_pair_whose_first_is_not_on_the_page_names_it),
        TEST(sides_without_a_control_say_so),
        TEST(a_control_without_a_median_is_not_known),
        TEST(near_parity_ends_at_5_percent_to_either_side),
        TEST(targets_stand_with_figure_and_result),
        TEST(evidence_and_commands_name_the_folders),
        TEST(without_a_bundle_no_command_needs_one),
        TEST(jobs_without_a_report_are_named),
        TEST(the_page_counts_its_comparisons),
        TEST(two_commands_are_set_against_each_other),
        TEST(names_of_strangers_cannot_break_the_page),
        TEST(the_table_of_reports_counts_the_verdicts),
        TEST(an_empty_session_makes_a_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
