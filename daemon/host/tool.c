/* Programs of the host: where they are, what they are. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/digest.h"
#include "base/mem.h"
#include "base/spawn.h"
#include "host/host.h"
#include "host/proc_parse.h"

#define VERSION_TIMEOUT_MS 5000
#define VERSION_OUTPUT_MAX (64u << 10)
#define VERSION_MAX 200

static bool is_program(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

int host_tool_find(struct arena *a, const char *name, const char *path_env, const char **path)
{
    if (strchr(name, '/')) {
        *path = arena_strdup(a, name);
        return is_program(name) ? 0 : -ENOENT;
    }
    for (const char *at = path_env ? path_env : ""; at[0] && name[0]; at += at[0] == ':') {
        size_t len = strcspn(at, ":");
        if (at[0] == '/') {
            *path = arena_printf(a, "%.*s/%s", (int)len, at, name);
            if (is_program(*path))
                return 0;
        }
        at += len;
    }
    return -ENOENT;
}

/* Cut at a character, not inside one. */
static size_t bounded_length(const char *s, size_t len)
{
    if (len <= VERSION_MAX)
        return len;
    len = VERSION_MAX;
    while (len > 0 && ((unsigned char)s[len] & 0xc0) == 0x80)
        len--;
    return len;
}

static const char *first_line(struct arena *a, const struct buf *b)
{
    const char *s = buf_str(b);
    s += strspn(s, " \t\r\n");
    return proc_clean(a, s, bounded_length(s, strcspn(s, "\r\n")));
}

/* It is called by the name it was found under: some programs act by that name. */
static const char *tool_version(struct arena *a, const char *path, const char *path_env)
{
    CLEANUP(buf_deinit) struct buf out = {0};
    CLEANUP(buf_deinit) struct buf errors = {0};
    CLEANUP(mem_freep) char *path_var = mem_printf("PATH=%s", path_env ? path_env : "");
    const char *const argv[] = {path, "--version", NULL};
    const char *const env[] = {path_var, "HOME=/nonexistent", "LANG=C.UTF-8", "TZ=UTC", NULL};
    struct spawn_req req = SPAWN_REQ_INIT;
    int status = -1;
    req.argv = argv;
    req.env = env;
    req.cwd = "/";
    req.limit = VERSION_OUTPUT_MAX;
    req.timeout_ms = VERSION_TIMEOUT_MS;
    if (spawn_run(&req, &status, &out, &errors, NULL) < 0 || status != 0)
        return NULL;
    const char *line = first_line(a, &out);
    return line ? line : first_line(a, &errors);
}

int host_tool_identity(struct arena *a, const char *name, const char *path_env,
                       struct raw_tool *out, struct err *e)
{
    const char *found;
    char hex[DIGEST_HEX];
    if (host_tool_find(a, name, path_env, &found) < 0)
        return err_set(e, -ENOENT, "tool.missing", name,
                       "the program %s is not in %s; install it or name it by its path", name,
                       path_env && path_env[0] ? path_env : "an empty PATH");
    CLEANUP(mem_freep) char *real = realpath(found, NULL);
    if (!real)
        return err_sys(e, -errno, "resolve", found);
    int rc = digest_file(real, hex, NULL, e);
    if (rc < 0)
        return rc;
    *out = (struct raw_tool){
        .name = arena_strdup(a, name),
        .path = arena_strdup(a, real),
        .version = tool_version(a, found, path_env),
        .sha256 = arena_strdup(a, hex),
    };
    return 0;
}
