/* aurabench session: open, show, list, close, report. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "base/mem.h"
#include "client/cmd/commands.h"
#include "client/job/session_open.h"
#include "client/link/chunks.h"
#include "client/view/job_view.h"
#include "client/view/list_view.h"
#include "client/view/session_view.h"

#define PAGE_BYTES_MAX ((size_t)64 << 20)

struct values {
    const char *policy, *output;
};

static const struct opt opts[] = {
    {'p', "policy", OPT_TEXT, "NAME|FILE", offsetof(struct values, policy), 0, 0,
     "open: instead of the policies that the jobs name"},
    {'o', "output", OPT_TEXT, "FILE", offsetof(struct values, output), 0, 0,
     "report: write it to this file"},
};

/* ---- open */

static void say_as_json(struct cli *cli, const struct session_opening *o)
{
    CLEANUP(buf_deinit) struct buf out = {0};
    struct json_out j;

    cli_json_begin(cli, &j, &out);
    json_put_str(&j, "id", o->id);
    json_put_bool(&j, "duplicate", o->duplicate);
    json_begin_array(&j, "jobs");
    for (size_t i = 0; i < o->file->n_jobs; i++)
        json_put_str(&j, NULL, o->job_ids[i]);
    json_end_array(&j);
    cli_json_end(&j);
}

static int say_opened(struct cli *cli, const struct session_opening *o)
{
    CLEANUP(buf_deinit) struct buf out = {0};
    const char *label = o->file->session.label;

    if (cli->shared.json) {
        say_as_json(cli, o);
        return EXIT_GOOD;
    }
    buf_printf(&out, "session %s opened with %zu job%s (%s)\n  next: aurabench session show %s\n",
               label, o->file->n_jobs, o->file->n_jobs == 1 ? "" : "s", o->id, label);
    cli_put(&out);
    return EXIT_GOOD;
}

static int open_session(struct cli *cli, const struct values *v, const char *path)
{
    struct session_opening o = {0};
    struct err e = {0};
    int rc = session_opening_load(cli, path, v->policy, &o, &e);

    if (rc == 0)
        rc = session_opening_send(cli, &o, &e);
    session_opening_deinit(&o);
    return rc < 0 ? cli_fail(cli, &e) : say_opened(cli, &o);
}

/* ---- show, list, close */

static int show(struct cli *cli, const struct values *v, const char *id)
{
    CLEANUP(answer_deinit) struct answer answer = {0};
    CLEANUP(buf_deinit) struct buf out = {0};
    struct json_in in;
    struct err e = {0};

    (void)v;
    if (whole_list(cli, &whole_session, id, &answer, &e) < 0)
        return cli_fail(cli, &e);
    if (cli->shared.json) {
        cli_json(cli, answer.msg.result);
        return EXIT_GOOD;
    }
    json_in_init(&in, &answer.a, &e);
    session_view_text(cli, &in, answer.msg.result, &out);
    if (connection_check(&in, &e) < 0)
        return cli_fail(cli, &e);
    cli_put(&out);
    return EXIT_GOOD;
}

static void put_listed(struct json_in *in, const cJSON *item, struct table *t)
{
    char when[32];
    int64_t opened_ms = json_int(in, item, "opened_ms", 0, JSON_INT_MAX);
    int64_t jobs = json_int(in, item, "jobs", 0, JSON_INT_MAX);
    int64_t over = json_int(in, item, "over", 0, JSON_INT_MAX);
    const char *label = json_str(in, item, "label", 4096), *id = json_str(in, item, "id", 64);
    const char *state = json_str(in, item, "state", 32);

    if (in->rc)
        return;
    table_cell(t, TERM_PLAIN, "%s", cli_short_id(id));
    table_cell(t, TERM_BOLD, "%s", label);
    table_cell(t, TERM_PLAIN, "%s", state);
    table_cell(t, TERM_PLAIN, "%s", cli_time(opened_ms, when));
    table_cell(t, TERM_PLAIN, "%" PRId64 " of %" PRId64, over, jobs);
}

static int list(struct cli *cli, const struct values *v, const char *word)
{
    static const struct table_column columns[] = {{"ID", false, false},
                                                  {"LABEL", false, true},
                                                  {"STATE", false, false},
                                                  {"OPENED", false, false},
                                                  {"JOBS OVER", false, false}};
    static const struct list_view view = {
        .whole = &whole_sessions,
        .columns = columns,
        .n_columns = ARRAY_LEN(columns),
        .put = put_listed,
        .empty = "no sessions yet; open one with aurabench session open FILE",
    };

    (void)v;
    (void)word;
    return list_view(cli, &view);
}

static int close_session(struct cli *cli, const struct values *v, const char *id)
{
    CLEANUP(answer_deinit) struct answer answer = {0};
    CLEANUP(buf_deinit) struct buf params = {0}, out = {0};
    struct json_in in;
    struct err e = {0};

    (void)v;
    cli_id_params(&params, id);
    if (cli_ask(cli, "session.close", buf_str(&params), &answer, &e) < 0)
        return cli_fail(cli, &e);
    if (cli->shared.json) {
        cli_json(cli, answer.msg.result);
        return EXIT_GOOD;
    }
    json_in_init(&in, &answer.a, &e);
    int64_t cancelled = json_int(&in, answer.msg.result, "cancelled", 0, JSON_INT_MAX);
    const char *evidence = json_view_line(&in, answer.msg.result, "evidence", 4096);
    if (connection_check(&in, &e) < 0)
        return cli_fail(cli, &e);
    buf_printf(&out, "session %s closed, %" PRId64 " job%s cancelled\nevidence: %s\n", id,
               cancelled, cancelled == 1 ? "" : "s", evidence);
    cli_put(&out);
    return EXIT_GOOD;
}

/* ---- report */

static void put_report_params(void *ctx, int64_t offset, struct json_out *o)
{
    json_put_str(o, "id", ctx);
    json_put_int(o, "offset", offset);
}

static int deliver(struct cli *cli, const struct values *v, const struct buf *page, struct err *e)
{
    CLEANUP(buf_deinit) struct buf b = {0};
    struct json_out o;

    if (v->output)
        return file_write_atomic(v->output, page->data, page->len, 0644, e);
    if (cli->shared.json) {
        cli_json_begin(cli, &o, &b);
        json_put_str(&o, "page", buf_str(page));
        cli_json_end(&o);
        return 0;
    }
    term_clean(&b, buf_str(page), page->len, TERM_KEEP_LINES);
    if (cli->out.tty)
        cli_put(&b);
    else
        cli_write(page->data, page->len);
    return 0;
}

static int report(struct cli *cli, const struct values *v, const char *id)
{
    CLEANUP(buf_deinit) struct buf page = {0};
    char *named = arena_strdup(&cli->a, id);
    const struct fetch f = {.method = "session.report",
                            .what = "the page",
                            .max_bytes = PAGE_BYTES_MAX,
                            .ctx = named,
                            .put = put_report_params};
    struct connection *c = NULL;
    struct err e = {0};
    int rc = cli_connect(cli, &c, &e);

    if (rc == 0)
        rc = fetch_whole(c, &f, &page, &e);
    connection_close(c);
    if (rc == 0)
        rc = deliver(cli, v, &page, &e);
    return rc < 0 ? cli_fail(cli, &e) : EXIT_GOOD;
}

/* ---- which */

static const struct {
    const char *name;
    bool takes_word;
    int (*run)(struct cli *cli, const struct values *v, const char *word);
} subs[] = {
    {"open", true, open_session},   {"show", true, show},     {"list", false, list},
    {"close", true, close_session}, {"report", true, report},
};

static int run(struct cli *cli, const void *values, const struct opt_words *words)
{
    const struct args *w = &words->words;
    struct err e = {0};

    for (size_t i = 0; i < ARRAY_LEN(subs); i++) {
        if (strcmp(subs[i].name, w->v[0]) != 0)
            continue;
        if ((w->n == 2) == subs[i].takes_word)
            return subs[i].run(cli, values, w->n == 2 ? w->v[1] : NULL);
        (void)err_set(&e, -EINVAL, "usage", w->v[0], "session %s takes %s; see --help", w->v[0],
                      subs[i].takes_word ? "one word more" : "nothing more");
        return cli_fail(cli, &e);
    }
    (void)err_set(&e, -EINVAL, "usage", w->v[0],
                  "session does not know %.40s; it knows open, show, list, close and report",
                  w->v[0]);
    return cli_fail(cli, &e);
}

const struct command command_session = {
    .name = "session",
    .usage = "open FILE | show ID | list | close ID | report ID",
    .summary = "several jobs under one label, with a window and a rule about boots",
    .more = "ID is the session's label or (part of) its id. Paths in the file are relative to its "
            "folder.",
    .opts = opts,
    .n_opts = ARRAY_LEN(opts),
    .values_bytes = sizeof(struct values),
    .words_min = 1,
    .words_max = 2,
    .run = run,
};
