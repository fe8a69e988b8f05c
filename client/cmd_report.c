/* aurabench report and log: what a job has brought, and what its builds and lanes printed. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/mem.h"
#include "client/chunks.h"
#include "client/commands.h"
#include "client/report_fetch.h"

/* ---- report */

struct report_values {
    const char *format, *output;
};

static const struct opt report_opts[] = {
    {'f', "format", OPT_TEXT, "FORMAT", offsetof(struct report_values, format), 0, 0,
     "text, markdown, json (the summary) or raw (every observation); text"},
    {'o', "output", OPT_TEXT, "FILE", offsetof(struct report_values, output), 0, 0,
     "write it to this file"},
};

/* With --json the summary or the raw report stands in the document as it is, text as a string. */
static void print_as_json(const struct cli *cli, struct report *r)
{
    CLEANUP(buf_deinit) struct buf b = {0};
    struct json_out o;

    cli_json_begin(cli, &o, &b);
    json_put_str(&o, "attempt", r->attempt);
    json_put_str(&o, "grade", r->grade);
    json_put_str(&o, "format", report_format_name(r->format));
    if (r->data.len && r->data.data[r->data.len - 1] == '\n')
        r->data.data[--r->data.len] = '\0'; /* a document is one line */
    if (report_format_is_json(r->format))
        json_put_raw(&o, "report", buf_str(&r->data));
    else
        json_put_str(&o, "report", buf_str(&r->data));
    cli_json_end(&o);
}

static int deliver(struct cli *cli, const char *output, struct report *r, struct err *e)
{
    if (output)
        return file_write_atomic(output, r->data.data, r->data.len, 0644, e);
    if (cli->shared.json)
        print_as_json(cli, r);
    else
        report_print(cli, r);
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

/* ---- log */

#define FOLLOW_EVERY_NS 1000000000LL

struct log_values {
    bool follow;
};

static const struct opt log_opts[] = {
    {'f', "follow", OPT_FLAG, NULL, offsetof(struct log_values, follow), 0, 0,
     "go on until the job ends"},
};

static void print_log(struct cli *cli, const struct buf *data)
{
    CLEANUP(buf_deinit) struct buf b = {0};

    if (!data->len)
        return;
    if (!cli->out.tty) {
        cli_write(data->data, data->len);
        return;
    }
    term_clean(&b, data->data, data->len, TERM_KEEP_LINES);
    cli_put(&b);
}

static int read_piece(struct connection *c, const char *id, int64_t offset, struct chunk *chunk,
                      bool *ended, struct err *e)
{
    CLEANUP(answer_deinit) struct answer answer = {0};
    CLEANUP(buf_deinit) struct buf params = {0};
    struct json_out o;
    struct json_in in;

    json_out_init(&o, &params);
    json_begin(&o, NULL);
    json_put_str(&o, "id", id);
    json_put_int(&o, "offset", offset);
    json_end(&o);
    int rc = connection_call(c, "job.log", buf_str(&params), &answer, e);
    if (rc == 0)
        rc = chunk_decode(&answer, offset, chunk, e);
    if (rc < 0)
        return rc;
    json_in_init(&in, &answer.a, e);
    *ended = json_bool(&in, answer.msg.result, "ended");
    return connection_check(&in, e);
}

/* Asked for once a second: each question is work for a host that may be measuring, and the daemon
 * answers it between two observations. */
static int read_log(struct cli *cli, struct connection *c, const char *id, bool follow,
                    struct buf *all, struct err *e)
{
    bool ended = false;

    for (int64_t offset = 0, total = 1; offset < total || (follow && !ended);) {
        CLEANUP(chunk_deinit) struct chunk chunk = {0};
        int rc = read_piece(c, id, offset, &chunk, &ended, e);
        if (rc < 0)
            return rc;
        if (all)
            buf_add(all, chunk.data.data, chunk.data.len);
        else
            print_log(cli, &chunk.data);
        offset = chunk.next;
        total = chunk.total;
        if (offset >= total && follow && !ended)
            clock_sleep_ns(FOLLOW_EVERY_NS);
    }
    return 0;
}

static int run_log(struct cli *cli, const void *values, const struct opt_words *words)
{
    const struct log_values *v = values;
    CLEANUP(buf_deinit) struct buf all = {0}, out = {0};
    struct connection *c = NULL;
    struct err e = {0};
    struct json_out o;

    int rc = cli_connect(cli, &c, &e);
    if (rc == 0)
        rc = read_log(cli, c, words->words.v[0], v->follow, cli->shared.json ? &all : NULL, &e);
    connection_close(c);
    if (rc < 0)
        return cli_fail(cli, &e);
    if (cli->shared.json) {
        cli_json_begin(cli, &o, &out);
        json_put_str(&o, "text", buf_str(&all));
        cli_json_end(&o);
    }
    return EXIT_GOOD;
}

const struct command command_log = {
    .name = "log",
    .usage = "ID",
    .summary = "what the builds of a job printed, and its lanes at last",
    .opts = log_opts,
    .n_opts = ARRAY_LEN(log_opts),
    .values_bytes = sizeof(struct log_values),
    .words_min = 1,
    .words_max = 1,
    .run = run_log,
};
