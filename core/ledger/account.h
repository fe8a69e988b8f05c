/* What the host did around one observation: two readings of cumulative counters, and the ledger
 * that follows from them. Pure, and free of everything but arithmetic: the runner has it built in.
 *
 * Source of the accounts: CPU time is conserved. What the CPUs were busy with beyond the lane, the
 * runner and the daemon was somebody else's.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/ledger/ledger.h"

/* Everything is cumulative, and -1 where it cannot be read. */
struct counters {
    int64_t at_ns;                       /* timing clock */
    int64_t near_busy_ns;                /* of the lane's CPUs and their siblings */
    int64_t far_busy_ns;                 /* of all others */
    int64_t near_ticks_ns, far_ticks_ns; /* the same by a coarser counter, where the first one does
                             not see what is still running; -1: it sees all */
    int64_t group_ns;                    /* runner, lane, and whatever descends from them */
    int64_t lane_ns; /* the lane's own process, all threads; 0 before there is one */
    int64_t leader_ns, leader_delay_ns; /* its first thread: ran, and waited for a CPU */
    int64_t runner_ns, runner_switches; /* the runner's own; switches of both kinds */
    int64_t daemon_ns, daemon_switches;
    int64_t steal_ns, pressure_us, throttles, swapped_pages;
};

#define COUNTERS_UNKNOWN                                                                           \
    (struct counters)                                                                              \
    {                                                                                              \
        -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1                         \
    }

struct account {
    struct counters from, to;
    int64_t ticks_off_ns; /* by how much a difference of the coarser counter may be wrong */
    bool pinned;          /* the runner waits on the lane's CPU */
    int64_t dead_ns;      /* CPU time of descendants of the lane that have ended, in its whole life;
                             counts only where the group is not known; -1: unknown */
    int64_t preemptions;  /* of the lane; -1 unknown */
};

/* to - from; -1 when one of them is not known. A counter that went backwards counts as 0. */
int64_t counted(int64_t from, int64_t to);

/* Fills out. Foreign time is what is left when lane, runner and daemon are taken off, never below
 * 0. The daemon, and a runner that is not pinned, may have been on any CPU: they are taken off the
 * far ones first, so that what was foreign near the lane is not made smaller. Without a group the
 * lane's descendants that have ended are taken off too, for their whole life: foreign time is then
 * understated rather than invented. The lane's delay is told only while its first thread is all
 * there is to it: what waits for a part of the same lane is not disturbed. */
void ledger_account(const struct account *a, struct ledger *out);
