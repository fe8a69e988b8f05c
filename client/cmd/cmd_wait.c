/* aurabench wait: the end of one job, of several, or of the first of them. */
#include <errno.h>

#include "base/mem.h"
#include "client/cmd/commands.h"
#include "client/link/await.h"
#include "client/link/follow.h"

struct values {
    const char *until;
    bool any;
};

static const struct opt opts[] = {
    {0, "until", OPT_TEXT, "STATE", offsetof(struct values, until), 0, 0,
     "end when the job is in this state (waiting, preparing, measuring, ...) or past it"},
    {0, "any", OPT_FLAG, NULL, offsetof(struct values, any), 0, 0,
     "of several jobs wait for the first that ends"},
};

static void print_lines(struct cli *cli, const struct awaited *jobs, size_t n)
{
    CLEANUP(buf_deinit) struct buf out = {0};

    for (size_t i = 0; i < n; i++)
        if (jobs[i].over)
            follow_end_line(&cli->out, &jobs[i].job, &out);
    cli_put(&out);
}

static const cJSON *job_node(const struct awaited *job)
{
    return cJSON_GetObjectItemCaseSensitive(job->answer.msg.result, "job");
}

/* One job stands alone, as in the documents of other commands; several stand in a list. */
static void print_document(struct cli *cli, const struct awaited *jobs, size_t n)
{
    CLEANUP(buf_deinit) struct buf out = {0};
    struct json_out o;

    cli_json_begin(cli, &o, &out);
    if (n == 1) {
        cli_json_node(&o, "job", job_node(&jobs[0]));
    } else {
        json_begin_array(&o, "jobs");
        for (size_t i = 0; i < n; i++)
            if (jobs[i].over)
                cli_json_node(&o, NULL, job_node(&jobs[i]));
        json_end_array(&o);
    }
    cli_json_end(&o);
}

/* Of the first job, as they were named, that is over and not good. */
static int status_of(const struct awaited *jobs, size_t n)
{
    int status = EXIT_GOOD;

    for (size_t i = 0; status == EXIT_GOOD && i < n; i++)
        if (jobs[i].over)
            status = job_state_status(jobs[i].job.state);
    return status;
}

static int run(struct cli *cli, const void *values, const struct opt_words *words)
{
    const struct values *v = values;
    size_t n = words->words.n;
    struct awaited *jobs = arena_array(&cli->a, n, sizeof *jobs);
    enum job_state until = JOB_NEW;
    struct err e = {0};

    for (size_t i = 0; i < n; i++)
        jobs[i].word = words->words.v[i];
    int rc = follow_until(v->until, &until, &e);
    if (rc == 0)
        rc = await_jobs(cli, jobs, n, v->any, until, &e);
    if (rc == 0 && cli->shared.json)
        print_document(cli, jobs, n);
    else if (rc == 0)
        print_lines(cli, jobs, n);
    int status = rc < 0 ? cli_fail(cli, &e) : status_of(jobs, n);
    awaited_deinit(jobs, n);
    return status;
}

const struct command command_wait = {
    .name = "wait",
    .usage = "ID...",
    .summary = "wait for the end of jobs, silently",
    .more = "Ends with the job's own status: 0 done, 1 failed or expired, 5 cancelled, 6 not "
            "qualified, 7 lost;\nof several jobs with that of the first one named that is not 0.",
    .opts = opts,
    .n_opts = ARRAY_LEN(opts),
    .values_bytes = sizeof(struct values),
    .words_min = 1,
    .words_max = AWAIT_MAX,
    .run = run,
};
