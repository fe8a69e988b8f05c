/* aurabench history: one figure through many reports. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/mem.h"
#include "client/cmd/commands.h"
#include "client/link/chunks.h"
#include "client/link/report_fetch.h"
#include "proto/form/duration.h"
#include "proto/form/instant.h"

#define HISTORY_BYTES_MAX ((size_t)64 << 20)
#define WIDTH_PLAIN 200 /* where it is no terminal: a table in one piece */

struct values {
    const char *lane, *value, *side, *suite, *against, *since, *until, *format, *output;
    bool changes, contractual;
    int limit;
};

#define AT(member) offsetof(struct values, member)
static const struct opt opts[] = {
    {'l', "lane", OPT_TEXT, "LANE", AT(lane), 0, 0, "only this lane"},
    {0, "value", OPT_TEXT, "NAME", AT(value), 0, 0, "only this figure, where they have names"},
    {'a', "against", OPT_TEXT, "LANE", AT(against), 0, 0, "ratios to this lane, with verdicts"},
    {'c', "changes", OPT_FLAG, NULL, AT(changes), 0, 0, "ratios of one side to the other"},
    {0, "side", OPT_TEXT, "SIDE", AT(side), 0, 0, "only this side"},
    {0, "suite", OPT_TEXT, "NAME", AT(suite), 0, 0, "only reports of suites of this name"},
    {0, "contractual", OPT_FLAG, NULL, AT(contractual), 0, 0, "only rows that are contractual"},
    {0, "since", OPT_TEXT, "TIME", AT(since), 0, 0, "from this day on (2026-12-01), or since 90d"},
    {0, "until", OPT_TEXT, "TIME", AT(until), 0, 0, "before this day, or up to 7d ago"},
    {'n', "limit", OPT_INT, "N", AT(limit), 1, 1000, "at most so many of each lane (20)"},
    {'f', "format", OPT_TEXT, "text|markdown|csv|json|html", AT(format), 0, 0,
     "html is a page with plots, csv one line for each row"},
    {'o', "output", OPT_TEXT, "FILE", AT(output), 0, 0, "write it to this file"},
};

/* What is asked, with its times resolved: the pieces of one answer belong together. */
struct asking {
    const struct values *v;
    const char *workload; /* NULL: which there are */
    const char *format;
    const struct term *term;
    int64_t since_ms, until_ms; /* -1: not given */
};

/* ---- times */

static bool parse_day(const char *text, int64_t *ms)
{
    char whole[INSTANT_TEXT];

    if (strlen(text) != strlen("2026-12-01"))
        return false;
    (void)snprintf(whole, sizeof whole, "%sT00:00:00Z", text);
    return instant_parse(whole, ms);
}

static bool parse_ago(const char *text, int64_t *ms)
{
    int64_t ago_ms, now_ms = clock_wall_ms();

    if (!duration_parse(text, &ago_ms))
        return false;
    *ms = ago_ms < now_ms ? now_ms - ago_ms : 0;
    return true;
}

static int read_time(const char *option, const char *text, int64_t *ms, struct err *e)
{
    if (!text || parse_day(text, ms) || instant_parse(text, ms) || parse_ago(text, ms))
        return 0;
    return err_set(e, -EINVAL, "usage", option,
                   "%s takes a day such as 2026-12-01, a time in UTC such as 2026-12-01T01:00:00Z, "
                   "or how long ago, such as 90d, not %s",
                   option, text[0] ? text : "nothing");
}

/* ---- asking */

static bool is_narrowed(const struct values *v)
{
    return v->lane || v->value || v->side || v->suite || v->against || v->since || v->until ||
           v->changes || v->contractual || v->limit;
}

static int check_usage(const struct cli *cli, const struct asking *q, struct err *e)
{
    static const char *const formats[] = {"text", "markdown", "csv", "json", "html"};
    bool known = false;

    for (size_t i = 0; i < ARRAY_LEN(formats); i++)
        known = known || strcmp(q->format, formats[i]) == 0;
    if (!known)
        return err_set(e, -EINVAL, "usage", "--format",
                       "there is no format %.40s; use text, markdown, csv, json or html",
                       q->format);
    if (!q->workload && is_narrowed(q->v))
        return err_set(e, -EINVAL, "usage", NULL,
                       "name the workload that this is asked of: aurabench history WORKLOAD ...; "
                       "without options aurabench history lists them");
    if (q->v->changes && q->v->against)
        return err_set(e, -EINVAL, "usage", "--changes",
                       "--changes compares sides and --against lanes; leave one out");
    if (cli->shared.json && strcmp(q->format, "json") != 0 && !q->v->output)
        return err_set(e, -EINVAL, "usage", "--format",
                       "--json prints json; write %s to a file with --output", q->format);
    return 0;
}

static void put_text(struct json_out *o, const char *key, const char *v)
{
    if (v)
        json_put_str(o, key, v);
}

static void put_params(void *ctx, int64_t offset, struct json_out *o)
{
    const struct asking *q = ctx;
    const struct values *v = q->v;

    put_text(o, "workload", q->workload);
    put_text(o, "value", v->value);
    put_text(o, "lane", v->lane);
    put_text(o, "against", v->against);
    put_text(o, "side", v->side);
    put_text(o, "suite", v->suite);
    json_put_bool(o, "changes", v->changes);
    json_put_bool(o, "contractual", v->contractual);
    if (q->since_ms >= 0)
        json_put_int(o, "since_ms", q->since_ms);
    if (q->until_ms >= 0)
        json_put_int(o, "until_ms", q->until_ms);
    if (v->limit)
        json_put_int(o, "limit", v->limit);
    json_put_str(o, "format", q->format);
    report_put_style(o, q->term, WIDTH_PLAIN);
    json_put_int(o, "offset", offset);
}

static int fetch(struct cli *cli, struct asking *q, struct buf *text, struct err *e)
{
    const struct fetch f = {.method = "history.get",
                            .what = "the history",
                            .max_bytes = HISTORY_BYTES_MAX,
                            .ctx = q,
                            .put = put_params};
    struct connection *c = NULL;
    int rc = cli_connect(cli, &c, e);

    if (rc == 0)
        rc = fetch_whole(c, &f, text, e);
    connection_close(c);
    return rc;
}

/* ---- delivering */

static int print_json(const struct cli *cli, const struct buf *text, struct err *e)
{
    CLEANUP(buf_deinit) struct buf b = {0};
    cJSON *doc = NULL;
    struct json_out o;
    int rc = json_parse_max(text->data, text->len, HISTORY_BYTES_MAX, &doc, e);

    if (rc < 0)
        return rc;
    cli_json_begin(cli, &o, &b);
    cli_json_members(&o, doc);
    cli_json_end(&o);
    cJSON_Delete(doc);
    return 0;
}

static int deliver(struct cli *cli, const struct asking *q, const struct buf *text, struct err *e)
{
    if (q->v->output)
        return file_write_atomic(q->v->output, text->data, text->len, 0644, e);
    if (cli->shared.json)
        return print_json(cli, text, e);
    report_print(cli, text);
    return 0;
}

static int run(struct cli *cli, const void *values, const struct opt_words *words)
{
    static const struct term plain = {.fd = -1};
    CLEANUP(buf_deinit) struct buf text = {0};
    const struct values *v = values;
    struct asking q = {.v = v,
                       .workload = words->words.n ? words->words.v[0] : NULL,
                       .format = v->format          ? v->format
                                 : cli->shared.json ? "json"
                                                    : "text",
                       .term = v->output ? &plain : &cli->out,
                       .since_ms = -1,
                       .until_ms = -1};
    struct err e = {0};

    int rc = check_usage(cli, &q, &e);
    if (rc == 0)
        rc = read_time("--since", v->since, &q.since_ms, &e);
    if (rc == 0)
        rc = read_time("--until", v->until, &q.until_ms, &e);
    if (rc == 0 && q.since_ms >= 0 && q.until_ms >= 0 && q.since_ms >= q.until_ms)
        rc =
            err_set(&e, -EINVAL, "usage", "--until",
                    "there is no time from --since %s until %s; exchange them", v->since, v->until);
    if (rc == 0)
        rc = fetch(cli, &q, &text, &e);
    if (rc == 0)
        rc = deliver(cli, &q, &text, &e);
    return rc < 0 ? cli_fail(cli, &e) : EXIT_GOOD;
}

const struct command command_history = {
    .name = "history",
    .usage = "[WORKLOAD]",
    .summary = "one figure through many reports; without a workload, which there are",
    .opts = opts,
    .n_opts = ARRAY_LEN(opts),
    .values_bytes = sizeof(struct values),
    .words_max = 1,
    .run = run,
};
