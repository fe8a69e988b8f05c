#include "client/job/session_open.h"

#include <errno.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/mem.h"
#include "client/job/job_load.h"
#include "proto/doc/documents.h"

#define SESSION_BYTES_MAX (1 << 20)
/* Of one message, which may have 1 MiB. */
#define OPEN_BYTES_MAX ((size_t)768 << 10)
#define SEND_TRIES 5
#define TRY_AGAIN_NS 500000000LL /* doubled each time */

/* ---- the file */

/* Errors of a job name its own fields; which job it is stands in front. */
static int of_job(size_t i, int rc, const struct err *why, struct err *e)
{
    char field[sizeof e->field];

    (void)snprintf(field, sizeof field, "jobs[%zu]%s%.100s", i, why->field[0] ? "." : "",
                   why->field);
    return err_set(e, rc, why->code, field, "job %zu of the session: %s", i + 1, why->text);
}

static int load_job(struct cli *cli, const char *path, const char *policy,
                    struct session_opening *o, size_t i, struct err *e)
{
    const struct session_file_job *job = &o->file->jobs[i];
    struct submission *s = &o->jobs[i];
    struct err why = {0};
    int rc = job->file ? job_load(cli, job->file, path, policy, s, &why)
                       : job_load_path(cli, job_load_beside(cli, path, job->path), policy, s, &why);

    if (rc < 0)
        return of_job(i, rc, &why, e);
    ulid_new(o->job_ids[i]);
    s->job->id = o->job_ids[i];
    s->job->policy = s->policy.name;
    return 0;
}

int session_opening_load(struct cli *cli, const char *path, const char *policy,
                         struct session_opening *o, struct err *e)
{
    CLEANUP(buf_deinit) struct buf text = {0};
    struct err why = {0};
    int rc = file_read(path, SESSION_BYTES_MAX, &text, e);

    if (rc == 0)
        rc = session_file_decode(&cli->a, buf_str(&text), text.len, &o->file, &why);
    if (rc == 0)
        rc = job_load_check_zone(o->file->session.window, &why);
    if (err_is_set(&why))
        return cli_fail_in_file(path, rc, &why, e);
    if (rc < 0)
        return rc;
    ulid_new(o->id);
    o->file->session.id = o->id;
    o->jobs = arena_array(&cli->a, o->file->n_jobs, sizeof *o->jobs);
    o->job_ids = arena_array(&cli->a, o->file->n_jobs, sizeof *o->job_ids);
    for (size_t i = 0; rc == 0 && i < o->file->n_jobs; i++)
        rc = load_job(cli, path, policy, o, i, e);
    return rc;
}

void session_opening_deinit(struct session_opening *o)
{
    for (size_t i = 0; o->jobs && i < o->file->n_jobs; i++)
        submission_deinit(&o->jobs[i]);
}

/* ---- sending */

static void put_job(struct json_out *j, const struct submission *s)
{
    job_encode(j, "job", s->job);
    if (s->policy.canonical)
        json_put_raw(j, "policy", s->policy.canonical);
}

/* The session with its first jobs, as many as fit; how many that were. */
static size_t put_open(const struct session_opening *o, struct buf *out)
{
    struct json_out j;
    size_t i = 0;

    json_out_init(&j, out);
    json_begin(&j, NULL);
    session_encode(&j, "session", &o->file->session);
    json_begin_array(&j, "jobs");
    for (; i < o->file->n_jobs; i++) {
        const struct json_out before = j;
        size_t len = out->len;
        json_begin(&j, NULL);
        put_job(&j, &o->jobs[i]);
        json_end(&j);
        if (out->len > OPEN_BYTES_MAX && i > 0) {
            j = before;
            out->len = len;
            break;
        }
    }
    json_end_array(&j);
    json_end(&j);
    return i;
}

static int open_first(struct session_opening *o, struct connection *c, size_t *sent, struct err *e)
{
    CLEANUP(answer_deinit) struct answer answer = {0};
    CLEANUP(buf_deinit) struct buf params = {0};
    struct json_in in;

    *sent = put_open(o, &params);
    int rc = connection_call(c, "session.open", buf_str(&params), &answer, e);
    if (rc < 0)
        return rc;
    json_in_init(&in, &answer.a, e);
    o->duplicate = json_bool(&in, answer.msg.result, "duplicate");
    return connection_check(&in, e);
}

static int add_job(struct session_opening *o, struct connection *c, size_t i, struct err *e)
{
    CLEANUP(answer_deinit) struct answer answer = {0};
    CLEANUP(buf_deinit) struct buf params = {0};
    struct err why = {0}, told = {0};
    struct json_out j;

    json_out_init(&j, &params);
    json_begin(&j, NULL);
    json_put_str(&j, "id", o->id);
    put_job(&j, &o->jobs[i]);
    json_end(&j);
    int rc = connection_call(c, "session.add", buf_str(&params), &answer, &why);
    if (rc != -EREMOTEIO)
        return rc < 0 ? err_set(e, rc, why.code, why.field, "%s", why.text) : 0;
    (void)of_job(i, rc, &why, &told);
    return err_set(e, rc, told.code, told.field,
                   "%.500s; session %s is open with the jobs before that one", told.text,
                   o->file->session.label);
}

static int send_once(struct cli *cli, struct session_opening *o, struct err *e)
{
    struct connection *c = NULL;
    size_t sent = 0;
    int rc = cli_connect(cli, &c, e);

    for (size_t i = 0; rc == 0 && i < o->file->n_jobs; i++)
        rc = submission_send_parts(cli, &o->jobs[i], c, e);
    if (rc == 0)
        rc = open_first(o, c, &sent, e);
    for (; rc == 0 && sent < o->file->n_jobs; sent++)
        rc = add_job(o, c, sent, e);
    connection_close(c);
    return rc;
}

int session_opening_send(struct cli *cli, struct session_opening *o, struct err *e)
{
    int64_t pause_ns = TRY_AGAIN_NS;
    int rc = send_once(cli, o, e);

    /* How much of it has arrived is not known; with its ids it can be sent again without harm. */
    for (int i = 1; i < SEND_TRIES && rc == -EPIPE; i++, pause_ns *= 2) {
        clock_sleep_ns(pause_ns);
        err_clear(e);
        rc = send_once(cli, o, e);
        if (rc == -ECONNREFUSED)
            rc = -EPIPE;
    }
    return rc;
}
