#include "daemon/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "base/mem.h"

static const char *variable(const char *name)
{
    const char *value = getenv(name);

    return value && value[0] ? value : NULL;
}

static char *absolute(const char *path)
{
    char here[PATH_MAX];

    if (path[0] == '/' || !getcwd(here, sizeof here))
        return mem_strdup(path);
    return mem_printf("%s/%s", here, path);
}

char *paths_state(const char *given, struct err *e)
{
    const char *home = variable("HOME");

    if (!given)
        given = variable("STATE_DIRECTORY");
    if (given)
        return absolute(given);
    if (home)
        return mem_printf("%s/%s", home, paths_state_below_home());
    (void)err_set(e, -ENOENT, "daemon.no_state", "--state",
                  "there is no HOME to keep the state in; name a folder with --state");
    return NULL;
}

char *paths_socket(const char *given)
{
    const char *runtime = variable("XDG_RUNTIME_DIR");

    if (!given)
        given = variable("AURABENCH_SOCKET");
    if (given)
        return mem_strdup(given);
    return runtime ? mem_printf("%s/aurabench/sock", runtime) : mem_strdup("/run/aurabench/sock");
}

char *paths_runner(const char *given, struct err *e)
{
    char self[PATH_MAX];
    size_t len = sizeof self;

    if (given)
        return absolute(given);
    if (uv_exepath(self, &len) == 0 && strrchr(self, '/')) {
        *strrchr(self, '/') = '\0';
        CLEANUP(mem_freep) char *beside = mem_printf("%s/aurabench-runner", self);
        if (access(beside, X_OK) == 0)
            return MEM_STEAL(beside);
    }
    (void)err_set(e, -ENOENT, "daemon.no_runner", "--runner",
                  "aurabench-runner is not beside aurabenchd; name it with --runner");
    return NULL;
}

int open_null(void)
{
    return open("/dev/null", O_RDWR);
}
