/* aurabench submit: a job from a file. */
#include <errno.h>
#include <string.h>

#include "base/files.h"
#include "base/mem.h"
#include "client/commands.h"
#include "client/submission.h"
#include "proto/doc_job.h"

#define JOB_BYTES_MAX (1 << 20)

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

/* A path of the file, which is relative to the file's folder. */
static const char *beside(struct cli *cli, const char *file, const char *path)
{
    const char *slash = strrchr(file, '/');

    if (path[0] == '/' || !slash)
        return path;
    return arena_printf(&cli->a, "%.*s/%s", (int)(slash - file), file, path);
}

/* A suite that is not beside the file may be one that is known by name. */
static const char *suite_arg(struct cli *cli, const char *file, const char *path)
{
    const char *there = beside(cli, file, path);

    return file_exists(there) || strchr(path, '/') ? there : path;
}

static int prepare(struct cli *cli, const struct values *v, const char *file, struct submission *s,
                   struct err *e)
{
    CLEANUP(buf_deinit) struct buf text = {0};
    struct job_file *job_file = NULL;
    struct err why = {0};

    int rc = file_read(file, JOB_BYTES_MAX, &text, e);
    if (rc == 0)
        rc = job_file_decode(&cli->a, buf_str(&text), text.len, &job_file, &why);
    if (err_is_set(&why))
        return cli_fail_in_file(file, rc, &why, e);
    if (rc < 0 || !job_file)
        return rc;
    s->job = &job_file->job;
    const char **repos = arena_array(&cli->a, s->job->n_sources + 1, sizeof *repos);
    for (size_t i = 0; i < s->job->n_sources; i++) {
        struct job_source *source = &s->job->sources[i];
        repos[i] = beside(cli, file, source->repo);
        if (source->correction)
            source->correction->diff = beside(cli, file, source->correction->diff);
    }
    s->repo_paths = repos;
    rc = policy_arg_read(cli, v->policy ? v->policy : s->job->policy, &s->policy, e);
    if (rc == 0)
        rc = submission_resolve(cli, s, e);
    return rc < 0 ? rc : submission_suite(cli, s, suite_arg(cli, file, job_file->suite_path), e);
}

static int run(struct cli *cli, const void *values, const struct opt_words *words)
{
    const struct values *v = values;
    const struct submission_after after = {v->wait, v->report};
    CLEANUP(submission_deinit) struct submission s = {0};
    struct connection *c = NULL;
    struct err e = {0};

    int rc = submission_check_after(&after, &e);
    if (rc == 0)
        rc = prepare(cli, v, words->words.v[0], &s, &e);
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
