/* aurabench compare: one commit against another, as a job made of flags. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "client/cmd/commands.h"
#include "client/job/correction.h"
#include "client/job/job_opts.h"

struct values {
    const char *repo, *before, *after, *suite;
    struct correction_opts correction;
    struct job_opts job;
};

static const struct values defaults = {.repo = ".", .after = "HEAD", .job = JOB_OPTS_INIT};

static const struct opt opts[] = {
    {0, "repo", OPT_TEXT, "DIR", offsetof(struct values, repo), 0, 0,
     "a checkout of the measured repository (.)"},
    {'b', "before", OPT_TEXT, "REV", offsetof(struct values, before), 0, 0,
     "the commit to compare with"},
    {'a', "after", OPT_TEXT, "REV", offsetof(struct values, after), 0, 0,
     "the commit to judge (HEAD, and then the checkout must be clean)"},
    {'s', "suite", OPT_TEXT, "NAME|DIR", offsetof(struct values, suite), 0, 0,
     "what to measure: a folder with suite.json, or the name of a suite"},
    JOB_OPTS(struct values, job),
    {'x', "exclude", OPT_LIST, "W/L", offsetof(struct values, job.exclude), 0, 0,
     "leave out this lane of this workload; several times; the report says so"},
    {0, "order", OPT_TEXT, "interleaved|sequential", offsetof(struct values, job.order), 0, 0,
     "interleaved (default), or sequential: one side after the other"},
    {0, "before-base", OPT_TEXT, "REV", offsetof(struct values, correction.before_base), 0, 0,
     "the commit that --before corrects by exactly the allowed diff"},
    {0, "after-base", OPT_TEXT, "REV", offsetof(struct values, correction.after_base), 0, 0,
     "the commit that --after corrects by exactly the allowed diff"},
    {0, "allowed-diff", OPT_TEXT, "FILE", offsetof(struct values, correction.diff), 0, 0,
     "the diff between base and corrected commit that somebody allowed"},
    {0, "approved-by", OPT_TEXT, "NAME", offsetof(struct values, correction.approved_by), 0, 0,
     "who allowed it; stands in the report"},
    {0, "reason", OPT_TEXT, "TEXT", offsetof(struct values, correction.reason), 0, 0,
     "why it was allowed; stands in the report"},
    {'w', "wait", OPT_FLAG, NULL, offsetof(struct values, job.wait), 0, 0,
     "show progress, then the report; ends with the job's status"},
};

static int check(const struct values *v, struct err *e)
{
    if (!v->before)
        return err_set(e, -EINVAL, "usage", "--before",
                       "name the commit to compare with: --before REV");
    if (!v->suite)
        return err_set(e, -EINVAL, "usage", "--suite",
                       "name what to measure: --suite NAME, or --suite DIR with a suite.json");
    return 0;
}

/* "aura v1.2..HEAD" */
static const char *default_label(struct cli *cli, const struct values *v, const char *repo)
{
    const char *slash = strrchr(repo, '/');

    return arena_printf(&cli->a, "%.60s %.60s..%.60s", slash && slash[1] ? slash + 1 : repo,
                        v->before, v->after);
}

static const char *whole_path(struct cli *cli, const char *path)
{
    CLEANUP(mem_freep) char *whole = realpath(path, NULL);

    return arena_strdup(&cli->a, whole ? whole : path);
}

static int prepare(struct cli *cli, const struct values *v, struct submission *s, struct err *e)
{
    const char *repo = whole_path(cli, v->repo);
    const char **repos = arena_array(&cli->a, 2, sizeof *repos);
    struct job *job = s->job;

    repos[0] = repos[1] = repo;
    s->repo_paths = repos;
    job->sources = arena_array(&cli->a, 2, sizeof *job->sources);
    job->n_sources = 2;
    job->sources[0] = (struct job_source){.side = "before", .repo = repo, .rev = v->before};
    job->sources[1] = (struct job_source){.side = "after", .repo = repo, .rev = v->after};
    int rc = correction_opts_apply(cli, &v->correction, job->sources, e);
    if (rc == 0)
        rc = job_opts_apply(cli, &v->job, s, e);
    if (!job->label)
        job->label = default_label(cli, v, repo);
    if (rc == 0)
        rc = submission_resolve(cli, s, e);
    return rc < 0 ? rc : submission_suite(cli, s, v->suite, e);
}

static int run(struct cli *cli, const void *values, const struct opt_words *words)
{
    const struct values *v = values;
    const struct submission_after after = {v->job.wait, v->job.report};
    CLEANUP(submission_deinit)
    struct submission s = {.job = arena_alloc(&cli->a, sizeof *s.job)};
    struct connection *c = NULL;
    struct err e = {0};

    (void)words;
    int rc = check(v, &e);
    if (rc == 0)
        rc = submission_check_after(&after, &e);
    if (rc == 0)
        rc = prepare(cli, v, &s, &e);
    if (rc == 0)
        rc = submission_send(cli, &s, &c, &e);
    return rc < 0 ? cli_fail(cli, &e) : submission_finish(cli, &s, c, &after);
}

const struct command command_compare = {
    .name = "compare",
    .usage = "--before REV --suite NAME|DIR",
    .summary = "measure one commit against another",
    .more = "Commits and suite are sent to the daemon; later edits do not reach the job.",
    .opts = opts,
    .n_opts = ARRAY_LEN(opts),
    .values_bytes = sizeof(struct values),
    .defaults = &defaults,
    .run = run,
};
