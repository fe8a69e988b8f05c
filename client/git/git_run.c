#include "client/git/git_run.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/spawn.h"
#include "proto/json/json_text.h"

#define OUTPUT_MAX ((size_t)256 << 20)
#define ARGS_MAX 128

extern char **environ; /* NOLINT(readability-redundant-declaration): macOS has none */

void git_names_add(struct git_names *n, char *taken)
{
    MEM_GROW(n->items, n->count, n->cap);
    n->items[n->count++] = taken;
}

void git_names_deinit(struct git_names *n)
{
    for (size_t i = 0; i < n->count; i++)
        free(n->items[i]);
    free(n->items);
}

/* Ours win over those of the repository and of the user, which could name programs to run. */
static const char *const SETTINGS[][2] = {
    {"core.hooksPath", "/dev/null"},
    {"core.fsmonitor", "false"},
    {"core.disambiguate", "none"},
};

static const char *const FIXED_ENV[] = {
    "LC_ALL=C",
    "GIT_TERMINAL_PROMPT=0",
    "GIT_OPTIONAL_LOCKS=0",
    "GIT_NO_REPLACE_OBJECTS=1",
    "GIT_GRAFT_FILE=/dev/null",
    "GIT_ALLOW_PROTOCOL=none",
    "GIT_NO_LAZY_FETCH=1",
};

static void env_setting(struct git_names *env, size_t i, const char *key, const char *value)
{
    git_names_add(env, mem_printf("GIT_CONFIG_KEY_%zu=%s", i, key));
    git_names_add(env, mem_printf("GIT_CONFIG_VALUE_%zu=%s", i, value));
}

static void env_make(struct git_names *env, const struct git_call *c)
{
    size_t n = ARRAY_LEN(SETTINGS);

    for (char **v = environ; v && *v; v++)
        if (strncmp(*v, "GIT_", 4) != 0 && strncmp(*v, "LC_ALL=", 7) != 0 &&
            strncmp(*v, "LANGUAGE=", 9) != 0)
            git_names_add(env, mem_strdup(*v));
    for (size_t i = 0; i < ARRAY_LEN(FIXED_ENV); i++)
        git_names_add(env, mem_strdup(FIXED_ENV[i]));
    for (size_t i = 0; i < n; i++)
        env_setting(env, i, SETTINGS[i][0], SETTINGS[i][1]);
    for (size_t i = 0; c->mute && i < c->mute->count; i++)
        env_setting(env, n++, c->mute->items[i], "");
    git_names_add(env, mem_printf("GIT_CONFIG_COUNT=%zu", n));
    if (c->git_dir)
        git_names_add(env, mem_printf("GIT_DIR=%s", c->git_dir));
    if (c->object_dir)
        git_names_add(env, mem_printf("GIT_OBJECT_DIRECTORY=%s", c->object_dir));
    git_names_add(env, NULL);
}

int git_call(const struct git_call *c, const char *const *args, int *status, struct buf *out,
             struct buf *errout, struct err *e)
{
    CLEANUP(git_names_deinit) struct git_names env = {0};
    const char *argv[ARGS_MAX + 4] = {"git"};
    size_t n = 1;

    if (!c->git_dir) {
        argv[n++] = "-C";
        argv[n++] = c->repo;
    }
    for (; *args; args++) {
        assert(n < ARGS_MAX + 3);
        argv[n++] = *args;
    }
    env_make(&env, c);
    struct spawn_req req = {.argv = argv,
                            .env = (const char *const *)env.items,
                            .input = c->input,
                            .input_len = c->input_len,
                            .out_fd = c->out_fd,
                            .limit = OUTPUT_MAX,
                            .timeout_ms = c->timeout_ms};
    return spawn_run(&req, status, out, errout, e);
}

const char *git_complaint(struct buf *errout)
{
    char *line = errout->len ? errout->data : NULL;

    if (!line)
        return "git did not say why";
    line[strcspn(line, "\n")] = '\0';
    return line;
}

int git_call_must(const struct git_call *c, const char *const *args, struct buf *out,
                  const char *code, struct err *e)
{
    CLEANUP(buf_deinit) struct buf errout = {0};
    int status = 0;
    int rc = git_call(c, args, &status, out, &errout, e);

    if (rc < 0 || status == 0)
        return rc;
    return err_set(e, -EINVAL, code, "repo", "git %s failed in %s: %s", args[0],
                   c->git_dir ? "a temporary repository" : c->repo, git_complaint(&errout));
}

bool git_call_asks(const struct git_call *c, const char *const *args)
{
    CLEANUP(buf_deinit) struct buf out = {0};
    int status = 0;

    return git_call(c, args, &status, &out, NULL, NULL) == 0 && status == 0;
}

char *git_first_line(struct buf *out)
{
    buf_puts(out, ""); /* there may be no data yet */
    out->data[strcspn(out->data, "\n")] = '\0';
    return out->data;
}

void git_list_name(struct buf *list, const char *name)
{
    CLEANUP(buf_deinit) struct buf quoted = {0};
    bool plain = true;

    for (const char *p = name; *p; p++)
        plain = plain && *p > ' ' && *p < 0x7f && *p != '"' && *p != '\\';
    if (plain)
        buf_puts(&quoted, name);
    else
        json_quote(&quoted, name, strlen(name));
    buf_printf(list, "%s%s", list->len ? ", " : "", quoted.data);
}
