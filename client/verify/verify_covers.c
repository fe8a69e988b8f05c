/* --covers: did later commits change anything that was measured? */
#include <string.h>

#include "base/mem.h"
#include "client/git/git.h"
#include "client/git/git_run.h"
#include "client/verify/verify.h"

#define CHANGED_SHOWN 10

/* The commit whose speed the report speaks of: that of "after", else of the last side. */
static const struct raw_source *measured(const struct raw *raw)
{
    for (size_t i = 0; i < raw->n_sources; i++)
        if (strcmp(raw->sources[i].side, "after") == 0)
            return &raw->sources[i];
    return raw->n_sources ? &raw->sources[raw->n_sources - 1] : NULL;
}

/* A path that is in neither commit is a misspelling, and would always be covered. */
static const char *unknown_path(struct verify *v, const struct git_call *c, const char *was,
                                const char *is, const struct args *paths)
{
    for (size_t i = 0; i < paths->n; i++) {
        CLEANUP(buf_deinit) struct buf a = {0}, b = {0};
        int status = 0;
        (void)git_call(c, GIT_ARGS("--literal-pathspecs", "ls-tree", was, "--", paths->v[i]),
                       &status, &a, NULL, NULL);
        (void)git_call(c, GIT_ARGS("--literal-pathspecs", "ls-tree", is, "--", paths->v[i]),
                       &status, &b, NULL, NULL);
        if (a.len == 0 && b.len == 0)
            return arena_printf(&v->a, "neither commit has %s", paths->v[i]);
    }
    return NULL;
}

static int changed_files(const struct git_call *c, const char *was, const char *is,
                         const struct args *paths, struct buf *out, struct err *e)
{
    static const char *const head[] = {"--literal-pathspecs", "diff",          "--name-only",  "-z",
                                       "--no-renames",        "--no-ext-diff", "--no-textconv"};
    size_t n = ARRAY_LEN(head);
    CLEANUP(mem_freep) const char **args = mem_alloc((n + paths->n + 4) * sizeof *args);

    memcpy(args, head, sizeof head);
    args[n++] = was;
    args[n++] = is;
    args[n++] = "--";
    for (size_t i = 0; i < paths->n; i++)
        args[n++] = paths->v[i];
    return git_call_must(c, args, out, "source.unresolved", e);
}

static void say_changed(struct verify *v, const struct raw_source *source, const char *rev,
                        const struct buf *out)
{
    CLEANUP(buf_deinit) struct buf list = {0};
    size_t files = 0;

    for (size_t i = 0; i < out->len; i += strlen(out->data + i) + 1)
        if (files++ < CHANGED_SHOWN)
            git_list_name(&list, out->data + i);
    if (files == 0)
        verify_say(v, "covers", TRI_PASS, "nothing measured changed from %.12s to %s",
                   source->commit, rev);
    else if (files > CHANGED_SHOWN)
        verify_say(v, "covers", TRI_FAIL, "%zu files changed from %.12s to %s: %s and %zu more",
                   files, source->commit, rev, buf_str(&list), files - CHANGED_SHOWN);
    else
        verify_say(v, "covers", TRI_FAIL, "%zu file%s changed from %.12s to %s: %s", files,
                   files == 1 ? "" : "s", source->commit, rev, buf_str(&list));
}

void verify_covers(struct verify *v, const struct verify_covers *c)
{
    const struct git_call call = GIT_CALL_IN(c->repo);
    const struct raw_source *source = v->raw ? measured(v->raw) : NULL;
    CLEANUP(buf_deinit) struct buf out = {0};
    char was[GIT_ID_LEN + 1], is[GIT_ID_LEN + 1];
    struct err e = {0};

    if (!source || !source->commit) {
        verify_say(v, "covers", TRI_FAIL, "the report names no measured commit");
        return;
    }
    int rc = git_check_repo(c->repo, &e);
    if (rc == 0)
        rc = git_resolve(c->repo, source->commit, was, &e);
    if (rc == 0)
        rc = git_resolve(c->repo, c->rev, is, &e);
    const char *fault = rc < 0 ? e.text : unknown_path(v, &call, was, is, &c->paths);
    if (!fault && changed_files(&call, was, is, &c->paths, &out, &e) < 0)
        fault = e.text;
    if (fault)
        verify_say(v, "covers", TRI_FAIL, "%s", fault);
    else
        say_changed(v, source, c->rev, &out);
}
