/* aurabench status: what the daemon is doing. */
#include <inttypes.h>

#include "base/mem.h"
#include "client/cmd/commands.h"
#include "client/view/calibration_view.h"
#include "client/view/job_view.h"
#include "client/view/table.h"
#include "proto/form/duration.h"

static void put_counts(const cJSON *jobs, struct buf *out)
{
    const cJSON *count;
    bool any = false;

    cJSON_ArrayForEach (count, jobs) {
        if (!cJSON_IsNumber(count) || count->valuedouble < 1)
            continue;
        buf_printf(out, "%s%.0f %s", any ? ", " : "", count->valuedouble, count->string);
        any = true;
    }
    if (!any)
        buf_puts(out, "none yet");
}

static void put_active(struct json_in *in, const cJSON *active, struct table *t)
{
    CLEANUP(buf_deinit) struct buf count = {0};
    struct progress_view p = {0};

    if (!active) {
        table_cell(t, TERM_DIM, "now");
        table_cell(t, TERM_PLAIN, "idle");
        return;
    }
    const char *job = json_str(in, active, "job", 64);
    const char *state = json_opt_str(in, active, "state", 64, "");
    progress_view_decode(in, active, &p);
    progress_view_count(&p, &count);
    table_cell(t, TERM_DIM, "now");
    table_cell(t, TERM_BOLD, "%s %s  %s%s%s", state ? state : "", job ? cli_short_id(job) : "",
               p.text   ? p.text
               : p.step ? p.step
                        : "",
               count.len ? "  " : "", buf_str(&count));
}

static void put_daemon(struct json_in *in, const cJSON *result, int64_t now_ms, struct table *t)
{
    char up[DURATION_TEXT];
    int64_t started_ms = json_int(in, result, "started_ms", 0, JSON_INT_MAX);
    const char *version = json_str(in, result, "version", 64);
    const char *host = json_str(in, result, "host", 255);
    const char *state_dir = json_opt_str(in, result, "state_dir", 4096, NULL);

    table_cell(t, TERM_DIM, "daemon");
    table_cell(t, TERM_PLAIN, "aurabenchd %s on %s, up %s", version ? version : "",
               host ? host : "", duration_format(now_ms - started_ms, up));
    if (state_dir) {
        table_cell(t, TERM_DIM, "state");
        table_cell(t, TERM_PLAIN, "%s", state_dir);
    }
}

static void put_drain(struct json_in *in, const cJSON *state, struct table *t)
{
    int64_t since_ms = state ? json_opt_int(in, state, "drained_ms", 0, JSON_INT_MAX, -1) : -1;
    char when[32];

    if (since_ms < 0)
        return;
    table_cell(t, TERM_DIM, "drained");
    table_cell(t, TERM_YELLOW, "since %s: nothing is begun until aurabench drain --off",
               cli_time(since_ms, when));
}

static void put_calibration(struct json_in *in, const cJSON *state, struct table *t)
{
    struct calibration_state_view c = {0};

    if (state)
        calibration_state_view_read(in, state, &c);
    if (!c.running && !c.asked)
        return;
    table_cell(t, TERM_DIM, "calibration");
    if (!c.running)
        table_cell(t, TERM_YELLOW, "asked for (%s)%s%s", c.form ? c.form : "",
                   c.refused ? "; the last try: " : "", c.refused ? c.refused : "");
    else if (c.total > 0)
        table_cell(t, TERM_BOLD, "%" PRId64 " of %" PRId64 " (%s)", c.done, c.total, c.form);
    else
        table_cell(t, TERM_BOLD, "looking whether the host is quiet (%s)", c.form);
}

static void put_hooks(struct json_in *in, const cJSON *hooks, int64_t now_ms, struct table *t)
{
    int64_t owed = hooks ? json_opt_int(in, hooks, "owed", 0, JSON_INT_MAX, 0) : 0;
    int64_t next_ms = hooks ? json_opt_int(in, hooks, "next_try_ms", 0, JSON_INT_MAX, -1) : -1;
    char wait[DURATION_TEXT];

    if (owed == 0)
        return;
    table_cell(t, TERM_DIM, "hooks");
    table_cell(t, TERM_PLAIN, "%" PRId64 " to be told, the next in %s", owed,
               duration_format(next_ms - now_ms, wait));
}

static void put_status(struct json_in *in, const cJSON *result, struct table *t)
{
    CLEANUP(buf_deinit) struct buf counts = {0};
    char in_text[DURATION_TEXT];
    int64_t now_ms = json_int(in, result, "now_ms", 0, JSON_INT_MAX);
    int64_t due_ms = json_opt_int(in, result, "next_due_ms", 0, JSON_INT_MAX, -1);
    const char *blocked = json_opt_str(in, result, "blocked", 4096, NULL);

    put_daemon(in, result, now_ms, t);
    put_counts(json_obj(in, result, "jobs"), &counts);
    table_cell(t, TERM_DIM, "jobs");
    table_cell(t, TERM_PLAIN, "%s", buf_str(&counts));
    put_active(in, json_opt_obj(in, result, "active"), t);
    put_drain(in, json_opt_obj(in, result, "state"), t);
    put_calibration(in, json_opt_obj(in, result, "state"), t);
    put_hooks(in, json_opt_obj(in, result, "hooks"), now_ms, t);
    if (due_ms >= 0) {
        table_cell(t, TERM_DIM, "next try");
        table_cell(t, TERM_PLAIN, "in %s", duration_format(due_ms - now_ms, in_text));
    }
    if (blocked) {
        table_cell(t, TERM_DIM, "blocked");
        table_cell(t, TERM_RED, "%s", blocked);
    }
}

static int run(struct cli *cli, const void *values, const struct opt_words *words)
{
    static const struct table_column columns[2];
    CLEANUP(answer_deinit) struct answer answer = {0};
    CLEANUP(buf_deinit) struct buf out = {0};
    struct err e = {0};
    struct json_in in;

    (void)values;
    (void)words;
    if (cli_ask(cli, "daemon.status", NULL, &answer, &e) < 0)
        return cli_fail(cli, &e);
    if (cli->shared.json) {
        cli_json(cli, answer.msg.result);
        return EXIT_GOOD;
    }
    struct table *t = table_new(columns, ARRAY_LEN(columns));
    json_in_init(&in, &answer.a, &e);
    put_status(&in, answer.msg.result, t);
    table_print(t, &cli->out, 0, &out);
    table_free(t);
    if (connection_check(&in, &e) < 0)
        return cli_fail(cli, &e);
    cli_put(&out);
    return EXIT_GOOD;
}

const struct command command_status = {
    .name = "status",
    .usage = "",
    .summary = "what the daemon is doing",
    .run = run,
};
