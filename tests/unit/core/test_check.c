/* Whether a report agrees with itself: the whole one passes, and each single change is named. */
#include "unit.h"

#include "check_fixture.h"

typedef const char *(*check_fn)(struct arena *a, const struct raw *raw);

static const check_fn every_check[] = {check_names,   check_plan,        check_observations,
                                       check_sources, check_inventories, check_conditions};

static void the_whole_report_passes_every_check(void **state)
{
    struct arena a = {0};
    struct raw *raw = consistent(&a);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(every_check); i++) {
        const char *fault = every_check[i](&a, raw);
        if (fault)
            fail_msg("%s", fault);
    }
    print_as_the_suite_asks(&a, raw);
    const char *fault = check_suite(&a, raw, suite_for(&a, raw));
    if (fault)
        fail_msg("%s", fault);
    arena_deinit(&a);
}

/* ---- one change each */

static void no_inventory(struct arena *a, struct raw *r)
{
    r->phases[PHASE_AFTER_TIMING].inventory = NULL;
}
static void a_reason_without_void(struct arena *a, struct raw *r)
{
    r->void_text = "why";
}
static void another_policy(struct arena *a, struct raw *r)
{
    r->job.policy = "strict";
}
static void more_warmups(struct arena *a, struct raw *r)
{
    r->job.warmups = 2;
}
/* As many lanes as a document may have: the plan of them would take gigabytes. */
static void a_plan_that_no_memory_holds(struct arena *a, struct raw *r)
{
    struct raw_workload *w = &r->workloads[r->n_workloads - 1];
    size_t n = 1000000;
    struct raw_lane *lanes = arena_array(a, n, sizeof *lanes);
    for (size_t i = 0; i < n; i++)
        lanes[i] = w->lanes[0];
    w->lanes = lanes;
    w->n_lanes = n;
    r->job.repetitions = 1000;
}
static void two_steps_swapped(struct arena *a, struct raw *r)
{
    struct plan_step s = r->plan.steps[4];
    r->plan.steps[4] = r->plan.steps[5];
    r->plan.steps[5] = s;
}
static void a_failed_exit(struct arena *a, struct raw *r)
{
    r->observations[3].exit_status = 1;
}
static void overlap(struct arena *a, struct raw *r)
{
    struct raw_observation *o = &r->observations[3];
    int64_t back = o->start_ns - r->observations[2].exit_ns + 1;
    o->start_ns -= back;
    o->exit_ns -= back;
    o->go_ns -= o->go_ns < 0 ? 0 : back;
    o->done_ns -= o->done_ns < 0 ? 0 : back;
}
static void a_fault_in_the_middle(struct arena *a, struct raw *r)
{
    r->observations[3].outcome = "lane.done_wrong";
}
static void void_for_another_reason(struct arena *a, struct raw *r)
{
    r->n_observations = 4;
    r->observations[3].outcome = "lane.done_wrong";
    r->void_code = "attempt.suspended";
}
static void pinned_elsewhere(struct arena *a, struct raw *r)
{
    r->observations[3].cpu = 1;
}
static void build_numbers(struct arena *a, struct raw *r)
{
    r->builds[1].step = 1;
}
static void a_failed_build(struct arena *a, struct raw *r)
{
    r->builds[1].exit_status = 2;
}
static void a_build_of_nowhere(struct arena *a, struct raw *r)
{
    r->builds[1].attempt = "01HF0000000000000000000009";
}
static void a_variant(struct arena *a, struct raw *r)
{
    static const char *const v[] = {"CFLAGS=-O3", NULL};
    r->sources[1].variant = (struct args){(const char **)(uintptr_t)v, 1};
}
static void a_correction(struct arena *a, struct raw *r)
{
    r->sources[1].correction = arena_alloc(a, sizeof(struct raw_correction));
}
static void a_recheck_too_many(struct arena *a, struct raw *r)
{
    r->n_tools = 0;
}
static void a_recheck_too_few(struct arena *a, struct raw *r)
{
    r->n_rechecks--;
}
static void another_time(struct arena *a, struct raw *r)
{
    r->phases[0].inventory->wall_ms = 1;
}
static void partial_without_reason(struct arena *a, struct raw *r)
{
    r->phases[0].inventory->state = INVENTORY_PARTIAL;
}
static void a_quiet_competitor(struct arena *a, struct raw *r)
{
    r->phases[0].inventory->n_competitors = 1;
    r->phases[0].inventory->competitors = arena_alloc(a, sizeof(struct competitor));
}
static void a_competitor_without_reason(struct arena *a, struct raw *r)
{
    a_quiet_competitor(a, r);
    r->phases[0].inventory->state = INVENTORY_BUSY;
}
static void a_sustained_hint(struct arena *a, struct raw *r)
{
    struct competitor *c = arena_alloc(a, sizeof *c);
    c->share_pct[0] = c->share_pct[1] = 50;
    r->phases[0].inventory->n_hints = 1;
    r->phases[0].inventory->hints = c;
}
static void a_waiver_after_the_fact(struct arena *a, struct raw *r)
{
    r->policy.rules[COND_MAINS].mode = RULE_WAIVE;
}
static void a_proved_absence(struct arena *a, struct raw *r)
{
    r->phases[0].facts.facts[COND_MAINS].state = FACT_UNKNOWN;
    r->phases[0].conditions[COND_SWAP].status = TRI_NOT_APPLICABLE;
}

static void another_suite(struct arena *a, struct raw *r)
{
    r->job.suite_sha256 = "other";
}
static void an_end_before_the_start(struct arena *a, struct raw *r)
{
    r->observations[3].exit_ns = r->observations[3].start_ns - 1;
}
static void a_life_of_another_length(struct arena *a, struct raw *r)
{
    r->observations[3].process_ns++;
}
static void a_go_of_a_process(struct arena *a, struct raw *r)
{
    struct raw_observation *o = raw_find(r, "int32", "c", "after", 0);
    o->go_ns = o->start_ns;
}
static void a_done_of_a_process(struct arena *a, struct raw *r)
{
    struct raw_observation *o = raw_find(r, "int32", "c", "after", 0);
    o->done_ns = o->exit_ns;
}
static void a_process_time_of_another_length(struct arena *a, struct raw *r)
{
    raw_find(r, "int32", "c", "after", 0)->elapsed_ns--;
}
static void a_go_before_the_start(struct arena *a, struct raw *r)
{
    struct raw_observation *o = raw_find(r, "fib30", "c", "after", 0);
    o->go_ns = o->start_ns - 1;
}
static void a_done_before_its_go(struct arena *a, struct raw *r)
{
    struct raw_observation *o = raw_find(r, "fib30", "c", "after", 0);
    o->done_ns = o->go_ns - 1;
}
static void a_done_behind_the_exit(struct arena *a, struct raw *r)
{
    struct raw_observation *o = raw_find(r, "fib30", "c", "after", 0);
    o->done_ns = o->exit_ns + 1;
}
static void a_time_of_another_length(struct arena *a, struct raw *r)
{
    raw_find(r, "fib30", "c", "after", 0)->elapsed_ns--;
}
static void one_left_out(struct arena *a, struct raw *r)
{
    r->n_observations--;
}
static void outputs_of_a_lane_without(struct arena *a, struct raw *r)
{
    r->observations[3].outputs = arena_alloc(a, sizeof(struct raw_output));
    r->observations[3].n_outputs = 1;
}
static const struct args hello = {(const char *[]){"hello", NULL}, 1};

/* Lane c of fib30 writes one file, on each side the same bytes each time. */
static void give_outputs(struct arena *a, struct raw *r)
{
    r->workloads[0].reproducible = true;
    r->workloads[0].lanes[0].outputs = hello;
    for (size_t i = 0; i < r->n_observations; i++) {
        struct raw_observation *o = &r->observations[i];
        if (strcmp(o->workload, "fib30") != 0 || strcmp(o->lane, "c") != 0)
            continue;
        o->outputs = arena_alloc(a, sizeof *o->outputs);
        *o->outputs = (struct raw_output){.name = "hello", .bytes = 7, .sha256 = o->side};
        o->n_outputs = 1;
    }
}
static void an_output_of_another_name(struct arena *a, struct raw *r)
{
    give_outputs(a, r);
    raw_find(r, "fib30", "c", "after", 3)->outputs->name = "other";
}
static void an_output_of_other_bytes(struct arena *a, struct raw *r)
{
    give_outputs(a, r);
    raw_find(r, "fib30", "c", "after", 3)->outputs->sha256 = "other";
}
static void an_output_of_another_size(struct arena *a, struct raw *r)
{
    give_outputs(a, r);
    raw_find(r, "fib30", "c", "after", 3)->outputs->bytes++;
}
/* int32 counts samples: of each observation there is a tally. */
static void count_samples(struct arena *a, struct raw *r)
{
    static const struct attribution rules = {.format = PROFILE_CALLGRIND};
    struct raw_workload *w = &r->workloads[2];

    w->measure = MEASURE_ATTRIBUTION;
    w->profile = &rules;
    for (size_t i = 0; i < r->n_observations; i++) {
        struct raw_observation *o = &r->observations[i];
        char name[ATTRIBUTION_TALLY_MAX];
        if (strcmp(o->workload, "int32") != 0)
            continue;
        o->elapsed_ns = -1;
        o->n_values = attribution_count(&rules);
        o->values = arena_array(a, o->n_values, sizeof *o->values);
        for (size_t k = 0; k < o->n_values; k++)
            o->values[k].name = attribution_name(&rules, k);
        attribution_tally_name(o->seq, name);
        o->n_outputs = 1;
        o->outputs = arena_alloc(a, sizeof *o->outputs);
        *o->outputs = (struct raw_output){arena_strdup(a, name), 7, "hash"};
    }
}
static void no_tally(struct arena *a, struct raw *r)
{
    count_samples(a, r);
    raw_find(r, "int32", "c", "after", 3)->n_outputs = 0;
}
static void the_tally_of_another(struct arena *a, struct raw *r)
{
    count_samples(a, r);
    raw_find(r, "int32", "c", "after", 3)->outputs->name = "profiles/0.tsv";
}
static void read_from(struct raw *r, enum measure measure, const char *tool)
{
    r->void_code = r->void_text = "attempt.suspended";
    r->n_observations = 0;
    r->workloads[0].measure = measure;
    r->workloads[0].tool = tool;
}
static void memory_of_clocks(struct arena *a, struct raw *r)
{
    read_from(r, MEASURE_MEMORY, TOOL_CLOCKS);
}
static void cpu_of_nothing(struct arena *a, struct raw *r)
{
    read_from(r, MEASURE_CPU, NULL);
}
static void instructions_of_a_program_that_is_no_tool(struct arena *a, struct raw *r)
{
    read_from(r, MEASURE_INSTRUCTIONS, TOOL_CALLGRIND);
}
static void instructions_of_nothing(struct arena *a, struct raw *r)
{
    read_from(r, MEASURE_INSTRUCTIONS, "guess");
}
static void a_log_of_another_name(struct arena *a, struct raw *r)
{
    r->builds[1].log = "logs/build-after-1.txt";
}
static void another_value_of_a_variant(struct arena *a, struct raw *r)
{
    static struct env_var asked = {"CFLAGS", "-O2"};
    a_variant(a, r);
    r->job.sources[1].variant = &asked;
    r->job.sources[1].n_variant = 1;
}
static void a_source_of_another_side(struct arena *a, struct raw *r)
{
    r->sources[1].side = "before";
}
static void a_source_of_another_commit(struct arena *a, struct raw *r)
{
    r->sources[1].commit = FIXTURE_COMMIT_BEFORE;
}
static void a_source_of_another_revision(struct arena *a, struct raw *r)
{
    r->sources[1].rev = "other";
}
static void a_source_of_another_repository(struct arena *a, struct raw *r)
{
    r->sources[1].repo = "other";
}
static void a_source_too_few(struct arena *a, struct raw *r)
{
    r->n_sources--;
}
static void a_side_too_few(struct arena *a, struct raw *r)
{
    r->n_sides--;
}
static void a_second_hash_of_something_else(struct arena *a, struct raw *r)
{
    r->rechecks[1].sha256 = "other";
}
static void quiet_and_partial(struct arena *a, struct raw *r)
{
    r->phases[0].inventory->partial_reason = "no /proc";
}
static void quiet_and_busy(struct arena *a, struct raw *r)
{
    for (int i = 0; i < INVENTORY_WINDOWS; i++)
        r->phases[0].inventory->aggregate_pct[i] = 50;
}
static void quiet_and_forking(struct arena *a, struct raw *r)
{
    r->phases[0].inventory->forks_per_second = 21;
}
static void busy_with_nothing(struct arena *a, struct raw *r)
{
    r->phases[0].inventory->state = INVENTORY_BUSY;
}

static const struct {
    check_fn check;
    void (*bend)(struct arena *a, struct raw *raw);
    const char *words;
} lies[] = {
    {check_names, no_inventory, "no inventory after timing"},
    {check_names, a_reason_without_void, "void_code and void_text"},
    {check_names, another_policy, "the job asks for policy strict"},
    {check_names, another_suite, "names another suite"},
    {check_plan, more_warmups, "steps, the job makes"},
    {check_plan, a_plan_that_no_memory_holds, "steps, the job makes"},
    {check_plan, two_steps_swapped, "step 4 of the plan"},
    {check_observations, a_failed_exit, "did not exit with 0"},
    {check_observations, an_end_before_the_start, "ends before it begins"},
    {check_observations, a_life_of_another_length, "process_ns that is not"},
    {check_observations, a_go_of_a_process, "stamps that its measure does not take"},
    {check_observations, a_done_of_a_process, "stamps that its measure does not take"},
    {check_observations, a_process_time_of_another_length, "from its start to its exit"},
    {check_observations, a_go_before_the_start, "has stamps out of order"},
    {check_observations, a_done_before_its_go, "has stamps out of order"},
    {check_observations, a_done_behind_the_exit, "has stamps out of order"},
    {check_observations, a_time_of_another_length, "from GO to DONE"},
    {check_observations, one_left_out, "were observed"},
    {check_observations, outputs_of_a_lane_without, "has not the outputs"},
    {check_observations, no_tally, "has not the tally of its profile"},
    {check_observations, the_tally_of_another, "has not the tally of its profile"},
    {check_observations, an_output_of_another_name, "has not the outputs"},
    {check_observations, an_output_of_other_bytes, "wrote other bytes than an earlier one"},
    {check_observations, an_output_of_another_size, "wrote other bytes than an earlier one"},
    {check_observations, memory_of_clocks, "of fib30 are read from nothing that is known"},
    {check_observations, cpu_of_nothing, "of fib30 are read from nothing that is known"},
    {check_observations, instructions_of_a_program_that_is_no_tool, "is not among the tools"},
    {check_observations, instructions_of_nothing, "is not among the tools"},
    {check_observations, overlap, "before the one before it has ended"},
    {check_observations, a_fault_in_the_middle, "and the report went on"},
    {check_observations, void_for_another_reason, "void for attempt.suspended"},
    {check_observations, pinned_elsewhere, "pinned although its lane is not"},
    {check_sources, build_numbers, "not numbered in order"},
    {check_sources, a_failed_build, "build step 0 of after failed"},
    {check_sources, a_build_of_nowhere, "attempt that is not on record"},
    {check_sources, a_log_of_another_name, "the log of build step 0 of after"},
    {check_sources, a_variant, "the build variant of after"},
    {check_sources, another_value_of_a_variant, "the build variant of after"},
    {check_sources, a_source_of_another_side, "source 1 is of another side"},
    {check_sources, a_source_of_another_commit, "the source of after is not the one"},
    {check_sources, a_source_of_another_revision, "the source of after is not the one"},
    {check_sources, a_source_of_another_repository, "the source of after is not the one"},
    {check_sources, a_source_too_few, "another number of sources"},
    {check_sources, a_side_too_few, "another number of sides"},
    {check_sources, a_second_hash_of_something_else, "begins with another one"},
    {check_sources, a_correction, "the correction of after"},
    {check_sources, a_recheck_too_many, "without need"},
    {check_sources, a_recheck_too_few, "was not hashed again"},
    {check_inventories, another_time, "different times"},
    {check_inventories, partial_without_reason, "why it is partial"},
    {check_inventories, quiet_and_partial, "called quiet and is not complete"},
    {check_inventories, quiet_and_busy, "called quiet and has more foreign CPU time"},
    {check_inventories, quiet_and_forking, "called quiet and has more new processes"},
    {check_inventories, busy_with_nothing, "called busy and lists no competitor"},
    {check_inventories, a_quiet_competitor, "called quiet and lists competitors"},
    {check_inventories, a_competitor_without_reason, "has no reason"},
    {check_inventories, a_sustained_hint, "a hint that is a competitor"},
    {check_conditions, a_waiver_after_the_fact, "mains power"},
    {check_conditions, a_proved_absence, "swap"},
};

static void each_change_is_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(lies); i++) {
        struct arena a = {0};
        struct raw *raw = consistent(&a);
        lies[i].bend(&a, raw);
        const char *fault = lies[i].check(&a, raw);
        if (!fault || !strstr(fault, lies[i].words))
            fail_msg("lie %zu (%s): %s", i, lies[i].words, fault ? fault : "not seen");
        arena_deinit(&a);
    }
}

static void outputs_that_each_lane_names_pass(void **state)
{
    struct arena a = {0};
    struct raw *raw = consistent(&a);

    (void)state;
    give_outputs(&a, raw);
    assert_null(check_observations(&a, raw));
    /* Nobody asked for the same bytes. */
    raw_find(raw, "fib30", "c", "after", 3)->outputs->sha256 = "other";
    raw->workloads[0].reproducible = false;
    assert_null(check_observations(&a, raw));
    count_samples(&a, raw);
    assert_null(check_observations(&a, raw));
    arena_deinit(&a);
}

static void figures_that_are_read_from_what_is_known_pass(void **state)
{
    static const struct {
        enum measure measure;
        const char *tool;
    } known[] = {{MEASURE_MEMORY, TOOL_ROLLUP},     {MEASURE_MEMORY, TOOL_STATUS},
                 {MEASURE_CPU, TOOL_CLOCKS},        {MEASURE_CPU, TOOL_GROUP},
                 {MEASURE_INSTRUCTIONS, TOOL_PERF}, {MEASURE_INSTRUCTIONS, TOOL_CALLGRIND}};
    struct arena a = {0};
    struct raw *raw = consistent(&a);

    (void)state;
    raw->n_tools = 1;
    raw->tools = arena_alloc(&a, sizeof *raw->tools);
    raw->tools->name = "valgrind";
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        read_from(raw, known[i].measure, known[i].tool);
        assert_null(check_observations(&a, raw));
    }
    arena_deinit(&a);
}

static void a_void_report_may_end_in_the_middle(void **state)
{
    struct arena a = {0};
    struct raw *raw = consistent(&a);

    (void)state;
    raw->n_observations = 4;
    raw->observations[3].outcome = raw->void_code = "lane.done_wrong";
    raw->void_text = "why";
    raw->n_rechecks = 0;
    raw->phases[PHASE_AFTER_TIMING].inventory = NULL;
    for (size_t i = 0; i < ARRAY_LEN(every_check); i++)
        assert_null(every_check[i](&a, raw));
    arena_deinit(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_whole_report_passes_every_check),
        cmocka_unit_test(each_change_is_named),
        cmocka_unit_test(outputs_that_each_lane_names_pass),
        cmocka_unit_test(figures_that_are_read_from_what_is_known_pass),
        cmocka_unit_test(a_void_report_may_end_in_the_middle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
