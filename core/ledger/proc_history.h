/* What each process did over a row of snapshots: the samples grouped by process and differenced.
 *
 * A process is its pid and its start: a pid that was given to somebody else is another process. One
 * that is first seen after the first snapshot is charged all its ticks; a counter that steps
 * backwards counts as no time. "Own" are the daemon and its descendants by the parent chains of
 * each snapshot. The history borrows the samples and their strings; history_deinit frees the rest.
 */
#pragma once

#include "core/quiet/inventory.h"

struct process {
    const struct proc_sample *last; /* the latest sample of it */
    /* From the latest sample that has them: a snapshot need not look them up each time. */
    const char *args, *cwd;
    int64_t uid; /* -1 unknown */
    bool cwd_unreadable;
    bool own;              /* in its latest sample */
    bool forbidden_inside; /* a forbidden program that was seen inside a measured path */
    int64_t window_ticks[INVENTORY_WINDOWS];
    int64_t span_ticks; /* over all snapshots */
    /* For the judge of the inventory. */
    double share_pct[INVENTORY_WINDOWS];
    unsigned reasons;
};

struct proc_history {
    struct process *procs; /* by pid, then start */
    size_t n_procs;
    int64_t own_window_ticks[INVENTORY_WINDOWS];
    int64_t own_span_ticks;
};

/* n snapshots, each sorted by pid. Never fails; h is filled whatever the samples say. */
void history_init(struct proc_history *h, const struct proc_snapshot *snaps, size_t n,
                  const struct policy *policy, const struct inventory_scope *scope);
void history_deinit(struct proc_history *h);

/* The sample of a pid in a snapshot that is sorted by pid; NULL: it is not there. */
const struct proc_sample *snapshot_find(const struct proc_snapshot *s, int pid);

/* Is it on the policy's list or on the suite's? */
bool history_forbidden(const struct policy *policy, const struct inventory_scope *scope,
                       const struct proc_sample *s);

/* Counters of a hostile table: sums saturate, a step backwards or an unknown start (negative) is 0.
 */
int64_t ticks_sum(int64_t a, int64_t b);
int64_t ticks_since(int64_t before, int64_t after);
