/* aurabench submit: a job from a file. */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "client/commands.h"
#include "client/job_load.h"

struct values {
    const char *policy, *report;
    bool wait;
};

static const struct opt opts[] = {
    {'p', "policy", OPT_TEXT, "NAME|FILE", offsetof(struct values, policy), 0, 0,
     "instead of the policy that the job names"},
    {'w', "wait", OPT_FLAG, NULL, offsetof(struct values, wait), 0, 0,
     "show progress, then the report; ends with the job's status"},
    {0, "report", OPT_TEXT, "FORMAT", offsetof(struct values, report), 0, 0,
     "what to print at the end of waiting: text, markdown or none"},
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
        rc = submission_send(cli, &s, &c, &e);
    return rc < 0 ? cli_fail(cli, &e) : submission_finish(cli, &s, c, &after);
}

const struct command command_submit = {
    .name = "submit",
    .usage = "JOB.json",
    .summary = "submit a job that stands in a file",
    .more = "Paths in the file (suite.path, repo, correction.diff) are relative to its folder.",
    .opts = opts,
    .n_opts = ARRAY_LEN(opts),
    .values_bytes = sizeof(struct values),
    .words_min = 1,
    .words_max = 1,
    .run = run,
};
