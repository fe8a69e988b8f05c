/* aurabench gate: results held against targets. */
#include <errno.h>
#include <math.h>

#include "base/files.h"
#include "base/mem.h"
#include "client/cmd/commands.h"
#include "client/link/raw_reports.h"
#include "client/view/table.h"
#include "proto/doc/doc_targets.h"

#define TARGETS_BYTES_MAX ((size_t)4 << 20)

struct values {
    struct args jobs, raws;
    const char *session, *targets;
};

static const struct opt opts[] = {
    {'t', "targets", OPT_TEXT, "FILE", offsetof(struct values, targets), 0, 0,
     "the targets, instead of as the first word"},
    {'j', "job", OPT_LIST, "ID", offsetof(struct values, jobs), 0, 0,
     "the report of this job; several may follow"},
    {'s', "session", OPT_TEXT, "ID", offsetof(struct values, session), 0, 0,
     "the reports of this session's jobs; a job without one is an error"},
    {'r', "raw", OPT_LIST, "DIR|FILE", offsetof(struct values, raws), 0, 0,
     "an evidence folder or a raw.json here, without a daemon; several may follow"},
};

/* ---- which reports */

/* The words behind the targets, of which one is the file unless an option names it. */
static size_t first_word(const struct values *v)
{
    return v->targets ? 0 : 1;
}

static struct args joined(struct cli *cli, const struct args *list, const struct args *words,
                          size_t first)
{
    struct args out = {arena_array(&cli->a, list->n + words->n, sizeof *out.v), 0};

    for (size_t i = 0; i < list->n; i++)
        out.v[out.n++] = list->v[i];
    for (size_t i = first; i < words->n; i++)
        out.v[out.n++] = words->v[i];
    return out;
}

static int check_usage(const struct values *v, const struct args *words, struct err *e)
{
    int kinds = (v->jobs.n > 0) + (v->raws.n > 0) + (v->session != NULL);

    if (!v->targets && words->n == 0)
        return err_set(e, -EINVAL, "usage", NULL,
                       "no targets are named; give their file, or --targets FILE");
    if (kinds != 1)
        return err_set(e, -EINVAL, "usage", NULL,
                       "name what is judged in one way: --job ID, --session ID, or --raw DIR");
    if (v->session && words->n > first_word(v))
        return err_set(e, -EINVAL, "usage", words->v[first_word(v)],
                       "%s is too much here; see --help", words->v[first_word(v)]);
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
        struct args paths = joined(cli, &v->raws, words, first_word(v));
        return raw_reports_read(cli, &paths, reports, e);
    }
    struct args jobs = joined(cli, &v->jobs, words, first_word(v));
    return fetch(cli, v, &jobs, reports, e);
}

/* ---- what is printed */

static enum term_style style_of(enum gate_status s)
{
    return s == GATE_MET ? TERM_GREEN : s == GATE_MISSED ? TERM_RED : TERM_YELLOW;
}

static void put_to_go(struct table *t, double to_go)
{
    if (isnan(to_go))
        table_cell(t, TERM_PLAIN, "unknown");
    else if (to_go > 1)
        table_cell(t, TERM_PLAIN, "%.3f x", to_go);
    else
        table_cell(t, TERM_PLAIN, "none");
}

/* Told, not judged. */
static void print_gaps(const struct cli *cli, const struct gate_result *gate, struct buf *out)
{
    static const struct table_column columns[] = {
        {"recorded gap", false, true}, {"on", false, true},    {"recorded", true, false},
        {"now", true, false},          {"host", false, false}, {"report", false, true},
    };
    if (!gate->n_gaps)
        return;
    struct table *t = table_new(columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < gate->n_gaps; i++) {
        const struct gap_row *row = &gate->gaps[i];
        const struct recorded_gap *gap = row->gap;
        table_cell(t, TERM_PLAIN, "%s: %s / %s", gap->workload, gap->lane, gap->reference);
        table_cell(t, TERM_PLAIN, "%s", gap->on ? gap->on : "");
        table_cell(t, TERM_PLAIN, "%.6f", gap->ratio);
        if (isnan(row->now))
            table_cell(t, TERM_PLAIN, "not measured");
        else
            table_cell(t, TERM_PLAIN, "%.6f", row->now);
        table_cell(t, TERM_PLAIN, "%s", row->host ? row->host : "");
        table_cell(t, TERM_PLAIN, "%s", row->report ? row->report : "");
    }
    table_print(t, &cli->out, 0, out);
    table_free(t);
}

static void print_text(const struct cli *cli, const struct targets *targets,
                       const struct gate_result *gate)
{
    static const struct table_column columns[] = {
        {"result", false, false}, {"target", false, true},    {"limit", false, false},
        {"figure", true, false},  {"interval", false, false}, {"to go", true, false},
        {"host", false, false},   {"report", false, true},    {"why", false, true},
    };
    CLEANUP(buf_deinit) struct buf out = {0};
    struct table *t = table_new(columns, ARRAY_LEN(columns));

    for (size_t i = 0; i < gate->n_rows; i++) {
        const struct gate_row *row = &gate->rows[i];
        table_cell(t, style_of(row->status), "%s", gate_status_name(row->status));
        table_cell(t, TERM_PLAIN, "%s", row->what);
        table_cell(t, TERM_PLAIN, "%s", row->limit);
        table_cell(t, TERM_PLAIN, "%s", row->found ? row->found : "undefined");
        table_cell(t, TERM_PLAIN, "%s", row->range ? row->range : "none");
        put_to_go(t, row->to_go);
        table_cell(t, TERM_PLAIN, "%s", row->host ? row->host : "");
        table_cell(t, TERM_PLAIN, "%s", row->report ? row->report : "");
        table_cell(t, TERM_PLAIN, "%s", row->why ? row->why : "");
    }
    table_print(t, &cli->out, 0, &out);
    table_free(t);
    print_gaps(cli, gate, &out);
    buf_printf(&out, "%s%s%s: %zu met, %zu missed, %zu undefined, %zu diagnostic, %zu unclear\n",
               gate->passed ? "passed" : "not passed", targets->name ? ", " : "",
               targets->name ? targets->name : "", gate->count[GATE_MET], gate->count[GATE_MISSED],
               gate->count[GATE_UNDEFINED], gate->count[GATE_DIAGNOSTIC],
               gate->count[GATE_UNCLEAR]);
    if (gate->count[GATE_UNDEFINED])
        buf_puts(&out, "an undefined target is a miss: what is not known does not pass\n");
    if (gate->count[GATE_DIAGNOSTIC])
        buf_puts(&out, "a diagnostic figure meets a target only where that says "
                       "\"diagnostic\": true\n");
    if (gate->count[GATE_UNCLEAR])
        buf_puts(&out, "an unclear target is not met: what cannot be told does not pass\n");
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

    const struct values *v = values;
    int rc = check_usage(v, &words->words, &e);
    if (rc == 0)
        rc = file_read(v->targets ? v->targets : words->words.v[0], TARGETS_BYTES_MAX, &text, &e);
    if (rc == 0)
        rc = targets_decode(&cli->a, buf_str(&text), text.len, &targets, &e);
    if (rc == 0)
        rc = gather(cli, v, &words->words, reports, &e);
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
    .usage = "[TARGETS.json] --job ID... | --session ID | --raw DIR...",
    .summary = "hold results against targets",
    .more = "Ends with 0 when every target is met on every host that it is for, else with 1.",
    .opts = opts,
    .n_opts = ARRAY_LEN(opts),
    .values_bytes = sizeof(struct values),
    .words_min = 0,
    .words_max = 1000,
    .run = run,
};
