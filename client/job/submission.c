#include "client/job/submission.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/digest.h"
#include "base/files.h"
#include "base/ids.h"
#include "base/mem.h"
#include "client/git/git.h"
#include "client/job/correction.h"
#include "client/job/when_opts.h"
#include "client/link/chunks.h"
#include "client/view/job_view.h"
#include "proto/doc/documents.h"

#define SEND_TRIES 5
#define TRY_AGAIN_NS 500000000LL /* doubled each time */

void submission_deinit(struct submission *s)
{
    suite_pack_deinit(&s->pack);
}

/* ---- what is on this machine */

/* Errors of git name "repo" or "rev"; with several sides the field must say whose. */
static int of_side(const struct job_source *source, int rc, const struct err *why, struct err *e)
{
    char field[sizeof e->field];

    (void)snprintf(field, sizeof field, "sources.%.40s.%.40s", source->side, why->field);
    return err_set(e, rc, why->code, field, "%s", why->text);
}

static int resolve(struct cli *cli, struct job_source *source, const char *repo, struct err *e)
{
    char id[GIT_ID_LEN + 1];
    bool names_checkout = false;
    int rc = git_check_repo(repo, e);

    if (rc == 0)
        rc = git_resolve(repo, source->rev, id, e);
    if (rc == 0)
        rc = git_names_checkout(repo, source->rev, &names_checkout, e);
    if (rc == 0 && names_checkout)
        rc = git_head_clean(repo, e);
    if (rc == 0)
        rc = git_check_commit(repo, id, e);
    if (rc == 0)
        source->commit = arena_strdup(&cli->a, id);
    if (rc == 0 && source->correction)
        rc = correction_resolve(cli, repo, source->correction, e);
    return rc;
}

int submission_resolve(struct cli *cli, struct submission *s, struct err *e)
{
    for (size_t i = 0; i < s->job->n_sources; i++) {
        struct err why = {0};
        int rc = resolve(cli, &s->job->sources[i], s->repo_paths[i], &why);
        if (rc < 0)
            return of_side(&s->job->sources[i], rc, &why, e);
    }
    return 0;
}

static bool has_lane(const struct workload *w, const char *name)
{
    for (size_t i = 0; i < w->n_lanes; i++)
        if (strcmp(w->lanes[i].name, name) == 0)
            return true;
    return false;
}

/* A misspelled exclusion would leave nothing out, and nobody would notice. */
static int check_exclusions(const struct job *job, const struct suite *suite, struct err *e)
{
    for (size_t i = 0; i < job->n_exclude; i++) {
        const struct lane_ref *ref = &job->exclude[i];
        bool found = false;
        for (size_t w = 0; w < suite->n_workloads; w++) {
            const struct workload *at = &suite->workloads[w];
            const char *name = workload_written_name(at);
            if (!ref->workload || strcmp(name, ref->workload) == 0)
                found = found || has_lane(at, ref->lane);
        }
        if (!found)
            return err_set(e, -EINVAL, "job.bad", "exclude",
                           "the suite %s has no lane %s%s%s that could be left out", suite->name,
                           ref->workload ? ref->workload : "", ref->workload ? "/" : "", ref->lane);
    }
    return 0;
}

int submission_suite(struct cli *cli, struct submission *s, const char *arg, struct err *e)
{
    CLEANUP(mem_freep) char *dir = NULL;
    struct suite *suite = NULL;
    struct err why = {0};

    int rc = suite_dir_find(arg, getenv("AURABENCH_WORKLOADS"), NULL, &dir, e);
    if (rc == 0)
        rc = suite_dir_pack(dir, &s->pack, e);
    if (rc == 0)
        rc = suite_decode(&cli->a, s->pack.json.data, s->pack.json.len, &suite, &why);
    if (err_is_set(&why)) {
        CLEANUP(mem_freep) char *file = file_join(dir, "suite.json");
        return cli_fail_in_file(file, rc, &why, e);
    }
    if (rc == 0)
        rc = check_exclusions(s->job, suite, e);
    if (rc < 0 || !suite)
        return rc;
    s->job->suite_name = suite->name;
    s->job->suite_sha256 = s->pack.sha256;
    return 0;
}

/* ---- commits */

struct missing {
    struct args commits, tips;
};

static void put_repo_commits(const struct submission *s, size_t first, struct json_out *o)
{
    json_begin_array(o, "commits");
    for (size_t i = first; i < s->job->n_sources; i++) {
        const struct job_source *source = &s->job->sources[i];
        if (strcmp(s->repo_paths[i], s->repo_paths[first]) != 0)
            continue;
        json_put_str(o, NULL, source->commit);
        if (source->correction)
            json_put_str(o, NULL, source->correction->base_commit);
    }
    json_end_array(o);
}

/* Asks which commits of the repository of source `first` the daemon lacks. */
static int ask_missing(struct cli *cli, struct connection *c, const struct submission *s,
                       size_t first, struct missing *out, struct err *e)
{
    CLEANUP(answer_deinit) struct answer answer = {0};
    CLEANUP(buf_deinit) struct buf params = {0};
    struct json_out o;
    struct json_in in;

    json_out_init(&o, &params);
    json_begin(&o, NULL);
    put_repo_commits(s, first, &o);
    json_end(&o);
    int rc = connection_call(c, "source.missing", buf_str(&params), &answer, e);
    if (rc < 0)
        return rc;
    json_in_init(&in, &cli->a, e); /* the strings outlive the answer */
    out->commits = json_opt_args(&in, answer.msg.result, "missing", 2 * JOB_SIDES_MAX);
    out->tips = json_opt_args(&in, answer.msg.result, "tips", 100000);
    return connection_check(&in, e);
}

static void show_progress(void *ctx, int64_t done, int64_t total)
{
    struct cli *cli = ctx;

    if (cli->err.tty && total > (4 << 20))
        (void)fprintf(stderr, "\r\x1b[Ksending: %lld of %lld MiB%s", (long long)(done >> 20),
                      (long long)(total >> 20), done == total ? "\r\x1b[K" : "");
}

static int send_bundle_file(struct cli *cli, struct connection *c, const char *path,
                            const struct args *commits, struct err *e)
{
    CLEANUP(mem_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    char sha256[DIGEST_HEX];
    struct upload u = {.kind = "bundle", .sha256 = sha256, .fd = fd, .commits = commits};

    if (fd < 0)
        return err_sys(e, -errno, "open", path);
    int rc = digest_fd(fd, sha256, &u.bytes);
    if (rc < 0)
        return err_sys(e, rc, "read", path);
    return upload_send(c, &u, show_progress, cli, e);
}

static int send_bundle(struct cli *cli, struct connection *c, const char *repo,
                       const struct missing *m, struct err *e)
{
    const char *tmp = getenv("TMPDIR");
    CLEANUP(mem_freep)
    char *dir = mem_printf("%s/aurabench-send-XXXXXX", tmp && tmp[0] ? tmp : "/tmp");

    if (!mkdtemp(dir))
        return err_sys(e, -errno, "create folder", dir);
    CLEANUP(mem_freep) char *path = file_join(dir, "bundle");
    int rc = git_bundle(repo, m->commits.v, m->commits.n, m->tips.v, m->tips.n, path, e);
    if (rc == 0)
        rc = send_bundle_file(cli, c, path, &m->commits, e);
    (void)file_rmtree(dir, NULL);
    return rc;
}

static bool is_first_of_repo(const struct submission *s, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(s->repo_paths[k], s->repo_paths[i]) == 0)
            return false;
    return true;
}

static int send_commits(struct cli *cli, struct connection *c, const struct submission *s,
                        struct err *e)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < s->job->n_sources; i++) {
        struct missing m = {0};
        if (!is_first_of_repo(s, i))
            continue;
        rc = ask_missing(cli, c, s, i, &m, e);
        if (rc == 0 && m.commits.n)
            rc = send_bundle(cli, c, s->repo_paths[i], &m, e);
    }
    return rc;
}

/* ---- the job */

static int send_job(struct connection *c, struct submission *s, struct err *e)
{
    CLEANUP(answer_deinit) struct answer answer = {0};
    CLEANUP(buf_deinit) struct buf params = {0};
    struct json_out o;
    struct json_in in;

    json_out_init(&o, &params);
    json_begin(&o, NULL);
    job_encode(&o, "job", s->job);
    if (s->policy.canonical)
        json_put_raw(&o, "policy", s->policy.canonical);
    if (s->hold)
        json_put_bool(&o, "hold", true);
    json_end(&o);
    int rc = connection_call(c, "job.submit", buf_str(&params), &answer, e);
    if (rc < 0)
        return rc;
    json_in_init(&in, &answer.a, e);
    const char *state = json_view_line(&in, answer.msg.result, "state", sizeof s->state - 1);
    s->duplicate = json_opt_bool(&in, answer.msg.result, "duplicate", false);
    if (in.rc == 0)
        (void)snprintf(s->state, sizeof s->state, "%s", state);
    return connection_check(&in, e);
}

static int send_suite(struct cli *cli, struct connection *c, const struct submission *s,
                      struct err *e)
{
    const struct upload suite = {.kind = "suite",
                                 .sha256 = s->pack.sha256,
                                 .bytes = (int64_t)s->pack.bytes.len,
                                 .data = s->pack.bytes.data};
    return upload_send(c, &suite, show_progress, cli, e);
}

/* What the job names: other jobs, by their whole ids, and commits. */
static int send_named(struct cli *cli, struct connection *c, const struct submission *s,
                      struct err *e)
{
    int rc = when_resolve(cli, c, s->job->after, s->job->n_after, e);

    return rc < 0 ? rc : send_commits(cli, c, s, e);
}

int submission_send_parts(struct cli *cli, const struct submission *s, struct connection *c,
                          struct err *e)
{
    int rc = send_named(cli, c, s, e);

    return rc < 0 ? rc : send_suite(cli, c, s, e);
}

/* Most suites are there already: the daemon is not asked first, it says so when one is not. */
static int send_job_and_suite(struct cli *cli, struct connection *c, struct submission *s,
                              struct err *e)
{
    int rc = send_job(c, s, e);

    if (rc == 0 || strcmp(e->code, "suite.not_here") != 0)
        return rc;
    err_clear(e);
    rc = send_suite(cli, c, s, e);
    return rc < 0 ? rc : send_job(c, s, e);
}

static int send_once(struct cli *cli, struct submission *s, struct connection **c, struct err *e)
{
    int rc = cli_connect(cli, c, e);

    if (rc == 0)
        rc = send_named(cli, *c, s, e);
    if (rc == 0)
        rc = send_job_and_suite(cli, *c, s, e);
    if (rc < 0) {
        connection_close(*c);
        *c = NULL;
    }
    return rc;
}

int submission_send(struct cli *cli, struct submission *s, struct connection **c, struct err *e)
{
    int64_t pause_ns = TRY_AGAIN_NS;

    ulid_new(s->id);
    s->job->id = s->id;
    s->job->policy = s->policy.name;
    int rc = send_once(cli, s, c, e);
    /* Whether the job has arrived is not known; with its id it can be sent again without harm. */
    for (int i = 1; i < SEND_TRIES && rc == -EPIPE; i++, pause_ns *= 2) {
        clock_sleep_ns(pause_ns);
        err_clear(e);
        rc = send_once(cli, s, c, e);
        if (rc == -ECONNREFUSED)
            rc = -EPIPE;
    }
    return rc;
}
