/* The gate: each kind of target met and missed at its very limit, and everything that may not pass:
 * figures that are not there, diagnostic ones, other hosts, void reports. */
#include "raw_fixture.h"

#include "unit.h"

#include "base/mem.h"
#include "core/gate/gate.h"
#include "core/summary/summarise.h"

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

/* The fixture's rows are not above resolution: nothing else keeps them from being contractual. */
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
    raw->host.kernel = strcmp(arch, "arm64") == 0 ? "Darwin 25.2.0" : "Linux 6.1.0-18-amd64";
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
    const struct targets list = {.name = "t", .v = kept, .n = 1};
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

static struct target sample_of(const char *lane, const char *sample, int64_t max_p99)
{
    return (struct target){.kind = TARGET_SAMPLE,
                           .workload = "fanout",
                           .lane = lane,
                           .sample = sample,
                           .max_p99 = max_p99};
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

/* What fanout's c printed on the last side. */
static void give_samples(struct world *w, struct gate_report *r, size_t n)
{
    static struct sample_figures late = {
        .name = "late", .unit = SAMPLE_NS, .median = 5, .p99 = 900, .max = 1000, .total = 7};
    struct summary *s = summarise(&w->a, r->raw);
    make_contractual(s);
    late.n = n;
    for (size_t i = 0; i < s->n_rows; i++)
        if (strcmp(s->rows[i].workload, "fanout") == 0) {
            s->rows[i].samples = &late;
            s->rows[i].n_samples = 1;
        }
    r->s = s;
}

static void a_p99_at_its_limit_is_met_and_over_it_is_missed(void **state)
{
    struct world w = {0};
    struct gate_report *r = add_report(&w, "bench1", "x86_64");
    give_samples(&w, r, 100);
    expect(&w, sample_of("c", "late", 900), GATE_MET, NULL);
    assert_true(w.out.rows[0].figure == 900);
    assert_string_equal(w.out.rows[0].what, "fanout: p99 of late, c");
    assert_string_equal(w.out.rows[0].limit, "at most 900");
    assert_string_equal(w.out.rows[0].found, "900 ns");
    expect(&w, sample_of("c", "late", 899), GATE_MISSED, NULL);
    expect(&w, sample_of("c", "early", 900), GATE_UNDEFINED, "no samples early");
    expect(&w, sample_of("rust", "late", 900), GATE_UNDEFINED, "no lane rust");
    give_samples(&w, r, 0);
    expect(&w, sample_of("c", "late", 900), GATE_UNDEFINED, "no samples late");
    arena_deinit(&w.a);
}

static void a_p99_of_a_diagnostic_row_passes_only_where_that_is_allowed(void **state)
{
    struct world w = {0};
    struct gate_report *r = add_report(&w, "bench1", "x86_64");
    struct target t = sample_of("c", "late", 900);
    give_samples(&w, r, 100);
    struct summary *s = (struct summary *)r->s;
    for (size_t i = 0; i < s->n_rows; i++)
        s->rows[i].grade.value = GRADE_DIAGNOSTIC;
    expect(&w, t, GATE_DIAGNOSTIC, "diagnostic");
    t.diagnostic = true;
    expect(&w, t, GATE_MET, "which the target allows");
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
    expect(&w, other, GATE_UNDEFINED, "no report of this host has the file fib31; there is: fib30");
    arena_deinit(&w.a);
}

static void what_a_report_does_not_have_is_undefined_and_does_not_pass(void **state)
{
    struct world w = {0};
    add_report(&w, "bench1", "x86_64");
    struct target t = ratio_of(100);
    t.workload = "fib31";
    expect(&w, t, GATE_UNDEFINED, "has the workload fib31; there is: fib30, fanout");
    t = ratio_of(100);
    t.lane = "ada";
    expect(&w, t, GATE_UNDEFINED, "no lane ada on that side; fib30 has: c, cpython");
    t = ratio_of(100);
    t.reference = "rust";
    expect(&w, t, GATE_UNDEFINED, "no lane rust");
    t = ratio_of(100);
    t.side = "later";
    expect(&w, t, GATE_UNDEFINED, "on that side");
    t = ratio_of(100);
    t.suite = "nightly";
    expect(&w, t, GATE_UNDEFINED, "no report of this host is of suite nightly");
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
    const struct targets none = {.name = "t"};
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
    struct raw *raw = raw_fixture(&w.a);
    struct target t = ratio_of(RATIO);
    raw->host.name = raw->host.id = "bench1";
    raw->job.allow_competing = true;
    struct summary *s = summarise(&w.a, raw);
    r->raw = raw;
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

/* ---- the interval */

/* c of side after takes so much more in every other repetition; of cpython nothing changes. */
static struct raw *spread(struct world *w, double more)
{
    struct raw *raw = raw_fixture(&w->a);
    raw->host.name = raw->host.id = "bench1";
    for (size_t i = 0; i < raw->n_observations; i++) {
        struct raw_observation *o = &raw->observations[i];
        bool odd = o->repetition % 2;
        if (odd && strcmp(o->lane, "c") == 0 && strcmp(o->side, "after") == 0)
            o->elapsed_ns = (int64_t)((double)o->elapsed_ns * more);
    }
    return raw;
}

static void set_raw(struct world *w, struct raw *raw)
{
    struct summary *s = summarise(&w->a, raw);
    make_contractual(s);
    w->reports[0].raw = raw;
    w->reports[0].s = s;
}

static void a_limit_inside_of_the_interval_cannot_be_told(void **state)
{
    struct world w = {0};
    add_report(&w, "bench1", "x86_64");
    set_raw(&w, spread(&w, 2)); /* ratios of 0.25 and 0.5, to the same number or nearly so */
    expect(&w, ratio_of(0.4), GATE_UNCLEAR, "0.500000) are not on one side of the limit");
    const struct interval *v = &w.out.rows[0].interval;
    assert_true(v->defined && v->low <= 0.26 && v->high >= 0.49 && v->coverage > 0.95);
    expect(&w, ratio_of(0.6), GATE_MET, NULL);
    expect(&w, ratio_of(0.2), GATE_MISSED, NULL);
    expect(&w, change_of(-20), GATE_UNCLEAR, "not on one side");
    assert_true(w.out.rows[0].interval.low < -49 && w.out.rows[0].interval.high > -1);
    struct target t = ratio_of(0.4);
    t.diagnostic = true;
    expect(&w, t, GATE_UNCLEAR, "not on one side"); /* allows figures, not doubt */
    arena_deinit(&w.a);
}

static void the_interval_is_that_of_the_report(void **state)
{
    struct world w = {0};
    add_report(&w, "bench1", "x86_64");
    set_raw(&w, spread(&w, 2));
    const struct summary *s = w.reports[0].s;
    for (size_t i = 0; i < s->n_comparisons; i++) {
        const struct comparison *c = &s->comparisons[i];
        if (c->kind != COMPARE_LANES || strcmp(c->workload, "fib30"))
            continue;
        struct target t = ratio_of(0.6);
        t.lane = c->subject_lane;
        t.reference = c->reference_lane;
        t.side = c->subject_side;
        const struct gate_row *row = judge(&w, t);
        assert_memory_equal(&row->interval.low, &c->wall.interval.low, sizeof(double));
        assert_memory_equal(&row->interval.high, &c->wall.interval.high, sizeof(double));
        assert_true(row->figure == c->wall.ratio_of_medians);
    }
    arena_deinit(&w.a);
}

static void a_contract_without_an_interval_cannot_be_told(void **state)
{
    struct world w = {0};
    add_report(&w, "bench1", "x86_64");
    struct raw *raw = raw_fixture(&w.a);
    raw->host.name = raw->host.id = "bench1";
    for (size_t i = 0; i < raw->n_observations; i++)
        if (raw->observations[i].kind == OBS_TIMED && raw->observations[i].repetition >= 5)
            raw->observations[i].outcome = "lane.done_wrong";
    set_raw(&w, raw);
    expect(&w, ratio_of(0.6), GATE_UNCLEAR, "too few repetitions");
    expect(&w, ratio_of(0.1), GATE_UNCLEAR, "too few repetitions");
    struct summary *s = summarise(&w.a, raw); /* a diagnostic figure says no more than it is */
    s->grade.value = GRADE_DIAGNOSTIC;
    w.reports[0].s = s;
    struct target t = ratio_of(0.6);
    t.diagnostic = true;
    expect(&w, t, GATE_MET, "allows");
    arena_deinit(&w.a);
}

/* c's instructions: 1000 before, and on the last side 500 and one more with each repetition. */
static struct raw *with_instructions(struct world *w, bool exact)
{
    struct raw *raw = raw_fixture(&w->a);
    raw->host.name = raw->host.id = "bench1";
    raw_add_values(&w->a, raw, MEASURE_INSTRUCTIONS);
    raw_replan(&w->a, raw);
    for (int r = 0; r < raw->job.repetitions; r++) {
        raw_find(raw, "heap", "c", "before", r)->values[0].value = 1000;
        raw_find(raw, "heap", "c", "after", r)->values[0].value = 500 + (exact ? 0 : r);
    }
    return raw;
}

static void set_values(struct world *w, struct raw *raw)
{
    set_raw(w, raw);
    struct summary *s = summarise(&w->a, raw);
    make_contractual(s);
    for (size_t i = 0; i < s->n_values; i++)
        s->values[i].grade.value = GRADE_CONTRACTUAL;
    w->reports[0].s = s;
}

static void a_value_is_judged_by_the_interval_of_its_comparison(void **state)
{
    struct world w = {0};
    struct target t = change_of(-49);
    add_report(&w, "bench1", "x86_64");
    t.workload = "heap";
    t.value = "instructions";
    set_values(&w, with_instructions(&w, false));
    expect(&w, t, GATE_MET, NULL);
    const struct interval *v = &w.out.rows[0].interval; /* 501 to 509, not 500 to 510 */
    assert_float_equal(v->low, -49.9, 1e-9);
    assert_float_equal(v->high, -49.1, 1e-9);
    assert_float_equal(v->coverage, 0.98828125, 1e-12);
    t.max = -49.2;
    expect(&w, t, GATE_UNCLEAR, "not on one side of the limit");
    t.max = -50;
    expect(&w, t, GATE_MISSED, NULL);
    set_values(&w, with_instructions(&w, true)); /* one figure, to its very limit */
    expect(&w, t, GATE_MET, NULL);
    assert_true(isnan(w.out.rows[0].interval.coverage));
    arena_deinit(&w.a);
}

static void a_value_that_is_not_exact_and_has_no_interval_is_unclear(void **state)
{
    struct world w = {0};
    struct target t = change_of(-40);
    struct raw *raw = with_instructions(&w, false);
    add_report(&w, "bench1", "x86_64");
    t.workload = "heap";
    t.value = "instructions";
    raw_find(raw, "heap", "c", "after", 3)->values[0].value = 0;
    set_values(&w, raw);
    expect(&w, t, GATE_UNCLEAR, "or a value of 0");
    arena_deinit(&w.a);
}

static void what_is_still_to_go_is_a_factor_of_the_limit(void **state)
{
    struct world w = {0};
    struct gate_report *r = add_report(&w, "bench1", "x86_64");
    expect(&w, ratio_of(0.125), GATE_MISSED, NULL);
    assert_true(w.out.rows[0].to_go == 2);
    expect(&w, ratio_of(0.5), GATE_MET, NULL);
    assert_true(w.out.rows[0].to_go == 0.5);
    expect(&w, change_of(-75), GATE_MISSED, NULL); /* half of what it was, a quarter is wanted */
    assert_true(w.out.rows[0].to_go == 2);
    struct raw *raw = raw_fixture(&w.a);
    raw->host.name = raw->host.id = "bench1";
    raw->artifacts[1].bytes = 220;
    r->raw = raw;
    expect(&w, size_of(100), GATE_MISSED, NULL);
    assert_float_equal(w.out.rows[0].to_go, 2, 1e-9);
    struct target t = ratio_of(1);
    t.workload = "fib31";
    expect(&w, t, GATE_UNDEFINED, NULL);
    assert_true(isnan(w.out.rows[0].to_go));
    arena_deinit(&w.a);
}

/* ---- recorded gaps */

static void recorded_gaps_stand_beside_the_ratio_now_and_are_not_judged(void **state)
{
    struct world w = {0};
    add_report(&w, "linux", "x86_64");
    add_report(&w, "mac", "arm64");
    struct target t = ratio_of(RATIO);
    struct recorded_gap gaps[] = {
        {"release", "fib30", "c", "cpython", 1e-6, "long ago"},
        {"nightly", "fib30", "c", "cpython", 9, NULL},
        {NULL, "fib30", "aura", "rust", 29.664884, NULL},
    };
    const struct targets list = {.name = "t", .v = &t, .n = 1, .gaps = gaps, .n_gaps = 3};
    gate_judge(&w.a, &list, w.reports, w.n, &w.out);
    assert_true(w.out.passed);
    assert_int_equal(w.out.n_gaps, 4);
    for (size_t i = 0; i < 2; i++) {
        assert_ptr_equal(w.out.gaps[i].gap, &gaps[0]);
        assert_true(w.out.gaps[i].now == RATIO);
        assert_string_equal(w.out.gaps[i].host, i ? "mac" : "linux");
    }
    for (size_t i = 2; i < 4; i++) {
        assert_true(isnan(w.out.gaps[i].now));
        assert_null(w.out.gaps[i].report);
    }
    arena_deinit(&w.a);
}

/* ---- hosts */

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
    t = ratio_of(RATIO);
    t.system = "Darwin";
    expect(&w, t, GATE_MET, NULL);
    assert_int_equal(w.out.n_rows, 1);
    assert_string_equal(w.out.rows[0].host, "mac");
    t.system = "Darw"; /* a whole word */
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
        cmocka_unit_test(a_p99_at_its_limit_is_met_and_over_it_is_missed),
        cmocka_unit_test(a_p99_of_a_diagnostic_row_passes_only_where_that_is_allowed),
        cmocka_unit_test(a_change_at_its_limit_is_met_and_over_it_is_missed),
        cmocka_unit_test(cpu_time_is_judged_where_the_target_says_so),
        cmocka_unit_test(a_size_may_grow_by_a_tenth_and_no_byte_more),
        cmocka_unit_test(what_a_report_does_not_have_is_undefined_and_does_not_pass),
        cmocka_unit_test(no_report_at_all_does_not_pass),
        cmocka_unit_test(a_lane_that_was_left_out_is_undefined),
        cmocka_unit_test(diagnostic_figures_pass_only_where_the_target_says_so),
        cmocka_unit_test(a_diagnostic_row_of_a_contractual_report_does_not_pass),
        cmocka_unit_test(a_void_report_is_undefined),
        cmocka_unit_test(a_limit_inside_of_the_interval_cannot_be_told),
        cmocka_unit_test(the_interval_is_that_of_the_report),
        cmocka_unit_test(a_contract_without_an_interval_cannot_be_told),
        cmocka_unit_test(a_value_is_judged_by_the_interval_of_its_comparison),
        cmocka_unit_test(a_value_that_is_not_exact_and_has_no_interval_is_unclear),
        cmocka_unit_test(what_is_still_to_go_is_a_factor_of_the_limit),
        cmocka_unit_test(recorded_gaps_stand_beside_the_ratio_now_and_are_not_judged),
        cmocka_unit_test(every_host_is_judged_unless_the_target_names_one),
        cmocka_unit_test(a_host_without_the_workload_is_a_miss_beside_one_that_has_it),
        cmocka_unit_test(every_report_of_a_host_that_has_the_workload_is_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
