/* The scripted host: a good one when nothing is said, and each thing that its files can say takes
 * effect on the next call. Phases are taken with short gaps, so nothing here waits for a real host.
 */
#include "unit/host/trees.h"

#include <errno.h>

#include "base/clock.h"
#include "unit/core/policies.h"

#define GAP_MS 20

struct stage {
    struct arena arena;
    char *dir;
    struct host_probe *probe;
    struct policy policy;
    struct phase_record record;
};

static int open_stage(void **state)
{
    static struct stage stage;
    stage = (struct stage){.dir = unit_folder(), .policy = policy_standard()};
    stage.policy.snapshot_gap_ms = GAP_MS;
    assert_int_equal(host_probe_new_fake(stage.dir, &stage.probe, NULL), 0);
    *state = &stage;
    return 0;
}

static int close_stage(void **state)
{
    struct stage *s = *state;
    host_probe_free(s->probe);
    assert_int_equal(file_rmtree(s->dir, NULL), 0);
    free(s->dir);
    arena_deinit(&s->arena);
    return 0;
}

static int try_phase(struct stage *s, enum phase phase, struct err *e)
{
    static const int lanes[] = {1};
    struct inventory_scope scope = {.self_pid = 1, .lane_cpus = lanes, .n_lane_cpus = 1};
    struct qualify_job job = {0};
    s->record = (struct phase_record){0};
    return host_take_phase(s->probe, &s->arena, &s->policy, &scope, &job, phase, NULL, GAP_MS,
                           &s->record, e);
}

static const struct inventory *phase(struct stage *s, enum phase phase)
{
    assert_int_equal(try_phase(s, phase, NULL), 0);
    return s->record.inventory;
}

static void an_empty_folder_is_a_good_quiet_host(void **state)
{
    struct stage *s = *state;
    for (int p = 0; p < PHASE_COUNT; p++) {
        assert_int_equal(phase(s, (enum phase)p)->state, INVENTORY_QUIET);
        assert_string_equal(tri_name(qualify_conditions_met(s->record.conditions)), "PASS");
    }
}

/* It was started long ago, as far as the fake's clock goes: its share is steady. */
static void a_burner_appears_and_vanishes(void **state)
{
    struct stage *s = *state;
    tree_write(s->dir, "processes", "4711 1 1000 0 95 burner /home/ann burner --hot\n");
    const struct inventory *inv = phase(s, PHASE_BEFORE_TIMING);
    assert_int_equal(inv->state, INVENTORY_BUSY);
    assert_int_equal(inv->n_competitors, 1);
    assert_int_equal(inv->competitors[0].pid, 4711);
    assert_string_equal(inv->competitors[0].command, "burner");
    assert_string_equal(inv->competitors[0].args, "burner --hot");
    assert_string_equal(inv->competitors[0].cwd, "/home/ann");
    assert_int_equal(inv->competitors[0].reasons, COMPETE_SUSTAINED);
    tree_write(s->dir, "processes", NULL);
    assert_int_equal(phase(s, PHASE_BEFORE_TIMING)->state, INVENTORY_QUIET);
}

static unsigned reasons_with(struct stage *s, const char *processes)
{
    tree_write(s->dir, "processes", processes);
    const struct inventory *inv = phase(s, PHASE_BEFORE_TIMING);
    unsigned reasons = 0;
    for (size_t i = 0; i < inv->n_competitors; i++)
        reasons |= inv->competitors[i].reasons;
    return reasons;
}

static void noise_of_each_kind_can_be_scripted(void **state)
{
    struct stage *s = *state;
    assert_int_equal(reasons_with(s, "busy_pct 60\n"), COMPETE_AGGREGATE);
    assert_int_equal(reasons_with(s, "forks_per_second 500\n"), COMPETE_FORKS);
    assert_int_equal(reasons_with(s, "cpu_busy_pct 1 30\n"), COMPETE_LANE_CPUS);
    assert_int_equal(reasons_with(s, "cpu_busy_pct 0 30\n"), 0);
    assert_int_equal(reasons_with(s, "# nothing\n\n7 1 0 0 1 idle -\n"), 0);
}

static void what_cannot_be_read_can_be_scripted(void **state)
{
    struct stage *s = *state;
    tree_write(s->dir, "processes", "9 1 0 0 ? secret ?\n");
    assert_int_equal(phase(s, PHASE_BEFORE_BUILD)->state, INVENTORY_PARTIAL);
    tree_write(s->dir, "processes", "hidden\n");
    assert_int_equal(phase(s, PHASE_BEFORE_BUILD)->state, INVENTORY_PARTIAL);
    tree_write(s->dir, "processes", "partial the table is torn\n");
    assert_string_equal(phase(s, PHASE_BEFORE_BUILD)->partial_reason, "the table is torn");
}

static enum tri condition_with(struct stage *s, const char *facts, enum condition c)
{
    tree_write(s->dir, "facts", facts);
    (void)phase(s, PHASE_BEFORE_BUILD);
    return s->record.conditions[c].status;
}

static void facts_can_be_scripted(void **state)
{
    struct stage *s = *state;
    assert_int_equal(condition_with(s, "mains known 0\n", COND_MAINS), TRI_FAIL);
    assert_int_equal(condition_with(s, "mains unknown - no folder\n", COND_MAINS), TRI_UNKNOWN);
    assert_string_equal(s->record.conditions[COND_MAINS].seen, "unknown: no folder");
    assert_int_equal(condition_with(s, "governor absent - none\n", COND_GOVERNOR),
                     TRI_NOT_APPLICABLE);
    assert_int_equal(condition_with(s, "virtual known 1 QEMU\nsteal_pct 30\n", COND_STEAL),
                     TRI_FAIL);
    assert_int_equal(condition_with(s, "virtual known 1 QEMU\n", COND_STEAL), TRI_PASS);
}

static void facts_that_make_no_sense_are_all_unknown(void **state)
{
    static const char *const bad[] = {"mains\n",         "mains known\n",   "mains maybe 1\n",
                                      "noise known 1\n", "mains known x\n", "steal_pct much\n"};
    struct stage *s = *state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        assert_int_equal(condition_with(s, bad[i], COND_UPTIME), TRI_UNKNOWN);
        assert_non_null(strstr(s->record.facts.facts[FACT_UPTIME].text, "line 1"));
    }
}

static void processes_that_make_no_sense_are_an_error(void **state)
{
    static const char *const bad[] = {
        "12\n",
        "12 1 0 0 5 name\n",
        "12 1 0 0 x name -\n",
        "0 1 0 0 5 name -\n",
        "busy_pct x\n",
        "cpu_busy_pct 99 5\n",
        "shouting 5\n",
        "partial\n",
        "12 1 0 9223372036854775807 5 name -\n",
    };
    struct stage *s = *state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct err e = {0};
        tree_write(s->dir, "processes", bad[i]);
        assert_int_equal(try_phase(s, PHASE_BEFORE_BUILD, &e), -EINVAL);
        assert_string_equal(e.code, "host.fake_bad");
        assert_string_equal(e.field, "processes:1");
    }
}

static void a_reboot_can_be_scripted(void **state)
{
    struct stage *s = *state;
    struct boot_identity before, after;
    struct host_identity id;
    struct err e = {0};
    assert_int_equal(host_probe_boot(s->probe, &s->arena, &before, NULL), 0);
    tree_write(s->dir, "identity", "boot_id second\ncores 8\nmodel Grand Host 9\n");
    assert_int_equal(host_probe_boot(s->probe, &s->arena, &after, NULL), 0);
    assert_string_not_equal(before.id, after.id);
    assert_string_equal(after.id, "second");
    assert_int_equal(host_probe_identity(s->probe, &s->arena, &id, NULL), 0);
    assert_int_equal(id.cores, 8);
    assert_string_equal(id.model, "Grand Host 9");
    assert_int_equal(strlen(id.id), 64);
    tree_write(s->dir, "identity", "cores none\n");
    assert_int_equal(host_probe_identity(s->probe, &s->arena, &id, &e), -EINVAL);
    assert_string_equal(e.field, "identity:1");
}

static void a_missing_folder_is_refused(void **state)
{
    struct host_probe *p = NULL;
    struct err e = {0};
    assert_int_equal(host_probe_new_fake("/nonexistent", &p, &e), -ENOENT);
    assert_string_equal(e.code, "host.fake_missing");
}

/* The first phase compares with its own first reading, later ones with the phase that is given. */
static void later_phases_compare_with_the_first(void **state)
{
    struct stage *s = *state;
    struct inventory_scope scope = {.self_pid = 1};
    struct qualify_job job = {0};
    (void)phase(s, PHASE_BEFORE_BUILD);
    struct host_facts first = s->record.facts;
    tree_write(s->dir, "facts", "governor known - powersave\n");
    (void)phase(s, PHASE_BEFORE_TIMING);
    assert_int_equal(s->record.conditions[COND_GOVERNOR].status, TRI_PASS);
    assert_int_equal(host_take_phase(s->probe, &s->arena, &s->policy, &scope, &job,
                                     PHASE_BEFORE_TIMING, &first, GAP_MS, &s->record, NULL),
                     0);
    assert_int_equal(s->record.conditions[COND_GOVERNOR].status, TRI_FAIL);
}

static void before_timing_the_lanes_cpus_are_watched_for_eight_gaps(void **state)
{
    struct stage *s = *state;
    int64_t start_ns = clock_mono_ns();
    (void)phase(s, PHASE_BEFORE_TIMING);
    assert_true(clock_mono_ns() - start_ns >= 8 * GAP_MS * 1000000);
}

#define STAGE_TEST(name) cmocka_unit_test_setup_teardown(name, open_stage, close_stage)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STAGE_TEST(an_empty_folder_is_a_good_quiet_host),
        STAGE_TEST(a_burner_appears_and_vanishes),
        STAGE_TEST(noise_of_each_kind_can_be_scripted),
        STAGE_TEST(what_cannot_be_read_can_be_scripted),
        STAGE_TEST(facts_can_be_scripted),
        STAGE_TEST(facts_that_make_no_sense_are_all_unknown),
        STAGE_TEST(processes_that_make_no_sense_are_an_error),
        STAGE_TEST(a_reboot_can_be_scripted),
        cmocka_unit_test(a_missing_folder_is_refused),
        STAGE_TEST(later_phases_compare_with_the_first),
        STAGE_TEST(before_timing_the_lanes_cpus_are_watched_for_eight_gaps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
