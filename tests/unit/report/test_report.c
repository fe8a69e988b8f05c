/* What a reader of a report finds, in both forms. The samples are built by hand, so every line that
 * is named here is known in full. */
#include "../unit.h"

#include "base/mem.h"
#include "report/report.h"
#include "report/text.h"
#include "sample.h"
#include "unit/core/calibrations.h"

static char *text_of(struct arena *a, const struct raw *raw, int width, bool colour)
{
    const struct report_style style = {.width = width, .colour = colour};
    struct buf out = {0};
    report_text(&out, raw, summarise(a, raw), &style);
    return buf_take(&out);
}

static char *markdown_of(struct arena *a, const struct raw *raw)
{
    struct buf out = {0};
    report_markdown(&out, raw, summarise(a, raw));
    return buf_take(&out);
}

/* Each line of the list stands in the text, whole, in this order. */
static void expect_lines(const char *text, const char *const *lines)
{
    const char *from = text;
    for (; *lines; lines++) {
        CLEANUP(mem_freep) char *line = mem_printf("\n%s\n", *lines);
        const char *at = strstr(from, line);
        if (!at)
            fail_msg("no line \"%s\" behind the ones before it in:\n%s", *lines, text);
        from = at + strlen(line) - 1;
    }
}

static void expect_without(const char *text, const char *part)
{
    if (strstr(text, part))
        fail_msg("\"%s\" stands in:\n%s", part, text);
}

static void the_grade_comes_first_then_the_verdicts(void **state)
{
    static const char *const lines[] = {
        "RESULT  1 SLOWER, 3 UNRESOLVED, in 4 comparisons",
        "MADE    on bench1, 2026-11-30T17:35:52Z, 4 min 12 s",
        "VERDICTS  after (HEAD, 9ac01de29a) against before (v1.2, 3f2a91c0de), 11 pairs",
        "  workload    lane      before ms    after ms      change  verdict        ratio  "
        "interval, 98.83%      resolves",
        "  fib30       c         12.345678   24.691356  +100.0000%  SLOWER      2.001992  "
        "1.992008 to 2.006018     1.51%",
        "  tcp_fanout  c        104.000000  104.000000     0.0000%  UNRESOLVED  1.000996  "
        "0.996004 to 1.003009     1.51%",
        NULL};
    static const char head[] = "demo-after  " SAMPLE_ID "\n\nGRADE   diagnostic, policy virtual, "
                               "waived: mains, governor; ";
    struct arena a = {0};
    CLEANUP(mem_freep) char *text = text_of(&a, sample_raw(&a), 120, false);
    assert_memory_equal(text, head, strlen(head));
    expect_lines(text, lines);
    arena_deinit(&a);
}

static void a_narrow_page_splits_the_verdict_table(void **state)
{
    static const char *const lines[] = {
        "  workload    lane      before ms    after ms      change  verdict",
        "  fib30       c         12.345678   24.691356  +100.0000%  SLOWER",
        "  workload    lane        ratio  interval, 98.83%      resolves",
        "  fib30       c        2.001992  1.992008 to 2.006018     1.51%", NULL};
    struct arena a = {0};
    CLEANUP(mem_freep) char *text = text_of(&a, sample_raw(&a), 80, false);
    expect_lines(text, lines);
    arena_deinit(&a);
}

static void every_part_of_a_comparison_is_there(void **state)
{
    static const char *const lines[] = {
        "  CPU time gives the same verdict as wall time in every comparison.",
        "CONTROLS  lanes that do not differ between the sides; drift must stay below 5.0%",
        "  fib30     cpython  158.321541  158.721541  +0.2527%  PASS",
        "AGAINST REFERENCES  ratio of medians, subject / reference, in each side",
        "  fib30     c / cpython  0.077979  0.155564",
        "  int32     c     before  12.345678    10.345678   9/11  10.335333",
        "  tcp_fanout  c     after   100.000000  104.000000   4.000000",
        "  - tcp_fanout c: UNRESOLVED in the excess over the wait, ratio 1.023551, "
        "0.898635 to 1.084599 (98.83%)",
        "DISPERSION  wall time of every lane; p95 by nearest rank",
        "  fib30       c        before  11   12.345678  0.024690   12.407403   12.296298",
        "  before build   quiet            0  1.2%, 0.8%      77  2026-11-30T17:35:52Z",
        "  mains power        waived    UNKNOWN  no power supply is listed by a virtual machine",
        "  host contract      required  n/a      the policy names none",
        "  - mains power is waived: a guest does not see the power supply (the virtual policy)",
        "  observer_silent     UNKNOWN  observation 10: not all of the counters are here",
        "  before  " SAMPLE_BEFORE "  clean, detached  v1.2",
        "  python3  0f1e2d3c4b5a  Python 3.11.2 (/usr/bin/python3.11)",
        "  boot     5b3c1d9e-6a77-4a53-9c38-0a3f2b7c1d11, booted 2026-11-30T16:35:52Z",
        "  - this page makes 4 comparisons; coverage is that of each interval alone: by chance 0.05 "
        "of them are expected to miss",
        NULL};
    struct arena a = {0};
    CLEANUP(mem_freep) char *text = text_of(&a, sample_raw(&a), 120, false);
    expect_lines(text, lines);
    arena_deinit(&a);
}

static void a_calibration_is_told_with_the_floors_share_and_what_is_below_resolution(void **state)
{
    static const char *const lines[] = {
        "VERDICTS  after (HEAD, 9ac01de29a) against before (v1.2, 3f2a91c0de), 11 pairs",
        "  fib30       c        before  11   12.345678  0.024690   12.407403   12.296298   8.10% "
        "(below resolution)",
        "  fib30       cpython  before  11  158.321541  0.316642  159.113146  157.688257              "
        "        0.63%",
        "CALIBRATION  one program against itself, before this attempt",
        "  protocol        0.20%        0.20%  1000.000  200.000         20.000000",
        "  - measuring itself takes 0.63% to 50.00% of the medians",
        "  - below resolution: fib30 c, before: 12.345678 ms; resolved are 20.000000 ms, 100 x the "
        "MAD of the protocol floor",
        NULL};
    static const double ratios[] = {1, 1.002};
    struct arena a = {0};
    struct raw *raw = sample_raw(&a);
    raw->calibration = calibration_of(&a, raw->boot.id, ratios, 2, 1000000, 200000);
    CLEANUP(mem_freep) char *text = text_of(&a, raw, 140, false);
    expect_lines(text, lines);
    expect_without(text, "tcp_fanout c, before: ");
    raw->calibration = calibration_of(&a, "another boot", ratios, 2, 1000000, 200000);
    CLEANUP(mem_freep) char *other = text_of(&a, raw, 140, false);
    expect_without(other, "CALIBRATION");
    expect_without(other, "below resolution");
    arena_deinit(&a);
}

/* fib30 counts operations, by a timer so coarse that c shows it. */
static struct raw *with_operations(struct arena *a)
{
    struct raw *raw = sample_raw(a);
    raw->workloads[0].measure = MEASURE_OPERATION;
    raw->workloads[0].operations = 5000;
    raw->workloads[0].resolution_ns = 200000;
    return raw;
}

static void operations_are_told_by_one_of_them_each_with_its_unit(void **state)
{
    static const char *const lines[] = {
        "  Medians. ratio: the median of after / before over the repetitions; below 1 is faster. "
        "resolves: the smallest change",
        "  fib30       c        2.469136 us/op  4.938271 us/op  +100.0000%  SLOWER      2.001992  "
        "1.992008 to 2.006018     1.51%",
        "  tcp_fanout  c         104.000000 ms   104.000000 ms     0.0000%  UNRESOLVED  1.000996  "
        "0.996004 to 1.003009     1.51%",
        "  fib30     cpython  31.664308 us/op  31.744308 us/op  +0.2527%  PASS",
        "OPERATIONS  the time from GO to DONE, divided by the operations done in it",
        "  fib30     c        before       5,000      12.345678   2.469136 us/op  coarse",
        "  fib30     cpython  after        5,000     158.721541  31.744308 us/op  fine",
        "  - fib30 c, before: coarse; a step of the timer, 0.200000 ms, is more than 1 % of the "
        "12.345678 ms from GO to DONE",
        "  fib30       c        before  11   2.469136 us/op  0.004938 us/op   2.481481 us/op   "
        "2.459260 us/op",
        NULL};
    struct arena a = {0};
    CLEANUP(mem_freep) char *text = text_of(&a, with_operations(&a), 120, false);
    expect_lines(text, lines);
    expect_without(text, "fib30 cpython, before: coarse");
    CLEANUP(mem_freep) char *markdown = markdown_of(&a, with_operations(&a));
    assert_non_null(strstr(markdown, "| 2.469136 us/op | coarse |"));
    CLEANUP(mem_freep) char *plain = text_of(&a, sample_raw(&a), 120, false);
    expect_without(plain, "/op");
    expect_without(plain, "OPERATIONS");
    arena_deinit(&a);
}

static void sides_one_after_the_other_are_told_as_unpaired_with_cpu_time_beside(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    struct raw *raw = sample_raw(&a);
    raw->job.order = ORDER_SEQUENTIAL;
    CLEANUP(mem_freep) char *text = text_of(&a, raw, 120, false);
    static const char *const lines[] = {
        "VERDICTS  after (HEAD, 9ac01de29a) against before (v1.2, 3f2a91c0de), unpaired",
        "  workload    lane      before ms    after ms      change  verdict        ratio  "
        "interval, 95.27%      resolves",
        "  fib30       c         12.345678   24.691356  +100.0000%  SLOWER      2.000000  "
        "1.994018 to 2.006000     1.30%",
        "CPU TIME",
        "  workload    lane      before ms    after ms  verdict        ratio  interval            "
        "  coverage",
        "  fib30       c         12.344678   24.690356  SLOWER      2.000081  1.994099 to 2.006081"
        "    95.27%",
        "  - tcp_fanout c: UNRESOLVED in the excess over the wait, ratio 1.000000, 0.927644 to "
        "1.078000 (95.27%)",
        NULL};
    expect_lines(text, lines);
    assert_non_null(strstr(text, "over every two repetitions"));
}

static void a_margin_raised_by_a_control_is_told(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    struct raw *raw = sample_raw(&a);
    raw->job.order = ORDER_SEQUENTIAL;
    for (size_t i = 0; i < raw->n_observations; i++)
        if (strcmp(raw->observations[i].lane, "cpython") == 0 &&
            strcmp(raw->observations[i].side, "after") == 0)
            raw->observations[i].elapsed_ns += 4000000;
    CLEANUP(mem_freep) char *text = text_of(&a, raw, 200, false);
    assert_non_null(strstr(text,
                           "Margin: 3.08%, as far as a control may have drifted (the policy's own "
                           "is 1.00%)."));
}

static void an_absent_workload_and_a_variant_are_told_once(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    struct raw *raw = sample_raw(&a);
    const char *absent[] = {"before"}, *variant[] = {"CFLAGS=-O3 -g", "X=1"};
    raw->workloads[2].absent_sides = (struct args){absent, 1};
    raw->sources[1].variant = (struct args){variant, 2};
    CLEANUP(mem_freep) char *text = text_of(&a, raw, 120, false);
    static const char *const lines[] = {
        "  - after is built with 'CFLAGS=-O3 -g' X=1",
        "  - int32: absent on before, as the suite declares; nothing is compared with it", NULL};
    expect_lines(text, lines);
    assert_null(strstr(text, "int32 c, before: no figures"));
}

static void each_pair_of_sides_has_its_own_tables(void **state)
{
    (void)state;
    CLEANUP(arena_deinit) struct arena a = {0};
    struct raw *raw = sample_raw(&a);
    struct job_pair pairs[] = {{"after", "before"}, {"before", "after"}};
    raw->job.pairs = pairs;
    raw->job.n_pairs = 2;
    CLEANUP(mem_freep) char *text = text_of(&a, raw, 120, false);
    static const char *const lines[] = {
        "VERDICTS  after (HEAD, 9ac01de29a) against before (v1.2, 3f2a91c0de), 11 pairs",
        "VERDICTS  before (v1.2, 3f2a91c0de) against after (HEAD, 9ac01de29a), 11 pairs",
        "  workload    lane       after ms   before ms     change  verdict        ratio  interval, "
        "98.83%      resolves",
        "CONTROLS  lanes that do not differ between the sides; drift must stay below 5.0%",
        "  workload  control   before ms    after ms     drift  within",
        "  workload  control    after ms   before ms     drift  within",
        NULL};
    expect_lines(text, lines);
}

static void a_corrected_commit_names_base_approver_reason_and_diff(void **state)
{
    struct arena a = {0};
    struct raw *raw = sample_raw(&a);
    struct raw_correction c = {.base_commit = SAMPLE_BEFORE,
                               .corrected = SAMPLE_AFTER,
                               .diff_sha256 = "f00d",
                               .files = 1,
                               .lines_added = 2,
                               .lines_removed = 2,
                               .approved_by = "Ada",
                               .reason = "does not compile",
                               .proven = true};
    raw->sources[1].correction = &c;
    CLEANUP(mem_freep) char *proven = markdown_of(&a, raw);
    assert_non_null(strstr(proven, "\n- after: base " SAMPLE_BEFORE
                                   " + approved correction (2 lines in 1 file, by Ada: does not "
                                   "compile), diff sha256 f00d\n"));
    c.proven = false;
    CLEANUP(mem_freep) char *unproven = markdown_of(&a, raw);
    assert_non_null(strstr(unproven, " + unproven correction ("));
    arena_deinit(&a);
}

static void competitors_are_named_by_pid_and_command(void **state)
{
    static const char *const lines[] = {
        "  after timing   busy             1  1.2%, 0.8%      77  2026-11-30T17:36:52Z",
        "  after timing  4711  98.2%, 97.9%     sustained  stress --cpu 1 --timeout 600", NULL};
    struct arena a = {0};
    struct raw *raw = sample_raw(&a);
    sample_disturb(&a, raw, PHASE_AFTER_TIMING);
    CLEANUP(mem_freep) char *text = text_of(&a, raw, 80, false);
    expect_lines(text, lines);
    arena_deinit(&a);
}

static void a_disagreement_of_wall_and_cpu_time_is_said_in_words(void **state)
{
    static const char *const lines[] = {
        "  CPU time sees through neighbours and waits. It disagrees with wall time in 1 of 4 "
        "comparisons:",
        "  - tcp_fanout c: wall time says UNRESOLVED, CPU time says FASTER (CPU ratio 0.500000, "
        "0.500000 to 0.500000)",
        NULL};
    struct arena a = {0};
    struct raw *raw = sample_raw(&a);
    for (size_t i = 0; i < raw->n_observations; i++) {
        struct raw_observation *o = &raw->observations[i];
        if (strcmp(o->workload, "tcp_fanout") == 0)
            o->interval_cpu_ns = strcmp(o->side, "after") == 0 ? 500 : 1000;
    }
    CLEANUP(mem_freep) char *text = text_of(&a, raw, 120, false);
    expect_lines(text, lines);
    arena_deinit(&a);
}

static void a_control_that_moved_is_pointed_out(void **state)
{
    static const char *const lines[] = {
        "  fib30     cpython  158.321541  316.643082  +100.0000%  FAIL", NULL};
    struct arena a = {0};
    struct raw *raw = sample_raw(&a);
    for (size_t i = 0; i < raw->n_observations; i++) {
        struct raw_observation *o = &raw->observations[i];
        if (strcmp(o->lane, "cpython") == 0)
            o->elapsed_ns = strcmp(o->side, "after") == 0 ? 316643082 : 158321541;
    }
    CLEANUP(mem_freep) char *text = text_of(&a, raw, 120, false);
    expect_lines(text, lines);
    assert_non_null(strstr(text, "fib30 cpython did not change, yet measures SLOWER"));
    arena_deinit(&a);
}

static void an_absent_lane_has_a_reason_and_no_figures(void **state)
{
    struct arena a = {0};
    struct raw *raw = sample_raw(&a);
    raw->workloads[0].lanes[0].absent = "cargo is not on this host";
    for (size_t i = 0; i < raw->n_observations; i++)
        if (strcmp(raw->observations[i].workload, "fib30") == 0 &&
            strcmp(raw->observations[i].lane, "c") == 0)
            raw->observations[i].outcome = "absent";
    CLEANUP(mem_freep) char *text = text_of(&a, raw, 120, false);
    assert_non_null(
        strstr(text, "  - fib30 c, before: no figures, absent: cargo is not on this host\n"));
    expect_without(text, "24.691356");
    arena_deinit(&a);
}

static void refusals_before_the_run_are_told(void **state)
{
    struct raw_refusal refusal = {SAMPLE_ID, 1796060152000, PHASE_BEFORE_TIMING, "stress was busy"};
    struct arena a = {0};
    struct raw *raw = sample_raw(&a);
    raw->refusals = &refusal;
    raw->n_refusals = 1;
    CLEANUP(mem_freep) char *text = text_of(&a, raw, 120, false);
    assert_non_null(strstr(text, "It was refused 1 time before it could run:\n"));
    assert_non_null(strstr(text, "- 2026-11-30T17:35:52Z, before timing: stress was busy\n"));
    arena_deinit(&a);
}

static void a_void_report_says_why_and_has_no_figures(void **state)
{
    struct arena a = {0};
    struct raw *raw = sample_raw(&a);
    sample_void(raw);
    CLEANUP(mem_freep) char *text = text_of(&a, raw, 100, false);
    CLEANUP(mem_freep) char *markdown = markdown_of(&a, raw);
    assert_non_null(strstr(text, "GRADE   void (lane.done_wrong), "));
    assert_non_null(strstr(text, "VOID    fib30 c printed another DONE line"));
    assert_non_null(strstr(text, "  - fib30 c, before, repetition 0: lane.done_wrong\n"));
    assert_non_null(strstr(text, "  - DONE as received: DONE demo 832041\\x1b[31m\n"));
    expect_without(text, "VERDICTS");
    expect_without(text, "DISPERSION");
    expect_without(text, " ms");
    expect_without(markdown, " ms");
    expect_without(text, "12.345678");
    arena_deinit(&a);
}

static void a_run_compares_its_two_commands_and_is_always_diagnostic(void **state)
{
    static const char *const lines[] = {
        "  a     ./tool --input 'big file.txt'",
        "  b     ./tool2 --input 'big file.txt'",
        "  A run of two commands pins no sources and builds nothing, so it is always diagnostic.",
        "VERDICTS  b against a, 11 pairs",
        "  workload  side        a ms       b ms    change  verdict     ratio  interval, 98.83%      "
        "resolves",
        "  run       suite  12.345678  11.500000  -6.8500%  FASTER   0.931500  0.931500 to 0.931500"
        "     1.00%",
        NULL};
    struct arena a = {0};
    CLEANUP(mem_freep) char *text = text_of(&a, sample_run(&a), 120, false);
    expect_lines(text, lines);
    assert_non_null(strstr(text, "GRADE   diagnostic, "));
    arena_deinit(&a);
}

/* The sample has no audit of its observer: the summary is bent by hand. */
static void a_diagnostic_row_of_a_contractual_report_is_marked(void **state)
{
    const struct report_style style = {.width = 120};
    CLEANUP(buf_deinit) struct buf out = {0};
    struct arena a = {0};
    struct raw *raw = sample_raw(&a);
    struct summary *s = summarise(&a, raw);
    s->grade.value = GRADE_CONTRACTUAL;
    for (size_t i = 0; i < s->n_rows; i++)
        s->rows[i].grade.value =
            strcmp(s->rows[i].workload, "fib30") == 0 ? GRADE_DIAGNOSTIC : GRADE_CONTRACTUAL;
    report_text(&out, raw, s, &style);
    assert_non_null(strstr(buf_str(&out), "  SLOWER (diagnostic)  "));
    assert_null(strstr(buf_str(&out), "UNRESOLVED (diagnostic)"));
    assert_non_null(strstr(buf_str(&out), "  6 of 10 rows are contractual; "));
    arena_deinit(&a);
}

static void a_job_without_sources_says_so(void **state)
{
    struct arena a = {0};
    struct raw *raw = sample_raw(&a);
    raw->job.n_sources = raw->n_sources = 0;
    CLEANUP(mem_freep) char *text = text_of(&a, raw, 80, false);
    assert_non_null(
        strstr(text, "  The job names no sources: it measures the suite as it stands."));
    arena_deinit(&a);
}

static void markdown_says_the_same_in_tables(void **state)
{
    static const char *const lines[] = {
        "**RESULT:** 1 SLOWER, 3 UNRESOLVED, in 4 comparisons",
        "## Verdicts",
        "| workload | lane | before ms | after ms | change | verdict | ratio | interval, 98.83% | "
        "resolves |",
        "| fib30 | c | 12.345678 | 24.691356 | +100.0000% | **SLOWER** | 2.001992 | 1.992008 to "
        "2.006018 | 1.51% |",
        "| fib30 | cpython | 158.321541 | 158.721541 | +0.2527% | PASS |",
        "- tcp_fanout c: UNRESOLVED in the excess over the wait, ratio 1.023551, "
        "0.898635 to 1.084599 (98.83%)",
        NULL};
    struct arena a = {0};
    CLEANUP(mem_freep) char *text = markdown_of(&a, sample_raw(&a));
    assert_true(strncmp(text, "# demo-after  " SAMPLE_ID "\n\n**GRADE: diagnostic**, policy", 40) ==
                0);
    expect_lines(text, lines);
    arena_deinit(&a);
}

/* ---- form */

static void expect_width(const char *text, size_t width)
{
    CLEANUP(mem_freep) char *copy = mem_strdup(text);
    char *rest = copy, *line;
    while ((line = strsep(&rest, "\n"))) {
        bool breakable = strchr(line + strspn(line, " "), ' ') != NULL;
        if (text_width(line) > width && breakable)
            fail_msg("%zu columns: \"%s\"", text_width(line), line);
        if (*line && line[strlen(line) - 1] == ' ')
            fail_msg("ends in a blank: \"%s\"", line);
    }
}

static void no_line_is_longer_than_the_page(void **state)
{
    static const int widths[] = {80, 90, 100, 120, 160};
    struct arena a = {0};
    struct raw *samples[] = {sample_raw(&a), sample_run(&a), sample_raw(&a), sample_raw(&a)};
    sample_void(samples[2]);
    sample_disturb(&a, samples[3], PHASE_BEFORE_TIMING);
    for (size_t s = 0; s < ARRAY_LEN(samples); s++)
        for (size_t w = 0; w < ARRAY_LEN(widths); w++) {
            CLEANUP(mem_freep) char *text = text_of(&a, samples[s], widths[w], false);
            expect_width(text, (size_t)widths[w]);
        }
    arena_deinit(&a);
}

static void colour_is_used_only_when_asked_for(void **state)
{
    struct arena a = {0};
    struct raw *raw = sample_raw(&a);
    CLEANUP(mem_freep) char *plain = text_of(&a, raw, 80, false);
    CLEANUP(mem_freep) char *coloured = text_of(&a, raw, 80, true);
    CLEANUP(mem_freep) char *markdown = markdown_of(&a, raw);
    assert_null(strchr(plain, '\x1b'));
    assert_null(strchr(markdown, '\x1b'));
    assert_non_null(strstr(coloured, "\x1b[31mSLOWER\x1b[0m"));
    assert_non_null(strstr(coloured, "\x1b[33mUNRESOLVED\x1b[0m"));
    assert_non_null(strstr(coloured, "\x1b[33mdiagnostic\x1b[0m"));
    arena_deinit(&a);
}

/* Takes out every colour. */
static void strip(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        if (*from == '\x1b')
            from += strcspn(from, "m");
        else
            *to++ = *from;
    }
    *to = '\0';
}

static void colour_changes_nothing_but_colour(void **state)
{
    struct arena a = {0};
    struct raw *raw = sample_raw(&a);
    CLEANUP(mem_freep) char *plain = text_of(&a, raw, 80, false);
    CLEANUP(mem_freep) char *coloured = text_of(&a, raw, 80, true);
    strip(coloured);
    assert_string_equal(plain, coloured);
    arena_deinit(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_grade_comes_first_then_the_verdicts),
        cmocka_unit_test(a_narrow_page_splits_the_verdict_table),
        cmocka_unit_test(every_part_of_a_comparison_is_there),
        cmocka_unit_test(a_calibration_is_told_with_the_floors_share_and_what_is_below_resolution),
        cmocka_unit_test(operations_are_told_by_one_of_them_each_with_its_unit),
        cmocka_unit_test(sides_one_after_the_other_are_told_as_unpaired_with_cpu_time_beside),
        cmocka_unit_test(a_margin_raised_by_a_control_is_told),
        cmocka_unit_test(an_absent_workload_and_a_variant_are_told_once),
        cmocka_unit_test(each_pair_of_sides_has_its_own_tables),
        cmocka_unit_test(a_corrected_commit_names_base_approver_reason_and_diff),
        cmocka_unit_test(competitors_are_named_by_pid_and_command),
        cmocka_unit_test(a_disagreement_of_wall_and_cpu_time_is_said_in_words),
        cmocka_unit_test(a_control_that_moved_is_pointed_out),
        cmocka_unit_test(an_absent_lane_has_a_reason_and_no_figures),
        cmocka_unit_test(refusals_before_the_run_are_told),
        cmocka_unit_test(a_void_report_says_why_and_has_no_figures),
        cmocka_unit_test(a_run_compares_its_two_commands_and_is_always_diagnostic),
        cmocka_unit_test(a_diagnostic_row_of_a_contractual_report_is_marked),
        cmocka_unit_test(a_job_without_sources_says_so),
        cmocka_unit_test(markdown_says_the_same_in_tables),
        cmocka_unit_test(no_line_is_longer_than_the_page),
        cmocka_unit_test(colour_is_used_only_when_asked_for),
        cmocka_unit_test(colour_changes_nothing_but_colour),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
