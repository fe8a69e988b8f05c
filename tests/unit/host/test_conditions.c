/* Four kinds of host under the policy that is right for them: the conditions are met on each, every
 * single bad fact fails them, and every source that is missing makes them unknown. */
#include "unit/host/trees.h"

#include "unit/core/policies.h"

enum which { STANDARD, VIRTUAL, STRICT };

struct site {
    struct arena arena;
    char *tree;
    struct host_probe *probe;
    struct policy policy;
    struct host_identity host;
    struct host_facts first, now;
    struct qualify_job job;
    struct condition_result results[COND_COUNT];
};

static struct policy policy_of(enum which which)
{
    return which == VIRTUAL  ? policy_virtual()
           : which == STRICT ? policy_strict()
                             : policy_standard();
}

static void site_open(struct site *s, const char *name, enum which which)
{
    *s = (struct site){.tree = tree_copy(name),
                       .policy = policy_of(which),
                       .job = {.is_comparison = true, .control_everywhere = true}};
    assert_int_equal(host_probe_new_system(s->tree, &s->probe, NULL), 0);
}

/* The store knows of calibrations, not the probe. */
static void read_facts(struct site *s, struct host_facts *out)
{
    host_probe_facts(s->probe, &s->arena, out);
    assert_int_equal(out->facts[FACT_CALIBRATION].state, FACT_UNKNOWN);
    out->facts[FACT_CALIBRATION] = fact_known(1, NULL, NULL);
}

static void site_begin(struct site *s)
{
    assert_int_equal(host_probe_identity(s->probe, &s->arena, &s->host, NULL), 0);
    read_facts(s, &s->first);
}

static enum tri site_judge(struct site *s)
{
    qualify_conditions(&s->arena, &s->policy, &s->host, &s->first, &s->now, &s->job, s->results);
    return qualify_conditions_met(s->results);
}

/* A second of two CPUs passes, in which steal ticks were stolen. */
static enum tri site_end(struct site *s, int64_t steal)
{
    CLEANUP(mem_freep) char *stat = file_join(s->tree, "proc/stat");
    if (file_exists(stat))
        tree_pass_time(s->tree, 10, 190 - steal, steal);
    read_facts(s, &s->now);
    return site_judge(s);
}

static void site_close(struct site *s)
{
    host_probe_free(s->probe);
    tree_drop(s->tree);
    arena_deinit(&s->arena);
}

static void the_right_policy_passes_on_each_kind_of_host(void **state)
{
    static const struct {
        const char *host;
        enum which policy;
    } good[] = {
        {"guest-2core", VIRTUAL}, {"laptop", STANDARD},  {"desktop", STANDARD},
        {"server-64", STANDARD},  {"server-64", STRICT},
    };
    struct site s;
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        site_open(&s, good[i].host, good[i].policy);
        site_begin(&s);
        assert_string_equal(tri_name(site_end(&s, 0)), "PASS");
        site_close(&s);
    }
}

static void absence_is_applied_only_where_it_is_proved(void **state)
{
    struct site s;
    site_open(&s, "desktop", STANDARD);
    site_begin(&s);
    (void)site_end(&s, 0);
    assert_int_equal(s.results[COND_MAINS].status, TRI_NOT_APPLICABLE);
    assert_string_equal(s.results[COND_MAINS].seen,
                        "none: the power-supply folder is there and lists no battery");
    assert_int_equal(s.results[COND_STEAL].status, TRI_NOT_APPLICABLE);
    assert_int_equal(s.results[COND_ENERGY].status, TRI_NOT_APPLICABLE);
    site_close(&s);
    /* The same empty folder in a guest says nothing about the machine below it. */
    site_open(&s, "guest-2core", VIRTUAL);
    site_begin(&s);
    (void)site_end(&s, 0);
    assert_int_equal(s.results[COND_MAINS].status, TRI_UNKNOWN);
    assert_int_equal(s.results[COND_LOW_POWER].status, TRI_UNKNOWN);
    site_close(&s);
}

static void a_guest_does_not_meet_standard_or_strict(void **state)
{
    struct site s;
    site_open(&s, "guest-2core", STANDARD);
    site_begin(&s);
    assert_string_equal(tri_name(site_end(&s, 0)), "UNKNOWN");
    s.policy = policy_strict();
    assert_string_equal(tri_name(site_judge(&s)), "FAIL");
    assert_int_equal(s.results[COND_BARE_METAL].status, TRI_FAIL);
    site_close(&s);
}

static void the_laptop_and_desktop_do_not_meet_strict(void **state)
{
    struct site s;
    site_open(&s, "laptop", STRICT);
    site_begin(&s);
    assert_string_equal(tri_name(site_end(&s, 0)), "FAIL");
    assert_int_equal(s.results[COND_GOVERNOR].status, TRI_FAIL);
    assert_int_equal(s.results[COND_BOOST].status, TRI_FAIL);
    site_close(&s);
}

/* ---- one change each */

#define MEMINFO "proc/meminfo"
#define BATTERY "sys/class/power_supply/BAT0/status"
#define ADAPTER "sys/class/power_supply/AC/online"
#define CPU "sys/devices/system/cpu/"
#define ZONE "sys/class/thermal/thermal_zone"

struct change {
    const char *what;
    const char *host;
    enum which policy;
    enum condition condition;
    bool from_start; /* else between the phases */
    int64_t steal;
    struct {
        const char *path, *text; /* text NULL: removed */
    } edits[4];
};

static void expect_change(const struct change *c, enum tri status)
{
    struct site s;
    site_open(&s, c->host, c->policy);
    if (!c->from_start)
        site_begin(&s);
    for (size_t i = 0; i < ARRAY_LEN(c->edits) && c->edits[i].path; i++)
        tree_write(s.tree, c->edits[i].path, c->edits[i].text);
    if (c->from_start)
        site_begin(&s);
    enum tri met = site_end(&s, c->steal);
    if (s.results[c->condition].status != status || met != status)
        fail_msg("%s: %s (%s), conditions %s", c->what, tri_name(s.results[c->condition].status),
                 s.results[c->condition].seen, tri_name(met));
    site_close(&s);
}

static void each_single_bad_fact_fails(void **state)
{
    static const struct change bad[] = {
        {"on battery", "laptop", STANDARD, COND_MAINS,
         .edits = {{ADAPTER, "0\n"}, {BATTERY, "Discharging\n"}}},
        {"adapter too weak", "laptop", STANDARD, COND_MAINS, .edits = {{BATTERY, "Discharging\n"}}},
        {"adapter gone, battery still full", "laptop", STANDARD, COND_MAINS,
         .edits = {{ADAPTER, "0\n"}}},
        {"low-power profile", "laptop", STANDARD, COND_LOW_POWER,
         .edits = {{"sys/firmware/acpi/platform_profile", "low-power\n"}}},
        {"governor of one CPU changed", "desktop", STANDARD, COND_GOVERNOR,
         .edits = {{CPU "cpu3/cpufreq/scaling_governor", "powersave\n"}}},
        {"boost changed", "desktop", STANDARD, COND_BOOST,
         .edits = {{CPU "intel_pstate/no_turbo", "1\n"}}},
        {"energy preference changed", "laptop", STANDARD, COND_ENERGY,
         .edits = {{CPU "cpu1/cpufreq/energy_performance_preference", "power\n"}}},
        {"throttled", "laptop", STANDARD, COND_THERMAL,
         .edits = {{CPU "cpu2/thermal_throttle/core_throttle_count", "4\n"}}},
        {"too hot", "laptop", STANDARD, COND_THERMAL, .edits = {{ZONE "2/temp", "95000\n"}}},
        {"too hot, by the processor's sensor", "server-64", STANDARD, COND_THERMAL,
         .edits = {{"sys/class/hwmon/hwmon1/temp1_input", "98000\n"}}},
        {"1 % stolen", "guest-2core", VIRTUAL, COND_STEAL, .steal = 2},
        {"swapped in", "desktop", STANDARD, COND_SWAP, .edits = {{"proc/vmstat", "pswpin 13\n"}}},
        {"5 % memory", "desktop", STANDARD, COND_MEMORY,
         .edits = {{MEMINFO, "MemTotal: 1000 kB\nMemAvailable: 50 kB\n"}}},
        {"booted 30 s ago", "server-64", STANDARD, COND_UPTIME,
         .edits = {{"proc/uptime", "30.51 61.02\n"}}},
        {"governor not performance", "server-64", STRICT, COND_GOVERNOR, .from_start = true,
         .edits = {{CPU "cpu0/cpufreq/scaling_governor", "powersave\n"}}},
        {"boost on", "server-64", STRICT, COND_BOOST, .from_start = true,
         .edits = {{CPU "intel_pstate/no_turbo", "0\n"}}},
        {"a virtual machine by its model", "server-64", STRICT, COND_BARE_METAL, .from_start = true,
         .edits = {{"sys/class/dmi/id/product_name", "KVM\n"}}},
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        expect_change(&bad[i], TRI_FAIL);
}

static void each_missing_source_is_unknown(void **state)
{
    static const struct change missing[] = {
        {"no power-supply folder", "desktop", STANDARD, COND_MAINS,
         .edits = {{"sys/class/power_supply", NULL}}},
        {"adapter without a state", "laptop", STANDARD, COND_MAINS, .edits = {{ADAPTER, NULL}}},
        {"supply of unknown type", "desktop", STANDARD, COND_MAINS,
         .edits = {{"sys/class/power_supply/hidpp_battery_0/type", NULL}}},
        {"no firmware folder", "server-64", STANDARD, COND_LOW_POWER,
         .edits = {{"sys/firmware", NULL}}},
        {"governor of one CPU", "laptop", STANDARD, COND_GOVERNOR,
         .edits = {{CPU "cpu3/cpufreq/scaling_governor", NULL}}},
        {"boost", "laptop", STANDARD, COND_BOOST, .edits = {{CPU "intel_pstate/no_turbo", NULL}}},
        {"energy preference of one CPU", "laptop", STANDARD, COND_ENERGY,
         .edits = {{CPU "cpu3/cpufreq/energy_performance_preference", NULL}}},
        {"throttle counters", "server-64", STANDARD, COND_THERMAL,
         .edits = {{CPU "cpu0/thermal_throttle", NULL}}},
        {"temperatures", "desktop", STANDARD, COND_THERMAL, .edits = {{"sys/class/thermal", NULL}}},
        {"temperatures of the processor", "server-64", STANDARD, COND_THERMAL,
         .edits = {{"sys/class/hwmon/hwmon1/temp1_crit", NULL}}},
        {"CPU time", "guest-2core", VIRTUAL, COND_STEAL, .edits = {{"proc/stat", NULL}}},
        {"swap counters", "desktop", STANDARD, COND_SWAP, .edits = {{"proc/vmstat", "x 1\n"}}},
        {"memory", "desktop", STANDARD, COND_MEMORY, .edits = {{MEMINFO, NULL}}},
        {"uptime", "desktop", STANDARD, COND_UPTIME, .edits = {{"proc/uptime", "soon\n"}}},
        {"PID namespace", "desktop", STANDARD, COND_PID_NAMESPACE,
         .edits = {{"proc/self/ns/pid", NULL}}},
        {"kind of machine", "server-64", STRICT, COND_BARE_METAL, .from_start = true,
         .edits = {{"proc/cpuinfo", NULL}, {"sys/class/dmi", NULL}}},
    };
    for (size_t i = 0; i < ARRAY_LEN(missing); i++)
        expect_change(&missing[i], TRI_UNKNOWN);
}

static void a_kernel_without_swap_has_nothing_to_swap_in(void **state)
{
    struct site s;
    site_open(&s, "desktop", STANDARD);
    tree_write(s.tree, "proc/vmstat", "nr_dirty 1\n");
    tree_write(s.tree, "proc/swaps", NULL);
    site_begin(&s);
    assert_string_equal(tri_name(site_end(&s, 0)), "PASS");
    assert_int_equal(s.results[COND_SWAP].status, TRI_NOT_APPLICABLE);
    site_close(&s);
}

static void a_container_is_not_the_initial_namespace(void **state)
{
    struct site s;
    site_open(&s, "desktop", STANDARD);
    tree_link(s.tree, "proc/self/ns/pid", "pid:[4026532517]");
    site_begin(&s);
    assert_string_equal(tri_name(site_end(&s, 0)), "FAIL");
    assert_int_equal(s.results[COND_PID_NAMESPACE].status, TRI_FAIL);
    site_close(&s);
}

/* What no file of the tree holds. */
static void suspend_calibration_control_and_contract_fail_on_a_guest(void **state)
{
    struct site s;
    site_open(&s, "guest-2core", VIRTUAL);
    site_begin(&s);
    assert_string_equal(tri_name(site_end(&s, 0)), "PASS");
    s.now.facts[FACT_SUSPEND].value = s.first.facts[FACT_SUSPEND].value + 5000;
    assert_string_equal(tri_name(site_judge(&s)), "FAIL");
    s.now.facts[FACT_SUSPEND].state = FACT_UNKNOWN;
    assert_string_equal(tri_name(site_judge(&s)), "UNKNOWN");
    s.now.facts[FACT_SUSPEND] = s.first.facts[FACT_SUSPEND];
    s.now.facts[FACT_CALIBRATION].value = 0;
    assert_string_equal(tri_name(site_judge(&s)), "FAIL");
    s.now.facts[FACT_CALIBRATION].state = FACT_UNKNOWN;
    assert_string_equal(tri_name(site_judge(&s)), "UNKNOWN");
    s.now.facts[FACT_CALIBRATION] = s.first.facts[FACT_CALIBRATION];
    s.job.control_everywhere = false;
    assert_string_equal(tri_name(site_judge(&s)), "FAIL");
    s.job.control_everywhere = true;
    s.policy.contract = (struct host_contract){.cores = 2, .os = s.host.os};
    assert_string_equal(tri_name(site_judge(&s)), "PASS");
    s.policy.contract.cores = 4;
    assert_string_equal(tri_name(site_judge(&s)), "FAIL");
    s.policy.contract = (struct host_contract){.model = "LENOVO 20NX001TGE"};
    assert_string_equal(tri_name(site_judge(&s)), "FAIL");
    s.host.model = "";
    assert_string_equal(tri_name(site_judge(&s)), "UNKNOWN");
    site_close(&s);
}

static void one_cpu_of_64_with_another_governor_is_seen(void **state)
{
    struct site s;
    site_open(&s, "server-64", STRICT);
    tree_write(s.tree, CPU "cpu17", NULL);
    CLEANUP(mem_freep) char *folder = file_join(s.tree, CPU "cpu17/cpufreq");
    assert_int_equal(file_mkdirs(folder, 0755, NULL), 0);
    tree_write(s.tree, CPU "cpu17/cpufreq/scaling_governor", "ondemand\n");
    site_begin(&s);
    assert_string_equal(tri_name(site_end(&s, 0)), "FAIL");
    assert_string_equal(s.results[COND_GOVERNOR].seen, "ondemand,performance");
    site_close(&s);
}

static void offline_cpus_are_not_asked(void **state)
{
    struct site s;
    site_open(&s, "laptop", STANDARD);
    tree_write(s.tree, CPU "cpu3/online", "0\n");
    tree_write(s.tree, CPU "cpu3/cpufreq", NULL);
    site_begin(&s);
    assert_string_equal(tri_name(site_end(&s, 0)), "PASS");
    assert_int_equal(s.first.facts[FACT_THROTTLES].value, 3 * (3 + 5));
    site_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_right_policy_passes_on_each_kind_of_host),
        cmocka_unit_test(absence_is_applied_only_where_it_is_proved),
        cmocka_unit_test(a_guest_does_not_meet_standard_or_strict),
        cmocka_unit_test(the_laptop_and_desktop_do_not_meet_strict),
        cmocka_unit_test(each_single_bad_fact_fails),
        cmocka_unit_test(each_missing_source_is_unknown),
        cmocka_unit_test(a_kernel_without_swap_has_nothing_to_swap_in),
        cmocka_unit_test(a_container_is_not_the_initial_namespace),
        cmocka_unit_test(suspend_calibration_control_and_contract_fail_on_a_guest),
        cmocka_unit_test(one_cpu_of_64_with_another_governor_is_seen),
        cmocka_unit_test(offline_cpus_are_not_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
