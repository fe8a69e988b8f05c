/* aurabench watch, wait, cancel: one job as it goes on, its end, and ending it. */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "client/commands.h"
#include "client/follow.h"

struct values {
    const char *until;
};

static const struct opt opts[] = {
    {0, "until", OPT_TEXT, "STATE", offsetof(struct values, until), 0, 0,
     "end when the job is in this state (waiting, preparing, measuring, ...) or past it"},
};

static int read_until(const struct values *values, enum job_state *until, struct err *e)
{
    int state = values->until ? job_state_parse(values->until) : JOB_NEW;

    if (state < 0 || (values->until && state == JOB_NEW))
        return err_set(e, -EINVAL, "usage", "--until",
                       "there is no state %s; name one of those that `aurabench list` shows",
                       values->until);
    *until = (enum job_state)state;
    return 0;
}

static int follow(struct cli *cli, const char *id, const struct values *values,
                  enum follow_style style, struct job_view *end)
{
    struct follow_how how = {.style = style, .term = &cli->out};
    struct connection *c = NULL;
    struct err e = {0};

    int rc = read_until(values, &how.until, &e);
    if (rc == 0)
        rc = cli_connect(cli, &c, &e);
    if (rc == 0)
        rc = follow_job(cli, &c, id, &how, end, &e);
    connection_close(c);
    return rc < 0 ? cli_fail(cli, &e) : -1;
}

static int run_watch(struct cli *cli, const void *values, const struct opt_words *words)
{
    CLEANUP(buf_deinit) struct buf out = {0};
    struct job_view end = {0};
    int status =
        follow(cli, words->words.v[0], values, cli->shared.json ? FOLLOW_JSON : FOLLOW_TEXT, &end);

    if (status >= 0)
        return status;
    if (!cli->shared.json)
        follow_end_line(&cli->out, &end, &out);
    cli_put(&out);
    return job_state_status(end.state);
}

/* ---- wait */

static int print_job(struct cli *cli, const char *id)
{
    CLEANUP(answer_deinit) struct answer answer = {0};
    CLEANUP(buf_deinit) struct buf params = {0};
    struct err e = {0};

    cli_id_params(&params, id);
    if (cli_ask(cli, "job.watch", buf_str(&params), &answer, &e) < 0)
        return cli_fail(cli, &e);
    cli_json(cli, answer.msg.result);
    return -1;
}

static int run_wait(struct cli *cli, const void *values, const struct opt_words *words)
{
    CLEANUP(buf_deinit) struct buf out = {0};
    struct job_view end = {0};
    int status = follow(cli, words->words.v[0], values, FOLLOW_SILENT, &end);

    if (status >= 0)
        return status;
    if (cli->shared.json) {
        status = print_job(cli, end.id);
        return status >= 0 ? status : job_state_status(end.state);
    }
    follow_end_line(&cli->out, &end, &out);
    cli_put(&out);
    return job_state_status(end.state);
}

/* ---- cancel */

static int run_cancel(struct cli *cli, const void *values, const struct opt_words *words)
{
    CLEANUP(answer_deinit) struct answer answer = {0};
    CLEANUP(buf_deinit) struct buf params = {0}, out = {0};
    struct err e = {0};
    struct json_in in;

    (void)values;
    cli_id_params(&params, words->words.v[0]);
    if (cli_ask(cli, "job.cancel", buf_str(&params), &answer, &e) < 0)
        return cli_fail(cli, &e);
    if (cli->shared.json) {
        cli_json(cli, answer.msg.result);
        return EXIT_GOOD;
    }
    json_in_init(&in, &answer.a, &e);
    const char *id = json_str(&in, answer.msg.result, "id", 64);
    const char *state = json_str(&in, answer.msg.result, "state", 64);
    if (connection_check(&in, &e) < 0)
        return cli_fail(cli, &e);
    buf_printf(&out, "job %s %s\n", cli_short_id(id), state);
    cli_put(&out);
    return EXIT_GOOD;
}

const struct command command_watch = {
    .name = "watch",
    .usage = "ID",
    .summary = "follow a job to its end",
    .more = "Ends with the job's own status: 0 done, 1 failed or expired, 5 cancelled, 6 not "
            "qualified, 7 lost.\nWith --json one document a line.",
    .opts = opts,
    .n_opts = ARRAY_LEN(opts),
    .values_bytes = sizeof(struct values),
    .words_min = 1,
    .words_max = 1,
    .run = run_watch,
};

const struct command command_wait = {
    .name = "wait",
    .usage = "ID",
    .summary = "wait for a job's end, silently",
    .more = "Ends with the job's own status: 0 done, 1 failed or expired, 5 cancelled, 6 not "
            "qualified, 7 lost.",
    .opts = opts,
    .n_opts = ARRAY_LEN(opts),
    .values_bytes = sizeof(struct values),
    .words_min = 1,
    .words_max = 1,
    .run = run_wait,
};

const struct command command_cancel = {
    .name = "cancel",
    .usage = "ID",
    .summary = "end a job",
    .words_min = 1,
    .words_max = 1,
    .run = run_cancel,
};
