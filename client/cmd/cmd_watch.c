/* aurabench watch, cancel: one job as it goes on, and ending it. */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "client/cmd/commands.h"
#include "client/link/follow.h"
#include "client/view/host_watch.h"

struct values {
    const char *until;
};

static const struct opt opts[] = {
    {0, "until", OPT_TEXT, "STATE", offsetof(struct values, until), 0, 0,
     "end when the job is in this state (waiting, preparing, measuring, ...) or past it"},
};

static int follow(struct cli *cli, const char *id, const struct values *values,
                  enum follow_style style, struct job_view *end)
{
    struct follow_how how = {.style = style, .term = &cli->out};
    struct connection *c = NULL;
    struct err e = {0};

    int rc = follow_until(values->until, &how.until, &e);
    if (rc == 0)
        rc = cli_connect(cli, &c, &e);
    if (rc == 0)
        rc = follow_job(cli, &c, id, &how, end, &e);
    connection_close(c);
    return rc < 0 ? cli_fail(cli, &e) : -1;
}

/* No job: the host itself. */
static int watch_host(struct cli *cli)
{
    struct connection *c = NULL;
    struct err e = {0};
    int rc = cli_connect(cli, &c, &e);

    if (rc == 0)
        rc = host_watch(cli, c, NULL, HOST_WATCH_EVERY_MS, &e);
    connection_close(c);
    return rc < 0 ? cli_fail(cli, &e) : EXIT_GOOD;
}

static int run_watch(struct cli *cli, const void *values, const struct opt_words *words)
{
    if (words->words.n == 0)
        return watch_host(cli);
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
    const char *id = json_view_line(&in, answer.msg.result, "id", 64);
    const char *state = json_view_line(&in, answer.msg.result, "state", 64);
    if (connection_check(&in, &e) < 0)
        return cli_fail(cli, &e);
    buf_printf(&out, "job %s %s\n", cli_short_id(id), state);
    cli_put(&out);
    return EXIT_GOOD;
}

const struct command command_watch = {
    .name = "watch",
    .usage = "[ID]",
    .summary = "follow a job to its end, or the host",
    .more = "Without ID: a view of the host, as aurabench quiet --watch.\n"
            "Ends with the job's own status: 0 done, 1 failed or expired, 5 cancelled, 6 not "
            "qualified, 7 lost.\nWith --json one document a line.",
    .opts = opts,
    .n_opts = ARRAY_LEN(opts),
    .values_bytes = sizeof(struct values),
    .words_max = 1,
    .run = run_watch,
};

const struct command command_cancel = {
    .name = "cancel",
    .usage = "ID",
    .summary = "end a job",
    .words_min = 1,
    .words_max = 1,
    .run = run_cancel,
};
