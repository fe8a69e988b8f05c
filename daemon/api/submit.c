/* Submitting: what is asked of a job before the store has it, and job.submit. */
#include <errno.h>
#include <string.h>

#include "api/internal.h"
#include "base/fault.h"
#include "base/mem.h"
#include "proto/doc/doc_command.h"
#include "sched/stored.h"

static bool uses_source(const struct args *commands, size_t n)
{
    const char *bad;

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < commands[i].n; k++)
            if (doc_placeholders(commands[i].v[k], &bad) & PLACE_SOURCE)
                return true;
    return false;
}

static int check_sources(struct api_call *c, const struct job *job, const struct suite *suite)
{
    const char *user = uses_source(suite->build, suite->n_build) ? "its build" : NULL;

    for (size_t w = 0; w < suite->n_workloads; w++)
        for (size_t l = 0; l < suite->workloads[w].n_lanes; l++) {
            const struct lane *lane = &suite->workloads[w].lanes[l];
            if (uses_source(&lane->command, 1) || uses_source(lane->prepare, lane->n_prepare))
                user =
                    arena_printf(&c->arena, "lane %s of %s", lane->name, suite->workloads[w].name);
        }
    if (job->n_sources > 0 || !user)
        return 0;
    return err_set(&c->e, -EINVAL, "suite.needs_sources", "sources",
                   "%s uses {source}, but the job has no sources; submit it with a revision to "
                   "measure",
                   user);
}

static bool names_a_lane(const struct suite *suite, const struct lane_ref *ref)
{
    for (size_t w = 0; w < suite->n_workloads; w++) {
        const struct workload *workload = &suite->workloads[w];
        const char *name = workload_written_name(workload);
        if (ref->workload && strcmp(ref->workload, name) != 0)
            continue;
        for (size_t l = 0; l < workload->n_lanes; l++)
            if (strcmp(ref->lane, workload->lanes[l].name) == 0)
                return true;
    }
    return false;
}

/* A misspelled name would leave nothing out, and the report would not be what was asked for. */
static int check_exclude(struct api_call *c, const struct job *job, const struct suite *suite)
{
    for (size_t i = 0; i < job->n_exclude; i++) {
        const struct lane_ref *ref = &job->exclude[i];
        if (!names_a_lane(suite, ref))
            return err_set(&c->e, -EINVAL, "job.bad", arena_printf(&c->arena, "exclude[%zu]", i),
                           "suite %s has no lane %s%s%s; name one of its lanes", suite->name,
                           ref->workload ? ref->workload : "", ref->workload ? "/" : "", ref->lane);
    }
    return 0;
}

static int check_suite(struct api_call *c, const struct job *job, int64_t now_ms)
{
    const char *dir = source_suite_path(c->api->config.sources, &c->arena, job->suite_sha256);
    const struct suite *suite;

    if (!dir)
        return err_set(&c->e, -ENOENT, "suite.not_here", "suite.sha256",
                       "the daemon does not have this suite; send it with upload.begin first");
    int rc = api_known_suite(c->api->known, job->suite_sha256, dir, &suite, &c->e);
    if (rc == 0)
        rc = check_sources(c, job, suite);
    if (rc == 0)
        rc = check_exclude(c, job, suite);
    if (rc < 0)
        return rc;
    const struct store_suite row = {
        .sha256 = job->suite_sha256, .name = suite->name, .path = dir, .added_ms = now_ms};
    return store_suite_put(c->api->config.store, &row, &c->e);
}

/* ---- the session it belongs to */

/* What the job does not say of times and retries, its session does: the stored job says it all. */
static void take_from_session(struct job *job, const struct session *session)
{
    job->session = session->id;
    if (!job->window)
        job->window = session->window;
    if (job->deadline_ms == 0)
        job->deadline_ms = session->deadline_ms;
    if (job->retry_every_ms < 0)
        job->retry_every_ms = session->retry_every_ms;
    if (job->retry_limit < 0)
        job->retry_limit = session->retry_limit;
}

int api_session_read(struct api_call *c, const char *id, struct store_session **row,
                     struct session **session)
{
    return stored_session(c->api->config.store, &c->arena, id, row, session, &c->e);
}

static int join_named(struct api_call *c, struct job *job)
{
    struct store_session *row;
    struct session *session;
    char id[ULID_LEN + 1];

    if (!job->session)
        return 0;
    int rc = store_session_find(c->api->config.store, job->session, id, &c->e);
    if (rc != 0)
        return rc > 0 ? -EINVAL : rc;
    rc = api_session_read(c, id, &row, &session);
    if (rc == 0)
        take_from_session(job, session);
    return rc;
}

/* ---- a row for the store */

static int policy_text(struct api_call *c, const cJSON *given, const char *name, const char **text)
{
    struct policy *policy;

    if (!given || cJSON_IsNull(given))
        return api_known_policy(c->api->known, name, text, &c->e);
    int rc = api_policy_of(c, given, name, &policy);
    if (rc == 0)
        *text = api_policy_text(&c->arena, policy);
    return rc;
}

static void make_row(struct api_call *c, const struct job *job, const char *policy, int64_t now_ms,
                     struct store_new_job *row)
{
    *row = (struct store_new_job){.id = job->id,
                                  .document = stored_document(&c->arena, job),
                                  .policy = policy,
                                  .label = job->label,
                                  .suite_sha256 = job->suite_sha256,
                                  .priority = job->priority,
                                  .peer_uid = c->session->peer.uid,
                                  .wall_ms = now_ms,
                                  .session = job->session,
                                  .timed = stored_is_timed(job),
                                  .deadline_ms = job->deadline_ms,
                                  .after = job->after,
                                  .n_after = job->n_after};
}

/* A job that is here already is not asked again whether it could run and tell of it: time has
 * passed. */
static int check_new(struct api_call *c, const struct job *job)
{
    bool timed = job->window || job->not_before_ms != 0 || job->deadline_ms != 0;
    struct store_job *known;

    if (!timed && job->n_notify == 0)
        return 0;
    if (store_job_get(c->api->config.store, job->id, &c->arena, &known, NULL) == 0)
        return 0;
    int rc = timed ? sched_check_job(c->api->config.sched, job, &c->e) : 0;
    return rc < 0 ? rc : sched_check_hooks(job, &c->e);
}

int api_prepare_job(struct api_call *c, const cJSON *doc, const cJSON *policy_node,
                    const struct session *session, const char *in, struct store_new_job *row)
{
    int64_t now_ms = sched_now_ms(c->api->config.sched);
    const char *policy;
    struct job *job;
    int rc = job_decode(&c->arena, doc, &job, &c->e);

    if (rc == 0 && session)
        take_from_session(job, session);
    else if (rc == 0)
        rc = join_named(c, job);
    if (rc == 0)
        rc = policy_text(c, policy_node, job->policy, &policy);
    if (rc == 0)
        rc = check_suite(c, job, now_ms);
    if (rc == 0)
        rc = check_new(c, job);
    if (rc < 0)
        return rc;
    make_row(c, job, policy, now_ms, row);
    api_add_proofs(c, job, in);
    return 0;
}

/* ---- job.submit */

static int answer_submit(struct api_call *c)
{
    const struct store_new_job *row = c->data;
    struct store_job *job;
    bool duplicate = false;
    FAULT_POINT("submit.prepared");
    int rc = store_job_submit(c->api->config.store, row, &duplicate, &c->e);

    FAULT_POINT("submit.stored");
    if (rc == 0)
        rc = store_job_get(c->api->config.store, row->id, &c->arena, &job, &c->e);
    if (rc < 0)
        return rc;
    json_put_str(c->o, "id", job->id);
    json_put_str(c->o, "state", job_state_name(job->state));
    json_put_bool(c->o, "duplicate", duplicate);
    sched_kick(c->api->config.sched);
    return 0;
}

int api_submit(struct api_call *c, const struct session *session)
{
    const cJSON *doc = json_obj(&c->in, c->req.params, "job");
    const cJSON *policy = cJSON_GetObjectItemCaseSensitive(c->req.params, "policy");
    bool held = json_opt_bool(&c->in, c->req.params, "hold", false);
    struct store_new_job *row = arena_alloc(&c->arena, sizeof *row);

    if (c->in.rc < 0)
        return c->in.rc;
    c->data = row;
    int rc = api_prepare_job(c, doc, policy, session, NULL, row);
    row->held = held;
    return rc < 0 ? rc : api_after_proofs(c, answer_submit);
}

int api_job_submit(struct api_call *c)
{
    int rc = api_group_join(c);

    return rc < 0 ? rc : api_submit(c, NULL);
}
