#include "core/ledger/proc_history.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/quiet/forbidden.h"

/* One sample of one process, with the snapshot it is from. */
struct sample_ref {
    const struct proc_sample *sample;
    size_t snap;
    bool own;
};

struct builder {
    struct proc_history *h;
    const struct policy *policy;
    const struct inventory_scope *scope;
};

int64_t ticks_sum(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

int64_t ticks_since(int64_t before, int64_t after)
{
    return before >= 0 && after > before ? after - before : 0;
}

bool history_forbidden(const struct policy *policy, const struct inventory_scope *scope,
                       const struct proc_sample *s)
{
    return forbidden_program(&policy->forbidden, s) || forbidden_program(scope->more_forbidden, s);
}

const struct proc_sample *snapshot_find(const struct proc_snapshot *s, int pid)
{
    size_t low = 0, high = s->n_procs;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (s->procs[mid].pid == pid)
            return &s->procs[mid];
        if (s->procs[mid].pid < pid)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

/* Walks up the parents. A "parent" that started later than its child is somebody else who got the
 * pid; the number of steps is bounded because a hostile table could hold a loop. */
static bool sample_is_own(const struct proc_snapshot *s, const struct proc_sample *p, int self_pid)
{
    for (size_t steps = 0; p && steps <= s->n_procs; steps++) {
        if (p->pid == self_pid)
            return true;
        const struct proc_sample *parent = p->ppid > 0 ? snapshot_find(s, p->ppid) : NULL;
        if (parent && parent->start_ticks > p->start_ticks)
            return false;
        p = parent;
    }
    return false;
}

static int compare_int64(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

static int ref_compare(const void *va, const void *vb)
{
    const struct sample_ref *a = va, *b = vb;
    int order = compare_int64(a->sample->pid, b->sample->pid);
    if (order == 0)
        order = compare_int64(a->sample->start_ticks, b->sample->start_ticks);
    return order ? order : compare_int64((int64_t)a->snap, (int64_t)b->snap);
}

static bool same_process(const struct proc_sample *a, const struct proc_sample *b)
{
    return a->pid == b->pid && a->start_ticks == b->start_ticks;
}

static bool path_is_measured(const struct inventory_scope *scope, const char *path)
{
    for (size_t i = 0; i < scope->n_measured; i++)
        if (forbidden_path_inside(path, scope->measured[i]))
            return true;
    return false;
}

static void process_add_details(const struct builder *b, struct process *p,
                                const struct proc_sample *s)
{
    p->last = s;
    if (s->args)
        p->args = s->args;
    if (s->uid >= 0)
        p->uid = s->uid;
    if (!s->cwd && !s->cwd_unreadable)
        return;
    p->cwd = s->cwd;
    p->cwd_unreadable = !s->cwd;
    if (s->cwd && path_is_measured(b->scope, s->cwd) && history_forbidden(b->policy, b->scope, s))
        p->forbidden_inside = true;
}

/* ticks belong to the window that ends with the snapshot of ref. */
static void process_charge(struct proc_history *h, struct process *p, const struct sample_ref *ref,
                           int64_t ticks)
{
    size_t window = ref->snap - 1;
    p->span_ticks = ticks_sum(p->span_ticks, ticks);
    if (ref->own)
        h->own_span_ticks = ticks_sum(h->own_span_ticks, ticks);
    if (window >= INVENTORY_WINDOWS)
        return;
    p->window_ticks[window] = ticks;
    if (ref->own)
        h->own_window_ticks[window] = ticks_sum(h->own_window_ticks[window], ticks);
}

/* refs[0..n) are the samples of one process in the order of the snapshots. */
static void process_build(const struct builder *b, struct process *p, const struct sample_ref *refs,
                          size_t n)
{
    int64_t seen = -1; /* ticks when it was last readable */
    p->uid = -1;
    for (size_t i = 0; i < n; i++) {
        const struct proc_sample *s = refs[i].sample;
        process_add_details(b, p, s);
        p->own = refs[i].own;
        if (s->cpu_ticks < 0)
            continue;
        bool appeared = i == 0 && refs[i].snap > 0;
        if (refs[i].snap > 0)
            process_charge(b->h, p, &refs[i],
                           appeared ? s->cpu_ticks : ticks_since(seen, s->cpu_ticks));
        seen = s->cpu_ticks;
    }
}

static size_t refs_fill(struct sample_ref *refs, const struct proc_snapshot *snaps, size_t n,
                        int self_pid)
{
    size_t total = 0;
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < snaps[k].n_procs; i++)
            refs[total++] = (struct sample_ref){
                .sample = &snaps[k].procs[i],
                .snap = k,
                .own = sample_is_own(&snaps[k], &snaps[k].procs[i], self_pid),
            };
    qsort(refs, total, sizeof *refs, ref_compare);
    return total;
}

void history_init(struct proc_history *h, const struct proc_snapshot *snaps, size_t n,
                  const struct policy *policy, const struct inventory_scope *scope)
{
    struct builder b = {.h = h, .policy = policy, .scope = scope};
    size_t room = 1;
    for (size_t k = 0; k < n; k++)
        room += snaps[k].n_procs;
    CLEANUP(mem_freep) struct sample_ref *refs = mem_realloc_array(NULL, room, sizeof *refs);
    size_t total = refs_fill(refs, snaps, n, scope->self_pid);
    *h = (struct proc_history){.procs = mem_alloc(room * sizeof *h->procs)};
    for (size_t from = 0, to; from < total; from = to) {
        for (to = from + 1; to < total && same_process(refs[to].sample, refs[from].sample);)
            to++;
        process_build(&b, &h->procs[h->n_procs++], refs + from, to - from);
    }
}

void history_deinit(struct proc_history *h)
{
    free(h->procs);
    h->procs = NULL;
}
