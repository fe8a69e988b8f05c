/* aurabench session: open, show, list, close, report. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "base/ids.h"
#include "base/mem.h"
#include "client/chunks.h"
#include "client/commands.h"
#include "client/job_load.h"
#include "client/session_view.h"
#include "client/table.h"
#include "proto/doc_session.h"
#include "proto/documents.h"

#define SESSION_BYTES_MAX (1 << 20)
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

struct opening {
    struct cli *cli;
    const struct values *v;
    const char *path;
    struct session_file *file;
    struct submission *jobs;
    char id[ULID_LEN + 1];
    char (*job_ids)[ULID_LEN + 1];
};

/* Errors of a job name its own fields; which job it is stands in front. */
static int of_job(size_t i, int rc, const struct err *why, struct err *e)
{
    char field[sizeof e->field];

    (void)snprintf(field, sizeof field, "jobs[%zu]%s%.100s", i, why->field[0] ? "." : "",
                   why->field);
    return err_set(e, rc, why->code, field, "job %zu of the session: %s", i + 1, why->text);
}

static int load_job(struct opening *o, size_t i, struct err *e)
{
    const struct session_file_job *job = &o->file->jobs[i];
    struct submission *s = &o->jobs[i];
    struct err why = {0};
    int rc = job->file ? job_load(o->cli, job->file, o->path, o->v->policy, s, &why)
                       : job_load_path(o->cli, job_load_beside(o->cli, o->path, job->path),
                                       o->v->policy, s, &why);

    if (rc < 0)
        return of_job(i, rc, &why, e);
    ulid_new(o->job_ids[i]);
    s->job->id = o->job_ids[i];
    s->job->policy = s->policy.name;
    return 0;
}

static int load(struct opening *o, struct err *e)
{
    CLEANUP(buf_deinit) struct buf text = {0};
    struct err why = {0};
    int rc = file_read(o->path, SESSION_BYTES_MAX, &text, e);

    if (rc == 0)
        rc = session_file_decode(&o->cli->a, buf_str(&text), text.len, &o->file, &why);
    if (rc == 0)
        rc = job_load_check_zone(o->file->session.window, &why);
    if (err_is_set(&why))
        return cli_fail_in_file(o->path, rc, &why, e);
    if (rc < 0)
        return rc;
    o->jobs = arena_array(&o->cli->a, o->file->n_jobs, sizeof *o->jobs);
    o->job_ids = arena_array(&o->cli->a, o->file->n_jobs, sizeof *o->job_ids);
    for (size_t i = 0; rc == 0 && i < o->file->n_jobs; i++)
        rc = load_job(o, i, e);
    return rc;
}

static void put_open(const struct opening *o, struct buf *out)
{
    struct json_out j;

    json_out_init(&j, out);
    json_begin(&j, NULL);
    session_encode(&j, "session", &o->file->session);
    json_begin_array(&j, "jobs");
    for (size_t i = 0; i < o->file->n_jobs; i++) {
        json_begin(&j, NULL);
        job_encode(&j, "job", o->jobs[i].job);
        if (o->jobs[i].policy.canonical)
            json_put_raw(&j, "policy", o->jobs[i].policy.canonical);
        json_end(&j);
    }
    json_end_array(&j);
    json_end(&j);
}

static int send(struct opening *o, struct answer *answer, struct err *e)
{
    CLEANUP(buf_deinit) struct buf params = {0};
    struct connection *c = NULL;
    int rc = cli_connect(o->cli, &c, e);

    for (size_t i = 0; rc == 0 && i < o->file->n_jobs; i++)
        rc = submission_send_parts(o->cli, &o->jobs[i], c, e);
    put_open(o, &params);
    if (rc == 0)
        rc = connection_call(c, "session.open", buf_str(&params), answer, e);
    connection_close(c);
    return rc;
}

static int say_opened(const struct opening *o, const struct answer *answer)
{
    CLEANUP(buf_deinit) struct buf out = {0};

    if (o->cli->shared.json) {
        cli_json(o->cli, answer->msg.result);
        return EXIT_GOOD;
    }
    buf_printf(&out, "session %s opened with %zu job%s (%s)\n  next: aurabench session show %s\n",
               o->file->session.label, o->file->n_jobs, o->file->n_jobs == 1 ? "" : "s", o->id,
               o->file->session.label);
    cli_put(&out);
    return EXIT_GOOD;
}

static int open_session(struct cli *cli, const struct values *v, const char *path)
{
    CLEANUP(answer_deinit) struct answer answer = {0};
    struct opening o = {.cli = cli, .v = v, .path = path};
    struct err e = {0};
    int rc = load(&o, &e);

    if (rc == 0) {
        ulid_new(o.id);
        o.file->session.id = o.id;
        rc = send(&o, &answer, &e);
    }
    for (size_t i = 0; o.jobs && i < o.file->n_jobs; i++)
        submission_deinit(&o.jobs[i]);
    return rc < 0 ? cli_fail(cli, &e) : say_opened(&o, &answer);
}

/* ---- show, list, close */

static int show(struct cli *cli, const struct values *v, const char *id)
{
    CLEANUP(answer_deinit) struct answer answer = {0};
    CLEANUP(buf_deinit) struct buf params = {0}, out = {0};
    struct json_in in;
    struct err e = {0};

    (void)v;
    cli_id_params(&params, id);
    if (cli_ask(cli, "session.show", buf_str(&params), &answer, &e) < 0)
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

static void list_text(struct cli *cli, struct json_in *in, const cJSON *result)
{
    static const struct table_column columns[] = {{"ID", false, false},
                                                  {"LABEL", false, true},
                                                  {"STATE", false, false},
                                                  {"OPENED", false, false},
                                                  {"JOBS OVER", false, false}};
    CLEANUP(buf_deinit) struct buf out = {0};
    struct table *t = table_new(columns, ARRAY_LEN(columns));
    const cJSON *item;
    size_t n = 0;
    const cJSON *sessions = json_arr(in, result, "sessions", 1000, &n);

    cJSON_ArrayForEach (item, sessions)
        put_listed(in, item, t);
    if (in->rc == 0 && table_rows(t))
        table_print(t, &cli->out, 0, &out);
    else if (in->rc == 0)
        buf_puts(&out, "no sessions yet; open one with aurabench session open FILE\n");
    table_free(t);
    cli_put(&out);
}

static int list(struct cli *cli, const struct values *v, const char *word)
{
    CLEANUP(answer_deinit) struct answer answer = {0};
    struct json_in in;
    struct err e = {0};

    (void)v;
    (void)word;
    if (cli_ask(cli, "session.list", NULL, &answer, &e) < 0)
        return cli_fail(cli, &e);
    if (cli->shared.json) {
        cli_json(cli, answer.msg.result);
        return EXIT_GOOD;
    }
    json_in_init(&in, &answer.a, &e);
    list_text(cli, &in, answer.msg.result);
    return connection_check(&in, &e) < 0 ? cli_fail(cli, &e) : EXIT_GOOD;
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
    const char *evidence = json_str(&in, answer.msg.result, "evidence", 4096);
    if (connection_check(&in, &e) < 0)
        return cli_fail(cli, &e);
    buf_printf(&out, "session %s closed, %" PRId64 " job%s cancelled\nevidence: %s\n", id,
               cancelled, cancelled == 1 ? "" : "s", evidence);
    cli_put(&out);
    return EXIT_GOOD;
}

/* ---- report */

static int fetch_piece(struct connection *c, const char *id, struct buf *page, bool *whole,
                       struct err *e)
{
    CLEANUP(answer_deinit) struct answer answer = {0};
    CLEANUP(buf_deinit) struct buf params = {0};
    CLEANUP(chunk_deinit) struct chunk chunk = {0};
    struct json_out o;

    json_out_init(&o, &params);
    json_begin(&o, NULL);
    json_put_str(&o, "id", id);
    json_put_int(&o, "offset", (int64_t)page->len);
    json_end(&o);
    int rc = connection_call(c, "session.report", buf_str(&params), &answer, e);
    if (rc == 0)
        rc = chunk_decode(&answer, (int64_t)page->len, &chunk, e);
    if (rc < 0)
        return rc;
    buf_add(page, chunk.data.data, chunk.data.len);
    *whole = chunk.next >= chunk.total;
    if (page->len > PAGE_BYTES_MAX)
        return err_set(e, -EFBIG, "client.output", "page", "the page is longer than %zu MiB",
                       PAGE_BYTES_MAX >> 20);
    return 0;
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
    struct connection *c = NULL;
    struct err e = {0};
    bool whole = false;
    int rc = cli_connect(cli, &c, &e);

    while (rc == 0 && !whole)
        rc = fetch_piece(c, id, &page, &whole, &e);
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
