#include "run/runner/sweep.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "run/runner/placement.h"

#define MS 1000000LL
#define GRACE_NS (100 * MS)
#define TERM_NS (1000 * MS)
#define KILL_NS (5000 * MS)
#define FIRST_ROUND_NS (MS / 16) /* most end at once */
#define ROUND_NS (2 * MS)
#define PROCS_MAX 32768 /* in the whole system; what is beyond is met in a later round */
#define COUNTED_MAX 1024
#define HASTE_MIN 256 /* so many are no forgotten helpers, and get no time to become more */
#define CHASE_ROUNDS 200
#define START_FIELD 19 /* fields of stat between the command and the start time */

struct proc {
    pid_t pid, ppid;
    unsigned long long start; /* ticks since boot: tells a reused pid from the one that was seen */
    char state;
    bool ours; /* descends from us */
    char comm[16];
};

/* Static, and touched only when something is left: a lane's peak memory starts at the runner's. */
static struct proc procs[PROCS_MAX]; /* by ascending pid, as /proc lists them */
static size_t n_procs;

struct sweep {
    pid_t program; /* -1: none */
    struct ending *end;
    struct swept *out;
    pid_t counted[COUNTED_MAX]; /* as leftovers */
    size_t n_counted;
    bool chasing;
};

int sweep_init(void)
{
    return prctl(PR_SET_CHILD_SUBREAPER, 1) == 0 ? 0 : -errno;
}

static bool parse_stat(char *text, struct proc *p)
{
    char *name = strchr(text, '(');
    char *end = strrchr(text, ')');

    if (!name || !end || end < name)
        return false;
    *end = '\0';
    if (sscanf(end + 1, " %c %d", &p->state, &p->ppid) != 2)
        return false;
    char *field = end + 2;
    for (int i = 0; i < START_FIELD && field; i++)
        field = strchr(field + 1, ' ');
    p->start = field ? strtoull(field, NULL, 10) : 0;
    (void)snprintf(p->comm, sizeof p->comm, "%.15s", name + 1);
    for (char *c = p->comm; *c; c++)
        if (!isprint((unsigned char)*c))
            *c = '?';
    return true;
}

static bool read_proc(pid_t pid, struct proc *p)
{
    char path[32], text[512];

    (void)snprintf(path, sizeof path, "/proc/%d/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, text, sizeof text - 1);
    (void)close(fd);
    if (n <= 0)
        return false;
    text[n] = '\0';
    p->pid = pid;
    p->ours = false;
    return parse_stat(text, p);
}

static void read_all_procs(void)
{
    DIR *dir = opendir("/proc");
    pid_t last = 1;

    n_procs = 0;
    if (!dir)
        return;
    for (struct dirent *d; n_procs < PROCS_MAX && (d = readdir(dir));) {
        pid_t pid = isdigit((unsigned char)d->d_name[0]) ? (pid_t)strtol(d->d_name, NULL, 10) : 0;
        if (pid > last && read_proc(pid, &procs[n_procs])) {
            last = pid;
            n_procs++;
        }
    }
    (void)closedir(dir);
}

static int by_pid(const void *key, const void *member)
{
    const pid_t *pid = key;
    const struct proc *p = member;

    return *pid < p->pid ? -1 : *pid > p->pid;
}

static bool descends(const struct proc *p)
{
    const struct proc *parent = bsearch(&p->ppid, procs, n_procs, sizeof *procs, by_pid);

    return p->ppid == getpid() || (parent && parent->ours);
}

/* Marks all descendants of ours, by the chain of parents; how many there are. */
static size_t scan_tree(void)
{
    size_t n = 0, before;

    read_all_procs();
    /* A child usually has a higher pid than its parent, so one pass finds most. */
    do {
        before = n;
        for (size_t i = 0; i < n_procs; i++)
            if (!procs[i].ours && descends(&procs[i])) {
                procs[i].ours = true;
                n++;
            }
    } while (n > before);
    return n;
}

void sweep_each(void (*visit)(pid_t pid, void *arg), void *arg)
{
    (void)scan_tree();
    for (size_t i = 0; i < n_procs; i++)
        if (procs[i].ours && procs[i].state != 'Z' && procs[i].state != 'X')
            visit(procs[i].pid, arg);
}

/* Through a pidfd, and only if it still is the process that was seen. */
static int signal_one(const struct proc *p, int sig)
{
    struct proc now;
    int fd = (int)syscall(SYS_pidfd_open, p->pid, 0);

    if (fd < 0)
        return -errno;
    int rc = -ESRCH;
    if (read_proc(p->pid, &now) && now.start == p->start && p->pid != getpid())
        rc = syscall(SYS_pidfd_send_signal, fd, sig, NULL, 0) == 0 ? 0 : -errno;
    (void)close(fd);
    return rc;
}

static void add_name(char names[SWEEP_NAMES], const struct proc *p)
{
    size_t len = strlen(names);

    (void)snprintf(names + len, SWEEP_NAMES - len, "%s%d (%s)", len ? ", " : "", p->pid, p->comm);
}

static void count_leftover(struct sweep *s, const struct proc *p)
{
    for (size_t i = 0; i < s->n_counted; i++)
        if (s->counted[i] == p->pid)
            return;
    if (p->pid == s->program || s->n_counted == COUNTED_MAX)
        return;
    s->counted[s->n_counted++] = p->pid;
    s->out->leftovers++;
    add_name(s->out->names, p);
}

/* Of a tree that was scanned. */
static void signal_tree(struct sweep *s, int sig)
{
    for (size_t i = 0; i < n_procs; i++) {
        const struct proc *p = &procs[i];
        if (!p->ours)
            continue;
        if (signal_one(p, sig) == 0 && p->state != 'Z')
            count_leftover(s, p);
        if (sig == SIGTERM)
            (void)signal_one(p, SIGCONT); /* a stopped process acts on TERM only when it goes on */
    }
}

/* A lane that asks to be traced by its parent means a debugger: it goes on as if nobody had
 * answered. */
void sweep_untrace(pid_t pid, int sig)
{
    (void)ptrace(PTRACE_DETACH, pid, NULL, (void *)(intptr_t)(sig == SIGTRAP ? 0 : sig));
}

static void reaped(struct sweep *s, pid_t pid, int status, const struct rusage *usage)
{
    const struct proc unseen = {.pid = pid, .comm = "?"};

    if (pid == s->program)
        *s->end = (struct ending){.reaped = true, .status = status, .usage = *usage};
    else if (s->chasing && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        count_leftover(s, &unseen);
}

/* Reaps what has ended; true when no child is left. */
static bool reap_all(struct sweep *s)
{
    struct rusage usage;
    int status;
    pid_t pid;

    while ((pid = wait4(-1, &status, WNOHANG | __WALL, &usage)) > 0)
        if (WIFSTOPPED(status))
            sweep_untrace(pid, WSTOPSIG(status));
        else
            reaped(s, pid, status, &usage);
    return pid < 0 && errno == ECHILD;
}

static bool wait_gone(struct sweep *s, int64_t for_ns)
{
    int64_t until = clock_mono_ns() + for_ns, round_ns = FIRST_ROUND_NS;

    while (!reap_all(s)) {
        if (clock_mono_ns() >= until)
            return false;
        clock_sleep_ns(round_ns);
        round_ns = round_ns < ROUND_NS ? 2 * round_ns : ROUND_NS;
    }
    return true;
}

/* Kills what the system lists as our children, without looking at anybody else: quick enough for a
 * process that forks and exits and so is never where a scan saw it. Nobody but us reaps them, so
 * none of the pids can belong to another process. */
static void kill_children(void)
{
    char path[64], text[4096];

    (void)snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        (void)close(fd);
    text[n > 0 ? n : 0] = '\0';
    char *end = strrchr(text, ' '); /* behind the last whole pid */
    for (char *at = text; end && at < end;) {
        pid_t pid = (pid_t)strtol(at, &at, 10);
        if (pid <= 1)
            return;
        (void)kill(pid, SIGKILL);
    }
}

static bool chase(struct sweep *s)
{
    s->chasing = true;
    for (int i = 0; i < CHASE_ROUNDS; i++) {
        kill_children();
        if (reap_all(s))
            return true;
    }
    clock_sleep_ns(ROUND_NS);
    return reap_all(s);
}

static bool kill_until_gone(struct sweep *s)
{
    int64_t until = clock_mono_ns() + KILL_NS;
    struct placement placement;
    bool gone = false;

    /* Where it is permitted, before everything that forks faster than its fair share lets us kill.
     */
    placement_enter(&placement, -1);
    /* Again and again: a process can fork between being seen and being killed. */
    while (!gone && clock_mono_ns() < until) {
        (void)scan_tree();
        signal_tree(s, SIGKILL);
        gone = chase(s);
    }
    placement_leave(&placement);
    return gone;
}

static void name_unremoved(struct swept *out)
{
    if (scan_tree() == 0)
        (void)snprintf(out->unremoved, SWEEP_NAMES, "a child that /proc does not show");
    for (size_t i = 0; i < n_procs; i++)
        if (procs[i].ours)
            add_name(out->unremoved, &procs[i]);
}

void sweep_run(const struct child *c, struct ending *end, struct swept *out)
{
    static struct sweep s;

    *end = (struct ending){0};
    *out = (struct swept){0};
    s.program = c ? c->pid : -1;
    s.end = end;
    s.out = out;
    s.n_counted = 0;
    s.chasing = false;
    if (reap_all(&s))
        return;
    if ((end->reaped || !c) && wait_gone(&s, GRACE_NS))
        return;
    size_t n = scan_tree();
    signal_tree(&s, n < HASTE_MIN ? SIGTERM : SIGKILL);
    if (n < HASTE_MIN && wait_gone(&s, TERM_NS))
        return;
    if (!kill_until_gone(&s))
        name_unremoved(out);
}
