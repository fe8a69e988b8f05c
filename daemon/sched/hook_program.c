/* Whether a program that is to be told of ends could be started, as far as that shows before there
 * is anything to tell: a name that was misspelt is seen when it is given, not in the night. What
 * becomes of the file later is the hook's trouble, which is tried again. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "sched/hooks.h"

/* NULL: nothing speaks against it. */
static const char *why_not(const char *path)
{
    struct stat st;

    if (stat(path, &st) < 0)
        return strerror(errno);
    if (!S_ISREG(st.st_mode))
        return "that is no file";
    return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0
               ? "the daemon's user may not execute it; see chmod +x"
               : NULL;
}

/* As the runner looks it up. */
static const char *why_not_found(const char *name)
{
    char path[PATH_MAX];
    const char *why = "there is none in " HOOK_PATH;
    size_t len;

    for (const char *dir = HOOK_PATH; *dir; dir += len + (dir[len] == ':')) {
        len = strcspn(dir, ":");
        int n = snprintf(path, sizeof path, "%.*s/%s", (int)len, dir, name);
        if (n > 0 && (size_t)n < sizeof path && !why_not(path))
            return NULL;
    }
    return why;
}

int sched_check_hook(const char *program, const char *code, const char *field, struct err *e)
{
    const char *why = strchr(program, '/') ? why_not(program) : why_not_found(program);

    return why ? err_set(e, -EINVAL, code, field,
                         "%.300s cannot be told of ends: %s; name a program of the measuring host, "
                         "by its whole path",
                         program, why)
               : 0;
}

int sched_check_hooks(const struct job *job, struct err *e)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < job->n_notify; i++) {
        CLEANUP(mem_freep) char *field = mem_printf("notify[%zu].command[0]", i);
        rc = sched_check_hook(job->notify[i].command.v[0], "job.bad", field, e);
    }
    return rc;
}
