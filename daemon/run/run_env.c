#include "run/run_env.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

struct place {
    const char *word;
    const char *dir;
};

/* The placeholder that begins at text, or NULL. */
static const struct place *place_at(const struct place places[3], const char *text)
{
    for (size_t i = 0; i < 3; i++)
        if (strncmp(text, places[i].word, strlen(places[i].word)) == 0)
            return &places[i];
    return NULL;
}

const char *run_expand(struct arena *a, const char *in, const char *source_dir,
                       const char *suite_dir, const char *build_dir)
{
    const struct place places[] = {
        {"{source}", source_dir}, {"{suite}", suite_dir}, {"{build}", build_dir}};
    CLEANUP(buf_deinit) struct buf out = {0};

    while (*in) {
        const struct place *p = *in == '{' ? place_at(places, in) : NULL;
        if ((p && !p->dir) || (!p && *in == '{' && strchr(in, '}')))
            return NULL;
        if (p)
            buf_puts(&out, p->dir);
        else
            buf_putc(&out, *in);
        in += p ? strlen(p->word) : 1;
    }
    return arena_strdup(a, buf_str(&out));
}

int run_expand_args(struct arena *a, const struct args *in, const char *source_dir,
                    const char *suite_dir, const char *build_dir, struct args *out)
{
    const char **v = arena_array(a, in->n + 1, sizeof *v);

    for (size_t i = 0; i < in->n; i++) {
        v[i] = run_expand(a, in->v[i], source_dir, suite_dir, build_dir);
        if (!v[i])
            return -EINVAL;
    }
    *out = (struct args){.v = v, .n = in->n};
    return 0;
}

bool run_env_forbidden(const char *name)
{
    static const char *const families[] = {"GIT_", "LISTEN_", "AURABENCH_"};
    static const char *const names[] = {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"};
    size_t len = strcspn(name, "=");

    for (size_t i = 0; i < ARRAY_LEN(families); i++)
        if (strncmp(name, families[i], strlen(families[i])) == 0)
            return true;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (len == strlen(names[i]) && strncmp(name, names[i], len) == 0)
            return true;
    return false;
}

struct environment {
    struct arena *a;
    const char **v;
    size_t n;
};

static void put(struct environment *env, const char *name, const char *value)
{
    size_t len = strlen(name), at = 0;

    if (run_env_forbidden(name))
        return;
    while (at < env->n && (strncmp(env->v[at], name, len) != 0 || env->v[at][len] != '='))
        at++;
    env->v[at] = arena_printf(env->a, "%s=%s", name, value);
    env->n += at == env->n;
}

const char *const *run_environment(struct arena *a, const char *path, const char *home,
                                   const struct env_var *suite, size_t n_suite,
                                   const struct env_var *lane, size_t n_lane)
{
    const struct env_var base[] = {
        {"PATH", path}, {"HOME", home}, {"LANG", "C.UTF-8"}, {"TZ", "UTC"}};
    struct environment env = {.a = a};

    env.v = arena_array(a, ARRAY_LEN(base) + n_suite + n_lane + 1, sizeof *env.v);
    for (size_t i = 0; i < ARRAY_LEN(base); i++)
        put(&env, base[i].name, base[i].value);
    for (size_t i = 0; i < n_suite; i++)
        put(&env, suite[i].name, suite[i].value);
    for (size_t i = 0; i < n_lane; i++)
        put(&env, lane[i].name, lane[i].value);
    return env.v;
}
