#include "run/mark.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

#define LIMIT_NAME "Max file locks"
#define KILL_NS 5000000000LL
#define ROUND_NS 2000000LL
#define EMPTY_LOOKS 3 /* one after the other: a process can fork past a single look */
#define PIDS_MAX 65536
#define MEANWHILE 64  /* numbers that may be given out while a look begins */
#define SEEN_MAX 1024 /* processes that are counted; more are ended all the same */

int mark_set(pid_t pid, uint64_t mark)
{
    const struct rlimit limit = {mark, mark};

    return prlimit(pid, RLIMIT_LOCKS, &limit, NULL) == 0 ? 0 : -errno;
}

/* What is longer than the buffer is cut. */
static bool read_file(const char *path, char *text, size_t cap)
{
    CLEANUP(mem_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, cap - 1);

    text[n > 0 ? n : 0] = '\0';
    return n > 0;
}

/* Of /proc/PID/NAME. */
static bool read_text(pid_t pid, const char *name, char *text, size_t cap)
{
    char path[64];

    (void)snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
    return read_file(path, text, cap);
}

static bool carries(pid_t pid, uint64_t mark)
{
    char text[4096], *line;
    unsigned long long soft, hard;

    if (!read_text(pid, "limits", text, sizeof text))
        return false;
    line = strstr(text, LIMIT_NAME);
    return line && sscanf(line + strlen(LIMIT_NAME), "%llu %llu", &soft, &hard) == 2 &&
           soft == mark && hard == mark;
}

/* Its command; false for one that has ended and is only not reaped. */
static bool is_alive(pid_t pid, char comm[17])
{
    char text[512], state;

    if (!read_text(pid, "stat", text, sizeof text))
        return false;
    char *from = strchr(text, '('), *to = strrchr(text, ')');
    if (!from || !to || to < from || sscanf(to + 1, " %c", &state) != 1)
        return false;
    *to = '\0';
    (void)snprintf(comm, 17, "%.16s", from + 1);
    for (char *c = comm; *c; c++)
        if (!isprint((unsigned char)*c))
            *c = '?';
    return state != 'Z' && state != 'X';
}

struct candidate {
    pid_t pid;
    unsigned age; /* about how many numbers were given out since */
};

struct hunt {
    uint64_t mark;
    struct mark_ended *out;
    pid_t seen[SEEN_MAX];
    size_t n_seen;
    int n_left; /* in the latest look */
};

static void add_name(char names[MARK_NAMES], pid_t pid, const char *comm)
{
    size_t len = strlen(names);

    (void)snprintf(names + len, MARK_NAMES - len, "%s%d (%s)", len ? ", " : "", pid, comm);
}

static void count(struct hunt *h, pid_t pid, const char *comm)
{
    for (size_t i = 0; i < h->n_seen; i++)
        if (h->seen[i] == pid)
            return;
    if (h->n_seen < SEEN_MAX)
        h->seen[h->n_seen++] = pid;
    h->out->ended++;
    add_name(h->out->names, pid, comm);
}

static void kill_marked(struct hunt *h, pid_t pid)
{
    char comm[17];
    CLEANUP(mem_closep) int fd = (int)syscall(SYS_pidfd_open, pid, 0);

    if (fd < 0 || !carries(pid, h->mark) || !is_alive(pid, comm))
        return;
    (void)syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
    count(h, pid, comm);
    add_name(h->out->left, pid, comm);
    h->n_left++;
}

/* The number that was given out last; they begin anew at the top. */
static pid_t latest_pid(void)
{
    char text[128];
    const char *last = read_file("/proc/loadavg", text, sizeof text) ? strrchr(text, ' ') : NULL;

    return last ? (pid_t)strtol(last, NULL, 10) : 0;
}

static int by_age(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;

    return x->age < y->age ? -1 : x->age > y->age;
}

/* The youngest first: what forks to get away is among them. */
static size_t read_pids(struct candidate found[PIDS_MAX])
{
    pid_t latest = latest_pid();
    DIR *dir = opendir("/proc");
    size_t n = 0;

    if (!dir)
        return 0;
    for (const struct dirent *d; n < PIDS_MAX && (d = readdir(dir));) {
        if (!isdigit((unsigned char)d->d_name[0]))
            continue;
        pid_t pid = (pid_t)strtol(d->d_name, NULL, 10);
        found[n++] = (struct candidate){pid, (unsigned)(latest + MEANWHILE) - (unsigned)pid};
    }
    (void)closedir(dir);
    qsort(found, n, sizeof *found, by_age);
    return n;
}

/* One look at all processes; left names those that were still there. */
static bool any_left(struct hunt *h)
{
    CLEANUP(mem_freep) struct candidate *found = mem_alloc(PIDS_MAX * sizeof *found);
    size_t n = read_pids(found);

    h->out->left[0] = '\0';
    h->n_left = 0;
    for (size_t i = 0; i < n; i++)
        if (found[i].pid > 1 && found[i].pid != getpid())
            kill_marked(h, found[i].pid);
    return h->n_left > 0;
}

void mark_end_all(uint64_t mark, struct mark_ended *out)
{
    struct hunt h = {.mark = mark, .out = out};
    int64_t until = clock_mono_ns() + KILL_NS;
    int empty = 0;

    *out = (struct mark_ended){0};
    while (empty < EMPTY_LOOKS && clock_mono_ns() < until) {
        empty = any_left(&h) ? 0 : empty + 1;
        clock_sleep_ns(ROUND_NS);
    }
    out->ended -= h.n_left; /* what does not go did not end */
}
