#include "client/job/job_load.h"

#include <errno.h>
#include <string.h>

#include "base/files.h"
#include "base/mem.h"
#include "base/zonefile.h"

#define JOB_BYTES_MAX (1 << 20)

const char *job_load_beside(struct cli *cli, const char *file, const char *path)
{
    const char *slash = strrchr(file, '/');

    if (path[0] == '/' || !slash)
        return path;
    return arena_printf(&cli->a, "%.*s/%s", (int)(slash - file), file, path);
}

/* A suite that is not beside the file may be one that is known by name. */
static const char *suite_arg(struct cli *cli, const char *file, const char *path)
{
    const char *there = job_load_beside(cli, file, path);

    return file_exists(there) || strchr(path, '/') ? there : path;
}

/* A machine without any zones leaves the question to the daemon's. */
int job_load_check_zone(const struct window *w, struct err *e)
{
    CLEANUP(buf_deinit) struct buf bytes = {0};

    if (!w || zonefile_read("", "window.zone", "UTC", &bytes, NULL) < 0)
        return 0;
    buf_clear(&bytes);
    return zonefile_read("", "window.zone", w->zone, &bytes, e);
}

int job_load(struct cli *cli, struct job_file *job, const char *path, const char *policy,
             struct submission *s, struct err *e)
{
    s->job = &job->job;
    const char **repos = arena_array(&cli->a, s->job->n_sources + 1, sizeof *repos);
    for (size_t i = 0; i < s->job->n_sources; i++) {
        struct job_source *source = &s->job->sources[i];
        repos[i] = job_load_beside(cli, path, source->repo);
        if (source->correction)
            source->correction->diff = job_load_beside(cli, path, source->correction->diff);
    }
    s->repo_paths = repos;
    int rc = job_load_check_zone(s->job->window, e);
    if (rc == 0)
        rc = policy_arg_read(cli, policy ? policy : s->job->policy, &s->policy, e);
    if (rc == 0)
        rc = submission_resolve(cli, s, e);
    return rc < 0 ? rc : submission_suite(cli, s, suite_arg(cli, path, job->suite_path), e);
}

int job_load_path(struct cli *cli, const char *path, const char *policy, struct submission *s,
                  struct err *e)
{
    CLEANUP(buf_deinit) struct buf text = {0};
    struct job_file *job = NULL;
    struct err why = {0};

    int rc = file_read(path, JOB_BYTES_MAX, &text, e);
    if (rc == 0)
        rc = job_file_decode(&cli->a, buf_str(&text), text.len, &job, &why);
    if (err_is_set(&why))
        return cli_fail_in_file(path, rc, &why, e);
    return rc < 0 || !job ? rc : job_load(cli, job, path, policy, s, e);
}
