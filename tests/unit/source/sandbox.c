#include "sandbox.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/files.h"
#include "base/mem.h"
#include "base/spawn.h"

#define OUTPUT_MAX (8 << 20)

int sandbox_setup(void **state)
{
    struct sandbox *s = mem_alloc(sizeof *s);
    const char *tmp = getenv("TMPDIR");
    CLEANUP(mem_freep) char *made = mem_printf("%s/aurabench-XXXXXX", tmp ? tmp : "/tmp");

    assert_non_null(mkdtemp(made));
    s->dir = realpath(made, NULL);
    assert_non_null(s->dir);
    setenv("HOME", s->dir, 1);
    setenv("XDG_CONFIG_HOME", s->dir, 1);
    (void)signal(SIGPIPE, SIG_IGN);
    *state = s;
    return 0;
}

int sandbox_teardown(void **state)
{
    struct sandbox *s = *state;
    int rc = file_rmtree(s->dir, NULL);

    arena_deinit(&s->a);
    free(s->dir);
    free(s);
    return rc;
}

const char *sandbox_path(struct sandbox *s, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    CLEANUP(buf_deinit) struct buf b = {0};
    buf_vprintf(&b, fmt, ap);
    va_end(ap);
    return arena_printf(&s->a, "%s/%s", s->dir, buf_str(&b));
}

const char *sandbox_write(struct sandbox *s, const char *path, const char *text)
{
    char *folder = arena_strdup(&s->a, path);

    *strrchr(folder, '/') = '\0';
    assert_ok(s, file_mkdirs(folder, 0755, &s->e));
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
    return path;
}

const char *sandbox_read(struct sandbox *s, const char *path)
{
    CLEANUP(buf_deinit) struct buf b = {0};

    assert_ok(s, file_read(path, OUTPUT_MAX, &b, &s->e));
    return arena_strdup(&s->a, buf_str(&b));
}

const char *sandbox_tripwire(struct sandbox *s, const char *path, const char *trace)
{
    sandbox_write(s, path, arena_printf(&s->a, "#!/bin/sh\n: > '%s'\ncat\n", trace));
    assert_int_equal(chmod(path, 0755), 0);
    return path;
}

static int run(struct sandbox *s, const char *repo, va_list ap, struct buf *out)
{
    const char *argv[32] = {"git", "-C",
                            repo[0] == '/' ? repo : arena_printf(&s->a, "%s/%s", s->dir, repo)};
    const char *env[] = {
        "PATH=/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin",
        arena_printf(&s->a, "HOME=%s", s->dir), "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1",
        /* fixed, so that ids are the same in every run */
        "GIT_AUTHOR_DATE=2001-02-03T04:05:06Z", "GIT_COMMITTER_DATE=2001-02-03T04:05:06Z",
        "GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.org", "GIT_COMMITTER_NAME=Ada",
        "GIT_COMMITTER_EMAIL=ada@example.org", NULL};
    struct spawn_req req = SPAWN_REQ_INIT;
    CLEANUP(buf_deinit) struct buf errout = {0};
    size_t n = 3;
    int status = -1;

    while (n < ARRAY_LEN(argv) - 1 && (argv[n] = va_arg(ap, const char *)))
        n++;
    req.argv = argv;
    req.env = env;
    req.limit = OUTPUT_MAX;
    assert_ok(s, spawn_run(&req, &status, out, &errout, &s->e));
    if (status != 0)
        print_message("git %s: %s", argv[3], buf_str(&errout));
    return status;
}

const char *sandbox_git(struct sandbox *s, const char *repo, ...)
{
    CLEANUP(buf_deinit) struct buf out = {0};
    va_list ap;

    va_start(ap, repo);
    int status = run(s, repo, ap, &out);
    va_end(ap);
    assert_int_equal(status, 0);
    if (out.len && out.data[out.len - 1] == '\n')
        out.data[out.len - 1] = '\0';
    return arena_strdup(&s->a, buf_str(&out));
}

int sandbox_git_status(struct sandbox *s, const char *repo, ...)
{
    CLEANUP(buf_deinit) struct buf out = {0};
    va_list ap;

    va_start(ap, repo);
    int status = run(s, repo, ap, &out);
    va_end(ap);
    return status;
}

const char *sandbox_repo(struct sandbox *s, const char *name)
{
    const char *repo = sandbox_path(s, "%s", name);

    assert_ok(s, file_mkdirs(repo, 0755, &s->e));
    sandbox_git(s, repo, "init", "--quiet", "--initial-branch=main", NULL);
    sandbox_write(s, arena_printf(&s->a, "%s/a.txt", repo), "one\n");
    sandbox_commit(s, repo);
    return repo;
}

const char *sandbox_commit(struct sandbox *s, const char *repo)
{
    sandbox_git(s, repo, "add", "--all", NULL);
    sandbox_git(s, repo, "commit", "--quiet", "--allow-empty", "--message=change", NULL);
    return sandbox_git(s, repo, "rev-parse", "HEAD", NULL);
}

static int add_top(void *ctx, const char *path, enum file_kind kind, mode_t mode, int64_t bytes)
{
    (void)kind;
    (void)mode;
    (void)bytes;
    if (!strchr(path, '/'))
        buf_printf(ctx, "%s ", path);
    return 0;
}

const char *sandbox_list(struct sandbox *s, const char *dir)
{
    CLEANUP(buf_deinit) struct buf names = {0};

    assert_ok(s, file_walk(dir, add_top, &names, &s->e));
    return arena_strndup(&s->a, buf_str(&names), names.len ? names.len - 1 : 0);
}
