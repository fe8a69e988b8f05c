/* aurabench hold, release, edit, rerun: what is asked of a job that is here. */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "client/cmd/commands.h"
#include "client/job/when_opts.h"
#include "client/link/reconnect.h"

#define JOBS_MAX 1000

/* ---- one answer */

struct ordered {
    const char *id, *state; /* in the answer's arena */
    bool changed;
};

static int decode(struct answer *answer, struct ordered *out, struct err *e)
{
    struct json_in in;

    json_in_init(&in, &answer->a, e);
    out->id = json_str(&in, answer->msg.result, "id", 64);
    out->state = json_str(&in, answer->msg.result, "state", 64);
    out->changed = json_bool(&in, answer->msg.result, "changed");
    return connection_check(&in, e);
}

/* ---- hold, release: any number of jobs, over one connection */

struct orders {
    struct cli *cli;
    const char *method;
    struct connection *c;
    struct reconnecting outage;
    struct buf out;
    struct json_out o; /* with --json */
    int status;        /* of the first that was refused */
};

static void say(struct orders *x, const struct ordered *job)
{
    if (x->cli->shared.json) {
        json_begin(&x->o, NULL);
        json_put_str(&x->o, "id", job->id);
        json_put_str(&x->o, "state", job->state);
        json_put_bool(&x->o, "changed", job->changed);
        json_end(&x->o);
        return;
    }
    buf_printf(&x->out, "job %s %s%s\n", cli_short_id(job->id), job->state,
               job->changed ? "" : " already");
    cli_put(&x->out);
}

/* The others are served all the same. */
static void say_refused(struct orders *x, const char *id, const struct err *e)
{
    int status = cli_say(e);

    if (x->status == EXIT_GOOD)
        x->status = status;
    if (!x->cli->shared.json)
        return;
    json_begin(&x->o, NULL);
    json_put_str(&x->o, "id", id);
    cli_json_error(&x->o, e);
    json_end(&x->o);
}

static int order(struct orders *x, const char *id)
{
    CLEANUP(answer_deinit) struct answer answer = {0};
    CLEANUP(buf_deinit) struct buf params = {0};
    struct ordered job;
    struct err e = {0};

    cli_id_params(&params, id);
    /* A job that is held and is to be held again stays as it is. */
    int rc = reconnect_call(x->cli, &x->outage, &x->c, x->method, buf_str(&params), &answer, &e);
    if (rc == 0)
        rc = decode(&answer, &job, &e);
    if (rc == 0)
        say(x, &job);
    else
        say_refused(x, id, &e);
    return rc;
}

static int order_all(struct cli *cli, const char *method, const struct args *ids)
{
    struct orders x = {.cli = cli, .method = method};
    struct err e = {0};

    if (cli_connect(cli, &x.c, &e) < 0)
        return cli_fail(cli, &e);
    if (cli->shared.json) {
        cli_json_begin(cli, &x.o, &x.out);
        json_begin_array(&x.o, "jobs");
    }
    /* A daemon that does not come back is gone for the rest too. */
    for (size_t i = 0, broken = 0; i < ids->n && !broken; i++)
        broken = order(&x, ids->v[i]) == -EPIPE || !x.c;
    connection_close(x.c);
    if (cli->shared.json) {
        json_end_array(&x.o);
        cli_json_end(&x.o);
    }
    buf_deinit(&x.out);
    return x.status;
}

static int run_hold(struct cli *cli, const void *values, const struct opt_words *words)
{
    (void)values;
    return order_all(cli, "job.hold", &words->words);
}

static int run_release(struct cli *cli, const void *values, const struct opt_words *words)
{
    (void)values;
    return order_all(cli, "job.release", &words->words);
}

/* ---- edit, rerun: one job */

struct values {
    struct when_opts when;
    bool hold;
};

static const struct values defaults = {.when = WHEN_OPTS_INIT};

static const struct opt edit_opts[] = {
    WHEN_OPTS(struct values, when),
};

static const struct opt rerun_opts[] = {
    WHEN_OPTS(struct values, when),
    {0, "hold", OPT_FLAG, NULL, offsetof(struct values, hold), 0, 0,
     "keep it on hold until aurabench release"},
};

static void put_params(const char *id, const struct job_edit *edit, bool hold, struct buf *out)
{
    struct json_out o;

    json_out_init(&o, out);
    json_begin(&o, NULL);
    json_put_str(&o, "id", id);
    if (edit->members)
        job_edit_encode(&o, "changes", edit);
    if (hold)
        json_put_bool(&o, "hold", true);
    json_end(&o);
}

struct change {
    const char *method, *id;
    struct job_edit *edit;
    bool hold;
};

static int change_once(struct cli *cli, struct connection *c, const struct change *x,
                       struct answer *answer, struct err *e)
{
    CLEANUP(buf_deinit) struct buf params = {0};
    int rc = when_resolve(cli, c, x->edit->to.after, x->edit->to.n_after, e);

    put_params(x->id, x->edit, x->hold, &params);
    return rc < 0 ? rc : connection_call(c, x->method, buf_str(&params), answer, e);
}

/* repeats: to have it done twice is as good as once. */
static int change(struct cli *cli, const struct change *x, bool repeats, struct answer *answer,
                  struct err *e)
{
    struct reconnecting outage = {0};
    struct connection *c = NULL;
    int rc = cli_connect(cli, &c, e);

    if (rc == 0)
        rc = change_once(cli, c, x, answer, e);
    while (repeats && reconnect_may_help(&outage, rc)) {
        rc = reconnect(cli, &outage, &c, e);
        if (rc == 0)
            rc = change_once(cli, c, x, answer, e);
    }
    connection_close(c);
    return rc;
}

static int run_edit(struct cli *cli, const void *values, const struct opt_words *words)
{
    const struct values *v = values;
    CLEANUP(answer_deinit) struct answer answer = {0};
    CLEANUP(buf_deinit) struct buf out = {0};
    struct job_edit edit;
    struct ordered job;
    struct err e = {0};
    int rc = when_opts_read(cli, &v->when, &edit, &e);

    if (rc == 0 && edit.members == 0)
        rc = err_set(&e, -EINVAL, "usage", "edit",
                     "name what is to change, such as --priority 5; see aurabench edit --help");
    if (rc == 0)
        rc = change(cli, &(struct change){"job.edit", words->words.v[0], &edit, false}, true,
                    &answer, &e);
    if (rc == 0)
        rc = decode(&answer, &job, &e);
    if (rc < 0)
        return cli_fail(cli, &e);
    if (cli->shared.json) {
        cli_json(cli, answer.msg.result);
        return EXIT_GOOD;
    }
    buf_printf(&out, "job %s %s, %s\n", cli_short_id(job.id), job.state,
               job.changed ? "changed" : "as it was: nothing to change");
    cli_put(&out);
    return EXIT_GOOD;
}

static int run_rerun(struct cli *cli, const void *values, const struct opt_words *words)
{
    const struct values *v = values;
    CLEANUP(answer_deinit) struct answer answer = {0};
    CLEANUP(buf_deinit) struct buf out = {0};
    struct job_edit edit;
    struct ordered job;
    struct err e = {0};
    int rc = when_opts_read(cli, &v->when, &edit, &e);

    if (rc == 0)
        rc = change(cli, &(struct change){"job.rerun", words->words.v[0], &edit, v->hold}, false,
                    &answer, &e);
    if (rc == 0)
        rc = decode(&answer, &job, &e);
    if (rc < 0)
        return cli_fail(cli, &e);
    if (cli->shared.json) {
        cli_json(cli, answer.msg.result);
        return EXIT_GOOD;
    }
    buf_printf(&out, "job %s %s again\n  next: aurabench %s %s\n", cli_short_id(job.id), job.state,
               v->hold ? "release" : "watch", cli_short_id(job.id));
    cli_put(&out);
    return EXIT_GOOD;
}

const struct command command_hold = {
    .name = "hold",
    .usage = "ID...",
    .summary = "keep jobs that have not begun from beginning",
    .words_min = 1,
    .words_max = JOBS_MAX,
    .run = run_hold,
};

const struct command command_release = {
    .name = "release",
    .usage = "ID...",
    .summary = "let jobs on hold go",
    .words_min = 1,
    .words_max = JOBS_MAX,
    .run = run_release,
};

const struct command command_edit = {
    .name = "edit",
    .usage = "ID",
    .summary = "change a job that has not begun",
    .more = "What is not named stays as it is. --after-ok and --after-any replace the whole list.",
    .opts = edit_opts,
    .n_opts = ARRAY_LEN(edit_opts),
    .values_bytes = sizeof(struct values),
    .defaults = &defaults,
    .words_min = 1,
    .words_max = 1,
    .run = run_edit,
};

const struct command command_rerun = {
    .name = "rerun",
    .usage = "ID",
    .summary = "measure a job that is over again, as a new attempt",
    .more =
        "Its earlier attempts keep their reports: aurabench report ID --attempt N. Options change "
        "the job as edit does.",
    .opts = rerun_opts,
    .n_opts = ARRAY_LEN(rerun_opts),
    .values_bytes = sizeof(struct values),
    .defaults = &defaults,
    .words_min = 1,
    .words_max = 1,
    .run = run_rerun,
};
