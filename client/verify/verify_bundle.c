/* commits.bundle: git takes it, every commit that was measured is in it, whole, and a corrected one
 * is its base with exactly the allowed diff. */
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/mem.h"
#include "client/git/git_run.h"
#include "client/verify/verify.h"
#include "client/verify/verify_corrections.h"

#define GIT_TIMEOUT_MS INT64_C(600000)

/* The repository is empty but for the bundle: what it lacks is missing. */
static const char *commit_fault(struct verify *v, const struct git_call *c, const char *commit)
{
    CLEANUP(buf_deinit) struct buf out = {0}, errout = {0};
    struct err e = {0};
    int status = 0;

    if (!commit || strlen(commit) < 40 || strspn(commit, "0123456789abcdef") != strlen(commit))
        return "raw.json names a source without a full commit id";
    if (git_call(c, GIT_ARGS("rev-list", "--objects", "--quiet", commit), &status, &out, &errout,
                 &e) < 0)
        return arena_strdup(&v->a, e.text);
    if (status != 0)
        return arena_printf(&v->a, "it does not hold commit %s whole: %s", commit,
                            git_complaint(&errout));
    return NULL;
}

/* The checkout had every file of the commit and no other. */
static const char *files_fault(struct verify *v, const struct git_call *c,
                               const struct raw_source *source)
{
    CLEANUP(buf_deinit) struct buf out = {0};
    int64_t files = 0;
    int status = 0;

    if (git_call(c, GIT_ARGS("ls-tree", "-r", "-z", "--name-only", source->commit), &status, &out,
                 NULL, NULL) < 0 ||
        status != 0)
        return "git could not list the files of a measured commit";
    for (size_t i = 0; i < out.len; i++)
        files += out.data[i] == '\0';
    if (files == source->files)
        return NULL;
    return arena_printf(&v->a, "commit %s has %lld files, the checkout of %s had %lld",
                        source->commit, (long long)files, source->side, (long long)source->files);
}

static const char *unbundle(struct verify *v, const struct git_call *c, const char *bundle)
{
    static const char *const inits[] = {"init", "-q", "--bare", "--template=", NULL};
    const char *const steps[][4] = {{"bundle", "verify", bundle, NULL},
                                    {"bundle", "unbundle", bundle, NULL}};
    CLEANUP(buf_deinit) struct buf out = {0}, errout = {0};
    struct err e = {0};
    int status = 0;
    int rc = git_call(c, inits, &status, &out, &errout, &e);

    for (size_t i = 0; rc == 0 && status == 0 && i < ARRAY_LEN(steps); i++) {
        buf_clear(&errout);
        rc = git_call(c, steps[i], &status, &out, &errout, &e);
    }
    if (rc < 0)
        return arena_strdup(&v->a, e.text);
    return status ? arena_printf(&v->a, "git refuses it: %s", git_complaint(&errout)) : NULL;
}

static const char *bundle_fault(struct verify *v, const char *bundle, const char *git_dir)
{
    const struct git_call c = {.git_dir = git_dir, .out_fd = -1, .timeout_ms = GIT_TIMEOUT_MS};
    const char *fault = unbundle(v, &c, bundle);

    for (size_t i = 0; !fault && i < v->raw->n_sources; i++)
        fault = commit_fault(v, &c, v->raw->sources[i].commit);
    for (size_t i = 0; !fault && i < v->raw->job.n_sources; i++)
        fault = verify_correction_fault(v, &c, &v->raw->job.sources[i]);
    for (size_t i = 0; !fault && i < v->raw->n_sources; i++)
        fault = files_fault(v, &c, &v->raw->sources[i]);
    return fault;
}

static const char *fault_in_a_new_repository(struct verify *v, const char *bundle)
{
    const char *tmp = getenv("TMPDIR");
    CLEANUP(mem_freep) char *whole = realpath(bundle, NULL);
    CLEANUP(mem_freep)
    char *dir = mem_printf("%s/aurabench-verify-XXXXXX", tmp && tmp[0] ? tmp : "/tmp");

    if (!whole || !mkdtemp(dir))
        return "no temporary folder could be made; see TMPDIR";
    CLEANUP(mem_freep) char *git_dir = file_join(dir, "git");
    const char *fault = bundle_fault(v, whole, git_dir);
    (void)file_rmtree(dir, NULL);
    return fault;
}

void verify_bundle(struct verify *v)
{
    CLEANUP(mem_freep) char *path = file_join(v->dir, "commits.bundle");
    bool wanted = v->raw && v->raw->n_sources > 0;

    if (!v->raw)
        return;
    if (!file_exists(path)) {
        verify_say(v, "bundle", wanted ? TRI_UNKNOWN : TRI_PASS, "%s",
                   wanted ? "not in this evidence: the measured commits cannot be checked"
                          : "none: the job has no sources");
        return;
    }
    const char *fault =
        wanted ? fault_in_a_new_repository(v, path) : "a bundle of a job that has no sources";
    verify_say(v, "bundle", fault ? TRI_FAIL : TRI_PASS, "%s",
               fault ? fault : "git reads it, and every measured commit is in it whole");
}
