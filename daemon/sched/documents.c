/* What the store has of a claimed job, decoded into its attempt. */
#include <errno.h>
#include <string.h>

#include "base/files.h"
#include "proto/doc/documents.h"
#include "sched/sched_internal.h"
#include "sched/stored.h"

static int load_session(struct sched *s, struct attempt *a, const char *id)
{
    struct raw_session *in = arena_alloc(&a->arena, sizeof *in);
    struct store_session *row;
    int rc = stored_session(s->config.store, &a->arena, id, &row, &a->session, &a->e);

    if (rc < 0)
        return rc;
    *in = (struct raw_session){.id = row->id,
                               .label = row->label,
                               .boot = a->session->boot,
                               .opened_ms = row->opened_ms,
                               .opened_boot = row->opened_boot,
                               .settle_ms = a->session->settle_ms};
    a->in_session = in;
    return 0;
}

int attempt_load(struct sched *s, struct attempt *a)
{
    struct store_job *row;
    const char *path;
    struct buf text = {0};
    int rc = stored_job(s->config.store, &a->arena, a->job_id, &row, &a->job, &a->e);

    if (rc == 0)
        a->job->n_notify = 0; /* whom it tells is not for those who read its report */
    if (rc == 0)
        rc = policy_decode(&a->arena, row->policy, strlen(row->policy), &a->policy, &a->e);
    if (rc == 0 && row->session)
        rc = load_session(s, a, row->session);
    if (rc < 0)
        return rc;
    path = source_suite_path(s->config.sources, &a->arena, a->job->suite_sha256);
    if (!path)
        return err_set(&a->e, -ENOENT, "suite.not_here", "suite.sha256",
                       "the daemon does not have this suite; submit the job again");
    rc = file_read(arena_printf(&a->arena, "%s/suite.json", path), 1 << 20, &text, &a->e);
    if (rc == 0)
        rc = suite_decode(&a->arena, buf_str(&text), text.len, &a->suite, &a->e);
    buf_deinit(&text);
    return rc;
}
