/* aurabench gate: results held against targets. */
#include <errno.h>

#include "base/files.h"
#include "base/mem.h"
#include "client/commands.h"
#include "client/raw_reports.h"
#include "client/table.h"
#include "proto/doc_targets.h"

#define TARGETS_BYTES_MAX ((size_t)4 << 20)

struct values {
    struct args jobs, raws;
    const char *session;
};

static const struct opt opts[] = {
    {'j', "job", OPT_LIST, "ID", offsetof(struct values, jobs), 0, 0,
     "the report of this job; several may follow"},
    {'s', "session", OPT_TEXT, "ID", offsetof(struct values, session), 0, 0,
     "the reports of this session's jobs; a job without one is an error"},
    {'r', "raw", OPT_LIST, "DIR|FILE", offsetof(struct values, raws), 0, 0,
     "an evidence folder or a raw.json here, without a daemon; several may follow"},
};

/* ---- which reports */

static struct args joined(struct cli *cli, const struct args *list, const struct args *words)
{
    struct args out = {arena_array(&cli->a, list->n + words->n, sizeof *out.v), 0};

    for (size_t i = 0; i < list->n; i++)
        out.v[out.n++] = list->v[i];
    for (size_t i = 1; i < words->n; i++)
        out.v[out.n++] = words->v[i];
    return out;
}

static int check_usage(const struct values *v, const struct args *words, struct err *e)
{
    int kinds = (v->jobs.n > 0) + (v->raws.n > 0) + (v->session != NULL);

    if (kinds != 1)
        return err_set(e, -EINVAL, "usage", NULL,
                       "name what is judged in one way: --job ID, --session ID, or --raw DIR");
    if (v->session && words->n > 1)
        return err_set(e, -EINVAL, "usage", words->v[1], "%s is too much here; see --help",
                       words->v[1]);
    return 0;
}

/* Asks the daemon for the reports of the jobs, or of the session's. */
static int fetch(struct cli *cli, const struct values *v, const struct args *jobs,
                 struct raw_reports *reports, struct err *e)
{
    struct connection *c = NULL;
    struct args of_session = {0};
    int rc = cli_connect(cli, &c, e);

    if (rc == 0 && v->session)
        rc = raw_reports_jobs_of(cli, c, v->session, &of_session, e);
    if (rc == 0)
        rc = raw_reports_fetch(cli, c, v->session ? &of_session : jobs, reports, e);
    connection_close(c);
    return rc;
}

static int gather(struct cli *cli, const struct values *v, const struct args *words,
                  struct raw_reports *reports, struct err *e)
{
    if (v->raws.n > 0) {
        struct args paths = joined(cli, &v->raws, words);
        return raw_reports_read(cli, &paths, reports, e);
    }
    struct args jobs = joined(cli, &v->jobs, words);
    return fetch(cli, v, &jobs, reports, e);
}

/* ---- what is printed */

static enum term_style style_of(enum gate_status s)
{
    return s == GATE_MET ? TERM_GREEN : s == GATE_MISSED ? TERM_RED : TERM_YELLOW;
}

static void print_text(const struct cli *cli, const struct targets *targets,
                       const struct gate_result *gate)
{
    static const struct table_column columns[] = {
        {"result", false, false}, {"target", false, true}, {"limit", false, false},
        {"figure", true, false},  {"host", false, false},  {"report", false, true},
        {"why", false, true},
    };
    CLEANUP(buf_deinit) struct buf out = {0};
    struct table *t = table_new(columns, ARRAY_LEN(columns));

    for (size_t i = 0; i < gate->n_rows; i++) {
        const struct gate_row *row = &gate->rows[i];
        table_cell(t, style_of(row->status), "%s", gate_status_name(row->status));
        table_cell(t, TERM_PLAIN, "%s", row->what);
        table_cell(t, TERM_PLAIN, "%s", row->limit);
        table_cell(t, TERM_PLAIN, "%s", row->found ? row->found : "undefined");
        table_cell(t, TERM_PLAIN, "%s", row->host ? row->host : "");
        table_cell(t, TERM_PLAIN, "%s", row->report ? row->report : "");
        table_cell(t, TERM_PLAIN, "%s", row->why ? row->why : "");
    }
    table_print(t, &cli->out, 0, &out);
    table_free(t);
    buf_printf(&out, "%s%s%s: %zu met, %zu missed, %zu undefined, %zu diagnostic\n",
               gate->passed ? "passed" : "not passed", targets->name ? ", " : "",
               targets->name ? targets->name : "", gate->count[GATE_MET], gate->count[GATE_MISSED],
               gate->count[GATE_UNDEFINED], gate->count[GATE_DIAGNOSTIC]);
    if (gate->count[GATE_UNDEFINED])
        buf_puts(&out, "an undefined target is a miss: what is not known does not pass\n");
    if (gate->count[GATE_DIAGNOSTIC])
        buf_puts(&out, "a diagnostic figure meets a target only where that says "
                       "\"diagnostic\": true\n");
    cli_put(&out);
}

static void print_json(const struct cli *cli, const struct targets *targets,
                       const struct gate_result *gate)
{
    CLEANUP(buf_deinit) struct buf b = {0};
    struct json_out o;

    cli_json_begin(cli, &o, &b);
    json_put_str(&o, "name", targets->name);
    gate_encode(&o, gate);
    cli_json_end(&o);
}

/* ---- the run */

static int run(struct cli *cli, const void *values, const struct opt_words *words)
{
    CLEANUP(buf_deinit) struct buf text = {0};
    struct raw_reports *reports = arena_alloc(&cli->a, sizeof *reports);
    struct targets *targets = NULL;
    struct gate_result gate = {0};
    struct err e = {0};

    int rc = check_usage(values, &words->words, &e);
    if (rc == 0)
        rc = file_read(words->words.v[0], TARGETS_BYTES_MAX, &text, &e);
    if (rc == 0)
        rc = targets_decode(&cli->a, buf_str(&text), text.len, &targets, &e);
    if (rc == 0)
        rc = gather(cli, values, &words->words, reports, &e);
    if (rc < 0)
        return cli_fail(cli, &e);
    gate_judge(&cli->a, targets, reports->v, reports->n, &gate);
    if (cli->shared.json)
        print_json(cli, targets, &gate);
    else
        print_text(cli, targets, &gate);
    return gate.passed ? EXIT_GOOD : EXIT_JOB;
}

const struct command command_gate = {
    .name = "gate",
    .usage = "TARGETS.json --job ID... | --session ID | --raw DIR...",
    .summary = "hold results against targets",
    .more = "Ends with 0 when every target is met on every host that it is for, else with 1.",
    .opts = opts,
    .n_opts = ARRAY_LEN(opts),
    .values_bytes = sizeof(struct values),
    .words_min = 1,
    .words_max = 1000,
    .run = run,
};
