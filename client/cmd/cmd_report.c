/* aurabench report: what a job has brought. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "base/mem.h"
#include "client/cmd/commands.h"
#include "client/link/report_fetch.h"

struct report_values {
    const char *format, *output;
    int attempt;
};

static const struct opt report_opts[] = {
    {'f', "format", OPT_TEXT, "text|markdown|json|raw", offsetof(struct report_values, format), 0,
     0, "text, markdown, json (the summary) or raw (every observation); text"},
    {'o', "output", OPT_TEXT, "FILE", offsetof(struct report_values, output), 0, 0,
     "write it to this file"},
    {0, "attempt", OPT_INT, "N", offsetof(struct report_values, attempt), 1, 1000000,
     "of this attempt, as show numbers them (the latest that has one)"},
};

/* The summary or the raw report, which stands in the document as it is: on one line, and JSON. */
static int check_report(const struct report *r, struct buf *line, struct err *e)
{
    struct err why = {0};

    if (json_canonical(buf_str(&r->data), r->data.len, line, &why) < 0)
        return err_set(e, -EPROTO, "daemon.version", "report",
                       "the report that the daemon sent is no JSON (%s); install the same version "
                       "on both sides",
                       why.text);
    line->data[--line->len] = '\0'; /* its newline */
    return 0;
}

static int print_as_json(const struct cli *cli, const struct report *r, struct err *e)
{
    CLEANUP(buf_deinit) struct buf b = {0}, line = {0};
    struct json_out o;
    int rc = report_format_is_json(r->format) ? check_report(r, &line, e) : 0;

    if (rc < 0)
        return rc;
    cli_json_begin(cli, &o, &b);
    json_put_str(&o, "attempt", r->attempt);
    json_put_str(&o, "grade", r->grade);
    json_put_str(&o, "format", report_format_name(r->format));
    if (report_format_is_json(r->format))
        json_put_raw(&o, "report", buf_str(&line));
    else
        json_put_str(&o, "report", buf_str(&r->data));
    cli_json_end(&o);
    return 0;
}

static int deliver(struct cli *cli, const char *output, struct report *r, struct err *e)
{
    if (output)
        return file_write_atomic(output, r->data.data, r->data.len, 0644, e);
    if (cli->shared.json)
        return print_as_json(cli, r, e);
    report_print(cli, &r->data);
    return 0;
}

static int run_report(struct cli *cli, const void *values, const struct opt_words *words)
{
    const struct report_values *v = values;
    CLEANUP(report_deinit) struct report r = {0};
    struct connection *c = NULL;
    struct term plain = {.fd = -1};
    struct err e = {0};
    const char *format = v->format ? v->format : cli->shared.json ? "json" : "text";

    r.number = v->attempt;
    int rc = report_format_parse(format, &r.format, &e);
    if (rc == 0)
        rc = cli_connect(cli, &c, &e);
    if (rc == 0)
        rc = report_fetch(c, words->words.v[0], v->output ? &plain : &cli->out, &r, &e);
    connection_close(c);
    if (rc == 0)
        rc = deliver(cli, v->output, &r, &e);
    return rc < 0 ? cli_fail(cli, &e) : EXIT_GOOD;
}

const struct command command_report = {
    .name = "report",
    .usage = "ID",
    .summary = "the report of a job",
    .opts = report_opts,
    .n_opts = ARRAY_LEN(report_opts),
    .values_bytes = sizeof(struct report_values),
    .words_min = 1,
    .words_max = 1,
    .run = run_report,
};
