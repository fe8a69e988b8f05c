/* aurabench show: everything about one job, for a person. */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "client/cmd/commands.h"
#include "client/link/whole.h"
#include "client/view/inventory_view.h"
#include "client/view/job_view.h"
#include "client/view/table.h"
#include "proto/doc/doc_host.h"
#include "proto/form/duration.h"

#define LABEL_COLUMNS 12
#define TEXT_MAX 4096
#define HISTORY_MAX 1000
#define ROWS_SHOWN 12 /* of attempts and of history, unless all are asked for */

struct values {
    bool all;
};

static const struct opt opts[] = {
    {0, "all", OPT_FLAG, NULL, offsetof(struct values, all), 0, 0,
     "the whole history, not only its end"},
};

struct show {
    struct cli *cli;
    bool all;
    struct json_in in;
    const cJSON *result;
    struct job_view job;
    struct buf out;
};

/* One line "label       text", wrapped under itself. */
static void put_line(struct show *s, const char *label, enum term_style style, const char *text)
{
    CLEANUP(buf_deinit) struct buf clean = {0}, wrapped = {0};
    struct buf *out = &s->out;

    term_clean(&clean, text, strlen(text), 0);
    term_styled(&s->cli->out, out, TERM_DIM, label);
    for (size_t i = strlen(label); i < LABEL_COLUMNS; i++)
        buf_putc(out, ' ');
    term_wrap(&wrapped, buf_str(&clean), LABEL_COLUMNS, (size_t)s->cli->out.width);
    wrapped.data[--wrapped.len] = '\0';
    term_styled(&s->cli->out, out, style, buf_str(&wrapped));
    buf_putc(out, '\n');
}

static void put_linef(struct show *s, const char *label, enum term_style style, const char *fmt,
                      ...) __attribute__((format(printf, 4, 5)));
static void put_linef(struct show *s, const char *label, enum term_style style, const char *fmt,
                      ...)
{
    CLEANUP(buf_deinit) struct buf text = {0};
    va_list ap;

    va_start(ap, fmt);
    buf_vprintf(&text, fmt, ap);
    va_end(ap);
    put_line(s, label, style, buf_str(&text));
}

/* ---- what was asked for */

static void put_source(struct show *s, const cJSON *source)
{
    const char *repo = json_opt_str(&s->in, source, "repo", TEXT_MAX, "");
    const char *rev = json_opt_str(&s->in, source, "rev", TEXT_MAX, "");
    const char *commit = json_opt_str(&s->in, source, "commit", TEXT_MAX, "");

    if (s->in.rc == 0)
        put_linef(s, source->string, TERM_PLAIN, "%s  %.12s  (%s)", rev, commit, repo);
}

static void put_document(struct show *s)
{
    const cJSON *doc = json_opt_obj(&s->in, s->result, "document");
    const cJSON *sources = doc ? json_opt_obj(&s->in, doc, "sources") : NULL, *source;

    if (!doc)
        return;
    cJSON_ArrayForEach (source, sources)
        put_source(s, source);
    int64_t repetitions = json_opt_int(&s->in, doc, "repetitions", 0, JSON_INT_MAX, 0);
    int64_t warmups = json_opt_int(&s->in, doc, "warmups", 0, JSON_INT_MAX, 0);
    const char *policy = json_opt_str(&s->in, doc, "policy", TEXT_MAX, "");
    bool override = json_opt_bool(&s->in, doc, "allow_competing", false);
    if (s->in.rc == 0)
        put_linef(s, "plan", TERM_PLAIN,
                  "%" PRId64 " repetition%s, %" PRId64 " warmup%s, policy %s%s", repetitions,
                  repetitions == 1 ? "" : "s", warmups, warmups == 1 ? "" : "s", policy,
                  override ? ", competing processes allowed" : "");
}

/* ---- what has become of it */

static void put_state(struct show *s)
{
    CLEANUP(buf_deinit) struct buf text = {0};
    const struct job_view *j = &s->job;
    char when[32];

    buf_puts(&text, job_state_name(j->state));
    buf_printf(&text, " since %s", cli_time(j->changed_ms, when));
    put_line(s, "state", job_state_style(j->state), buf_str(&text));
    buf_clear(&text);
    if (j->progress.step) {
        buf_puts(&text, j->progress.text);
        buf_puts(&text, j->progress.total > 0 || j->progress.left_ms > 0 ? ", " : "");
        progress_view_count(&j->progress, &text);
        put_line(s, "now", TERM_PLAIN, buf_str(&text));
    }
    if (j->why)
        put_line(s, j->state == JOB_WAITING ? "waiting" : "why", TERM_YELLOW, j->why);
    if (j->state == JOB_WAITING && j->next_try_ms >= 0)
        put_linef(s, "next try", TERM_PLAIN, "%s; refused %" PRId64 " time%s so far",
                  cli_time(j->next_try_ms, when), j->refusals, j->refusals == 1 ? "" : "s");
}

static void put_outcome(struct show *s)
{
    const struct job_view *j = &s->job;

    if (j->error_code) {
        put_line(s, "error", TERM_RED, j->error_text);
        put_linef(s, "", TERM_DIM, "%s%s%s", j->error_code, j->error_field[0] ? " at " : "",
                  j->error_field);
        put_linef(s, "output", TERM_PLAIN, "aurabench log %s", cli_short_id(j->id));
    }
    if (j->report.grade)
        put_line(s, "report", TERM_BOLD, j->report.line ? j->report.line : j->report.grade);
    if (j->report.evidence)
        put_line(s, "evidence", TERM_PLAIN, j->report.evidence);
}

static void put_head(struct show *s)
{
    const struct job_view *j = &s->job;
    char when[32];

    put_line(s, "job", TERM_BOLD, j->id);
    if (j->label)
        put_line(s, "label", TERM_PLAIN, j->label);
    if (j->suite)
        put_line(s, "suite", TERM_PLAIN, j->suite);
    put_line(s, "submitted", TERM_PLAIN, cli_time(j->submitted_ms, when));
    if (j->priority)
        put_linef(s, "priority", TERM_PLAIN, "%" PRId64, j->priority);
}

/* ---- what it waits for, and who waits for it */

static void put_time(struct show *s, const char *label, const cJSON *doc, const char *key)
{
    const char *text = json_opt_str(&s->in, doc, key, TEXT_MAX, NULL);

    if (s->in.rc == 0 && text)
        put_line(s, label, TERM_PLAIN, text);
}

static void put_window(struct show *s, const cJSON *doc)
{
    const cJSON *w = json_opt_obj(&s->in, doc, "window");

    if (!w)
        return;
    const char *days = json_opt_str(&s->in, w, "days", TEXT_MAX, "daily");
    const char *from = json_opt_str(&s->in, w, "from", TEXT_MAX, "");
    const char *to = json_opt_str(&s->in, w, "to", TEXT_MAX, "");
    const char *zone = json_opt_str(&s->in, w, "zone", TEXT_MAX, "");
    if (s->in.rc == 0)
        put_linef(s, "window", TERM_PLAIN, "%s %s-%s %s", days, from, to, zone);
}

static void put_retry(struct show *s, const cJSON *doc)
{
    const cJSON *retry = json_opt_obj(&s->in, doc, "retry");
    const char *every = retry ? json_opt_str(&s->in, retry, "every", TEXT_MAX, NULL) : NULL;
    int64_t limit = retry ? json_opt_int(&s->in, retry, "limit", 0, JSON_INT_MAX, -1) : -1;

    if (s->in.rc == 0 && every && limit >= 0)
        put_linef(s, "retries", TERM_PLAIN, "every %s, %" PRId64 " at most", every, limit);
    else if (s->in.rc == 0 && every)
        put_linef(s, "retries", TERM_PLAIN, "every %s", every);
    else if (s->in.rc == 0 && limit >= 0)
        put_linef(s, "retries", TERM_PLAIN, "%" PRId64 " at most", limit);
}

/* One line a job; which: "after", "followers". */
static void put_others(struct show *s, const char *which, const char *label)
{
    size_t n = 0;
    const cJSON *list = json_opt_arr(&s->in, s->result, which, 1000, &n), *item;

    cJSON_ArrayForEach (item, list) {
        const char *job = json_str(&s->in, item, "job", 64);
        const char *state = json_str(&s->in, item, "state", TEXT_MAX);
        const char *on = json_str(&s->in, item, "on", TEXT_MAX);
        const char *name = json_opt_str(&s->in, item, "label", TEXT_MAX, NULL);
        bool open = json_bool(&s->in, item, "open");
        if (s->in.rc)
            return;
        put_linef(s, label, open ? TERM_YELLOW : TERM_PLAIN, "%s  %s  (%s%s)%s%s", job, state, on,
                  open ? ", waited for" : "", name && *name ? "  " : "", name ? name : "");
    }
    if (strcmp(which, "followers") == 0 &&
        json_opt_bool(&s->in, s->result, "followers_more", false))
        put_line(s, label, TERM_DIM, "and more");
}

static void put_schedule(struct show *s)
{
    const cJSON *doc = json_opt_obj(&s->in, s->result, "document");

    if (!doc)
        return;
    put_time(s, "not before", doc, "not_before");
    put_time(s, "deadline", doc, "deadline");
    put_window(s, doc);
    put_retry(s, doc);
    put_others(s, "after", "after");
    put_others(s, "followers", "before");
}

static void put_refusal(struct show *s)
{
    const cJSON *refusal = json_opt_obj(&s->in, s->result, "refusal");
    char when[32];

    if (!refusal)
        return;
    const char *reason = json_str(&s->in, refusal, "reason", TEXT_MAX);
    int64_t at_ms = json_int(&s->in, refusal, "wall_ms", 0, JSON_INT_MAX);
    if (s->in.rc == 0)
        put_linef(s, "refused", TERM_YELLOW, "%s: %s", cli_time(at_ms, when), reason);
}

/* Conditions are shown of the last phase only: they rarely change between phases. */
static void put_phase(struct show *s, const cJSON *phase)
{
    CLEANUP(buf_deinit) struct buf line = {0};
    struct condition_result conditions[COND_COUNT];
    struct inventory inv = {0};

    inventory_decode(&s->in, json_obj(&s->in, phase, "inventory"), &inv);
    conditions_decode(&s->in, phase, "conditions", conditions);
    int64_t left_out = json_opt_int(&s->in, phase, "competitors_left_out", 0, JSON_INT_MAX, 0);
    if (s->in.rc)
        return;
    buf_printf(&line, "%s: ", phase_title(inv.phase));
    inventory_line(&inv, &line);
    put_line(s, "host", inv.state == INVENTORY_QUIET ? TERM_PLAIN : TERM_YELLOW, buf_str(&line));
    inventory_table(&inv, false, &s->cli->out, &s->out);
    inventory_left_out(left_out, &s->out);
    if (!phase->next)
        conditions_table(conditions, false, &s->cli->out, &s->out);
}

/* ---- what happened */

/* How many of n rows are left out at the beginning; says so. */
static size_t left_out(struct show *s, size_t n, const char *what)
{
    size_t out = s->all || n <= ROWS_SHOWN ? 0 : n - ROWS_SHOWN;

    if (n)
        buf_putc(&s->out, '\n');
    if (out)
        buf_printf(&s->out, "(%zu earlier %s: aurabench show %s --all)\n", out, what,
                   cli_short_id(s->job.id));
    return out;
}

static void put_attempts(struct show *s)
{
    static const struct table_column columns[] = {
        {"ATTEMPT", true, false},  {"BEGAN", false, false}, {"TOOK", true, false},
        {"OUTCOME", false, false}, {"REPORT", false, true},
    };
    size_t n = 0;
    const cJSON *attempts = json_opt_arr(&s->in, s->result, "attempts", 100000, &n), *item;
    size_t skip = left_out(s, n, "attempts"), reports = 0;
    struct table *t = table_new(columns, ARRAY_LEN(columns));
    char when[32], took[DURATION_TEXT];

    cJSON_ArrayForEach (item, attempts) {
        if (skip > 0 && skip--)
            continue;
        int64_t began = json_int(&s->in, item, "started_ms", 0, JSON_INT_MAX);
        int64_t ended = json_opt_int(&s->in, item, "ended_ms", 0, JSON_INT_MAX, -1);
        const char *outcome = json_opt_str(&s->in, item, "outcome", TEXT_MAX, "running");
        const cJSON *report = json_opt_obj(&s->in, item, "report");
        const char *grade = report ? json_opt_str(&s->in, report, "grade", TEXT_MAX, "") : "";
        if (s->in.rc)
            break;
        table_cell(t, TERM_PLAIN, "%" PRId64, json_int(&s->in, item, "number", 0, JSON_INT_MAX));
        table_cell(t, TERM_PLAIN, "%s", cli_time(began, when));
        table_cell(t, TERM_PLAIN, "%s", ended >= 0 ? duration_format(ended - began, took) : "");
        table_cell(t, TERM_PLAIN, "%s", outcome);
        table_cell(t, TERM_PLAIN, "%s", grade);
        reports += report != NULL;
    }
    if (table_rows(t))
        table_print(t, &s->cli->out, 0, &s->out);
    if (reports > 1)
        buf_printf(&s->out, "(the report of one of them: aurabench report %s --attempt N)\n",
                   cli_short_id(s->job.id));
    table_free(t);
}

/* "edit by user 1000: priority from 0 to 5" */
static void put_happened(struct show *s, const cJSON *item, struct buf *out)
{
    const char *event = json_view_words(&s->in, item, "event");
    const char *text = json_opt_str(&s->in, item, "text", TEXT_MAX, NULL);
    int64_t uid = json_opt_int(&s->in, item, "peer_uid", 0, JSON_INT_MAX, -1);

    if (s->in.rc)
        return;
    if (uid < 0 || !event) {
        buf_puts(out, text ? text : event ? event : "");
        return;
    }
    buf_printf(out, "%s by user %" PRId64 "%s%s", event, uid, text ? ": " : "", text ? text : "");
}

static void put_history(struct show *s)
{
    static const struct table_column columns[] = {
        {"WHEN", false, false}, {"STATE", false, false}, {"HISTORY", false, true}};
    size_t n = 0;
    const cJSON *history = json_opt_arr(&s->in, s->result, "history", HISTORY_MAX, &n), *item;
    size_t skip = left_out(s, n, "events");
    struct table *t = table_new(columns, ARRAY_LEN(columns));
    char when[32];

    cJSON_ArrayForEach (item, history) {
        if (skip > 0 && skip--)
            continue;
        int64_t at_ms = json_int(&s->in, item, "wall_ms", 0, JSON_INT_MAX);
        const char *to = json_str(&s->in, item, "to", TEXT_MAX);
        CLEANUP(buf_deinit) struct buf happened = {0};
        put_happened(s, item, &happened);
        if (s->in.rc)
            break;
        table_cell(t, TERM_PLAIN, "%s", cli_time(at_ms, when));
        table_cell(t, job_state_style((enum job_state)job_state_parse(to)), "%s", to);
        table_cell(t, TERM_PLAIN, "%s", buf_str(&happened));
    }
    if (table_rows(t))
        table_print(t, &s->cli->out, 0, &s->out);
    table_free(t);
}

/* "exec.exit_status 3: the last line it printed" */
static void put_try(struct show *s, const cJSON *last, struct buf *out)
{
    const char *outcome = json_opt_str(&s->in, last, "outcome", TEXT_MAX, "runs now");
    const char *output = json_opt_str(&s->in, last, "output", 65536, NULL);
    int64_t status = json_opt_int(&s->in, last, "exit_status", 0, JSON_INT_MAX, -1);

    buf_puts(out, outcome);
    if (status > 0)
        buf_printf(out, " %" PRId64, status);
    if (output && output[0])
        buf_printf(out, ": %s", output);
}

static void put_hook(struct show *s, const cJSON *hook)
{
    CLEANUP(buf_deinit) struct buf line = {0};
    struct args command = json_opt_args(&s->in, hook, "command", 256);
    const char *state = json_view_words(&s->in, hook, "state");
    int64_t tries = json_int(&s->in, hook, "tries", 0, JSON_INT_MAX);
    const cJSON *last = json_opt_obj(&s->in, hook, "last");

    if (s->in.rc || !state)
        return;
    buf_printf(&line, "%s %s after %" PRId64 " tr%s", command.n ? command.v[0] : "", state, tries,
               tries == 1 ? "y" : "ies");
    if (last) {
        buf_puts(&line, "; ");
        put_try(s, last, &line);
    }
    put_line(s, "hook", strcmp(state, "delivered") == 0 ? TERM_PLAIN : TERM_YELLOW, buf_str(&line));
}

static void put_all(struct show *s)
{
    size_t n = 0;
    const cJSON *phases = json_opt_arr(&s->in, s->result, "phases", PHASE_COUNT, &n), *phase;
    const cJSON *hooks = json_opt_arr(&s->in, s->result, "hooks", 1000, &n), *hook;

    job_view_decode(&s->in, json_obj(&s->in, s->result, "job"), &s->job);
    if (s->in.rc)
        return;
    put_head(s);
    put_document(s);
    put_schedule(s);
    put_state(s);
    put_outcome(s);
    put_refusal(s);
    cJSON_ArrayForEach (phase, phases)
        put_phase(s, phase);
    cJSON_ArrayForEach (hook, hooks)
        put_hook(s, hook);
    put_attempts(s);
    put_history(s);
}

static int run(struct cli *cli, const void *values, const struct opt_words *words)
{
    CLEANUP(answer_deinit) struct answer answer = {0};
    struct show s = {.cli = cli, .all = ((const struct values *)values)->all};
    struct err e = {0};

    if (whole_job(cli, words->words.v[0], &answer, &e) < 0)
        return cli_fail(cli, &e);
    if (cli->shared.json) {
        cli_json(cli, answer.msg.result);
        return EXIT_GOOD;
    }
    json_in_init(&s.in, &answer.a, &e);
    s.result = answer.msg.result;
    put_all(&s);
    int rc = connection_check(&s.in, &e);
    if (rc == 0)
        cli_put(&s.out);
    buf_deinit(&s.out);
    return rc < 0 ? cli_fail(cli, &e) : EXIT_GOOD;
}

const struct command command_show = {
    .name = "show",
    .usage = "ID",
    .summary = "everything about one job",
    .opts = opts,
    .n_opts = ARRAY_LEN(opts),
    .values_bytes = sizeof(struct values),
    .words_min = 1,
    .words_max = 1,
    .run = run,
};
