#include "client/link/await.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "client/link/follow.h"
#include "client/link/reconnect.h"

struct waiting {
    struct cli *cli;
    struct awaited *jobs;
    size_t n;
    bool any;
    enum job_state until;
    struct reconnecting outage;
};

void awaited_deinit(struct awaited *jobs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        answer_deinit(&jobs[i].answer);
}

static bool is_over(const struct waiting *w, const struct job_view *job)
{
    return (job_state_is_final(job->state) && !job->progress.step) ||
           follow_has_reached(w->until, job->state);
}

static bool is_enough(const struct waiting *w)
{
    size_t over = 0;

    for (size_t i = 0; i < w->n; i++)
        over += w->jobs[i].over;
    return over == w->n || (w->any && over > 0);
}

/* ---- asking */

static int ask(struct awaited *job, struct connection *c, int64_t *asked, struct err *e)
{
    CLEANUP(buf_deinit) struct buf params = {0};

    cli_id_params(&params, job->word);
    return connection_send(c, "job.watch", buf_str(&params), asked, e);
}

/* reached: an event said so, whatever has become of the job since. */
static int hear(const struct waiting *w, struct awaited *job, struct connection *c, int64_t asked,
                bool reached, struct err *e)
{
    struct json_in in;

    answer_deinit(&job->answer);
    int rc = connection_receive(c, asked, &job->answer, e);
    if (rc < 0)
        return rc;
    json_in_init(&in, &job->answer.a, e);
    job_view_decode(&in, json_obj(&in, job->answer.msg.result, "job"), &job->job);
    rc = connection_check(&in, e);
    if (rc < 0)
        return rc;
    job->over = reached || is_over(w, &job->job);
    job->word = arena_strdup(&w->cli->a, job->job.id); /* it alone fits for ever */
    return 0;
}

static int ask_one(const struct waiting *w, struct awaited *job, struct connection *c, bool reached,
                   struct err *e)
{
    int64_t asked = 0;
    int rc = ask(job, c, &asked, e);

    return rc < 0 ? rc : hear(w, job, c, asked, reached, e);
}

/* All together: each answer may have to wait for a pause in the timing. */
static int ask_all(const struct waiting *w, struct connection *c, struct err *e)
{
    int64_t asked[AWAIT_MAX];
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < w->n; i++)
        if (!w->jobs[i].over)
            rc = ask(&w->jobs[i], c, &asked[i], e);
    for (size_t i = 0; rc == 0 && i < w->n; i++)
        if (!w->jobs[i].over)
            rc = hear(w, &w->jobs[i], c, asked[i], false, e);
    return rc;
}

/* ---- being told */

static int take_event(const struct waiting *w, struct connection *c, struct err *e)
{
    CLEANUP(answer_deinit) struct answer note = {0};
    struct json_in in;
    int rc = connection_next(c, &note, e);

    if (rc < 0 || strcmp(note.msg.method, "job.event") != 0)
        return rc;
    json_in_init(&in, &note.a, e);
    const char *id = json_str(&in, note.msg.params, "job", 64);
    int state = json_enum(&in, note.msg.params, "state", job_state_parse);
    bool final = json_opt_bool(&in, note.msg.params, "final", false);
    rc = connection_check(&in, e);
    if (rc < 0 || !(final || follow_has_reached(w->until, (enum job_state)state)))
        return rc;
    for (size_t i = 0; rc == 0 && i < w->n; i++)
        if (!w->jobs[i].over && strcmp(w->jobs[i].job.id, id) == 0)
            rc = ask_one(w, &w->jobs[i], c, true, e);
    return rc;
}

static int await_once(struct waiting *w, struct connection *c, struct err *e)
{
    int rc = ask_all(w, c, e);

    if (rc == 0)
        reconnected(&w->outage);
    while (rc == 0 && !is_enough(w))
        rc = take_event(w, c, e);
    return rc;
}

int await_jobs(struct cli *cli, struct awaited *jobs, size_t n, bool any, enum job_state until,
               struct err *e)
{
    struct waiting w = {.cli = cli, .jobs = jobs, .n = n, .any = any, .until = until};
    struct connection *c = NULL;
    int rc = cli_connect(cli, &c, e);

    if (rc == 0)
        rc = await_once(&w, c, e);
    while (reconnect_may_help(&w.outage, rc)) {
        rc = reconnect(cli, &w.outage, &c, e);
        if (rc == 0)
            rc = await_once(&w, c, e);
    }
    connection_close(c);
    return rc;
}
