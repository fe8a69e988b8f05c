/* Observations: what was timed, in batches; the latest ones of a lane. */
#include <errno.h>

#include "base/mem.h"
#include "store/rows.h"

#define LATEST_MAX 100000

WORDS(obs_kind, obs_kind);

static const struct field observation_fields[] = {
    F(struct raw_observation, seq),
    F(struct raw_observation, workload),
    F(struct raw_observation, lane),
    F(struct raw_observation, side),
    F(struct raw_observation, repetition),
    F(struct raw_observation, position),
    F_WORD(struct raw_observation, kind, obs_kind),
    F(struct raw_observation, outcome),
    F_OPT(struct raw_observation, start_ns),
    F_OPT(struct raw_observation, go_ns),
    F_OPT(struct raw_observation, done_ns),
    F_OPT(struct raw_observation, exit_ns),
    F_OPT(struct raw_observation, elapsed_ns),
    F_OPT(struct raw_observation, process_ns),
    F_OPT(struct raw_observation, interval_cpu_ns),
    F_OPT(struct raw_observation, user_us),
    F_OPT(struct raw_observation, system_us),
    F_OPT(struct raw_observation, max_rss_bytes),
    F_OPT(struct raw_observation, minor_faults),
    F_OPT(struct raw_observation, major_faults),
    F_OPT(struct raw_observation, voluntary_switches),
    F_OPT(struct raw_observation, involuntary_switches),
    F_OPT(struct raw_observation, exit_status),
    F_OPT(struct raw_observation, exit_signal),
    F(struct raw_observation, ready),
    F(struct raw_observation, done),
    F_OPT(struct raw_observation, stdout_bytes),
    F_OPT(struct raw_observation, stderr_bytes),
    F_OPT(struct raw_observation, cpu),
    F(struct raw_observation, fifo),
    F_OPT(struct raw_observation, threads),
    F_OPT(struct raw_observation, leftovers),
    F_OPT(struct raw_observation, runner_cpu_ns),
    F_OPT(struct raw_observation, runner_delay_ns),
};

static const struct list_table observations = {
    .insert = "INSERT INTO observations (attempt, seq, workload, lane, side, repetition,"
              " position, kind, outcome, start_ns, go_ns, done_ns, exit_ns, elapsed_ns,"
              " process_ns, interval_cpu_ns, user_us, system_us, max_rss_bytes, minor_faults,"
              " major_faults, voluntary_switches, involuntary_switches, exit_status,"
              " exit_signal, ready, done, stdout_bytes, stderr_bytes, cpu, fifo, threads,"
              " leftovers, runner_cpu_ns, runner_delay_ns)"
              " VALUES (:attempt, :seq, :workload, :lane, :side, :repetition, :position, :kind,"
              " :outcome, :start_ns, :go_ns, :done_ns, :exit_ns, :elapsed_ns, :process_ns,"
              " :interval_cpu_ns, :user_us, :system_us, :max_rss_bytes, :minor_faults,"
              " :major_faults, :voluntary_switches, :involuntary_switches, :exit_status,"
              " :exit_signal, :ready, :done, :stdout_bytes, :stderr_bytes, :cpu, :fifo,"
              " :threads, :leftovers, :runner_cpu_ns, :runner_delay_ns)",
    .select = "SELECT seq, workload, lane, side, repetition, position, kind, outcome, start_ns,"
              " go_ns, done_ns, exit_ns, elapsed_ns, process_ns, interval_cpu_ns, user_us,"
              " system_us, max_rss_bytes, minor_faults, major_faults, voluntary_switches,"
              " involuntary_switches, exit_status, exit_signal, ready, done, stdout_bytes,"
              " stderr_bytes, cpu, fifo, threads, leftovers, runner_cpu_ns, runner_delay_ns"
              " FROM observations WHERE attempt = :attempt ORDER BY seq",
    .fields = observation_fields,
    .n_fields = ARRAY_LEN(observation_fields),
    .item_bytes = sizeof(struct raw_observation),
};

int store_put_observations(struct store *s, const char *attempt, const struct raw_observation *list,
                           size_t n, struct err *e)
{
    return rows_put_list(s, &observations, attempt, list, n, e);
}

int store_load_observations(struct store *s, const char *attempt, struct arena *a, struct raw *raw,
                            struct err *e)
{
    int rc;
    raw->observations = rows_load_list(s, &observations, attempt, a, &raw->n_observations, &rc, e);
    return rc;
}

static const struct field point_fields[] = {
    F(struct store_point, attempt),
    F(struct store_point, seq),
    F(struct store_point, side),
    F_WORD(struct store_point, kind, obs_kind),
    F(struct store_point, outcome),
    F_OPT(struct store_point, elapsed_ns),
    F_OPT(struct store_point, interval_cpu_ns),
};

int store_lane_latest(struct store *s, const char *workload, const char *lane, int limit,
                      struct arena *a, struct store_point **out, size_t *n, struct err *e)
{
    static const char SQL[] =
        "SELECT attempt, seq, side, kind, outcome, elapsed_ns, interval_cpu_ns FROM observations"
        " WHERE workload = :workload AND lane = :lane ORDER BY attempt DESC, seq DESC LIMIT :limit";
    struct query q;
    if (limit < 1 || limit > LATEST_MAX)
        return err_set(e, -EINVAL, "store.bad_limit", "limit", "ask for 1 to %d observations",
                       LATEST_MAX);
    query_begin(&q, s, SQL);
    query_text(&q, ":workload", workload);
    query_text(&q, ":lane", lane);
    query_int(&q, ":limit", limit);
    *out = query_all(&q, point_fields, ARRAY_LEN(point_fields), sizeof **out, a, n);
    return query_end(&q, e);
}
