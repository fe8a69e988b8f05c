#include "proto/doc/doc_env.h"

#include <string.h>

#include "proto/doc/doc_command.h"
#include "proto/doc/doc_common.h"

static bool is_variable_name(const char *s)
{
    size_t n = strlen(s);
    bool digit_first = *s >= '0' && *s <= '9';
    return n > 0 && n <= DOC_NAME_MAX && !digit_first &&
           strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == n;
}

static void decode_variable(struct json_in *in, const cJSON *obj, const char *name,
                            const char *code, struct env_var *var)
{
    const char *bad;
    if (!is_variable_name(name))
        json_fail(in, name, code,
                  "this is no name of an environment variable; use letters, digits and '_'");
    var->name = arena_strdup(in->a, name);
    var->value = json_str(in, obj, name, 4096);
    if (var->value && doc_placeholders(var->value, &bad))
        json_fail(in, name, code,
                  "placeholders are replaced in commands only; give the path as an argument");
}

struct env_var *doc_opt_env(struct json_in *in, const cJSON *obj, const char *key, size_t max,
                            const char *code, size_t *n)
{
    const cJSON *env = json_opt_obj(in, obj, key), *m;
    size_t count = (size_t)cJSON_GetArraySize(env), i = 0;
    size_t mark = json_enter(in, key);
    if (count > max)
        json_fail(in, NULL, code, "at most %zu variables are allowed", max);
    struct env_var *vars = arena_array(in->a, count, sizeof *vars);
    cJSON_ArrayForEach (m, env) {
        if (in->rc)
            break;
        decode_variable(in, env, m->string, code, &vars[i++]);
    }
    json_leave(in, mark);
    *n = in->rc ? 0 : count;
    return vars;
}

bool doc_env_is_reserved(const char *name)
{
    return strncmp(name, "GIT_", 4) == 0 || strncmp(name, "LISTEN_", 7) == 0 ||
           strncmp(name, "AURABENCH_", 10) == 0 || strcmp(name, "NOTIFY_SOCKET") == 0 ||
           strcmp(name, "WATCHDOG_USEC") == 0 || strcmp(name, "WATCHDOG_PID") == 0;
}
