#include "client/job/job_opts.h"

#include <errno.h>
#include <string.h>

#include "proto/doc/doc_notify.h"

/* "workload/lane", or "lane" for every workload. Names are checked by the daemon. */
static int parse_exclude(struct cli *cli, const char *text, struct lane_ref *out, struct err *e)
{
    const char *slash = strchr(text, '/');

    out->lane = slash ? slash + 1 : text;
    out->workload = slash ? arena_strndup(&cli->a, text, (size_t)(slash - text)) : NULL;
    if (out->lane[0] && (!out->workload || out->workload[0]))
        return 0;
    return err_set(e, -EINVAL, "usage", "--exclude",
                   "--exclude takes WORKLOAD/LANE, or LANE for every workload, not %s",
                   text[0] ? text : "nothing");
}

static int apply_exclude(struct cli *cli, const struct args *exclude, struct job *job,
                         struct err *e)
{
    job->exclude = arena_array(&cli->a, exclude->n, sizeof *job->exclude);
    job->n_exclude = exclude->n;
    for (size_t i = 0; i < exclude->n; i++) {
        int rc = parse_exclude(cli, exclude->v[i], &job->exclude[i], e);
        if (rc < 0)
            return rc;
    }
    return 0;
}

int job_opts_notify(struct cli *cli, const struct args *notify, struct job *job, struct err *e)
{
    struct notify *all = arena_array(&cli->a, job->n_notify + notify->n, sizeof *all);
    int rc = 0;

    if (job->n_notify + notify->n > NOTIFY_MAX)
        return err_set(e, -EINVAL, "usage", "--notify",
                       "a job tells at most %d programs of its end", NOTIFY_MAX);
    for (size_t i = 0; i < job->n_notify; i++)
        all[i] = job->notify[i];
    job->notify = all;
    for (size_t i = 0; rc == 0 && i < notify->n; i++)
        rc = notify_from_text(&cli->a, "--notify", notify->v[i], &all[job->n_notify++], e);
    return rc;
}

int job_opts_apply(struct cli *cli, const struct job_opts *o, struct submission *s, struct err *e)
{
    struct job *job = s->job;
    int order = o->order ? order_parse(o->order) : ORDER_INTERLEAVED;

    if (order < 0)
        return err_set(e, -EINVAL, "usage", "--order",
                       "--order takes interleaved or sequential, not %s", o->order);
    job->repetitions = o->repetitions;
    job->warmups = o->warmups;
    job->order = (enum order)order;
    job->allow_competing = o->allow_competing;
    job->retry_every_ms = job->retry_limit = -1;
    s->hold = o->hold;
    int rc = when_opts_apply(cli, &o->when, job, e);
    if (rc == 0)
        rc = apply_exclude(cli, &o->exclude, job, e);
    if (rc == 0)
        rc = job_opts_notify(cli, &o->notify, job, e);
    return rc < 0 ? rc : policy_arg_read(cli, o->policy, &s->policy, e);
}
