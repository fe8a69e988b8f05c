/* Inventories: each rule that makes a host not quiet, its limit from both sides, who is excluded,
 * and what makes an inventory partial. */
#include "unit/unit.h"

#include "unit/core/worlds.h"

static struct world world;

static int fresh_world(void **state)
{
    world_init(&world);
    *state = &world;
    return 0;
}

static int drop_world(void **state)
{
    world_deinit(*state);
    return 0;
}

static const struct competitor *only_competitor(const struct inventory *inv)
{
    assert_int_equal(inv->state, INVENTORY_BUSY);
    assert_int_equal(inv->n_competitors, 1);
    return &inv->competitors[0];
}

static void an_idle_host_is_quiet(void **state)
{
    struct world *w = *state;
    world_add(w, 1, 0, "init", 9000, 9000, 9000);
    world_add(w, 7, 1, "sshd", 40, 41, 41);
    struct inventory *inv = world_judge(w);
    assert_int_equal(inv->state, INVENTORY_QUIET);
    assert_int_equal(inv->n_competitors, 0);
    assert_null(inv->partial_reason);
    assert_int_equal(inv->n_procs, 2);
    assert_int_equal(inv->window_ns[0], GAP_NS);
    assert_int_equal(inv->window_ns[1], GAP_NS);
    assert_float_equal(inv->aggregate_pct[0], 4, 1e-9);
    assert_float_equal(inv->aggregate_pct[1], 0, 1e-9);
}

/* 250 ms are 25 ticks: 13 ticks are 52 %, 12 are 48 %. */
static void half_a_core_in_both_windows_is_sustained(void **state)
{
    struct world *w = *state;
    world_add(w, 40, 1, "burner", 500, 513, 526);
    const struct competitor *c = only_competitor(world_judge(w));
    assert_string_equal(c->command, "burner");
    assert_int_equal(c->pid, 40);
    assert_int_equal(c->ppid, 1);
    assert_int_equal(c->uid, 1000);
    assert_int_equal(c->start_ticks, 90);
    assert_int_equal(c->reasons, COMPETE_SUSTAINED);
    assert_float_equal(c->share_pct[0], 52, 1e-9);
}

static void one_loud_window_alone_is_not_sustained(void **state)
{
    struct world *w = *state;
    world_add(w, 40, 1, "burst", 500, 525, 530);
    struct inventory *inv = world_judge(w);
    assert_int_equal(inv->state, INVENTORY_QUIET);
    assert_non_null(find_hint(inv, 40));
}

static void just_under_half_a_core_is_a_hint_and_feeds_the_aggregate(void **state)
{
    struct world *w = *state;
    world_add(w, 40, 1, "loud", 500, 512, 524);
    struct inventory *inv = world_judge(w);
    const struct competitor *c = only_competitor(inv);
    assert_string_equal(c->command, "(unattributed)");
    assert_int_equal(c->pid, 0);
    assert_int_equal(c->reasons, COMPETE_AGGREGATE);
    assert_int_equal(find_hint(inv, 40)->reasons, 0);
}

static void a_process_seen_for_the_first_time_is_charged_all_its_ticks(void **state)
{
    struct world *w = *state;
    world_add(w, 40, 1, "newborn", GONE, 20, 40);
    const struct competitor *c = only_competitor(world_judge(w));
    assert_string_equal(c->command, "newborn");
    assert_float_equal(c->share_pct[0], 80, 1e-9);
    assert_float_equal(c->share_pct[1], 80, 1e-9);
}

static void a_pid_given_to_somebody_else_is_another_process(void **state)
{
    struct world *w = *state;
    world_add(w, 40, 1, "old", 10, 30, GONE);
    world_add(w, 40, 1, "new", GONE, GONE, 50);
    world_sample(w, 2, 40)->start_ticks = 9999;
    struct inventory *inv = world_judge(w);
    /* Neither used half a core in both windows; together they would have. */
    assert_null(find_competitor(inv, "old"));
    assert_null(find_competitor(inv, "new"));
    assert_float_equal(find_competitor(inv, "(unattributed)")->share_pct[0], 80, 1e-9);
}

static void a_process_that_vanishes_is_charged_for_its_window_only(void **state)
{
    struct world *w = *state;
    world_add(w, 40, 1, "gone", 10, 14, GONE);
    struct inventory *inv = world_judge(w);
    assert_int_equal(inv->state, INVENTORY_QUIET);
    assert_float_equal(find_hint(inv, 40)->share_pct[0], 16, 1e-9);
    assert_float_equal(find_hint(inv, 40)->share_pct[1], 0, 1e-9);
}

static void counters_that_step_back_are_no_time(void **state)
{
    struct world *w = *state;
    world_add(w, 40, 1, "back", 500, 400, 300);
    w->snaps[2].busy_ticks = 100;
    w->snaps[2].forks = 1;
    struct inventory *inv = world_judge(w);
    assert_int_equal(inv->state, INVENTORY_QUIET);
    assert_int_equal(inv->n_hints, 0);
    assert_float_equal(inv->aggregate_pct[1], 0, 1e-9);
    assert_float_equal(inv->forks_per_second, 0, 1e-9);
}

static void the_daemon_and_its_descendants_are_excluded(void **state)
{
    struct world *w = *state;
    world_add(w, 100, 1, "aurabenchd", 10, 30, 50);
    world_add(w, 101, 100, "runner", 10, 35, 60);
    world_add(w, 102, 101, "lane", 10, 35, 60);
    struct inventory *inv = world_judge(w);
    assert_int_equal(inv->state, INVENTORY_QUIET);
    assert_int_equal(inv->n_hints, 0);
    assert_float_equal(inv->aggregate_pct[0], 0, 1e-9);
}

static void the_shell_that_asked_is_not_excluded(void **state)
{
    struct world *w = *state;
    world_add(w, 90, 1, "bash", 10, 30, 50);
    world_add(w, 100, 90, "aurabenchd", 10, 10, 10);
    assert_string_equal(only_competitor(world_judge(w))->command, "bash");
}

static void a_child_older_than_its_parent_is_not_the_daemons(void **state)
{
    struct world *w = *state;
    world_add(w, 100, 1, "aurabenchd", 10, 10, 10);
    world_add(w, 140, 100, "orphan", 10, 30, 50);
    for (size_t k = 0; k < 3; k++)
        world_sample(w, k, 140)->start_ticks = 3;
    assert_string_equal(only_competitor(world_judge(w))->command, "orphan");
}

static void a_process_that_escapes_to_init_counts_again(void **state)
{
    struct world *w = *state;
    world_add(w, 100, 1, "aurabenchd", 10, 10, 10);
    world_add(w, 140, 100, "escaped", 10, 30, 50);
    world_sample(w, 2, 140)->ppid = 1;
    assert_string_equal(only_competitor(world_judge(w))->command, "escaped");
}

static void a_loop_of_parents_ends(void **state)
{
    struct world *w = *state;
    world_add(w, 40, 41, "a", 10, 30, 50);
    world_add(w, 41, 40, "b", 10, 10, 10);
    for (size_t k = 0; k < 3; k++)
        world_sample(w, k, 40)->start_ticks = world_sample(w, k, 41)->start_ticks = 5;
    assert_string_equal(only_competitor(world_judge(w))->command, "a");
}

/* 25 % of one core are 6.25 ticks of a window. */
static void the_aggregate_must_pass_its_limit_in_both_windows(void **state)
{
    struct world *w = *state;
    world_busy(w, 7, 6);
    assert_int_equal(world_judge(w)->state, INVENTORY_QUIET);
    world_busy(w, 0, 1);
    const struct competitor *c = only_competitor(world_judge(w));
    assert_string_equal(c->command, "(unattributed)");
    assert_float_equal(c->share_pct[1], 28, 1e-9);
}

static void ten_processes_at_45_percent_are_unattributed(void **state)
{
    struct world *w = *state;
    for (int i = 0; i < 10; i++)
        world_add(w, 40 + i, 1, "many", 100, 111, 122);
    struct inventory *inv = world_judge(w);
    assert_float_equal(only_competitor(inv)->share_pct[0], 440, 1e-9);
    assert_int_equal(inv->n_hints, 5);
}

static void on_many_cores_the_aggregate_limit_is_a_share_of_all(void **state)
{
    struct world *w = *state;
    for (size_t k = 0; k < 3; k++)
        w->snaps[k].n_cpus = 64;
    world_busy(w, 15, 15); /* 60 % of one core; the limit is 64 % */
    assert_int_equal(world_judge(w)->state, INVENTORY_QUIET);
    world_busy(w, 1, 1);
    assert_string_equal(only_competitor(world_judge(w))->command, "(unattributed)");
}

static void what_named_competitors_explain_is_not_named_twice(void **state)
{
    struct world *w = *state;
    world_add(w, 40, 1, "burner", 0, 25, 50);
    struct inventory *inv = world_judge(w);
    assert_string_equal(only_competitor(inv)->command, "burner");
    assert_float_equal(inv->aggregate_pct[0], 100, 1e-9);
    world_busy(w, 10, 10);
    inv = world_judge(w);
    assert_int_equal(inv->n_competitors, 2);
    assert_float_equal(find_competitor(inv, "(unattributed)")->share_pct[0], 40, 1e-9);
}

/* Two windows are half a second: 10 forks are 20 a second. */
static void more_than_20_forks_a_second_is_a_competitor(void **state)
{
    struct world *w = *state;
    w->snaps[2].forks += 10;
    assert_int_equal(world_judge(w)->state, INVENTORY_QUIET);
    w->snaps[2].forks += 1;
    const struct competitor *c = only_competitor(world_judge(w));
    assert_string_equal(c->command, "(forks)");
    assert_int_equal(c->reasons, COMPETE_FORKS);
    assert_string_equal(c->args, "22 new processes a second");
}

static const char *const measured[] = {"/srv/aura", "/var/lib/aurabench/work"};

static void measure_paths(struct world *w)
{
    w->scope.measured = measured;
    w->scope.n_measured = 2;
}

static unsigned reasons_of(struct world *w, const char *command, const char *cwd, bool unreadable,
                           int64_t used)
{
    world_init(w);
    measure_paths(w);
    world_add(w, 40, 1, command, 10, 10, 10 + used);
    world_cwd(w, 40, cwd, unreadable);
    struct inventory *inv = world_judge(w);
    unsigned reasons = inv->n_competitors ? inv->competitors[0].reasons : 0;
    world_deinit(w);
    return reasons;
}

static void a_compiler_in_a_measured_repository_is_forbidden_at_any_level(void **state)
{
    struct world *w = *state;
    assert_int_equal(reasons_of(w, "gcc", "/srv/aura/src", false, 0), COMPETE_FORBIDDEN);
    assert_int_equal(reasons_of(w, "make", "/srv/aura", false, 0), COMPETE_FORBIDDEN);
    assert_int_equal(reasons_of(w, "make", "/srv/aura (deleted)", false, 0), COMPETE_FORBIDDEN);
    assert_int_equal(reasons_of(w, "make", "/srv/aurabench", false, 0), 0);
    assert_int_equal(reasons_of(w, "make", "/home/ann", false, 0), 0);
    assert_int_equal(reasons_of(w, "python3", "/srv/aura", false, 0), 0);
    assert_int_equal(reasons_of(w, "make", NULL, false, 1), 0);
}

static void a_compiler_that_hides_its_folder_is_forbidden_once_it_used_a_tick(void **state)
{
    struct world *w = *state;
    assert_int_equal(reasons_of(w, "gcc", NULL, true, 0), 0);
    assert_int_equal(reasons_of(w, "gcc", NULL, true, 1), COMPETE_FORBIDDEN);
    assert_int_equal(reasons_of(w, "python3", NULL, true, 1), 0);
}

static void versions_and_cut_names_do_not_hide_a_compiler(void **state)
{
    struct world *w = *state;
    assert_int_equal(reasons_of(w, "gcc-12", "/srv/aura", false, 0), COMPETE_FORBIDDEN);
    assert_int_equal(reasons_of(w, "clang-14.0.6", "/srv/aura", false, 0), COMPETE_FORBIDDEN);
    assert_int_equal(reasons_of(w, "x86_64-linux-gn", "/srv/aura", false, 0), COMPETE_FORBIDDEN);
    assert_int_equal(reasons_of(w, "gcc-wrapper", "/srv/aura", false, 0), 0);
    assert_int_equal(reasons_of(w, "-12", "/srv/aura", false, 0), 0);
    assert_int_equal(reasons_of(w, "", "/srv/aura", false, 0), 0);
}

static void the_first_argument_names_a_compiler_too(void **state)
{
    struct world *w = *state;
    measure_paths(w);
    world_add(w, 40, 1, "renamed", 10, 10, 10);
    world_cwd(w, 40, "/srv/aura", false);
    for (size_t k = 0; k < 3; k++)
        world_sample(w, k, 40)->args = "/usr/bin/clang -c x/y.c";
    const struct competitor *c = only_competitor(world_judge(w));
    assert_int_equal(c->reasons, COMPETE_FORBIDDEN);
    assert_string_equal(c->args, "/usr/bin/clang -c x/y.c");
    assert_string_equal(c->cwd, "/srv/aura");
}

static void the_suite_may_forbid_more(void **state)
{
    struct world *w = *state;
    const char *more[] = {"aura", NULL};
    struct args list = {more, 1};
    measure_paths(w);
    world_add(w, 40, 1, "aura", 10, 10, 10);
    world_cwd(w, 40, "/var/lib/aurabench/work/x", false);
    assert_int_equal(world_judge(w)->state, INVENTORY_QUIET);
    w->scope.more_forbidden = &list;
    assert_int_equal(only_competitor(world_judge(w))->reasons, COMPETE_FORBIDDEN);
}

static void both_reasons_of_one_process_are_kept(void **state)
{
    struct world *w = *state;
    measure_paths(w);
    world_add(w, 40, 1, "cc1", 0, 25, 50);
    world_cwd(w, 40, "/srv/aura", false);
    char text[64];
    unsigned reasons = only_competitor(world_judge(w))->reasons;
    assert_string_equal(compete_reasons_text(reasons, text), "sustained,forbidden");
}

static void the_lanes_cpus_must_be_idle_over_the_long_span(void **state)
{
    struct world *w = *state;
    const int cpus[] = {1};
    world_long(w);
    w->scope.lane_cpus = cpus;
    w->scope.n_lane_cpus = 1;
    w->cpu_ticks[3][0] = 100; /* not a lane's */
    w->cpu_ticks[3][1] = 3;   /* 1.5 % of 2 s */
    assert_int_equal(world_judge(w)->state, INVENTORY_QUIET);
    w->cpu_ticks[3][1] = 4;
    const struct competitor *c = only_competitor(world_judge(w));
    assert_string_equal(c->command, "(lane CPUs)");
    assert_int_equal(c->reasons, COMPETE_LANE_CPUS);
    assert_float_equal(c->share_pct[0], 2, 1e-9);
    w->phase = PHASE_AFTER_TIMING;
    assert_int_equal(world_judge(w)->state, INVENTORY_QUIET);
}

static void the_lanes_cpus_are_not_judged_by_counters_too_coarse(void **state)
{
    struct world *w = *state;
    const int cpus[] = {1};
    world_long(w);
    w->scope.lane_cpus = cpus;
    w->scope.n_lane_cpus = 1;
    w->cpu_ticks[3][1] = 50;
    for (size_t k = 0; k < 4; k++)
        w->snaps[k].tick_ns = 50000000;
    assert_null(find_competitor(world_judge(w), "(lane CPUs)"));
    for (size_t k = 0; k < 4; k++)
        w->snaps[k].tick_ns = TICK_NS;
    assert_non_null(find_competitor(world_judge(w), "(lane CPUs)"));
    w->snaps[3].mono_ns -= GAP_NS; /* a shorter span */
    assert_null(find_competitor(world_judge(w), "(lane CPUs)"));
}

static void the_daemons_own_time_is_not_foreign_on_the_lanes_cpus(void **state)
{
    struct world *w = *state;
    const int cpus[] = {0};
    world_long(w);
    w->scope.lane_cpus = cpus;
    w->scope.n_lane_cpus = 1;
    world_add(w, 100, 1, "aurabenchd", 0, 3, 6);
    w->cpu_ticks[3][0] = 9;
    assert_int_equal(world_judge(w)->state, INVENTORY_QUIET);
}

static void a_lane_cpu_that_is_not_listed_is_unknown(void **state)
{
    struct world *w = *state;
    const int cpus[] = {1, 7};
    world_long(w);
    w->scope.lane_cpus = cpus;
    w->scope.n_lane_cpus = 2;
    assert_int_equal(world_judge(w)->state, INVENTORY_PARTIAL);
    w->cpu_ticks[3][1] = -1;
    w->scope.n_lane_cpus = 1;
    assert_int_equal(world_judge(w)->state, INVENTORY_PARTIAL);
}

static void fewer_than_three_snapshots_are_never_quiet(void **state)
{
    struct world *w = *state;
    for (w->n = 0; w->n < 3; w->n++) {
        struct inventory *inv = world_judge(w);
        assert_int_equal(inv->state, INVENTORY_PARTIAL);
        assert_non_null(strstr(inv->partial_reason, "snapshots"));
    }
}

static void what_could_not_be_read_is_partial_and_names_still_stand(void **state)
{
    struct world *w = *state;
    world_add(w, 40, 1, "secret", 10, UNREADABLE, 40);
    world_add(w, 41, 1, "burner", 0, 25, 50);
    struct inventory *inv = world_judge(w);
    assert_int_equal(inv->state, INVENTORY_PARTIAL);
    assert_non_null(strstr(inv->partial_reason, "pid 40"));
    assert_non_null(find_competitor(inv, "burner"));
}

static void partial_sources(void **state)
{
    struct world *w = *state;
    w->snaps[1].hidden = true;
    assert_int_equal(world_judge(w)->state, INVENTORY_PARTIAL);
    w->snaps[1].hidden = false;
    w->snaps[2].complete = false;
    w->snaps[2].partial_reason = "the daemon is in a container";
    assert_string_equal(world_judge(w)->partial_reason, "the daemon is in a container");
    w->snaps[2].complete = true;
    w->snaps[0].busy_ticks = -1;
    assert_int_equal(world_judge(w)->state, INVENTORY_PARTIAL);
    w->snaps[0].busy_ticks = 700;
    w->snaps[2].forks = -1;
    assert_int_equal(world_judge(w)->state, INVENTORY_PARTIAL);
    w->snaps[2].forks = 4000;
    w->snaps[2].mono_ns = w->snaps[1].mono_ns;
    assert_int_equal(world_judge(w)->state, INVENTORY_PARTIAL);
}

static void a_missing_folder_or_command_line_alone_is_not_partial(void **state)
{
    struct world *w = *state;
    world_add(w, 40, 1, "kworker/0:1", 10, 10, 11);
    world_cwd(w, 40, NULL, true);
    assert_int_equal(world_judge(w)->state, INVENTORY_QUIET);
}

static void hints_are_the_five_nearest_below_the_limits(void **state)
{
    struct world *w = *state;
    for (int i = 0; i < 8; i++)
        world_add(w, 40 + i, 1, "small", 0, i, i + 1);
    w->policy.aggregate_pct = 1000;
    struct inventory *inv = world_judge(w);
    assert_int_equal(inv->state, INVENTORY_QUIET);
    assert_int_equal(inv->n_hints, 5);
    assert_int_equal(inv->hints[0].pid, 47);
    assert_int_equal(inv->hints[4].pid, 43);
}

static void reasons_have_one_spelling_each(void **state)
{
    char text[64];
    for (unsigned reasons = 0; reasons < 32; reasons++)
        assert_int_equal(compete_reasons_parse(compete_reasons_text(reasons, text)), reasons);
    assert_int_equal(compete_reasons_parse("sustained,"), -1);
    assert_int_equal(compete_reasons_parse("sustained,noise"), -1);
    assert_int_equal(compete_reasons_parse(","), -1);
    for (int s = INVENTORY_QUIET; s <= INVENTORY_PARTIAL; s++)
        assert_int_equal(inventory_state_parse(inventory_state_name((enum inventory_state)s)), s);
    assert_int_equal(inventory_state_parse("silent"), -1);
}

#define WORLD_TEST(name) cmocka_unit_test_setup_teardown(name, fresh_world, drop_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(an_idle_host_is_quiet),
        WORLD_TEST(half_a_core_in_both_windows_is_sustained),
        WORLD_TEST(one_loud_window_alone_is_not_sustained),
        WORLD_TEST(just_under_half_a_core_is_a_hint_and_feeds_the_aggregate),
        WORLD_TEST(a_process_seen_for_the_first_time_is_charged_all_its_ticks),
        WORLD_TEST(a_pid_given_to_somebody_else_is_another_process),
        WORLD_TEST(a_process_that_vanishes_is_charged_for_its_window_only),
        WORLD_TEST(counters_that_step_back_are_no_time),
        WORLD_TEST(the_daemon_and_its_descendants_are_excluded),
        WORLD_TEST(the_shell_that_asked_is_not_excluded),
        WORLD_TEST(a_child_older_than_its_parent_is_not_the_daemons),
        WORLD_TEST(a_process_that_escapes_to_init_counts_again),
        WORLD_TEST(a_loop_of_parents_ends),
        WORLD_TEST(the_aggregate_must_pass_its_limit_in_both_windows),
        WORLD_TEST(ten_processes_at_45_percent_are_unattributed),
        WORLD_TEST(on_many_cores_the_aggregate_limit_is_a_share_of_all),
        WORLD_TEST(what_named_competitors_explain_is_not_named_twice),
        WORLD_TEST(more_than_20_forks_a_second_is_a_competitor),
        WORLD_TEST(a_compiler_in_a_measured_repository_is_forbidden_at_any_level),
        WORLD_TEST(a_compiler_that_hides_its_folder_is_forbidden_once_it_used_a_tick),
        WORLD_TEST(versions_and_cut_names_do_not_hide_a_compiler),
        WORLD_TEST(the_first_argument_names_a_compiler_too),
        WORLD_TEST(the_suite_may_forbid_more),
        WORLD_TEST(both_reasons_of_one_process_are_kept),
        WORLD_TEST(the_lanes_cpus_must_be_idle_over_the_long_span),
        WORLD_TEST(the_lanes_cpus_are_not_judged_by_counters_too_coarse),
        WORLD_TEST(the_daemons_own_time_is_not_foreign_on_the_lanes_cpus),
        WORLD_TEST(a_lane_cpu_that_is_not_listed_is_unknown),
        WORLD_TEST(fewer_than_three_snapshots_are_never_quiet),
        WORLD_TEST(what_could_not_be_read_is_partial_and_names_still_stand),
        WORLD_TEST(partial_sources),
        WORLD_TEST(a_missing_folder_or_command_line_alone_is_not_partial),
        WORLD_TEST(hints_are_the_five_nearest_below_the_limits),
        WORLD_TEST(reasons_have_one_spelling_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
