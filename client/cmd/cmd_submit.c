/* aurabench submit: a job from a file. */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "client/cmd/commands.h"
#include "client/job/job_load.h"
#include "client/job/job_opts.h"
#include "client/job/when_opts.h"

struct values {
    const char *policy, *report;
    bool wait, hold;
    struct when_opts when;
    struct args notify;
};

static const struct values defaults = {.when = WHEN_OPTS_INIT};

static const struct opt opts[] = {
    {'p', "policy", OPT_TEXT, "NAME|FILE", offsetof(struct values, policy), 0, 0,
     "instead of the policy that the job names"},
    WHEN_OPTS(struct values, when),
    {0, "hold", OPT_FLAG, NULL, offsetof(struct values, hold), 0, 0,
     "submit it on hold: it begins after aurabench release"},
    {'w', "wait", OPT_FLAG, NULL, offsetof(struct values, wait), 0, 0,
     "show progress, then the report; ends with the job's status"},
    {0, "report", OPT_TEXT, "text|markdown|none", offsetof(struct values, report), 0, 0,
     "what to print at the end of waiting: text, markdown or none"},
    {0, "notify", OPT_LIST, "PROGRAM|ARRAY", offsetof(struct values, notify), 0, 0,
     "beside those of the file: a program on the host that is told of the job's end"},
};

static int run(struct cli *cli, const void *values, const struct opt_words *words)
{
    const struct values *v = values;
    const struct submission_after after = {v->wait, v->report};
    CLEANUP(submission_deinit) struct submission s = {0};
    struct connection *c = NULL;
    struct err e = {0};

    int rc = submission_check_after(&after, &e);
    if (rc == 0)
        rc = job_load_path(cli, words->words.v[0], v->policy, &s, &e);
    if (rc == 0)
        rc = when_opts_apply(cli, &v->when, s.job, &e);
    if (rc == 0)
        rc = job_opts_notify(cli, &v->notify, s.job, &e);
    s.hold = v->hold;
    if (rc == 0)
        rc = submission_send(cli, &s, &c, &e);
    return rc < 0 ? cli_fail(cli, &e) : submission_finish(cli, &s, c, &after);
}

const struct command command_submit = {
    .name = "submit",
    .usage = "JOB.json",
    .summary = "submit a job that stands in a file",
    .more =
        "Paths in the file (suite.path, repo, correction.diff) are relative to its folder. What "
        "options say stands in for what the file says.",
    .opts = opts,
    .n_opts = ARRAY_LEN(opts),
    .values_bytes = sizeof(struct values),
    .defaults = &defaults,
    .words_min = 1,
    .words_max = 1,
    .run = run,
};
