/* aurabench list: the jobs, newest first. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "client/cmd/commands.h"
#include "client/view/job_view.h"
#include "client/view/table.h"
#include "proto/form/duration.h"

#define PAGE 200
#define SHOWN 20

struct values {
    bool all, blocked;
    struct args states;
    int limit;
};

static const struct opt opts[] = {
    {0, "all", OPT_FLAG, NULL, offsetof(struct values, all), 0, 0, "all jobs, not only the newest"},
    {'s', "state", OPT_LIST, "STATE", offsetof(struct values, states), 0, 0,
     "only jobs in this state; may be given several times"},
    {0, "blocked", OPT_FLAG, NULL, offsetof(struct values, blocked), 0, 0,
     "only jobs that wait for the end of others"},
    {'n', "limit", OPT_INT, "N", offsetof(struct values, limit), 1, 1000000,
     "at most so many (20 unless --all)"},
};

static const struct table_column columns[] = {
    {"ID", false, false}, {"STATE", false, false}, {"PRIO", true, false},
    {"AGE", true, false}, {"LABEL", false, true},  {"WHAT", false, true},
};

static int check_states(const struct args *states, struct err *e)
{
    for (size_t i = 0; i < states->n; i++)
        if (job_state_parse(states->v[i]) < 0)
            return err_set(e, -EINVAL, "usage", "--state",
                           "there is no state %s; states are held, queued, waiting, preparing, "
                           "measuring, verifying, done, failed, cancelled, expired, unqualified, "
                           "lost",
                           states->v[i]);
    return 0;
}

/* What is to be said of a job in a few words. */
static void put_what(const struct job_view *job, int64_t now_ms, struct buf *out)
{
    char text[DURATION_TEXT];

    if (job->progress.total > 0 && job->state == JOB_MEASURING) {
        progress_view_count(&job->progress, out);
    } else if (job->progress.step) {
        buf_puts(out, job->progress.text);
    } else if (job->why && (job->state != JOB_QUEUED || job->blocked > 0)) {
        buf_puts(out, job->why);
    } else if (job->next_try_ms >= 0 && job->state == JOB_WAITING) {
        buf_printf(out, "next try in %s, refused %" PRId64 " time%s",
                   duration_format(job->next_try_ms - now_ms, text), job->refusals,
                   job->refusals == 1 ? "" : "s");
    } else if (job->state == JOB_DONE && job->report.grade) {
        buf_puts(out, job->report.line ? job->report.line : job->report.grade);
    } else if (job->error_code) {
        buf_puts(out, job->error_text);
    }
}

static void put_row(const struct job_view *job, int64_t now_ms, struct table *t)
{
    CLEANUP(buf_deinit) struct buf what = {0};
    char age[DURATION_TEXT];

    put_what(job, now_ms, &what);
    table_cell(t, TERM_PLAIN, "%s", cli_short_id(job->id));
    table_cell(t, job_state_style(job->state), "%s", job_state_name(job->state));
    table_cell(t, TERM_PLAIN, "%" PRId64, job->priority);
    table_cell(t, TERM_PLAIN, "%s", duration_format(now_ms - job->submitted_ms, age));
    table_cell(t, TERM_PLAIN, "%s", job->label ? job->label : job->suite ? job->suite : "");
    table_cell(t, TERM_PLAIN, "%s", buf_str(&what));
}

/* ---- pages */

struct listing {
    struct cli *cli;
    const struct values *v;
    struct connection *c;
    struct table *table; /* NULL: as JSON */
    struct json_out *o;
    int64_t now_ms;
    int64_t asked; /* the request for a page */
    size_t left;   /* jobs still wanted */
    bool more;     /* the daemon has more */
    char before[64];
};

static void page_params(const struct listing *l, struct buf *out)
{
    struct json_out o;

    json_out_init(&o, out);
    json_begin(&o, NULL);
    json_put_int(&o, "limit", l->left < PAGE ? (int64_t)l->left : PAGE);
    if (l->before[0])
        json_put_str(&o, "before", l->before);
    if (l->v->states.n)
        json_put_args(&o, "states", &l->v->states);
    if (l->v->blocked)
        json_put_bool(&o, "blocked", true);
    json_end(&o);
}

static void take_page(struct listing *l, struct json_in *in, const cJSON *result)
{
    size_t n = 0;
    const cJSON *jobs = json_arr(in, result, "jobs", PAGE, &n), *item;

    l->more = json_opt_bool(in, result, "more", false) && n > 0;
    l->left -= n < l->left ? n : l->left;
    cJSON_ArrayForEach (item, jobs) {
        struct job_view job;
        job_view_decode(in, item, &job);
        if (in->rc)
            return;
        if (l->table)
            put_row(&job, l->now_ms, l->table);
        else
            cli_json_node(l->o, NULL, item);
        (void)strncpy(l->before, job.id, sizeof l->before - 1);
    }
}

static int send_page(struct listing *l, struct err *e)
{
    CLEANUP(buf_deinit) struct buf params = {0};

    page_params(l, &params);
    return connection_send(l->c, "job.list", buf_str(&params), &l->asked, e);
}

static int receive_page(struct listing *l, struct err *e)
{
    CLEANUP(answer_deinit) struct answer answer = {0};
    struct json_in in;
    int rc = connection_receive(l->c, l->asked, &answer, e);

    if (rc < 0)
        return rc;
    json_in_init(&in, &answer.a, e);
    take_page(l, &in, answer.msg.result);
    return connection_check(&in, e);
}

static int receive_now(struct listing *l, int64_t id, struct err *e)
{
    CLEANUP(answer_deinit) struct answer answer = {0};
    struct json_in in;
    int rc = connection_receive(l->c, id, &answer, e);

    if (rc < 0)
        return rc;
    json_in_init(&in, &answer.a, e);
    l->now_ms = json_int(&in, answer.msg.result, "now_ms", 0, JSON_INT_MAX);
    return connection_check(&in, e);
}

/* Also asks for the daemon's clock: ages must not depend on how well two machines agree. */
static int fetch_first(struct listing *l, struct err *e)
{
    int64_t status = 0;
    int rc = l->table ? connection_send(l->c, "daemon.status", NULL, &status, e) : 0;

    if (rc == 0)
        rc = send_page(l, e);
    if (rc == 0 && l->table)
        rc = receive_now(l, status, e);
    return rc < 0 ? rc : receive_page(l, e);
}

static int fetch(struct listing *l, struct err *e)
{
    int rc = cli_connect(l->cli, &l->c, e);

    if (rc == 0)
        rc = fetch_first(l, e);
    while (rc == 0 && l->more && l->left > 0) {
        rc = send_page(l, e);
        if (rc == 0)
            rc = receive_page(l, e);
    }
    connection_close(l->c);
    return rc;
}

static int list_text(struct listing *l, struct err *e)
{
    CLEANUP(buf_deinit) struct buf out = {0};

    l->table = table_new(columns, ARRAY_LEN(columns));
    int rc = fetch(l, e);
    if (rc == 0 && table_rows(l->table) == 0)
        buf_puts(&out, l->v->blocked    ? "no job waits for the end of another\n"
                       : l->v->states.n ? "no job is in that state\n"
                                        : "no jobs yet; submit one with aurabench compare\n");
    else if (rc == 0)
        table_print(l->table, &l->cli->out, 0, &out);
    if (rc == 0 && l->more && l->cli->out.tty)
        buf_puts(&out, "(more: aurabench list --all)\n");
    table_free(l->table);
    cli_put(&out);
    return rc;
}

static int list_json(struct listing *l, struct err *e)
{
    CLEANUP(buf_deinit) struct buf out = {0};
    struct json_out o;

    l->o = &o;
    cli_json_begin(l->cli, &o, &out);
    json_begin_array(&o, "jobs");
    int rc = fetch(l, e);
    if (rc < 0)
        return rc;
    json_end_array(&o);
    json_put_bool(&o, "more", l->more);
    cli_json_end(&o);
    return 0;
}

static int run(struct cli *cli, const void *values, const struct opt_words *words)
{
    struct listing l = {.cli = cli, .v = values};
    struct err e = {0};

    (void)words;
    l.left = l.v->limit ? (size_t)l.v->limit : l.v->all ? SIZE_MAX : SHOWN;
    int rc = check_states(&l.v->states, &e);
    if (rc == 0)
        rc = cli->shared.json ? list_json(&l, &e) : list_text(&l, &e);
    return rc < 0 ? cli_fail(cli, &e) : EXIT_GOOD;
}

const struct command command_list = {
    .name = "list",
    .usage = "",
    .summary = "the jobs, newest first",
    .opts = opts,
    .n_opts = ARRAY_LEN(opts),
    .values_bytes = sizeof(struct values),
    .run = run,
};
