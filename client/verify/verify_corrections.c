/* Authorized corrections, checked again offline: the diffs in the folder are those that the job
 * carries, and in the bundle base plus diff is the corrected commit's tree. */
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "base/mem.h"
#include "client/git/git_run.h"
#include "client/verify/verify.h"
#include "client/verify/verify_corrections.h"

static char *diff_name(const struct job_source *s)
{
    return mem_printf("corrections/%s.diff", s->side);
}

bool verify_is_correction(const struct verify *v, const char *path)
{
    for (size_t i = 0; v->raw && i < v->raw->job.n_sources; i++) {
        const struct job_source *s = &v->raw->job.sources[i];
        CLEANUP(mem_freep) char *name = diff_name(s);
        if (s->correction && strcmp(path, name) == 0)
            return true;
    }
    return false;
}

/* ---- the diffs in the folder */

static bool diff_is_there(const struct verify *v, const struct job_source *s)
{
    CLEANUP(mem_freep) char *name = diff_name(s);
    CLEANUP(mem_freep) char *path = file_join(v->dir, name);
    CLEANUP(buf_deinit) struct buf text = {0};

    return file_read(path, JOB_DIFF_MAX, &text, NULL) == 0 &&
           text.len == strlen(s->correction->diff) &&
           strcmp(buf_str(&text), s->correction->diff) == 0;
}

void verify_corrections(struct verify *v)
{
    size_t n = 0;

    for (size_t i = 0; v->raw && i < v->raw->job.n_sources; i++) {
        const struct job_source *s = &v->raw->job.sources[i];
        if (!s->correction)
            continue;
        n++;
        if (diff_is_there(v, s))
            continue;
        verify_say(v, "corrections", TRI_FAIL,
                   "corrections/%s.diff is missing or not the diff that raw.json says was allowed",
                   s->side);
        return;
    }
    if (n)
        verify_say(v, "corrections", TRI_PASS, "%zu allowed diff%s as raw.json has %s", n,
                   n == 1 ? "" : "s", n == 1 ? "it" : "them");
}

/* ---- the proof in a repository of the bundle */

/* True when git answers with exactly this line. */
static bool answers(const struct git_call *c, const char *const *args, const char *line)
{
    CLEANUP(buf_deinit) struct buf out = {0}, errout = {0};
    int status = 0;

    return git_call(c, args, &status, &out, &errout, NULL) == 0 && status == 0 &&
           strncmp(buf_str(&out), line, strlen(line)) == 0 &&
           strcmp(buf_str(&out) + strlen(line), "\n") == 0;
}

/* The tree of base plus diff; "" when it does not apply. */
static void apply(const struct git_call *repository, const struct job_correction *c, char tree[80])
{
    CLEANUP(buf_deinit) struct buf out = {0}, errout = {0};
    struct git_call with_diff = *repository;
    int status = 0;

    tree[0] = '\0';
    with_diff.input = c->diff;
    with_diff.input_len = strlen(c->diff);
    if (git_call_asks(repository, GIT_ARGS("read-tree", c->base_commit)) &&
        git_call_asks(&with_diff,
                      GIT_ARGS("apply", "--cached", "--whitespace=nowarn", "-p1", "-")) &&
        git_call(repository, GIT_ARGS("write-tree"), &status, &out, &errout, NULL) == 0 &&
        status == 0)
        (void)snprintf(tree, 80, "%s", git_first_line(&out));
}

const char *verify_correction_fault(struct verify *v, const struct git_call *repository,
                                    const struct job_source *s)
{
    const struct job_correction *c = s->correction;
    CLEANUP(mem_freep) char *parents = mem_printf("%s^@", s->commit);
    CLEANUP(mem_freep) char *its_tree = mem_printf("%s^{tree}", s->commit);
    char tree[80];

    if (!c)
        return NULL;
    if (!answers(repository, GIT_ARGS("rev-parse", parents), c->base_commit))
        return arena_printf(&v->a, "side %s: %s is not the one parent of %s", s->side,
                            c->base_commit, s->commit);
    apply(repository, c, tree);
    if (!tree[0] || !answers(repository, GIT_ARGS("rev-parse", its_tree), tree))
        return arena_printf(&v->a, "side %s: %s is not %s with exactly the allowed diff", s->side,
                            s->commit, c->base_commit);
    return NULL;
}
