/* aurabench watch, wait, cancel: one job as it goes on, its end, and ending it. */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "client/commands.h"
#include "client/follow.h"

static int follow(struct cli *cli, const char *id, enum follow_style style, struct job_view *end)
{
    const struct follow_how how = {style, &cli->out};
    struct connection *c = NULL;
    struct err e = {0};

    int rc = cli_connect(cli, &c, &e);
    if (rc == 0)
        rc = follow_job(cli, &c, id, &how, end, &e);
    connection_close(c);
    return rc < 0 ? cli_fail(cli, &e) : -1;
}

static int run_watch(struct cli *cli, const void *values, const struct opt_words *words)
{
    CLEANUP(buf_deinit) struct buf out = {0};
    struct job_view end = {0};
    int status = follow(cli, words->words.v[0], cli->shared.json ? FOLLOW_JSON : FOLLOW_TEXT, &end);

    (void)values;
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
    int status = follow(cli, words->words.v[0], FOLLOW_SILENT, &end);

    (void)values;
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
