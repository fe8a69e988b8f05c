#include "client/view/host_watch.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "client/view/host_view.h"

#define EVERY_MS_MIN 100
#define TEXT_MAX 4096
#define SETTLE_NS 200000000 /* what follows an attempt is told in one piece */

struct watching {
    struct cli *cli;
    struct connection *c;
    const char *params;
    size_t drawn; /* lines of the picture that stands on the terminal */
};

/* ---- drawing */

static size_t rows_of(const struct term *t)
{
    struct winsize size = {0};

    return ioctl(t->fd, TIOCGWINSZ, &size) == 0 && size.ws_row > 1 ? size.ws_row - 1U : 0;
}

static size_t lines_of(const struct buf *b)
{
    size_t n = 0;

    for (size_t i = 0; i < b->len; i++)
        n += b->data[i] == '\n';
    return n;
}

/* Over the one before: up to its first line, each line wiped behind its text, the rest below. */
static void draw(struct watching *w, const struct host_view *v)
{
    CLEANUP(buf_deinit) struct buf page = {0}, out = {0};

    term_init(&w->cli->out, STDOUT_FILENO); /* its size may have changed */
    host_view_put(v, &w->cli->out, rows_of(&w->cli->out), &page);
    if (w->drawn)
        buf_printf(&out, "\x1b[%zuA\r", w->drawn);
    for (size_t i = 0; i < page.len; i++) {
        if (page.data[i] == '\n')
            buf_puts(&out, "\x1b[K");
        buf_putc(&out, page.data[i]);
    }
    buf_puts(&out, "\x1b[J");
    w->drawn = lines_of(&page);
    cli_put(&out);
}

/* ---- what is asked */

static int ask_refusal(struct watching *w, struct host_view *v, size_t i, struct answer *keep,
                       struct err *e)
{
    CLEANUP(answer_deinit) struct answer answer = {0};
    CLEANUP(buf_deinit) struct buf params = {0};
    struct json_in in;

    cli_id_params(&params, v->jobs[i].job.id);
    int rc = connection_call(w->c, "job.show", buf_str(&params), &answer, e);
    if (rc < 0)
        return rc;
    json_in_init(&in, &keep->a, e); /* strings outlive this answer */
    const cJSON *refusal = json_opt_obj(&in, answer.msg.result, "refusal");
    if (refusal) {
        v->jobs[i].refused = json_view_line(&in, refusal, "reason", TEXT_MAX);
        v->jobs[i].refused_ms = json_int(&in, refusal, "wall_ms", 0, JSON_INT_MAX);
    }
    return connection_check(&in, e);
}

static int ask_jobs(struct watching *w, struct host_view *v, struct answer *keep, struct err *e)
{
    struct json_in in;
    size_t n;
    const cJSON *job;

    int rc = connection_call(w->c, "job.list", "{\"limit\":5,\"states\":[\"waiting\"]}", keep, e);
    if (rc < 0)
        return rc;
    json_in_init(&in, &keep->a, e);
    const cJSON *jobs = json_opt_arr(&in, keep->msg.result, "jobs", HOST_VIEW_JOBS, &n);
    cJSON_ArrayForEach (job, jobs)
        job_view_decode(&in, job, &v->jobs[v->n_jobs++].job);
    rc = connection_check(&in, e);
    for (size_t i = 0; rc == 0 && i < v->n_jobs; i++)
        rc = ask_refusal(w, v, i, keep, e);
    return rc;
}

static int ask_status(struct watching *w, struct host_view *v, struct answer *keep, struct err *e)
{
    struct json_in in;
    int rc = connection_call(w->c, "daemon.status", NULL, keep, e);

    if (rc < 0)
        return rc;
    json_in_init(&in, &keep->a, e);
    host_view_status(&in, keep->msg.result, v);
    return connection_check(&in, e);
}

/* ---- while the host measures */

static bool is_of(struct answer *note, const char *job, struct err *e)
{
    struct json_in in;

    json_in_init(&in, &note->a, e);
    const char *of = json_opt_str(&in, note->msg.params, "job", 64, NULL);
    return of && strcmp(of, job) == 0;
}

/* False: the job no longer measures, or something else was told. */
static bool take_event(struct watching *w, struct host_view *v, struct answer *note, struct err *e)
{
    struct json_in in;

    if (strcmp(note->msg.method, "job.event") != 0 || !is_of(note, v->job, e))
        return false;
    json_in_init(&in, &note->a, e);
    const char *state = json_opt_str(&in, note->msg.params, "state", 64, "");
    progress_view_decode(&in, note->msg.params, &v->progress);
    if (in.rc < 0 || strcmp(state, job_state_name(JOB_MEASURING)) != 0)
        return false;
    if (w->cli->out.tty && !w->cli->shared.json)
        draw(w, v);
    return true;
}

/* Whether it still measures, by the answer to the request to be told. */
static bool still_measures(const struct host_view *v, struct answer *answer, struct err *e)
{
    struct json_in in;

    json_in_init(&in, &answer->a, e);
    if (v->job) {
        const cJSON *job = json_obj(&in, answer->msg.result, "job");
        const char *state = json_opt_str(&in, job, "state", 64, "");
        return strcmp(state, job_state_name(JOB_MEASURING)) == 0;
    }
    const cJSON *calibration = json_opt_obj(&in, answer->msg.result, "calibration");
    return calibration && json_opt_bool(&in, calibration, "running", false);
}

/* Sleeps until the daemon says that it is over, or something that has to be looked into. */
static int sleep_through(struct watching *w, struct host_view *v, struct err *e)
{
    CLEANUP(answer_deinit) struct answer answer = {0};
    CLEANUP(buf_deinit) struct buf params = {0};
    bool goes_on;

    if (v->job)
        cli_id_params(&params, v->job);
    int rc = connection_call(w->c, v->job ? "job.watch" : "daemon.watch",
                             v->job ? buf_str(&params) : NULL, &answer, e);
    if (rc < 0)
        return rc;
    goes_on = still_measures(v, &answer, e);
    while (rc == 0 && goes_on) {
        CLEANUP(answer_deinit) struct answer note = {0};
        rc = connection_next(w->c, &note, e);
        goes_on = rc == 0 && v->job && take_event(w, v, &note, e);
    }
    if (rc == 0)
        err_clear(e);
    return rc;
}

/* ---- one round */

static void tell_measuring(struct watching *w, const struct host_view *v)
{
    CLEANUP(buf_deinit) struct buf out = {0};
    char now[32];

    if (w->cli->shared.json)
        return;
    if (w->cli->out.tty) {
        draw(w, v);
        return;
    }
    buf_printf(&out, "%s  measuring: not looked at\n", cli_time(clock_wall_ms(), now) + 11);
    cli_put(&out);
}

/* *look's strings live in answer. A host that began to measure meanwhile is no reason to stop. */
static int take_look(struct watching *w, struct answer *answer, struct host_look *look, bool *has,
                     struct err *e)
{
    int rc = connection_call(w->c, "host.quiet", w->params, answer, e);

    *has = rc == 0;
    if (rc == -EREMOTEIO && strcmp(e->code, "host.measuring") == 0) {
        err_clear(e);
        return 0;
    }
    return rc < 0 ? rc : host_look_decode(answer, look, e);
}

static void tell_look(struct watching *w, struct host_view *v, const struct answer *answer)
{
    CLEANUP(buf_deinit) struct buf out = {0};

    if (w->cli->shared.json)
        cli_json(w->cli, answer->msg.result);
    else if (w->cli->out.tty)
        draw(w, v);
    else
        host_view_line(v->look, &w->cli->out, &out);
    cli_put(&out);
}

static int look_around(struct watching *w, struct host_view *v, struct err *e)
{
    CLEANUP(answer_deinit) struct answer answer = {0}, jobs = {0};
    struct host_look look = {0};
    bool has = false;
    int rc = take_look(w, &answer, &look, &has, e);

    if (rc == 0 && has && w->cli->out.tty && !w->cli->shared.json)
        rc = ask_jobs(w, v, &jobs, e);
    if (rc < 0 || !has)
        return rc;
    v->look = &look;
    tell_look(w, v, &answer);
    v->look = NULL;
    return 0;
}

static int go_round(struct watching *w, bool *measured, struct err *e)
{
    CLEANUP(answer_deinit) struct answer status = {0};
    struct host_view v = {0};
    int rc = ask_status(w, &v, &status, e);

    *measured = rc == 0 && v.measuring;
    if (*measured) {
        tell_measuring(w, &v);
        return sleep_through(w, &v, e);
    }
    return rc < 0 ? rc : look_around(w, &v, e);
}

int host_watch(struct cli *cli, struct connection *c, const char *params, int64_t every_ms,
               struct err *e)
{
    struct watching w = {.cli = cli, .c = c, .params = params};
    int64_t every_ns = (every_ms < EVERY_MS_MIN ? EVERY_MS_MIN : every_ms) * 1000000;
    bool measured;

    for (;;) {
        int rc = go_round(&w, &measured, e);
        if (rc < 0)
            return rc;
        if (measured) {
            clock_sleep_ns(SETTLE_NS);
            continue;
        }
        if (cli->deadline_ns >= 0 && clock_mono_ns() + every_ns > cli->deadline_ns)
            return err_set(e, -ETIMEDOUT, "client.timeout", "--timeout",
                           "the time of --timeout is over");
        clock_sleep_ns(every_ns);
    }
}
