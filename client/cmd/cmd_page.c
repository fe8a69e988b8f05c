/* aurabench page: a session, or several jobs, as one Markdown page. */
#include <errno.h>

#include "base/files.h"
#include "base/mem.h"
#include "client/cmd/commands.h"
#include "client/link/chunks.h"
#include "proto/doc/doc_targets.h"

#define PAGE_BYTES_MAX ((size_t)64 << 20)
#define TARGETS_BYTES_MAX ((size_t)256 << 10) /* it travels in one message */

struct values {
    struct args reports;
    const char *output, *targets;
};

static const struct opt opts[] = {
    {'r', "reports", OPT_LIST, "JOB", offsetof(struct values, reports), 0, 0,
     "the reports of these jobs instead of a session's; several may follow"},
    {'t', "targets", OPT_TEXT, "FILE", offsetof(struct values, targets), 0, 0,
     "targets, as gate takes them: the page says which are met"},
    {'o', "output", OPT_TEXT, "FILE", offsetof(struct values, output), 0, 0,
     "write it to this file"},
};

struct page {
    const struct values *v;
    const struct args *words;
    struct buf targets; /* JSON of the document; empty: none */
    struct buf text;
};

static int check_usage(const struct values *v, const struct args *words, struct err *e)
{
    if (v->reports.n == 0 && words->n == 0)
        return err_set(e, -EINVAL, "usage", NULL,
                       "name a session, or the jobs: aurabench page --reports JOB...");
    if (v->reports.n == 0 && words->n > 1)
        return err_set(e, -EINVAL, "usage", words->v[1],
                       "one session makes a page; several jobs are named by --reports JOB...");
    return 0;
}

/* Read and checked here, so that a fault is told by its file's own field. */
static int read_targets(struct cli *cli, struct page *p, struct err *e)
{
    struct targets *targets = NULL;

    if (!p->v->targets)
        return 0;
    int rc = file_read(p->v->targets, TARGETS_BYTES_MAX, &p->targets, e);
    return rc < 0 ? rc : targets_decode(&cli->a, buf_str(&p->targets), p->targets.len, &targets, e);
}

/* Sent in one line, as every message is. */
static int put_in_one_line(struct page *p, struct err *e)
{
    struct buf line = {0};

    if (!p->targets.len)
        return 0;
    int rc = json_canonical(p->targets.data, p->targets.len, &line, e);
    if (rc == 0 && line.len && line.data[line.len - 1] == '\n')
        line.data[--line.len] = '\0';
    buf_deinit(&p->targets);
    p->targets = line;
    return rc;
}

static void put_params(void *ctx, int64_t offset, struct json_out *o)
{
    const struct page *p = ctx;

    if (p->v->reports.n) {
        json_begin_array(o, "jobs");
        for (size_t i = 0; i < p->v->reports.n; i++)
            json_put_str(o, NULL, p->v->reports.v[i]);
        for (size_t i = 0; i < p->words->n; i++)
            json_put_str(o, NULL, p->words->v[i]);
        json_end_array(o);
    } else {
        json_put_str(o, "session", p->words->v[0]);
    }
    json_put_int(o, "offset", offset);
    if (p->targets.len)
        json_put_raw(o, "targets", buf_str(&p->targets));
}

static int fetch(struct cli *cli, struct page *p, struct err *e)
{
    const struct fetch f = {.method = "report.page",
                            .what = "the page",
                            .max_bytes = PAGE_BYTES_MAX,
                            .ctx = p,
                            .put = put_params};
    struct connection *c = NULL;
    int rc = put_in_one_line(p, e);

    if (rc == 0)
        rc = cli_connect(cli, &c, e);
    if (rc == 0)
        rc = fetch_whole(c, &f, &p->text, e);
    connection_close(c);
    return rc;
}

static int deliver(struct cli *cli, const struct page *p, struct err *e)
{
    CLEANUP(buf_deinit) struct buf b = {0};
    struct json_out o;

    if (p->v->output)
        return file_write_atomic(p->v->output, p->text.data, p->text.len, 0644, e);
    if (cli->shared.json) {
        cli_json_begin(cli, &o, &b);
        json_put_str(&o, "page", buf_str(&p->text));
        cli_json_end(&o);
        return 0;
    }
    if (cli->out.tty)
        term_clean(&b, buf_str(&p->text), p->text.len, TERM_KEEP_LINES);
    else
        buf_add(&b, p->text.data, p->text.len);
    cli_put(&b);
    return 0;
}

static int run(struct cli *cli, const void *values, const struct opt_words *words)
{
    struct page p = {.v = values, .words = &words->words};
    struct err e = {0};

    int rc = check_usage(values, &words->words, &e);
    if (rc == 0)
        rc = read_targets(cli, &p, &e);
    if (rc == 0)
        rc = fetch(cli, &p, &e);
    if (rc == 0)
        rc = deliver(cli, &p, &e);
    buf_deinit(&p.targets);
    buf_deinit(&p.text);
    return rc < 0 ? cli_fail(cli, &e) : EXIT_GOOD;
}

const struct command command_page = {
    .name = "page",
    .usage = "SESSION | --reports JOB...",
    .summary = "a session, or several jobs, as one Markdown page",
    .opts = opts,
    .n_opts = ARRAY_LEN(opts),
    .values_bytes = sizeof(struct values),
    .words_max = 1000,
    .run = run,
};
