/* The process table: one read per process, and a closer look only at those that may matter. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "core/ledger/proc_history.h"
#include "host/linux_probe.h"

#define PROCS_MAX 262144
#define FILE_MAX 4096
#define ARGS_MAX 1024 /* of a command line; the rest is cut */
#define CAP_SYS_PTRACE_BIT 19

struct scan {
    const struct linux_probe *p;
    struct arena *a;
    const struct snapshot_focus *focus;
    struct proc_snapshot *out;
    struct proc_sample *procs;
    size_t n, cap;
};

/* The process ended between two looks at it. */
static bool is_gone(int rc)
{
    return rc == -ENOENT || rc == -ESRCH;
}

/* Reads at most size bytes of /proc/PID/name: the count or -errno. A file of /proc gives what it
 * has in one read. */
static ssize_t read_proc(const struct linux_probe *p, int pid, const char *name, char *data,
                         size_t size)
{
    char path[64];
    (void)snprintf(path, sizeof path, "%d/%s", pid, name);
    int fd = openat(p->proc_fd, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    ssize_t n;
    do {
        n = read(fd, data, size);
    } while (n < 0 && errno == EINTR);
    if (n < 0)
        n = -errno;
    (void)close(fd);
    return n;
}

static void scan_incomplete(struct scan *s, const char *reason)
{
    s->out->complete = false;
    if (!s->out->partial_reason)
        s->out->partial_reason = reason;
}

static void look_at_cwd(struct scan *s, struct proc_sample *sample)
{
    char path[64], target[FILE_MAX];
    (void)snprintf(path, sizeof path, "%d/cwd", sample->pid);
    ssize_t n = readlinkat(s->p->proc_fd, path, target, sizeof target);
    if (n > 0)
        sample->cwd = proc_clean(s->a, target, (size_t)n);
    else
        sample->cwd_unreadable = n < 0 && !is_gone(-errno);
}

static void look_closely(struct scan *s, struct proc_sample *sample)
{
    char data[FILE_MAX];
    ssize_t n = read_proc(s->p, sample->pid, "cmdline", data, ARGS_MAX);
    if (n > 0)
        sample->args = proc_clean(s->a, data, (size_t)n);
    n = read_proc(s->p, sample->pid, "status", data, sizeof data);
    if (n > 0)
        sample->uid = proc_parse_uid(data, (size_t)n);
    look_at_cwd(s, sample);
}

static bool may_matter(const struct scan *s, const struct proc_sample *sample)
{
    if (!s->focus || history_forbidden(s->focus->policy, s->focus->scope, sample))
        return true;
    if (!s->focus->previous)
        return false;
    const struct proc_sample *was = snapshot_find(s->focus->previous, sample->pid);
    return !was || was->start_ticks != sample->start_ticks || was->cpu_ticks != sample->cpu_ticks;
}

/* A process that is there but does not show its counters. */
static void add_unreadable(struct scan *s, int pid)
{
    scan_incomplete(s, arena_printf(s->a, "the CPU time of process %d could not be read", pid));
    s->procs[s->n++] = (struct proc_sample){
        .pid = pid, .uid = -1, .cpu_ticks = -1, .command = "?", .cwd_unreadable = true};
}

/* 0 with *stat filled, 1 gone, -EINVAL there but not readable, -EMFILE, -ENFILE or -ENOMEM. */
static int read_stat(const struct scan *s, int pid, struct proc_stat *stat)
{
    char data[FILE_MAX];
    ssize_t n = read_proc(s->p, pid, "stat", data, sizeof data);
    if (n == 0 || is_gone((int)n))
        return 1;
    if (n == -EMFILE || n == -ENFILE || n == -ENOMEM)
        return (int)n;
    bool read = n > 0 && proc_parse_stat(data, (size_t)n, stat) == 0 && stat->pid == pid;
    return read ? 0 : -EINVAL;
}

static int scan_process(struct scan *s, int pid)
{
    struct proc_known *known = s->p->known;
    struct proc_stat stat;
    int64_t cpu_ns = known_cpu_ns(known, pid);
    const struct proc_stat *unchanged = known_unchanged(known, pid, cpu_ns);
    int rc = 0;
    if (unchanged)
        stat = *unchanged;
    else
        rc = read_stat(s, pid, &stat);
    if (rc == 1)
        return 0;
    if (rc < 0 && rc != -EINVAL)
        return rc;
    MEM_GROW(s->procs, s->n, s->cap);
    if (rc < 0) {
        add_unreadable(s, pid);
        return 0;
    }
    known_add(known, &stat, cpu_ns);
    struct proc_sample *sample = &s->procs[s->n++];
    *sample = (struct proc_sample){
        .pid = pid,
        .ppid = stat.ppid,
        .uid = -1,
        .start_ticks = stat.start_ticks,
        .cpu_ticks = stat.cpu_ticks,
        .command = arena_strdup(s->a, stat.command),
        .kernel_thread = stat.kernel_thread,
    };
    if (may_matter(s, sample))
        look_closely(s, sample);
    return 0;
}

static int scan_table(struct scan *s, DIR *dir)
{
    struct dirent *entry;
    while ((errno = 0, entry = readdir(dir))) {
        int64_t pid = proc_parse_number(entry->d_name, strlen(entry->d_name));
        if (pid <= 0 || pid > INT32_MAX)
            continue;
        if (s->n >= PROCS_MAX) {
            scan_incomplete(s, "there are more processes than are read");
            return 0;
        }
        int rc = scan_process(s, (int)pid);
        if (rc < 0)
            return rc;
    }
    return -errno;
}

static int by_pid(const void *va, const void *vb)
{
    const struct proc_sample *a = va, *b = vb;
    return a->pid < b->pid ? -1 : a->pid > b->pid;
}

/* A descriptor of its own: another thread may be reading the table too. */
static DIR *open_table(const struct linux_probe *p)
{
    int fd = openat(p->proc_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir && fd >= 0)
        (void)close(fd);
    return dir;
}

static int scan_listed(struct scan *s)
{
    DIR *dir = open_table(s->p);
    int rc = dir ? scan_table(s, dir) : -errno;
    if (dir)
        (void)closedir(dir);
    return rc;
}

static int scan_known(struct scan *s, const int *pids, size_t n)
{
    int rc = 0;
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = scan_process(s, pids[i]);
    return rc;
}

/* Its parent ended meanwhile, and it has another. */
static bool scan_parent(void *ctx, struct proc_stat *stat)
{
    struct scan *s = ctx;
    const struct proc_sample key = {.pid = stat->pid};
    struct proc_sample *sample = bsearch(&key, s->procs, s->n, sizeof *s->procs, by_pid);
    if (read_stat(s, stat->pid, stat) != 0)
        return false;
    if (sample)
        sample->ppid = stat->ppid;
    return true;
}

static int scan_processes(struct scan *s, struct err *e)
{
    struct proc_known *known = s->p->known;
    const int *pids;
    size_t n;
    known_begin(known, s->out->forks);
    int rc = known_pids(known, &pids, &n) ? scan_known(s, pids, n) : scan_listed(s);
    if (rc == 0 && s->n > 0) {
        qsort(s->procs, s->n, sizeof *s->procs, by_pid);
        known_reread_orphans(known, scan_parent, s);
        s->out->procs = arena_array(s->a, s->n, sizeof *s->procs);
        memcpy(s->out->procs, s->procs, s->n * sizeof *s->procs);
        s->out->n_procs = s->n;
    }
    known_end(known, rc == 0 && s->out->complete);
    free(s->procs);
    return rc < 0 ? err_sys(e, rc, "scan", "the process table in /proc") : 0;
}

/* With hidepid, other users' processes are invisible unless the reader may trace them or is in the
 * mount's group; process 1, which is always there, tells: can it be read although it is another
 * user's? */
static bool hides_processes(const struct linux_probe *p)
{
    CLEANUP(buf_deinit) struct buf mounts = {0};
    char init[FILE_MAX];
    ssize_t n = read_proc(p, 1, "status", init, sizeof init);
    int64_t init_uid = n > 0 ? proc_parse_uid(init, (size_t)n) : -1;
    if (init_uid < 0 || linux_read(p, "/proc/mounts", 1u << 20, &mounts) < 0)
        return true;
    if (!proc_parse_hides(buf_str(&mounts), mounts.len))
        return false;
    CLEANUP(buf_deinit) struct buf own = {0};
    if (linux_read(p, "/proc/self/status", FILE_MAX * 4, &own) < 0)
        return true;
    int64_t caps = proc_parse_capabilities(buf_str(&own), own.len);
    if (caps >= 0 && (caps >> CAP_SYS_PTRACE_BIT) & 1)
        return false;
    return proc_parse_uid(buf_str(&own), own.len) == init_uid;
}

/* What does not change between the snapshots of one phase is asked once. */
static void scan_visibility(struct scan *s)
{
    const struct proc_snapshot *previous = s->focus ? s->focus->previous : NULL;
    if (previous) {
        s->out->hidden = previous->hidden;
        return;
    }
    s->out->hidden = hides_processes(s->p);
    int initial = linux_initial_pid_namespace(s->p, s->a);
    if (initial == 0)
        scan_incomplete(s, "the daemon is in a PID namespace of its own (a container) and does not "
                           "see the host's processes");
    if (initial < 0)
        scan_incomplete(s, "the PID namespace could not be read");
}

int linux_snapshot(struct host_probe *base, struct arena *a, const struct snapshot_focus *focus,
                   struct proc_snapshot *out, struct err *e)
{
    const struct linux_probe *p = (struct linux_probe *)base;
    struct scan s = {.p = p, .a = a, .focus = focus, .out = out};
    struct proc_totals totals;
    *out = (struct proc_snapshot){
        .tick_ns = p->tick_ns, .busy_ticks = -1, .forks = -1, .complete = true};
    scan_visibility(&s);
    out->mono_ns = clock_mono_ns();
    if (linux_totals(p, a, &totals) == 0) {
        out->busy_ticks = totals.busy_ticks;
        out->cpu_busy_ticks = totals.cpu_busy_ticks;
        out->n_cpus = totals.n_cpus;
        out->forks = totals.forks;
    }
    return scan_processes(&s, e);
}
