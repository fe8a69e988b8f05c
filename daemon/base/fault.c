#include "base/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SPEC_BYTES 4096
#define ACTION_BYTES 32
/* Tells the runner that it is one, and of whom. */
#define DAEMON_VARIABLE "AURABENCH_FAULT_DAEMON"

static const char *const names[] = {
#define FAULT(name, scenario) name,
#include "base/fault.def"
#undef FAULT
};
#define N_NAMES (sizeof names / sizeof *names)

/* Guards what follows. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int passes[N_NAMES];
static char known[SPEC_BYTES]; /* the words that the passes are counted for */

static atomic_int runner;

void fault_runner(pid_t pid)
{
    atomic_store(&runner, pid);
}

/* ---- what a test reads */

static void append(const char *variable, const char *line, size_t len)
{
    const char *path = getenv(variable);
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;

    if (fd < 0)
        return;
    ssize_t n = write(fd, line, len);
    (void)n; /* a test that misses a line fails */
    (void)close(fd);
}

void fault_tell(const char *fmt, ...)
{
    char line[1024];
    va_list ap;
    int pid = snprintf(line, sizeof line, "%d ", (int)getpid());

    va_start(ap, fmt);
    int n = pid + vsnprintf(line + pid, sizeof line - 1 - (size_t)pid, fmt, ap);
    va_end(ap);
    size_t len = n < (int)sizeof line - 1 ? (size_t)n : sizeof line - 2;
    line[len++] = '\n';
    append("AURABENCH_FAULT_TELL", line, len);
}

static void trace(const char *name)
{
    char line[160];
    int n =
        snprintf(line, sizeof line, "%s %s\n", getenv(DAEMON_VARIABLE) ? "runner" : "daemon", name);

    append("AURABENCH_FAULT_TRACE", line, (size_t)n);
}

/* ---- what a test asks for */

char **fault_environment(void)
{
    static const char *const handed_on[] = {"AURABENCH_FAULT", "AURABENCH_FAULT_TRACE",
                                            "AURABENCH_FAULT_TELL"};
    static char text[4][SPEC_BYTES];
    static char *env[5];
    size_t n = 0;

    for (size_t i = 0; i < 3; i++) {
        const char *value = getenv(handed_on[i]);
        if (!value)
            continue;
        (void)snprintf(text[n], sizeof text[n], "%s=%s", handed_on[i], value);
        env[n] = text[n];
        n++;
    }
    (void)snprintf(text[n], sizeof text[n], DAEMON_VARIABLE "=%d", getpid());
    env[n] = text[n];
    env[n + 1] = NULL;
    return env;
}

static void read_spec(char spec[SPEC_BYTES])
{
    const char *told = getenv("AURABENCH_FAULT");

    spec[0] = '\0';
    if (!told || told[0] != '@') {
        (void)snprintf(spec, SPEC_BYTES, "%s", told ? told : "");
        return;
    }
    int fd = open(told + 1, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, spec, SPEC_BYTES - 1);
    if (fd >= 0)
        (void)close(fd);
    spec[n > 0 ? n : 0] = '\0';
}

static void disarm(void)
{
    const char *told = getenv("AURABENCH_FAULT");

    if (told && told[0] == '@')
        (void)unlink(told + 1);
}

/* "kill@3+" of the entry that names the point; false: none does. */
static bool find_action(const char *spec, const char *name, char action[ACTION_BYTES])
{
    size_t len = strlen(name);

    while (*spec) {
        size_t entry = strcspn(spec, ",\n");
        if (strncmp(spec, name, len) == 0 && spec[len] == '=') {
            (void)snprintf(action, ACTION_BYTES, "%.*s", (int)(entry - len - 1), spec + len + 1);
            return true;
        }
        spec += entry;
        spec += *spec != '\0';
    }
    return false;
}

/* Cuts the count off and says whether this pass is meant. */
static bool is_due(char *action, int pass)
{
    char *at = strchr(action, '@');

    if (!at)
        return pass == 1;
    *at = '\0';
    int n = atoi(at + 1);
    return strchr(at + 1, '+') ? pass >= n : pass == n;
}

static int count_pass(const char *name, const char *spec)
{
    size_t i = 0;

    while (i < N_NAMES && strcmp(names[i], name) != 0)
        i++;
    if (i == N_NAMES) {
        (void)fprintf(stderr, "fault point %s is not in base/fault.def\n", name);
        abort();
    }
    (void)pthread_mutex_lock(&lock);
    if (strcmp(known, spec) != 0) {
        (void)snprintf(known, sizeof known, "%s", spec);
        memset(passes, 0, sizeof passes);
    }
    int pass = ++passes[i];
    (void)pthread_mutex_unlock(&lock);
    return pass;
}

static void end_process(pid_t pid)
{
    if (pid <= 1)
        return;
    disarm();
    (void)kill(pid, SIGKILL);
    while (pid == getpid())
        (void)pause();
}

static int error_number(const char *action)
{
    static const struct {
        const char *name;
        int number;
    } errors[] = {{"ENOSPC", ENOSPC}, {"EIO", EIO},       {"EDQUOT", EDQUOT}, {"EMFILE", EMFILE},
                  {"ENOMEM", ENOMEM}, {"EACCES", EACCES}, {"EROFS", EROFS}};

    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (strcmp(action, errors[i].name) == 0)
            return errors[i].number;
    return atoi(action);
}

static int act(const char *action)
{
    const char *daemon = getenv(DAEMON_VARIABLE);

    if (strcmp(action, "kill") == 0)
        end_process(getpid());
    if (strcmp(action, "kill-daemon") == 0)
        end_process(daemon ? atoi(daemon) : getpid());
    if (strcmp(action, "kill-runner") == 0)
        end_process(daemon ? getpid() : atomic_load(&runner));
    if (strcmp(action, "stop") == 0)
        (void)kill(getpid(), SIGSTOP);
    return -error_number(action);
}

int fault_error(const char *name)
{
    char spec[SPEC_BYTES], action[ACTION_BYTES];
    int before = errno;

    trace(name);
    read_spec(spec);
    int pass = count_pass(name, spec);
    int rc = find_action(spec, name, action) && is_due(action, pass) ? act(action) : 0;
    if (rc < 0)
        fault_tell("failed %s %s", name, action);
    errno = before;
    return rc;
}

void fault_point(const char *name)
{
    (void)fault_error(name);
}
