/* host, quiet and show: documents of the daemon, written by its own encoders, as people read them.
 */
#include "base/mem.h"
#include "fake_daemon.h"
#include "proto/doc/documents.h"
#include "proto/errors.h"
#include "unit.h"

#define ID "01M8PTS1KBDT9DN69Z7CASNZH0"

static const struct competitor burner = {.pid = 4242,
                                         .ppid = 1,
                                         .uid = 0,
                                         .start_ticks = 7,
                                         .command = "stress\x1b[2J",
                                         .args = "stress --cpu 1",
                                         .cwd = "/",
                                         .share_pct = {99.5, 100},
                                         .reasons = COMPETE_SUSTAINED};

static struct inventory sample_inventory(struct competitor *list, size_t n)
{
    return (struct inventory){.phase = PHASE_BEFORE_BUILD,
                              .wall_ms = 1000,
                              .window_ns = {250000000, 250000000},
                              .n_procs = 80,
                              .state = n ? INVENTORY_BUSY : INVENTORY_QUIET,
                              .competitors = list,
                              .n_competitors = n};
}

static void sample_conditions(enum tri mains, struct condition_result out[COND_COUNT])
{
    for (int i = 0; i < COND_COUNT; i++)
        out[i] = (struct condition_result){.condition = (enum condition)i,
                                           .status = i == COND_MAINS ? mains : TRI_PASS,
                                           .mode = RULE_REQUIRE,
                                           .seen = "unknown: nobody says",
                                           .needed = "on mains power"};
}

static void put_phase(struct json_out *o, size_t competitors, enum tri mains)
{
    struct competitor list[] = {burner};
    struct condition_result conditions[COND_COUNT];
    const struct inventory inv = sample_inventory(list, competitors);

    sample_conditions(mains, conditions);
    inventory_encode(o, "inventory", &inv);
    conditions_encode(o, "conditions", conditions);
}

static void put_facts(struct json_out *o)
{
    struct host_facts facts = {.wall_ms = 1000};

    facts.facts[FACT_MEMORY_TOTAL] =
        (struct fact){.state = FACT_KNOWN, .value = 3LL << 30, .source = "/proc/meminfo"};
    facts.facts[FACT_VIRTUAL] = (struct fact){.state = FACT_KNOWN, .value = 1, .text = "kvm"};
    facts.facts[FACT_UPTIME] = (struct fact){.state = FACT_KNOWN, .value = 3700000};
    host_facts_encode(o, "facts", &facts);
}

static char *quiet_result(size_t competitors, enum tri mains)
{
    struct buf b = {0};
    struct json_out o;

    json_out_init(&o, &b);
    json_begin(&o, NULL);
    json_put_str(&o, "policy", "standard");
    json_put_str(&o, "state", competitors ? "busy" : "quiet");
    json_put_str(&o, "met", tri_name(mains));
    put_phase(&o, competitors, mains);
    put_facts(&o);
    json_end(&o);
    return buf_take(&b);
}

static void run(struct outcome *o, const char *method, const char *result, const char *const *words)
{
    outcome_run(o, STEPS({.method = method, .result = result}), words);
    assert_string_equal(buf_str(&o->err), "");
}

static void quiet_is_0_only_for_a_quiet_host_that_meets_the_policy(void **state)
{
    static const struct {
        size_t competitors;
        enum tri mains;
        int status;
    } cases[] = {{0, TRI_PASS, EXIT_GOOD},
                 {0, TRI_NOT_APPLICABLE, EXIT_GOOD},
                 {1, TRI_PASS, EXIT_NOT_QUIET},
                 {0, TRI_FAIL, EXIT_NOT_QUIET},
                 {0, TRI_UNKNOWN, EXIT_NOT_QUIET}};
    CLEANUP(outcome_deinit) struct outcome o = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CLEANUP(mem_freep) char *result = quiet_result(cases[i].competitors, cases[i].mains);
        run(&o, "host.quiet", result, WORDS("quiet"));
        assert_int_equal(o.status, cases[i].status);
        run(&o, "host.quiet", result, WORDS("quiet", "--json"));
        assert_int_equal(o.status, cases[i].status);
    }
}

static void who_makes_noise_is_named_with_its_share(void **state)
{
    CLEANUP(outcome_deinit) struct outcome o = {0};
    CLEANUP(mem_freep) char *result = quiet_result(1, TRI_UNKNOWN);

    (void)state;
    run(&o, "host.quiet", result, WORDS("quiet", "--policy", "virtual"));
    assert_says(&o.asked, "host.quiet {\"policy\":\"virtual\"}\n");
    assert_string_equal(o.out.data,
                        "not quiet: 1 competitor among 80 processes\n"
                        "   PID  COMMAND           OF A CORE  BECAUSE    ARGUMENTS\n"
                        "  4242  stress?[2J  99.5 %, 100.0 %  sustained  stress --cpu 1\n"
                        "conditions of policy standard: UNKNOWN\n"
                        "  CONDITION             SEEN         NEEDED\n"
                        "  mains power  UNKNOWN  nobody says  on mains power\n");
}

static void a_quiet_host_needs_few_words(void **state)
{
    CLEANUP(outcome_deinit) struct outcome o = {0};
    CLEANUP(mem_freep) char *result = quiet_result(0, TRI_PASS);

    (void)state;
    run(&o, "host.quiet", result, WORDS("quiet"));
    assert_string_equal(o.out.data, "quiet: no competitor among 80 processes\n"
                                    "conditions of policy standard: PASS\n");
}

static char *show_result(void)
{
    struct buf b = {0};
    struct json_out o;

    buf_puts(&b,
             "{\"job\":{\"id\":\"" ID "\",\"state\":\"waiting\",\"label\":\"nightly\",\"suite\":"
             "\"s\",\"submitted_ms\":1000,\"changed_ms\":2000,\"next_try_ms\":3000,\"refusals\":"
             "2},\"document\":{\"repetitions\":11,\"warmups\":1,\"policy\":\"standard\","
             "\"sources\":{\"before\":{\"repo\":\"/r\",\"rev\":\"v1\",\"commit\":"
             "\"0123456789abcdef\"}}},\"history\":[{\"wall_ms\":1000,\"event\":\"retry_due\","
             "\"to\":\"queued\",\"text\":null}],\"attempts\":[{\"number\":1,\"started_ms\":1000,"
             "\"ended_ms\":3500,\"outcome\":\"refused\",\"report\":null}],\"refusal\":{"
             "\"wall_ms\":2000,\"reason\":\"not quiet\"},\"phases\":[");
    json_out_init(&o, &b);
    json_begin(&o, NULL);
    json_put_str(&o, "phase", "before_build");
    put_phase(&o, 1, TRI_PASS);
    json_end(&o);
    buf_puts(&b, "]}");
    return buf_take(&b);
}

static void show_says_what_a_job_waits_for(void **state)
{
    CLEANUP(outcome_deinit) struct outcome o = {0};
    CLEANUP(mem_freep) char *result = show_result();

    (void)state;
    (void)setenv("TZ", "UTC", 1);
    run(&o, "job.show", result, WORDS("show", "CASN"));
    assert_int_equal(o.status, EXIT_GOOD);
    assert_says(&o.out, "job         " ID "\nlabel       nightly\n");
    assert_says(&o.out, "before      v1  0123456789ab  (/r)\n");
    assert_says(&o.out, "plan        11 repetitions, 1 warmup, policy standard\n");
    assert_says(&o.out, "next try    1970-01-01 00:00:03; refused 2 times so far\n");
    assert_says(&o.out, "refused     1970-01-01 00:00:02: not quiet\n");
    assert_says(&o.out, "host        before build: not quiet: 1 competitor among 80 processes\n");
    assert_says(&o.out, "  4242  stress?[2J  99.5 %, 100.0 %  sustained  stress --cpu 1\n");
    assert_says(&o.out, "      1  1970-01-01 00:00:01    2s  refused\n");
    assert_says(&o.out, "1970-01-01 00:00:01  queued  retry due\n");
}

static char *host_result(void)
{
    const struct host_identity host = {.name = "box",
                                       .id = "00ff",
                                       .model = "",
                                       .cpu = "CPU 9",
                                       .cores = 4,
                                       .memory_bytes = 3LL << 30,
                                       .os = "OS 1",
                                       .kernel = "Linux",
                                       .arch = "x",
                                       .tick_ns = 10000000};
    const struct boot_identity boot = {.id = "b-1", .boot_wall_ms = 1000};
    struct condition_result conditions[COND_COUNT];
    struct buf b = {0};
    struct json_out o;

    json_out_init(&o, &b);
    json_begin(&o, NULL);
    host_identity_encode(&o, "host", &host);
    boot_identity_encode(&o, "boot", &boot);
    put_facts(&o);
    json_begin_array(&o, "policies");
    for (int i = 0; i < 2; i++) {
        json_begin(&o, NULL);
        json_put_str(&o, "name", i ? "lax" : "tight");
        json_put_str(&o, "met", i ? "PASS" : "FAIL");
        sample_conditions(TRI_FAIL, conditions);
        conditions[COND_MAINS].mode = i ? RULE_WAIVE : RULE_REQUIRE;
        conditions_encode(&o, "conditions", conditions);
        json_end(&o);
    }
    json_end_array(&o);
    json_end(&o);
    return buf_take(&b);
}

static void host_shows_each_condition_under_each_policy(void **state)
{
    CLEANUP(outcome_deinit) struct outcome o = {0};
    CLEANUP(mem_freep) char *result = host_result();

    (void)state;
    run(&o, "host.show", result, WORDS("host"));
    assert_int_equal(o.status, EXIT_GOOD);
    assert_says(&o.out, "model   unknown\ncpu     CPU 9, 4 logical\nmemory  3.0 GiB\n");
    assert_says(&o.out, "memory_total      known    3.0 GiB    /proc/meminfo\n");
    assert_says(&o.out, "uptime            known    1h 1m\n");
    assert_says(&o.out, "virtual           known    yes (kvm)\n");
    assert_says(&o.out, "mains             unknown\n");
    assert_says(&o.out, "CONDITION          tight  lax     SEEN\n");
    assert_says(&o.out, "mains power        FAIL   waived  unknown: nobody says\n");
    assert_says(&o.out, "all of it          FAIL   PASS\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quiet_is_0_only_for_a_quiet_host_that_meets_the_policy),
        cmocka_unit_test(who_makes_noise_is_named_with_its_share),
        cmocka_unit_test(a_quiet_host_needs_few_words),
        cmocka_unit_test(show_says_what_a_job_waits_for),
        cmocka_unit_test(host_shows_each_condition_under_each_policy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
