/* Hand-made rows of snapshots: processes with the ticks that they show in each snapshot, and totals
 * that follow from them. Snapshots are one gap apart; ticks are 10 ms. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "core/quiet/inventory.h"
#include "unit/core/policies.h"

#define WORLD_SNAPS 4
#define WORLD_PROCS 64
#define WORLD_CPUS 64
#define TICK_NS 10000000
#define GAP_NS (250 * 1000000LL)
#define GONE (-2)       /* not in the snapshot */
#define UNREADABLE (-1) /* there, but its ticks cannot be read */

struct world {
    struct arena arena;
    struct policy policy;
    struct inventory_scope scope;
    struct proc_snapshot snaps[WORLD_SNAPS];
    struct proc_sample procs[WORLD_SNAPS][WORLD_PROCS];
    int64_t cpu_ticks[WORLD_SNAPS][WORLD_CPUS];
    size_t n;
    enum phase phase;
};

/* Three snapshots of an idle host with two CPUs. */
static inline void world_init(struct world *w)
{
    *w = (struct world){.policy = policy_standard(), .n = 3, .scope = {.self_pid = 100}};
    for (size_t k = 0; k < WORLD_SNAPS; k++)
        w->snaps[k] = (struct proc_snapshot){
            .mono_ns = 5000000000LL + (int64_t)k * GAP_NS,
            .tick_ns = TICK_NS,
            .procs = w->procs[k],
            .busy_ticks = 700,
            .cpu_busy_ticks = w->cpu_ticks[k],
            .n_cpus = 2,
            .forks = 4000,
            .complete = true,
        };
}

/* A fourth snapshot 2 s after the first, as before timing. */
static inline void world_long(struct world *w)
{
    w->n = 4;
    w->phase = PHASE_BEFORE_TIMING;
    w->snaps[3].mono_ns = w->snaps[0].mono_ns + 8 * GAP_NS;
}

static inline void world_deinit(struct world *w)
{
    arena_deinit(&w->arena);
}

/* In ascending order of pids. One entry of ticks per snapshot; growth counts as busy time of the
 * host. Returns nothing to edit: use world_sample for details. */
static inline void world_add(struct world *w, int pid, int ppid, const char *command, int64_t t0,
                             int64_t t1, int64_t t2)
{
    const int64_t ticks[WORLD_SNAPS] = {t0, t1, t2, t2};
    for (size_t k = 0; k < WORLD_SNAPS; k++) {
        if (ticks[k] == GONE)
            continue;
        w->procs[k][w->snaps[k].n_procs++] = (struct proc_sample){
            .pid = pid,
            .ppid = ppid,
            .uid = 1000,
            .start_ticks = 50 + pid,
            .cpu_ticks = ticks[k],
            .command = command,
        };
        int64_t before = k > 0 && ticks[k - 1] >= 0 ? ticks[k - 1] : 0;
        for (size_t later = k; k > 0 && ticks[k] > before && later < WORLD_SNAPS; later++)
            w->snaps[later].busy_ticks += ticks[k] - before;
    }
}

static inline struct proc_sample *world_sample(struct world *w, size_t snap, int pid)
{
    for (size_t i = 0; i < w->snaps[snap].n_procs; i++)
        if (w->procs[snap][i].pid == pid)
            return &w->procs[snap][i];
    abort();
}

static inline void world_cwd(struct world *w, int pid, const char *cwd, bool unreadable)
{
    for (size_t k = 0; k < WORLD_SNAPS; k++)
        for (size_t i = 0; i < w->snaps[k].n_procs; i++)
            if (w->procs[k][i].pid == pid) {
                w->procs[k][i].cwd = cwd;
                w->procs[k][i].cwd_unreadable = unreadable;
            }
}

/* Busy time that no process shows. */
static inline void world_busy(struct world *w, int64_t in_window_0, int64_t in_window_1)
{
    w->snaps[1].busy_ticks += in_window_0;
    w->snaps[2].busy_ticks += in_window_0 + in_window_1;
    w->snaps[3].busy_ticks += in_window_0 + in_window_1;
}

static inline struct inventory *world_judge(struct world *w)
{
    return inventory_classify(&w->arena, w->snaps, w->n, &w->policy, &w->scope, w->phase);
}

static inline const struct competitor *find_competitor(const struct inventory *inv,
                                                       const char *command)
{
    for (size_t i = 0; i < inv->n_competitors; i++)
        if (strcmp(inv->competitors[i].command, command) == 0)
            return &inv->competitors[i];
    return NULL;
}

static inline const struct competitor *find_hint(const struct inventory *inv, int pid)
{
    for (size_t i = 0; i < inv->n_hints; i++)
        if (inv->hints[i].pid == pid)
            return &inv->hints[i];
    return NULL;
}
