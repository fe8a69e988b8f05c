/* After a submit: the second half of client/job/submission.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "client/job/submission.h"
#include "client/link/follow.h"
#include "client/link/report_fetch.h"

int submission_check_after(const struct submission_after *after, struct err *e)
{
    enum report_format format;
    struct err why = {0};

    if (!after->report || strcmp(after->report, "none") == 0)
        return 0;
    if (report_format_parse(after->report, &format, &why) == 0 && !report_format_is_json(format))
        return 0;
    return err_set(e, -EINVAL, "usage", "--report", "--report takes text, markdown or none, not %s",
                   after->report);
}

static void say_submitted(struct cli *cli, const struct submission *s)
{
    CLEANUP(buf_deinit) struct buf out = {0};
    struct json_out o;

    if (cli->shared.json) {
        cli_json_begin(cli, &o, &out);
        json_put_str(&o, "id", s->id);
        json_put_str(&o, "state", s->state);
        json_put_bool(&o, "duplicate", s->duplicate);
        cli_json_end(&o);
        return;
    }
    buf_printf(&out, "job %s %s\n  next: aurabench watch %s\n", s->id, s->state,
               cli_short_id(s->id));
    cli_put(&out);
}

/* With --wait, stdout is for the report alone. */
static void say_waiting(const struct cli *cli, const struct submission *s)
{
    if (!cli->shared.json)
        (void)fprintf(stderr,
                      "job %s %s (interrupting this leaves it running; aurabench cancel %s "
                      "ends it)\n",
                      s->id, s->state, cli_short_id(s->id));
}

static bool prints_report(const struct submission_after *after, const struct job_view *end)
{
    return end->report.grade && !(after->report && strcmp(after->report, "none") == 0);
}

static int print_report(struct cli *cli, struct connection *c, const struct job_view *end,
                        const char *word, struct err *e)
{
    CLEANUP(report_deinit) struct report r = {0};

    int rc = report_format_parse(word ? word : "text", &r.format, e);
    if (rc == 0)
        rc = report_fetch(c, end->id, &cli->out, &r, e);
    if (rc == 0)
        report_print(cli, &r.data);
    return rc;
}

static int print_end_as_json(struct cli *cli, struct connection *c, const struct job_view *end,
                             struct err *e)
{
    CLEANUP(answer_deinit) struct answer answer = {0};
    CLEANUP(buf_deinit) struct buf params = {0};

    cli_id_params(&params, end->id);
    int rc = connection_call(c, "job.watch", buf_str(&params), &answer, e);
    if (rc == 0)
        cli_json(cli, answer.msg.result);
    return rc;
}

/* Below a report its own words are not said again. */
static void say_end(struct cli *cli, const struct job_view *end, bool reported)
{
    CLEANUP(buf_deinit) struct buf line = {0};

    if (reported && end->state == JOB_DONE)
        buf_printf(&line, "job %s done; evidence: %s\n", cli_short_id(end->id),
                   end->report.evidence ? end->report.evidence : "none");
    else
        follow_end_line(&cli->err, end, &line);
    (void)fputs(buf_str(&line), stderr);
}

static int wait_for(struct cli *cli, const struct submission *s, struct connection **c,
                    const struct submission_after *after, struct job_view *end, struct err *e)
{
    const struct follow_how how = {.style = cli->shared.json ? FOLLOW_SILENT : FOLLOW_TEXT,
                                   .term = &cli->err};

    say_waiting(cli, s);
    int rc = follow_job(cli, c, s->id, &how, end, e);
    if (rc == 0 && cli->shared.json)
        return print_end_as_json(cli, *c, end, e);
    bool reports = rc == 0 && prints_report(after, end);
    if (reports)
        rc = print_report(cli, *c, end, after->report, e);
    if (rc == 0)
        say_end(cli, end, reports);
    return rc;
}

int submission_finish(struct cli *cli, const struct submission *s, struct connection *c,
                      const struct submission_after *after)
{
    struct job_view end = {0};
    struct err e = {0};

    if (!after->wait) {
        say_submitted(cli, s);
        connection_close(c);
        return EXIT_GOOD;
    }
    int rc = wait_for(cli, s, &c, after, &end, &e);
    connection_close(c);
    return rc < 0 ? cli_fail(cli, &e) : job_state_status(end.state);
}
