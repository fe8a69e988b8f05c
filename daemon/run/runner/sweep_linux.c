#include "run/runner/sweep.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

#define MS 1000000LL
#define GRACE_NS (100 * MS)
#define TERM_NS (1000 * MS)
#define KILL_NS (5000 * MS)
#define ROUND_NS (2 * MS)
#define PROCS_MAX 32768 /* in the whole system; what is beyond is met in a later round */
#define TREE_MAX 1024
#define START_FIELD 19 /* fields of stat between the command and the start time */

struct proc {
    pid_t pid, ppid;
    unsigned long long start; /* ticks since boot: tells a reused pid from the one that was seen */
    char state;
    char comm[16];
};

/* Static, and touched only when something is left: a lane's peak memory starts at the runner's. */
static struct proc procs[PROCS_MAX];

struct tree {
    struct proc members[TREE_MAX];
    size_t n;
};

static struct tree tree;

/* Pids that were counted as leftovers in this sweep. */
struct counted {
    pid_t pids[TREE_MAX];
    size_t n;
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
    return parse_stat(text, p);
}

static size_t read_all_procs(void)
{
    DIR *dir = opendir("/proc");
    size_t n = 0;

    if (!dir)
        return 0;
    for (struct dirent *d; n < PROCS_MAX && (d = readdir(dir));) {
        pid_t pid = isdigit((unsigned char)d->d_name[0]) ? (pid_t)strtol(d->d_name, NULL, 10) : 0;
        if (pid > 1 && read_proc(pid, &procs[n]))
            n++;
    }
    (void)closedir(dir);
    return n;
}

static bool tree_has(pid_t pid)
{
    for (size_t i = 0; i < tree.n; i++)
        if (tree.members[i].pid == pid)
            return true;
    return false;
}

static void add_children_of_tree(size_t n)
{
    for (size_t i = 0; i < n && tree.n < TREE_MAX; i++) {
        bool ours = procs[i].ppid == getpid() || tree_has(procs[i].ppid);
        if (ours && !tree_has(procs[i].pid))
            tree.members[tree.n++] = procs[i];
    }
}

/* All descendants of the runner, by the chain of parents. */
static void scan_tree(void)
{
    size_t n = read_all_procs(), before;

    tree.n = 0;
    do {
        before = tree.n;
        add_children_of_tree(n);
    } while (tree.n > before);
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

static void count_leftover(struct counted *counted, const struct proc *p, struct swept *out)
{
    for (size_t i = 0; i < counted->n; i++)
        if (counted->pids[i] == p->pid)
            return;
    out->leftovers++;
    add_name(out->names, p);
    if (counted->n < TREE_MAX)
        counted->pids[counted->n++] = p->pid;
}

static void signal_tree(pid_t program, int sig, struct counted *counted, struct swept *out)
{
    scan_tree();
    for (size_t i = 0; i < tree.n; i++) {
        const struct proc *p = &tree.members[i];
        if (signal_one(p, sig) == 0 && p->pid != program && p->state != 'Z')
            count_leftover(counted, p, out);
        if (sig == SIGTERM)
            (void)signal_one(p, SIGCONT); /* a stopped process acts on TERM only when it goes on */
    }
}

/* Reaps what has ended; true when no child is left. */
static bool reap_all(pid_t program, struct ending *end)
{
    struct rusage usage;
    int status;
    pid_t pid;

    while ((pid = wait4(-1, &status, WNOHANG | __WALL, &usage)) > 0)
        if (pid == program)
            *end = (struct ending){.reaped = true, .status = status, .usage = usage};
    return pid < 0 && errno == ECHILD;
}

static bool wait_gone(pid_t program, struct ending *end, int64_t for_ns)
{
    int64_t until = clock_mono_ns() + for_ns;

    while (!reap_all(program, end)) {
        if (clock_mono_ns() >= until)
            return false;
        clock_sleep_ns(ROUND_NS);
    }
    return true;
}

static bool kill_until_gone(pid_t program, struct ending *end, struct counted *counted,
                            struct swept *out)
{
    int64_t until = clock_mono_ns() + KILL_NS;

    /* Again and again: a process can fork between being seen and being killed. */
    while (clock_mono_ns() < until) {
        signal_tree(program, SIGKILL, counted, out);
        if (wait_gone(program, end, 5 * ROUND_NS))
            return true;
    }
    return false;
}

void sweep_run(const struct child *c, struct ending *end, struct swept *out)
{
    static struct counted counted;
    pid_t program = c ? c->pid : -1;

    *end = (struct ending){0};
    *out = (struct swept){0};
    counted.n = 0;
    if (reap_all(program, end))
        return;
    if ((end->reaped || !c) && wait_gone(program, end, GRACE_NS))
        return;
    signal_tree(program, SIGTERM, &counted, out);
    if (wait_gone(program, end, TERM_NS) || kill_until_gone(program, end, &counted, out))
        return;
    scan_tree();
    for (size_t i = 0; i < tree.n; i++)
        add_name(out->unremoved, &tree.members[i]);
    if (tree.n == 0)
        (void)snprintf(out->unremoved, SWEEP_NAMES, "a child that /proc does not show");
}
