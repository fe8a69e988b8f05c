/* Observations: what was timed, in batches; the latest ones of a lane. */
#include <errno.h>

#include "base/mem.h"
#include "store/rows.h"

#define LATEST_MAX 100000

WORDS(obs_kind, obs_kind);

/* A row with other ones binds the text anew; in a row with the same ones it is the same. */
static const char *disturbances_word(int bits)
{
    static _Thread_local char text[DISTURBANCES_TEXT];

    return bits < 0 ? NULL : disturbances_text(bits, text);
}
/* NULL is "not judged". */
static const struct words disturbances_words = {disturbances_word, disturbances_parse};

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
    F_OPT(struct raw_observation, runner_switches),
    F_OPT(struct raw_observation, daemon_cpu_ns),
    F_OPT(struct raw_observation, daemon_switches),
    F_OPT_AS(struct raw_observation, ledger.span_ns, "span_ns"),
    F_OPT_AS(struct raw_observation, ledger.lane_cpu_ns, "lane_cpu_ns"),
    F_OPT_AS(struct raw_observation, ledger.observer_cpu_ns, "observer_cpu_ns"),
    F_OPT_AS(struct raw_observation, ledger.near_foreign_ns, "near_foreign_ns"),
    F_OPT_AS(struct raw_observation, ledger.far_foreign_ns, "far_foreign_ns"),
    F_OPT_AS(struct raw_observation, ledger.steal_ns, "steal_ns"),
    F_OPT_AS(struct raw_observation, ledger.lane_delay_ns, "lane_delay_ns"),
    F_OPT_AS(struct raw_observation, ledger.lane_preemptions, "lane_preemptions"),
    F_OPT_AS(struct raw_observation, ledger.pressure_us, "pressure_us"),
    F_OPT_AS(struct raw_observation, ledger.throttles, "throttles"),
    F_OPT_AS(struct raw_observation, ledger.swapped_pages, "swapped_pages"),
    F_WORD_OPT(struct raw_observation, disturbed, disturbances),
    F_OPT(struct raw_observation, replaces),
};

static const struct list_table observations = {
    .insert = "INSERT INTO observations (attempt, seq, workload, lane, side, repetition,"
              " position, kind, outcome, start_ns, go_ns, done_ns, exit_ns, elapsed_ns,"
              " process_ns, interval_cpu_ns, user_us, system_us, max_rss_bytes, minor_faults,"
              " major_faults, voluntary_switches, involuntary_switches, exit_status,"
              " exit_signal, ready, done, stdout_bytes, stderr_bytes, cpu, fifo, threads,"
              " leftovers, runner_cpu_ns, runner_delay_ns, runner_switches, daemon_cpu_ns,"
              " daemon_switches, span_ns, lane_cpu_ns, observer_cpu_ns,"
              " near_foreign_ns, far_foreign_ns, steal_ns, lane_delay_ns, lane_preemptions,"
              " pressure_us, throttles, swapped_pages, disturbed, replaces)"
              " VALUES (:attempt, :seq, :workload, :lane, :side, :repetition, :position, :kind,"
              " :outcome, :start_ns, :go_ns, :done_ns, :exit_ns, :elapsed_ns, :process_ns,"
              " :interval_cpu_ns, :user_us, :system_us, :max_rss_bytes, :minor_faults,"
              " :major_faults, :voluntary_switches, :involuntary_switches, :exit_status,"
              " :exit_signal, :ready, :done, :stdout_bytes, :stderr_bytes, :cpu, :fifo,"
              " :threads, :leftovers, :runner_cpu_ns, :runner_delay_ns, :runner_switches,"
              " :daemon_cpu_ns, :daemon_switches, :span_ns,"
              " :lane_cpu_ns, :observer_cpu_ns, :near_foreign_ns, :far_foreign_ns, :steal_ns,"
              " :lane_delay_ns, :lane_preemptions, :pressure_us, :throttles, :swapped_pages,"
              " :disturbed, :replaces)",
    .select = "SELECT seq, workload, lane, side, repetition, position, kind, outcome, start_ns,"
              " go_ns, done_ns, exit_ns, elapsed_ns, process_ns, interval_cpu_ns, user_us,"
              " system_us, max_rss_bytes, minor_faults, major_faults, voluntary_switches,"
              " involuntary_switches, exit_status, exit_signal, ready, done, stdout_bytes,"
              " stderr_bytes, cpu, fifo, threads, leftovers, runner_cpu_ns, runner_delay_ns,"
              " runner_switches, daemon_cpu_ns, daemon_switches, span_ns,"
              " lane_cpu_ns, observer_cpu_ns, near_foreign_ns, far_foreign_ns, steal_ns,"
              " lane_delay_ns, lane_preemptions, pressure_us, throttles, swapped_pages, disturbed,"
              " replaces"
              " FROM observations WHERE attempt = :attempt ORDER BY seq",
    .fields = observation_fields,
    .n_fields = ARRAY_LEN(observation_fields),
    .item_bytes = sizeof(struct raw_observation),
};

/* Values stand in a table of their own: most observations have none. So do outputs. */
struct value_item {
    struct row_place at;
    struct raw_value value;
};

static const struct field value_fields[] = {
    ROW_PLACE(struct value_item),
    F_AS(struct value_item, value.name, "name"),
    F_AS(struct value_item, value.value, "value"),
};

static const struct row_part value_part = {
    .table = {.insert = "INSERT INTO observation_values (attempt, seq, number, name, value)"
                        " VALUES (:attempt, :seq, :number, :name, :value)",
              .select = "SELECT seq, number, name, value FROM observation_values"
                        " WHERE attempt = :attempt ORDER BY seq, number",
              .fields = value_fields,
              .n_fields = ARRAY_LEN(value_fields),
              .item_bytes = sizeof(struct value_item)},
    ROW_PART(struct value_item, value, values),
};

struct output_item {
    struct row_place at;
    struct raw_output output;
};

static const struct field output_fields[] = {
    ROW_PLACE(struct output_item),
    F_AS(struct output_item, output.name, "name"),
    F_AS(struct output_item, output.bytes, "bytes"),
    F_AS(struct output_item, output.sha256, "sha256"),
};

static const struct row_part output_part = {
    .table = {.insert =
                  "INSERT INTO observation_outputs (attempt, seq, number, name, bytes, sha256)"
                  " VALUES (:attempt, :seq, :number, :name, :bytes, :sha256)",
              .select = "SELECT seq, number, name, bytes, sha256 FROM observation_outputs"
                        " WHERE attempt = :attempt ORDER BY seq, number",
              .fields = output_fields,
              .n_fields = ARRAY_LEN(output_fields),
              .item_bytes = sizeof(struct output_item)},
    ROW_PART(struct output_item, output, outputs),
};

int store_put_observations(struct store *s, const char *attempt, const struct raw_observation *list,
                           size_t n, struct err *e)
{
    int rc = tx_begin(s, e);
    if (rc != 0)
        return rc;
    rc = rows_add_list(s, &observations, attempt, list, n, e);
    for (size_t i = 0; i < n && rc == 0; i++) {
        rc = rows_add_part(s, &value_part, attempt, &list[i], e);
        if (rc == 0)
            rc = rows_add_samples(s, attempt, &list[i], e);
        if (rc == 0)
            rc = rows_add_part(s, &output_part, attempt, &list[i], e);
    }
    return tx_end(s, rc, e);
}

static int load_part(struct store *s, const struct row_part *part, const char *attempt,
                     struct arena *a, struct raw *raw, struct err *e)
{
    size_t n;
    int rc;
    const void *stored = rows_load_list(s, &part->table, attempt, a, &n, &rc, e);

    if (rc == 0)
        rows_attach_part(part, a, stored, n, raw);
    return rc;
}

int store_load_observations(struct store *s, const char *attempt, struct arena *a, struct raw *raw,
                            struct err *e)
{
    int rc;
    raw->observations = rows_load_list(s, &observations, attempt, a, &raw->n_observations, &rc, e);
    if (rc == 0)
        rc = load_part(s, &value_part, attempt, a, raw, e);
    if (rc == 0)
        rc = rows_load_samples(s, attempt, a, raw, e);
    return rc == 0 ? load_part(s, &output_part, attempt, a, raw, e) : rc;
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
        "SELECT attempt, seq, side, kind, outcome, elapsed_ns, interval_cpu_ns FROM lane_points"
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
