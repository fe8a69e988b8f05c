/* The gate: each kind of target met and missed at its very limit, and everything that may not pass:
 * figures that are not there, diagnostic ones, other hosts, void reports. */
#include "raw_fixture.h"

#include "unit.h"

#include "base/mem.h"
#include "core/gate.h"
#include "core/summarise.h"

/* c takes half of what it took before, a quarter of cpython: 20000 and 80000 ns, each times 1.005.
 */
#define RATIO 0.25
#define CHANGE (-50.0)

struct world {
    struct arena a;
    struct gate_report reports[2];
    size_t n;
    struct gate_result out;
};

/* observer_silent is what the fixture cannot pass: without it the report would be contractual. */
static void make_contractual(struct summary *s)
{
    s->grade.value = GRADE_CONTRACTUAL;
    for (size_t i = 0; i < s->n_rows; i++)
        s->rows[i].grade.value = GRADE_CONTRACTUAL;
}

static struct gate_report *add_report(struct world *w, const char *host, const char *arch)
{
    struct raw *raw = raw_fixture(&w->a);
    raw->host.name = raw->host.id = host;
    raw->host.arch = arch;
    raw->job.suite_name = "release";
    struct summary *s = summarise(&w->a, raw);
    make_contractual(s);
    w->reports[w->n] = (struct gate_report){"one", raw, s};
    return &w->reports[w->n++];
}

static const struct gate_row *judge(struct world *w, struct target t)
{
    struct target *kept = arena_alloc(&w->a, sizeof *kept);
    *kept = t;
    const struct targets list = {"t", kept, 1};
    gate_judge(&w->a, &list, w->reports, w->n, &w->out);
    assert_true(w->out.n_rows > 0);
    return &w->out.rows[0];
}

static struct target ratio_of(double max)
{
    return (struct target){
        .kind = TARGET_RATIO, .workload = "fib30", .lane = "c", .reference = "cpython", .max = max};
}

static struct target change_of(double max)
{
    return (struct target){.kind = TARGET_CHANGE, .workload = "fib30", .lane = "c", .max = max};
}

static struct target size_of(int64_t bytes)
{
    return (struct target){.kind = TARGET_SIZE, .file = "fib30", .bytes = bytes};
}

static void expect(struct world *w, struct target t, enum gate_status status, const char *why)
{
    const struct gate_row *row = judge(w, t);
    if (row->status != status)
        fail_msg("%s is %s (%s)", row->what, gate_status_name(row->status),
                 row->why ? row->why : "");
    if (why)
        assert_non_null(strstr(row->why, why));
    assert_int_equal(w->out.passed, status == GATE_MET);
    assert_int_equal(w->out.count[status], w->out.n_rows);
}

static void a_ratio_at_its_limit_is_met_and_over_it_is_missed(void **state)
{
    struct world w = {0};
    add_report(&w, "bench1", "x86_64");
    expect(&w, ratio_of(RATIO), GATE_MET, NULL);
    assert_true(w.out.rows[0].figure == RATIO);
    assert_string_equal(w.out.rows[0].what, "fib30: c / cpython");
    assert_string_equal(w.out.rows[0].limit, "at most 0.250000");
    assert_string_equal(w.out.rows[0].found, "0.250000");
    expect(&w, ratio_of(nextafter(RATIO, 0)), GATE_MISSED, NULL);
    struct target t = ratio_of(0.5);
    t.side = "before";
    expect(&w, t, GATE_MET, NULL);
    assert_true(w.out.rows[0].figure == 0.5);
    arena_deinit(&w.a);
}

static void a_change_at_its_limit_is_met_and_over_it_is_missed(void **state)
{
    struct world w = {0};
    add_report(&w, "bench1", "x86_64");
    expect(&w, change_of(CHANGE), GATE_MET, NULL);
    assert_true(w.out.rows[0].figure == CHANGE);
    assert_string_equal(w.out.rows[0].found, "-50.0000 %");
    expect(&w, change_of(nextafter(CHANGE, -100)), GATE_MISSED, NULL);
    struct target back = change_of(99.9999);
    back.before = "after";
    back.side = "before";
    expect(&w, back, GATE_MISSED, NULL); /* twice as slow */
    arena_deinit(&w.a);
}

static void cpu_time_is_judged_where_the_target_says_so(void **state)
{
    struct world w = {0};
    struct gate_report *r = add_report(&w, "bench1", "x86_64");
    struct target t = {.kind = TARGET_RATIO,
                       .workload = "fanout",
                       .lane = "c",
                       .reference = "cpython",
                       .max = RATIO};
    expect(&w, t, GATE_MISSED, NULL); /* the declared wait is in both */
    t.time = TARGET_CPU;
    expect(&w, t, GATE_MET, NULL);
    struct summary *s = summarise(&w.a, r->raw);
    make_contractual(s);
    for (size_t i = 0; i < s->n_rows; i++)
        s->rows[i].cpu.median_ns = NAN;
    r->s = s;
    expect(&w, t, GATE_UNDEFINED, "not known");
    arena_deinit(&w.a);
}

static void a_size_may_grow_by_a_tenth_and_no_byte_more(void **state)
{
    struct world w = {0};
    struct gate_report *r = add_report(&w, "bench1", "x86_64");
    struct raw *raw = raw_fixture(&w.a);
    raw->host.name = raw->host.id = "bench1";
    r->raw = raw;
    raw->artifacts[1].bytes = 110;
    expect(&w, size_of(100), GATE_MET, NULL);
    assert_string_equal(w.out.rows[0].found, "110");
    raw->artifacts[1].bytes = 111;
    expect(&w, size_of(100), GATE_MISSED, NULL);
    expect(&w, size_of(101), GATE_MET, NULL);
    raw->artifacts[1].bytes = -1;
    expect(&w, size_of(100), GATE_UNDEFINED, "not known");
    struct target other = size_of(100);
    other.file = "fib31";
    expect(&w, other, GATE_UNDEFINED, "no report of this host has the file fib31");
    arena_deinit(&w.a);
}

static void what_a_report_does_not_have_is_undefined_and_does_not_pass(void **state)
{
    struct world w = {0};
    add_report(&w, "bench1", "x86_64");
    struct target t = ratio_of(100);
    t.workload = "fib31";
    expect(&w, t, GATE_UNDEFINED, "has the workload fib31");
    t = ratio_of(100);
    t.lane = "ada";
    expect(&w, t, GATE_UNDEFINED, "no lane ada");
    t = ratio_of(100);
    t.reference = "rust";
    expect(&w, t, GATE_UNDEFINED, "no lane rust");
    t = ratio_of(100);
    t.side = "later";
    expect(&w, t, GATE_UNDEFINED, "on that side");
    t = ratio_of(100);
    t.suite = "nightly";
    expect(&w, t, GATE_UNDEFINED, "suite nightly");
    t = change_of(100);
    t.before = "later";
    expect(&w, t, GATE_UNDEFINED, "no such side");
    t = change_of(100);
    t.before = t.side = "after";
    expect(&w, t, GATE_UNDEFINED, "one side");
    arena_deinit(&w.a);
}

static void no_report_at_all_does_not_pass(void **state)
{
    struct world w = {0};
    expect(&w, ratio_of(100), GATE_UNDEFINED, "no report is of a host");
    const struct targets none = {"t", NULL, 0};
    gate_judge(&w.a, &none, w.reports, 0, &w.out);
    assert_false(w.out.passed);
    arena_deinit(&w.a);
}

static void a_lane_that_was_left_out_is_undefined(void **state)
{
    struct world w = {0};
    struct gate_report *r = add_report(&w, "bench1", "x86_64");
    struct raw *raw = raw_fixture(&w.a);
    raw->host.name = raw->host.id = "bench1";
    raw->workloads[0].lanes[1].excluded = true;
    raw_replan(&w.a, raw);
    r->raw = raw;
    r->s = summarise(&w.a, raw);
    expect(&w, ratio_of(100), GATE_UNDEFINED, "left out");
    arena_deinit(&w.a);
}

static void diagnostic_figures_pass_only_where_the_target_says_so(void **state)
{
    struct world w = {0};
    struct gate_report *r = add_report(&w, "bench1", "x86_64");
    struct summary *s = summarise(&w.a, r->raw);
    struct target t = ratio_of(RATIO);
    r->s = s;
    assert_int_equal(s->grade.value, GRADE_DIAGNOSTIC);
    expect(&w, t, GATE_DIAGNOSTIC, "diagnostic");
    expect(&w, ratio_of(0.1), GATE_MISSED, "diagnostic"); /* a miss stays a miss */
    expect(&w, size_of(100), GATE_DIAGNOSTIC, "diagnostic");
    t.diagnostic = true;
    expect(&w, t, GATE_MET, "allows");
    arena_deinit(&w.a);
}

static void a_diagnostic_row_of_a_contractual_report_does_not_pass(void **state)
{
    struct world w = {0};
    struct gate_report *r = add_report(&w, "bench1", "x86_64");
    struct summary *s = summarise(&w.a, r->raw);
    make_contractual(s);
    r->s = s;
    for (size_t i = 0; i < s->n_rows; i++)
        if (strcmp(s->rows[i].lane, "cpython") == 0 && strcmp(s->rows[i].side, "after") == 0)
            s->rows[i].grade.value = GRADE_DIAGNOSTIC;
    expect(&w, ratio_of(RATIO), GATE_DIAGNOSTIC, "diagnostic");
    expect(&w, change_of(0), GATE_MET, NULL); /* the reference has no part in it */
    arena_deinit(&w.a);
}

static void a_void_report_is_undefined(void **state)
{
    struct world w = {0};
    struct gate_report *r = add_report(&w, "bench1", "x86_64");
    struct raw *raw = raw_fixture(&w.a);
    raw->host.name = raw->host.id = "bench1";
    raw->void_code = "lane.done_wrong";
    r->raw = raw;
    r->s = summarise(&w.a, raw);
    expect(&w, ratio_of(100), GATE_UNDEFINED, "void (lane.done_wrong)");
    expect(&w, size_of(100), GATE_UNDEFINED, "void");
    arena_deinit(&w.a);
}

static void every_host_is_judged_unless_the_target_names_one(void **state)
{
    struct world w = {0};
    add_report(&w, "linux", "x86_64");
    add_report(&w, "mac", "arm64");
    expect(&w, ratio_of(RATIO), GATE_MET, NULL);
    assert_int_equal(w.out.n_rows, 2);
    assert_string_equal(w.out.rows[0].host, "linux");
    assert_string_equal(w.out.rows[1].host, "mac");
    struct target t = ratio_of(RATIO);
    t.arch = "arm64";
    expect(&w, t, GATE_MET, NULL);
    assert_int_equal(w.out.n_rows, 1);
    assert_string_equal(w.out.rows[0].host, "mac");
    t.host = "linux";
    expect(&w, t, GATE_UNDEFINED, "no report is of a host");
    arena_deinit(&w.a);
}

static void a_host_without_the_workload_is_a_miss_beside_one_that_has_it(void **state)
{
    struct world w = {0};
    add_report(&w, "linux", "x86_64");
    struct gate_report *r = add_report(&w, "mac", "arm64");
    struct raw *raw = raw_fixture(&w.a);
    raw->host.name = raw->host.id = "mac";
    raw->n_workloads = 0;
    r->raw = raw;
    judge(&w, ratio_of(RATIO));
    assert_int_equal(w.out.n_rows, 2);
    assert_int_equal(w.out.rows[0].status, GATE_MET);
    assert_int_equal(w.out.rows[1].status, GATE_UNDEFINED);
    assert_false(w.out.passed);
    arena_deinit(&w.a);
}

static void every_report_of_a_host_that_has_the_workload_is_judged(void **state)
{
    struct world w = {0};
    add_report(&w, "linux", "x86_64");
    struct gate_report *r = add_report(&w, "linux", "x86_64");
    r->name = "two";
    expect(&w, ratio_of(RATIO), GATE_MET, NULL);
    assert_int_equal(w.out.n_rows, 2);
    assert_string_equal(w.out.rows[0].report, "one");
    assert_string_equal(w.out.rows[1].report, "two");
    arena_deinit(&w.a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ratio_at_its_limit_is_met_and_over_it_is_missed),
        cmocka_unit_test(a_change_at_its_limit_is_met_and_over_it_is_missed),
        cmocka_unit_test(cpu_time_is_judged_where_the_target_says_so),
        cmocka_unit_test(a_size_may_grow_by_a_tenth_and_no_byte_more),
        cmocka_unit_test(what_a_report_does_not_have_is_undefined_and_does_not_pass),
        cmocka_unit_test(no_report_at_all_does_not_pass),
        cmocka_unit_test(a_lane_that_was_left_out_is_undefined),
        cmocka_unit_test(diagnostic_figures_pass_only_where_the_target_says_so),
        cmocka_unit_test(a_diagnostic_row_of_a_contractual_report_does_not_pass),
        cmocka_unit_test(a_void_report_is_undefined),
        cmocka_unit_test(every_host_is_judged_unless_the_target_names_one),
        cmocka_unit_test(a_host_without_the_workload_is_a_miss_beside_one_that_has_it),
        cmocka_unit_test(every_report_of_a_host_that_has_the_workload_is_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
