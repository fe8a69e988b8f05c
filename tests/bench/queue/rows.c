#include "tests/bench/queue/rows.h"

#include <string.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/mem.h"
#include "store/sql.h"
#include "tests/bench/bench.h"

#define ID_KEY "\"id\":\""

void rows_texts_read(struct rows_texts *t, const char *document_path, const char *policy_path)
{
    struct err e = {0};

    *t = (struct rows_texts){0};
    BENCH_OK(file_read(document_path, 1 << 20, &t->document, &e), &e);
    BENCH_OK(file_read(policy_path, 1 << 20, &t->policy, &e), &e);
    char *key = strstr(t->document.data, ID_KEY);
    if (!key || strlen(key) < strlen(ID_KEY) + ULID_LEN)
        bench_fail(document_path, "is no job's document");
    t->id = key + strlen(ID_KEY);
}

void rows_texts_deinit(struct rows_texts *t)
{
    buf_deinit(&t->document);
    buf_deinit(&t->policy);
}

struct store_new_job rows_job(struct rows_texts *t)
{
    static char id[ULID_LEN + 1];

    ulid_new(id);
    memcpy(t->id, id, ULID_LEN);
    return (struct store_new_job){.id = id,
                                  .document = buf_str(&t->document),
                                  .policy = buf_str(&t->policy),
                                  .label = "",
                                  .peer_uid = 1000,
                                  .wall_ms = clock_wall_ms()};
}

struct store *rows_open(const char *path)
{
    const struct host_identity host = {.id = "bench", .name = "bench", .cores = 2};
    const struct boot_identity boot = {.id = ROWS_BOOT, .boot_wall_ms = 1000};
    struct store *s = NULL;
    struct err e = {0};

    BENCH_OK(store_open(path, &s, &e), &e);
    BENCH_OK(store_boot_put(s, &host, &boot, 1, &e), &e);
    return s;
}

void rows_hurry(struct store *s)
{
    struct err e = {0};

    BENCH_OK(sql_exec(s, "PRAGMA synchronous = OFF; PRAGMA cache_size = -400000", &e), &e);
}

static const char *const SIDES[ROWS_SIDES] = {"before", "after"};
static const char *const WORKLOADS[ROWS_WORKLOADS] = {
    "fib30",       "numeric-loop", "sha256",        "sort-strings", "json-parse",  "json-print",
    "hash-lookup", "string-build", "matrix-double", "tasks-spawn",  "file-records"};

static const struct suite *suite(void)
{
    static struct lane lane = {.name = ROWS_LANE};
    static struct workload workloads[ROWS_WORKLOADS];
    static const struct suite it = {
        .name = "release-performance", .workloads = workloads, .n_workloads = ROWS_WORKLOADS};

    for (int i = 0; i < ROWS_WORKLOADS; i++)
        workloads[i] = (struct workload){.name = WORKLOADS[i], .lanes = &lane, .n_lanes = 1};
    return &it;
}

static struct plan_step step(int seq)
{
    int in_run = seq % ROWS_RUN;

    return (struct plan_step){.seq = seq,
                              .workload = in_run / ROWS_SIDES,
                              .side = in_run % ROWS_SIDES,
                              .repetition = seq / ROWS_RUN,
                              .position = in_run % ROWS_SIDES,
                              .kind = OBS_TIMED};
}

void rows_claim(struct store *s, char id[ULID_LEN + 1])
{
    const struct store_new_attempt attempt = {.id = id, .boot = ROWS_BOOT, .version = "0"};
    char job[ULID_LEN + 1];
    struct err e = {0};

    ulid_new(job);
    const struct store_new_job row = {
        .id = job, .document = "{}", .policy = "{}", .peer_uid = 1000, .wall_ms = 1};
    BENCH_OK(store_job_submit(s, &row, NULL, &e), &e);
    ulid_new(id);
    BENCH_OK(store_job_claim(s, 1, &attempt, job, &e), &e);
}

const struct history *rows_history(const char *attempt, int64_t started_ms)
{
    static struct history_figure figures[ROWS_RUN];
    static const struct history history = {.figures = figures, .n_figures = ROWS_RUN};

    for (int i = 0; i < ROWS_RUN; i++)
        figures[i] = (struct history_figure){.of = {.attempt = attempt, .started_ms = started_ms},
                                             .workload = WORKLOADS[i / ROWS_SIDES],
                                             .value = "",
                                             .lane = ROWS_LANE,
                                             .side = SIDES[i % ROWS_SIDES],
                                             .commit = "3f2a91c0de3f2a91c0de3f2a91c0de3f2a91c0de",
                                             .measure = MEASURE_PROTOCOL,
                                             .unit = "ns",
                                             .operations = -1,
                                             .n = 11,
                                             .median = 50000000.0 + i,
                                             .mad = 123456,
                                             .low = 49000000,
                                             .high = 52000000,
                                             .cpu_median = 49900000,
                                             .grade = GRADE_CONTRACTUAL};
    return &history;
}

void rows_attempt(struct store *s, char id[ULID_LEN + 1])
{
    static struct plan_step steps[ROWS_ATTEMPT];
    const struct plan plan = {.steps = steps, .n = ROWS_ATTEMPT};
    struct err e = {0};

    rows_claim(s, id);
    for (int i = 0; i < ROWS_ATTEMPT; i++)
        steps[i] = step(i);
    BENCH_OK(store_put_plan(s, id, &plan, 0, suite(), SIDES, ROWS_SIDES, &e), &e);
}

void rows_observe(struct raw_observation *out, int seq, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct plan_step at = step(seq + (int)i);
        int64_t start_ns = at.seq * INT64_C(60123457);
        out[i] = (struct raw_observation){.seq = at.seq,
                                          .workload = WORKLOADS[at.workload],
                                          .lane = ROWS_LANE,
                                          .side = SIDES[at.side],
                                          .repetition = at.repetition,
                                          .position = at.position,
                                          .kind = OBS_TIMED,
                                          .outcome = "ok",
                                          .start_ns = start_ns,
                                          .go_ns = start_ns + 1234567,
                                          .done_ns = start_ns + 51234567 + at.seq,
                                          .exit_ns = start_ns + 52345678,
                                          .elapsed_ns = 50000000 + at.seq,
                                          .process_ns = 52345678,
                                          .interval_cpu_ns = 49900000 + at.seq,
                                          .user_us = 50123,
                                          .system_us = 1234,
                                          .max_rss_bytes = 9437184,
                                          .minor_faults = 512,
                                          .voluntary_switches = 3,
                                          .involuntary_switches = 1,
                                          .ready = "READY fib30",
                                          .done = "DONE fib30 832040",
                                          .stdout_bytes = 31,
                                          .cpu = 1,
                                          .fifo = true,
                                          .threads = 1,
                                          .runner_cpu_ns = 21000,
                                          .runner_delay_ns = 1000};
    }
}
