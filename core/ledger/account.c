#include "core/ledger/account.h"

/* Beyond this the lane is more than its first thread: clocks are read one after the other, and a
 * switch between two readings falls into one of them. */
#define ALONE_NS 200000
#define ALONE_SHARE 100 /* one part in so many */

int64_t counted(int64_t from, int64_t to)
{
    if (from < 0 || to < 0)
        return -1;
    return to > from ? to - from : 0;
}

static int64_t known(int64_t ns)
{
    return ns > 0 ? ns : 0;
}

static int64_t lane_cpu_ns(const struct account *a)
{
    int64_t group_ns = counted(a->from.group_ns, a->to.group_ns);
    int64_t lane_ns = counted(a->from.lane_ns, a->to.lane_ns);

    if (group_ns >= 0 && lane_ns >= 0) {
        int64_t tree_ns = group_ns - known(counted(a->from.runner_ns, a->to.runner_ns));
        return tree_ns > lane_ns ? tree_ns : lane_ns;
    }
    return lane_ns < 0 || a->dead_ns < 0 ? -1 : lane_ns + a->dead_ns;
}

static int64_t lane_delay_ns(const struct account *a, int64_t cpu_ns)
{
    int64_t leader_ns = counted(a->from.leader_ns, a->to.leader_ns);
    int64_t delay_ns = counted(a->from.leader_delay_ns, a->to.leader_delay_ns);

    if (cpu_ns < 0 || leader_ns < 0 || delay_ns < 0)
        return -1;
    bool is_alone = cpu_ns - leader_ns <= ALONE_NS + cpu_ns / ALONE_SHARE;
    return is_alone ? delay_ns : -1;
}

/* What was taken off one side too much came from the other. */
static void balance(int64_t *near_ns, int64_t *far_ns)
{
    if (*far_ns < 0) {
        *near_ns += *far_ns;
        *far_ns = 0;
    }
    if (*near_ns < 0) {
        *far_ns = known(*far_ns + *near_ns);
        *near_ns = 0;
    }
}

static int64_t busy_ns(const struct account *a, int64_t ns, int64_t from_ticks, int64_t to_ticks)
{
    int64_t least_ns = counted(from_ticks, to_ticks) - a->ticks_off_ns;

    return ns >= 0 && least_ns > ns ? least_ns : ns;
}

static void foreign(const struct account *a, struct ledger *out)
{
    const struct counters *from = &a->from, *to = &a->to;
    int64_t near_ns = busy_ns(a, counted(from->near_busy_ns, to->near_busy_ns), from->near_ticks_ns,
                              to->near_ticks_ns);
    int64_t far_ns = busy_ns(a, counted(from->far_busy_ns, to->far_busy_ns), from->far_ticks_ns,
                             to->far_ticks_ns);
    int64_t runner_ns = known(counted(a->from.runner_ns, a->to.runner_ns));

    out->near_foreign_ns = out->far_foreign_ns = -1;
    if (near_ns < 0 || far_ns < 0 || out->lane_cpu_ns < 0)
        return;
    near_ns -= out->lane_cpu_ns + (a->pinned ? runner_ns : 0);
    far_ns -= known(counted(a->from.daemon_ns, a->to.daemon_ns)) + (a->pinned ? 0 : runner_ns);
    balance(&near_ns, &far_ns);
    out->near_foreign_ns = near_ns;
    out->far_foreign_ns = far_ns;
}

void ledger_account(const struct account *a, struct ledger *out)
{
    const struct counters *from = &a->from, *to = &a->to;
    int64_t runner_ns = counted(from->runner_ns, to->runner_ns);
    int64_t daemon_ns = counted(from->daemon_ns, to->daemon_ns);

    *out = LEDGER_UNKNOWN;
    out->span_ns = counted(from->at_ns, to->at_ns);
    if (out->span_ns < 0)
        return;
    out->lane_cpu_ns = lane_cpu_ns(a);
    out->observer_cpu_ns = runner_ns < 0 || daemon_ns < 0 ? -1 : runner_ns + daemon_ns;
    foreign(a, out);
    out->steal_ns = counted(from->steal_ns, to->steal_ns);
    out->lane_delay_ns = lane_delay_ns(a, out->lane_cpu_ns);
    out->lane_preemptions = a->preemptions;
    out->pressure_us = counted(from->pressure_us, to->pressure_us);
    out->throttles = counted(from->throttles, to->throttles);
    out->swapped_pages = counted(from->swapped_pages, to->swapped_pages);
}
