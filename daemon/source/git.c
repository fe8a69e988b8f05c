/* Git for the daemon: one way to run it, see internal.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/disk.h"
#include "base/mem.h"
#include "base/spawn.h"
#include "source/internal.h"

#define OUTPUT_MAX ((size_t)256 << 20)
#define TIMEOUT_MS INT64_C(1800000)
#define ARGS_MAX 24
#define ENV_MAX 64

/* Beyond what the environment shuts out: what git would do by itself in a checkout, and how hard a
 * kept commit is. */
static const char *const SETTINGS[][2] = {
    {"core.hooksPath", "/dev/null"},
    {"core.fsmonitor", "false"},
    {"core.attributesFile", "/dev/null"},
    {"core.excludesFile", "/dev/null"},
    {"core.autocrlf", "false"},
    {"core.symlinks", "true"},
    {"core.fileMode", "true"},
    {"core.logAllRefUpdates", "false"},
    {"core.fsync", "all"},
    {"gc.auto", "0"},
    {"maintenance.auto", "false"},
    {"submodule.recurse", "false"},
    {"transfer.fsckObjects", "true"},
};

static const char *const FIXED_ENV[] = {
    "HOME=/nonexistent",
    "LC_ALL=C",
    "TZ=UTC",
    "GIT_CONFIG_NOSYSTEM=1",
    "GIT_CONFIG_SYSTEM=/dev/null",
    "GIT_CONFIG_GLOBAL=/dev/null",
    "GIT_ATTR_NOSYSTEM=1",
    "GIT_TERMINAL_PROMPT=0",
    "GIT_NO_REPLACE_OBJECTS=1",
    "GIT_GRAFT_FILE=/dev/null",
    "GIT_ALLOW_PROTOCOL=none",
    "GIT_NO_LAZY_FETCH=1",
    "GIT_OPTIONAL_LOCKS=0",
};

struct env {
    const char *items[ENV_MAX + 1];
    size_t n;
};

static void env_add(struct env *env, struct arena *a, const char *name, const char *value)
{
    if (value && env->n < ENV_MAX)
        env->items[env->n++] = arena_printf(a, "%s=%s", name, value);
}

static void env_make(struct env *env, struct arena *a, const struct source_git *g)
{
    const char *path = getenv("PATH");

    _Static_assert(ARRAY_LEN(FIXED_ENV) + 2 * ARRAY_LEN(SETTINGS) + 5 <= ENV_MAX, "room for all");
    for (size_t i = 0; i < ARRAY_LEN(FIXED_ENV); i++)
        env->items[env->n++] = FIXED_ENV[i];
    for (size_t i = 0; i < ARRAY_LEN(SETTINGS); i++) {
        env_add(env, a, arena_printf(a, "GIT_CONFIG_KEY_%zu", i), SETTINGS[i][0]);
        env_add(env, a, arena_printf(a, "GIT_CONFIG_VALUE_%zu", i), SETTINGS[i][1]);
    }
    env_add(env, a, "GIT_CONFIG_COUNT", arena_printf(a, "%zu", ARRAY_LEN(SETTINGS)));
    env_add(env, a, "PATH", path ? path : "/usr/local/bin:/usr/bin:/bin");
    env_add(env, a, "GIT_DIR", g->git_dir);
    env_add(env, a, "GIT_WORK_TREE", g->work_tree);
    env_add(env, a, "GIT_OBJECT_DIRECTORY", g->object_dir);
}

int source_git(const struct source_git *g, const char *const *args, int *status, struct buf *out,
               struct buf *errout, struct err *e)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct env env = {.n = 0};
    const char *argv[ARGS_MAX + 2] = {"git"};

    for (size_t n = 0; args[n]; n++) {
        if (n == ARGS_MAX)
            abort();
        argv[n + 1] = args[n];
    }
    env_make(&env, &a, g);
    struct spawn_req req = {.argv = argv,
                            .env = env.items,
                            .cwd = g->work_tree,
                            .input = g->input,
                            .input_len = g->input_len,
                            .out_fd = g->out_fd,
                            .limit = OUTPUT_MAX,
                            .timeout_ms = TIMEOUT_MS};
    return spawn_run(&req, status, out, errout, e);
}

/* Its environment has LC_ALL=C: these are the words of strerror. */
int source_git_disk(const struct source_git *g, const struct buf *errout, struct err *e)
{
    static const char *const full[] = {"No space left on device", "Disk quota exceeded"};
    const char *folder = g->place ? g->place : g->object_dir ? g->object_dir : g->git_dir;
    const char *said = errout->data ? errout->data : "";

    for (size_t i = 0; i < ARRAY_LEN(full); i++)
        if (strstr(said, full[i]))
            return disk_full(e, folder);
    return strstr(said, "Input/output error") ? disk_err(e, -EIO, "write", folder) : 0;
}

int source_git_must(const struct source_git *g, const char *const *args, struct buf *out,
                    const char *code, struct err *e)
{
    CLEANUP(buf_deinit) struct buf errout = {0};
    int status = 0;
    int rc = source_git(g, args, &status, out, &errout, e);

    if (rc < 0 || status == 0)
        return rc;
    rc = source_git_disk(g, &errout, e);
    if (rc < 0)
        return rc;
    buf_puts(&errout, ""); /* there may be no data yet */
    errout.data[strcspn(errout.data, "\n")] = '\0';
    return err_set(e, -EINVAL, code, NULL, "git %s failed in the daemon's store: %s", args[0],
                   errout.data[0] ? errout.data : "it did not say why");
}

bool source_git_asks(const struct source_git *g, const char *const *args)
{
    CLEANUP(buf_deinit) struct buf out = {0};
    int status = 0;

    return source_git(g, args, &status, &out, NULL, NULL) == 0 && status == 0;
}
