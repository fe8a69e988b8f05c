#include "core/quiet/inventory.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/ledger/proc_history.h"
#include "core/names.h"

#define HINTS_MAX 5
/* The lanes' CPUs are judged over a longer span than a window: 8 gaps, 2 s at the usual 250 ms. */
#define LANE_SPAN_GAPS 8

static const char *const inventory_state_names[] = {
    [INVENTORY_QUIET] = "quiet",
    [INVENTORY_BUSY] = "busy",
    [INVENTORY_PARTIAL] = "partial",
};
NAMES(inventory_state, inventory_state);

static const struct {
    unsigned bit;
    const char *name;
} reason_names[] = {
    {COMPETE_SUSTAINED, "sustained"}, {COMPETE_AGGREGATE, "aggregate"}, {COMPETE_FORKS, "forks"},
    {COMPETE_FORBIDDEN, "forbidden"}, {COMPETE_LANE_CPUS, "lane_cpus"},
};

char *compete_reasons_text(unsigned reasons, char *out)
{
    size_t len = 0;
    out[0] = '\0';
    for (size_t i = 0; i < ARRAY_LEN(reason_names); i++) {
        if (!(reasons & reason_names[i].bit))
            continue;
        if (len > 0)
            out[len++] = ',';
        size_t n = strlen(reason_names[i].name);
        memcpy(out + len, reason_names[i].name, n + 1);
        len += n;
    }
    return out;
}

static unsigned reason_bit(const char *word, size_t len)
{
    for (size_t i = 0; i < ARRAY_LEN(reason_names); i++)
        if (strlen(reason_names[i].name) == len && memcmp(word, reason_names[i].name, len) == 0)
            return reason_names[i].bit;
    return 0;
}

int compete_reasons_parse(const char *s)
{
    unsigned reasons = 0;
    while (*s) {
        size_t len = strcspn(s, ",");
        unsigned bit = reason_bit(s, len);
        if (!bit || (s[len] == ',' && s[len + 1] == '\0'))
            return -1;
        reasons |= bit;
        s += len + (s[len] == ',');
    }
    return (int)reasons;
}

struct judge {
    struct arena *a;
    const struct proc_snapshot *snaps;
    size_t n;
    const struct policy *policy;
    const struct inventory_scope *scope;
    struct inventory *inv;
    struct proc_history history;
    double named_pct[INVENTORY_WINDOWS]; /* what the named competitors explain */
    int64_t named_span_ticks;
};

static double share_pct(int64_t ticks, int64_t tick_ns, int64_t span_ns)
{
    return span_ns > 0 && ticks > 0 ? (double)ticks * (double)tick_ns * 100 / (double)span_ns : 0;
}

static void judge_processes(struct judge *j)
{
    for (size_t i = 0; i < j->history.n_procs; i++) {
        struct process *p = &j->history.procs[i];
        if (p->own)
            continue;
        bool sustained = true;
        for (size_t w = 0; w < INVENTORY_WINDOWS; w++) {
            p->share_pct[w] =
                share_pct(p->window_ticks[w], j->snaps[0].tick_ns, j->inv->window_ns[w]);
            sustained = sustained && p->share_pct[w] >= j->policy->sustained_pct;
        }
        if (sustained)
            p->reasons |= COMPETE_SUSTAINED;
        bool hides = p->cwd_unreadable && p->span_ticks > 0 &&
                     history_forbidden(j->policy, j->scope, p->last);
        if (p->forbidden_inside || hides)
            p->reasons |= COMPETE_FORBIDDEN;
    }
}

static struct competitor *judge_add(struct judge *j)
{
    struct competitor *c = &j->inv->competitors[j->inv->n_competitors++];
    c->uid = -1;
    return c;
}

static struct competitor competitor_from(struct arena *a, const struct process *p)
{
    struct competitor c = {
        .pid = p->last->pid,
        .ppid = p->last->ppid,
        .uid = p->uid,
        .start_ticks = p->last->start_ticks,
        .command = arena_strdup(a, p->last->command ? p->last->command : "?"),
        .args = arena_strdup(a, p->args),
        .cwd = arena_strdup(a, p->cwd),
        .reasons = p->reasons,
    };
    memcpy(c.share_pct, p->share_pct, sizeof c.share_pct);
    return c;
}

static double share_total(const double *share)
{
    return share[0] + share[1];
}

static int process_by_share(const void *va, const void *vb)
{
    const struct process *a = *(struct process *const *)va, *b = *(struct process *const *)vb;
    double sa = share_total(a->share_pct), sb = share_total(b->share_pct);
    if (sa < sb || sa > sb)
        return sa < sb ? 1 : -1;
    return a->last->pid < b->last->pid ? -1 : a->last->pid > b->last->pid;
}

static double share_least(const struct process *p)
{
    return p->share_pct[0] < p->share_pct[1] ? p->share_pct[0] : p->share_pct[1];
}

/* Nearest to being sustained first: that asks for both windows, so the smaller share decides. */
static int process_by_nearness(const void *va, const void *vb)
{
    double a = share_least(*(struct process *const *)va);
    double b = share_least(*(struct process *const *)vb);
    if (a < b || a > b)
        return a < b ? 1 : -1;
    return process_by_share(va, vb);
}

static void judge_name_competitors(struct judge *j, struct process **list)
{
    size_t n = 0;
    for (size_t i = 0; i < j->history.n_procs; i++)
        if (j->history.procs[i].reasons)
            list[n++] = &j->history.procs[i];
    qsort(list, n, sizeof(struct process *), process_by_share);
    /* Room for the three that stand for no process. */
    j->inv->competitors = arena_array(j->a, n + 3, sizeof *j->inv->competitors);
    for (size_t i = 0; i < n; i++) {
        *judge_add(j) = competitor_from(j->a, list[i]);
        j->named_span_ticks = ticks_sum(j->named_span_ticks, list[i]->span_ticks);
        for (size_t w = 0; w < INVENTORY_WINDOWS; w++)
            j->named_pct[w] += list[i]->share_pct[w];
    }
}

static void judge_hint(struct judge *j, struct process **list)
{
    size_t n = 0;
    for (size_t i = 0; i < j->history.n_procs; i++)
        if (!j->history.procs[i].own && !j->history.procs[i].reasons &&
            share_total(j->history.procs[i].share_pct) > 0)
            list[n++] = &j->history.procs[i];
    qsort(list, n, sizeof(struct process *), process_by_nearness);
    if (n > HINTS_MAX)
        n = HINTS_MAX;
    j->inv->hints = arena_array(j->a, n, sizeof *j->inv->hints);
    for (size_t i = 0; i < n; i++)
        j->inv->hints[j->inv->n_hints++] = competitor_from(j->a, list[i]);
}

static void judge_partial(struct judge *j, const char *reason)
{
    if (!j->inv->partial_reason)
        j->inv->partial_reason = arena_strdup(j->a, reason);
}

static size_t cpus_online(const struct proc_snapshot *s)
{
    size_t online = 0;
    for (size_t i = 0; i < s->n_cpus; i++)
        online += s->cpu_busy_ticks[i] >= 0;
    return online;
}

/* The aggregate is always recorded; the unnamed competitor is added only for what the named ones do
 * not explain, so that the list shows each noise once. */
static void judge_aggregate(struct judge *j)
{
    double all_cores = j->policy->aggregate_all_pct * (double)cpus_online(&j->snaps[0]);
    double limit = j->policy->aggregate_pct > all_cores ? j->policy->aggregate_pct : all_cores;
    double rest[INVENTORY_WINDOWS];
    bool over = true;
    for (size_t w = 0; w < INVENTORY_WINDOWS; w++) {
        int64_t before = j->snaps[w].busy_ticks, after = j->snaps[w + 1].busy_ticks;
        if (before < 0 || after < 0)
            judge_partial(j, "the busy time of all CPUs could not be read");
        int64_t foreign = ticks_since(before, after) - j->history.own_window_ticks[w];
        j->inv->aggregate_pct[w] = share_pct(foreign, j->snaps[0].tick_ns, j->inv->window_ns[w]);
        rest[w] = j->inv->aggregate_pct[w] - j->named_pct[w];
        over = over && j->inv->aggregate_pct[w] > 0 && rest[w] >= limit;
    }
    if (!over)
        return;
    struct competitor *c = judge_add(j);
    c->command = "(unattributed)";
    c->reasons = COMPETE_AGGREGATE;
    memcpy(c->share_pct, rest, sizeof rest);
}

static void judge_forks(struct judge *j)
{
    int64_t before = j->snaps[0].forks, after = j->snaps[INVENTORY_SNAPSHOTS - 1].forks;
    if (before < 0 || after < 0)
        judge_partial(j, "the number of forks could not be read");
    double seconds = (double)(j->inv->window_ns[0] + j->inv->window_ns[1]) / 1e9;
    j->inv->forks_per_second = (double)ticks_since(before, after) / seconds;
    if (j->inv->forks_per_second <= j->policy->forks_per_second)
        return;
    struct competitor *c = judge_add(j);
    c->command = "(forks)";
    c->args = arena_printf(j->a, "%.0f new processes a second", j->inv->forks_per_second);
    c->reasons = COMPETE_FORKS;
}

/* The foreign time of one CPU over the whole span, in percent of one core; negative: unknown. Which
 * CPU the daemon and the named competitors ran on is not known: their time is taken off each. */
static double lane_cpu_foreign_pct(const struct judge *j, int cpu, int64_t span_ns)
{
    const struct proc_snapshot *first = &j->snaps[0], *last = &j->snaps[j->n - 1];
    if (cpu < 0 || (size_t)cpu >= first->n_cpus || (size_t)cpu >= last->n_cpus ||
        first->cpu_busy_ticks[cpu] < 0 || last->cpu_busy_ticks[cpu] < 0)
        return -1;
    int64_t busy = ticks_since(first->cpu_busy_ticks[cpu], last->cpu_busy_ticks[cpu]);
    int64_t explained = ticks_sum(j->history.own_span_ticks, j->named_span_ticks);
    return share_pct(busy - explained, first->tick_ns, span_ns);
}

static void judge_lane_cpus(struct judge *j)
{
    int64_t span_ns = j->snaps[j->n - 1].mono_ns - j->snaps[0].mono_ns;
    double limit = j->policy->lane_cpu_pct, worst = -1;
    int worst_cpu = -1;
    if (!j->scope->lane_cpus || j->inv->phase != PHASE_BEFORE_TIMING ||
        span_ns < LANE_SPAN_GAPS * j->policy->snapshot_gap_ms * 1000000 ||
        share_pct(1, j->snaps[0].tick_ns, span_ns) > limit)
        return;
    for (size_t i = 0; i < j->scope->n_lane_cpus; i++) {
        double pct = lane_cpu_foreign_pct(j, j->scope->lane_cpus[i], span_ns);
        if (pct < 0)
            judge_partial(j, "the busy time of a CPU that the lanes will use could not be read");
        if (pct <= worst)
            continue;
        worst = pct;
        worst_cpu = j->scope->lane_cpus[i];
    }
    if (worst < limit)
        return;
    struct competitor *c = judge_add(j);
    c->command = "(lane CPUs)";
    c->args = arena_printf(j->a, "CPU %d, which the lanes will use", worst_cpu);
    c->reasons = COMPETE_LANE_CPUS;
    c->share_pct[0] = c->share_pct[1] = worst;
}

/* For people: where on the host it is loud. */
static void note_cpus(struct judge *j)
{
    const struct proc_snapshot *first = &j->snaps[0], *last = &j->snaps[j->n - 1];
    size_t n = first->n_cpus < last->n_cpus ? first->n_cpus : last->n_cpus;

    j->inv->n_cpus = n;
    j->inv->cpu_busy_pct = arena_array(j->a, n, sizeof(double));
    for (size_t i = 0; i < n; i++) {
        int64_t before = first->cpu_busy_ticks[i], after = last->cpu_busy_ticks[i];
        j->inv->cpu_busy_pct[i] = before < 0 || after < 0
                                      ? -1
                                      : share_pct(ticks_since(before, after), first->tick_ns,
                                                  last->mono_ns - first->mono_ns);
    }
}

static void judge_completeness(struct judge *j)
{
    for (size_t k = 0; k < j->n; k++) {
        const struct proc_snapshot *s = &j->snaps[k];
        if (s->hidden)
            judge_partial(j, "the system hides the processes of other users");
        if (!s->complete)
            judge_partial(j, s->partial_reason ? s->partial_reason
                                               : "not every process could be read");
        for (size_t i = 0; i < s->n_procs && !j->inv->partial_reason; i++)
            if (s->procs[i].cpu_ticks < 0)
                judge_partial(j, arena_printf(j->a, "the CPU time of pid %d could not be read",
                                              s->procs[i].pid));
    }
}

/* Are there two windows? Otherwise the inventory says only why it is partial. */
static bool judge_windows(struct judge *j)
{
    if (j->n < INVENTORY_SNAPSHOTS) {
        judge_partial(
            j, arena_printf(j->a, "%zu of %d snapshots were taken", j->n, INVENTORY_SNAPSHOTS));
        return false;
    }
    for (size_t k = 0; k + 1 < j->n; k++) {
        int64_t ns = j->snaps[k + 1].mono_ns - j->snaps[k].mono_ns;
        if (ns <= 0 || j->snaps[k].tick_ns <= 0) {
            judge_partial(j, "the clock did not advance between two snapshots");
            return false;
        }
        if (k < INVENTORY_WINDOWS)
            j->inv->window_ns[k] = ns;
    }
    return true;
}

static void judge_all(struct judge *j)
{
    CLEANUP(mem_freep) struct process **list = NULL;
    list = mem_realloc_array(NULL, j->history.n_procs + 1, sizeof(struct process *));
    judge_processes(j);
    judge_name_competitors(j, list);
    judge_hint(j, list);
    judge_aggregate(j);
    judge_forks(j);
    judge_lane_cpus(j);
    note_cpus(j);
}

struct inventory *inventory_classify(struct arena *a, const struct proc_snapshot *snaps, size_t n,
                                     const struct policy *policy,
                                     const struct inventory_scope *scope, enum phase phase)
{
    struct inventory *inv = arena_alloc(a, sizeof *inv);
    struct judge j = {.a = a, .snaps = snaps, .n = n, .policy = policy, .scope = scope, .inv = inv};
    inv->phase = phase;
    inv->n_procs = n ? snaps[n - 1].n_procs : 0;
    judge_completeness(&j);
    if (judge_windows(&j)) {
        history_init(&j.history, snaps, n, policy, scope);
        judge_all(&j);
        history_deinit(&j.history);
    }
    inv->state = inv->partial_reason  ? INVENTORY_PARTIAL
                 : inv->n_competitors ? INVENTORY_BUSY
                                      : INVENTORY_QUIET;
    return inv;
}
