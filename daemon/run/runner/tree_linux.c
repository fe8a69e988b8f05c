#include "run/runner/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "run/runner/counters.h"
#include "run/runner/readings.h"
#include "run/runner/sweep.h"

#define TEXT_BYTES 4096
#define PROCS_MAX 1024
/* A group's time is of us and has a little of the runner's own: only what is beyond that is of
 * processes that came and went. */
#define GROUP_OFF_NS 200000
#define SETTLE_NS 1000000

/* ---- memory */

struct sum {
    const char *file, *key;
    int64_t bytes;
    bool unknown;
};

/* The number behind "KEY:" at the start of a line, in KiB; -1: there is none. */
static int64_t kib_of(const char *text, const char *key)
{
    size_t len = strlen(key);

    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, len) == 0 && line[len] == ':')
            return strtoll(line + len + 1, NULL, 10);
    }
    return -1;
}

/* A process that ended meanwhile has nothing: *kib 0. False: it cannot be read. */
static bool read_kib(const char *path, const char *key, int64_t *kib)
{
    char text[TEXT_BYTES];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    bool gone = (n < 0 && (errno == ENOENT || errno == ESRCH)) || n == 0;

    if (fd >= 0)
        (void)close(fd);
    text[n > 0 ? n : 0] = '\0';
    *kib = gone ? 0 : kib_of(text, key);
    return gone || (n > 0 && *kib >= 0);
}

bool tree_reads_rollups(void)
{
    int64_t kib;

    return read_kib("/proc/self/smaps_rollup", "Rss", &kib) && kib > 0;
}

static void add(pid_t pid, void *arg)
{
    struct sum *s = arg;
    char path[64];
    int64_t kib;

    (void)snprintf(path, sizeof path, "/proc/%d/%s", pid, s->file);
    if (!read_kib(path, s->key, &kib))
        s->unknown = true;
    else
        s->bytes += kib * 1024;
}

static int64_t sum_of(const char *file, const char *key)
{
    struct sum s = {.file = file, .key = key};

    sweep_each(add, &s);
    return s.unknown || s.bytes == 0 ? -1 : s.bytes;
}

int64_t tree_resident_bytes(void)
{
    return tree_reads_rollups() ? sum_of("smaps_rollup", "Rss") : sum_of("status", "VmRSS");
}

int64_t tree_peak_bytes(void)
{
    return sum_of("status", "VmHWM");
}

/* ---- CPU */

struct used {
    pid_t pid;
    int64_t cpu_ns;
};

static struct window {
    struct used procs[PROCS_MAX]; /* at the beginning */
    size_t n, still;              /* of these, still there at the end */
    int64_t group_ns;
    int64_t cpu_ns; /* since */
    bool unknown;
} window;

static void note(pid_t pid, void *arg)
{
    struct window *w = arg;
    int64_t cpu_ns = reading_cpu_ns(pid);

    if (cpu_ns < 0)
        return;
    if (w->n == PROCS_MAX)
        w->unknown = true;
    else
        w->procs[w->n++] = (struct used){pid, cpu_ns};
}

void tree_window_begin(void)
{
    memset(&window, 0, sizeof window);
    sweep_each(note, &window);
    clock_sleep_ns(SETTLE_NS);
    window.group_ns = counters_group_ns();
    for (size_t i = 0; i < window.n; i++)
        window.procs[i].cpu_ns = reading_cpu_ns(window.procs[i].pid);
}

/* A process that is new has used in the window all that it has used. A number that was given to
 * another process has used less than before. */
static void settle(pid_t pid, void *arg)
{
    struct window *w = arg;
    int64_t cpu_ns = reading_cpu_ns(pid);
    size_t i = 0;

    while (i < w->n && w->procs[i].pid != pid)
        i++;
    if (cpu_ns < 0)
        return;
    bool same = i < w->n && w->procs[i].cpu_ns >= 0 && cpu_ns >= w->procs[i].cpu_ns;
    w->still += same;
    w->cpu_ns += cpu_ns - (same ? w->procs[i].cpu_ns : 0);
}

int64_t tree_window_cpu_ns(void)
{
    struct window *w = &window;
    int64_t group_ns = counters_group_ns();

    sweep_each(settle, w);
    int64_t of_group_ns = group_ns < 0 || w->group_ns < 0 ? -1 : group_ns - w->group_ns;
    if (w->unknown)
        return -1;
    if (of_group_ns > w->cpu_ns + GROUP_OFF_NS)
        return of_group_ns;
    return w->still == w->n || of_group_ns >= 0 ? w->cpu_ns : -1;
}
