#include "host/proc_known.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

/* Processes created between two looks after which nothing is taken over: far fewer than there are
 * numbers, which the kernel gives out in turn. */
#define FORKS_MAX 4096
/* The kernel's clock of all threads of a process, as clock_getcpuclockid(3) makes it; asking that
 * function would be a second system call for each. */
#define CPU_CLOCK_OF_PROCESS 2

struct row {
    struct proc_stat stat;
    int64_t cpu_ns; /* -1 unknown */
    bool unchanged;
};

struct rows {
    struct row *v;
    int *pids;
    size_t n, cap, n_pids, cap_pids;
    int64_t forks; /* before the table was listed; -1: not to be compared */
};

struct proc_known {
    pthread_mutex_t looking;
    bool usable;
    struct rows last, next;
};

/* Are the numbers in this /proc those that the clocks take? */
static bool is_ours(int proc_fd)
{
    char self[32] = "";
    ssize_t n = readlinkat(proc_fd, "self", self, sizeof self - 1);

    return n > 0 && strtol(self, NULL, 10) == (long)getpid();
}

struct proc_known *known_new(int proc_fd)
{
    struct proc_known *k = mem_alloc(sizeof *k);

    *k = (struct proc_known){.usable = is_ours(proc_fd), .last.forks = -1, .next.forks = -1};
    (void)pthread_mutex_init(&k->looking, NULL);
    return k;
}

static void free_rows(struct rows *r)
{
    free(r->v);
    free(r->pids);
    *r = (struct rows){.forks = -1};
}

void known_free(struct proc_known *k)
{
    if (!k)
        return;
    free_rows(&k->last);
    free_rows(&k->next);
    (void)pthread_mutex_destroy(&k->looking);
    free(k);
}

void known_begin(struct proc_known *k, int64_t forks)
{
    (void)pthread_mutex_lock(&k->looking);
    const struct rows *last = &k->last;

    if (forks < 0 || last->forks < 0 || forks < last->forks || forks - last->forks > FORKS_MAX)
        free_rows(&k->last);
    k->next.forks = forks;
}

void known_end(struct proc_known *k, bool keep)
{
    free_rows(&k->last);
    if (keep && k->usable) {
        k->last = k->next;
        k->next = (struct rows){.forks = -1};
    }
    free_rows(&k->next);
    (void)pthread_mutex_unlock(&k->looking);
}

bool known_pids(const struct proc_known *k, const int **pids, size_t *n)
{
    *pids = k->last.pids;
    *n = k->last.n_pids;
    return k->last.forks >= 0 && k->last.forks == k->next.forks;
}

int64_t known_cpu_ns(const struct proc_known *k, int pid)
{
    clockid_t clock = (clockid_t)((~(unsigned)pid << 3) | CPU_CLOCK_OF_PROCESS);
    struct timespec t;

    if (!k->usable || clock_gettime(clock, &t) != 0)
        return -1;
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int by_pid(const void *va, const void *vb)
{
    const struct row *a = va, *b = vb;

    return a->stat.pid < b->stat.pid ? -1 : a->stat.pid > b->stat.pid;
}

static struct row *find(const struct rows *r, int pid)
{
    const struct row key = {.stat.pid = pid};

    return r->n == 0 ? NULL : bsearch(&key, r->v, r->n, sizeof *r->v, by_pid);
}

const struct proc_stat *known_unchanged(const struct proc_known *k, int pid, int64_t cpu_ns)
{
    const struct row *row = cpu_ns > 0 ? find(&k->last, pid) : NULL;

    return row && row->cpu_ns == cpu_ns ? &row->stat : NULL;
}

void known_add(struct proc_known *k, const struct proc_stat *stat, int64_t cpu_ns)
{
    struct rows *r = &k->next;

    MEM_GROW(r->v, r->n, r->cap);
    r->v[r->n++] = (struct row){*stat, cpu_ns, known_unchanged(k, stat->pid, cpu_ns) != NULL};
    MEM_GROW(r->pids, r->n_pids, r->cap_pids);
    r->pids[r->n_pids++] = stat->pid;
}

/* The same process as in the last look, and one that still has its children. */
static bool lives_on(const struct proc_known *k, int pid)
{
    const struct row *was = find(&k->last, pid), *is = find(&k->next, pid);

    return was && is && was->stat.start_ticks == is->stat.start_ticks && !is->stat.zombie;
}

void known_reread_orphans(struct proc_known *k, bool (*reread)(void *ctx, struct proc_stat *stat),
                          void *ctx)
{
    struct rows *r = &k->next;

    if (k->last.n == 0)
        return;
    qsort(r->v, r->n, sizeof *r->v, by_pid);
    for (size_t i = 0; i < r->n; i++) {
        struct row *row = &r->v[i];
        if (!row->unchanged || row->stat.ppid == 0 || lives_on(k, row->stat.ppid))
            continue;
        if (!reread(ctx, &row->stat))
            row->cpu_ns = -1;
    }
}
